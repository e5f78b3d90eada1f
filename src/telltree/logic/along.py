"""Numbers made of the values that a signal has at several steps of a record.

Records lie one after the other, and `numbers` has the number of each step in its record, from 0. Only values that are
there count; where there is none, the number is missing (NaN). Windows become twice as long with each pass. Sums are
exact but for their last rounding, whatever the order in which they are added up.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def earlier(values: Floats, numbers: Ints, steps: int, nothing: float = np.nan) -> Floats:
    """What there was so many steps before; `nothing` where the record had not begun."""
    if steps == 0:
        return values
    found = np.full_like(values, nothing)
    found[steps:] = values[:-steps]
    found[numbers < steps] = nothing
    return found


class Window(NamedTuple):
    """Steps to look back at: from `far` to `near` steps before, but none beyond the start of the record."""

    near: int
    far: int

    @classmethod
    def of(cls, near: float, far: float, numbers: Ints) -> "Window":
        """A window no longer than the longest record."""
        longest = int(numbers.max(initial=0)) + 1
        return cls(int(min(near, longest)), int(min(far, longest)))

    @property
    def steps(self) -> int:
        return self.far - self.near + 1

    @classmethod
    def so_far(cls, numbers: Ints) -> "Window":
        """All steps up to this one."""
        return cls.of(0, np.inf, numbers)


def extreme(values: Floats, numbers: Ints, window: Window, better: Callable[[Floats, Floats], Any]) -> Floats:
    """The least (np.fmin) or the greatest (np.fmax) value in a window."""
    found, reach = values, 1
    while 2 * reach <= window.steps:
        found, reach = better(found, earlier(found, numbers, reach)), 2 * reach
    if reach < window.steps:
        found = better(found, earlier(found, numbers, window.steps - reach))
    return earlier(found, numbers, window.near)


def count(values: Floats, numbers: Ints, window: Window) -> Ints:
    """How many values there are in a window."""
    known = np.concatenate([[0], np.cumsum(~np.isnan(values))])
    place = np.arange(len(values))
    last = place - np.minimum(numbers + 1, window.near) + 1
    first = place - np.minimum(numbers, window.far)
    return np.asarray(known[np.maximum(last, first)] - known[first], np.int64)


def total(values: Floats, numbers: Ints, window: Window) -> Floats:
    """The sum of the values in a window."""
    return np.where(count(values, numbers, window) > 0, _summed(values, numbers, window), np.nan)


def _summed(values: Floats, numbers: Ints, window: Window) -> Floats:
    """The same, but 0 of no values."""
    block = _Sum.of(np.where(np.isnan(values), 0.0, values))
    found, taken, reach, left = _Sum.of(np.zeros_like(values)), 0, 1, window.steps
    while left:
        if left % 2:
            found, taken = found.plus(block.earlier(numbers, taken)), taken + reach
        left //= 2
        if left:
            block, reach = block.plus(block.earlier(numbers, reach)), 2 * reach
    return earlier(found.rounded, numbers, window.near, 0.0)


def mean(values: Floats, numbers: Ints, window: Window) -> Floats:
    """The mean of the values in a window."""
    known = count(values, numbers, window)
    return np.where(known > 0, _summed(values, numbers, window) / np.maximum(known, 1), np.nan)


def spread(values: Floats, numbers: Ints, window: Window) -> Floats:
    """By how much the greatest value in a window is above the least."""
    with np.errstate(invalid="ignore", over="ignore"):  # inf − inf is missing
        return extreme(values, numbers, window, np.fmax) - extreme(values, numbers, window, np.fmin)


def at_last(values: Floats, numbers: Ints, holds: NDArray[np.bool_]) -> Floats:
    """The value at the last step, up to this one, at which something held; missing if it never did."""
    place = np.arange(len(values))
    last = np.maximum.accumulate(np.where(holds, place, -1))
    return np.where(last >= place - numbers, values[np.maximum(last, 0)], np.nan)


def whole(so_far: Floats, lengths: Ints) -> Floats:
    """What has been made so far by the last step of each record, for all of its steps."""
    return np.repeat(so_far[np.cumsum(lengths) - 1], lengths)


def at_first(values: Floats, lengths: Ints, holds: NDArray[np.bool_]) -> Floats:
    """The value at the first step of the record at which something holds, for all of its steps; missing if at none."""
    ends = np.cumsum(lengths)
    place = np.where(holds, np.arange(len(values)), len(values))
    following = np.append(np.minimum.accumulate(place[::-1])[::-1], len(values))[ends - lengths]
    found = np.append(values, np.nan)[np.where(following < ends, following, len(values))]
    return np.repeat(found, lengths)


def slope(values: Floats, numbers: Ints, lengths: Ints) -> Floats:
    """Of the line that is nearest to all values of a record, by least squares, a step; 0 of a single value.

    Steps are counted so that all numbers but the values are whole: n t − Σ t in place of t − the mean of t.
    """
    so_far, known = Window.so_far(numbers), ~np.isnan(values)

    def of_record(made: Floats) -> Floats:
        return whole(total(np.where(known, made, np.nan), numbers, so_far), lengths)

    steps = numbers.astype(np.float64)
    n, sum_of_steps = of_record(np.ones_like(values)), of_record(steps)
    width = n * of_record(steps * steps) - sum_of_steps**2
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        rise = of_record((n * steps - sum_of_steps) * values) / width
        bounded = whole(extreme(np.abs(values), numbers, so_far, np.fmax), lengths) < np.inf
    return np.where(bounded, np.where(width > 0, rise, 0.0), np.nan)


class _Sum(NamedTuple):
    """A sum, and what was lost by rounding it."""

    high: Floats
    low: Floats

    @classmethod
    def of(cls, values: Floats) -> "_Sum":
        return cls(values, np.zeros_like(values))

    def earlier(self, numbers: Ints, steps: int) -> "_Sum":
        return _Sum(earlier(self.high, numbers, steps, 0.0), earlier(self.low, numbers, steps, 0.0))

    def plus(self, other: "_Sum") -> "_Sum":
        with np.errstate(invalid="ignore", over="ignore"):
            high = self.high + other.high
            part = high - self.high
            lost = (self.high - (high - part)) + (other.high - part)
            return _Sum(high, np.where(np.isfinite(high), lost + self.low + other.low, 0.0))

    @property
    def rounded(self) -> Floats:
        with np.errstate(over="ignore"):
            return self.high + self.low
