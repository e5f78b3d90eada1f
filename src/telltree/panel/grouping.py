"""Rows -> records: which rows make up which record, in what order, and at what times."""

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from telltree.errors import DataError, warn
from telltree.panel.dates import SECONDS, DateFormat, Dates
from telltree.panel.disk_arrays import by_records, like, on_disk, piecewise
from telltree.panel.names_and_missing import is_nothing
from telltree.panel.schema import ColumnType, listed
from telltree.panel.store import Array, Index, first_rows, is_missing, steps_within
from telltree.panel.text_columns import PythonCells, TimeColumn
from telltree.panel.type_inference import Encoded, Values, encode_by_dtype, is_object, object_array
from telltree.text import counted

NANO, MICRO = 1e9, 1e6  # ticks in a second


@dataclass(frozen=True)
class Times:
    """The time of every row of the input: numbers, or ticks, with `per_second` ticks in a second."""

    values: Array
    per_second: float | None = None
    from_start: bool = False  # dates, which become seconds from the first step of their record
    offsets: Array | None = None  # of dates: the offset of each row from UTC in seconds, if known
    zone: str | None = None  # of dates: the name of their time zone, if known

    @property
    def unit(self) -> Literal["ns", "us"]:
        """The name of the unit."""
        return "ns" if self.per_second == NANO else "us"

    def text(self, value: Any) -> str:
        """Write a time for a message: dates as dates."""
        return str(np.datetime64(int(value), self.unit)) if self.from_start else str(value)


@dataclass(frozen=True)
class Grouping:
    """Records in order; `order` lists the rows of the input by record, None if they already are in that order."""

    ids: Array
    lengths: npt.NDArray[np.int64]
    order: npt.NDArray[np.int64] | None = None
    times: npt.NDArray[np.float64] | None = None
    dates: Dates | None = None
    repeats: npt.NDArray[np.bool_] | None = None  # rows with the time of the row before; None if none has

    def starts(self) -> npt.NDArray[np.int64]:
        """Return the first row of each record, after ordering."""
        return first_rows(self.lengths)

    def owner(self, row: int) -> object:
        """Return the id of the record that a row of the input belongs to."""
        place = row if self.order is None else int(np.flatnonzero(self.order == row)[0])
        record = int(np.searchsorted(self.starts(), place, side="right")) - 1
        return self.id_of(record)

    def id_of(self, record: int) -> object:
        """Return the id of a record by its position."""
        return self.ids[record : record + 1].tolist()[0]

    def arranged(self, array: Array) -> Array:
        """Return a row array in record order; the array itself if it already is."""
        return array if self.order is None else array[self.order]


class OutOfOrderError(DataError):
    """Rows out of order in arrays on disk, which are not sorted."""

    def __init__(self, row: int, problem: str) -> None:
        """`problem` is that of a record, and `row` the first row that shows it."""
        super().__init__(f"row {row} (counted from 0): its record {problem}")
        self.row, self.problem = row, problem


def _require_in_memory(values: Values, row: Callable[[], int], problem: str) -> None:
    if on_disk(values.array if isinstance(values, Encoded) else values):
        raise OutOfOrderError(row(), problem)


def _first_again(numbers: npt.NDArray[np.int64]) -> int:
    """Return the first position of a number that occurred before."""
    _, firsts = np.unique(numbers, return_index=True)
    return int(np.setdiff1d(np.arange(len(numbers)), firsts)[0])


def id_array(ids: Sequence[Any]) -> Array:
    """Return an array of ids: numbers if all are, else objects."""
    plain = list(ids)
    if not {type(value) for value in plain} <= {int, float, str}:
        plain = [value.item() if isinstance(value, np.generic) else plain_number(value) for value in plain]
    if {type(value) for value in plain} in ({int}, {float}):
        numeric = np.array(plain)
        if numeric.dtype.kind in "iuf" and numeric.tolist() == plain:  # NumPy makes floats of 2**63 and -1
            return numeric
    return object_array(plain)


def plain_number(value: Any) -> Any:
    """Convert a decimal or a fraction to an integer or a float; return other values unchanged."""
    if not isinstance(value, Decimal | Fraction) or is_nothing(value):
        return value
    return int(value) if value == value.__trunc__() else float(value)


