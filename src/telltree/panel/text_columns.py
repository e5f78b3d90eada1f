"""Cells of text -> columns: types are inferred and values encoded chunk by chunk."""

import abc
import dataclasses
import datetime
import enum
import functools
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from telltree.errors import DataError, warn
from telltree.panel.dates import SECONDS, DateFormat, date_with_offset
from telltree.panel.disk_arrays import Empty, piecewise
from telltree.panel.names_and_missing import says_missing
from telltree.panel.schema import ColumnType
from telltree.panel.store import MISSING, Array, Code, Flag, Index, Real, reorder_codes
from telltree.panel.type_inference import EXACT, Encoded, Values, all_missing, count_rounded, object_array

# ---- An array that grows at its end.


class GrowingArray:
    """An array to which chunks are appended. No second copy is ever made of all values, as joining chunks would."""

    def __init__(self, first: Array, room: int = 0, empty: Empty = np.empty) -> None:
        """Start with some values, and room for `room` of them; unused room takes no memory."""
        self._empty = empty
        self._array = empty(max(room, len(first)), first.dtype)
        self._array[: len(first)] = first
        self._count = len(first)

    @property
    def kind(self) -> str:
        """The kind of the dtype, as in NumPy."""
        return self._array.dtype.kind

    def add(self, values: Array) -> None:
        """Append values; the dtype widens if it must."""
        end = self._count + len(values)
        wider = np.result_type(self._array, values)
        if end > len(self._array) or wider != self._array.dtype:
            room = len(self._array) if end <= len(self._array) else 2 * end
            larger = self._empty(room, wider)
            larger[: self._count] = self._array[: self._count]
            self._array = larger
        self._array[self._count : end] = values
        self._count = end

    def finish(self) -> Array:
        """Return all values."""
        return self._array[: self._count]


# ---- A chunk of the cells of one column, with methods that read all of it at once.


class Expects(enum.Enum):
    """The likely content of a column's next cells, judged by those before: a guess for readers to try first."""

    TEXT = "anything"
    NUMBERS = "numbers, not all of them whole"
    NAMES = "words that occur again and again"


class CellChunk(abc.ABC):
    """The cells of some rows of a column, in order.

    Methods that may return None may do so even for cells that could be read; slower methods then read them.
    """

    @abc.abstractmethod
    def __len__(self) -> int:
        """Count the cells."""

    @abc.abstractmethod
    def at(self, indices: Sequence[int]) -> list[str]:
        """Return the cells at these indices."""

    @abc.abstractmethod
    def have(self, character: str) -> bool:
        """Return True if a character occurs in any cell."""

    @abc.abstractmethod
    def coded(self) -> tuple[list[str], Array]:
        """Return the distinct cells, in order of first appearance, and for each cell its index among them."""

    @abc.abstractmethod
    def numbers(self, *, comma: bool) -> Array | None:
        """Return floats if all cells are numbers, or None."""

    @abc.abstractmethod
    def whole_numbers(self) -> Array | None:
        """Return 64-bit integers if all cells are such, or None."""

    def dates(self) -> Array | None:
        """Return dates if all cells are dates in ISO 8601 without an offset from UTC, or None."""
        return None


class PythonCells(CellChunk):
    """Cells that were split by Python."""

    def __init__(self, cells: Sequence[str]) -> None:
        """Store the cells."""
        self._cells = cells

    def __len__(self) -> int:
        """Count the cells."""
        return len(self._cells)

    def at(self, indices: Sequence[int]) -> list[str]:
        """Return the cells at these indices."""
        return [self._cells[index] for index in indices]

    def have(self, character: str) -> bool:
        """Return True if a character occurs in any cell."""
        return character in "".join(self._cells)

    def coded(self) -> tuple[list[str], Array]:
        """Return the distinct cells, in order of first appearance, and for each cell its index among them."""
        codes = {cell: code for code, cell in enumerate(dict.fromkeys(self._cells))}
        return list(codes), np.fromiter(map(codes.__getitem__, self._cells), Index, len(self._cells))

    def numbers(self, *, comma: bool) -> Array | None:
        """Return floats if all cells are numbers, and none has a decimal comma, or None."""
        try:
            numbers = np.fromiter(map(float, self._cells), Real, len(self._cells))
        except ValueError:
            return None
        return None if self.have("_") else numbers  # Python reads 1_000 as a number; in data it is a name

    def whole_numbers(self) -> Array | None:
        """Return 64-bit integers if all cells are such, or None."""
        try:
            return np.fromiter(map(int, self._cells), np.int64, len(self._cells))
        except (ValueError, OverflowError):
            return None


