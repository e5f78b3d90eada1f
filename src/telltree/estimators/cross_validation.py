"""Cross-validation: what a classifier predicts for records that it has not learnt from."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from telltree.data import Panel, check_labels
from telltree.estimators.folds import Fold


def cross_validate(
    classifier: Any,
    panel: Panel,
    y: Any,
    folds: Sequence[Fold],
    progress: Callable[[int, int], None] | None = None,
) -> NDArray[np.float64]:
    """The probability of each class for each record, by a clone that learnt from the training records of its fold.

    Records × classes, the classes in order; a class that the clone has not met has probability 0. `progress` is called
    with the number of a fold, from 1, and how many there are, before each. Ctrl-C is a KeyboardInterrupt: half a tree
    says nothing about a whole one.
    """
    labels = check_labels(y, panel)
    classes = np.unique(labels)
    found = np.zeros((len(panel), len(classes)))
    for number, (train, test) in enumerate(folds, 1):
        if progress is not None:
            progress(number, len(folds))
        model = clone(classifier).fit(panel[train], labels[train])
        if getattr(model, "interrupted_", False):
            raise KeyboardInterrupt
        found[np.ix_(test, np.searchsorted(classes, model.classes_))] = model.predict_proba(panel[test])
    return found
