"""How text files, and the dates in them, are written: as in ISO 8601, with the day first, or in a given format."""

import datetime
import re
from dataclasses import dataclass, field

from telltree.errors import DataError

# 3/4/2025, 03.04.25 12:30, 3-4-2025T12:30:15.5: day and month, or month and day
NUMBERS = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?:[T,\s]\s*(\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?))?")
YEARS = ("%Y", "%y", "%G", "%c", "%x")


@dataclass(frozen=True)
class Clock:
    """How dates are written as text; checked here. A `format` is one of `datetime.strptime`.

    `day_first` says of 3/4/2025 whether the day or the month comes first; if it is None, the rows tell.
    """

    format: str | None = None
    day_first: bool | None = None
    _told: list[bool] = field(default_factory=list, compare=False, repr=False)

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

    def tell(self, *, day_first: bool) -> None:
        """Keep what rows told, or what was assumed, for `settled`."""
        self._told[:] = [day_first]

    def settled(self) -> "Clock":
        """The same clock with the order that rows told, for reading other rows alike."""
        return Clock(self.format, self._told[0] if self._told else self.day_first)

    def read(self, text: str) -> tuple[datetime.datetime | None, datetime.datetime | None]:
        """The date with the day first, and with the month first, as far as there are such and they may be meant.

        Both are the same where the order is not in question. ValueError if the text is no date.
        """
        if self.format is not None:
            date = datetime.datetime.strptime(text, self.format)
            return date, date
        match = NUMBERS.fullmatch(text)
        if match is None:
            date = datetime.datetime.fromisoformat(text)
            return date, date
        first, _, second, year, clock = match.groups()
        found = [
            None if self.day_first is not None and self.day_first is not order else _date(day, month, year, clock)
            for order, day, month in ((True, first, second), (False, second, first))
        ]
        if found == [None, None]:
            raise ValueError(text)
        return found[0], found[1]

    def problem(self, text: str) -> str:
        """Why a text could not be read, and what to do."""
        if self.format is not None:
            return f"which is not written as the time format {self.format!r} says"
        said = "2024-02-29T12:30:00" if self.day_first is None else "3.4.2025 12:30"
        order = {None: "", True: ", the day first", False: ", the month first"}[self.day_first]
        return (
            f"which is neither a number nor a date such as {said}{order}; write it so, or say how dates are written by "
            "time_format (--time-format), such as '%d %b %Y %H:%M'"
        )


def _date(day: str, month: str, year: str, clock: str | None) -> datetime.datetime | None:
    """A date of numbers; None if there is no such day."""
    long = int(year) + (0 if len(year) == 4 else 2000 if int(year) < 69 else 1900)  # as POSIX reads two digits
    try:
        date = datetime.datetime(long, int(month), int(day))
    except ValueError:
        return None
    return date if clock is None else datetime.datetime.combine(date, _time_of_day(clock))


def _time_of_day(text: str) -> datetime.time:
    hour, _, rest = text.partition(":")
    return datetime.time.fromisoformat(f"{hour:0>2}:{rest}")


@dataclass(frozen=True)
class Writing:
    """How text files are written: their encoding, their dates, and whether they may lack a header."""

    encoding: str | None = None
    clock: Clock = field(default_factory=Clock)
    wide: bool = False
