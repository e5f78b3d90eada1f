"""How well the tree's predictions agree with labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel, check_labels
from telltree.errors import DataError
from telltree.explain.shares import wilson
from telltree.report.page.subject import Subject, coded
from telltree.report.page.text import words
from telltree.tree.tree import Tree

Ints = NDArray[np.int64]
MOST_IN_MATRIX = 12  # classes; a larger matrix is hard to read, so the most common mistakes are listed instead
MOST_MISTAKES = 10


@dataclass(frozen=True)
class ClassScore:
    """How well one class is told from the others; None if the denominator is 0."""

    name: str
    records: int
    predicted: int
    precision: float | None
    recall: float | None


@dataclass(frozen=True)
class Scores:
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
    commonest: str
    baseline: float
    """The accuracy of always predicting the most common class."""
    classes: tuple[ClassScore, ...]
    matrix: tuple[tuple[int, ...], ...] | None
    """Labels in rows, predictions in columns; None if there are too many classes."""
    mistakes: tuple[tuple[str, str, int], ...]
    """The most common ones: label, prediction, how often."""

    @property
    def accuracy(self) -> float:
        """The share of records whose prediction is their label."""
        return self.right / self.records


def scores_of(subject: Subject) -> Scores | None:
    """The scores on the records of the report; None if they have no labels."""
    return None if subject.labels is None else scores(subject.labels, subject.predicted, subject.names)


def held_out_scores(tree: Tree, held_out: Any) -> Scores | None:
    """The scores on held-out records, given as (panel, labels)."""
    if held_out is None:
        return None
    if not (isinstance(held_out, tuple) and len(held_out) == 2 and isinstance(held_out[0], Panel)):
        raise DataError(f"held_out must be a pair (panel, labels), got {type(held_out).__name__}")
    panel, y = held_out
    if not len(panel):
        raise DataError("held_out has no records; leave it away if nothing was kept back")
    labels, strangers = coded(check_labels(y, panel).tolist(), tree.classes)
    return scores(labels, tree.predict(panel), tuple(words(name) for name in (*tree.classes, *strangers)))


def scores(labels: Ints, predicted: Ints, names: tuple[str, ...]) -> Scores:
    """Compare two lists of indices into `names`."""
    size = len(names)
    matrix = np.bincount(labels * size + predicted, minlength=size * size).reshape(size, size)
    hits, actual, answered = np.diag(matrix), matrix.sum(axis=1), matrix.sum(axis=0)
    occurs = actual > 0
    right, records = int(hits.sum()), len(labels)
    low, high = wilson(right / records, records)
    f1 = 2 * hits / np.maximum(actual + answered, 1)
    return Scores(
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


def _mistakes(matrix: NDArray[np.int64], names: tuple[str, ...]) -> tuple[tuple[str, str, int], ...]:
    wrong = matrix.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_MISTAKES]
    places = (divmod(int(place), len(names)) for place in order)
    return tuple((names[i], names[j], int(wrong[i, j])) for i, j in places if wrong[i, j])
