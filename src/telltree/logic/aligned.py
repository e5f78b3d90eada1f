"""Words in memory, aligned to cache lines: vectors that cross a cache line take two loads."""

import numpy as np
from numpy.typing import NDArray

VECTOR = 4
"""Words per vector load. Rows whose length is a multiple of this start aligned."""
_LINE = 8


def aligned_words(rows: int, words: int) -> NDArray[np.uint64]:
    """Uninitialised rows of words, the first of which starts at a cache line."""
    room = np.empty(rows * words + _LINE, np.uint64)
    skipped = -(room.ctypes.data // room.itemsize) % _LINE
    return room[skipped : skipped + rows * words].reshape(rows, words)
