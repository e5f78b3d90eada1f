"""Cross-validation: what a classifier predicts for records that it has not learnt from."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from telltree.data import Panel, check_labels
from telltree.estimators.folds import Fold
from telltree.tree.cluster import Cluster


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
    """The probability of each class for each record, by a clone that learnt from the training records of its fold.

    Records × classes, the classes in order; a class that the clone has not met has probability 0. `progress` is called
    with the number of a fold, from 1, and how many there are, before each. Ctrl-C is a KeyboardInterrupt: half a tree
    says nothing about a whole one. With a Dask `client` the folds are tasks for its workers, and `progress` is called
    when one of them is done. `max_memory` is that of `fit`.
    """
    labels = check_labels(y, panel)
    classes = np.unique(labels)
    found = np.zeros((len(panel), len(classes)))
    tell = progress or (lambda _number, _all: None)
    limits = {} if max_memory is None else {"max_memory": max_memory}
    tasks = [(classifier, fold, limits) for fold in folds]
    for place, (known, chances) in _each_fold(tasks, (panel, labels), tell, client):
        found[np.ix_(folds[place][1], np.searchsorted(classes, known))] = chances
    return found


class _Chances(NamedTuple):
    """The classes that the model of a fold knows, and their probabilities for each record that was held out."""

    classes: NDArray[Any]
    chances: NDArray[np.float64]


_Task = tuple[Any, Fold, dict[str, Any]]
_Records = tuple[Panel, NDArray[Any]]


def _each_fold(
    tasks: Sequence[_Task], records: _Records, tell: Callable[[int, int], None], client: Any
) -> Iterator[tuple[int, _Chances]]:
    """The number of each fold, from 0, and what came of it, in the order in which they are done."""
    if client is None:
        for number, task in enumerate(tasks):
            tell(number + 1, len(tasks))
            yield number, _of_fold(task, records)
        return
    for done, found in enumerate(Cluster(client).finished(_of_fold, tasks, records), 1):
        tell(done, len(tasks))
        yield found


def _of_fold(task: _Task, records: _Records) -> _Chances:
    classifier, (train, test), limits = task
    panel, labels = records
    model = clone(classifier).fit(panel[train], labels[train], **limits)
    if getattr(model, "interrupted_", False):
        raise KeyboardInterrupt
    return _Chances(model.classes_, model.predict_proba(panel[test]))
