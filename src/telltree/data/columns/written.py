"""How text files, and the dates in them, are written: as in ISO 8601, with the day first, or in a given format."""

import datetime
import re
from dataclasses import dataclass

from telltree.errors import DataError

# 3/4/2025, 03.04.25 12:30, 3-4-2025T12:30:15.5: day and month, or month and day
NUMBERS = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?:[T,\s]\s*(\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?))?")
YEARS = ("%Y", "%y", "%G", "%c", "%x")


@dataclass(frozen=True)
class Clock:
    """How dates are written as text; checked here. A `format` is one of `datetime.strptime`."""

    format: str | None = None
    day_first: bool = False

    def __post_init__(self) -> None:
        """Refuse formats that no date matches."""
        if self.format is None:
            return
        if not isinstance(self.format, str):
            raise DataError(f"time_format must be text such as '%d.%m.%Y %H:%M', got {self.format!r}")
        if self.day_first:
            raise DataError("time_format says all, also whether the day comes first; leave out day_first")
        if not any(year in self.format for year in YEARS):
            raise DataError(f"time_format {self.format!r} has no year; a date is written as in '%d.%m.%Y %H:%M'")
        try:
            datetime.datetime.strptime("", self.format)
        except (ValueError, re.error) as error:
            if "does not match" not in str(error):
                raise DataError(f"time_format {self.format!r} is none: {error}") from None

    def read(self, text: str) -> datetime.datetime:
        """Return the date; ValueError if the text is not one."""
        if self.format is not None:
            return datetime.datetime.strptime(text, self.format)
        match = NUMBERS.fullmatch(text) if self.day_first else None
        if match is None:
            return datetime.datetime.fromisoformat(text)
        day, _, month, year, clock = match.groups()
        long = "%Y" if len(year) == 4 else "%y"
        date = datetime.datetime.strptime(f"{day} {month} {year}", f"%d %m {long}")
        return date if clock is None else datetime.datetime.combine(date, _time_of_day(clock))

    def problem(self, text: str) -> str:
        """Why a text could not be read, and what to do."""
        if self.format is not None:
            return f"which is not written as the time format {self.format!r} says"
        match = NUMBERS.fullmatch(text)
        if match is None or self.day_first:
            said = "3.4.2025 12:30" if self.day_first else "2024-02-29T12:30:00"
            return (
                f"which is neither a number nor a date such as {said}; write it so, or say how dates are written by "
                "time_format (--time-format), such as '%d %b %Y %H:%M'"
            )
        first, second = int(match[1]), int(match[3])
        whether = "" if first > 12 else " if the day comes first"
        other = "" if first > 12 else f", else time_format (--time-format) {_month_first(match)!r}"
        certain = "was not said" if max(first, second) > 12 else "is not certain"
        return f"a date whose order {certain}; say day_first (--day-first){whether}{other}"


def _time_of_day(text: str) -> datetime.time:
    hour, _, rest = text.partition(":")
    return datetime.time.fromisoformat(f"{hour:0>2}:{rest}")


def _month_first(match: re.Match[str]) -> str:
    """The format of this date with the month first."""
    mark, year, clock = match[2], "%Y" if len(match[4]) == 4 else "%y", match[5] or ""
    seconds = ("", "%H:%M", "%H:%M:%S")[len(clock.split(":")) - 1] if clock else ""
    between = match[0][match.end(4) : match.start(5)] if clock else ""
    return f"%m{mark}%d{mark}{year}{between}{seconds}{'.%f' if '.' in clock else ''}"


ISO = Clock()


@dataclass(frozen=True)
class Writing:
    """How text files are written: their encoding, their dates, and whether they may lack a header."""

    encoding: str | None = None
    clock: Clock = ISO
    wide: bool = False
