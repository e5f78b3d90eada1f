"""Codes of one list of levels -> codes of another."""

from collections.abc import Collection, Sequence

import numpy as np

from telltree.data.columns.naming import level_name, says_missing
from telltree.data.on_disk import piecewise
from telltree.data.store import MISSING, UNSEEN, Array, Code


def align_codes(codes: Array, have: Sequence[str], want: Sequence[str]) -> Array:
    """Translate codes by name; levels that are not wanted become UNSEEN, missing values stay missing."""
    place = {level_name(level): code for code, level in enumerate(want)}
    place |= {level: code for code, level in enumerate(want)}
    return _translated(codes, [place.get(level, place.get(level_name(level), UNSEEN)) for level in have])


def renumbered(codes: Array, have: Sequence[str], want: Sequence[str]) -> Array:
    """Translate codes of levels to those of the same levels in another order."""
    place = {level: code for code, level in enumerate(want)}
    return _translated(codes, [place[level] for level in have])


def named_codes(codes: Array, written: Sequence[str], declared: Collection[str] = ()) -> tuple[Array, tuple[str, ...]]:
    """The codes and levels of names as written -> those of their category names, sorted.

    Words for a missing value are missing values, unless they are declared as levels.
    """
    names = [None if says_missing(word) and word not in declared else level_name(word) for word in written]
    levels = sorted({name for name in names if name is not None})
    if levels == list(written):
        return codes, tuple(levels)
    place = {level: code for code, level in enumerate(levels)}
    return _translated(codes, [MISSING if name is None else place[name] for name in names]), tuple(levels)


def _translated(codes: Array, table: Sequence[int]) -> Array:
    # The last two entries are for the codes -2 and -1, as negative indices.
    places = np.array([*table, UNSEEN, MISSING], Code)
    return piecewise(lambda some: places[some], codes, Code)
