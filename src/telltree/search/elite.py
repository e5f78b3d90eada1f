"""The best formulas so far that answer differently, with all that is needed to breed from them."""

import numpy as np
from numpy.typing import NDArray

from telltree.errors import CheckpointError
from telltree.grammar.derivations.flat import flat
from telltree.grammar.derivations.population import Population
from telltree.search.state import Given, State, together


class Elite:
    """Keeps the k fittest formulas with different answers, best first; among equals the first found."""

    def __init__(self, k: int, width: int, constants: bool = False) -> None:
        self._k = k
        self.rows = Population.empty(0, width, constants)
        self.fitness, self.answer = np.empty(0), np.empty(0, np.uint64)

    @property
    def worst(self) -> float:
        """The fitness that a formula must be below to be taken."""
        return float(self.fitness[-1]) if len(self.fitness) == self._k else np.inf

    def learn(self, population: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        """Take in the formulas of a population that are good enough."""
        better = np.flatnonzero(fitness < self.worst)
        if not len(better):
            return
        fitness, answer = np.append(self.fitness, fitness[better]), np.append(self.answer, answer[better])
        ranked = np.argsort(fitness, kind="stable")
        first = ranked[np.sort(np.unique(answer[ranked], return_index=True)[1])[: self._k]]
        self.rows = Population.joined([self.rows, population.take(better)]).take(first)
        self.fitness, self.answer = fitness[first], answer[first]

    def state(self) -> State:
        """What is kept."""
        return {"fitness": self.fitness.copy(), "answer": self.answer.copy()} | together(rows=flat(self.rows))

    def resume(self, given: Given) -> None:
        """Take what was kept before."""
        rows = given.rows("rows")
        fitness = given.array("fitness", np.float64, len(rows.lengths))
        if len(fitness) > self._k or not np.isfinite(fitness).all() or (np.diff(fitness) < 0).any():
            raise CheckpointError("the formulas to breed from are not the best")
        self.rows, self.fitness = rows, fitness
        self.answer = given.array("answer", np.uint64, len(fitness))
