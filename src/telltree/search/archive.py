"""The results of a search: the best formula, the best of each size, runners-up, and ties."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import greater, kernel, lesser
from telltree.errors import CheckpointError
from telltree.grammar import Derivation, Grammar
from telltree.grammar.derivation import Population
from telltree.search.state import SavedState, State, flat, together

# ---- The best formula, its runners-up, and all that tie with it.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


MOST_TIES = 1_000


class Candidate(NamedTuple):
    """A formula that was tried, and its fitness (less is better)."""

    derivation: Derivation
    fitness: float


class Moment(NamedTuple):
    """The progress of a search: the best fitness after some evaluations and seconds."""

    evaluations: int
    seconds: float
    fitness: float


def moments(given: SavedState) -> list[Moment]:
    """Return the history in the state of a search."""
    history = given.array("history", np.float64, None, 3)
    if not ((history[:, 0] >= 0) & (history[:, 0] <= 2.0**53)).all():
        raise CheckpointError("the history has impossible numbers of evaluations")
    return [Moment(int(evaluations), seconds, fitness) for evaluations, seconds, fitness in history.tolist()]


@kernel
def _sift(fitness, answer, best, tolerance, tied, kept, answers, reached, origin):
    """Find the formulas that may tie for the best, and update the list of the best formulas with different answers.

    Most formulas belong to neither. `answers` and `reached` are the answers and fitness of the `kept` best formulas so
    far, best first, ties in the order found. `origin` gets the former position of each of them, or −1 − its index if it
    is new. Returns the best fitness, the number of formulas that may tie, the number kept, and whether any of these is
    new.
    """
    ties, new, most = 0, False, len(reached)
    for j in range(kept):
        origin[j] = j
    for k in range(len(fitness)):
        best = lesser(best, fitness[k])
        if fitness[k] == np.inf:
            continue
        if fitness[k] <= best + tolerance:
            tied[ties] = k
            ties += 1
        if kept == most and not fitness[k] < reached[most - 1]:
            continue
        place = 0
        while place < kept and answers[place] != answer[k]:
            place += 1
        if place < kept and not fitness[k] < reached[place]:
            continue
        place = lesser(place, most - 1)  # the place of its own answer, or a new one, or the last
        kept = greater(kept, place + 1)
        while place > 0 and fitness[k] < reached[place - 1]:
            answers[place], reached[place], origin[place] = answers[place - 1], reached[place - 1], origin[place - 1]
            place -= 1
        answers[place], reached[place], origin[place], new = answer[k], fitness[k], -1 - k, True
    return best, ties, kept, new


@dataclass
class Archive:
    """The k best formulas with different answers, and every formula that ties for the best.

    A formula ties if its fitness is at most `tolerance` above the best; of more than 1,000 the fittest stay, and of
    those the first found.
    """

    grammar: Grammar
    k: int
    tolerance: float = 0.0
    best: float = np.inf
    _ties: list[tuple[NDArray[np.float64], Population]] = field(default_factory=list)
    _tied: int = 0
    _kept: list[tuple[Population, int]] = field(default_factory=list)
    """Rows of populations, best first."""

    def __post_init__(self) -> None:
        self._answers, self._reached = np.empty(self.k, np.uint64), np.empty(self.k)
        self._origin = np.empty(self.k, np.int64)

    def add(
        self, population: Population, fresh: NDArray[np.int64], fitness: NDArray[np.float64], answer: NDArray[np.uint64]
    ) -> bool:
        """Add the individuals `fresh`, whose fitness and answers are in the same order; none is −∞ or NaN.

        Returns True if one of them is better than all before.
        """
        before, tied = self.best, np.empty(len(fresh), np.int64)
        self.best, ties, kept, new = _sift(
            fitness, answer, before, self.tolerance, tied, len(self._kept), self._answers, self._reached, self._origin
        )
        if ties:
            tied = tied[:ties]
            if self.best < before:
                tied = tied[fitness[tied] <= self.best + self.tolerance]
            self._ties.append((fitness[tied], population.take(fresh[tied])))
            self._tied += len(tied)
            if self._tied > 2 * MOST_TIES:
                self._drop_ties()
        if new:
            origin = self._origin[:kept].tolist()
            rows = population.take(fresh[[-1 - place for place in origin if place < 0]])
            taken = iter(range(len(rows.lengths)))
            self._kept = [self._kept[place] if place >= 0 else (rows, next(taken)) for place in origin]
        return self.best < before

    def _drop_ties(self) -> None:
        """Drop the formulas that no longer tie, and those beyond MOST_TIES."""
        fitness = np.concatenate([scores for scores, _ in self._ties])
        rows = Population.joined([rows for _, rows in self._ties])
        ranked = np.argsort(fitness, kind="stable")[:MOST_TIES]
        kept = np.sort(ranked[fitness[ranked] <= self.best + self.tolerance])
        self._ties, self._tied = [(fitness[kept], rows.take(kept))], len(kept)

    def state(self) -> State:
        """Return the contents as arrays."""
        if self._ties:
            self._drop_ties()
        fitness, rows = self._ties[0] if self._ties else (np.empty(0), Population.empty(0, 1, False))
        kept = [rows.take(np.array([row])) for rows, row in self._kept]
        best = Population.joined(kept) if kept else Population.empty(0, 1, False)
        own = {
            "tied": fitness,
            "answers": self._answers[: len(kept)].copy(),
            "reached": self._reached[: len(kept)].copy(),
        }
        return own | together(ties=flat(rows), kept=flat(best))

    def resume(self, given: SavedState) -> None:
        """Replace the contents by those of an earlier state."""
        ties, kept = given.rows("ties"), given.rows("kept")
        number = len(kept.lengths)
        tied, reached = given.array("tied", np.float64, len(ties.lengths)), given.array("reached", np.float64, number)
        best = reached[0] if number else np.inf
        ranked = np.isfinite(reached).all() and (np.diff(reached) >= 0).all()
        if number > self.k or not ranked or tied.min(initial=np.inf) != best or not np.isfinite(tied).all():
            raise CheckpointError("the formulas that are kept are not the best")
        self.best = float(best)
        self._ties, self._tied = [(tied, ties)] if len(tied) else [], len(tied)
        self._kept = [(kept, row) for row in range(number)]
        self._answers[:number], self._reached[:number] = given.array("answers", np.uint64, number), reached

    def ties(self) -> Population | None:
        """Return all formulas that tie for the best, in the order in which they were found; None if there are none."""
        if not self._ties:
            return None
        self._drop_ties()
        return self._ties[0][1]

    def runners_up(self) -> tuple[Candidate, ...]:
        """Return the k best formulas with different answers, best first."""
        return tuple(
            Candidate(self.grammar.derivation(rows, row), fitness)
            for (rows, row), fitness in zip(self._kept, self._reached.tolist(), strict=False)
        )


# ---- The best formulas of each size, for when a short formula is wanted.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


_LARGEST = 48
"""The largest size for which formulas are kept."""
_MOST_OF_A_SIZE = 100
_MOST_HELD = 10_000
"""The number of formulas to hold before dropping those that no longer tie."""


class OfSize(NamedTuple):
    """The best formula of a size, and all formulas of that size that tie with it."""

    best: Candidate
    ties: Population


@kernel
def _sift_sizes(fitness, size, best, tolerance, tied):
    """Find the formulas that may tie for the best of a size that is fitter than all smaller ones; returns their number.

    `best` is the best fitness of each size, and is updated.
    """
    for k in range(len(fitness)):
        if size[k] < len(best):
            best[size[k]] = lesser(best[size[k]], fitness[k])
    needed = best.copy()  # the best of each size or a smaller one
    for terminals in range(1, len(best)):
        needed[terminals] = lesser(needed[terminals - 1], best[terminals])
    ties = 0
    for k in range(len(fitness)):
        if size[k] < len(best) and fitness[k] <= needed[size[k]] + tolerance and fitness[k] < np.inf:
            tied[ties] = k
            ties += 1
    return ties


@dataclass
class BySize:
    """The fittest formulas of each size, as long as they may be fitter than all smaller ones.

    Formulas of a size tie if their fitness is at most `tolerance` above the best of that size. If there are very many,
    the fittest stay, and among equals the first found.
    """

    grammar: Grammar
    tolerance: float = 0.0
    _best: NDArray[np.float64] = field(default_factory=lambda: np.full(_LARGEST + 1, np.inf))
    """For each size."""
    _kept: list[tuple[NDArray[np.float64], NDArray[np.int64], Population]] = field(default_factory=list)
    """Fitness, sizes, and rows."""
    _held: int = 0

    def add(
        self, population: Population, fresh: NDArray[np.int64], fitness: NDArray[np.float64], size: NDArray[np.int64]
    ) -> None:
        """Add the individuals `fresh`, whose fitness and sizes are in the same order."""
        tied = np.empty(len(fresh), np.int64)
        tied = tied[: _sift_sizes(fitness, size, self._best, self.tolerance, tied)]
        if len(tied):
            self._kept.append((fitness[tied], size[tied], population.take(fresh[tied])))
            self._held += len(tied)
            if self._held > _MOST_HELD:
                self._drop()

    def _drop(self) -> None:
        """Drop the formulas that no longer tie."""
        fitness, size = (np.concatenate([part[k] for part in self._kept]) for k in (0, 1))
        rows = Population.joined([rows for *_, rows in self._kept])
        ranked = np.lexsort((fitness, size))
        ranked = ranked[fitness[ranked] <= self._best[size[ranked]] + self.tolerance]
        place = np.arange(len(ranked)) - np.searchsorted(size[ranked], size[ranked])
        kept = np.sort(ranked[place < _MOST_OF_A_SIZE])
        self._kept, self._held = [(fitness[kept], size[kept], rows.take(kept))], len(kept)

    def state(self) -> State:
        """Return the contents as arrays."""
        if self._kept:
            self._drop()
        none = np.empty(0), np.empty(0, np.int64), Population.empty(0, 1, False)
        fitness, size, rows = self._kept[0] if self._kept else none
        return {"fitness": fitness, "size": size} | together(rows=flat(rows))

    def resume(self, given: SavedState) -> None:
        """Replace the contents by those of an earlier state."""
        rows = given.rows("rows")
        number = len(rows.lengths)
        fitness, size = given.array("fitness", np.float64, number), given.array("size", np.int64, number)
        if ((size < 0) | (size > _LARGEST)).any() or not np.isfinite(fitness).all():
            raise CheckpointError("a formula is kept by a size or fitness that none has")
        self._best[:] = np.inf
        np.minimum.at(self._best, size, fitness)
        self._kept, self._held = [(fitness, size, rows)] if number else [], number

    def pruning_path(self) -> tuple[OfSize, ...]:
        """Return the sizes whose best formula is fitter than all smaller ones, the smallest first."""
        if not self._kept:
            return ()
        self._drop()
        fitness, size, rows = self._kept[0]
        found = []
        for terminals in np.unique(size).tolist():
            if self._best[terminals] < self._best[:terminals].min(initial=np.inf):
                own = np.flatnonzero(size == terminals)
                first = int(own[np.argmin(fitness[own])])
                best = Candidate(self.grammar.derivation(rows, first), float(fitness[first]))
                found.append(OfSize(best, rows.take(own)))
        return tuple(found)
