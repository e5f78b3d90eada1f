"""Whether the steps of all records are of one length, as their times tell, but for what arithmetic left in them."""

import math

import numpy as np
import numpy.typing as npt

from telltree.data.on_disk import by_records
from telltree.data.store import Array

_NEAR = 1e-6  # share of a step by which a time may be off
_ADDED = 1e-10  # the same on the average, if times were added up
_NOISE = 4 * np.finfo(np.float64).eps  # share of a time by which it may be off: stamps are large, and steps small


def even_pace(times: Array, lengths: npt.NDArray[np.int64]) -> float | None:
    """The time between two steps, with as few digits as the times allow; None if it is not always the same."""
    if not len(lengths) or lengths.max() < 2:
        return None
    longest = int(lengths.argmax())
    begin = int(lengths[:longest].sum())
    steps = int(lengths[longest]) - 1
    first, last = float(times[begin]), float(times[begin + steps])
    pace = (last - first) / steps
    if not 0 < pace < math.inf:
        return None
    pace = _roundest(pace, _ADDED * pace + _NOISE * max(abs(first), abs(last)) / steps)
    kept = all(_keeps(times[rows], lengths[records], pace) for records, rows in by_records(times, lengths))
    return pace if kept else None


def _keeps(times: Array, lengths: npt.NDArray[np.int64], pace: float) -> bool:
    """Whether all these records go at this pace."""
    starts = np.cumsum(lengths) - lengths
    numbers = np.arange(len(times)) - np.repeat(starts, lengths)
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(times - np.repeat(times[starts], lengths) - numbers * pace)
        most = np.maximum(np.abs(times), np.repeat(np.abs(times[starts]), lengths))
        return bool((off <= _NEAR * pace + _NOISE * most).all())


def _roundest(pace: float, near: float) -> float:
    """The number with the fewest digits that is as near as this."""
    for digits in range(1, 10):  # 1/3 is not cut off
        found = float(f"{pace:.{digits}g}")
        if abs(found - pace) <= near:
            return found
    return pace
