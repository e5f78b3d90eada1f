"""Rows of columns from any source -> records: the data of a panel, checked and encoded, and their labels."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from telltree.errors import DataError, warn
from telltree.panel.dates import UNITS, Dates
from telltree.panel.disk_arrays import by_records, on_disk, pieces, unload
from telltree.panel.grouping import (
    Grouping,
    Times,
    by_id,
    common_step,
    given_ids,
    in_order,
    missing_rows,
    read_times,
    require_distinct,
)
from telltree.panel.input_options import WAYS, FileState, Options, Origin, Roles, Use
from telltree.panel.names_and_missing import says_missing
from telltree.panel.schema import Column, ColumnType, Schema, listed
from telltree.panel.store import (
    UNSEEN,
    Array,
    Index,
    Real,
    Store,
    align_codes,
    first_rows,
    frozen,
    is_missing,
    steps_within,
)
from telltree.panel.type_inference import Encoded, Values, encode, is_zero_one, object_array
from telltree.panel.units_and_names import WIDE_REMEDY, likely_wide, phrases_and_units, split_name
from telltree.text import clip, counted


@dataclass(frozen=True)
class Rows:
    """Columns with one value per row. Rows in record order have `lengths`, others an id column."""

    values: Mapping[str, Values]
    ids: Sequence[Any] | Array | None = None
    lengths: Sequence[int] | None = None
    files: tuple[FileState, ...] = ()  # the files they came from, if these can be read again in parts
    file_rows: Sequence[int] = ()


@dataclass(frozen=True)
class PanelData:
    """The content of a panel: all its records, in columns that have no other rows."""

    schema: Schema
    store: Store
    ids: Array
    period: float | None
    time_unit: str | None
    notes: tuple[str, ...]
    origin: Origin | None = None
    time_column: str = ""
    """The name of the column of times; empty if there is none."""

    def column(self, name: str) -> Array:
        """Return one value per row, in memory."""
        found = self.store.column(name)
        return frozen(np.array(found)) if on_disk(found) else found

    def times(self) -> npt.NDArray[np.float64] | None:
        """Return the time of every row: as read, or counted from 0 by `period`, or None if neither is known."""
        if self.store.times is not None or self.period is None:
            return self.store.times
        return np.asarray(steps_within(self.store.lengths) * self.period, Real)


@dataclass(frozen=True)
class InputColumns:
    """Columns before encoding: `rows` has one value per row of the input, `static` one per record."""

    rows: Mapping[str, Values]
    static: Mapping[str, Values]
    declared_static: frozenset[str] = frozenset()  # row columns that the user declares to be static


def gather(rows: Rows, roles: Roles, options: Options) -> tuple[PanelData, Array | None]:
    """Group rows into records; return the data of their panel, and the labels if a column holds them."""
    uses = (roles.long_plan if rows.lengths is None else roles.plan)(list(rows.values))
    times = None if roles.time is None else read_times(rows.values[roles.time], roles.time, options.date_format)
    # The order of day and month that was found holds for parts of the rows that are read again.
    options = dataclasses.replace(options, date_format=options.date_format.resolved())
    if rows.lengths is None and roles.id is not None:
        grouping = by_id(rows.values[roles.id], roles.id, times)
    else:
        lengths = rows.lengths or ()
        grouping = in_order(given_ids(rows.ids, len(lengths)), lengths, times)
    if rows.lengths is None and grouping.lengths.max() == 1 and likely_wide(list(uses)):
        warn(f"every record has one row, and dozens of columns are called like the steps of a series; {WIDE_REMEDY}")
    if times is not None and options.repeated == "error":
        require_distinct(grouping, times)
    gaps = options.drop_unlabelled
    y = None if roles.label is None else labels_of(rows.values[roles.label], roles.label, grouping, gaps=gaps)
    attributes = {name: rows.values[name] for name, use in uses.items() if use is Use.ATTRIBUTE}
    columns = InputColumns(attributes, {}, frozenset(roles.static))
    data = assemble(columns, grouping, _with_unit(roles.relevant(options, attributes), times, roles.time))
    origin = None
    if rows.files and grouping.order is None:
        origin = Origin(rows.files, tuple(rows.file_rows), roles, options, grouping.starts(), grouping.lengths)
    return dataclasses.replace(data, time_column=roles.time or "", origin=origin), y


def labels_of(values: Values, name: str, grouping: Grouping, *, gaps: bool = False) -> Array:
    """Return the label of each record; a label that is missing, or varies inside a record, is a DataError.

    With `gaps`, the label of a record is None if it is missing in all its rows.
    """
    absent = grouping.arranged(missing_rows(values))
    without = np.logical_and.reduceat(absent, grouping.starts()) if gaps else np.zeros(len(grouping.ids), np.bool_)
    absent = absent & ~np.repeat(without, grouping.lengths)
    if absent.any() or (gaps and without.all()):
        raise _missing_labels(name, _ids_at(grouping, absent) or grouping.ids.tolist())
    if isinstance(values, Encoded):
        array = values.array
    else:
        array = values if isinstance(values, np.ndarray) else np.asarray(values.to_numpy())
    array = grouping.arranged(array)
    firsts = array[grouping.starts()]
    differ = varying(array, firsts, grouping.lengths) & ~np.repeat(without, grouping.lengths)
    if differ.any():
        ids = _ids_at(grouping, differ)
        raise DataError(
            f"label {name!r} varies inside {counted(len(ids), 'record')}: {listed(ids)}; a record has one label"
        )
    if isinstance(values, Encoded) and values.type is not ColumnType.REAL:
        firsts = firsts == 1 if values.type is ColumnType.BOOLEAN else object_array(values.levels)[firsts]
    written: list[object] = firsts.tolist()
    blank = {label for label in set(written) if isinstance(label, str) and says_missing(label)}
    without |= np.fromiter((label in blank for label in written), np.bool_, len(written))
    if blank and not gaps:
        raise _missing_labels(name, grouping.ids[without].tolist())
    if not without.any():
        return firsts
    return object_array(None if lacks else label for label, lacks in zip(written, without.tolist(), strict=True))


def _missing_labels(name: str, ids: list[object]) -> DataError:
    return DataError(
        f"label {name!r} is missing in {counted(len(ids), 'record')}: {listed(ids)}; {LEAVE_OUT_UNLABELLED}"
    )


LEAVE_OUT_UNLABELLED = "leave them out, or records without any label by drop_unlabelled (--drop-unlabelled)"


def _ids_at(grouping: Grouping, rows: Array) -> list[object]:
    records = np.searchsorted(grouping.starts(), np.flatnonzero(rows), side="right") - 1
    ids: list[object] = grouping.ids[np.unique(records)].tolist()
    return ids


def _with_unit(options: Options, times: Times | None, name: str | None) -> Options:
    """Add the unit of times: seconds for dates and durations, else the unit in the name of the column, "t [ms]"."""
    if times is None or options.time_unit == "s":
        return options
    if times.per_second is None:
        _, unit = split_name(name or "") or ("", "")
        return dataclasses.replace(options, time_unit=unit) if options.time_unit is None and unit in UNITS else options
    if options.time_unit is not None:
        raise DataError(f"dates and durations are counted in 's', not {options.time_unit!r}; leave out the time unit")
    return dataclasses.replace(options, time_unit="s")


def merge_repeats(store: Store, repeats: Array, how: str) -> Store:
    """Return the store with one row for each time; `repeats` marks the rows with the same time as the row before.

    In each column, the first or the last present value stays, or the mean of real ones; other columns take the last
    instead of a mean. Missing values are skipped.
    """
    firsts = np.flatnonzero(~repeats)
    slots = np.cumsum(~repeats) - 1
    lengths = np.add.reduceat((~repeats).astype(Index), store.starts())
    rows = {name: frozen(_merge_slots(array, slots, firsts, how)) for name, array in store.rows.items()}
    times = None if store.times is None else frozen(store.times[firsts])
    dates = store.dates
    if dates is not None and dates.offsets is not None:
        dates = Dates(dates.starts, dates.offsets[firsts], dates.zone, dates.daily)
    return Store(lengths, rows, store.static, times, dates)


def _merge_slots(values: Array, slots: Array, firsts: Array, how: str) -> Array:
    """Return one value per slot, missing if it has none; `firsts` are the first rows of slots."""
    result = values[firsts].copy()
    present = np.flatnonzero(~is_missing(values))
    if how == "mean" and values.dtype == Real:
        counts = np.bincount(slots[present], minlength=len(firsts))
        sums = np.bincount(slots[present], weights=values[present], minlength=len(firsts))
        several = counts > 1
        result[several] = sums[several] / counts[several]
        present = present[counts[slots[present]] == 1]
    order = present[::-1] if how == "first" else present
    result[slots[order]] = values[order]  # the last of several values for one slot wins
    return result


# ---- Columns and their grouping into records -> the data of a panel, checked and encoded.

ENOUGH = 10  # records of several steps, from which on a column that never changes within records is static
FIRST = 1000  # records that are checked before all are: most columns change in them
FEW = 10  # an integer column with at most this many values may really be categorical


def assemble(source: InputColumns, grouping: Grouping, options: Options) -> PanelData:
    """Encode all columns and sort their rows by record."""
    values_of = {**source.rows, **source.static}
    if not values_of:
        raise DataError("there are no columns to learn from")
    overrides = options.fields(values_of)
    proposed = phrases_and_units(values_of)
    declared_static = source.declared_static | {name for name, change in overrides.items() if change.get("static")}
    columns: list[Column] = []
    rows: dict[str, Array] = {}
    static: dict[str, Array] = {}
    doubts: dict[str, list[str]] = {}
    unseen: list[str] = []
    rounded: dict[str, int] = {}
    for name, values in values_of.items():
        owner = grouping.owner if name in source.rows else grouping.id_of
        fields = overrides.get(name, {})
        encoded = encode(name, values, owner, declared_type(name, fields), options.declared(name))
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
        elif name in declared_static:
            static[name] = frozen(_per_record(name, array, grouping))
        elif "static" not in fields and _is_static(array, grouping):
            static[name] = frozen(array[grouping.starts()])
            doubts.setdefault(_STATIC_NOTE, []).append(name)
        else:
            rows[name] = frozen(array)
        is_static = name in static
        columns.append(column if column.static is is_static else dataclasses.replace(column, static=is_static))
        if encoded.gaps or declared_type(name, fields) is None:
            doubts.setdefault(_doubt(encoded), []).append(name)
        unload()
    data = PanelData(
        Schema(columns),
        Store(grouping.lengths, rows, static, grouping.times, grouping.dates),
        grouping.ids,
        options.period,
        options.time_unit,
        tuple(_notes(doubts)),
    )
    warn_unseen(unseen)
    _warn_rounded(rounded)
    if grouping.repeats is not None and options.repeated in WAYS:
        data = dataclasses.replace(data, store=merge_repeats(data.store, grouping.repeats, options.repeated))
    _check_values(data, options)
    if options.period is None and data.store.times is not None:
        return dataclasses.replace(data, period=common_step(data.store.times, data.store.lengths))
    return data


def _column(name: str, encoded: Encoded, fields: dict[str, Any], proposed: Mapping[str, str]) -> Column:
    """Describe a column with the user's overrides; the unit of a real column may come from its name."""
    words = proposed if encoded.type is ColumnType.REAL else {}
    column = Column(name, **{"type": encoded.type, **words, **fields})
    return dataclasses.replace(column, levels=encoded.levels) if encoded.levels and not column.levels else column