def given_ids(ids: Sequence[Any] | Array | None, count: int) -> Array:
    """Check the user's ids for `count` records: their number, none missing, all distinct. Without ids, count from 0."""
    if ids is None:
        return np.arange(count, dtype=Index)
    array = id_array(list(ids))
    if len(array) != count:
        raise DataError(f"got {counted(len(array), 'id')} for {counted(count, 'record')}")
    if any(is_nothing(value) for value in array.tolist()):
        raise DataError("an id is missing; every record needs one")
    _require_hashable(array.tolist())
    if len(set(array.tolist())) < count:
        twice = [value for value, times in Counter(array.tolist()).items() if times > 1]
        raise DataError(f"two records have the same id: {listed(twice)}")
    return array


def in_order(ids: Array, lengths: npt.ArrayLike, times: Times | None) -> Grouping:
    """Group rows that are already in record order."""
    sizes = np.asarray(lengths, Index)
    if len(sizes) == 0:
        raise DataError("there are no records")
    if (sizes == 0).any():
        empty = np.asarray(ids)[sizes == 0].tolist()
        raise DataError(
            f"{counted(len(empty), 'record has', 'records have')} no steps: {listed(empty)}; leave them out"
        )
    return _sorted_by_time(Grouping(ids, sizes), times)


def by_id(ids: Values, name: str, times: Times | None) -> Grouping:
    """Group rows by id; records come in order of first appearance, and their rows may interleave."""
    if len(ids) == 0:
        raise DataError("there are no records: the table has no rows")
    _require_ids(ids, name)
    firsts = np.concatenate(([0], np.flatnonzero(_id_changes(ids)) + 1)).astype(Index)
    distinct, numbers = _numbered(ids, firsts)
    run_lengths = np.diff(firsts, append=len(ids)).astype(Index)
    keys = id_array(distinct)
    if len(distinct) == len(numbers):
        return _sorted_by_time(Grouping(keys, run_lengths), times)
    _require_in_memory(ids, lambda: int(firsts[_first_again(numbers)]), "has rows in several places")
    codes = np.repeat(numbers, run_lengths)
    order = np.argsort(codes, kind="stable").astype(Index)
    return _sorted_by_time(Grouping(keys, np.bincount(codes).astype(Index), order), times)


def _require_ids(ids: Values, name: str) -> None:
    absent = missing_rows(ids)
    if absent.any():
        rows = np.flatnonzero(absent).tolist()
        raise DataError(
            f"the id column {name!r} is missing in {counted(len(rows), 'row')}: {listed(rows)} (counted from 0)"
        )


def missing_rows(values: Values) -> npt.NDArray[np.bool_]:
    """Return a mask of the missing values of a column."""
    if isinstance(values, Encoded):
        return is_missing(values.array)
    if isinstance(values, np.ndarray):
        if values.dtype.kind == "O":
            return np.fromiter(map(is_nothing, values), np.bool_, len(values))
        return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), np.bool_)
    absent = np.asarray(values.is_null().to_numpy(), np.bool_)
    return absent | np.isnan(values.to_numpy()) if values.dtype.is_float() else absent


def _numbered(ids: Values, rows: Array) -> tuple[list[Any], npt.NDArray[np.int64]]:
    """Number the ids at these rows by first appearance: each id once, in order, and the number at each row."""
    if isinstance(ids, nw.Series):
        runs = ids[rows.tolist()].to_list()
        _require_hashable(runs)
        place = {value: number for number, value in enumerate(dict.fromkeys(runs))}
        return list(place), np.fromiter(map(place.__getitem__, runs), Index, len(runs))
    array = (ids.array if isinstance(ids, Encoded) else ids)[rows]  # numbers, so that no row becomes a Python object
    kept, first, which = np.unique(array, return_index=True, return_inverse=True)
    order = np.argsort(first)
    distinct = kept[order].tolist()
    numbers = np.empty(len(order), Index)
    numbers[order] = np.arange(len(order))
    if isinstance(ids, Encoded) and ids.levels:
        distinct = [ids.levels[code] for code in distinct]
    return distinct, numbers[which]


def _require_hashable(ids: Sequence[Any]) -> None:
    try:
        set(ids)
    except TypeError:
        raise DataError(f"ids must be numbers or text, got {ids[0]!r:.80}") from None


def _id_changes(ids: Values) -> npt.NDArray[np.bool_]:
    """Return for each row except the first True if its id differs from the one before."""
    if isinstance(ids, nw.Series) and ids.dtype == nw.String and not is_object(ids):
        return (ids[1:] != ids[:-1]).to_numpy().astype(np.bool_)
    plain = ids.array if isinstance(ids, Encoded) else ids if isinstance(ids, np.ndarray) else ids.to_numpy()
    array = np.asarray(plain)
    return np.asarray(array[1:] != array[:-1], dtype=np.bool_)


