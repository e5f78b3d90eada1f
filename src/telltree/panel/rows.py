"""Rows of columns, from whatever source -> records, the parts of their panel, and their labels."""

import dataclasses
import enum
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np

from telltree.errors import DataError, warn
from telltree.panel.assemble import Options, Origin, Parts, Source, Stored, assemble, varying
from telltree.panel.dates import SECONDS, UNITS
from telltree.panel.disk_arrays import piecewise
from telltree.panel.encode import Encoded, Values, as_it_is, object_array
from telltree.panel.grouping import (
    MICRO,
    NANO,
    Grouping,
    Times,
    absent_rows,
    by_id,
    given_ids,
    in_order,
    require_distinct,
)
from telltree.panel.naming import says_missing
from telltree.panel.schema import ColumnType, listed, require_known, unique_names
from telltree.panel.store import Array, is_missing
from telltree.panel.text_columns import Clock, PythonCells, TimeColumn
from telltree.panel.units import split_name
from telltree.text import counted

# ---- Column names that are steps: headers of wide tables, one row per record and one column per step.

STEP = re.compile(r"(?P<stem>(?:[^\W\d]\w*?)?)[ _.-]?(?P<number>\d+(?:\.\d+)?)")  # 0, t0, temp_12, v 0.5
USUAL = ("", "t", "ts", "time", "step", "timestep", "v", "val", "value", "att")  # stems of steps; others may be names
DOZENS = 24  # columns of one stem: this many are hardly attributes
REMEDY = "if each row is a record and each column a step, say wide (--wide)"


def stem_of(name: str) -> tuple[str, float] | None:
    """The stem of a step's name and its number; None if it is not named like a step."""
    match = STEP.fullmatch(name.strip())
    return None if match is None else (match["stem"], float(match["number"]))


def likely_wide(names: Sequence[str]) -> bool:
    """Whether dozens of columns are named like consecutive steps of a series."""
    stems: dict[str, list[float]] = {}
    for stem, number in filter(None, map(stem_of, names)):
        stems.setdefault(stem.lower(), []).append(number)
    return any(len(stems.get(stem, ())) >= DOZENS and _is_even(stems[stem]) for stem in USUAL)


def has_no_names(row: Sequence[str]) -> bool:
    """Whether the first row of a file holds values: numbers, not evenly spaced like steps, perhaps after a label."""
    numbers = [_number(cell) for cell in row[1:]]
    return (
        len(numbers) > 1 and None not in numbers and not _is_even([number for number in numbers if number is not None])
    )


def unnamed(count: int) -> list[str]:
    """Names for the columns of a file without a header."""
    return [f"column {number}" for number in range(1, count + 1)]


def _is_even(numbers: Sequence[float]) -> bool:
    gaps = [after - before for before, after in pairwise(numbers)]
    return all(gap > 0 and math.isclose(gap, gaps[0], rel_tol=1e-6) for gap in gaps)


def _number(cell: str) -> float | None:
    try:
        return float(cell.strip() or "nan")
    except ValueError:
        return math.nan if cell.strip() == "?" or says_missing(cell) else None


# ---- Rows of columns, from whatever source -> records, the parts of their panel, and their labels.

DATES = (-9_200_000_000_000, 9_200_000_000_000)  # in seconds; as microseconds they fit 64 bits: some 290,000 years
NANOSECONDS = (-9_200_000_000, 9_200_000_000)  # in seconds; as nanoseconds they fit 64 bits: some 290 years


class Use(enum.Enum):
    """The use of a column; file readers ask for it first, and skip columns without a use."""

    ATTRIBUTE = "attribute"
    ID = "id"
    LABEL = "label"
    TIME = "time"


Plan = Callable[[list[str]], dict[str, Use]]  # the names in a file -> what to read of it


@dataclass(frozen=True)
class Rows:
    """Columns with one value per row. Rows in record order have `lengths`, others an id column."""

    values: Mapping[str, Values]
    ids: Sequence[Any] | Array | None = None
    lengths: Sequence[int] | None = None
    files: tuple[Stored, ...] = ()  # that they came from, if those can be read in parts
    file_rows: Sequence[int] = ()


