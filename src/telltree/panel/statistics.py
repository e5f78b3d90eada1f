"""What is asked of many values as a whole: how many there are, from where to where, how spread, and in which order.

Values may come in parts, in the order of records. What comes of them is, to the bit, what comes of the whole; and no
more than a part, and what one step of the work needs, is in memory at a time.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import IO

import numpy as np
import numpy.typing as npt

from telltree.panel.disk_arrays import allow_files, mapped, rest
from telltree.panel.store import Array, Real, is_missing

Part = Callable[[], Array]  # gives some of the values, whenever it is asked; it may read them anew
Tally = tuple[Array, Array]  # different values in order, and how often each occurs
IN_MEMORY = 1 << 22  # different values of all parts that are put in order without a file
AT_ONCE = 1 << 20  # values that are put in order at a time otherwise
PIECE = 1 << 15  # values of which something is made on the way to a sum
LEAF = 128  # values that NumPy adds up before it pairs the sums


@dataclass(frozen=True)
class Extent:
    """How many values there are of which sort, and the least and the largest of those that are finite."""

    missing: int
    below: int  # −∞
    above: int  # ∞
    finite: int
    low: float  # NaN if none is finite
    high: float

    @property
    def same(self) -> bool:
        """Whether all values are there, and equal."""
        sorts = [self.below, self.above, self.finite]
        return not self.missing and sum(map(bool, sorts)) == 1 and (not self.finite or self.low == self.high)


class Statistics:
    """Of a column as a panel keeps it, or of any numbers; codes and flags are numbers too."""

    def __init__(self, parts: Sequence[Part]) -> None:
        """Take the parts, in order."""
        self._parts = tuple(parts)

    @classmethod
    def of(cls, *arrays: npt.ArrayLike) -> "Statistics":
        """Take values that are in memory."""
        return cls([_giver(np.asarray(array)) for array in arrays])

    @classmethod
    def joined(cls, several: Iterable["Statistics"]) -> "Statistics":
        """Put the values of several one after the other."""
        return cls([part for one in several for part in one._parts])

    @cached_property
    def extent(self) -> Extent:
        """How many values there are, and from where to where they go."""
        found = [_extent(array) for array in self._arrays()]
        there = [one for one in found if one.finite]
        return Extent(
            sum(one.missing for one in found),
            sum(one.below for one in found),
            sum(one.above for one in found),
            sum(one.finite for one in found),
            min((one.low for one in there), default=np.nan),
            max((one.high for one in there), default=np.nan),
        )

    def codes(self) -> list[int]:
        """Give the codes, or flags, that occur, in order; not that of missing values."""
        return sorted({int(code) for array in self._arrays() for code in np.unique(_finite(array))})

    def spread(self) -> float:
        """Give the standard deviation of the finite values: NumPy's, with the same pairs of sums; 0 of none, and of
        equal ones, of which a rounded mean would make another."""
        count = self.extent.finite
        if not count or self.extent.low == self.extent.high:
            return 0.0
        mean = _pairwise_sum(map(_finite, self._arrays()), count) / count
        squares = (_squares(_finite(piece) - mean) for array in self._arrays() for piece in _pieces(array))
        return float(np.sqrt(_pairwise_sum(squares, count) / count))

    def quantiles(self, shares: npt.ArrayLike) -> Array:
        """Give NumPy's quantiles of the finite values, of which there must be some."""
        last = self.extent.finite - 1
        place = last * np.asarray(shares, Real)
        rank = np.minimum(np.floor(place), last)
        share = place - rank
        below, above = self._at(rank), self._at(np.minimum(rank + 1, last))
        apart = above - below  # from the nearer end, as NumPy does
        return np.where(share >= 0.5, above - apart * (1 - share), below + apart * share)

    def _at(self, ranks: Array) -> Array:
        """Give the values of these ranks, which rise."""
        found, first = [], 0
        for values, counts in self.in_order():
            ends = first + np.cumsum(counts)
            here = ranks[(ranks >= first) & (ranks < ends[-1])]
            found.append(values[np.searchsorted(ends, here, side="right")])
            first = int(ends[-1])
        return np.concatenate(found)

    def beside(self, value: float) -> tuple[int, int]:
        """Count the finite values below and above this one."""
        sides = [(int((part < value).sum()), int((part > value).sum())) for part in map(_finite, self._arrays())]
        return sum(below for below, _ in sides), sum(above for _, above in sides)

    def beside_each(self, bounds: Iterable[float]) -> list[tuple[float, float]]:
        """Give for each bound the greatest finite value below it, and the least that is not; each must have both."""
        wanted, last = sorted(bounds), np.empty(0)
        found: list[tuple[float, float]] = []
        for values, _ in self.in_order():
            ordered = np.concatenate((last, values))
            here = [bound for bound in wanted if bound <= values[-1]]
            places = np.searchsorted(ordered, here)
            found += zip(ordered[places - 1].tolist(), ordered[places].tolist(), strict=True)
            wanted, last = wanted[len(here) :], values[-1:]
        return found

    def in_order(self) -> Iterator[Tally]:
        """Give the different finite values in order, some at a time, and how often each occurs."""
        if len(self._parts) == 1:
            yield from _nonempty(self._whole)
            return
        allow_files(2 * len(self._parts))
        with tempfile.TemporaryFile() as file:
            runs = list(self._runs(file))
            if sum(len(values) for values, _ in runs) <= IN_MEMORY:
                yield from _nonempty(_merged(runs))
            else:
                yield from _by_ranges(runs)

    @cached_property
    def _whole(self) -> Tally:
        """The only part in order, which is kept: more than one question is asked of it."""
        return _tally(_finite(self._parts[0]()))

    def _runs(self, file: IO[bytes]) -> Iterator[Tally]:
        """Give each part in order, from the file if it is long."""
        for array in self._arrays():
            values, counts = _tally(_finite(array))
            long = len(values) * len(self._parts) > IN_MEMORY
            yield (mapped(values, file), mapped(counts, file)) if long else (values, counts)

    def _arrays(self) -> Iterator[Array]:
        return (part() for part in self._parts)