def _sorted_by_time(grouping: Grouping, times: Times | None) -> Grouping:
    """Sort the rows of each record by time, stably, with a warning if that changes their order."""
    if times is None:
        return grouping
    values = grouping.arranged(times.values)
    within = np.ones(max(len(values) - 1, 0), np.bool_)
    within[grouping.starts()[1:] - 1] = False
    backward = np.flatnonzero((values[1:] < values[:-1]) & within)
    if len(backward):
        _require_in_memory(times.values, lambda: int(backward[0]) + 1, "is not sorted by time")
        grouping = _sort_rows(grouping, values, backward)
        values = grouping.arranged(times.values)
    twice = (values[1:] == values[:-1]) & within
    if twice.any():
        grouping = dataclasses.replace(grouping, repeats=np.concatenate(([False], twice)))
    return _with_times(grouping, times, values)


def require_distinct(grouping: Grouping, times: Times) -> None:
    """Raise a DataError if a time occurs twice in a record."""
    if grouping.repeats is None:
        return
    twice = np.flatnonzero(grouping.repeats)
    ids, values = grouping.ids.tolist(), grouping.arranged(times.values)
    records = (np.searchsorted(grouping.starts(), twice[:3], side="right") - 1).tolist()
    shown = ", ".join(
        f"record {ids[r]!r} at {times.text(values[row])}" for r, row in zip(records, twice[:3], strict=True)
    )
    repeats = counted(len(twice), "step repeats a time of its record", "steps repeat a time of their record")
    raise DataError(
        f"{repeats}: {shown}; keep one row for each time, make one of them by repeated (--repeated) = first, last or "
        "mean, or resample by every (--every)"
    )


def _sort_rows(grouping: Grouping, values: Array, backward: Array) -> Grouping:
    codes = np.repeat(np.arange(len(grouping.lengths)), grouping.lengths)
    late = np.unique(codes[backward])
    ids = grouping.ids[late].tolist()
    were = counted(len(ids), "record was not sorted by time and now is", "records were not sorted by time and now are")
    warn(f"{were}: {listed(ids)}")
    by_time = np.lexsort((values, codes)).astype(Index)
    return Grouping(grouping.ids, grouping.lengths, by_time if grouping.order is None else grouping.order[by_time])


def _with_times(grouping: Grouping, times: Times, values: Array) -> Grouping:
    """Store the times of the sorted rows; dates become seconds from the first date of each record."""
    if not times.from_start:
        per_second = times.per_second
        if per_second is not None or values.dtype != np.float64:
            values = piecewise(lambda some: np.asarray(some / (per_second or 1), np.float64), values, np.float64)
        return dataclasses.replace(grouping, times=values)
    starts = values[grouping.starts()]
    seconds = like(values, np.float64)
    for records, rows in by_records(values, grouping.lengths):
        elapsed = values[rows] - np.repeat(starts[records], grouping.lengths[records])
        if (elapsed < 0).any():  # the rows are sorted, so this is a 64-bit overflow
            raise DataError(
                "a record is longer than 290 years, which nanoseconds cannot count; give dates in microseconds"
            )
        np.divide(elapsed, times.per_second or 1.0, out=seconds[rows])
    offsets = None if times.offsets is None else grouping.arranged(times.offsets)
    begins = starts.view(f"M8[{times.unit}]")
    dates = Dates.of(begins, offsets, times.zone, times=seconds, lengths=grouping.lengths)
    return dataclasses.replace(grouping, times=seconds, dates=dates)


# ---- The column of times -> the time of every row.


DATES = (-9_200_000_000_000, 9_200_000_000_000)  # in seconds; as microseconds they fit 64 bits: some 290,000 years
NANOSECONDS = (-9_200_000_000, 9_200_000_000)  # in seconds; as nanoseconds they fit 64 bits: some 290 years


def read_times(column: Values, name: str, date_format: DateFormat) -> Times:
    """Return the times in a column: numbers unchanged, dates and durations as ticks."""
    if isinstance(column, nw.Series) and column.dtype.is_temporal():
        return _times_of_series(column, name)
    if isinstance(column, np.ndarray) and (column.dtype.names is not None or column.dtype.kind in "mM"):
        return _times_of_array(column, name)
    wanted = ColumnType.CATEGORICAL if date_format.format is not None else None  # 20240229 may be a date
    encoded = encode_by_dtype(name, column, lambda row: f"of row {row}", wanted)
    _require_times(is_missing(encoded.array), name)
    if encoded.type is ColumnType.REAL:
        return Times(_numbers(column, encoded))
    dates = _read_text(encoded, name, date_format) if encoded.type is ColumnType.CATEGORICAL else None
    if dates is None or dates.dtype.kind in "if":
        raise DataError(f"the time column {name!r} is {encoded.type}; turn it into numbers or dates first")
    return _times_of_array(dates, name)


