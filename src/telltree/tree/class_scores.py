"""The agreement of predicted classes with labels: of all records, and of the records of one leaf."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from telltree.proportions import Share, wilson
from telltree.text import by_weight, counted, percent, times_all
from telltree.tree.target import Bar, Cell, Ints, Measure, Tile

MOST_IN_MATRIX = 12  # classes; a larger matrix is hard to read, so the commonest mistakes are listed
MOST_MISTAKES = 10


@dataclass(frozen=True)
class ClassScore:
    """Precision, recall and F1 of one class; None where the divisor is 0."""

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
    """The accuracy of always predicting the commonest class."""
    classes: tuple[ClassScore, ...]
    matrix: tuple[tuple[int, ...], ...] | None
    """Labels down, predictions across; None for too many classes."""
    mistakes: tuple[tuple[Any, Any, int], ...]
    """The commonest mistakes: label, prediction, number of records."""

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
        """Return the accuracy; where records had weights, the mean recall of the classes."""
        if weighted:
            note = "the mean recall of the classes, which weigh alike"
            return Tile("Balanced accuracy", percent(self.balanced), note)
        interval = f"95 % interval {percent(self.low)} to {percent(self.high)}"
        note = interval if main else f"{self.right:,} of {self.records:,} right"
        return Tile("Accuracy", percent(self.accuracy), note)


def scores_of(labels: Ints, predicted: Ints, names: Sequence[Any]) -> ClassScores:
    """Compare two lists of positions in `names`."""
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


# ---- The certainty of a leaf: the share of its class among its records, and beside all records.


@dataclass(frozen=True)
class ClassCertainty:
    """The share of a leaf's label among some records and among all."""

    label: Any
    hits: int
    support: int
    """Records that came here; 0 if their labels are not known."""
    all_hits: int
    all_records: int
    counts: dict[Any, int]
    """The records of each label here; empty if labels are not known."""
    weighted: float | None
    """The label's share of the training weight here, as in `predict_proba`; None if all records weighed the same."""
    decided_by_weights: bool
    """True if another class had more training records here, and the label only more weight."""

    @property
    def _proportion(self) -> Share:
        return Share(self.hits, self.support, self.all_hits, self.all_records)

    @property
    def share(self) -> float | None:
        """The share of these records with the label; None if there are none, or labels are not known."""
        return self._proportion.share

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of `share` (Wilson)."""
        return self._proportion.interval

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.interval[0]

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.interval[1]

    @property
    def lift(self) -> float | None:
        """The share divided by the label's share in all records; None if that is not known or 0."""
        return self._proportion.lift

    @property
    def purity(self) -> float | None:
        """The share of the commonest label among the records here; None if there are no records or labels."""
        return max(self.counts.values()) / self.support if self.counts else None

    @property
    def text(self) -> str:
        """In words: `34 % of 234 records (28 to 40 %), 2.3 times the share in all; storm by weight: 75 %`."""
        if self.share is None:
            return "no records"
        low, high = percent(self.low, 0).removesuffix(" %"), percent(self.high, 0)
        text = f"{percent(self.share, 0)} of {counted(self.support, 'record')} ({low} to {high})"
        if self.lift is not None:
            text += f", {times_all(self.lift)}"
        if self.decided_by_weights:
            return f"{text}; {self.remark}"
        return text if self.weighted is None else f"{text}; by weight {percent(self.weighted, 0)}"

    @property
    def mixed(self) -> str:
        """The number of records with each label, as text."""
        return ", ".join(f"{label}: {count}" for label, count in self.counts.items())

    @property
    def remark(self) -> str:
        """A remark if weights decided the prediction."""
        return by_weight(self.label, self.weighted) if self.decided_by_weights else ""

    def values(self) -> dict[str, Any]:
        """Return all figures by the names of their attributes."""
        known = asdict(self)
        names = ("share", "low", "high", "support", "counts", "purity", "lift", "weighted", "decided_by_weights")
        return {name: known[name] if name in known else getattr(self, name) for name in names}

    def exported(self) -> dict[str, Any]:
        """Return all figures by the names that they have in tables; without labels there is no interval."""
        low, high = (None, None) if self.share is None else self.interval
        return {
            "share": self.share,
            "low": low,
            "high": high,
            "support": self.support,
            "lift": self.lift,
            "weighted share": self.weighted,
            "decided by weights": self.decided_by_weights,
            "counts": [{"label": label, "records": count} for label, count in self.counts.items()],
        }

    def cells(self) -> list[Cell]:
        """Return share, interval, support, lift, and the weighted share where there is one."""
        weighted = _fixed(self.weighted, 3) + (" (decides)" if self.decided_by_weights else "")
        return [
            Cell("share", _fixed(self.share, 3)),
            Cell("95 % interval", f"{self.low:.3f} to {self.high:.3f}", number=False),
            Cell("support", str(self.support)),
            Cell("lift", _fixed(self.lift, 2)),
            Cell("weighted share", weighted, optional=True),
        ]

    def measure(self) -> Measure:
        """Return the share as a page shows it."""
        known, decided = self.share is not None, self.decided_by_weights
        return Measure(
            size=self.share,
            value=percent(self.share),
            within=f"{percent(self.low)} to {percent(self.high)}" if known else "–",
            bar=None if self.share is None else Bar(self.low, self.share, self.high),
            beside="–" if self.lift is None else times_all(self.lift),
            times=_fixed(self.lift, 2),
            brief=f"{percent(self.share)} labelled so" if known else None,
            remark=f"by weight {percent(self.weighted)}, which decided the class" if decided else None,
            brief_remark=f"by weight: {percent(self.weighted)}" if decided else None,
        )


def _fixed(value: float | None, decimals: int) -> str:
    """Return a number with fixed decimals, or a dash."""
    return "–" if value is None else f"{value:.{decimals}f}"
