"""Codes of one list of levels -> codes of another."""

import numpy as np

from telltree.data.store import MISSING, UNSEEN, Array, Code


def align_codes(codes: Array, have: tuple[str, ...], want: tuple[str, ...]) -> Array:
    """Translate codes by name; levels that are not wanted become UNSEEN, missing values stay missing."""
    place = {level: code for code, level in enumerate(want)}
    # The two last entries answer the codes -2 and -1, as negative indices do.
    table = np.array([*(place.get(level, UNSEEN) for level in have), UNSEEN, MISSING], Code)
    return table[codes]