def _numbers(column: Values, encoded: Encoded) -> Array:
    """Return integers unchanged, since large ones are not exact as floats; else the encoded floats."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "iu":
        return column
    if isinstance(column, nw.Series) and column.dtype.is_integer() and not column.is_null().any():
        return np.asarray(column.to_numpy())
    return encoded.array


def _read_text(encoded: Encoded, name: str, date_format: DateFormat) -> Array:
    """Parse times that a dataframe or a Parquet file stores as text, each distinct one once."""
    codes, rows, places = np.unique(encoded.array, return_index=True, return_inverse=True)
    column = TimeColumn(name, date_format)
    written = PythonCells([encoded.levels[code] for code in codes])
    column.add(written, lambda at: f"row {rows[at]} (counted from 0)")
    return column.finish()[places]


def _require_times(absent: Array, name: str) -> None:
    if absent.any():
        rows = np.flatnonzero(absent).tolist()
        raise DataError(
            f"the time column {name!r} is missing in {counted(len(rows), 'row')}: {listed(rows)} (counted from 0)"
        )


def _times_of_series(column: nw.Series[Any], name: str) -> Times:
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
    """Raise a DataError if the ticks of a time, or of its local time, would overflow 64 bits."""
    outside = (seconds < ends[0]) | (seconds > ends[1])
    if outside.any():
        rows = np.flatnonzero(outside).tolist()
        raise DataError(
            f"the time column {name!r} holds times beyond what can be counted in {counted(len(rows), 'row')}: "
            f"{listed(rows)} (counted from 0); correct them"
        )


def _times_of_array(array: Array, name: str) -> Times:
    if array.dtype.names is not None:  # dates with their offsets from UTC
        return dataclasses.replace(_times_of_array(array["utc"], name), offsets=array["offset"])
    _require_times(np.isnat(array), name)
    nanoseconds = np.datetime_data(array.dtype)[0] == "ns"
    if array.dtype.kind == "m":
        _require_range(_in_unit(array, "m8[s]"), NANOSECONDS, name)
        return Times(_in_unit(array, "m8[ns]"), NANO)
    _require_range(_in_unit(array, "M8[s]"), NANOSECONDS if nanoseconds else DATES, name)
    ticks = _in_unit(array, "M8[ns]" if nanoseconds else "M8[us]")
    return Times(ticks, NANO if nanoseconds else MICRO, from_start=True)


def _in_unit(array: Array, unit: str) -> Array:
    return piecewise(lambda some: some.astype(unit).view(np.int64), array, np.int64)


# ---- The length of a step, if it is the same in all records up to rounding errors.

_NEAR = 1e-6  # share of a step by which a time may be off
_ADDED = 1e-10  # the same on the average, if times were added up
_NOISE = 4 * np.finfo(np.float64).eps  # share of a time by which it may be off: stamps are large, and steps small


def common_step(times: Array, lengths: npt.NDArray[np.int64]) -> float | None:
    """Return the time between steps, with as few digits as the times allow; None if it varies by more than rounding."""
    if not len(lengths) or lengths.max() < 2:
        return None
    longest = int(lengths.argmax())
    begin = int(lengths[:longest].sum())
    steps = int(lengths[longest]) - 1
    first, last = float(times[begin]), float(times[begin + steps])
    step = (last - first) / steps
    if not 0 < step < math.inf:
        return None
    step = _fewest_digits(step, _ADDED * step + _NOISE * max(abs(first), abs(last)) / steps)
    regular = all(_has_step(times[rows], lengths[records], step) for records, rows in by_records(times, lengths))
    return step if regular else None


def _has_step(times: Array, lengths: npt.NDArray[np.int64], step: float) -> bool:
    """Return True if the steps of all these records have this length."""
    starts = first_rows(lengths)
    numbers = steps_within(lengths)
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(times - np.repeat(times[starts], lengths) - numbers * step)
        most = np.maximum(np.abs(times), np.repeat(np.abs(times[starts]), lengths))
        return bool((off <= _NEAR * step + _NOISE * most).all())


def _fewest_digits(step: float, tolerance: float) -> float:
    """Return the number with the fewest digits that is at most `tolerance` off."""
    for digits in range(1, 10):  # 1/3 is not cut off
        found = float(f"{step:.{digits}g}")
        if abs(found - step) <= tolerance:
            return found
    return step
