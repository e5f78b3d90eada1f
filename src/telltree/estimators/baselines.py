"""Baselines to compare a model with, on the same records."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from telltree.data import Panel
from telltree.estimators.folds import Fold
from telltree.estimators.summaries import Summaries

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DEPTH = 4
"""The depth of the decision tree on summaries: at most 16 leaves, about as many as anybody reads."""


class Baseline(Protocol):
    """The probability of each class for the records of `test`: records × classes.

    It learns from the records of `train`. Their classes are `codes`, numbers below `classes`; they may have weights.
    """

    def __call__(
        self, train: Panel, codes: Ints, classes: int, test: Panel, *, weights: Floats | None = None
    ) -> Floats: ...


def commonest_class(train: Panel, codes: Ints, classes: int, test: Panel, *, weights: Floats | None = None) -> Floats:
    """Predict the class frequencies of the training records, so the most common class. Ignores weights."""
    return np.tile(np.bincount(codes, minlength=classes) / len(codes), (len(test), 1))


def summary_tree(train: Panel, codes: Ints, classes: int, test: Panel, *, weights: Floats | None = None) -> Floats:
    """Learn scikit-learn's DecisionTreeClassifier(max_depth=4, random_state=0) on summaries of records.

    Columns that only one of the panels has are left out.
    """
    both = [name for name in train.schema if name in test.schema]
    train, found = train.select(both), np.zeros((len(test), classes))
    summaries = Summaries.learn(train)
    tree = DecisionTreeClassifier(max_depth=DEPTH, random_state=0).fit(summaries(train), codes, weights)
    found[:, tree.classes_] = tree.predict_proba(summaries(test.aligned(train.schema)))
    return found


BASELINES: Mapping[str, Baseline] = {"commonest class": commonest_class, "decision tree": summary_tree}
"""The baselines by their names in tables."""


def out_of_fold(
    baseline: Baseline, panel: Panel, codes: Ints, classes: int, folds: Sequence[Fold], *, weights: Floats | None = None
) -> Floats:
    """The probabilities that a baseline predicts for each record, learnt in the fold that holds the record out."""
    found = np.zeros((len(panel), classes))
    for train, test in folds:
        own = None if weights is None else weights[train]
        found[test] = baseline(panel[train], codes[train], classes, panel[test], weights=own)
    return found