@dataclass(frozen=True)
class Roles:
    """Which columns are the id, the time, the label and the attributes, as the user says."""

    id: str | None = None
    time: str | None = None
    label: str | None = None
    columns: tuple[str, ...] | None = None  # None: all without another role
    static: tuple[str, ...] = ()
    hidden: frozenset[str] = frozenset()  # never attributes, unless named
    drop: tuple[str, ...] = ()  # never attributes, and not read

    @classmethod
    def of(
        cls,
        id: str | None = None,  # noqa: A002 - the word users look for
        time: str | None = None,
        *,
        label: str | None = None,
        columns: Iterable[str] | None = None,
        static: Iterable[str] = (),
        hidden: Iterable[str] = (),
        drop: Iterable[str] = (),
    ) -> "Roles":
        """Store what the user said; names that are numbers become text, as in frames."""
        key, clock, answer = (None if name is None else str(name) for name in (id, time, label))
        chosen = None if columns is None else tuple(unique_names(columns))
        return cls(
            key, clock, answer, chosen, tuple(unique_names(static)), frozenset(hidden), tuple(unique_names(drop))
        )

    def plan(self, names: list[str]) -> dict[str, Use]:
        """What to read of a table with these names; a role that names no column is a DataError."""
        for name, what in ((self.id, "id column"), (self.time, "time column"), (self.label, "label column")):
            if name is not None:
                require_known(name, names, what)
        roles = ((self.id, Use.ID), (self.label, Use.LABEL), (self.time, Use.TIME))
        return {name: use for name, use in roles if name is not None} | dict.fromkeys(
            self.attributes(names), Use.ATTRIBUTE
        )

    def dropped(self) -> "Roles":
        """The same after a file was read, without the columns to drop."""
        return dataclasses.replace(self, hidden=self.hidden | set(self.drop), drop=())

    def long_plan(self, names: list[str]) -> dict[str, Use]:
        """What to read of a long table, which needs an id."""
        if self.id is None:
            wide = f"; {REMEDY}" if likely_wide(names) or has_no_names(names) else ""
            raise DataError(f"say which column is the id, and tells the records apart; there are {listed(names)}{wide}")
        return self.plan(names)

    def attributes(self, names: Iterable[str]) -> list[str]:
        """Return the attributes, in order."""
        taken = {name for name in (self.id, self.time, self.label) if name is not None}
        free = [name for name in names if name not in taken]
        for name in self.drop:
            require_known(name, free, "column to drop:")
            if name in (*(self.columns or ()), *self.static):
                raise DataError(f"column {name!r} is named both to be used and to be dropped; leave out one of the two")
        free = [name for name in free if name not in self.drop]
        known = set(free)
        chosen = [name for name in free if name not in self.hidden] if self.columns is None else list(self.columns)
        chosen += sorted(set(self.static) - set(chosen), key=self.static.index)
        for name in chosen:
            if name in taken:
                role = "the label" if name == self.label else "the id or the time"
                raise DataError(f"column {name!r} is {role}, and cannot be an attribute too; copy it first")
            if name not in known:
                require_known(name, free, "column")
        return chosen

    def told(self, options: Options, attributes: Collection[str]) -> Options:
        """Drop what a schema says about columns that have another role, or were not selected."""
        idle = {self.id, self.time, self.label, *self.hidden, *self.drop} - set(attributes)
        schema = {name: change for name, change in options.like.items() if name in attributes}
        for name, change in (options.schema or {}).items():
            if name in attributes or (self.columns is None and name not in idle):  # an absent column is a mistake
                schema[name] = change
        return dataclasses.replace(options, schema=schema)


