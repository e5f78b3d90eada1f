"""The best formulas of each size: what a search would say if it had to be brief."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.errors import CheckpointError
from telltree.grammar import Grammar
from telltree.grammar.derivations.flat import flat
from telltree.grammar.derivations.population import Population
from telltree.search.archive import Candidate
from telltree.search.state import Given, State, together

_LARGEST = 48
"""Nobody asks for the best formula of more terminals."""
_MOST_OF_A_SIZE = 100
_MOST_HELD = 10_000
"""Formulas held before those that tie no more are dropped."""


class OfSize(NamedTuple):
    """The best formula of a size, and all of that size that tie with it."""

    best: Candidate
    ties: Population


@dataclass
class BySize:
    """Keeps the fittest formulas of each size.

    Formulas of a size tie if the fitness is the best of that size or above it by `tolerance` at most; of very many the
    fittest stay, and of those the first found.
    """

    grammar: Grammar
    tolerance: float = 0.0
    _best: NDArray[np.float64] = field(default_factory=lambda: np.full(_LARGEST + 2, np.inf))
    _kept: list[tuple[NDArray[np.float64], NDArray[np.int64], Population]] = field(default_factory=list)
    """Fitness, sizes, and rows."""
    _held: int = 0

    def add(
        self, population: Population, fresh: NDArray[np.int64], fitness: NDArray[np.float64], size: NDArray[np.int64]
    ) -> None:
        """Take in the individuals `fresh`, whose fitness and sizes are given in the same order."""
        small = np.minimum(size, _LARGEST + 1)
        np.minimum.at(self._best, small, fitness)
        self._best[_LARGEST + 1] = -np.inf  # so that none of these ties
        tied = np.flatnonzero(fitness <= self._best[small] + self.tolerance)
        tied = tied[np.isfinite(fitness[tied])]
        if len(tied):
            self._kept.append((fitness[tied], small[tied], population.take(fresh[tied])))
            self._held += len(tied)
            if self._held > _MOST_HELD:
                self._drop()

    def _drop(self) -> None:
        """Leave only what still ties."""
        fitness, size = (np.concatenate([part[k] for part in self._kept]) for k in (0, 1))
        rows = Population.joined([rows for *_, rows in self._kept])
        ranked = np.lexsort((fitness, size))
        ranked = ranked[fitness[ranked] <= self._best[size[ranked]] + self.tolerance]
        place = np.arange(len(ranked)) - np.searchsorted(size[ranked], size[ranked])
        kept = np.sort(ranked[place < _MOST_OF_A_SIZE])
        self._kept, self._held = [(fitness[kept], size[kept], rows.take(kept))], len(kept)

    def state(self) -> State:
        """What is kept."""
        if self._kept:
            self._drop()
        none = np.empty(0), np.empty(0, np.int64), Population.empty(0, 1, False)
        fitness, size, rows = self._kept[0] if self._kept else none
        return {"fitness": fitness, "size": size} | together(rows=flat(rows))

    def resume(self, given: Given) -> None:
        """Take what was kept before, in place of what is here."""
        rows = given.rows("rows")
        number = len(rows.lengths)
        fitness, size = given.array("fitness", np.float64, number), given.array("size", np.int64, number)
        if ((size < 0) | (size > _LARGEST)).any() or not np.isfinite(fitness).all():
            raise CheckpointError("a formula is kept by a size or fitness that none has")
        self._best[:] = np.inf
        np.minimum.at(self._best, size, fitness)
        self._kept, self._held = [(fitness, size, rows)] if number else [], number

    def front(self) -> tuple[OfSize, ...]:
        """Those sizes whose best formula is fitter than all smaller ones, the smallest first."""
        if not self._kept:
            return ()
        self._drop()
        fitness, size, rows = self._kept[0]
        found = []
        for terminals in np.unique(size).tolist():
            if self._best[terminals] < self._best[:terminals].min(initial=np.inf):
                own = np.flatnonzero(size == terminals)
                first = int(own[np.argmin(fitness[own])])
                best = Candidate(rows.derivation(first, self.grammar), float(fitness[first]))
                found.append(OfSize(best, rows.take(own)))
        return tuple(found)
