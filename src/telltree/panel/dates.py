"""Dates and times: the dates of records, formats of dates in text, durations for people (`6 d` for 518400 s)."""

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from telltree.errors import DataError
from telltree.panel.disk_arrays import Array, by_records

# ---- The dates of records: turn seconds back into the local time of the data.

DAY = np.timedelta64(1, "D")
SECONDS = np.dtype(np.int32)  # east of UTC


def date_with_offset(unit: str) -> np.dtype[Any]:
    """Return the dtype of timestamps with an offset from UTC in seconds, to which Parquet and CSV are read."""
    return np.dtype([("utc", f"M8[{unit}]"), ("offset", SECONDS)])


@dataclass(frozen=True, eq=False)
class Dates:
    """The date at which each record starts, and the offsets of its rows from UTC.

    `starts` has one date per record: in UTC if there are `offsets`, which hold for each row the seconds by which local
    time was ahead of UTC, else as the data had them. `zone` is the name of the time zone, if the data had one. `daily`
    is true if every time was a midnight, so that dates need no time of day.
    """

    starts: npt.NDArray[np.datetime64]
    offsets: npt.NDArray[np.int32] | None = None
    zone: str | None = None
    daily: bool = False

    @classmethod
    def of(
        cls, starts: Array, offsets: Array | None, zone: str | None, *, times: Array, lengths: npt.NDArray[np.int64]
    ) -> "Dates":
        """Return the dates of records whose rows are `times` seconds after their starts."""
        known = cls(starts, offsets, zone)
        locals_ = (
            known.local(np.repeat(starts[records], lengths[records]), times[rows], rows)
            for records, rows in by_records(times, lengths)
        )
        return cls(starts, offsets, zone, all(bool((some == some.astype("M8[D]")).all()) for some in locals_))

    def local(self, starts: Array, times: Array, rows: slice | Array) -> npt.NDArray[np.datetime64]:
        """Return the local time of these rows, which are `times` seconds after `starts`."""
        moments = self.instants(starts, times)
        return moments if self.offsets is None else moments + self.offsets[rows].astype("m8[s]")

    @staticmethod
    def instants(starts: Array, times: Array) -> npt.NDArray[np.datetime64]:
        """Return the moments `times` seconds after `starts`, in the resolution of `starts`."""
        unit, _ = np.datetime_data(starts.dtype)
        ticks = np.round(times * (1e9 if unit == "ns" else 1e6)).astype(np.int64)
        moments: npt.NDArray[np.datetime64] = starts + ticks.view(f"m8[{unit}]")
        return moments

    def cut(self, records: slice | Array, rows: slice | Array) -> "Dates":
        """Return the dates of some records, with these rows."""
        offsets = None if self.offsets is None else self.offsets[rows]
        return Dates(self.starts[records], offsets, self.zone, self.daily)


# ---- Formats of dates in text: ISO 8601, numbers with the day or the month first, or a format of `strptime`.

# 3/4/2025, 03.04.25 12:30, 3-4-2025T12:30:15.5: day and month, or month and day
NUMBERS = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?:[T,\s]\s*(\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?))?")
YEARS = ("%Y", "%y", "%G", "%c", "%x")