def gather(rows: Rows, roles: Roles, options: Options) -> tuple[Parts, Array | None]:
    """Group the rows into records; returns the parts of their panel, and the labels if a column holds them."""
    uses = (roles.long_plan if rows.lengths is None else roles.plan)(list(rows.values))
    times = None if roles.time is None else _times(rows.values[roles.time], roles.time, options.clock)
    options = dataclasses.replace(options, clock=options.clock.settled())  # parts of the rows are read alike
    if rows.lengths is None and roles.id is not None:
        grouping = by_id(rows.values[roles.id], roles.id, times)
    else:
        lengths = rows.lengths or ()
        grouping = in_order(given_ids(rows.ids, len(lengths)), lengths, times)
    if rows.lengths is None and grouping.lengths.max() == 1 and likely_wide(list(uses)):
        warn(f"every record has one row, and dozens of columns are called like the steps of a series; {REMEDY}")
    if times is not None and options.repeated == "error":
        require_distinct(grouping, times)
    gaps = options.drop_unlabelled
    y = None if roles.label is None else labels_of(rows.values[roles.label], roles.label, grouping, gaps=gaps)
    attributes = {name: rows.values[name] for name, use in uses.items() if use is Use.ATTRIBUTE}
    source = Source(attributes, {}, frozenset(roles.static))
    parts = assemble(source, grouping, _with_unit(roles.told(options, attributes), times, roles.time))
    parts = dataclasses.replace(parts, clock=roles.time or "")
    if rows.files and grouping.order is None:
        starts, counts = grouping.starts(), grouping.lengths
        origin = Origin(rows.files, tuple(rows.file_rows), roles, options, starts, counts)
        parts = dataclasses.replace(parts, origin=origin)
    return parts, y


def labels_of(values: Values, name: str, grouping: Grouping, *, gaps: bool = False) -> Array:
    """Return the label of each record; one that is missing, or varies inside a record, is a DataError.

    With `gaps`, the label of a record is None if all its rows miss it.
    """
    absent = grouping.arranged(absent_rows(values))
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
    return _with_gaps(firsts, without) if without.any() else firsts


def _with_gaps(labels: Array, without: Array) -> Array:
    return object_array(None if gone else label for label, gone in zip(labels.tolist(), without.tolist(), strict=True))


def _missing_labels(name: str, ids: list[object]) -> DataError:
    return DataError(
        f"label {name!r} is missing in {counted(len(ids), 'record')}: {listed(ids)}; {LEAVE_OUT_UNLABELLED}"
    )


LEAVE_OUT_UNLABELLED = "leave them out, or records without any label by drop_unlabelled (--drop-unlabelled)"


def _ids_at(grouping: Grouping, rows: Array) -> list[object]:
    records = np.searchsorted(grouping.starts(), np.flatnonzero(rows), side="right") - 1
    ids: list[object] = grouping.ids[np.unique(records)].tolist()
    return ids


def _times(column: Values, name: str, clock: Clock) -> Times:
    """Return the time of every row: numbers unchanged, dates and durations as ticks."""
    if isinstance(column, nw.Series) and column.dtype.is_temporal():
        return _ticks(column, name)
    if isinstance(column, np.ndarray) and (column.dtype.names is not None or column.dtype.kind in "mM"):
        return _clock(column, name)
    wanted = ColumnType.CATEGORICAL if clock.format is not None else None  # 20240229 may be a date
    encoded = as_it_is(name, column, lambda row: f"of row {row}", wanted)
    _require_times(is_missing(encoded.array), name)
    if encoded.type is ColumnType.REAL:
        return Times(_numbers(column, encoded))
    dates = _read_text(encoded, name, clock) if encoded.type is ColumnType.CATEGORICAL else None
    if dates is None or dates.dtype.kind in "if":
        raise DataError(f"the time column {name!r} is {encoded.type}; turn it into numbers or dates first")
    return _clock(dates, name)


