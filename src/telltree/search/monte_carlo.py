"""Monte Carlo: draw formulas at random and keep the best."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from telltree.grammar import Grammar
from telltree.grammar.growing import deepest, draw, holes_room
from telltree.grammar.population import Population
from telltree.search.memory import Memory
from telltree.search.search import Breeder, Search

_BATCH = 2_048
"""Formulas drawn at a time: enough to make a call worth its overhead, few enough to stay in the cache."""


@dataclass(frozen=True)
class MonteCarlo(Search):
    """Independent random draws; the earliest of equals wins. See `Search` for the settings."""

    evaluations: int | None = 20_000

    @classmethod
    def paper(cls) -> "MonteCarlo":
        """The settings of the paper's authors."""
        return cls(evaluations=2_000, max_depth=5)

    @property
    def revisits(self) -> bool:
        return False

    def breeder(self, grammar: Grammar, seed: int, memory: Memory) -> Breeder:
        return _Drawing(grammar, deepest(grammar.tables, self.max_depth), seed)


class _Drawing:
    def __init__(self, grammar: Grammar, depth: int, seed: int) -> None:
        self._tables, self._depth, self._seed = grammar.tables.growing, depth, np.uint64(seed)
        width = grammar.width(depth)
        self._room, self._todo = Population.room(_BATCH, width, grammar.has_random_constants), holes_room(width)

    def propose(self, generation: int) -> Population:
        draw(self._tables, self._depth, self._seed, generation, self._todo, *self._room)
        return self._room

    def learn(self, population: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        """Draws are independent."""
