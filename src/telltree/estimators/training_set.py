"""What a classifier is given to learn from: records, classes and weights, read once for trees and forests alike."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.data.labels import told_singles
from telltree.data.warn import warn
from telltree.estimators.inputs import read_labels, read_training
from telltree.estimators.long_table import refuse_long
from telltree.estimators.weights import fixed_point, record_weights
from telltree.tree.target import ClassLabels, ClassTarget


class TrainingSet(NamedTuple):
    """Records to learn from, and the class of each."""

    panel: Panel
    labels: ClassLabels

    def part(self, members: NDArray[np.int64]) -> "TrainingSet":
        """Some of the records."""
        return TrainingSet(self.panel[members], self.labels[members])


class Given(NamedTuple):
    """The records that weigh something, and what is known of all."""

    training: TrainingSet
    classes: NDArray[Any]
    """Of all records, in order."""
    weighing: NDArray[np.int64]
    """The places of the training records among all that were given."""
    records: int
    """How many were given."""

    def of_weighing(self, values: Any) -> Any:
        """Of values that there are for each record given, such as groups, those of the training records."""
        return values if values is None or len(self.weighing) == self.records else np.asarray(values)[self.weighing]


def read_given(X: Any, y: Any, sample_weight: Any, class_weight: Any) -> Given:
    """Records of weight 0 are left out, but their classes stay."""
    panel = read_training(X)
    labels = read_labels(y, panel, X)
    if not isinstance(X, Panel):
        refuse_long(X, panel, labels)
    classes, codes = np.unique(labels, return_inverse=True)
    singles = told_singles(np.bincount(codes).tolist())
    if singles is not None:
        warn(singles)
    weights = record_weights(labels, sample_weight, class_weight)
    records, weighing = len(panel), np.arange(len(panel))
    if weights is not None and not weights.all():
        weighing = np.flatnonzero(weights)
        panel, codes, weights = panel[weighing], codes[weighing], weights[weighing]
    coded = ClassLabels(codes.astype(np.int64), ClassTarget.of(classes), fixed_point(weights))
    return Given(TrainingSet(panel, coded), classes, weighing, records)
