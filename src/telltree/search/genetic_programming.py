"""Genetic programming: formulas exchange and regrow parts, and fitter ones have more children."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from telltree.errors import CheckpointError, SettingsError
from telltree.grammar import Grammar
from telltree.grammar.derivations.drawing import NO_ROW, Lanes, draw
from telltree.grammar.derivations.flat import flat
from telltree.grammar.derivations.growing import deepest
from telltree.grammar.derivations.population import Population
from telltree.search.breeding import BreedingScratch, Chances, Parents, breed, survive
from telltree.search.memory import Memory
from telltree.search.search import LEAST_NEW, Breeder, Search, Task
from telltree.search.settings import (
    MOST_INDIVIDUALS,
    PaperExperiment,
    require_experiment,
    require_share,
)
from telltree.search.state import Given, State, together
from telltree.whole import require_whole

_ATTEMPTS = 6
"""How often a pair of children may be bred again because both were tried before. Off if parents may be copied."""


@dataclass(frozen=True, repr=False)
class GeneticProgramming(Search):
    """Type-compatible subtree crossover, subtree mutation, tournament selection. See `Search` for the other settings.

    population: how many formulas live at a time; by default it follows the budget.
    tournament: how many are drawn, of which the fittest becomes a parent.
    crossover, mutation: how often parents exchange subtrees, or have one regrown; the rest are copied.
    survival: "best", the fittest of parents and children, or "children", whatever they are.
    unique: keep only one formula for each way of splitting the records.
    """

    population: int | None = None
    tournament: int = 5
    crossover: float = 0.5
    mutation: float = 0.5
    survival: Literal["best", "children"] = "best"
    unique: bool = True

    @classmethod
    def paper(cls, experiment: PaperExperiment = "auslan") -> "GeneticProgramming":
        """The settings of the paper's authors: 20 generations of 1,000 for the signs, 100 of 5,000 for the encounters.

        The paper does not give them. Those for "auslan" are from the examples of the authors' later code, those for
        "acasx" from the code of the experiment.
        """
        require_experiment(experiment)
        alike = cls(crossover=0.3, mutation=0.4, survival="children", unique=False)
        if experiment == "auslan":
            return replace(alike, evaluations=20_000, generations=20, population=1_000, tournament=2)
        return replace(alike, evaluations=500_000, generations=100, population=5_000, tournament=500, max_depth=10)

    def check(self, grammar: Grammar) -> None:
        super().check(grammar)
        if self.population is not None:
            require_whole("population", self.population, 2, MOST_INDIVIDUALS)
        require_whole("tournament", self.tournament, 1, MOST_INDIVIDUALS)
        require_share("crossover", self.crossover)
        require_share("mutation", self.mutation)
        if not 0 < self.crossover + self.mutation <= 1:
            raise SettingsError(
                f"crossover and mutation must add up to more than 0 and at most 1, got {self.crossover!r} and "
                f"{self.mutation!r}"
            )
        if self.survival not in ("best", "children"):
            raise SettingsError(f'survival must be "best" or "children", got {self.survival!r}')

    @property
    def revisits(self) -> bool:
        return self.survival == "children"  # otherwise the good ones are still among the parents

    @property
    def least_new(self) -> float:
        return LEAST_NEW if self.unique else 0.0  # a population whose individuals become alike may still find more

    def breeder(self, task: Task) -> Breeder:
        return Evolution(self, task.grammar, task.seed, task.memory)


def population_for(evaluations: int | None) -> int:
    """Small populations make the best use of a small budget; larger ones keep improving for longer."""
    if evaluations is None:
        return 2_000
    return int(np.clip(3.5 * evaluations**0.5, 50, 3_000)) // 2 * 2


class Evolution:
    """Breeds a population; `begin` gives it one to start from."""

    def __init__(self, settings: GeneticProgramming, grammar: Grammar, seed: int, memory: Memory) -> None:
        self._settings, self._tables, self._seed, self._memory = (
            settings,
            grammar.tables.growing,
            np.uint64(seed),
            memory,
        )
        self._depth = deepest(grammar.tables, settings.max_depth)
        width = grammar.width(self._depth)
        size = settings.population or population_for(settings.evaluations)
        size += size % 2
        attempts = _ATTEMPTS if settings.crossover + settings.mutation > 1 - 1e-9 else 1
        self._chances = Chances(settings.tournament, float(settings.crossover), float(settings.mutation), attempts)
        constants = grammar.has_random_constants
        self._drawn = False
        self._rows, self._children = (Population.empty(size, width, constants) for _ in range(2))
        self._parents, self._rooms = Parents.empty(0), [Parents.empty(size) for _ in range(2)]
        self._scratch = BreedingScratch.empty(grammar.tables, width, size // 2)
        self._lanes = Lanes.empty(grammar.tables, width)
        self._seen, self._origin = np.zeros(1 << (4 * size).bit_length(), np.uint64), np.empty(size, np.int64)
        self._order = np.empty((2, size), np.int64)

    def plant(self, population: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        """Have formulas among the parents of the first generation, which is drawn beside them."""
        ranked = np.argsort(fitness, kind="stable")[: len(self._rows.lengths)]
        self.begin(population.take(ranked), fitness[ranked], answer[ranked])
        self._drawn = False

    def begin(self, rows: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        """Start from formulas that were tried, best first, no more than the population has room for."""
        number = len(rows.lengths)
        self._rows.rules[:number], self._rows.constants[:number] = rows.rules, rows.constants
        self._rows.lengths[:number] = rows.lengths
        self._parents, self._drawn = Parents(np.arange(number), fitness, answer), number > 0

    def propose(self, generation: int) -> Population:
        if not self._drawn:
            self._drawn = True
            draw(self._tables, self._depth, self._seed, generation, NO_ROW, self._lanes, *self._children.for_kernels())
        else:
            breed(
                self._tables, self._depth, self._seed, generation, self._chances, self._parents,
                *self._rows.for_kernels()[:3], *self._children.for_kernels(), self._memory.keys, self._scratch,
            )  # fmt: skip
        return self._children

    def learn(self, population: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        if self._settings.survival == "children":
            if not self._settings.unique and population.lengths.min() > 0:  # all of them
                self._parents = Parents(np.arange(len(fitness)), fitness, answer)
                self._children, self._rows = self._rows, population
                return
            self._parents = self._parents.first(0)
        full = len(self._parents.rows) == len(fitness)
        worst = self._parents.fitness[-1] if full else np.nan  # all have a chance
        taken = survive(
            self._parents, *self._rows.for_kernels()[:3], fitness, answer, *population.for_kernels()[:3], worst,
            self._settings.unique, self._seen, self._rooms[0], self._origin, self._order,
        )  # fmt: skip
        self._parents = self._rooms[0].first(taken)
        self._rooms.reverse()

    def best(self) -> Population:
        """The parents, best first."""
        return self._rows.take(self._parents.rows)

    def state(self) -> State:
        """The parents, in their order; in which rows they are makes no difference."""
        rows, fitness, answer = self._parents
        return {"fitness": fitness.copy(), "answer": answer.copy()} | together(parents=flat(self._rows.take(rows)))

    def resume(self, given: Given) -> None:
        parents = given.rows("parents")
        number = len(parents.lengths)
        if number > len(self._rows.lengths):
            raise CheckpointError(f"there are {number} parents in a population of {len(self._rows.lengths)}")
        fitness, answer = given.array("fitness", np.float64, number), given.array("answer", np.uint64, number)
        if np.isnan(fitness).any():
            raise CheckpointError("the fitness of a parent is no number")
        self.begin(parents, fitness, answer)
