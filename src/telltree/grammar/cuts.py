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
    ordered = np.sort(values[np.isfinite(values)]).astype(np.float64)
    with np.errstate(over="ignore"):
        gaps = np.diff(ordered)
        least = 2 * _NOISE * (ordered[-1] / 2 - ordered[0] / 2) if len(ordered) else 0.0
    after = np.flatnonzero(gaps > least)  # by the rank of the value below
    aside = len(ordered) // (4 * most)  # the widest gaps of all are those beside outliers
    inner = after[(after + 1 >= aside) & (after + 1 <= len(ordered) - aside)]
    after = inner if len(inner) else after
    low, high = ordered[after], ordered[after + 1]
    if len(after) > most:
        share, place = np.divmod((after + 1) * most, len(ordered))
        off_centre = np.abs(place / len(ordered) - 0.5)
        widest = _first_least(share, low - high, off_centre)
        low, high = low[widest], high[widest]
    return list(dict.fromkeys(map(roundest, low.tolist(), high.tolist())))


def _first_least(share: NDArray[Any], *amounts: NDArray[np.float64]) -> NDArray[np.intp]:
    """In each share, which come in order, the first where the amounts are least; a later amount decides on ties."""
    left = np.arange(len(share))
    for amount in amounts:
        first = _firsts(share[left])
        least = np.minimum.reduceat(amount[left], first)
        left = left[amount[left] == np.repeat(least, np.diff(first, append=len(left)))]
    return left[_firsts(share[left])]


def _firsts(share: NDArray[Any]) -> NDArray[np.intp]:
    """Where each share begins."""
    return np.flatnonzero(np.concatenate(([True], share[1:] != share[:-1])))


def roundest(low: float, high: float) -> float:
    """The number of fewest decimals close to the middle of an open interval; the middle itself if there is none."""
    middle, band = low + (high - low) / 2, (high - low) * _BAND
    if not (math.isfinite(middle) and band > 0):
        return middle
    for decimals in range(-math.ceil(math.log10(abs(middle) + band)) - 1, 17):
        found = round(middle, decimals)
        if abs(found - middle) <= band and low < found < high:
            return found
    return middle
