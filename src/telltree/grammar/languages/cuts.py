"""Cuts: where to cut the values of a signal in two, before anybody knows what the cut is for."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.data.statistics import Statistics

Floats = NDArray[np.float64]

_BAND = 0.05  # how far from the middle, as a share of the gap, a cut with fewer digits may be
_NOISE = 1e-9  # a gap of such a share of the range is what arithmetic left between equal values


def cuts(values: NDArray[Any] | Statistics, most: int) -> list[float]:
    """At most so many numbers between the values: of each share of them, ordered by size, the middle of the widest gap.

    Shares are equal in number, not in width, so that an outlier moves no cut but its own, and a value that repeats is
    set apart from the others. In the widest gap a cut has the most room: of records that were not seen, the fewest
    will fall on its wrong side.
    """
    numbers = values if isinstance(values, Statistics) else Statistics.of(np.asarray(values, np.float64))
    count = numbers.extent.finite
    if most < 1 or not count:
        return []
    every, inner = _Gaps(count, most), _Gaps(count, most)
    aside = count // (4 * most)  # the widest gaps of all are those beside outliers
    for low, high, rank in _gaps(numbers):
        every.add(low, high, rank)
        within = (rank >= aside) & (rank <= count - aside)
        inner.add(low[within], high[within], rank[within])
    low, high = (inner if inner.met else every).chosen()
    return list(dict.fromkeys(map(roundest, low.tolist(), high.tolist())))


def _gaps(numbers: Statistics) -> Iterator[tuple[Floats, Floats, NDArray[np.int64]]]:
    """The values below and above each gap, in order, and how many values are below it; some at a time."""
    least = 2 * _NOISE * (numbers.extent.high / 2 - numbers.extent.low / 2)
    below, last = 0, np.empty(0)  # of what was before
    for values, counts in numbers.in_order():
        ordered = np.concatenate((last, values))
        with np.errstate(over="ignore"):
            at = np.flatnonzero(ordered[1:] - ordered[:-1] > least)
        ranks = below + np.concatenate((np.zeros(len(last), np.int64), np.cumsum(counts)))
        yield ordered[at], ordered[at + 1], ranks[at]
        below, last = int(ranks[-1]), ordered[-1:]


class _Gaps:
    """The gaps to cut in, of those that are met in order: all if they are few, else the widest of each share."""

    def __init__(self, count: int, most: int) -> None:
        self._count, self._most = count, most
        self._low, self._high = np.empty(0), np.empty(0)
        self._rank = np.empty(0, np.int64)
        self.met = 0

    def add(self, low: Floats, high: Floats, rank: NDArray[np.int64]) -> None:
        self.met += len(low)
        self._low, self._high = np.concatenate((self._low, low)), np.concatenate((self._high, high))
        self._rank = np.concatenate((self._rank, rank))
        if self.met > self._most:
            self._keep_widest()

    def _keep_widest(self) -> None:
        share, place = np.divmod(self._rank * self._most, self._count)
        off_centre = np.abs(place / self._count - 0.5)
        with np.errstate(over="ignore"):
            widest = _widest(share, self._high - self._low, off_centre)
        self._low, self._high, self._rank = self._low[widest], self._high[widest], self._rank[widest]

    def chosen(self) -> tuple[Floats, Floats]:
        """What is below and above each gap that is cut."""
        return self._low, self._high


def _widest(share: NDArray[Any], width: Floats, off_centre: Floats) -> NDArray[np.intp]:
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
