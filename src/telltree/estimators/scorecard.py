"""Scorecards: the quality of predicted probabilities, with an interval for each score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from telltree.errors import DataError, SettingsError
from telltree.proportions import wilson
from telltree.text import clip, counted, percent

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RESAMPLES, SEED = 1_000, 0
_MOST_CLASSES = 10  # a larger confusion matrix would fill the screen; the most common mistakes are listed instead
_NAME = 20  # characters of a class in a table


class Figure(NamedTuple):
    """The name of a score, its meaning, and `percent`: True if it is in percent."""

    name: str
    percent: bool
    meaning: str


FIGURES: Mapping[str, Figure] = {
    "accuracy": Figure("accuracy", True, "share of records whose class was told"),
    "balanced_accuracy": Figure("balanced accuracy", True, "the same in each class, averaged over classes"),
    "macro_f1": Figure("macro F1", False, "misses and false alarms of each class, averaged over classes; best 1"),
    "auc": Figure("AUC", False, "how often a record of a class ranks above one of another; chance 0.5, best 1"),
    "calibration_error": Figure("calibration error", True, "by how much probabilities miss what comes true; best 0"),
    "brier": Figure("Brier score", False, "squared error of the probabilities; best 0, worst 1"),
}


@dataclass(frozen=True)
class Score:
    """A score with its 95 % confidence interval."""

    value: float
    low: float
    high: float
    interval: Literal["Wilson", "bootstrap"]

    def text(self, *, in_percent: bool) -> str:
        """Return text for reading: `94.1 % (92.8–95.3)`, or `0.911 (0.880–0.940)`; three of them fit side by side."""
        if in_percent:
            return f"{percent(self.value)} ({100 * self.low:.1f}–{100 * self.high:.1f})"
        return f"{self.value:.3f} ({self.low:.3f}–{self.high:.3f})"


@dataclass(frozen=True)
class Scorecard:
    """The scores of predicted probabilities; `print(card)` is a table, `card.as_dict()` is for JSON.

    records: the number of records that were judged.
    accuracy: the share of records whose class was predicted: the most probable class, the first of equals.
    balanced_accuracy: the share of the records of a class that were predicted (recall), averaged over the classes that
        occur. Always predicting the most common class gives one over the number of classes.
    macro_f1: 2 · hits / (2 · hits + misses + false alarms) of a class, averaged over classes that occur or are
        predicted.
    auc: the frequency with which a record of a class gets a higher probability of it than a record of another class,
        ties counting half; averaged over the classes. Two classes have the same. None if a class does not occur.
    calibration_error: the expected calibration error. Records are put into ten bins by the probability of the
        predicted class; it is the mean distance of that probability from the share of the bin that was right. A model
        that says 90 % and is right nine times in ten has 0. Class weights make probabilities refer to weight instead
        of records, which shows here.
    brier: the Brier score, half the squared distance of the probabilities from the truth (1 for the class, 0 for all
        others), averaged over records. It is good only if classes are told apart and probabilities are right.
    classes, confusion: the number of records of each class (rows) predicted as each (columns), whatever their weight.
    weighted: True if records had weights; all scores are by weight then.

    Intervals are of 95 %, and assume that records are independent. That of accuracy is Wilson's; those of the others,
    and all of them if records have weights, are from a bootstrap: 1,000 samples of as many records, drawn with
    replacement from a fixed seed, shifted so that their mean is the score. If all samples agree because the score is
    perfect or zero, a bootstrap is of no use; then it is Wilson's, for a share of the records of the rarest class.
    """

    records: int
    accuracy: Score
    balanced_accuracy: Score
    macro_f1: Score
    auc: Score | None
    calibration_error: Score
    brier: Score
    classes: tuple[Any, ...]
    confusion: tuple[tuple[int, ...], ...]
    weighted: bool = False

    @classmethod
    def of(cls, y_true: Any, probabilities: Any, classes: Sequence[Any], sample_weight: Any = None) -> "Scorecard":
        """Judge probabilities (records × classes) by the true labels.

        A label that is none of the classes is a class of its own, with probability 0.
        """
        codes, known = coded(y_true, classes)
        checked = _checked(probabilities, len(codes), len(classes))
        checked = np.hstack([checked, np.zeros((len(codes), len(known) - len(classes)))])
        weights = _weights(sample_weight, len(codes))
        kinds = Kinds.of(codes, checked, weights)
        weighted = bool((weights != weights[0]).any())
        confusion = kinds.confusion(kinds.records[None])[0].astype(np.int64)
        scores = _scores(kinds, confusion, weighted)
        if len(known) < 2 or not confusion.sum(axis=1).all():
            scores["auc"] = None
        rows = tuple(map(tuple, confusion.tolist()))
        return cls(records=len(codes), classes=known, confusion=rows, weighted=weighted, **scores)  # type: ignore[arg-type]

    def score(self, name: str) -> Score | None:
        """Return the score of this name, one of FIGURES."""
        found: Score | None = getattr(self, name)
        return found

    def text_of(self, name: str) -> str:
        """Return a score as text; a dash if there is none."""
        score = self.score(name)
        return "–" if score is None else score.text(in_percent=FIGURES[name].percent)

    def as_dict(self) -> dict[str, Any]:
        """Return everything in types that JSON has, except classes that are neither text, number nor Boolean."""
        scores = {name: None if (score := self.score(name)) is None else vars(score).copy() for name in FIGURES}
        confusion = [list(row) for row in self.confusion]
        found = {"records": self.records, **scores, "classes": list(self.classes), "confusion": confusion}
        return found | {"weighted": self.weighted}

    def __str__(self) -> str:
        rows = [(figure.name, self.text_of(name), figure.meaning) for name, figure in FIGURES.items()]
        return "\n".join([counted(self.records, "record"), *_aligned(rows), self.note, "", self.mistakes()])

    @property
    def note(self) -> str:
        """A note on the intervals."""
        if self.weighted:
            return f"by weight; 95 % intervals, of {RESAMPLES:,} bootstrap draws"
        return f"95 % intervals: Wilson's for accuracy, of {RESAMPLES:,} bootstrap draws for the others"

    def mistakes(self) -> str:
        """Return the confusion matrix as a table; if there are many classes, the most common mistakes."""
        names = [clip(" ".join(str(label).split()), _NAME) for label in self.classes]
        if len(names) <= _MOST_CLASSES:
            rows = [(name, *map(str, row)) for name, row in zip(names, self.confusion, strict=True)]
            return "\n".join(_aligned([("true \\ predicted", *names), *rows], numbers=True))
        cells = np.array(self.confusion)
        np.fill_diagonal(cells, 0)
        worst = np.argsort(-cells, axis=None, kind="stable")[:_MOST_CLASSES]
        places = [(int(place) // len(names), int(place) % len(names)) for place in worst]
        found = [(f"{names[i]} taken for {names[j]}", str(cells[i, j])) for i, j in places if cells[i, j]]
        return "\n".join(["commonest mistakes:", *_aligned(found, numbers=True)]) if found else "no mistakes"


def side_by_side(cards: Mapping[str, Scorecard]) -> str:
    """Return the scores of several models on the same records as one table, one column per model."""
    rows = [(figure.name, *(card.text_of(name) for card in cards.values())) for name, figure in FIGURES.items()]
    return "\n".join(_aligned([("", *cards), *rows]))


def coded(labels: Any, classes: Sequence[Any]) -> tuple[Ints, tuple[Any, ...]]:
    """Return the index of each label among the classes; and the classes, with unknown labels appended."""
    given, known = np.asarray(labels, object).tolist(), np.asarray(classes, object).tolist()
    places = {label: place for place, label in enumerate(known)}
    for label in given:
        if label not in places:
            places[label] = len(known)
            known.append(label)
    return np.array([places[label] for label in given], np.int64), tuple(known)


def _checked(probabilities: Any, records: int, classes: int) -> Floats:
    try:
        found = np.asarray(probabilities, np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"probabilities must be numbers: {error}") from error
    if not records:
        raise DataError("there are no records to judge by")
    if found.shape != (records, classes):
        raise DataError(f"probabilities must be records × classes, {records} × {classes}, got shape {found.shape}")
    if not (np.isfinite(found).all() and (found >= 0).all() and np.allclose(found.sum(axis=1), 1, atol=1e-6)):
        raise DataError("probabilities must be at least 0, and add up to 1 for each record")
    return found


def _weights(sample_weight: Any, records: int) -> Floats:
    if sample_weight is None:
        return np.ones(records)
    try:
        found = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError) as error:
        raise SettingsError(f"sample_weight must hold numbers: {error}") from error
    if found.shape != (records,) or not np.isfinite(found).all() or (found < 0).any() or not found.any():
        raise SettingsError(
            f"sample_weight must hold one finite number of at least 0 for each of the {counted(records, 'record')}, "
            "not all of them zero"
        )
    return found


def _aligned(rows: Sequence[Sequence[str]], *, numbers: bool = False) -> list[str]:
    """Return lines with columns of minimal width; with `numbers`, all but the first are right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    pads = [str.ljust, *[str.rjust if numbers else str.ljust] * (len(widths) - 1)]
    return [
        "  ".join(pad(cell, width) for pad, cell, width in zip(pads, row, widths, strict=True)).rstrip() for row in rows
    ]


