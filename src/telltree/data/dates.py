"""When records began, if their times were dates: turns seconds back into the clock time of the data."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from telltree.data.on_disk import by_records
from telltree.data.store import Array, Index

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
