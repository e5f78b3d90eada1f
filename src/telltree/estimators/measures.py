"""Measures of predicted probabilities. They work on groups of equal records, so that a thousand resamples are fast."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BANDS = 10
"""The number of bins of equal width for the probability of the predicted class, for the calibration error."""


class Measures(NamedTuple):
    """The measures; NaN if undefined. See `Scorecard` for what each means."""

    accuracy: float
    balanced_accuracy: float
    macro_f1: float
    auc: float
    calibration_error: float
    brier: float


@dataclass(frozen=True)
class Kinds:
    """Records by kind: those of one kind have the same class, the same weight and the same probabilities.

    No measure can tell such records apart, and a tree's leaves make few kinds.
    """

    truth: Ints
    """The class of each kind."""
    weight: Floats
    """The weight of a record of each kind."""
    chances: Floats
    """The probability of each class: kinds × classes."""
    records: Ints
    """How many there are of each kind."""

    @classmethod
    def of(cls, codes: Ints, chances: Floats, weights: Floats) -> "Kinds":
        """The kinds among records of these classes, probabilities and weights."""
        rows = np.column_stack([codes, weights, chances])
        kinds, records = np.unique(rows, axis=0, return_counts=True)
        return cls(kinds[:, 0].astype(np.int64), kinds[:, 1], np.ascontiguousarray(kinds[:, 2:]), records)

    @cached_property
    def predicted(self) -> Ints:
        """The most probable class of each kind, the first of equals."""
        likeliest: Ints = self.chances.argmax(axis=1)
        return likeliest

    def confusion(self, amounts: NDArray[np.generic]) -> Floats:
        """The weight of each class predicted as each: true × predicted."""
        classes = self.chances.shape[1]
        cells = np.bincount(self.truth * classes + self.predicted, amounts, classes * classes)
        return cells.astype(np.float64).reshape(classes, classes)

    def measured(self, records: Ints) -> Measures:
        """The measures for this many records of each kind."""
        amounts = records * self.weight
        total = amounts.sum()
        confusion = self.confusion(amounts)
        right, true, told = np.diag(confusion), confusion.sum(axis=1), confusion.sum(axis=0)
        there, met = true > 0, true + told > 0
        return Measures(
            accuracy=float(right.sum() / total),
            balanced_accuracy=float(np.mean(right[there] / true[there])),
            macro_f1=float(np.mean(2 * right[met] / (true + told)[met])),
            auc=self._auc(amounts),
            calibration_error=float(np.abs(np.bincount(self._band, amounts * self._surplus)).sum() / total),
            brier=float(amounts @ self._squares / total),
        )

    def resampled(self, times: int, seed: int) -> Floats:
        """The measures of bootstrap samples, drawn with replacement, as large as the original: samples × measures."""
        generator, number = np.random.default_rng(seed), int(self.records.sum())
        shares = self.records / number
        draws = (generator.multinomial(number, shares) for _ in range(times))
        return np.array([self.measured(drawn) for drawn in draws if (drawn * self.weight).any()])

    @cached_property
    def _surplus(self) -> Floats:
        """The predicted probability of the predicted class, minus 1 if the prediction was right."""
        surplus: Floats = self.chances.max(axis=1) - (self.predicted == self.truth)
        return surplus

    @cached_property
    def _band(self) -> Ints:
        band: Ints = np.minimum((self.chances.max(axis=1) * BANDS).astype(np.int64), BANDS - 1)
        return band

    @cached_property
    def _own(self) -> NDArray[np.bool_]:
        """Whether each kind is of each class: kinds × classes."""
        own: NDArray[np.bool_] = self.truth[:, None] == np.arange(self.chances.shape[1])
        return own

    @cached_property
    def _squares(self) -> Floats:
        squares: Floats = ((self.chances - self._own) ** 2).sum(axis=1) / 2
        return squares

    @cached_property
    def _ranks(self) -> tuple[Ints, Ints]:
        """The ranks of all kinds among the distinct probabilities of each class, one class after another; and where the
        ranks of each class begin.
        """
        ranks = [np.unique(column, return_inverse=True)[1] for column in self.chances.T]
        sizes = [int(rank.max()) + 1 for rank in ranks]
        begins = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        return np.concatenate([rank + begin for rank, begin in zip(ranks, begins, strict=True)]), begins

    def _auc(self, amounts: Floats) -> float:
        """The mean area under the curve, over the classes that some records have and others do not."""
        ranks, begins = self._ranks
        own = np.where(self._own, amounts[:, None], 0.0).T
        inside, outside = np.bincount(ranks, own.ravel()), np.bincount(ranks, (amounts - own).ravel())
        below = np.cumsum(outside) - outside
        below -= np.repeat(below[begins], np.diff(np.append(begins, len(below))))
        ahead = np.add.reduceat(inside * (below + outside / 2), begins)
        pairs = own.sum(axis=1) * (amounts - own).sum(axis=1)
        some = pairs > 0
        return float(np.mean(ahead[some] / pairs[some])) if some.any() else float("nan")
