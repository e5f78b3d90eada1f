"""Words in memory where the processor is quickest to fetch them: vectors that cross a cache line take two fetches."""

import numpy as np
from numpy.typing import NDArray

VECTOR = 4
"""Words fetched at a time. Rows of so many, or twice, thrice … as many, begin where a fetch does."""
_LINE = 8


def aligned_words(rows: int, words: int) -> NDArray[np.uint64]:
    """Rows of words, not set to anything, that begin at a cache line."""
    room = np.empty(rows * words + _LINE, np.uint64)
    skipped = -(room.ctypes.data // room.itemsize) % _LINE
    return room[skipped : skipped + rows * words].reshape(rows, words)
