"""Folds: which records to learn from and which to hold out, in turn."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from telltree.amounts import counted
from telltree.errors import SettingsError

Fold = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Positions of the training records, and of those held out."""


def folds(codes: NDArray[np.int64], groups: Any, number: int, seed: int) -> list[Fold]:
    """Positions to learn from and to hold out, in turn; each fold has each class in about the same share.

    `codes` are the classes of the records. `groups` has one group for each record, or is None; records of one group
    stay together. There are fewer folds where a class has fewer records, or is in fewer groups, but at least two. A
    class that is only in one place cannot be in both parts of a split, and does not count. SettingsError if there
    cannot be two folds.
    """
    if number < 2:
        raise SettingsError(f"cross-validation takes at least 2 folds, got {number}")
    if groups is not None and len(groups) != len(codes):
        raise SettingsError(f"groups must have one for each of {counted(len(codes), 'record')}, got {len(groups)}")
    number = min(number, _most(codes, groups))
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    made = kind(number, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about classes with fewer records than folds
        found = [fold for fold in made.split(np.zeros(len(codes)), codes, groups) if all(map(len, fold))]
    if len(found) < 2:  # groups so unequal that nothing is left for other folds
        raise SettingsError("the groups are too unequal for two folds; keep records for a test instead")
    return found


def _most(codes: NDArray[np.int64], groups: Any) -> int:
    """The most folds that every class can be in, except for classes in one place only."""
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
