"""Statistics of many values: counts, extent, standard deviation, quantiles, and sorted values.

Values may come in parts, in the order of records. Results are the same to the bit as for the whole, and no more than
one part and the working memory of one step is in memory at a time.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import IO

import numpy as np
import numpy.typing as npt

from telltree.panel.disk_arrays import allow_files, mapped, unload
from telltree.panel.store import Array, Real, is_missing

ReadPart = Callable[[], Array]  # returns some of the values; each call may read them anew
Tally = tuple[Array, Array]  # sorted distinct values, and how often each occurs
IN_MEMORY = 1 << 22  # distinct values of all parts that are sorted without a file
AT_ONCE = 1 << 20  # values that are merged at a time otherwise
PIECE = 1 << 15  # values that are squared at a time
LEAF = 128  # values that NumPy adds up in a row before it adds sums in pairs


@dataclass(frozen=True)
class Extent:
    """Counts of missing, infinite and finite values, and the least and the largest finite value."""

    missing: int
    below: int  # −∞
    above: int  # ∞
    finite: int
    low: float  # NaN if none is finite
    high: float

    @property
    def same(self) -> bool:
        """True if no value is missing and all are equal."""
        kinds = [self.below, self.above, self.finite]
        return not self.missing and sum(map(bool, kinds)) == 1 and (not self.finite or self.low == self.high)


class Statistics:
    """Statistics of an encoded column, or of any numbers; codes and flags are numbers too."""

    def __init__(self, parts: Sequence[ReadPart]) -> None:
        """Store the parts, in order."""
        self._parts = tuple(parts)

    @classmethod
    def of(cls, *arrays: npt.ArrayLike) -> "Statistics":
        """Return statistics of values in memory."""
        return cls([partial(np.asarray, array) for array in arrays])

    @classmethod
    def joined(cls, several: Iterable["Statistics"]) -> "Statistics":
        """Return statistics of the values of several, one after the other."""
        return cls([part for one in several for part in one._parts])

    @cached_property
    def extent(self) -> Extent:
        """Counts, minimum and maximum."""
        found = [_extent(array) for array in self._arrays()]
        finite = [one for one in found if one.finite]
        return Extent(
            sum(one.missing for one in found),
            sum(one.below for one in found),
            sum(one.above for one in found),
            sum(one.finite for one in found),
            min((one.low for one in finite), default=np.nan),
            max((one.high for one in finite), default=np.nan),
        )

    def codes(self) -> list[int]:
        """Return the codes or flags that occur, sorted, without that of missing values."""
        return sorted({int(code) for array in self._arrays() for code in np.unique(_finite(array))})

    def standard_deviation(self) -> float:
        """Return the standard deviation of the finite values, with the rounding of NumPy's pairwise sums.

        It is 0 for no values, and exactly 0 for equal ones, whatever the rounding of their mean.
        """
        count = self.extent.finite
        if not count or self.extent.low == self.extent.high:
            return 0.0
        mean = _pairwise_sum(map(_finite, self._arrays()), count) / count
        squares = (_squares(_finite(piece) - mean) for array in self._arrays() for piece in _pieces(array))
        return float(np.sqrt(_pairwise_sum(squares, count) / count))

    def quantiles(self, shares: npt.ArrayLike) -> Array:
        """Return NumPy's quantiles of the finite values; there must be at least one."""
        last = self.extent.finite - 1
        place = last * np.asarray(shares, Real)
        rank = np.minimum(np.floor(place), last)
        share = place - rank
        below, above = self._at(rank), self._at(np.minimum(rank + 1, last))
        gap = above - below  # interpolated from the nearer end, as NumPy does
        return np.where(share >= 0.5, above - gap * (1 - share), below + gap * share)

    def _at(self, ranks: Array) -> Array:
        """Return the values at these ranks, which must be sorted."""
        found, first = [], 0
        for values, counts in self.in_order():
            ends = first + np.cumsum(counts)
            here = ranks[(ranks >= first) & (ranks < ends[-1])]
            found.append(values[np.searchsorted(ends, here, side="right")])
            first = int(ends[-1])
        return np.concatenate(found)

    def beside(self, value: float) -> tuple[int, int]:
        """Count the finite values below and above `value`."""
        sides = [(int((part < value).sum()), int((part > value).sum())) for part in map(_finite, self._arrays())]
        return sum(below for below, _ in sides), sum(above for _, above in sides)

    def beside_each(self, bounds: Iterable[float]) -> list[tuple[float, float]]:
        """Return for each bound the greatest finite value below it and the least that is not; both must exist."""
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
        """Yield the sorted distinct finite values, some at a time, and how often each occurs."""
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
        """The sorted values of the only part, kept because several statistics need them."""
        return _tally(_finite(self._parts[0]()))

    def _runs(self, file: IO[bytes]) -> Iterator[Tally]:
        """Yield each part sorted; long ones are mapped from the file."""
        for array in self._arrays():
            values, counts = _tally(_finite(array))
            long = len(values) * len(self._parts) > IN_MEMORY
            yield (mapped(values, file), mapped(counts, file)) if long else (values, counts)

    def _arrays(self) -> Iterator[Array]:
        return (part() for part in self._parts)


def _finite(array: Array) -> Array:
    """Return the finite values as floats."""
    finite = np.isfinite(array) if array.dtype.kind == "f" else ~is_missing(array)
    return (array if finite.all() else array[finite]).astype(Real, copy=False)  # no copy of most columns


def _extent(array: Array) -> Extent:
    floats = array.dtype.kind == "f"
    finite = _finite(array)
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (np.nan, np.nan)
    below, above = (
        int((array == sign * np.inf).sum()) if floats and len(finite) < len(array) else 0 for sign in (-1, 1)
    )
    return Extent(len(array) - len(finite) - below - above, below, above, len(finite), low, high)


def _pieces(array: Array) -> Iterator[Array]:
    """Yield pieces small enough for intermediate results to stay in the cache."""
    return (array[start : start + PIECE] for start in range(0, len(array), PIECE))


def _squares(array: Array) -> Array:
    return array * array


def _pairwise_sum(parts: Iterable[Array], count: int) -> float:
    """Add up `count` values with the rounding of NumPy's sum of one array: by halves of halves, down to LEAF values."""
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
    """Merge sorted runs range by range; ranges are of values, so that equal ones are merged together."""
    stride = max(1, AT_ONCE // len(runs))
    bounds = np.sort(np.concatenate([values[::stride] for values, _ in runs]))[:: len(runs)]
    starts = [0] * len(runs)
    for bound in [*np.unique(bounds)[1:].tolist(), np.inf]:
        ends = [int(np.searchsorted(values, bound)) for values, _ in runs]
        cut = [(v[a:b], c[a:b]) for (v, c), a, b in zip(runs, starts, ends, strict=True)]
        yield from _nonempty(_merged(cut))
        unload()
        starts = ends
