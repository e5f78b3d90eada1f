"""Measures of predicted probabilities. They work on groups of equal records, and on many samples at once, so that a
thousand resamples are fast."""

from dataclasses import dataclass
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
T = TypeVar("T")

BANDS = 10
"""The number of bins of equal width for the probability of the predicted class, for the calibration error."""

AT_ONCE = 1 << 14
"""How many probabilities to look at for samples that are measured at once; more would not stay in the cache."""


class Measures(NamedTuple, Generic[T]):
    """The measures, of one sample or of many; NaN if undefined. See `Scorecard` for what each means."""

    accuracy: T
    balanced_accuracy: T
    macro_f1: T
    auc: T
    calibration_error: T
    brier: T


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
        """The weight of each class predicted as each: samples × true × predicted."""
        classes = self.chances.shape[1]
        return _binned(self.truth * classes + self.predicted, amounts, classes**2).reshape(-1, classes, classes)

    @property
    def measures(self) -> Measures[float]:
        """The measures for these records."""
        return Measures(*self._measured(self.records[None])[0].tolist())

    def _measured(self, records: Ints) -> Floats:
        """The measures of samples with this many records of each kind: samples × measures."""
        amounts = records * self.weight
        total = amounts.sum(axis=1)
        confusion = self.confusion(amounts)
        right, true, told = confusion.diagonal(axis1=1, axis2=2), confusion.sum(axis=2), confusion.sum(axis=1)
        measures = Measures(
            accuracy=right.sum(axis=1) / total,
            balanced_accuracy=_mean_ratio(right, true),
            macro_f1=_mean_ratio(2 * right, true + told),
            auc=self._auc(amounts),
            calibration_error=np.abs(_binned(self._band, amounts * self._surplus, BANDS)).sum(axis=1) / total,
            brier=amounts @ self._squares / total,
        )
        return np.column_stack(measures)

    def resampled(self, times: int, seed: int) -> Floats:
        """The measures of bootstrap samples, drawn with replacement, as large as the original: samples × measures."""
        generator, number = np.random.default_rng(seed), int(self.records.sum())
        at_once, found = max(1, AT_ONCE // self.chances.size), []
        for begun in range(0, times, at_once):
            drawn = generator.multinomial(number, self.records / number, min(at_once, times - begun))
            found.append(self._measured(drawn[(drawn * self.weight).any(axis=1)]))
        return np.concatenate(found)

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

    def _auc(self, amounts: Floats) -> Floats:
        """The mean area under the curve, over the classes that some records have and others do not."""
        ranks, begins = self._ranks
        own = np.where(self._own.T, amounts[:, None], 0.0)
        others = amounts[:, None] - own
        inside, outside = (_binned(ranks, side.reshape(len(side), -1), ranks.max() + 1) for side in (own, others))
        below = np.cumsum(outside, axis=1) - outside
        below -= np.repeat(below[:, begins], np.diff(np.append(begins, below.shape[1])), axis=1)
        ahead = np.add.reduceat(inside * (below + outside / 2), begins, axis=1)
        return _mean_ratio(ahead, own.sum(axis=2) * others.sum(axis=2))


def _binned(bins: Ints, amounts: NDArray[np.generic], number: int) -> Floats:
    """The sums of each sample's amounts in each of so many bins: samples × bins."""
    places = np.arange(len(amounts))[:, None] * number + bins
    sums = np.bincount(places.ravel(), amounts.ravel(), len(amounts) * number)
    return sums.astype(np.float64, copy=False).reshape(len(amounts), number)


def _mean_ratio(parts: Floats, wholes: Floats) -> Floats:
    """The mean of a sample's ratios, where the whole is more than nothing; NaN if it never is."""
    some = wholes > 0
    ratios = np.divide(parts, wholes, out=np.zeros_like(wholes), where=some).sum(axis=1)
    mean: Floats = np.divide(ratios, some.sum(axis=1), out=np.full(len(some), np.nan), where=some.any(axis=1))
    return mean