# ---- Cells of text -> columns: types are inferred chunk by chunk, and each chunk is encoded at once.

WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")  # an integer as Python writes it
INTEGER = re.compile(r"[+-]?[0-9]{1,400}")  # no finite float has more digits, except leading zeros
EPOCH = datetime.datetime(1970, 1, 1)
TICK = datetime.timedelta(microseconds=1)
NONE = datetime.timedelta(0)
NO_OFFSET = np.iinfo(SECONDS).min  # the offset of a date that was written without one
TRUTHS = {"true": 1.0, "false": 0.0}  # words that are never names; whether others are is decided for whole columns
Place = Callable[[int], str]  # the place in the file of the cell with this index in the chunk, for messages


class TextColumn:
    """An attribute: numbers are real, true and false Boolean, other text categorical; a mixture is a DataError.

    With `as_text` all cells stay text, even words for missing values; they are encoded later.
    """

    def __init__(self, name: str, *, as_text: bool = False, empty: Empty = np.empty) -> None:
        """Start an empty column; `empty` allocates its array."""
        self._name = name
        self._empty = empty
        self._as_text = as_text
        self._type: ColumnType | None = None  # unknown until the first value
        self._example = ""  # the first value and its place
        self._whole = True
        self._rounded = 0
        self._room = 0
        self._gaps = 0  # missing values before the type is known
        self._values: GrowingArray | None = None
        self._seen: dict[str, int] = {}  # cell -> flag or code
        self._levels: list[str] = []

    def expect(self, count: int) -> None:
        """Make room for about so many cells."""
        self._room = count

    @property
    def expects(self) -> Expects:
        """The likely content of the next cells."""
        if self._type is None or (self._type is ColumnType.REAL and self._whole):
            return Expects.TEXT  # the spelling of whole numbers matters
        return Expects.NUMBERS if self._type is ColumnType.REAL else Expects.NAMES

    def add(self, cells: CellChunk, place: Place, *, comma: bool = False) -> None:
        """Append cells; with `comma`, 1,5 is a number."""
        if not self._as_text and self._type in (None, ColumnType.REAL):
            numbers = cells.numbers(comma=comma)
            if numbers is not None and not (np.isnan(numbers[:1]).all() and np.isnan(numbers).all()):
                self._begin_numbers(cells, numbers, place)
                self._add_numbers(cells, numbers, comma)
                return
        distinct, which = cells.coded()
        fresh = self._read_new(distinct, lambda code: place(int(np.argmax(which == code))), comma)
        if self._type is None:
            self._gaps += len(cells)
        elif self._type is ColumnType.REAL:
            self._add_numbers(cells, np.array([fresh[cell] for cell in distinct], Real)[which], comma)
        else:
            self._add_levels(fresh)
            dtype = Flag if self._type is ColumnType.BOOLEAN else Code
            self._keep(np.array([self._seen[cell] for cell in distinct], dtype)[which])

    def _begin_numbers(self, cells: CellChunk, numbers: Array, place: Place) -> None:
        """Remember the first value of the column, which is a number."""
        if self._type is None:
            written = cells.at(range(int(np.argmin(np.isnan(numbers))) + 1))
            first = next(at for at, cell in enumerate(written) if not says_missing(cell))
            self._require_type(ColumnType.REAL, written[first], functools.partial(place, first))

    def _add_numbers(self, cells: CellChunk, numbers: Array, comma: bool) -> None:
        self._whole = self._whole and not (cells.have(".") or (comma and cells.have(","))) and _are_whole(numbers)
        self._rounded += _count_rounded(cells, numbers)
        self._keep(numbers)

    def _keep(self, values: Array) -> None:
        if self._values is None:
            self._values = GrowingArray(
                all_missing(self._type or ColumnType.REAL, self._gaps).array, self._room, self._empty
            )
        self._values.add(values)

    def _read_new(self, distinct: Sequence[str], place: Place, comma: bool) -> dict[str, float]:
        """Read cells that are new: their numbers or flags, NaN if missing; a type that differs is a DataError."""
        fresh: dict[str, float] = {}
        for code, cell in enumerate(distinct):
            if cell in self._seen:
                continue
            kind, fresh[cell] = (ColumnType.CATEGORICAL, 0.0) if self._as_text else _kind(cell, comma)
            if kind is not None and kind is not self._type:
                self._require_type(kind, cell, functools.partial(place, code))
        return fresh

    def _require_type(self, kind: ColumnType, cell: str, place: Callable[[], str]) -> None:
        example = f"{cell!r:.60} in {place()}"
        if self._type is not None:
            remedy = "let all be names: give it the type 'categorical' in the schema"
            raise DataError(
                f"column {self._name!r} has mixed types: {self._example} is {_noun(self._type)}, {example} is "
                f"{_noun(kind)}; correct it, or {remedy}"
            )
        self._type, self._example = kind, example

    def _add_levels(self, fresh: dict[str, float]) -> None:
        for cell, value in fresh.items():
            if math.isnan(value):
                self._seen[cell] = MISSING
            elif self._type is ColumnType.BOOLEAN:
                self._seen[cell] = int(value)
            else:
                self._seen[cell] = len(self._levels)
                self._levels.append(cell)

    def finish(self) -> Values:
        """Return the whole column, with sorted levels."""
        return self._encoded()

    def _encoded(self) -> Encoded:
        kind = self._type or ColumnType.REAL
        array = all_missing(kind, self._gaps).array if self._values is None else self._values.finish()
        levels = tuple(sorted(self._levels))
        if levels:
            array = reorder_codes(array, self._levels, levels)
        whole = self._whole and self._type is ColumnType.REAL
        text = kind is ColumnType.CATEGORICAL and not self._as_text
        return Encoded(kind, array, levels, whole, text, self._rounded, tabular=True)


