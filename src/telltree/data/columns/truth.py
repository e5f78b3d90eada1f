"""Which columns are Boolean, unless the schema says otherwise. The whole rule is here.

- Columns of a Boolean type.
- Text that has the words of one pair alone, in any capitals: true and false, yes and no, on and off. y and n, t and f
  count only where both occur: one letter alone may be the name of anything.
- Whole numbers that are 0 and 1 alone, where both occur: of an integer type, or in files of text written without a
  decimal point.
- Floats of a dataframe, a file or an array of objects, such as 1.0, that are 0 and 1 alone, where both occur and some
  are missing: many programs make floats of whole numbers with gaps.

Missing values change nothing else. Other floats stay real whatever their values, and so do those of arrays of
floats, which have one type for all columns. Declared categories of a dataframe or a file stay categorical.
"""

import math

import numpy as np

from telltree.data.on_disk import pieces, piecewise
from telltree.data.store import MISSING, Array, Code, Flag, is_missing

PAIRS = (("false", "true"), ("no", "yes"), ("off", "on"), ("n", "y"), ("f", "t"))
TRUTHS = {word: float(truth) for pair in PAIRS for truth, word in enumerate(pair)}
HEAD = 1000  # values to look at first: most numeric columns show here that they are not Boolean


def truth_of(word: str) -> float:
    """1 or 0 for a word of any pair; the number itself for a number; else NaN."""
    bare = word.strip().lower()
    try:
        return TRUTHS[bare] if bare in TRUTHS else float(bare)
    except ValueError:
        return math.nan


def says_truth(levels: tuple[str, ...]) -> bool:
    """Whether all of these are words of one pair."""
    words = {level.strip().lower() for level in levels}
    return any(words <= set(pair) and len(words) >= (1 if len(pair[0]) > 1 else 2) for pair in PAIRS)


def is_zero_one(numbers: Array, complete: bool = True) -> bool:
    """Whether these floats are only 0 and 1, and both occur; so must NaN, a missing value, if not `complete`."""
    if len(numbers) > HEAD and not _fit(numbers[:HEAD]).all():  # most long columns need no second look
        return False
    found: set[float] = set()
    gaps = complete
    for piece in pieces(numbers):
        some = numbers[piece]
        if not _fit(some).all():
            return False
        found |= {truth for truth in (0, 1) if (some == truth).any()}
        gaps = gaps or bool(np.isnan(some).any())
    return len(found) == 2 and gaps


def _fit(numbers: Array) -> Array:
    return np.asarray((numbers == 0) | (numbers == 1) | np.isnan(numbers))


def flags(numbers: Array) -> Array:
    """Floats as Boolean values; anything but 0 and 1 is missing."""
    return piecewise(_flags, numbers, Flag)


def _flags(numbers: Array) -> Array:
    return np.where(numbers == 1, 1, np.where(numbers == 0, 0, MISSING)).astype(Flag)


def word_flags(codes: Array, levels: tuple[str, ...]) -> Array:
    """Names as Boolean values; a name that says neither true nor false is missing."""
    table = np.array([*map(truth_of, levels), math.nan, math.nan])  # the last two are for the codes -2 and -1
    return piecewise(lambda some: _flags(table[some]), codes, Flag)


def named_flags(truths: Array, levels: tuple[str, ...], unseen: int) -> Array:
    """Boolean values as codes of the levels that say true or false; `unseen` if no level does, or several do."""
    said = [[code for code, level in enumerate(levels) if truth_of(level) == truth] for truth in (0, 1)]
    table = np.array([*(codes[0] if len(codes) == 1 else unseen for codes in said), MISSING], Code)
    return np.where(is_missing(truths), MISSING, table[truths]).astype(Code)


def numbered_flags(truths: Array) -> Array:
    """Boolean values as floats: 0, 1 and NaN."""
    return np.where(is_missing(truths), np.nan, truths.astype(float))
