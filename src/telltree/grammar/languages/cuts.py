"""Cuts: constants that split the values of a signal in two, chosen without labels."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BAND = 0.05  # how far from the middle, as a share of the gap, a rounder cut may lie
_NOISE = 1e-9  # a gap below this share of the range is rounding error between equal values


def cuts(values: NDArray[Any], most: int) -> list[float]:
    """At most `most` cuts: sort the values, divide them into parts of equal number, cut the widest gap of each.

    Parts are equal in number, not in width, so that an outlier moves only its own cut, and a value that repeats is
    separated from the others. In the widest gap, the fewest unseen records should fall on the wrong side.
    """
    if most < 1:
        return []
    ordered = values[np.isfinite(values)].astype(np.float64, copy=False)
    ordered.sort()
    with np.errstate(over="ignore"):
        gaps = ordered[1:] - ordered[:-1]
        least = 2 * _NOISE * (ordered[-1] / 2 - ordered[0] / 2) if len(ordered) else 0.0
    after = np.flatnonzero(gaps > least)  # by the rank of the value below the gap
    aside = len(ordered) // (4 * most)  # the widest gaps of all lie beside outliers
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
    """The widest gap of each part, with parts in order; among equal gaps the most central, then the first."""
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
    """The number with the fewest decimals near the middle of an open interval; the middle itself if there is none."""
    middle, band = low + (high - low) / 2, (high - low) * _BAND
    if not math.isfinite(high - low):  # the width of the interval overflows a float
        return low / 2 + high / 2
    if not (math.isfinite(middle) and band > 0):
        return middle
    for decimals in range(-math.ceil(math.log10(abs(middle) + band)) - 1, 17):
        try:
            found = round(middle, decimals)
        except OverflowError:  # no larger numbers to round to
            continue
        if abs(found - middle) <= band and low < found < high:
            return found
    return middle
