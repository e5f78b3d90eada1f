"""Random numbers that depend only on a key, so that the order and grouping of draws change nothing."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def _mix(words: Words) -> Words:
    """Scramble 64 bits (the finaliser of splitmix64)."""
    words = (words ^ (words >> np.uint64(30))) * _FIRST
    words = (words ^ (words >> np.uint64(27))) * _SECOND
    return words ^ (words >> np.uint64(31))


class Chance:
    """One stream for each item: its draws depend only on seed, stream and item.

    Each method draws one number per item, or an array of the given `shape` per item.
    """

    def __init__(self, seed: int, stream: int, items: NDArray[np.int64]) -> None:
        """Open the streams of these items."""
        root = _mix(np.array([seed % 2**64], np.uint64))
        root = _mix(root + _GOLDEN * np.array([stream + 1], np.uint64))
        self._keys = _mix(root + _GOLDEN * (items.astype(np.uint64) + np.uint64(1)))
        self._drawn = 0

    def _unit(self, shape: tuple[int, ...]) -> Floats:
        """Between 0 and 1, neither included."""
        count = int(np.prod(shape))
        counters = np.arange(self._drawn + 1, self._drawn + count + 1, dtype=np.uint64)
        self._drawn += count
        words = _mix(self._keys[:, None] + _GOLDEN * counters)
        return (((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52).reshape(-1, *shape)

    def uniform(self, low: float, high: float, shape: tuple[int, ...] = ()) -> Floats:
        """Uniform between two numbers."""
        return low + (high - low) * self._unit(shape)

    def normal(self, mean: float, deviation: float, shape: tuple[int, ...] = ()) -> Floats:
        """Normally distributed (Box and Muller)."""
        radius, angle = np.sqrt(-2 * np.log(self._unit(shape))), 2 * np.pi * self._unit(shape)
        found: Floats = mean + deviation * radius * np.cos(angle)
        return found

    def laplace(self, scale: float, shape: tuple[int, ...] = ()) -> Floats:
        """Laplace distributed about 0."""
        unit = self._unit(shape) - 0.5
        found: Floats = -scale * np.sign(unit) * np.log1p(-2 * np.abs(unit))
        return found

    def happens(self, probability: float, shape: tuple[int, ...] = ()) -> NDArray[np.bool_]:
        """True with this probability."""
        return self._unit(shape) < probability

    def sign(self, shape: tuple[int, ...] = ()) -> Floats:
        """1 or −1."""
        return np.where(self.happens(0.5, shape), 1.0, -1.0)