@dataclass(frozen=True)
class DateFormat:
    """The way dates are written in text. `format` is one of `datetime.strptime`.

    `day_first` decides whether 3/4/2025 begins with the day or the month; if it is None, the rows decide.
    """

    format: str | None = None
    day_first: bool | None = None
    _resolved: list[bool] = field(default_factory=list, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse formats that no date matches."""
        if self.day_first not in (None, True, False):
            raise DataError(f"day_first must be True, False or None, got {self.day_first!r}")
        if self.format is None:
            return
        if not isinstance(self.format, str):
            raise DataError(f"time_format must be text such as '%d.%m.%Y %H:%M', got {self.format!r}")
        if self.day_first is not None:
            raise DataError("time_format says all, also whether the day comes first; leave out day_first")
        if not any(year in self.format for year in YEARS):
            raise DataError(f"time_format {self.format!r} has no year; a date is written as in '%d.%m.%Y %H:%M'")
        try:
            datetime.datetime.strptime("", self.format)
        except (ValueError, re.error) as error:
            if "does not match" not in str(error):
                raise DataError(f"time_format {self.format!r} is none: {error}") from None

    def resolve(self, *, day_first: bool) -> None:
        """Remember the order found in the rows, or assumed, for `resolved`."""
        self._resolved[:] = [day_first]

    def resolved(self) -> "DateFormat":
        """Return this format with the order of day and month that was found, for reading other rows alike."""
        return DateFormat(self.format, self._resolved[0] if self._resolved else self.day_first)

    def read(self, text: str) -> tuple[datetime.datetime | None, datetime.datetime | None]:
        """Return the date read with the day first, and with the month first; None for a reading that is impossible.

        Both are the same if the order does not matter. ValueError if the text is no date.
        """
        if self.format is not None:
            date = datetime.datetime.strptime(text, self.format)
            return date, date
        match = NUMBERS.fullmatch(text)
        if match is None:
            date = datetime.datetime.fromisoformat(text)
            return date, date
        first, _, second, year, time_of_day = match.groups()
        found = [
            None
            if self.day_first is not None and self.day_first is not order
            else _numeric_date(day, month, year, time_of_day)
            for order, day, month in ((True, first, second), (False, second, first))
        ]
        if found == [None, None]:
            raise ValueError(text)
        return found[0], found[1]

    def problem(self, text: str) -> str:
        """Explain why a text could not be read, and what to do."""
        if self.format is not None:
            return f"which is not written as the time format {self.format!r} says"
        example = "2024-02-29T12:30:00" if self.day_first is None else "3.4.2025 12:30"
        order = {None: "", True: ", the day first", False: ", the month first"}[self.day_first]
        return (
            f"which is neither a number nor a date such as {example}{order}; write it so, or say how dates are written "
            "by time_format (--time-format), such as '%d %b %Y %H:%M'"
        )


def _numeric_date(day: str, month: str, year: str, time_of_day: str | None) -> datetime.datetime | None:
    """Return a date; None if there is no such day."""
    full_year = int(year) + (0 if len(year) == 4 else 2000 if int(year) < 69 else 1900)  # as POSIX reads two digits
    try:
        date = datetime.datetime(full_year, int(month), int(day))
    except ValueError:
        return None
    return date if time_of_day is None else datetime.datetime.combine(date, _time_of_day(time_of_day))


def _time_of_day(text: str) -> datetime.time:
    hour, _, rest = text.partition(":")
    return datetime.time.fromisoformat(f"{hour:0>2}:{rest}")


# ---- Durations and dates for people: `6 d` for 518400 s.

UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}  # in seconds
LONGEST = 1000 * UNITS["d"]
"""In seconds. Anything longer is a time since some epoch, not a duration for people."""
FITTING = 5
"""An axis uses the largest unit that fits on it this many times."""


def duration_text(value: float, unit: str | None) -> str:
    """Write a duration in the largest unit in which it is a multiple of one half, else in its own unit.

    518400 s is "6 d", 79200 s "22 h", 90 s "1.5 min", 100 s "100 s". A unit that is no unit of time stays, and a number
    without a unit gets none.
    """
    return duration_texts([value], unit)[0]


def duration_texts(values: Sequence[float], unit: str | None) -> list[str]:
    """Write several durations, as `duration_text` does, but all in one unit: "0 h" and "27 h"."""
    most = max(map(abs, values))
    for larger, size in larger_units(unit) if most <= longest(unit) else ():
        halves = [round(2 * value / size) for value in values]
        whole = all(abs(2 * value / size - n) <= 1e-9 * abs(n) for value, n in zip(values, halves, strict=True))
        if whole and max(map(abs, halves)) >= 2:
            return [f"{number_text(n / 2)} {larger}" for n in halves]
    return [f"{number_text(value)} {unit}" if unit else number_text(value) for value in values]


def larger_units(unit: str | None) -> list[tuple[str, float]]:
    """Return the larger units of time, largest first, in multiples of `unit`; none if that is no unit of time."""
    own = UNITS.get(unit or "", np.inf)
    return [(name, UNITS[name] / own) for name in ("d", "h", "min", "s", "ms", "µs") if UNITS[name] > own]


def longest(unit: str | None) -> float:
    """Return the longest duration, in `unit`, that is written in a larger unit."""
    return LONGEST / UNITS.get(unit or "", np.inf)


def axis_unit(span: float, unit: str | None) -> tuple[float, str | None]:
    """Return the number to divide times by for an axis of this span, and the unit of the result."""
    for larger, size in larger_units(unit) if span <= longest(unit) else ():
        if span >= FITTING * size:
            return size, larger
    return 1.0, unit


def moment_text(moment: np.datetime64, offset: int | None, *, daily: bool, iso: bool) -> str:
    """Write a date in local time with its offset from UTC; see `Panel.date_text`."""
    day, _, clock = str(np.datetime_as_string(moment)).partition("T")
    if daily and not iso:
        return day
    whole, _, fraction = clock.partition(".")
    fraction = fraction.rstrip("0")
    seconds = whole.removesuffix(":00") if not (iso or fraction) else whole
    return f"{day}{'T' if iso else ' '}{seconds}{'.' + fraction if fraction else ''}{offset_text(offset)}"


def offset_text(offset: int | None) -> str:
    """Write an offset from UTC, given in seconds, in the form of ISO 8601; empty if it is unknown."""
    if offset is None:
        return ""
    minutes, seconds = divmod(abs(offset), 60)
    return f"{'-' if offset < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}" + (f":{seconds:02}" if seconds else "")


def number_text(value: float) -> str:
    """Write a number with six digits, or with three after the point if that is more."""
    if abs(value) < 1e15 and value == round(value):
        return str(int(value))
    before = len(str(int(abs(value)))) if abs(value) < 1e15 else 0
    return f"{value:.{max(6, before + 3)}g}"


# ---- The length of a step.

StepLength = tuple[float | None, str]
"""The length of a step (None if steps differ) and the unit of times, as in `Panel.step`: (1.0, "s")."""


class NamedStep(tuple[float | None, str]):
    """A step length with the name of the column of times, which does not count in comparisons."""

    time_column: str

    def __new__(cls, length: float | None, unit: str, time_column: str) -> "NamedStep":
        """Keep the name beside the pair."""
        found = super().__new__(cls, (length, unit))
        found.time_column = time_column
        return found

    def __getnewargs__(self) -> tuple[float | None, str, str]:
        """Return the arguments of `__new__`, for copies and pickles."""
        return (*self, self.time_column)


def time_column_of(step: StepLength | None) -> str:
    """Return the name of the column of times; "" if it is unknown."""
    return step.time_column if isinstance(step, NamedStep) else ""
