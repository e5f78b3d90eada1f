"""Shapes: pieces of records as words, and their distances from pieces of other records.

Only the form of a piece counts, neither its height nor its size: both the piece and the shape are brought to mean 0 and
standard deviation 1 before they are compared.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEAST_STEPS, MOST_STEPS = 2, 1_000
LEVELS = "▁▂▃▄▅▆▇█"
"""The heights of a shape that can be drawn in a line of text."""
DECIMALS = 6  # of distances: sums in another order must not give other results
_WIGGLE = 0.2  # share of its height by which a shape must turn before its name says so
_MOST_TURNS = 4  # beyond which its name is wave
_BLOCK = 1 << 13  # pieces compared at a time, so that they stay in the cache


@dataclass(frozen=True)
class Shape:
    """The form of a piece of a record: a number for each of its steps."""

    values: tuple[float, ...]

    @property
    def problem(self) -> str:
        """The reason why the numbers are no shape; empty if they are one."""
        if not LEAST_STEPS <= len(self.values) <= MOST_STEPS:
            return f"{len(self.values):,} numbers"
        if not math.isfinite(max(self.values) - min(self.values)):
            return "numbers too large to compare"
        return "numbers that are all the same" if max(self.values) == min(self.values) else ""

    @cached_property
    def pattern(self) -> tuple[float, ...]:
        """Its values with mean 0 and length 1."""
        low, height = min(self.values), max(self.values) - min(self.values)
        shares = [(value - low) / height for value in self.values]
        mean = math.fsum(shares) / len(shares)
        length = math.sqrt(math.fsum((share - mean) ** 2 for share in shares))
        return tuple((share - mean) / length for share in shares)

    @cached_property
    def picture(self) -> str | None:
        """Its values as block characters, if they are whole numbers from 0 to 7."""
        if not all(value in range(len(LEVELS)) for value in self.values):
            return None
        return "".join(LEVELS[int(value)] for value in self.values)

    @classmethod
    def of(cls, piece: Floats) -> "Shape | None":
        """Return the shape of a piece, rounded to the heights that can be drawn; None if the piece is flat or not
        finite.
        """
        low, height = piece.min(), piece.max() - piece.min()
        if not (0 < height < np.inf):
            return None
        return cls(tuple(np.round((piece - low) / height * (len(LEVELS) - 1)).tolist()))

    @classmethod
    def drawn(cls, picture: str) -> "Shape | None":
        """Return the shape of a picture; None if the text is no picture."""
        levels = [LEVELS.find(level) for level in picture]
        return cls(tuple(map(float, levels))) if levels and min(levels) >= 0 else None

    @cached_property
    def name(self) -> str:
        """The name of its form: rise, fall, rise-fall …, or wave."""
        turns = _turns(self.values, _WIGGLE * (max(self.values) - min(self.values)))
        words = ["rise" if before < after else "fall" for before, after in pairwise(turns)]
        return "-".join(words) if len(words) <= _MOST_TURNS else "wave"


def _turns(values: tuple[float, ...], least: float) -> list[float]:
    """Return the first value, those at turns of at least this height, and the last."""
    turns = [values[0]]
    for value in values[1:]:
        if len(turns) > 1 and (turns[-1] - turns[-2]) * (value - turns[-1]) > 0:
            turns[-1] = value  # the same direction
        elif abs(value - turns[-1]) >= least:
            turns.append(value)
    return turns


def distances(values: Floats, numbers: NDArray[np.int64], shape: Shape) -> Floats:
    """Return the distance of a record's last steps, at each step, from the shape; NaN at the first steps and at gaps.

    It is the root mean square difference, from 0 for the same form, over 1 for no form at all (a constant piece), to 2
    for the opposite. `values` has the records one after the other, `numbers` the number of each step in its record.
    """
    steps, found = len(shape.values), np.full(len(values), np.nan)
    for first in range(0, len(values) - steps + 1, _BLOCK):
        some = values[first : first + _BLOCK + steps - 1]
        found[first + steps - 1 : first + len(some)] = _distances(some, shape.pattern)
    found[numbers < steps - 1] = np.nan
    return found


def _distances(values: Floats, pattern: tuple[float, ...]) -> Floats:
    """Return the distance of each piece from the pattern.

    Values are measured from the lowest of their piece, in shares of its height, so that large numbers that differ by
    little lose no digits.
    """
    count = len(values) - len(pattern) + 1
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        low, high = (_extreme(values, len(pattern), better) for better in (np.minimum, np.maximum))
        height = high - low
        total, square, alike, share, product = np.zeros((5, count))
        for step, weight in enumerate(pattern):
            np.subtract(values[step : step + count], low, out=share)
            np.divide(share, height, out=share)
            total += share
            alike += np.multiply(share, weight, out=product)
            square += np.multiply(share, share, out=product)
        alike /= np.sqrt(square - total * total / len(pattern))
        apart = np.round(np.sqrt(np.maximum(2.0 - 2.0 * alike, 0.0)), DECIMALS)
    return np.where(height == 0, 1.0, np.where(np.isfinite(height), apart, np.nan))


def _extreme(values: Floats, steps: int, better: np.ufunc) -> Floats:
    """Return the least or greatest value of each piece; each pass doubles the number of steps covered."""
    found, reach = values, 1
    while reach < steps:
        ahead = min(reach, steps - reach)
        found, reach = better(found[:-ahead], found[ahead:]), reach + ahead
    return found
