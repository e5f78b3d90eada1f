"""Folds: which records are kept apart, in turn."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from telltree.errors import SettingsError

Fold = tuple[NDArray[np.int64], NDArray[np.int64]]


def folds(codes: NDArray[np.int64], groups: Any, number: int, seed: int) -> list[Fold]:
    """Positions to learn from and to keep apart, in turn, so that each fold has each class in about the same share.

    Records of one group stay together. There are fewer folds where the commonest class has fewer records.
    """
    most = int(np.bincount(codes).max()) if groups is None else len(np.unique(groups))
    number = min(number, most)
    if number < 2:
        raise SettingsError("cross-validation needs at least two records of a class, in two groups if there are groups")
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    made = kind(number, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes that are rarer than folds are many
        return list(made.split(np.zeros(len(codes)), codes, groups))