def _giver(array: Array) -> Part:
    return lambda: array


def _finite(array: Array) -> Array:
    """Give what is there, and finite, as floats."""
    there = np.isfinite(array) if array.dtype.kind == "f" else ~is_missing(array)
    return (array if there.all() else array[there]).astype(Real, copy=False)  # copies nothing of most columns


def _extent(array: Array) -> Extent:
    floats = array.dtype.kind == "f"
    finite = _finite(array)
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (np.nan, np.nan)
    below, above = (
        int((array == sign * np.inf).sum()) if floats and len(finite) < len(array) else 0 for sign in (-1, 1)
    )
    return Extent(len(array) - len(finite) - below - above, below, above, len(finite), low, high)


def _pieces(array: Array) -> Iterator[Array]:
    """Cut it so that what is made of a piece stays in the cache."""
    return (array[start : start + PIECE] for start in range(0, len(array), PIECE))


def _squares(array: Array) -> Array:
    return array * array


def _pairwise_sum(parts: Iterable[Array], count: int) -> float:
    """Add up `count` values as NumPy does if they are in one array: halves of halves, down to a few in a row."""
    more, held = iter(parts), np.empty(0, Real)

    def total(count: int) -> float:
        nonlocal held
        while len(held) < min(count, LEAF):
            fresh = next(more)
            held = np.concatenate((held, fresh)) if len(held) else fresh
        if count <= len(held):
            found, held = float(np.add.reduce(held[:count])), held[count:]
            return found
        half = count // 2
        half -= half % 8
        return total(half) + total(count - half)

    return total(count)


def _tally(values: Array) -> Tally:
    ordered = np.sort(values)
    fresh = ordered[1:] != ordered[:-1]
    if fresh.all():
        return ordered, np.ones(len(ordered), np.int64)
    starts = np.concatenate(([0], np.flatnonzero(fresh) + 1))
    return ordered[starts], np.diff(starts, append=len(ordered))


def _nonempty(tally: Tally) -> list[Tally]:
    return [tally] if len(tally[0]) else []


def _merged(runs: Sequence[Tally]) -> Tally:
    values, places = np.unique(np.concatenate([values for values, _ in runs]), return_inverse=True)
    counts = np.zeros(len(values), np.int64)
    np.add.at(counts, places, np.concatenate([counts for _, counts in runs]))
    return values, counts


def _by_ranges(runs: Sequence[Tally]) -> Iterator[Tally]:
    """Merge runs that are in order, range by range: of values, not of places, so that equal ones come together."""
    stride = max(1, AT_ONCE // len(runs))
    marks = np.sort(np.concatenate([values[::stride] for values, _ in runs]))[:: len(runs)]
    starts = [0] * len(runs)
    for mark in [*np.unique(marks)[1:].tolist(), np.inf]:
        ends = [int(np.searchsorted(values, mark)) for values, _ in runs]
        cut = [(v[a:b], c[a:b]) for (v, c), a, b in zip(runs, starts, ends, strict=True)]
        yield from _nonempty(_merged(cut))
        rest()
        starts = ends
