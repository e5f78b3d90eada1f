"""Trees of other sizes: what else there was to choose from, and how often each was right about records not seen."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from telltree.amounts import counted, percent
from telltree.report.page.subject import Subject
from telltree.shares import wilson
from telltree.tree.front import Front, Score
from telltree.tree.target import ClassSummary

MOST_SIZES = 12  # rows; more would be a list to search, not to choose from


@dataclass(frozen=True)
class Size:
    """A row of the table of sizes."""

    categories: int
    words: int
    score: Score | None
    own: bool
    """Whether it is the tree of the report."""


@dataclass(frozen=True)
class Sizes:
    """The trees of a front, or some of them: the smallest, the largest and the report's own among them."""

    rows: tuple[Size, ...]
    more: int
    """How many are left out between them."""

    @property
    def scored(self) -> bool:
        """Whether the trees were cross-validated."""
        return all(row.score is not None for row in self.rows)


@dataclass(frozen=True)
class Unseen:
    """How often trees like that of the report were right about records kept apart, by weight if they had weights."""

    share: float
    error: float
    low: float
    high: float
    """The 95 % interval (Wilson)."""
    records: int
    baseline: float
    """The share of the commonest class."""
    folds: str
    """How many, as far as it is known."""

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
    """The trees to choose from, if there are several, and how well the report's own does, if that was tried."""
    front = getattr(subject.fitted, "front_", None)
    if not isinstance(front, Front):
        return None, None
    steps, own = front.beside(subject.tree)
    some = np.unique(np.linspace(0, len(steps) - 1, MOST_SIZES).round().astype(int)).tolist()
    kept = [step for k, step in enumerate(steps) if k in some or step is own]
    rows = tuple(Size(step.leaves, step.words, step.score, step is own) for step in kept)
    score, whole = None if own is None else own.score, subject.tree.summary
    # the scores of a front are shares of right answers, which only classes have
    unseen = _unseen(subject, score, whole) if score is not None and isinstance(whole, ClassSummary) else None
    return (Sizes(rows, len(steps) - len(rows)) if len(steps) > 1 else None), unseen


def _unseen(subject: Subject, score: Score, whole: ClassSummary) -> Unseen:
    records = whole.support
    spread = score.share * (1 - score.share)
    low, high = wilson(score.share, round(spread / score.error**2) if score.error else records)
    share, baseline = score.share, whole.weighted_share or 0.0
    return Unseen(share, score.error, low, high, records, baseline, _folds(subject.fitted))


def _folds(fitted: Any) -> str:
    """A model that was read from a file does not know how many there were."""
    validation = getattr(fitted, "validation_", None)
    return "folds" if validation is None else counted(len(validation.folds), "fold")
