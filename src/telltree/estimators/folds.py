"""Folds: which records to learn from and which to keep apart, in turn."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from telltree.amounts import counted
from telltree.errors import SettingsError

Fold = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Positions of the records to learn from, and of those kept apart."""


def folds(codes: NDArray[np.int64], groups: Any, number: int, seed: int) -> list[Fold]:
    """Positions to learn from and to keep apart, in turn, so that each fold has each class in about the same share.

    `codes` are the classes of the records. Records of one group, of which `groups` has one for each record or is None,
    stay together. There are fewer folds where a class has fewer records, or is in fewer groups, but never less than
    two; a class that is in one place alone can only be learnt or asked about, and does not count. A SettingsError says
    so where there can be no two folds.
    """
    if number < 2:
        raise SettingsError(f"cross-validation takes at least 2 folds, got {number}")
    if groups is not None and len(groups) != len(codes):
        raise SettingsError(f"groups must have one for each of {counted(len(codes), 'record')}, got {len(groups)}")
    number = min(number, _most(codes, groups))
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    made = kind(number, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes that are rarer than folds are many
        found = [fold for fold in made.split(np.zeros(len(codes)), codes, groups) if all(map(len, fold))]
    if len(found) < 2:  # groups so unequal that nothing is left for other folds
        raise SettingsError("the groups are too unequal for two folds; keep records for a test instead")
    return found


def _most(codes: NDArray[np.int64], groups: Any) -> int:
    """The folds that each class can be in, but for classes in one place alone."""
    places = np.arange(len(codes)) if groups is None else np.unique(groups, return_inverse=True)[1]
    if len(np.unique(places)) < 2:
        found = counted(len(codes), "record") if groups is None else "one group"
        raise SettingsError(f"cross-validation needs at least two records, in two groups if there are groups: {found}")
    each = [len(np.unique(places[codes == code])) for code in np.unique(codes)]
    several = [count for count in each if count > 1]
    if not several:
        where = "records" if groups is None else "groups"
        raise SettingsError(f"cross-validation needs a class in at least two {where}; each is in one alone")
    return min(several)
