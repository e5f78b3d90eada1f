"""Folds, the cross-validation of all trees of a pruning path, and the choice of one of them."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from telltree.defaults import FOLDS
from telltree.errors import SettingsError
from telltree.estimators.fitted_tree import probabilities
from telltree.panel import Panel
from telltree.text import counted
from telltree.tree import MDL, Criterion, Growth, GrowthResult, Optimal
from telltree.tree.class_target import ClassLabels
from telltree.tree.induction import DEFAULT_CRITERION, DEFAULT_GROWTH
from telltree.tree.min_recall import with_recall
from telltree.tree.pruning_path import Measured, PruningPath, TreeScore, between, equals_merged
from telltree.tree.tree import Tree

# ---- Folds.

Fold = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Positions of the training records, and of those held out."""


def stratified_folds(codes: NDArray[np.int64], groups: Any, number: int, seed: int) -> list[Fold]:
    """Return positions to learn from and to hold out, in turn; each fold has about the same share of each class.

    `codes` are the classes of the records. `groups` has one group for each record, or is None; records of one group
    stay together. There are fewer folds where a class has fewer records, or is in fewer groups, but at least two. A
    class with a single record, or in a single group, cannot be in both parts of a split, and does not count.
    SettingsError if there cannot be two folds.
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
    if len(found) < 2:  # the groups are too unequal
        raise SettingsError("the groups are too unequal for two folds; keep records for a test instead")
    return found


def _most(codes: NDArray[np.int64], groups: Any) -> int:
    """Return the most folds that every class can be in, except for classes with a single record or group."""
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


# ---- Cross-validation of all trees of a pruning path.

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Validation:
    """Predictions for each record by trees that had not seen it."""

    folds: tuple[Fold, ...]
    """Positions of the training records and of those held out, for each fold."""
    path_probabilities: Floats
    """The probability of each class for each record, for each tree of the path: trees × records × classes."""
    right: NDArray[np.bool_]
    """True where a tree predicted the class of a record: trees × records."""
    scores: tuple[TreeScore, ...]
    """The scores of each tree on the records that were held out."""
    chosen: int
    """The place in the pruning path of the model's tree."""

    @property
    def probabilities(self) -> Floats:
        """The probability of each class for each record, by trees of the chosen place that had not seen it."""
        found: Floats = self.path_probabilities[self.chosen]
        return found


def validate(
    grow_fold: Callable[[int], GrowthResult],
    steps: PruningPath,
    panel: Panel,
    labels: ClassLabels,
    *,
    folds: Sequence[Fold],
    simplicity: float,
    min_recall: Mapping[Any, float] | None = None,
) -> Validation | None:
    """Learn a tree in each fold, prune it to the prices of the pruning path, and try it on the records held out.

    The chosen tree is the smallest whose balanced accuracy is below the best one's by at most `simplicity` standard
    errors of the difference. Accuracy would prefer a tree that never predicts a rare class. The Brier score would
    reject a tree that is right more often but too sure of it, as all are whose leaves have few records. Each tree
    reaches the minimum recalls on the records that it was learned from. None if learning was interrupted.
    """
    prices, classes = between(steps), len(labels.target.classes)
    path_probabilities = np.full((len(prices), len(panel), classes), 1 / classes)  # of records in no fold
    for number, (_, test) in enumerate(folds):
        learned = grow_fold(number)
        if learned.interrupted:
            return None
        own = PruningPath.of(learned.tree)
        for step, price in enumerate(prices):
            tree = own.at_price(price)
            path_probabilities[step, test] = probabilities(with_recall(tree, min_recall), panel[test])
    right = path_probabilities.argmax(axis=2) == labels.codes
    scores = _scores(right, labels, np.concatenate([test for _, test in folds]))
    return Validation(tuple(folds), path_probabilities, right, scores, _smallest(scores, simplicity))


