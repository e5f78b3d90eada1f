"""Baselines to compare a model with, on the same records."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from telltree.data import Panel
from telltree.estimators.folds import Fold
from telltree.estimators.summaries import Summaries

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Sizes = Mapping[str, int | None]
"""The most leaves that decision trees may have, None for any number, by their names in tables."""

COMMONEST, TREE, FREE_TREE = "commonest class", "decision tree", "unlimited tree"
"""The baselines by their names in tables."""


def sizes_beside(leaves: int) -> Sizes:
    """The decision trees to compare a tree of so many leaves with: one as large, at least of two leaves, and any."""
    return {TREE: max(2, leaves), FREE_TREE: None}


def commonest_class(train: Panel, codes: Ints, classes: int, test: Panel) -> Floats:
    """Predict the class frequencies of the training records, so the most common class: records × classes."""
    return np.tile(np.bincount(codes, minlength=classes) / len(codes), (len(test), 1))


def summary_trees(
    train: Panel, codes: Ints, classes: int, test: Panel, sizes: Sizes, *, weights: Floats | None = None
) -> dict[str, Floats]:
    """The probability of each class for the records of `test`, by each of scikit-learn's trees on summaries of records.

    They are DecisionTreeClassifier(max_leaf_nodes=size, random_state=0), and learn from the records of `train`, whose
    classes are `codes`, numbers below `classes`. Columns that only one of the panels has are left out.
    """
    both = [name for name in train.schema if name in test.schema]
    train = train.select(both)
    summaries = Summaries.learn(train)
    known, asked = summaries(train), summaries(test.aligned(train.schema))
    found = {}
    for name, size in sizes.items():
        tree = DecisionTreeClassifier(max_leaf_nodes=size, random_state=0).fit(known, codes, weights)
        found[name] = np.zeros((len(test), classes))
        found[name][:, tree.classes_] = tree.predict_proba(asked)
    return found


def trees_out_of_fold(
    panel: Panel, codes: Ints, classes: int, folds: Sequence[Fold], sizes: Sizes, *, weights: Floats | None = None
) -> dict[str, Floats]:
    """What `summary_trees` predict for each record, learnt in the fold that holds the record out."""
    found = {name: np.zeros((len(panel), classes)) for name in sizes}
    for train, test in folds:
        own = None if weights is None else weights[train]
        for name, chances in summary_trees(
            panel[train], codes[train], classes, panel[test], sizes, weights=own
        ).items():
            found[name][test] = chances
    return found