def declared_type(name: str, fields: Mapping[str, Any]) -> ColumnType | None:
    """Return the type that the user declares for a column, perhaps only by fields that no other type has."""
    if "type" in fields:
        return Column(name, fields["type"]).type
    if fields.get("levels"):
        return ColumnType.CATEGORICAL
    return ColumnType.REAL if any(fields.get(field) is not None for field in ("thresholds", "high", "low")) else None


def unseen_levels(name: str, levels: tuple[str, ...], before: Array, after: Array) -> list[str]:
    """Describe the levels that lost their code from `before` to `after`; empty if none did."""
    codes = before[(after == UNSEEN) & (before >= 0)]
    if len(codes) == 0:
        return []
    lost = [levels[code] for code in np.unique(codes).tolist()]
    return [f"column {name!r}: {listed(lost)} ({counted(len(codes), 'value')})"]


def warn_unseen(findings: list[str]) -> None:
    """Issue one warning for all findings of `unseen_levels`."""
    if findings:
        warn("levels that equal none of the known ones: " + "; ".join(findings))


def _warn_rounded(counts: Mapping[str, int]) -> None:
    """Warn that integers lost their last digits."""
    if counts:
        shown = ", ".join(f"{clip(name)!r}: {counted(count, 'value')}" for name, count in list(counts.items())[:10])
        remedy = 'if they are names, say type = "categorical" in the schema'
        warn(f"whole numbers beyond 2^53 are rounded to the nearest float ({shown}); {remedy}")


