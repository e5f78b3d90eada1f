"""Words in memory or on disk, aligned to cache lines: vectors that cross a cache line take two loads."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from telltree.panel.disk_arrays import sparse

VECTOR = 4
"""Words per vector load. Rows whose length is a multiple of this start aligned."""
_LINE = 8
Room = Callable[[int, int], NDArray[np.uint64]]
"""Makes room for rows of words."""


def aligned_words(rows: int, words: int) -> NDArray[np.uint64]:
    """Uninitialised rows of words, the first of which starts at a cache line."""
    room = np.empty(rows * words + _LINE, np.uint64)
    skipped = -(room.ctypes.data // room.itemsize) % _LINE
    return room[skipped : skipped + rows * words].reshape(rows, words)


def words_on_disk(rows: int, words: int) -> NDArray[np.uint64]:
    """The same on disk; `telltree.panel.disk_arrays.reserve` those that are about to be written."""
    return sparse(rows * words, np.uint64).reshape(rows, words)
