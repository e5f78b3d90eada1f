"""Columns and their grouping into records -> the parts of a panel, checked and encoded."""

import dataclasses
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from telltree.errors import DataError, warn
from telltree.panel.dates import Dates
from telltree.panel.disk_arrays import by_records, pieces, rest
from telltree.panel.encode import Encoded, Values, encode, is_zero_one
from telltree.panel.grouping import Grouping
from telltree.panel.schema import Column, ColumnType, Schema, checked_fields, listed, require_known
from telltree.panel.store import UNSEEN, Array, Index, Real, Store, align_codes, frozen, is_missing
from telltree.panel.text_columns import Clock
from telltree.panel.units import proposals
from telltree.text import clip, counted

if TYPE_CHECKING:
    from telltree.panel.rows import Roles


# ---- Whether the steps of all records are of one length, as their times tell, but for what arithmetic left in them.

_NEAR = 1e-6  # share of a step by which a time may be off
_ADDED = 1e-10  # the same on the average, if times were added up
_NOISE = 4 * np.finfo(np.float64).eps  # share of a time by which it may be off: stamps are large, and steps small


def even_pace(times: Array, lengths: npt.NDArray[np.int64]) -> float | None:
    """The time between two steps, with as few digits as the times allow; None if it is not always the same."""
    if not len(lengths) or lengths.max() < 2:
        return None
    longest = int(lengths.argmax())
    begin = int(lengths[:longest].sum())
    steps = int(lengths[longest]) - 1
    first, last = float(times[begin]), float(times[begin + steps])
    pace = (last - first) / steps
    if not 0 < pace < math.inf:
        return None
    pace = _roundest(pace, _ADDED * pace + _NOISE * max(abs(first), abs(last)) / steps)
    kept = all(_keeps(times[rows], lengths[records], pace) for records, rows in by_records(times, lengths))
    return pace if kept else None


def _keeps(times: Array, lengths: npt.NDArray[np.int64], pace: float) -> bool:
    """Whether all these records go at this pace."""
    starts = np.cumsum(lengths) - lengths
    numbers = np.arange(len(times)) - np.repeat(starts, lengths)
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(times - np.repeat(times[starts], lengths) - numbers * pace)
        most = np.maximum(np.abs(times), np.repeat(np.abs(times[starts]), lengths))
        return bool((off <= _NEAR * pace + _NOISE * most).all())


def _roundest(pace: float, near: float) -> float:
    """The number with the fewest digits that is as near as this."""
    for digits in range(1, 10):  # 1/3 is not cut off
        found = float(f"{pace:.{digits}g}")
        if abs(found - pace) <= near:
            return found
    return pace


# ---- Several rows for one time of a record -> one step.

WAYS = ("first", "last", "mean")
LATER = "later"  # times may repeat, since the records will be resampled


def merged(store: Store, again: Array, way: str) -> Store:
    """Return the store with one row for each time; `again` marks the rows with the same time as the row before.

    Column by column, the first or the last present value stays, or the mean of real ones; a column without a mean takes
    the last. Missing values are skipped.
    """
    firsts = np.flatnonzero(~again)
    slots = np.cumsum(~again) - 1
    lengths = np.add.reduceat((~again).astype(Index), store.starts())
    rows = {name: frozen(_one_each(array, slots, firsts, way)) for name, array in store.rows.items()}
    times = None if store.times is None else frozen(store.times[firsts])
    dates = store.dates
    if dates is not None and dates.offsets is not None:
        dates = Dates(dates.starts, dates.offsets[firsts], dates.zone, dates.daily)
    return Store(lengths, rows, store.static, times, dates)


def _one_each(values: Array, slots: Array, firsts: Array, way: str) -> Array:
    """Return one value per slot; a slot without any value stays missing."""
    result = values[firsts].copy()
    present = np.flatnonzero(~is_missing(values))
    if way == "mean" and values.dtype == Real:
        counts = np.bincount(slots[present], minlength=len(firsts))
        sums = np.bincount(slots[present], weights=values[present], minlength=len(firsts))
        several = counts > 1
        result[several] = sums[several] / counts[several]
        present = present[counts[slots[present]] == 1]
    order = present[::-1] if way == "first" else present
    result[slots[order]] = values[order]  # the last of several values for one slot wins
    return result


# ---- Columns and their grouping into records -> the parts of a panel, checked and encoded.

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


# ---- Where records were read: Parquet files, and the rows of each record in them.


@dataclass(frozen=True)
class Stored:
    """A file, and what it looked like before it was read."""

    path: str
    size: int
    changed: int
    """When it was changed last, in nanoseconds."""


@dataclass(frozen=True, eq=False)
class Origin:
    """Files with the rows of some records, record by record, and how they were read."""

    files: tuple[Stored, ...]
    rows: tuple[int, ...]
    """Of each file."""
    roles: "Roles"
    options: Options
    starts: Array
    """The first row of each record, counted through all files."""
    counts: Array
    """The rows of each record, before those that repeat a time were made one, and before it was resampled."""

    def of(self, records: Array) -> "Origin":
        """Where some of the records were read."""
        return replace(self, starts=self.starts[records], counts=self.counts[records])