def _scores(right: NDArray[np.bool_], labels: ClassLabels, held_out: NDArray[np.int64]) -> tuple[TreeScore, ...]:
    weights = np.zeros(len(labels))
    weights[held_out] = 1 if labels.weights is None else labels.weights[held_out]
    weights /= weights.sum()
    correct = right.astype(np.float64)
    balanced = [_balanced(one, weights, labels.codes) for one in correct]
    best = correct[int(np.argmax([one.share for one in balanced]))]  # the smallest of equals
    behind = [_balanced(best - one, weights, labels.codes) for one in correct]
    return tuple(
        TreeScore(*_mean(one, weights), *further) for one, *further in zip(correct, balanced, behind, strict=True)
    )


def _mean(values: Floats, weights: Floats) -> Measured:
    mean = _rounded(float(values @ weights))
    return Measured(mean, float(np.sqrt(np.sum(weights**2 * (values - mean) ** 2))))


def _balanced(values: Floats, weights: Floats, codes: NDArray[np.int64]) -> Measured:
    """Return the mean in each class, averaged over the classes, with its standard error for fixed class sizes."""
    of_class = np.bincount(codes, weights)
    there = np.count_nonzero(of_class)
    of_class = np.where(of_class > 0, of_class, 1)
    means = np.bincount(codes, weights * values) / of_class
    each = weights / of_class[codes] / there
    return Measured(
        _rounded(float(means.sum()) / there), float(np.sqrt(np.sum(each**2 * (values - means[codes]) ** 2)))
    )


def _rounded(share: float) -> float:
    """Round, so that equal shares are equal in whatever order they are added up, and none exceeds 1."""
    return round(share, 12)


def _smallest(scores: Sequence[TreeScore], simplicity: float) -> int:
    return next(
        step
        for step, score in enumerate(scores)
        if score.behind is not None and score.behind.share <= simplicity * score.behind.error
    )


# ---- The choice of a tree: by cross-validation, or else by the price of formulas.

_EQUALS = 2.0  # a question whose sides predict the same class must be worth this many times its price


def choose_tree(
    path: PruningPath, validation: Validation | None, criterion: Criterion, growth: Growth
) -> tuple[int, Tree]:
    """Return the place in the pruning path of the tree to use, and that tree.

    It is without questions of little worth whose sides predict the same.
    """
    price = criterion.price_for(path.whole.records) if isinstance(criterion, MDL) else 0.0
    if validation is not None:
        place = validation.chosen
    elif isinstance(criterion, MDL) and not isinstance(growth, Optimal):
        place = path.place_at_price(growth.simplicity * price)
    else:  # an optimal tree has weighed the cost of its formulas as a whole
        return len(path) - 1, path.whole
    return place, equals_merged(path[place].tree, _EQUALS * price)


_INSTEAD = f"cross-validation, cv={FOLDS} or --cv {FOLDS}, chooses by balanced accuracy instead"


def sizes_text(
    path: PruningPath, validation: Validation | None, criterion: Criterion | None, growth: Growth | None
) -> str:
    """Return the pruning path as a table with a legend, and the rule of the choice; "" if there is only one tree."""
    if len(path) < 2:
        return ""
    table = "\n".join(f"  {line}" for line in path.table().splitlines())
    rule = _rule(path, validation, criterion or DEFAULT_CRITERION, growth or DEFAULT_GROWTH)
    return f"trees of all sizes ({path.legend}):\n{table}\n{rule}"


def _rule(path: PruningPath, validation: Validation | None, criterion: Criterion, growth: Growth) -> str:
    """Return the rule by which `choose_tree` took a tree, in one sentence."""
    if validation is not None:
        if not growth.simplicity:
            return "the tree of the best balanced accuracy is taken, of equals the smallest"
        errors = "a standard error" if growth.simplicity == 1 else f"{growth.simplicity:g} standard errors"
        return f"the smallest tree is taken that is behind the best by no more than {errors} of the difference"
    if isinstance(criterion, MDL) and not isinstance(growth, Optimal):
        price = growth.simplicity * criterion.price_for(path.whole.records)
        return (
            f"the largest tree is taken whose branches are all worth more than {price:.3g}, the price of a bit; "
            f"{_INSTEAD}"
        )
    return "the whole tree is taken: without cross-validation nothing of it is cut"
