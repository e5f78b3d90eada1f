"""Columns and their grouping into records -> the parts of a panel, checked and encoded."""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from telltree.amounts import counted
from telltree.data.encode import Encoded, Owner, Values, encode
from telltree.data.grouping import Grouping
from telltree.data.levels import align_codes
from telltree.data.schema import Column, ColumnType, Schema, checked_fields, listed, require_known
from telltree.data.store import UNSEEN, Array, Store, frozen, is_missing
from telltree.data.warn import warn
from telltree.errors import DataError

FEW = 10  # an integer column of at most this many values may really be categorical


@dataclass(frozen=True)
class Options:
    """What the user says about any kind of input; checked here, once."""

    schema: Mapping[str, Any] | None = None
    period: float | None = None
    time_unit: str | None = None
    missing: str = "allow"
    like: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # overrides of columns that need not be there

    def __post_init__(self) -> None:
        """Refuse options that make no sense."""
        if self.missing not in ("allow", "error"):
            raise DataError(f"missing must be 'allow' or 'error', got {self.missing!r}")
        if self.period is not None and not _is_positive(self.period):
            raise DataError(f"period must be a positive number, got {self.period!r}")
        if not isinstance(self.time_unit, str | None):
            raise DataError(f"time_unit must be text, got {self.time_unit!r}")

    def fields(self, names: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Give the overrides by column; a column or a field that does not exist is a DataError."""
        overrides = {}
        for name, change in (self.schema or {}).items():
            require_known(name, names, "column in schema")
            overrides[name] = _all_fields(change) if isinstance(change, Column) else checked_fields(name, change)
        return overrides


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and value > 0


def _all_fields(column: Column) -> dict[str, Any]:
    return {field.name: getattr(column, field.name) for field in dataclasses.fields(column) if field.name != "name"}


@dataclass(frozen=True)
class Parts:
    """All that a panel of whole records is made of."""

    schema: Schema
    store: Store
    ids: Array
    period: float | None
    time_unit: str | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Source:
    """Columns as they came: `rows` has one value per row of the input, `static` one per record."""

    rows: Mapping[str, Values]
    static: Mapping[str, Values]
    constant: frozenset[str] = frozenset()  # row columns that the user says are static


def assemble(source: Source, grouping: Grouping, options: Options) -> Parts:
    """Encode all columns and lay their rows out record by record."""
    everything = {**source.rows, **source.static}
    if not everything:
        raise DataError("there are no columns to learn from")
    overrides = options.fields(everything)
    constant = source.constant | {name for name, change in overrides.items() if change.get("static")}
    columns: list[Column] = []
    rows: dict[str, Array] = {}
    static: dict[str, Array] = {}
    notes: list[str] = []
    unseen: list[str] = []
    for name, values in everything.items():
        owner = grouping.owner if name in source.rows else grouping.id_of
        column, encoded = _column(name, values, owner, overrides.get(name, {}))
        if column.levels != encoded.levels:
            codes = align_codes(encoded.array, encoded.levels, column.levels)
            unseen += unseen_levels(name, encoded.levels, encoded.array, codes)
            encoded = dataclasses.replace(encoded, array=codes, levels=column.levels)
        if name in source.static:
            static[name] = frozen(encoded.array)
        elif name in constant:
            static[name] = frozen(_per_record(name, grouping.arranged(encoded.array), grouping))
        else:
            rows[name] = frozen(grouping.arranged(encoded.array))
        columns.append(dataclasses.replace(column, static=name in static))
        notes += _notes(name, encoded)
    parts = Parts(
        Schema(columns),
        Store(grouping.lengths, rows, static, grouping.times, grouping.dates),
        grouping.ids,
        options.period,
        options.time_unit,
        tuple(notes),
    )
    warn_unseen(unseen)
    _report(parts, options)
    return parts


def _column(name: str, values: Values, owner: Owner, fields: dict[str, Any]) -> tuple[Column, Encoded]:
    """Encode one column, and describe it as the user's overrides say."""
    wanted = Column(name, fields["type"]).type if "type" in fields else None
    encoded = encode(name, values, owner, wanted)
    column = Column(name, **{"type": encoded.type, **fields})
    return column if column.levels else dataclasses.replace(column, levels=encoded.levels), encoded


def unseen_levels(name: str, levels: tuple[str, ...], before: Array, after: Array) -> list[str]:
    """Say which levels, and how many values, lost their code between `before` and `after`; nothing if none did."""
    codes = before[(after == UNSEEN) & (before >= 0)]
    if len(codes) == 0:
        return []
    lost = [levels[code] for code in np.unique(codes).tolist()]
    return [f"column {name!r}: {listed(lost)} ({counted(len(codes), 'value')})"]


def warn_unseen(findings: list[str]) -> None:
    """Give one warning for all that `unseen_levels` found."""
    if findings:
        warn("levels that equal none of the known ones: " + "; ".join(findings))


def _per_record(name: str, array: Array, grouping: Grouping) -> Array:
    """Give the one value of each record; a column that varies inside a record is a DataError."""
    values = array[grouping.starts()]
    expected = np.repeat(values, grouping.lengths)
    differ = (array != expected) & ~(is_missing(array) & is_missing(expected))
    if differ.any():
        records = np.searchsorted(grouping.starts(), np.flatnonzero(differ), side="right") - 1
        ids = grouping.ids[np.unique(records)].tolist()
        raise DataError(
            f"static column {name!r} varies inside {counted(len(ids), 'record')}: {listed(ids)}; is it static?"
        )
    return values


def _notes(name: str, encoded: Encoded) -> list[str]:
    if not encoded.whole or encoded.type is not ColumnType.REAL:
        return []
    head = np.unique(encoded.array[: 100 * FEW])
    if len(head) > FEW:  # spares sorting long columns of many values
        return []
    distinct = np.unique(encoded.array[~np.isnan(encoded.array)])
    if len(distinct) > FEW:
        return []
    return [
        f"column {name!r} is read as real, but has only {len(distinct)} whole values; override it if they are names"
    ]


def _report(parts: Parts, options: Options) -> None:
    """Warn once about infinite values, and refuse missing ones where asked."""
    infinite, absent = {}, {}
    for name, column in parts.schema.items():
        array = parts.store.encoded(name)
        if column.type is ColumnType.REAL and (count := int(np.isinf(array).sum())):
            infinite[name] = count
        if options.missing == "error" and (count := int(is_missing(array).sum())):
            absent[name] = count
    if absent:
        shown = ", ".join(f"{name!r}: {count}" for name, count in list(absent.items())[:10])
        more = f" and {counted(len(absent) - 10, 'more column')}" if len(absent) > 10 else ""
        raise DataError(f"values are missing ({shown}{more}); fill them in, or let missing be 'allow'")
    if infinite:
        shown = ", ".join(f"{name!r}: {count}" for name, count in list(infinite.items())[:10])
        warn(f"infinite values are kept and compare as usual ({shown})")