class KeyColumn(TextColumn):
    """Ids or labels: integers if all are written as such, else unchanged text; labels may be other numbers too."""

    def __init__(self, name: str, *, label: bool, empty: Empty = np.empty) -> None:
        """Start an empty column; `empty` allocates its array."""
        super().__init__(name, as_text=True, empty=empty)
        self._label = label

    def finish(self) -> Values:
        """Return the whole column."""
        found = self._encoded()
        codes, levels = _without_missing(found.array, found.levels)
        found = dataclasses.replace(found, array=codes, levels=levels)
        values = numbers_or_truths(found.levels) if self._label else _whole_numbers(found.levels)
        if values is None or (found.array < 0).any():
            return found
        return piecewise(lambda codes: values[codes], found.array, values.dtype)


class TimeColumn:
    """Times: numbers, or dates in a given format; a cell that is neither, or missing, is a DataError.

    Dates such as 3/4/2025 are stored both with the day first and with the month first, until a row decides the order.
    """

    def __init__(self, name: str, date_format: DateFormat, empty: Empty = np.empty) -> None:
        """Start an empty column; `empty` allocates its array."""
        self._name = name
        self._empty = empty
        self._date_format = date_format
        self._room = 0
        self._dated: set[bool] = set()  # whether times were dates
        self._values: GrowingArray | None = None
        self._month_first: GrowingArray | None = None  # the times with the month first, if they differ
        self._ambiguous: tuple[str, datetime.datetime] | None = None  # a cell with two readings, and the first
        self._evidence: dict[bool, str] = {}  # True: the day comes first -> a cell that shows it, and its place

    def expect(self, count: int) -> None:
        """Make room for about so many cells."""
        self._room = count

    @property
    def expects(self) -> Expects:
        """The likely content of the next cells."""
        numbers = self._values is not None and self._values.kind == "f"
        return Expects.NUMBERS if numbers and self._date_format.format is None else Expects.TEXT

    def add(self, cells: CellChunk, place: Place, *, comma: bool = False) -> None:
        """Append cells."""
        bulk = self._read_in_bulk(cells, comma) if self._date_format.format is None else None
        if bulk is not None:
            self._keep(bulk, bulk)
            return
        distinct, which = cells.coded()

        def where(code: int) -> str:
            return place(int(np.argmax(which == code)))

        values = [self._read(cell, code, where, comma) for code, cell in enumerate(distinct)]
        dated = [not isinstance(value, float) for value in values]
        if any(dated) and not all(dated):
            odd = dated.index(not dated[0])
            raise DataError(
                f"the time column {self._name!r} mixes dates and numbers: {distinct[odd]!r} in {where(odd)}"
            )
        if not any(dated):
            numbers = np.array(values, Real)[which]
            self._keep(numbers, numbers)
            return
        pairs: list[Any] = values
        self._learn_order(distinct, pairs, where)
        first, second = ([pair[order] or pair[1 - order] for pair in pairs] for order in (0, 1))
        times = _ticks(first)[which]
        self._keep(times, times if first == second else _ticks(second)[which])

    def _learn_order(self, distinct: Sequence[str], pairs: Sequence[Any], where: Place) -> None:
        """Learn the order of day and month from dates with one reading; a contradiction is a DataError."""
        if self._date_format.format is not None or self._date_format.day_first is not None:
            return
        for code, (day_first, month_first) in enumerate(pairs):
            if day_first == month_first:
                continue
            if day_first is not None and month_first is not None:
                self._ambiguous = self._ambiguous or (distinct[code], day_first)
                continue
            self._evidence.setdefault(month_first is None, f"{distinct[code]!r} in {where(code)}")
        if len(self._evidence) == 2:
            raise DataError(
                f"the time column {self._name!r} has the day first, as {self._evidence[True]} shows, and the month "
                f"first, as {self._evidence[False]} shows; write all dates in one way, best as 2024-02-29"
            )

    def _keep(self, times: Array, month_first: Array) -> None:
        self._dated.add(times.dtype.names is not None)
        if len(self._dated) > 1:
            return
        if month_first is not times and self._month_first is None:
            before = times[:0] if self._values is None else self._values.finish()
            self._month_first = GrowingArray(before, self._room, self._empty)
        if self._month_first is not None:
            self._month_first.add(month_first)
        if self._values is None:
            self._values = GrowingArray(times, self._room, self._empty)
        else:
            self._values.add(times)

    @staticmethod
    def _read_in_bulk(cells: CellChunk, comma: bool) -> Array | None:
        """Read common times in bulk: whole numbers, other numbers, or dates without offsets; None for any others."""
        whole = cells.whole_numbers()
        if whole is not None:
            return whole
        numbers = cells.numbers(comma=comma)
        if numbers is not None:
            return None if np.isnan(numbers).any() else numbers
        dates = cells.dates()
        return None if dates is None else _with_offset(dates, NO_OFFSET)

    def _read(self, cell: str, code: int, where: Place, comma: bool) -> Any:
        bare = cell.strip()
        if says_missing(bare):
            raise DataError(f"the time column {self._name!r} is missing in {where(code)}")
        if self._date_format.format is None:
            kind, value = _kind(cell, comma)
            if kind is ColumnType.REAL:
                return value
        try:
            return self._date_format.read(bare)
        except ValueError:
            problem = self._date_format.problem(bare)
            raise DataError(f"the time column {self._name!r} has {cell!r:.60} in {where(code)}, {problem}") from None

    def finish(self) -> Array:
        """Return the whole column: integers, floats, dates, or dates with offsets from UTC."""
        if len(self._dated) > 1:
            raise DataError(f"the time column {self._name!r} mixes dates and numbers; write all in one way")
        day_first = not self._evidence.get(False)
        if self._ambiguous is not None or self._evidence:
            self._date_format.resolve(day_first=day_first)
        if self._ambiguous is not None and not self._evidence:
            cell, date = self._ambiguous
            warn(
                f"the time column {self._name!r} has dates such as {cell!r:.60}, and no row tells whether they begin "
                f"with the day or the month: taken to begin with the day, so that this is {date.date().isoformat()}; "
                "say so by day_first=True (--day-first), or day_first=False (--month-first) if the month comes first"
            )
        found = self._values if day_first or self._month_first is None else self._month_first
        whole = np.empty(0, Real) if found is None else found.finish()
        return _with_offsets(whole) if self._dated == {True} else whole


