"""The best formulas of each size, for when a short formula is wanted."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import kernel, lesser
from telltree.errors import CheckpointError
from telltree.grammar import Grammar
from telltree.grammar.derivations.flat import flat
from telltree.grammar.derivations.population import Population
from telltree.search.archive import Candidate
from telltree.search.state import Given, State, together

_LARGEST = 48
"""The largest size for which formulas are kept."""
_MOST_OF_A_SIZE = 100
_MOST_HELD = 10_000
"""How many formulas to hold before dropping those that no longer tie."""


class OfSize(NamedTuple):
    """The best formula of a size, and all of that size that tie with it."""

    best: Candidate
    ties: Population


@kernel
def _sift(fitness, size, best, tolerance, tied):
    """Find the formulas that may tie for the best of a size which is fitter than all smaller ones; returns how many.

    `best` is that of each size, and is updated.
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
    """Keeps the fittest formulas of each size, as long as they may be fitter than all smaller ones.

    Formulas of a size tie if their fitness is the best of that size, or above it by at most `tolerance`. If there are
    very many, the fittest stay, and among equals the first found.
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
        """Take in the individuals `fresh`, whose fitness and sizes are given in the same order."""
        tied = np.empty(len(fresh), np.int64)
        tied = tied[: _sift(fitness, size, self._best, self.tolerance, tied)]
        if len(tied):
            self._kept.append((fitness[tied], size[tied], population.take(fresh[tied])))
            self._held += len(tied)
            if self._held > _MOST_HELD:
                self._drop()

    def _drop(self) -> None:
        """Keep only the formulas that still tie."""
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
        """The sizes whose best formula is fitter than all smaller ones, the smallest first."""
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
