"""Times of records: dates, clocks, and durations for people (`6 d` for 518400 s)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from telltree.panel.disk_arrays import by_records
from telltree.panel.store import Array, Index

if TYPE_CHECKING:
    from telltree.panel.panel import Panel


# ---- When records began, if their times were dates: turns seconds back into the clock time of the data.

DAY = np.timedelta64(1, "D")
SECONDS = np.dtype(np.int32)  # east of UTC


def stamped(unit: str) -> np.dtype[Any]:
    """The dtype of timestamps with an offset from UTC, in seconds; Parquet and CSV are read as such."""
    return np.dtype([("utc", f"M8[{unit}]"), ("offset", SECONDS)])


@dataclass(frozen=True, eq=False)
class Dates:
    """The first moment of each record, and the offset of its clock.

    `starts` has one date per record, in UTC if there are `offsets`, which say for each row how many seconds its clock
    was ahead of UTC; without them, dates are as the data had them, wherever that was. `zone` is the name of the time
    zone, if the data had one. `daily`: every time was a midnight, so that dates need no time of day.
    """

    starts: npt.NDArray[np.datetime64]
    offsets: npt.NDArray[np.int32] | None = None
    zone: str | None = None
    daily: bool = False

    @classmethod
    def of(
        cls, starts: Array, offsets: Array | None, zone: str | None, *, times: Array, lengths: npt.NDArray[np.int64]
    ) -> "Dates":
        """From records whose rows are `times` seconds after their starts."""
        known = cls(starts, offsets, zone)
        locals_ = (
            known.local(np.repeat(starts[records], lengths[records]), times[rows], rows)
            for records, rows in by_records(times, lengths)
        )
        return cls(starts, offsets, zone, all(bool((some == some.astype("M8[D]")).all()) for some in locals_))

    def local(self, starts: Array, times: Array, rows: slice | Array) -> npt.NDArray[np.datetime64]:
        """The clock time of these rows, which are this many seconds after `starts`."""
        moments = self.instants(starts, times)
        return moments if self.offsets is None else moments + self.offsets[rows].astype("m8[s]")

    @staticmethod
    def instants(starts: Array, times: Array) -> npt.NDArray[np.datetime64]:
        """The moments this many seconds after `starts`, in the resolution of `starts`."""
        unit, _ = np.datetime_data(starts.dtype)
        ticks = np.round(times * (1e9 if unit == "ns" else 1e6)).astype(Index)
        moments: npt.NDArray[np.datetime64] = starts + ticks.view(f"m8[{unit}]")
        return moments

    def cut(self, records: slice | Array, rows: slice | Array) -> "Dates":
        """The dates of some records, with these rows."""
        offsets = None if self.offsets is None else self.offsets[rows]
        return Dates(self.starts[records], offsets, self.zone, self.daily)


# ---- Times and durations for people: `6 d` for 518400 s, and dates where times were dates.

UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}  # in seconds
LONGEST = 1000 * UNITS["d"]
"""In seconds. Anything longer was counted from a day long ago, and is not a duration in any unit."""
FITTING = 5
"""An axis uses the largest unit that fits on it this many times."""


def duration_text(value: float, unit: str | None) -> str:
    """An amount of time in the largest unit in which it is a multiple of one half, else in its own unit.

    518400 s is "6 d", 79200 s "22 h", 90 s "1.5 min", 100 s "100 s". A unit that is not one of time stays, and a number
    without a unit is a number.
    """
    return duration_texts([value], unit)[0]


def duration_texts(values: Sequence[float], unit: str | None) -> list[str]:
    """Several amounts of time, as in `duration_text`, but all in one unit: "0 h" and "27 h"."""
    most = max(map(abs, values))
    for larger, size in larger_units(unit) if most <= longest(unit) else ():
        halves = [round(2 * value / size) for value in values]
        whole = all(abs(2 * value / size - n) <= 1e-9 * abs(n) for value, n in zip(values, halves, strict=True))
        if whole and max(map(abs, halves)) >= 2:
            return [f"{number_text(n / 2)} {larger}" for n in halves]
    return [f"{number_text(value)} {unit}" if unit else number_text(value) for value in values]


def larger_units(unit: str | None) -> list[tuple[str, float]]:
    """The larger units of time, largest first, and how many of this unit each has; none if this is no unit of time."""
    own = UNITS.get(unit or "", np.inf)
    return [(name, UNITS[name] / own) for name in ("d", "h", "min", "s", "ms", "µs") if UNITS[name] > own]


def longest(unit: str | None) -> float:
    """The largest number of a unit of time that may be told in a larger unit."""
    return LONGEST / UNITS.get(unit or "", np.inf)


def axis_unit(span: float, unit: str | None) -> tuple[float, str | None]:
    """What to divide times by for an axis of this span, and the unit of the result."""
    for larger, size in larger_units(unit) if span <= longest(unit) else ():
        if span >= FITTING * size:
            return size, larger
    return 1.0, unit


def time_text(panel: "Panel", record: int, step: int) -> str | None:
    """When a step of a record was: its date, or its time in a suitable unit; None if times are not known."""
    date = date_text(panel, record, step)
    times = panel.times(record)
    if date is not None or times is None:
        return date
    return duration_text(float(times[step]), panel.time_unit)


def date_text(panel: "Panel", record: int, step: int, *, iso: bool = False) -> str | None:
    """The date of a step as its clock showed it, with the offset from UTC if there was one; None if there is none.

    Seconds are left out where they are 0, and the time of day where all times are midnights. With `iso`, nothing is
    left out, and the form is that of ISO 8601.
    """
    moments, offsets = panel.dates(record), panel.offsets(record)
    if moments is None:
        return None
    return _date(moments[step], None if offsets is None else int(offsets[step]), daily=panel.daily, iso=iso)


def date_range(panel: "Panel", *, iso: bool = False) -> tuple[str, str] | None:
    """The first and the last date of a panel's records, as in `date_text`; None if there is none."""
    dates, times = panel._own_dates(), panel.stacked_times()
    if dates is None or times is None or len(panel) == 0:
        return None
    ends = dates.instants(dates.starts, times[np.cumsum(panel.lengths) - 1])
    first, last = int(np.argmin(dates.starts)), int(np.argmax(ends))
    return str(date_text(panel, first, 0, iso=iso)), str(date_text(panel, last, -1, iso=iso))


def _date(moment: np.datetime64, offset: int | None, *, daily: bool, iso: bool) -> str:
    day, _, clock = str(np.datetime_as_string(moment)).partition("T")
    if daily and not iso:
        return day
    whole, _, fraction = clock.partition(".")
    fraction = fraction.rstrip("0")
    seconds = whole.removesuffix(":00") if not (iso or fraction) else whole
    return f"{day}{'T' if iso else ' '}{seconds}{'.' + fraction if fraction else ''}{offset_text(offset)}"


def offset_text(offset: int | None) -> str:
    """An offset from UTC in seconds, in the form of ISO 8601; empty if it is not known."""
    if offset is None:
        return ""
    minutes, seconds = divmod(abs(offset), 60)
    return f"{'-' if offset < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}" + (f":{seconds:02}" if seconds else "")


def number_text(value: float) -> str:
    """A number with six digits, or three after the point if that is more."""
    if abs(value) < 1e15 and value == round(value):
        return str(int(value))
    before = len(str(int(abs(value)))) if abs(value) < 1e15 else 0
    return f"{value:.{max(6, before + 3)}g}"
