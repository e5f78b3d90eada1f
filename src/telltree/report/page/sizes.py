"""Trees of other sizes: the alternatives, and the accuracy of each on unseen records."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from telltree.amounts import counted, percent
from telltree.report.page.subject import Subject
from telltree.shares import wilson
from telltree.tree.front import Front, Score
from telltree.tree.target import ClassSummary

MOST_SIZES = 12  # rows; more would be too many to choose from


@dataclass(frozen=True)
class Size:
    """A row of the table of sizes."""

    categories: int
    words: int
    score: Score | None
    worth: float | None
    """The bits of labels that its least worthy branch saves, for each bit that it takes to say."""
    own: bool
    """Whether it is the tree of the report."""


@dataclass(frozen=True)
class Sizes:
    """The trees of a front, or some of them: the smallest, the largest and the report's own among them."""

    rows: tuple[Size, ...]
    more: int
    """How many between them are left out."""
    remarks: list[str]
    """How the report's own tree was judged, if questions were cut from it afterwards."""

    @property
    def scored(self) -> bool:
        """Whether the trees were cross-validated."""
        return all(row.score is not None for row in self.rows)

    @property
    def balanced(self) -> bool:
        """Whether it is known by what they were compared, which files of an older telltree do not say."""
        return all(row.score is not None and row.score.balanced and row.score.behind for row in self.rows)


@dataclass(frozen=True)
class Unseen:
    """The accuracy on held-out records of trees like that of the report, weighted if records had weights."""

    share: float
    error: float
    low: float
    high: float
    """The 95 % interval (Wilson)."""
    records: int
    baseline: float
    """The share of the most common class."""
    folds: str
    """How many folds, if known."""

    @property
    def rows(self) -> dict[str, str]:
        """What is known of it, by the names that scores of classes have."""
        return {
            "Records": f"{self.records:,}",
            "Accuracy": percent(self.share),
            "95 % interval": f"{percent(self.low).replace(' %', '')} – {percent(self.high)}",
            "Always the commonest class": percent(self.baseline),
        }


def sizes_of(subject: Subject) -> tuple[Sizes | None, Unseen | None]:
    """The trees to choose from, if there are several, and how well the report's own does, if known."""
    front = getattr(subject.fitted, "front_", None)
    if not isinstance(front, Front):
        return None, None
    steps, own = front.beside(subject.tree)
    some = np.unique(np.linspace(0, len(steps) - 1, MOST_SIZES).round().astype(int)).tolist()
    kept = [step for k, step in enumerate(steps) if k in some or step is own]
    rows = tuple(Size(step.leaves, step.words, step.score, step.worth, step is own) for step in kept)
    score, whole = None if own is None else own.score, subject.tree.summary
    # the scores of a front are shares of right answers, which only classes have
    unseen = _unseen(subject, score, whole) if score is not None and isinstance(whole, ClassSummary) else None
    return (Sizes(rows, len(steps) - len(rows), [] if own is None else own.remarks) if len(steps) > 1 else None), unseen


def _unseen(subject: Subject, score: Score, whole: ClassSummary) -> Unseen:
    records = whole.support
    spread = score.share * (1 - score.share)
    low, high = wilson(score.share, round(spread / score.error**2) if score.error else records)
    share, baseline = score.share, whole.weighted_share or 0.0
    return Unseen(share, score.error, low, high, records, baseline, _folds(subject.fitted))


def _folds(fitted: Any) -> str:
    """The number of folds; a model from a file does not know it."""
    validation = getattr(fitted, "validation_", None)
    return "folds" if validation is None else counted(len(validation.folds), "fold")