def _numbers(column: Values, encoded: Encoded) -> Array:
    """Return times unchanged: large integers are not exact as floats."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "iu":
        return column
    if isinstance(column, nw.Series) and column.dtype.is_integer() and not column.is_null().any():
        return np.asarray(column.to_numpy())
    return encoded.array


def _read_text(encoded: Encoded, name: str, clock: Clock) -> Array:
    """Parse the times that a dataframe or a Parquet file has as text, each distinct one once."""
    codes, rows, places = np.unique(encoded.array, return_index=True, return_inverse=True)
    column = TimeColumn(name, clock)
    written = PythonCells([encoded.levels[code] for code in codes])
    column.add(written, lambda at: f"row {rows[at]} (counted from 0)")
    return column.finish()[places]


def _require_times(absent: Array, name: str) -> None:
    if absent.any():
        rows = np.flatnonzero(absent).tolist()
        raise DataError(
            f"the time column {name!r} is missing in {counted(len(rows), 'row')}: {listed(rows)} (counted from 0)"
        )


def _ticks(column: nw.Series[Any], name: str) -> Times:
    _require_times(np.asarray(column.is_null().to_numpy(), np.bool_), name)
    if column.dtype == nw.Time:
        raise DataError(f"the time column {name!r} holds times of day; give dates with times, or numbers")
    if isinstance(column.dtype, nw.Duration):
        _require_range(column.dt.total_seconds().to_numpy(), NANOSECONDS, name)
        return Times(column.dt.total_nanoseconds().to_numpy(), NANO)
    dates = column.cast(nw.Datetime("us")) if column.dtype == nw.Date else column
    nanoseconds = isinstance(dates.dtype, nw.Datetime) and dates.dtype.time_unit == "ns"
    unit: Literal["ns", "us"] = "ns" if nanoseconds else "us"
    _require_range(dates.dt.timestamp("ms").to_numpy() // 1000, NANOSECONDS if nanoseconds else DATES, name)
    ticks = dates.dt.timestamp(unit).to_numpy()
    times = Times(ticks, NANO if nanoseconds else MICRO, from_start=True)
    zone = dates.dtype.time_zone if isinstance(dates.dtype, nw.Datetime) else None
    if zone is None:
        return times
    ahead = (dates.dt.replace_time_zone(None).dt.timestamp(unit).to_numpy() - ticks) / times.per_second
    return dataclasses.replace(times, offsets=ahead.astype(SECONDS), zone=str(zone))


def _require_range(seconds: Array, ends: tuple[int, int], name: str) -> None:
    """Raise a DataError if the ticks of a time, or its clock time, would overflow 64 bits."""
    outside = (seconds < ends[0]) | (seconds > ends[1])
    if outside.any():
        rows = np.flatnonzero(outside).tolist()
        raise DataError(
            f"the time column {name!r} holds times beyond what can be counted in {counted(len(rows), 'row')}: "
            f"{listed(rows)} (counted from 0); correct them"
        )


def _clock(array: Array, name: str) -> Times:
    if array.dtype.names is not None:  # dates with the UTC offset of their clock
        return dataclasses.replace(_clock(array["utc"], name), offsets=array["offset"])
    _require_times(np.isnat(array), name)
    nanoseconds = np.datetime_data(array.dtype)[0] == "ns"
    if array.dtype.kind == "m":
        _require_range(_counted_in(array, "m8[s]"), NANOSECONDS, name)
        return Times(_counted_in(array, "m8[ns]"), NANO)
    _require_range(_counted_in(array, "M8[s]"), NANOSECONDS if nanoseconds else DATES, name)
    ticks = _counted_in(array, "M8[ns]" if nanoseconds else "M8[us]")
    return Times(ticks, NANO if nanoseconds else MICRO, from_start=True)


def _counted_in(array: Array, unit: str) -> Array:
    return piecewise(lambda some: some.astype(unit).view(np.int64), array, np.int64)


def _with_unit(options: Options, times: Times | None, name: str | None) -> Options:
    """The unit of times: that in the name of their column, "t [ms]"; dates and durations have become seconds."""
    if times is None or options.time_unit == "s":
        return options
    if times.per_second is None:
        _, unit = split_name(name or "") or ("", "")
        return dataclasses.replace(options, time_unit=unit) if options.time_unit is None and unit in UNITS else options
    if options.time_unit is not None:
        raise DataError(f"dates and durations are counted in 's', not {options.time_unit!r}; leave out the time unit")
    return dataclasses.replace(options, time_unit="s")
