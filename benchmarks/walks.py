"""Random walks: records as large and as many as wanted, that hold no secret."""

import numpy as np
from numpy.typing import NDArray

STEPS = 50


def random_walks(records: int, columns: int, seed: int = 0) -> NDArray[np.float64]:
    """Records × steps × columns, made piece by piece so that nothing else of that size is ever in memory."""
    rng = np.random.default_rng(seed)
    cube = np.empty((records, STEPS, columns))
    for first in range(0, records, 1_000):
        piece = cube[first : first + 1_000]
        np.cumsum(rng.standard_normal(piece.shape), axis=1, out=piece)
    return cube