# ---- Measures of predicted probabilities, for groups of equal records and many samples at once, so that a thousand
# resamples are fast.

T = TypeVar("T")

BANDS = 10
"""The number of bins of equal width for the probability of the predicted class, for the calibration error."""

AT_ONCE = 1 << 14
"""The most probabilities of samples that are measured together; more would not fit in the cache."""


class Measures(NamedTuple, Generic[T]):
    """The measures of one sample or of many; NaN if undefined. `Scorecard` defines each."""

    accuracy: T
    balanced_accuracy: T
    macro_f1: T
    auc: T
    calibration_error: T
    brier: T


@dataclass(frozen=True)
class Kinds:
    """Records by kind: those of one kind have the same class, the same weight and the same probabilities.

    No measure can tell such records apart, and a tree's leaves make few kinds, so bootstraps are fast.
    """

    truth: Ints
    """The class of each kind."""
    weight: Floats
    """The weight of a record of each kind."""
    probabilities: Floats
    """The probability of each class: kinds × classes."""
    records: Ints
    """The number of records of each kind."""

    @classmethod
    def of(cls, codes: Ints, probabilities: Floats, weights: Floats) -> "Kinds":
        """Return the kinds among records of these classes, probabilities and weights."""
        rows = np.column_stack([codes, weights, probabilities])
        kinds, records = np.unique(rows, axis=0, return_counts=True)
        return cls(kinds[:, 0].astype(np.int64), kinds[:, 1], np.ascontiguousarray(kinds[:, 2:]), records)

    @cached_property
    def predicted(self) -> Ints:
        """The most probable class of each kind, the first of equals."""
        likeliest: Ints = self.probabilities.argmax(axis=1)
        return likeliest

    def confusion(self, amounts: NDArray[np.generic]) -> Floats:
        """Return the weight of each class predicted as each: samples × true × predicted."""
        classes = self.probabilities.shape[1]
        return _binned(self.truth * classes + self.predicted, amounts, classes**2).reshape(-1, classes, classes)

    @property
    def measures(self) -> Measures[float]:
        """The measures for these records."""
        return Measures(*self._measured(self.records[None])[0].tolist())

    def _measured(self, records: Ints) -> Floats:
        """Return the measures of samples with this many records of each kind: samples × measures."""
        amounts = records * self.weight
        total = amounts.sum(axis=1)
        confusion = self.confusion(amounts)
        right, true, predicted = confusion.diagonal(axis1=1, axis2=2), confusion.sum(axis=2), confusion.sum(axis=1)
        measures = Measures(
            accuracy=right.sum(axis=1) / total,
            balanced_accuracy=_mean_ratio(right, true),
            macro_f1=_mean_ratio(2 * right, true + predicted),
            auc=self._auc(amounts),
            calibration_error=np.abs(_binned(self._band, amounts * self._surplus, BANDS)).sum(axis=1) / total,
            brier=amounts @ self._squares / total,
        )
        return np.column_stack(measures)

    def resampled(self, times: int, seed: int) -> Floats:
        """Return the measures of bootstrap samples as large as the original: samples × measures."""
        generator, number = np.random.default_rng(seed), int(self.records.sum())
        at_once, found = max(1, AT_ONCE // self.probabilities.size), []
        for begun in range(0, times, at_once):
            drawn = generator.multinomial(number, self.records / number, min(at_once, times - begun))
            found.append(self._measured(drawn[(drawn * self.weight).any(axis=1)]))
        return np.concatenate(found)

    @cached_property
    def _surplus(self) -> Floats:
        """The predicted probability of the predicted class, minus 1 if the prediction was right."""
        surplus: Floats = self.probabilities.max(axis=1) - (self.predicted == self.truth)
        return surplus

    @cached_property
    def _band(self) -> Ints:
        band: Ints = np.minimum((self.probabilities.max(axis=1) * BANDS).astype(np.int64), BANDS - 1)
        return band

    @cached_property
    def _own(self) -> NDArray[np.bool_]:
        """True where a kind is of a class: kinds × classes."""
        own: NDArray[np.bool_] = self.truth[:, None] == np.arange(self.probabilities.shape[1])
        return own

    @cached_property
    def _squares(self) -> Floats:
        squares: Floats = ((self.probabilities - self._own) ** 2).sum(axis=1) / 2
        return squares

    @cached_property
    def _ranks(self) -> tuple[Ints, Ints]:
        """The rank of each kind among the distinct probabilities of each class, class by class; and the first rank of
        each class.
        """
        ranks = [np.unique(column, return_inverse=True)[1] for column in self.probabilities.T]
        sizes = [int(rank.max()) + 1 for rank in ranks]
        begins = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        return np.concatenate([rank + begin for rank, begin in zip(ranks, begins, strict=True)]), begins

    def _auc(self, amounts: Floats) -> Floats:
        """Return the mean area under the curve, over the classes that some records have and others do not."""
        ranks, begins = self._ranks
        own = np.where(self._own.T, amounts[:, None], 0.0)
        others = amounts[:, None] - own
        inside, outside = (_binned(ranks, side.reshape(len(side), -1), ranks.max() + 1) for side in (own, others))
        below = np.cumsum(outside, axis=1) - outside
        below -= np.repeat(below[:, begins], np.diff(np.append(begins, below.shape[1])), axis=1)
        ahead = np.add.reduceat(inside * (below + outside / 2), begins, axis=1)
        return _mean_ratio(ahead, own.sum(axis=2) * others.sum(axis=2))


def _binned(bins: Ints, amounts: NDArray[np.generic], number: int) -> Floats:
    """Return the sums of each sample's amounts in each of so many bins: samples × bins."""
    places = np.arange(len(amounts))[:, None] * number + bins
    sums = np.bincount(places.ravel(), amounts.ravel(), len(amounts) * number)
    return sums.astype(np.float64, copy=False).reshape(len(amounts), number)


def _mean_ratio(parts: Floats, wholes: Floats) -> Floats:
    """Return the mean of each sample's ratios with a positive denominator; NaN if there is none."""
    some = wholes > 0
    ratios = np.divide(parts, wholes, out=np.zeros_like(wholes), where=some).sum(axis=1)
    mean: Floats = np.divide(ratios, some.sum(axis=1), out=np.full(len(some), np.nan), where=some.any(axis=1))
    return mean


def _scores(kinds: Kinds, confusion: Ints, weighted: bool) -> dict[str, Score | None]:
    values, draws = kinds.measures, kinds.resampled(RESAMPLES, SEED)
    there = confusion.sum(axis=1)
    records, rarest = int(there.sum()), int(there[there > 0].min())
    found: dict[str, Score | None] = {
        name: _score(value, draws[:, place], rarest)
        for place, (name, value) in enumerate(zip(Measures._fields, values, strict=True))
    }
    if not weighted:
        found["accuracy"] = Score(values.accuracy, *wilson(values.accuracy, records), "Wilson")
    return found


def _score(value: float, draws: Floats, rarest: int) -> Score:
    drawn = draws[np.isfinite(draws)]
    if not len(drawn) or (value in (0, 1) and (drawn == value).all()):
        return Score(value, *wilson(value, rarest), "Wilson")
    low, high = np.clip(np.percentile(drawn, [2.5, 97.5]) - drawn.mean() + value, 0, 1)
    return Score(value, min(float(low), value), max(float(high), value), "bootstrap")
