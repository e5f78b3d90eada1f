"""What a search has found: the best formula, its runners-up, and all that tie with it."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import kernel
from telltree.grammar import Derivation, Grammar
from telltree.grammar.population import Population

MOST_TIES = 1_000


class Candidate(NamedTuple):
    """A formula that was tried, and how well it did (less is better)."""

    derivation: Derivation
    fitness: float


class Moment(NamedTuple):
    """How far a search had come: after so many evaluations and seconds, the best fitness so far."""

    evaluations: int
    seconds: float
    fitness: float


@kernel
def _sift(fitness, answer, best, tolerance, bar, answers, reached, tied, promising):
    """Find the formulas that may tie for the best, and those that may be runners-up: nearly all are neither.

    A runner-up does better than `bar`, and than what was `reached` by one that answers alike. Returns the best fitness
    and how many there are of both.
    """
    ties, runners_up = 0, 0
    for k in range(len(fitness)):
        best = min(best, fitness[k])
        if fitness[k] <= best + tolerance and fitness[k] < np.inf:
            tied[ties] = k
            ties += 1
        if fitness[k] < bar:
            better = True
            for kept in range(len(answers)):
                better &= answer[k] != answers[kept] or fitness[k] < reached[kept]
            if better:
                promising[runners_up] = k
                runners_up += 1
    return best, ties, runners_up


@dataclass
class Archive:
    """Keeps the k best formulas that answer differently, and every formula that ties for the best.

    A formula ties if its fitness is the best or above it by `tolerance` at most; of more than 1,000 the fittest stay,
    and of those the first found.
    """

    grammar: Grammar
    k: int
    tolerance: float = 0.0
    best: float = np.inf
    _ties: list[tuple[NDArray[np.float64], Population]] = field(default_factory=list)
    _tied: int = 0
    _bar: float = np.inf
    """A formula that does no better than this is no runner-up."""
    _kept: dict[int, tuple[float, Population]] = field(default_factory=dict)
    _reached: tuple[NDArray[np.uint64], NDArray[np.float64]] = (np.zeros(0, np.uint64), np.zeros(0))
    """The answers of what is kept, and their fitness."""

    def add(
        self, population: Population, fresh: NDArray[np.int64], fitness: NDArray[np.float64], answer: NDArray[np.uint64]
    ) -> bool:
        """Take in the individuals `fresh`, whose fitness and answers are given in the same order; none is −∞ or NaN.

        Says whether one of them is better than all before.
        """
        before, (tied, promising) = self.best, np.empty((2, len(fresh)), np.int64)
        self.best, ties, runners_up = _sift(
            fitness, answer, before, self.tolerance, self._bar, *self._reached, tied, promising
        )
        if ties:
            tied = tied[:ties]
            tied = tied[fitness[tied] <= self.best + self.tolerance]
            self._ties.append((fitness[tied], population.take(fresh[tied])))
            self._tied += len(tied)
            if self._tied > 2 * MOST_TIES:
                self._drop_ties()
        if runners_up:
            self._add_runners_up(population, fresh, fitness, answer, promising[:runners_up])
        return self.best < before

    def _drop_ties(self) -> None:
        """Leave only what still ties, and not more than there is room for."""
        fitness = np.concatenate([scores for scores, _ in self._ties])
        rows = Population._make(np.concatenate(parts) for parts in zip(*(rows for _, rows in self._ties), strict=True))
        ranked = np.argsort(fitness, kind="stable")[:MOST_TIES]
        kept = np.sort(ranked[fitness[ranked] <= self.best + self.tolerance])
        self._ties, self._tied = [(fitness[kept], rows.take(kept))], len(kept)

    def _add_runners_up(
        self,
        population: Population,
        fresh: NDArray[np.int64],
        fitness: NDArray[np.float64],
        answer: NDArray[np.uint64],
        promising: NDArray[np.int64],
    ) -> None:
        best_first = promising[np.argsort(fitness[promising], kind="stable")]
        _, first_of_answer = np.unique(answer[best_first], return_index=True)
        for i in best_first[np.sort(first_of_answer)[: self.k]]:
            split = int(answer[i])
            if split not in self._kept or fitness[i] < self._kept[split][0]:
                self._kept.pop(split, None)  # it takes its place behind what was as good before
                self._kept[split] = float(fitness[i]), population.take(fresh[i : i + 1])
        if len(self._kept) > self.k:
            ranked = sorted(self._kept.items(), key=lambda entry: entry[1][0])
            self._kept = dict(ranked[: self.k])
        scores = np.fromiter((score for score, _ in self._kept.values()), np.float64)
        self._reached = np.fromiter(self._kept, np.uint64), scores
        if len(self._kept) == self.k:
            self._bar = float(scores.max())

    def ties(self) -> Population | None:
        """All formulas that tie for the best, in the order in which they were found; None if there is none."""
        if not self._ties:
            return None
        self._drop_ties()
        return self._ties[0][1]

    def runners_up(self) -> tuple[Candidate, ...]:
        """The k best formulas that answer differently, best first."""
        ranked = sorted(self._kept.values(), key=lambda entry: entry[0])
        return tuple(Candidate(rows.derivation(0, self.grammar), fitness) for fitness, rows in ranked)
