"""Cross-validation of a front: how well each of its trees would do on unseen records."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.estimators.folds import Fold
from telltree.estimators.probabilities import probabilities
from telltree.tree.front import Front, Score, between
from telltree.tree.induction import Learned
from telltree.tree.recall import with_recall
from telltree.tree.target import ClassLabels

Floats = NDArray[np.float64]
Learn = Callable[[int], Learned]
"""Learns from the training records of a fold, given its number from 0."""


@dataclass(frozen=True)
class Validation:
    """Predictions for each record by trees that had not seen it."""

    folds: tuple[Fold, ...]
    """Positions of the training records and of those held out, for each fold."""
    chances: Floats
    """The probability of each class for each record, for each tree of the front: trees × records × classes."""
    misses: Floats
    """The Brier loss of each tree for each record (squared distance, summed over the classes): trees × records."""
    right: NDArray[np.bool_]
    """Whether each tree predicted the class of each record: trees × records."""
    weights: Floats
    """Weights of the records; they add up to 1."""
    chosen: int
    """The step of the front whose tree is the model's."""

    @property
    def probabilities(self) -> Floats:
        """The probability of each class for each record, by trees of the model's step that had not seen it."""
        found: Floats = self.chances[self.chosen]
        return found

    @property
    def scores(self) -> tuple[Score, ...]:
        """For each tree its accuracy, weighted."""
        shares = np.minimum(1.0, self.right @ self.weights)  # rounding may exceed 1
        errors = np.sqrt(np.sum(self.weights**2 * (self.right - shares[:, None]) ** 2, axis=1))
        return tuple(map(Score, shares.tolist(), errors.tolist()))


def validate(
    learn: Learn,
    steps: Front,
    panel: Panel,
    labels: ClassLabels,
    *,
    folds: Sequence[Fold],
    simplicity: float,
    floors: Mapping[Any, float] = MappingProxyType({}),
) -> Validation | None:
    """Learn a tree in each fold, prune it as the trees of the front were, and try it on the records held out.

    The chosen tree is the smallest that is worse than the best by at most `simplicity` standard errors of the
    difference. Trees are compared by the Brier score. Unlike accuracy, it tells a likely guess from an unlikely one;
    unlike bits (log loss), it is not dominated by a single record about which a tree was too sure. What is told of them
    is with the `floors` for the recall of classes, which each tree reaches on the records that it has learnt from. None
    if learning was interrupted.
    """
    prices, classes = between(steps), len(labels.target.classes)
    chances = np.full((len(prices), len(panel), classes), 1 / classes)  # of records in no fold
    told = chances if not floors else chances.copy()
    for number, (_, test) in enumerate(folds):
        learned = learn(number)
        if learned.interrupted:
            return None
        own = Front.of(learned.tree)
        for step, price in enumerate(prices):
            tree = own.at_price(price)
            chances[step, test] = probabilities(tree, panel[test])
            if floors:
                told[step, test] = probabilities(with_recall(tree, floors), panel[test])
    weights = np.ones(len(panel)) if labels.weights is None else labels.weights.astype(np.float64)
    weights /= weights.sum()
    misses = np.sum((chances - np.eye(classes)[labels.codes]) ** 2, axis=2)
    right = told.argmax(axis=2) == labels.codes
    chosen = _smallest(misses, weights, simplicity)
    return Validation(tuple(folds), told, misses, right, weights, chosen)


def _smallest(misses: Floats, weights: Floats, simplicity: float) -> int:
    means = misses @ weights
    best = int(np.argmin(means))
    for step in range(best):
        worse = misses[step] - misses[best]
        mean = weights @ worse
        error = np.sqrt(np.sum(weights**2 * (worse - mean) ** 2))
        if mean <= simplicity * error:
            return step
    return best
