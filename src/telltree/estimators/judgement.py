"""The judgement of a model beside baselines, on records that none of them has learned from."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from telltree.errors import DataError, DataWarning, warn
from telltree.estimators.baselines import (
    COMMONEST,
    FREE_TREE,
    TREE,
    commonest_class,
    sizes_beside,
    summary_trees,
    trees_out_of_fold,
)
from telltree.estimators.cross_validation import Fold, stratified_folds
from telltree.estimators.inputs import record_weights
from telltree.estimators.scorecard import Scorecard, coded, side_by_side
from telltree.panel import Panel, check_labels
from telltree.panel.schema import listed
from telltree.scale.dask import Cluster
from telltree.text import counted
from telltree.tree.class_target import ClassLabels, ClassTarget
from telltree.tree.training_facts import fingerprint

if TYPE_CHECKING:
    from telltree.estimators.classifier import GrammarTreeClassifier


MODEL = "telltree"


@dataclass(frozen=True)
class Judgement:
    """The scores of a model, and of baselines on the same records; `print` it, or take `as_dict()` for JSON.

    cards: a Scorecard for each, by name, the model's first. folds: the number of folds in cross-validation; None for a
    test set. seen: True if the model learned from these very records, which flatters it. leaves: the number of leaves
    of the model, or of the largest tree of a forest; the decision tree beside it has at most as many, and two at least.
    """

    cards: Mapping[str, Scorecard]
    folds: int | None = None
    seen: bool = False
    leaves: int | None = None

    @property
    def card(self) -> Scorecard:
        """The scorecard of the model."""
        return self.cards[MODEL]

    def as_dict(self) -> dict[str, Any]:
        """Return everything in types that JSON has."""
        models = {name: card.as_dict() for name, card in self.cards.items()}
        return {"records": self.card.records, "folds": self.folds, "seen_in_training": self.seen, "models": models}

    def __str__(self) -> str:
        records = counted(self.card.records, "record")
        if self.folds is not None:
            head = f"cross-validated on {records}, in {self.folds} folds:"
        else:
            head = f"on {records}" + (" that it learnt from, which flatters it:" if self.seen else ":")
        lines = [head, side_by_side(self.cards), self.card.note]
        if TREE in self.cards and self.leaves is not None:
            size = counted(sizes_beside(self.leaves)[TREE] or 0, "leaf", "leaves")
            lines.append(
                f"{TREE}: scikit-learn's, of at most {size} ({MODEL}'s has {self.leaves}), on the mean, spread, "
                f"extremes, quartiles, slope and so on of each column; {FREE_TREE}: the same without a limit"
            )
        return "\n".join([*lines, "", self.card.mistakes()])


def judge_by_folds(
    model: "GrammarTreeClassifier",
    panel: Panel,
    y: Any,
    *,
    number: int = 5,
    groups: Any = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    client: Any = None,
    max_memory: str | float | None = None,
) -> Judgement:
    """Cross-validate a fitted model on the records it learned from, and the baselines in the same folds.

    Clones are fitted like the model. If the model has its own cross-validation, `validation_`, with the same `groups`,
    that is used. `number`, `groups` and `seed` are those of `stratified_folds`, the rest those of `cross_validate`.
    """
    labels = check_labels(y, panel)
    classes, codes = np.unique(labels, return_inverse=True)
    own, chosen = _own_validation(model, panel, groups)
    if own is None:
        chosen = stratified_folds(codes, groups, number, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # they were given about all records
            own = cross_validate(model, panel, labels, chosen, progress, client=client, max_memory=max_memory)
    weights = record_weights(labels, None, model.class_weight)
    # of all records: class shares of a fold are biased away from its held-out records, and would rank below chance
    prior = commonest_class(panel, codes, len(classes), panel)
    leaves = _leaves(model)
    trees = trees_out_of_fold(panel, codes, len(classes), chosen, sizes_beside(leaves), weights=weights)
    probabilities = {MODEL: own, COMMONEST: prior, **trees}
    cards = {name: Scorecard.of(labels, shares, classes.tolist()) for name, shares in probabilities.items()}
    return Judgement(cards, len(chosen), leaves=leaves)


def _leaves(model: Any) -> int:
    """Return the number of leaves of a fitted tree, or of the largest tree of a forest."""
    trees = getattr(model, "trees_", None)
    return max(len(tree.leaves) for tree in trees) if trees else len(model._fitted().leaves)


def judge_on(model: "GrammarTreeClassifier", panel: Panel, y: Any, train: tuple[Panel, Any] | None = None) -> Judgement:
    """Judge a fitted model on other records, beside the commonest class of training.

    With `train`, the panel and labels that the model learned from, decision trees on summaries learn from them too.
    """
    labels = check_labels(y, panel)
    known = model.classes_.tolist()
    codes, every = coded(labels, known)
    _check_known(codes, known, every)
    probabilities = {MODEL: model.predict_proba(panel), COMMONEST: _prior(model, panel)}
    if train is not None:
        probabilities |= _summary_trees(model, *train, panel)
    cards = {name: Scorecard.of(labels, shares, known) for name, shares in probabilities.items()}
    own = model.training_
    seen = set(own.schema) <= set(panel.schema) and own.fingerprint == _print_of(model, panel, codes)
    return Judgement(cards, seen=seen, leaves=_leaves(model))


def _own_validation(model: Any, panel: Panel, groups: Any) -> tuple[NDArray[np.float64] | None, Sequence[Fold]]:
    """Return the model's own cross-validation and its folds, if records and groups are the same."""
    own = getattr(model, "validation_", None)
    if own is None or len(own.probabilities) != len(panel):
        return None, ()
    apart = groups is None or not any(np.isin(np.asarray(groups)[a], np.asarray(groups)[b]).any() for a, b in own.folds)
    return (np.asarray(own.probabilities), own.folds) if apart else (None, ())