def _per_record(name: str, array: Array, grouping: Grouping) -> Array:
    """Return the value of each record; a column that varies within a record is a DataError."""
    values = array[grouping.starts()]
    differ = varying(array, values, grouping.lengths)
    if differ.any():
        ids = _ids_at(grouping, differ)
        raise DataError(
            f"static column {name!r} varies inside {counted(len(ids), 'record')}: {listed(ids)}; is it static?"
        )
    return values


_STATIC_NOTE = (
    "one value in each record, read as static; if that may change within a record, say static = false in the schema"
)


def _is_static(array: Array, grouping: Grouping) -> bool:
    """Return True if a column is constant within each of enough records, but not the same in all of them."""
    lengths = grouping.lengths
    if np.count_nonzero(lengths > 1) < ENOUGH:
        return False
    for some in (FIRST, len(lengths)):
        few = lengths[:some]
        rows = array[: int(few.sum())]
        firsts = rows[first_rows(few)]
        if varying(rows, firsts, few).any():
            return False
    absent = is_missing(firsts)
    return bool((absent != absent[0]).any() or (firsts[~absent] != firsts[~absent][:1]).any())


def varying(array: Array, firsts: Array, lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return a mask of the rows that differ from the first of their record; missing values are equal."""
    found = np.empty(len(array), np.bool_)
    for records, rows in by_records(array, lengths):
        some, expected = array[rows], np.repeat(firsts[records], lengths[records])
        differ = some != expected
        if differ.any() and some.dtype.kind != "O":
            differ &= ~(is_missing(some) & is_missing(expected))
        found[rows] = differ
    return found


def _doubt(encoded: Encoded) -> str:
    """Describe what is doubtful about the type of a column; empty if nothing is."""
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
        doubt = 'only 0 and 1, read as real, since they are floats; else say type = "Boolean" in the schema'
        return doubt if is_zero_one(numbers) else ""
    few = _count_if_few(numbers)
    doubt = f'only {few} whole values, read as real; if they are names, say type = "categorical" in the schema'
    return doubt if few else ""


def _count_if_few(numbers: Array) -> int:
    """Return the number of distinct values of a column if there are few, else 0."""
    head = numbers[: 100 * FEW]
    if len(head) < len(numbers) and len(np.unique(head)) > FEW:  # avoids sorting long columns with many values
        return 0
    some = [np.unique(numbers[piece][~np.isnan(numbers[piece])]) for piece in pieces(numbers)]
    distinct = np.unique(np.concatenate(some))
    return len(distinct) if len(distinct) <= FEW else 0


def _notes(doubts: Mapping[str, list[str]]) -> list[str]:
    """Return one note for each doubt, naming its columns."""
    return [
        f"{'columns' if len(names) > 1 else 'column'} {listed(names)}: {doubt}"
        for doubt, names in doubts.items()
        if doubt
    ]


def _check_values(data: PanelData, options: Options) -> None:
    """Warn once about infinite values, and refuse missing ones if the options say so."""
    infinite, absent = {}, {}
    for name, column in data.schema.items():
        array = data.store.encoded(name)
        if column.type is ColumnType.REAL and (count := _count_where(np.isinf, array)):
            infinite[name] = count
        if options.missing == "error" and (count := _count_where(is_missing, array)):
            absent[name] = count
    if absent:
        more = f" and {counted(len(absent) - 10, 'more column')}" if len(absent) > 10 else ""
        raise DataError(f"values are missing ({_counts_text(absent)}{more}); fill them in, or let missing be 'allow'")
    if infinite:
        warn(f"infinite values are kept and compare as usual ({_counts_text(infinite)})")


def _counts_text(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name!r}: {count}" for name, count in list(counts.items())[:10])


def _count_where(which: Callable[[Array], Array], array: Array) -> int:
    return sum(int(which(array[piece]).sum()) for piece in pieces(array))
