"""Monte Carlo: draw formulas at random and keep the best."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from telltree.checks import PaperExperiment, require_experiment
from telltree.grammar import Grammar
from telltree.grammar.derivation import Population
from telltree.grammar.draw import NO_ROW, Lanes, Simplest, deepest, draw
from telltree.grammar.random_streams import FREE
from telltree.search.search import Breeder, Search, Task
from telltree.search.state import SavedState, State

_BATCH = 2_048
"""Formulas in a batch, which share a set of random streams: few enough to stay in the cache."""
_MOST_BATCHES = 4
"""Batches drawn at a time if the budget is large, to spread the fixed cost of a round over more formulas."""


@dataclass(frozen=True, repr=False)
class MonteCarlo(Search):
    """Independent random draws; the earliest of equals wins. See `Search` for the settings."""

    evaluations: int | None = 20_000

    @classmethod
    def paper(cls, experiment: PaperExperiment = "auslan") -> "MonteCarlo":
        """The settings of the paper's authors, from the sources that `GeneticProgramming.paper` names.

        2,000 formulas of depth 5 for the signs, 500,000 for the encounters.
        """
        require_experiment(experiment)
        if experiment == "auslan":
            return cls(evaluations=2_000, max_depth=5)
        return cls(evaluations=500_000)

    @property
    def revisits(self) -> bool:
        return False

    @property
    def least_new(self) -> float:
        return 0.0  # draws cost little, and do not become alike

    def breeder(self, task: Task) -> Breeder:
        return _Drawing(task.grammar, deepest(task.grammar.tables, self.max_depth), task.seed, self._batches)

    @property
    def _batches(self) -> int:
        """The number of batches in a generation.

        For any number, the same formulas are tried in the same order, until the budget is spent; only a search that no
        longer finds anything new gives up after more draws.
        """
        if self.seconds is not None or self.generations is not None or self.evaluations is None:
            return 1
        return min(max(1, self.evaluations // (_MOST_BATCHES * _BATCH)), _MOST_BATCHES)


class _Drawing:
    def __init__(self, grammar: Grammar, depth: int, seed: int, batches: int) -> None:
        self._tables, self._depth, self._seed = grammar.tables.growing, depth, np.uint64(seed)
        width = grammar.width(depth)
        self._lanes = Lanes.empty(grammar.tables, width)
        self._simplest = Simplest.of(grammar.tables, depth)
        self._untried = self._simplest.number
        self._room = Population.empty(batches * _BATCH, width, grammar.has_random_constants)
        self._batches = [
            Population._make(part[start : start + _BATCH] for part in self._room)
            for start in range(0, batches * _BATCH, _BATCH)
        ]

    def propose(self, generation: int) -> Population:
        known = NO_ROW if self._untried else self._simplest.row
        for number, batch in enumerate(self._batches, generation * len(self._batches)):
            draw(self._tables, self._depth, self._seed, number, known, self._lanes, *batch.for_kernels())
        return self._room

    def learn(self, population: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        """Note when every simplest formula has been tried; draws are independent otherwise."""
        if self._untried:
            new = answer != FREE
            second = self._tables.shoot["number"].take(population.rules[:, 1])
            self._untried -= int(np.count_nonzero(new & (second == 0)))

    def state(self) -> State:
        """Return the number of simplest formulas not tried yet; streams depend on the generation alone."""
        return {"untried": np.array(self._untried)}

    def resume(self, given: SavedState) -> None:
        self._untried = given.number("untried", np.int64)
