"""A column of one type -> the type it had elsewhere, where only the values tell the types apart."""

import numpy as np

from telltree.amounts import counted
from telltree.data.columns.encode import nothing
from telltree.data.columns.truth import flags, named_flags, numbered_flags, word_flags
from telltree.data.schema import Column, ColumnType, listed
from telltree.data.store import UNSEEN, Array, is_missing
from telltree.data.warn import warn
from telltree.errors import DataError


def retyped(own: Column, wanted: Column, array: Array) -> Array:
    """Return the values as those of the wanted type; numbers for names, and names for numbers, are a DataError.

    A column without any value fits every type.
    """
    if is_missing(array).all():
        return nothing(wanted.type, len(array)).array
    if wanted.type is ColumnType.BOOLEAN:
        return flags(array) if own.type is ColumnType.REAL else word_flags(array, own.levels)
    if own.type is ColumnType.BOOLEAN:
        named = wanted.type is ColumnType.CATEGORICAL
        return named_flags(array, wanted.levels, UNSEEN) if named else numbered_flags(array)
    raise DataError(
        f"column {own.name!r} is {own.type}, but {wanted.type} was expected; "
        "convert it, or give the schema when you read the data"
    )


def neither_true_nor_false(own: Column, before: Array, after: Array) -> list[str]:
    """Which values of a column, and how many, were lost when it became Boolean, as a sentence; empty if none were."""
    lost = before[is_missing(after) & ~is_missing(before)]
    if len(lost) == 0:
        return []
    some = np.unique(lost).tolist()
    shown = [own.levels[code] if code >= 0 else "a name that is not known" for code in some] if own.levels else some
    return [f"column {own.name!r}: {listed(shown, 3)} ({counted(len(lost), 'value')})"]


def warn_neither(findings: list[str]) -> None:
    """Issue one warning for all that `neither_true_nor_false` found."""
    if findings:
        warn("values that are neither true nor false count as missing where that was learnt: " + "; ".join(findings))