def _without_missing(codes: Array, levels: tuple[str, ...]) -> tuple[Array, tuple[str, ...]]:
    """Make words for missing values missing; other ids and labels stay as written."""
    kept = tuple(level for level in levels if not says_missing(level))
    if kept == levels:
        return codes, levels
    place = {level: code for code, level in enumerate(kept)}
    table = np.array([*(place.get(level, MISSING) for level in levels), MISSING], Code)
    return piecewise(lambda some: table[some], codes, Code), kept


def numbers_or_truths(levels: Sequence[str]) -> Array | None:
    """Return names as numbers or Booleans if all are written as such and stay distinct, else None."""
    kinds = [_kind(level, comma=False) for level in levels]
    for kind in (ColumnType.BOOLEAN, ColumnType.REAL):
        values = {value for found, value in kinds if found is kind}
        if levels and len(values) == len(levels):
            whole = _whole_numbers(levels)
            dtype = np.bool_ if kind is ColumnType.BOOLEAN else Real
            return np.array([value for _, value in kinds], dtype) if whole is None else whole
    return None


def _whole_numbers(levels: Sequence[str]) -> Array | None:
    whole = bool(levels) and all(map(WHOLE.fullmatch, levels))
    return np.array([int(level) for level in levels], np.int64) if whole else None