def _check_known(codes: NDArray[np.int64], known: list[Any], every: Sequence[Any]) -> None:
    """Raise DataError if the model knows none of the labels; warn if it does not know some, which count as mistakes."""
    strange = codes >= len(known)
    if not strange.any():
        return
    found = f"{listed(every[len(known) :], 3)}; its classes are {listed(known, 5)}"
    if strange.all():
        raise DataError(f"none of the labels is a class of the model: {found}")
    number = int(strange.sum())
    warn(f"{counted(number, 'record has a label', 'records have labels')} that the model does not know: {found}")


def _prior(model: "GrammarTreeClassifier", panel: Panel) -> NDArray[np.float64]:
    """Return the probabilities of the commonest-class baseline, from the training records in the model's leaves."""
    counts = model.class_counts_
    trained = np.repeat(np.arange(len(counts)), counts)
    return commonest_class(panel, trained, len(counts), panel)


def _summary_trees(model: "GrammarTreeClassifier", train: Panel, y: Any, test: Panel) -> dict[str, NDArray[np.float64]]:
    labels, known = check_labels(y, train), model.classes_.tolist()
    codes, every = coded(labels, known)
    if len(every) > len(known):
        raise DataError(
            f"the training records have labels that the model does not know: {listed(every[len(known) :], 3)}; give "
            "those that it learnt from"
        )
    weights = record_weights(labels, None, model.class_weight)
    sizes = sizes_beside(_leaves(model))
    return summary_trees(train, codes, len(known), test, sizes, weights=weights)


def _print_of(model: "GrammarTreeClassifier", panel: Panel, codes: NDArray[np.int64]) -> str:
    own = model.training_.schema
    same = all(panel.schema[name].type is column.type for name, column in own.items())
    return fingerprint(panel.select(own), ClassLabels(codes, ClassTarget.of(model.classes_))) if same else ""


# ---- Cross-validation: predictions for records that a classifier has not learned from.


def cross_validate(
    classifier: Any,
    panel: Panel,
    y: Any,
    folds: Sequence[Fold],
    progress: Callable[[int, int], None] | None = None,
    *,
    client: Any = None,
    max_memory: str | float | None = None,
) -> NDArray[np.float64]:
    """Return the probability of each class for each record, by a clone that learned without the record.

    Records × classes, the classes in order; a class that the clone has not seen has probability 0. `progress` is called
    with the number of a fold, from 1, and the number of folds, before each. Ctrl-C is a KeyboardInterrupt: half a tree
    says nothing about a whole one. With a Dask `client` the folds are tasks for its workers, and `progress` is called
    when one of them is done. `max_memory` is that of `fit`.
    """
    labels = check_labels(y, panel)
    classes = np.unique(labels)
    found = np.zeros((len(panel), len(classes)))
    report = progress or (lambda _number, _all: None)
    limits = {} if max_memory is None else {"max_memory": max_memory}
    tasks = [(classifier, fold, limits) for fold in folds]
    for place, (known, predicted) in _each_fold(tasks, (panel, labels), report, client):
        found[np.ix_(folds[place][1], np.searchsorted(classes, known))] = predicted
    return found


class _FoldPredictions(NamedTuple):
    """The classes that the model of a fold knows, and their probabilities for each record that was held out."""

    classes: NDArray[Any]
    probabilities: NDArray[np.float64]


_Task = tuple[Any, Fold, dict[str, Any]]
_Records = tuple[Panel, NDArray[Any]]


def _each_fold(
    tasks: Sequence[_Task], records: _Records, report: Callable[[int, int], None], client: Any
) -> Iterator[tuple[int, _FoldPredictions]]:
    """Yield the number of each fold, from 0, and its predictions, in the order in which they are done."""
    if client is None:
        for number, task in enumerate(tasks):
            report(number + 1, len(tasks))
            yield number, _of_fold(task, records)
        return
    for done, found in enumerate(Cluster(client).finished(_of_fold, tasks, records), 1):
        report(done, len(tasks))
        yield found


def _of_fold(task: _Task, records: _Records) -> _FoldPredictions:
    classifier, (train, test), limits = task
    panel, labels = records
    model = clone(classifier).fit(panel[train], labels[train], **limits)
    if getattr(model, "interrupted_", False):
        raise KeyboardInterrupt
    return _FoldPredictions(model.classes_, model.predict_proba(panel[test]))
