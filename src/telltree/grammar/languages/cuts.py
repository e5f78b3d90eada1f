"""Cuts: constants that split the values of a signal in two, chosen without labels."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.data.clock import UNITS
from telltree.data.statistics import Statistics

Floats = NDArray[np.float64]

_BAND = 0.05  # how far from the middle, as a share of the gap, a cut with fewer digits may be
_FEW_DIGITS = 4  # of a time that is said as it is
_HUMAN = ("d", "h", "min", "s", "ms")
_NOISE = 1e-9  # a gap of such a share of the range is what arithmetic left between equal values


def cuts(values: NDArray[Any] | Statistics, most: int) -> list[float]:
    """At most so many numbers between the values: of each share of them, ordered by size, the middle of the widest gap.

    Parts are equal in number, not in width, so that an outlier moves only its own cut, and a value that repeats is
    separated from the others. In the widest gap, the fewest unseen records should fall on the wrong side.
    """
    numbers = values if isinstance(values, Statistics) else Statistics.of(np.asarray(values, np.float64))
    count = numbers.extent.finite
    if most < 1 or not count:
        return []
    aside = count // (4 * most)  # the widest gaps of all are those beside outliers
    low, high = _chosen(numbers, most, aside)
    if not len(low):
        low, high = _chosen(numbers, most, 0)
    return list(dict.fromkeys(map(roundest, low.tolist(), high.tolist())))


def _chosen(numbers: Statistics, most: int, aside: int) -> tuple[Floats, Floats]:
    """What is below and above the gaps to cut in: all if they are few, else of each share the widest.

    Gaps with fewer than `aside` values on one side are passed over.
    """
    count, met = numbers.extent.finite, 0
    low, high, rank = np.empty(0), np.empty(0), np.empty(0, np.int64)
    for gaps in _gaps(numbers):
        inner = slice(np.searchsorted(gaps[2], aside), np.searchsorted(gaps[2], count - aside, side="right"))
        met += len(gaps[2][inner])
        low, high, rank = (_after(kept, more[inner]) for kept, more in zip((low, high, rank), gaps, strict=True))
        if met > most:
            share, place = np.divmod(rank * most, count)
            with np.errstate(over="ignore"):
                widest = _widest(share, high - low, np.abs(place / count - 0.5))
            low, high, rank = low[widest], high[widest], rank[widest]
    return low, high


def _gaps(numbers: Statistics) -> Iterator[tuple[Floats, Floats, NDArray[np.int64]]]:
    """The values below and above each gap, in order, and how many values are below it; some at a time."""
    least = 2 * _NOISE * (numbers.extent.high / 2 - numbers.extent.low / 2)
    below, last = 0, np.empty(0)  # of what was before
    for values, counts in numbers.in_order():
        ordered = _after(last, values)
        with np.errstate(over="ignore"):
            at = np.flatnonzero(ordered[1:] - ordered[:-1] > least)
        ranks = below + _after(np.zeros(len(last), np.int64), np.cumsum(counts))
        yield ordered[at], ordered[at + 1], ranks[at]
        below, last = int(ranks[-1]), ordered[-1:]


def _after(some: NDArray[Any], more: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate((some, more)) if len(some) else more


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


def said_time(low: float, high: float, unit: str) -> float:
    """A time after one, up to another, that is easy to say: the other itself, unless it has many digits."""
    clean = float(f"{high:.12g}")  # without what arithmetic left
    if _digits(clean) <= _FEW_DIGITS and low < clean <= high:
        return clean
    sizes = [UNITS[larger] / UNITS[unit] for larger in _HUMAN] if unit in UNITS else []
    size = next((size for size in sizes if high >= 2 * size), 1.0)
    time = float(f"{_shortest(low / size, high / size) * size:.12g}")
    return time if low < time <= high else high


def _shortest(low: float, high: float) -> float:
    """The greatest number up to `high` with the fewest decimals that is above `low`."""
    for decimals in range(-15, 17):
        found = math.floor(high * 10.0**decimals) / 10.0**decimals if abs(high) < 1e15 else high
        if low < found <= high:
            return found
    return high


def _digits(number: float) -> int:
    return len(f"{abs(number):.15g}".partition("e")[0].replace(".", "").strip("0"))