def _are_whole(numbers: Array) -> bool:
    return bool((np.isnan(numbers) | (numbers == np.floor(numbers))).all())


def _count_rounded(cells: CellChunk, numbers: Array) -> int:
    """Count the whole numbers that lost digits as floats."""
    if len(numbers) and numbers.min() > -EXACT and numbers.max() < EXACT:  # false if some are missing
        return 0
    large = np.flatnonzero((np.abs(numbers) >= EXACT) & np.isfinite(numbers)).tolist()
    if not large:
        return 0
    written = (cell.strip() for cell in cells.at(large))
    return count_rounded(object_array(int(cell) for cell in written if INTEGER.fullmatch(cell)))


def _kind(cell: str, comma: bool) -> tuple[ColumnType | None, float]:
    bare = cell.strip()
    if says_missing(bare):
        return None, math.nan
    truth = TRUTHS.get(bare.lower())
    if truth is not None:
        return ColumnType.BOOLEAN, truth
    try:
        value = float(bare.replace(",", ".") if comma else bare)
    except ValueError:
        return ColumnType.CATEGORICAL, 0.0
    return (ColumnType.CATEGORICAL, 0.0) if "_" in bare else (ColumnType.REAL, value)


def _noun(kind: ColumnType) -> str:
    return {ColumnType.REAL: "a number", ColumnType.BOOLEAN: "a truth value", ColumnType.CATEGORICAL: "text"}[kind]


def _ticks(dates: Sequence[datetime.datetime]) -> Array:
    """Return dates in UTC with the offsets they were written with; a date without an offset is taken as UTC."""
    offsets = [date.utcoffset() for date in dates]
    local = (date.replace(tzinfo=None) for date in dates)
    ticks = [(date - EPOCH - (ahead or NONE)) // TICK for date, ahead in zip(local, offsets, strict=True)]
    seconds = [NO_OFFSET if ahead is None else ahead // datetime.timedelta(seconds=1) for ahead in offsets]
    return _with_offset(np.array(ticks, np.int64).view("M8[us]"), seconds)


def _with_offset(utc: Array, offsets: npt.ArrayLike) -> Array:
    found = np.empty(len(utc), date_with_offset("us"))
    found["utc"], found["offset"] = utc, offsets
    return found


def _with_offsets(dates: Array) -> Array:
    """Return plain dates if none was written with an offset; else dates without one get the offset 0."""
    without = dates["offset"] == NO_OFFSET
    if without.all():
        return piecewise(lambda some: np.ascontiguousarray(some["utc"]), dates, dates.dtype["utc"])
    dates["offset"][without] = 0
    return dates
