"""Scorecard: how good predicted probabilities are, each score with its interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from telltree.amounts import counted, percent
from telltree.data.clip import clip
from telltree.errors import DataError, SettingsError
from telltree.estimators.measures import Floats, Ints, Kinds, Measures
from telltree.shares import wilson

RESAMPLES, SEED = 1_000, 0
_MOST_CLASSES = 10  # a larger confusion matrix would fill the screen; the most common mistakes are listed instead
_NAME = 20  # characters of a class in a table


class Figure(NamedTuple):
    """The name of a score, whether it is in percent, and its meaning."""

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
        """For reading: `94.1 % (92.8–95.3)`, or `0.911 (0.880–0.940)`; three of them fit side by side."""
        if in_percent:
            return f"{percent(self.value)} ({100 * self.low:.1f}–{100 * self.high:.1f})"
        return f"{self.value:.3f} ({self.low:.3f}–{self.high:.3f})"


@dataclass(frozen=True)
class Scorecard:
    """How well probabilities tell the classes of records; `print(card)` is a table, `card.as_dict()` is for JSON.

    records: how many were judged.
    accuracy: the share of records whose class was predicted: the most probable class, the first of equals.
    balanced_accuracy: the share of the records of a class that were predicted (recall), averaged over the classes that
        occur. Always predicting the most common class gives one over the number of classes.
    macro_f1: 2 · hits / (2 · hits + misses + false alarms) of a class, averaged over classes that occur or are
        predicted.
    auc: how often a record of a class gets a higher probability of it than a record of another class, ties counting
        half; averaged over the classes. Two classes have the same. None if a class does not occur.
    calibration_error: the expected calibration error. Records are put into ten bins by the probability of the
        predicted class; it is how far that probability is, on average, from the share of the bin that was right. A
        model that says 90 % and is right nine times in ten has 0. Class weights make probabilities refer to weight
        instead of records, which shows here.
    brier: the Brier score, half the squared distance of the probabilities from the truth (1 for the class, 0 for all
        others), averaged over records. It is good only if classes are told apart and probabilities are right.
    classes, confusion: how many records of each class (rows) were predicted as each (columns), whatever their weight.
    weighted: whether records had weights; all scores are by weight then.

    Intervals are of 95 %, and assume that records are independent. That of accuracy is Wilson's; those of the others,
    and all of them if records have weights, are from a bootstrap: 1,000 samples of as many records, drawn with
    replacement from a fixed seed, shifted so that their mean is the score. If all samples agree because the score is
    perfect or zero, a bootstrap says nothing; then it is Wilson's, for a share of the records of the rarest class.
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
        chances = _checked(probabilities, len(codes), len(classes))
        chances = np.hstack([chances, np.zeros((len(codes), len(known) - len(classes)))])
        weights = _weights(sample_weight, len(codes))
        kinds = Kinds.of(codes, chances, weights)
        weighted = bool((weights != weights[0]).any())
        confusion = kinds.confusion(kinds.records[None])[0].astype(np.int64)
        scores = _scores(kinds, confusion, weighted)
        if len(known) < 2 or not confusion.sum(axis=1).all():
            scores["auc"] = None
        told = tuple(map(tuple, confusion.tolist()))
        return cls(records=len(codes), classes=known, confusion=told, weighted=weighted, **scores)  # type: ignore[arg-type]

    def score(self, name: str) -> Score | None:
        """The score of this name, which is one of FIGURES."""
        found: Score | None = getattr(self, name)
        return found

    def told(self, name: str) -> str:
        """A score as text; a dash if there is none."""
        score = self.score(name)
        return "–" if score is None else score.text(in_percent=FIGURES[name].percent)

    def as_dict(self) -> dict[str, Any]:
        """All of it in types that JSON has, except classes that are neither text, number nor Boolean."""
        scores = {name: None if (score := self.score(name)) is None else vars(score).copy() for name in FIGURES}
        confusion = [list(row) for row in self.confusion]
        found = {"records": self.records, **scores, "classes": list(self.classes), "confusion": confusion}
        return found | {"weighted": self.weighted}

    def __str__(self) -> str:
        rows = [(figure.name, self.told(name), figure.meaning) for name, figure in FIGURES.items()]
        return "\n".join([counted(self.records, "record"), *_aligned(rows), self.note, "", self.mistakes()])

    @property
    def note(self) -> str:
        """What the intervals are."""
        if self.weighted:
            return f"by weight; 95 % intervals, of {RESAMPLES:,} bootstrap draws"
        return f"95 % intervals: Wilson's for accuracy, of {RESAMPLES:,} bootstrap draws for the others"

    def mistakes(self) -> str:
        """The confusion matrix as a table; if there are many classes, the most common mistakes."""
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
    """The scores of several models on the same records as one table, one column per model."""
    rows = [(figure.name, *(card.told(name) for card in cards.values())) for name, figure in FIGURES.items()]
    return "\n".join(_aligned([("", *cards), *rows]))


def coded(labels: Any, classes: Sequence[Any]) -> tuple[Ints, tuple[Any, ...]]:
    """The index of each label among the classes; and the classes, with unknown labels appended."""
    given, known = np.asarray(labels, object).tolist(), np.asarray(classes, object).tolist()
    places = {label: place for place, label in enumerate(known)}
    for label in given:
        if label not in places:
            places[label] = len(known)
            known.append(label)
    return np.array([places[label] for label in given], np.int64), tuple(known)


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
    """Lines with columns of minimal width; with `numbers`, all but the first are right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    pads = [str.ljust, *[str.rjust if numbers else str.ljust] * (len(widths) - 1)]
    return [
        "  ".join(pad(cell, width) for pad, cell, width in zip(pads, row, widths, strict=True)).rstrip() for row in rows
    ]
