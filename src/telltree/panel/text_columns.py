"""Cells of text -> columns: types are inferred chunk by chunk, and each chunk is encoded at once."""

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
from telltree.panel.dates import SECONDS, DateFormat, stamped
from telltree.panel.disk_arrays import Empty, piecewise
from telltree.panel.names_and_missing import says_missing
from telltree.panel.schema import ColumnType
from telltree.panel.store import MISSING, Array, Code, Flag, Index, Real, renumbered
from telltree.panel.type_inference import EXACT, Encoded, Values, count_rounded, nothing, object_array

# ---- An array that grows at its end.


class GrowingArray:
    """Values that come in chunks. They are not there twice, as they would be if the chunks were joined in the end."""

    def __init__(self, first: Array, room: int = 0, empty: Empty = np.empty) -> None:
        """Begin with some values, and room for as many as are expected; what is not used takes no memory."""
        self._empty = empty
        self._array = empty(max(room, len(first)), first.dtype)
        self._array[: len(first)] = first
        self._count = len(first)

    @property
    def kind(self) -> str:
        """The kind of the values, as NumPy calls it."""
        return self._array.dtype.kind

    def add(self, values: Array) -> None:
        """Put values at the end; the type of all widens where it must."""
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
        """Give all values."""
        return self._array[: self._count]


# ---- A chunk of the cells of one column, and what can be read of it at once.


class Expects(enum.Enum):
    """What a column expects of its next cells, after those that it met: it may be wrong, but is worth a try."""

    TEXT = "anything"
    NUMBERS = "numbers, not all of them whole"
    NAMES = "words that occur again and again"


class CellChunk(abc.ABC):
    """Text of some rows, in order. What says "or None" may give up on what it could have read: others then read it."""

    @abc.abstractmethod
    def __len__(self) -> int:
        """Count the cells."""

    @abc.abstractmethod
    def at(self, places: Sequence[int]) -> list[str]:
        """Give the cells at these places."""

    @abc.abstractmethod
    def have(self, mark: str) -> bool:
        """Tell whether a character occurs in any cell."""

    @abc.abstractmethod
    def coded(self) -> tuple[list[str], Array]:
        """Give the different cells, in order of first appearance, and which of them each cell is."""

    @abc.abstractmethod
    def numbers(self, *, comma: bool) -> Array | None:
        """Give floats if all cells are numbers, or None."""

    @abc.abstractmethod
    def whole_numbers(self) -> Array | None:
        """Give integers of 64 bits if all cells are such, or None."""

    def dates(self) -> Array | None:
        """Give dates if all cells are written as ISO 8601 has it, without an offset from UTC, or None."""
        return None


class PythonCells(CellChunk):
    """Cells that Python has split."""

    def __init__(self, cells: Sequence[str]) -> None:
        """Take the cells."""
        self._cells = cells

    def __len__(self) -> int:
        """Count the cells."""
        return len(self._cells)

    def at(self, places: Sequence[int]) -> list[str]:
        """Give the cells at these places."""
        return [self._cells[place] for place in places]

    def have(self, mark: str) -> bool:
        """Tell whether a character occurs in any cell."""
        return mark in "".join(self._cells)

    def coded(self) -> tuple[list[str], Array]:
        """Give the different cells, in order of first appearance, and which of them each cell is."""
        codes = {cell: code for code, cell in enumerate(dict.fromkeys(self._cells))}
        return list(codes), np.fromiter(map(codes.__getitem__, self._cells), Index, len(self._cells))

    def numbers(self, *, comma: bool) -> Array | None:
        """Give floats if all cells are numbers, and none has a decimal comma, or None."""
        try:
            numbers = np.fromiter(map(float, self._cells), Real, len(self._cells))
        except ValueError:
            return None
        return None if self.have("_") else numbers  # Python reads 1_000 as a number; in data it is a name

    def whole_numbers(self) -> Array | None:
        """Give integers of 64 bits if all cells are such, or None."""
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
UNSAID = np.iinfo(SECONDS).min  # the offset of a date that was written without one
BARE = {"true": 1.0, "false": 0.0}  # words that are never names; other words may turn out to be, while reading
Place = Callable[[int], str]  # where the cell of this index in the chunk stands, for messages


