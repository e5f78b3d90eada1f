"""Cuts: where to cut the values of a signal in two, before anybody knows what the cut is for."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BAND = 0.05  # how far from the middle, as a share of the gap, a cut with fewer digits may be
_NOISE = 1e-9  # a gap of such a share of the range is what arithmetic left between equal values


def cuts(values: NDArray[Any], most: int) -> list[float]:
    """At most so many numbers between the values: of each share of them, ordered by size, the middle of the widest gap.

    Shares are equal in number, not in width, so that an outlier moves no cut but its own, and a value that repeats is
    set apart from the others. In the widest gap a cut has the most room: of records that were not seen, the fewest
    will fall on its wrong side.
    """
    if most < 1:
        return []
    ordered = values[np.isfinite(values)].astype(np.float64, copy=False)
    ordered.sort()
    with np.errstate(over="ignore"):
        gaps = ordered[1:] - ordered[:-1]
        least = 2 * _NOISE * (ordered[-1] / 2 - ordered[0] / 2) if len(ordered) else 0.0
    after = np.flatnonzero(gaps > least)  # by the rank of the value below
    aside = len(ordered) // (4 * most)  # the widest gaps of all are those beside outliers
    inner = after[(after + 1 >= aside) & (after + 1 <= len(ordered) - aside)]
    after = inner if len(inner) else after
    low, high = ordered[after], ordered[after + 1]
    if len(after) > most:
        share, place = np.divmod((after + 1) * most, len(ordered))
        off_centre = np.abs(place / len(ordered) - 0.5)
        widest = _widest(share, gaps[after], off_centre)
        low, high = low[widest], high[widest]
    return list(dict.fromkeys(map(roundest, low.tolist(), high.tolist())))


def _widest(share: NDArray[Any], width: NDArray[np.float64], off_centre: NDArray[np.float64]) -> NDArray[np.intp]:
    """Of each share, which come in order, the widest gap; of several the most central, and of those the first."""
    begins = np.empty(len(share), np.bool_)
    begins[0] = True
    np.not_equal(share[1:], share[:-1], out=begins[1:])
    first = np.flatnonzero(begins)
    widest = np.flatnonzero(width == np.maximum.reduceat(width, first)[np.cumsum(begins) - 1])
    if len(widest) == len(first):
        return widest
    ranked = widest[np.lexsort((off_centre[widest], share[widest]))]
    return np.sort(ranked[np.unique(share[ranked], return_index=True)[1]])


def roundest(low: float, high: float) -> float:
    """The number of fewest decimals close to the middle of an open interval; the middle itself if there is none."""
    middle, band = low + (high - low) / 2, (high - low) * _BAND
    if not math.isfinite(high - low):  # the interval itself is too wide for a float
        return low / 2 + high / 2
    if not (math.isfinite(middle) and band > 0):
        return middle
    for decimals in range(-math.ceil(math.log10(abs(middle) + band)) - 1, 17):
        try:
            found = round(middle, decimals)
        except OverflowError:  # there are no larger numbers to round to
            continue
        if abs(found - middle) <= band and low < found < high:
            return found
    return middle
