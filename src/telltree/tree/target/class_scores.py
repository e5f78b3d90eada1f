"""How well the classes that are predicted agree with labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from telltree.amounts import percent
from telltree.shares import wilson
from telltree.tree.target.target import Ints, Tile

MOST_IN_MATRIX = 12  # classes; a larger matrix is hard to read, and the commonest mistakes say it better
MOST_MISTAKES = 10


@dataclass(frozen=True)
class ClassScore:
    """How well one class is told from the others; None where there is nothing to divide by."""

    name: Any
    records: int
    predicted: int
    precision: float | None
    recall: float | None


@dataclass(frozen=True)
class ClassScores:
    """Agreement of predictions with labels."""

    records: int
    right: int
    low: float
    high: float
    """The 95 % interval of the accuracy (Wilson)."""
    balanced: float
    """The mean recall of the classes that occur."""
    macro_f1: float
    """The mean F1 of the classes that occur."""
    commonest: Any
    baseline: float
    """The accuracy of always answering with the commonest class."""
    classes: tuple[ClassScore, ...]
    matrix: tuple[tuple[int, ...], ...] | None
    """Labels down, predictions across; None for too many classes."""
    mistakes: tuple[tuple[Any, Any, int], ...]
    """The commonest: label, prediction, how often."""

    @property
    def accuracy(self) -> float:
        """The share of records whose prediction is their label."""
        return self.right / self.records

    @property
    def rows(self) -> dict[str, str]:
        """All scores by name."""
        return {
            "Records": f"{self.records:,}",
            "Accuracy": percent(self.accuracy),
            "95 % interval": f"{percent(self.low).replace(' %', '')} – {percent(self.high)}",
            "Balanced accuracy (mean recall of the classes)": percent(self.balanced),
            "Mean F1 of the classes": f"{self.macro_f1:.3f}",
            "Always the commonest class": percent(self.baseline),
        }

    def tile(self, *, main: bool, weighted: bool) -> Tile:
        """The accuracy, or where records had weights, what it is if all classes weigh the same."""
        if weighted:
            note = "the mean recall of the classes, which weigh alike"
            return Tile("Balanced accuracy", percent(self.balanced), note)
        interval = f"95 % interval {percent(self.low)} to {percent(self.high)}"
        note = interval if main else f"{self.right:,} of {self.records:,} right"
        return Tile("Accuracy", percent(self.accuracy), note)


def scores_of(labels: Ints, predicted: Ints, names: Sequence[Any]) -> ClassScores:
    """Compare two lists of places in `names`."""
    size = len(names)
    matrix = np.bincount(labels * size + predicted, minlength=size * size).reshape(size, size)
    hits, actual, answered = np.diag(matrix), matrix.sum(axis=1), matrix.sum(axis=0)
    occurs = actual > 0
    right, records = int(hits.sum()), len(labels)
    low, high = wilson(right / records, records)
    f1 = 2 * hits / np.maximum(actual + answered, 1)
    return ClassScores(
        records=records,
        right=right,
        low=low,
        high=high,
        balanced=float(np.mean(hits[occurs] / actual[occurs])),
        macro_f1=float(np.mean(f1[occurs])),
        commonest=names[int(np.argmax(actual))],
        baseline=float(actual.max() / records),
        classes=tuple(
            ClassScore(name, n, m, _share(hit, m), _share(hit, n))
            for name, hit, n, m in zip(names, hits.tolist(), actual.tolist(), answered.tolist(), strict=True)
        ),
        matrix=tuple(map(tuple, matrix.tolist())) if size <= MOST_IN_MATRIX else None,
        mistakes=_mistakes(matrix, names),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _mistakes(matrix: Ints, names: Sequence[Any]) -> tuple[tuple[Any, Any, int], ...]:
    wrong = matrix.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_MISTAKES]
    places = (divmod(int(place), len(names)) for place in order)
    return tuple((names[i], names[j], int(wrong[i, j])) for i, j in places if wrong[i, j])