class TextColumn:
    """An attribute: numbers are real, true and false Boolean, other text categorical; a mixture is a DataError.

    With `as_text` all cells are kept as text, even words for missing values: they are encoded later.
    """

    def __init__(self, name: str, *, as_text: bool = False, empty: Empty = np.empty) -> None:
        """Start an empty column; `empty` makes room for it."""
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
        """What the next cells seem to be."""
        if self._type is None or (self._type is ColumnType.REAL and self._whole):
            return Expects.TEXT  # how whole numbers are written matters
        return Expects.NUMBERS if self._type is ColumnType.REAL else Expects.NAMES

    def add(self, cells: CellChunk, place: Place, *, comma: bool = False) -> None:
        """Take the next cells; with `comma`, 1,5 is a number."""
        if not self._as_text and self._type in (None, ColumnType.REAL):
            numbers = cells.numbers(comma=comma)
            if numbers is not None and not (np.isnan(numbers[:1]).all() and np.isnan(numbers).all()):
                self._begin_numbers(cells, numbers, place)
                self._add_numbers(cells, numbers, comma)
                return
        distinct, which = cells.coded()
        fresh = self._sorted_out(distinct, lambda code: place(int(np.argmax(which == code))), comma)
        if self._type is None:
            self._gaps += len(cells)
        elif self._type is ColumnType.REAL:
            self._add_numbers(cells, np.array([fresh[cell] for cell in distinct], Real)[which], comma)
        else:
            self._number(fresh)
            dtype = Flag if self._type is ColumnType.BOOLEAN else Code
            self._keep(np.array([self._seen[cell] for cell in distinct], dtype)[which])

    def _begin_numbers(self, cells: CellChunk, numbers: Array, place: Place) -> None:
        """Keep the first value of the column, which is a number."""
        if self._type is None:
            written = cells.at(range(int(np.argmin(np.isnan(numbers))) + 1))
            first = next(at for at, cell in enumerate(written) if not says_missing(cell))
            self._agree(ColumnType.REAL, written[first], functools.partial(place, first))

    def _add_numbers(self, cells: CellChunk, numbers: Array, comma: bool) -> None:
        self._whole = self._whole and not (cells.have(".") or (comma and cells.have(","))) and _are_whole(numbers)
        self._rounded += _count_rounded(cells, numbers)
        self._keep(numbers)

    def _keep(self, values: Array) -> None:
        if self._values is None:
            self._values = GrowingArray(
                nothing(self._type or ColumnType.REAL, self._gaps).array, self._room, self._empty
            )
        self._values.add(values)

    def _sorted_out(self, distinct: Sequence[str], place: Place, comma: bool) -> dict[str, float]:
        """Read each cell not met before: its number or flag, NaN if missing; the type of all must agree."""
        fresh: dict[str, float] = {}
        for code, cell in enumerate(distinct):
            if cell in self._seen:
                continue
            kind, fresh[cell] = (ColumnType.CATEGORICAL, 0.0) if self._as_text else _kind(cell, comma)
            if kind is not None and kind is not self._type:
                self._agree(kind, cell, functools.partial(place, code))
        return fresh

    def _agree(self, kind: ColumnType, cell: str, place: Callable[[], str]) -> None:
        example = f"{cell!r:.60} in {place()}"
        if self._type is not None:
            remedy = "let all be names: give it the type 'categorical' in the schema"
            raise DataError(
                f"column {self._name!r} has mixed types: {self._example} is {_said(self._type)}, {example} is "
                f"{_said(kind)}; correct it, or {remedy}"
            )
        self._type, self._example = kind, example

    def _number(self, fresh: dict[str, float]) -> None:
        for cell, value in fresh.items():
            if math.isnan(value):
                self._seen[cell] = MISSING
            elif self._type is ColumnType.BOOLEAN:
                self._seen[cell] = int(value)
            else:
                self._seen[cell] = len(self._levels)
                self._levels.append(cell)

    def finish(self) -> Values:
        """Return the whole column; levels are in order of their names."""
        return self._encoded()

    def _encoded(self) -> Encoded:
        kind = self._type or ColumnType.REAL
        array = nothing(kind, self._gaps).array if self._values is None else self._values.finish()
        levels = tuple(sorted(self._levels))
        if levels:
            array = renumbered(array, self._levels, levels)
        whole = self._whole and self._type is ColumnType.REAL
        text = kind is ColumnType.CATEGORICAL and not self._as_text
        return Encoded(kind, array, levels, whole, text, self._rounded, tabular=True)


