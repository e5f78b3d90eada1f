"""How good predictions are, and summaries of many trials."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Scores(NamedTuple):
    """Accuracy, and the macro averages: means over the classes, each of equal weight."""

    accuracy: float
    f1: float
    precision: float
    recall: float


def score(truth: NDArray[Any], predicted: NDArray[Any], classes: Sequence[Any]) -> Scores:
    """Compare predictions with the truth; a class that is never predicted has precision 0."""
    from sklearn.metrics import precision_recall_fscore_support

    precision, recall, f1, _ = precision_recall_fscore_support(
        truth, predicted, labels=list(classes), average="macro", zero_division=0
    )
    return Scores(float(np.mean(truth == predicted)), float(f1), float(precision), float(recall))


class Summary(NamedTuple):
    """The mean of a figure over trials, and its standard error, which is unknown for one trial."""

    mean: float
    error: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> "Summary":
        """Summarise at least one value."""
        error = float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else None
        return cls(float(np.mean(values)), error)
