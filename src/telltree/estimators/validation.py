"""Cross-validation of a front: how well each of its trees would do on records that were not seen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.estimators.folds import Fold
from telltree.estimators.probabilities import probabilities
from telltree.tree.front import Front, Score, between
from telltree.tree.induction import Learned
from telltree.tree.target import ClassLabels

Floats = NDArray[np.float64]
Learn = Callable[[int], Learned]
"""What is learnt of the records to learn from in a fold, by its number from 0."""


@dataclass(frozen=True)
class Validation:
    """What trees that were learnt without a record said of it."""

    folds: tuple[Fold, ...]
    """Positions of the records to learn from, and of those kept apart, of each fold."""
    chances: Floats
    """The probability of each class for each record, for each tree of the front: steps × records × classes."""
    misses: Floats
    """How far each tree's probabilities were from the class of each record (squared, summed up over the classes, as
    Brier has it): steps × records."""
    right: NDArray[np.bool_]
    """Whether each tree told the class of each record: steps × records."""
    weights: Floats
    """Of the records; they add up to 1."""
    chosen: int
    """The step whose tree is the model's."""

    @property
    def probabilities(self) -> Floats:
        """The probability of each class for each record, by trees like the model's that had not seen it."""
        found: Floats = self.chances[self.chosen]
        return found

    @property
    def scores(self) -> tuple[Score, ...]:
        """For each tree the share of records of which it told the class, by weight."""
        shares = np.minimum(1.0, self.right @ self.weights)  # which rounding may carry past 1
        errors = np.sqrt(np.sum(self.weights**2 * (self.right - shares[:, None]) ** 2, axis=1))
        return tuple(map(Score, shares.tolist(), errors.tolist()))


def validate(
    learn: Learn, steps: Front, panel: Panel, labels: ClassLabels, *, folds: Sequence[Fold], simplicity: float
) -> Validation | None:
    """Learn a tree in each fold, prune it as the trees of the front were, and ask it about the records kept apart.

    The tree that is chosen is the smallest that is no worse than the best by more than `simplicity` standard errors of
    the difference. What counts is Brier's score: unlike a share of right answers it tells a likely guess from an
    unlikely one, and unlike bits it does not make everything of one record about which a tree was too sure. None if
    learning was interrupted.
    """
    prices, classes = between(steps), len(labels.target.classes)
    chances = np.full((len(prices), len(panel), classes), 1 / classes)  # of records in no fold
    for number, (_, test) in enumerate(folds):
        tree, _, interrupted = learn(number)
        if interrupted:
            return None
        own = Front.of(tree)
        for step, price in enumerate(prices):
            chances[step, test] = probabilities(own.at_price(price), panel[test])
    weights = np.ones(len(panel)) if labels.weights is None else labels.weights.astype(np.float64)
    weights /= weights.sum()
    misses = np.sum((chances - np.eye(classes)[labels.codes]) ** 2, axis=2)
    right = chances.argmax(axis=2) == labels.codes
    chosen = _smallest(misses, weights, simplicity)
    return Validation(tuple(folds), chances, misses, right, weights, chosen)


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
