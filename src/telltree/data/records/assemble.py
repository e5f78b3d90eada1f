"""Columns and their grouping into records -> the parts of a panel, checked and encoded."""

import dataclasses
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from telltree.amounts import counted
from telltree.data.clip import clip
from telltree.data.columns.encode import Encoded, Values, encode
from telltree.data.columns.header import proposals
from telltree.data.columns.levels import align_codes
from telltree.data.columns.truth import is_zero_one
from telltree.data.columns.written import Clock
from telltree.data.on_disk import by_records, pieces, rest
from telltree.data.records.grouping import Grouping
from telltree.data.records.pace import even_pace
from telltree.data.records.repeated import LATER, WAYS, merged
from telltree.data.schema import Column, ColumnType, Schema, checked_fields, listed, require_known
from telltree.data.store import UNSEEN, Array, Store, frozen, is_missing
from telltree.data.warn import warn
from telltree.errors import DataError

if TYPE_CHECKING:
    from telltree.data.records.origin import Origin

ENOUGH = 10  # records of several steps that show whether a column changes within records
FIRST = 1000  # records that are looked at before all are: most columns change in them
FEW = 10  # an integer column with at most this many values may really be categorical


@dataclass(frozen=True)
class Options:
    """What the user says about any kind of input; checked once, here."""

    schema: Mapping[str, Any] | None = None
    period: float | None = None
    time_unit: str | None = None
    missing: str = "allow"
    repeated: str = "error"  # or one of `repeated.WAYS`, or LATER
    clock: Clock = field(default_factory=Clock)
    like: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # overrides of columns that may be absent
    known: Mapping[str, Sequence[str]] = field(default_factory=dict)  # levels that columns have elsewhere
    drop_unlabelled: bool = False

    def __post_init__(self) -> None:
        """Refuse invalid options."""
        if self.missing not in ("allow", "error"):
            raise DataError(f"missing must be 'allow' or 'error', got {self.missing!r}")
        if self.repeated not in ("error", LATER, *WAYS):
            raise DataError(f"repeated must be 'error', 'first', 'last' or 'mean', got {self.repeated!r}")
        if self.period is not None and not _is_positive(self.period):
            raise DataError(f"period must be a positive number, got {self.period!r}")
        if not isinstance(self.time_unit, str | None):
            raise DataError(f"time_unit must be text, got {self.time_unit!r}")

    def fields(self, names: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Return the overrides by column; a column or a field that does not exist is a DataError."""
        overrides = {}
        for name, change in (self.schema or {}).items():
            require_known(name, names, "column in schema")
            overrides[name] = _all_fields(change) if isinstance(change, Column) else checked_fields(name, change)
        return overrides

    def declared(self, name: str) -> Collection[str]:
        """Return the names that are declared as levels of a column, even if they look like missing values."""
        change = (self.schema or {}).get(name)
        said = (
            change.levels
            if isinstance(change, Column)
            else change.get("levels")
            if isinstance(change, Mapping)
            else None
        )
        return {*(said if isinstance(said, list | tuple) else ()), *self.known.get(name, ())}


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and value > 0


def _all_fields(column: Column) -> dict[str, Any]:
    return {field.name: getattr(column, field.name) for field in dataclasses.fields(column) if field.name != "name"}


@dataclass(frozen=True)
class Parts:
    """All parts of a panel of whole records."""

    schema: Schema
    store: Store
    ids: Array
    period: float | None
    time_unit: str | None
    notes: tuple[str, ...]
    origin: "Origin | None" = None
    clock: str = ""
    """What the column of times is called."""


@dataclass(frozen=True)
class Source:
    """Columns as they came: `rows` has one value per row of the input, `static` one per record."""

    rows: Mapping[str, Values]
    static: Mapping[str, Values]
    constant: frozenset[str] = frozenset()  # row columns that the user declares as static


def assemble(source: Source, grouping: Grouping, options: Options) -> Parts:
    """Encode all columns and sort their rows by record."""
    everything = {**source.rows, **source.static}
    if not everything:
        raise DataError("there are no columns to learn from")
    overrides = options.fields(everything)
    proposed = proposals(everything)
    constant = source.constant | {name for name, change in overrides.items() if change.get("static")}
    columns: list[Column] = []
    rows: dict[str, Array] = {}
    static: dict[str, Array] = {}
    doubts: dict[str, list[str]] = {}
    unseen: list[str] = []
    rounded: dict[str, int] = {}
    for name, values in everything.items():
        owner = grouping.owner if name in source.rows else grouping.id_of
        fields = overrides.get(name, {})
        encoded = encode(name, values, owner, wanted_type(name, fields), options.declared(name))
        column = _column(name, encoded, fields, proposed.get(name, {}))
        if encoded.rounded:
            rounded[name] = encoded.rounded
        if column.levels != encoded.levels:
            codes = align_codes(encoded.array, encoded.levels, column.levels)
            unseen += unseen_levels(name, encoded.levels, encoded.array, codes)
            encoded = dataclasses.replace(encoded, array=codes, levels=column.levels)
        array = encoded.array if name in source.static else grouping.arranged(encoded.array)
        if name in source.static:
            static[name] = frozen(array)
        elif name in constant:
            static[name] = frozen(_per_record(name, array, grouping))
        elif "static" not in fields and _is_still(array, grouping):
            static[name] = frozen(array[grouping.starts()])
            doubts.setdefault(_STILL, []).append(name)
        else:
            rows[name] = frozen(array)
        still = name in static
        columns.append(column if column.static is still else dataclasses.replace(column, static=still))
        if encoded.gaps or wanted_type(name, fields) is None:
            doubts.setdefault(_doubt(encoded), []).append(name)
        rest()
    parts = Parts(
        Schema(columns),
        Store(grouping.lengths, rows, static, grouping.times, grouping.dates),
        grouping.ids,
        options.period,
        options.time_unit,
        tuple(_notes(doubts)),
    )
    warn_unseen(unseen)
    _warn_rounded(rounded)
    if grouping.again is not None and options.repeated in WAYS:
        parts = dataclasses.replace(parts, store=merged(parts.store, grouping.again, options.repeated))
    _report(parts, options)
    if options.period is None and parts.store.times is not None:
        return dataclasses.replace(parts, period=even_pace(parts.store.times, parts.store.lengths))
    return parts


def _column(name: str, encoded: Encoded, fields: dict[str, Any], proposed: Mapping[str, str]) -> Column:
    """Describe a column with the user's overrides; a real column may have its unit in its name."""
    words = proposed if encoded.type is ColumnType.REAL else {}
    column = Column(name, **{"type": encoded.type, **words, **fields})
    return dataclasses.replace(column, levels=encoded.levels) if encoded.levels and not column.levels else column


def wanted_type(name: str, fields: Mapping[str, Any]) -> ColumnType | None:
    """The type that the user declares for a column, perhaps only by fields that no other type has."""
    if "type" in fields:
        return Column(name, fields["type"]).type
    if fields.get("levels"):
        return ColumnType.CATEGORICAL
    return ColumnType.REAL if any(fields.get(field) is not None for field in ("thresholds", "high", "low")) else None


def unseen_levels(name: str, levels: tuple[str, ...], before: Array, after: Array) -> list[str]:
    """Which levels, and how many values, lost their code from `before` to `after`, as a sentence; empty if none did."""
    codes = before[(after == UNSEEN) & (before >= 0)]
    if len(codes) == 0:
        return []
    lost = [levels[code] for code in np.unique(codes).tolist()]
    return [f"column {name!r}: {listed(lost)} ({counted(len(codes), 'value')})"]


def warn_unseen(findings: list[str]) -> None:
    """Issue one warning for all that `unseen_levels` found."""
    if findings:
        warn("levels that equal none of the known ones: " + "; ".join(findings))


def _warn_rounded(counts: Mapping[str, int]) -> None:
    """Warn that integers lost their last digits."""
    if counts:
        shown = ", ".join(f"{clip(name)!r}: {counted(count, 'value')}" for name, count in list(counts.items())[:10])
        remedy = 'if they are names, say type = "categorical" in the schema'
        warn(f"whole numbers beyond 2^53 are rounded to the nearest float ({shown}); {remedy}")


def _per_record(name: str, array: Array, grouping: Grouping) -> Array:
    """Return the one value of each record; a column that varies within a record is a DataError."""
    values = array[grouping.starts()]
    differ = varying(array, values, grouping.lengths)
    if differ.any():
        records = np.searchsorted(grouping.starts(), np.flatnonzero(differ), side="right") - 1
        ids = grouping.ids[np.unique(records)].tolist()
        raise DataError(
            f"static column {name!r} varies inside {counted(len(ids), 'record')}: {listed(ids)}; is it static?"
        )
    return values


_STILL = (
    "one value in each record, read as static; if that may change within a record, say static = false in the schema"
)


def _is_still(array: Array, grouping: Grouping) -> bool:
    """Whether a column has one value in each record, and not in all of them, as far as enough records show."""
    lengths = grouping.lengths
    if np.count_nonzero(lengths > 1) < ENOUGH:
        return False
    for some in (FIRST, len(lengths)):
        few = lengths[:some]
        rows = array[: int(few.sum())]
        firsts = rows[np.cumsum(few) - few]
        if varying(rows, firsts, few).any():
            return False
    absent = is_missing(firsts)
    return bool((absent != absent[0]).any() or (firsts[~absent] != firsts[~absent][:1]).any())


def varying(array: Array, firsts: Array, lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Which rows are not like the first of their record; missing values are alike."""
    found = np.empty(len(array), np.bool_)
    for records, rows in by_records(array, lengths):
        some, expected = array[rows], np.repeat(firsts[records], lengths[records])
        differ = some != expected
        if differ.any() and some.dtype.kind != "O":
            differ &= ~(is_missing(some) & is_missing(expected))
        found[rows] = differ
    return found


def _doubt(encoded: Encoded) -> str:
    """What about a column deserves a second look, as a sentence; empty if nothing does."""
    numbers = encoded.array
    if encoded.gaps:
        return f"{listed(encoded.gaps)} taken for missing; if that is a name, say so by levels = [...] in the schema"
    if encoded.type is ColumnType.BOOLEAN and (encoded.whole or encoded.text):
        have, other = ("only words for true and false", "categorical") if encoded.text else ("only 0 and 1", "real")
        have += ", some missing" if encoded.tabular else ""
        return f'{have}, read as Boolean; if that is wrong, say type = "{other}" in the schema'
    if encoded.type is not ColumnType.REAL:
        return ""
    if not encoded.whole:
        flags = is_zero_one(numbers)
        return (
            'only 0 and 1, read as real, since they are floats; else say type = "Boolean" in the schema'
            if flags
            else ""
        )
    few = _whole_values(numbers)
    return (
        f'only {few} whole values, read as real; if they are names, say type = "categorical" in the schema'
        if few
        else ""
    )


def _whole_values(numbers: Array) -> int:
    """Count the distinct values of a column that has few, else return 0."""
    head = numbers[: 100 * FEW]
    if len(head) < len(numbers) and len(np.unique(head)) > FEW:  # avoids sorting long columns with many values
        return 0
    some = [np.unique(numbers[piece][~np.isnan(numbers[piece])]) for piece in pieces(numbers)]
    distinct = np.unique(np.concatenate(some))
    return len(distinct) if len(distinct) <= FEW else 0


def _notes(doubts: Mapping[str, list[str]]) -> list[str]:
    """Return one note for each doubt, with its columns."""
    return [
        f"{'columns' if len(names) > 1 else 'column'} {listed(names)}: {doubt}"
        for doubt, names in doubts.items()
        if doubt
    ]


def _report(parts: Parts, options: Options) -> None:
    """Warn once about infinite values, and refuse missing ones where asked."""
    infinite, absent = {}, {}
    for name, column in parts.schema.items():
        array = parts.store.encoded(name)
        if column.type is ColumnType.REAL and (count := _count(np.isinf, array)):
            infinite[name] = count
        if options.missing == "error" and (count := _count(is_missing, array)):
            absent[name] = count
    if absent:
        shown = ", ".join(f"{name!r}: {count}" for name, count in list(absent.items())[:10])
        more = f" and {counted(len(absent) - 10, 'more column')}" if len(absent) > 10 else ""
        raise DataError(f"values are missing ({shown}{more}); fill them in, or let missing be 'allow'")
    if infinite:
        shown = ", ".join(f"{name!r}: {count}" for name, count in list(infinite.items())[:10])
        warn(f"infinite values are kept and compare as usual ({shown})")


def _count(which: Callable[[Array], Array], array: Array) -> int:
    return sum(int(which(array[piece]).sum()) for piece in pieces(array))