class KeyColumn(TextColumn):
    """Ids or labels: integers if all are written so, else text as it stands; labels may be other numbers too."""

    def __init__(self, name: str, *, label: bool, empty: Empty = np.empty) -> None:
        """Start an empty column; `empty` makes room for it."""
        super().__init__(name, as_text=True, empty=empty)
        self._label = label

    def finish(self) -> Values:
        """Return the whole column."""
        found = self._encoded()
        codes, levels = _without_gaps(found.array, found.levels)
        found = dataclasses.replace(found, array=codes, levels=levels)
        values = plain(found.levels) if self._label else _whole_numbers(found.levels)
        if values is None or (found.array < 0).any():
            return found
        return piecewise(lambda codes: values[codes], found.array, values.dtype)


class TimeColumn:
    """Times: numbers, or dates as the clock writes them; a cell that is neither, or missing, is a DataError.

    Dates such as 3/4/2025 are kept with the day first and with the month first, until a row tells which it is.
    """

    def __init__(self, name: str, date_format: DateFormat, empty: Empty = np.empty) -> None:
        """Start an empty column; `empty` makes room for it."""
        self._name = name
        self._empty = empty
        self._date_format = date_format
        self._room = 0
        self._dated: set[bool] = set()  # whether times were dates
        self._values: GrowingArray | None = None
        self._month_first: GrowingArray | None = None  # the same times read so, where they differ
        self._may_be_missing: tuple[str, datetime.datetime] | None = None  # a cell that may be two dates, and the first
        self._told: dict[bool, str] = {}  # whether the day comes first -> the cell that shows it, and its place

    def expect(self, count: int) -> None:
        """Make room for about so many cells."""
        self._room = count

    @property
    def expects(self) -> Expects:
        """What the next cells seem to be."""
        numbers = self._values is not None and self._values.kind == "f"
        return Expects.NUMBERS if numbers and self._date_format.format is None else Expects.TEXT

    def add(self, cells: CellChunk, place: Place, *, comma: bool = False) -> None:
        """Take the next cells."""
        at_once = self._at_once(cells, comma) if self._date_format.format is None else None
        if at_once is not None:
            self._keep(at_once, at_once)
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
        """Learn from each date that can be read in one way only; two that tell differently are a DataError."""
        if self._date_format.format is not None or self._date_format.day_first is not None:
            return
        for code, (day_first, month_first) in enumerate(pairs):
            if day_first == month_first:
                continue
            if day_first is not None and month_first is not None:
                self._may_be_missing = self._may_be_missing or (distinct[code], day_first)
                continue
            self._told.setdefault(month_first is None, f"{distinct[code]!r} in {where(code)}")
        if len(self._told) == 2:
            raise DataError(
                f"the time column {self._name!r} has the day first, as {self._told[True]} shows, and the month first, "
                f"as {self._told[False]} shows; write all dates in one way, best as 2024-02-29"
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
    def _at_once(cells: CellChunk, comma: bool) -> Array | None:
        """Give the usual times: whole numbers, other numbers, or dates without offsets; None if they are others."""
        whole = cells.whole_numbers()
        if whole is not None:
            return whole
        numbers = cells.numbers(comma=comma)
        if numbers is not None:
            return None if np.isnan(numbers).any() else numbers
        dates = cells.dates()
        return None if dates is None else _stamped(dates, UNSAID)

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
        """Give the whole column: whole numbers, floats, dates, or dates with offsets from UTC as they were written."""
        if len(self._dated) > 1:
            raise DataError(f"the time column {self._name!r} mixes dates and numbers; write all in one way")
        day_first = not self._told.get(False)
        if self._may_be_missing is not None or self._told:
            self._date_format.tell(day_first=day_first)
        if self._may_be_missing is not None and not self._told:
            cell, date = self._may_be_missing
            warn(
                f"the time column {self._name!r} has dates such as {cell!r:.60}, and no row tells whether they begin "
                f"with the day or the month: taken to begin with the day, so that this is {date.date().isoformat()}; "
                "say so by day_first=True (--day-first), or day_first=False (--month-first) if the month comes first"
            )
        found = self._values if day_first or self._month_first is None else self._month_first
        whole = np.empty(0, Real) if found is None else found.finish()
        return _with_offsets(whole) if self._dated == {True} else whole


def _without_gaps(codes: Array, levels: tuple[str, ...]) -> tuple[Array, tuple[str, ...]]:
    """Ids and labels are kept as written, except missing ones."""
    kept = tuple(level for level in levels if not says_missing(level))
    if kept == levels:
        return codes, levels
    place = {level: code for code, level in enumerate(kept)}
    table = np.array([*(place.get(level, MISSING) for level in levels), MISSING], Code)
    return piecewise(lambda some: table[some], codes, Code), kept


def plain(levels: Sequence[str]) -> Array | None:
    """Return names as numbers or truth values if every one is written as such and all stay different, else None."""
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
    """Count the whole numbers that floats do not hold to the last digit."""
    if len(numbers) and numbers.min() > -EXACT and numbers.max() < EXACT:  # not so if some are missing
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
    truth = BARE.get(bare.lower())
    if truth is not None:
        return ColumnType.BOOLEAN, truth
    try:
        value = float(bare.replace(",", ".") if comma else bare)
    except ValueError:
        return ColumnType.CATEGORICAL, 0.0
    return (ColumnType.CATEGORICAL, 0.0) if "_" in bare else (ColumnType.REAL, value)


def _said(kind: ColumnType) -> str:
    return {ColumnType.REAL: "a number", ColumnType.BOOLEAN: "a truth value", ColumnType.CATEGORICAL: "text"}[kind]


def _ticks(dates: Sequence[datetime.datetime]) -> Array:
    """Return dates in UTC, with the offsets they were written with; a date without an offset is taken as UTC."""
    offsets = [date.utcoffset() for date in dates]
    bare = (date.replace(tzinfo=None) for date in dates)
    ticks = [(date - EPOCH - (ahead or NONE)) // TICK for date, ahead in zip(bare, offsets, strict=True)]
    said = [UNSAID if ahead is None else ahead // datetime.timedelta(seconds=1) for ahead in offsets]
    return _stamped(np.array(ticks, np.int64).view("M8[us]"), said)


def _stamped(utc: Array, offsets: npt.ArrayLike) -> Array:
    found = np.empty(len(utc), stamped("us"))
    found["utc"], found["offset"] = utc, offsets
    return found


def _with_offsets(dates: Array) -> Array:
    """Return plain dates if none was written with an offset; otherwise those without an offset have none."""
    unsaid = dates["offset"] == UNSAID
    if unsaid.all():
        return piecewise(lambda some: np.ascontiguousarray(some["utc"]), dates, dates.dtype["utc"])
    dates["offset"][unsaid] = 0
    return dates
