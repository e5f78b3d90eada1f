"""The objective of a split: the truth of formulas, of all records or a sample, combined with the labels."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import kernel
from telltree.engine.evaluator import PopulationEvaluatorProtocol
from telltree.errors import SettingsError
from telltree.grammar.derivation import Population
from telltree.search import Scores
from telltree.text import counted
from telltree.tree.class_target import ClassLabels
from telltree.tree.criterion import Criterion
from telltree.tree.target import Labels

# ---- Samples of records, on which a search can judge most of its formulas if there are many records.

_EACH = 1_200
"""The number of records of a class that are drawn, or a few more."""


class Sample(NamedTuple):
    """Records by their positions in ascending order, and for each class the number of records that one stands for."""

    records: NDArray[np.int64]
    stands: NDArray[np.int64]


def sample_of(labels: Labels, seed: int) -> Sample | None:
    """Draw a fraction of the records of each class at random; None if no class has enough to leave some out.

    Rare classes are drawn whole, so that no more of them is left to chance than must be.
    """
    if not isinstance(labels, ClassLabels):
        return None
    counts = labels.counts()
    stands = np.maximum(1, counts // _EACH)
    if (stands == 1).all():
        return None
    random = np.random.default_rng(seed)
    parts = [
        random.choice(np.flatnonzero(kind), count // each, replace=False)
        for kind, count, each in zip(labels.kinds(), counts.tolist(), stands.tolist(), strict=True)
    ]
    return Sample(np.sort(np.concatenate(parts)), stands)


def total_impurity(labels: Labels) -> float:
    """Return the Gini impurity of classes times the number of records; without classes, the number of records."""
    if not isinstance(labels, ClassLabels):
        return float(len(labels))
    counts = labels.counts()
    return float(len(labels) - (counts**2).sum() / len(labels))


# ---- The objective of a split.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


@kernel
def _refuse(fitness, members, least):
    """Make the fitness of splits infinite that have too few records on a side."""
    for k in range(len(fitness)):
        if members[k, 1] < least:
            fitness[k] = np.inf


class SplitObjective:
    """Fitness and hashes of formulas as splits of the records of one node."""

    def __init__(
        self,
        evaluator: PopulationEvaluatorProtocol,
        labels: Labels,
        criterion: Criterion,
        min_samples_leaf: int = 0,
        *,
        part: Callable[[NDArray[np.int64]], PopulationEvaluatorProtocol] | None = None,
        stands: NDArray[np.int64] | None = None,
    ) -> None:
        """`part` makes an evaluator for some of the records. `stands`: how many records each of a class stands for, if
        these are a sample.
        """
        self._evaluator, self._labels, self._criterion, self._part = evaluator, labels, criterion, part
        groups, self._worth = labels.groups()
        self._masks = evaluator.masks(groups)
        self._totals = labels.totals()
        self._least, self._by_class = max(1, min_samples_leaf), self._worth is None
        self._is_sample = stands is not None
        if stands is not None:
            self._totals = self._totals * stands
            self._worth = np.diag(stands) if self._worth is None else self._worth * stands

    def sample(self, seed: int) -> "SplitObjective | None":
        """Return the objective on a sample of the records; None if they are few, or cannot be evaluated.

        The fewest records on a side are lowered by two standard errors: all records will tell if they are enough.
        """
        if self._part is None:
            return None
        drawn = sample_of(self._labels, seed)
        if drawn is None:
            return None
        most = drawn.stands.max()
        least = max(0.0, self._least - 2 * (self._least * most) ** 0.5)  # two standard errors
        if not self._by_class:  # records are not counted by class, so how many each stands for is unknown
            least /= most
        some = self._labels[drawn.records]
        return SplitObjective(self._part(drawn.records), some, self._criterion, int(least), stands=drawn.stands)

    @property
    def shorter_is_fitter(self) -> bool:
        """True if the longer of two formulas that split alike is never the fitter one."""
        return bool(getattr(self._criterion, "shorter_is_fitter", False))

    def signatures(self, conditions: Population) -> list[tuple[bytes, bytes]] | None:
        """Return signatures of each condition and its negation; None if they are not known."""
        return self._evaluator.signatures(conditions)

    def floors(self, conditions: Population, size: int) -> NDArray[np.float64] | None:
        """Return four lower bounds for each condition c; None if the criterion has none.

        No formula of `size` terminals that is true only of records in which c holds at some step is fitter than the
        first; only of records in which it never holds, than the second; the others are the same of ¬c.
        """
        least = getattr(self._criterion, "least", None)
        if least is None:
            return None
        some, every = (self._worths(counts) for counts in self._evaluator.reach(conditions, self._masks))
        reached = [some, self._totals - some, self._totals - every, every]
        found = [least(high, self._totals, np.full(len(high), size)) for high in reached]
        return None if any(bounds is None for bounds in found) else np.column_stack(found)

    def _worths(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        return counts if self._worth is None else counts @ self._worth

    def _expected(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the estimated number of all records for which a formula is true, and on its smaller side."""
        true, whole = self._worths(counts).sum(axis=1), self._totals.sum()
        return np.column_stack([true, np.minimum(true, whole - true)])

    def __call__(self, population: Population, wanted: NDArray[np.int64]) -> Scores:
        tally = self._evaluator.evaluate(population, wanted, self._masks)
        found = checked_values(self._criterion(self._worths(tally.counts), self._totals, tally.size), len(wanted))
        fitness = np.array(found, np.float64)
        members = self._expected(tally.counts) if self._is_sample and self._by_class else tally.members
        _refuse(fitness, members, self._least)
        return Scores(fitness, tally.answer, tally.size)


def checked_values(fitness: Any, formulas: int) -> NDArray[np.float64]:
    """Return the values of a criterion; SettingsError if they are not one number for each formula."""
    found = np.asarray(fitness)
    if found.shape != (formulas,) or found.dtype.kind not in "fiub":
        raise SettingsError(
            f"a fitness must return one number for each of the {counted(formulas, 'formula')} it is given, but it "
            f"returned {type(fitness).__name__} of shape {found.shape} and type {found.dtype}"
        )
    return found
