"""Auto: all small formulas first, the best of them with one more atom next, and then what is bred from the best."""

import time
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from telltree.errors import CheckpointError, SettingsError
from telltree.grammar import Grammar
from telltree.grammar.derivations.growing import deepest
from telltree.grammar.derivations.naming import FREE
from telltree.grammar.derivations.population import Population
from telltree.grammar.shapes.extending import Extending
from telltree.search.elite import Elite
from telltree.search.exhaustive import MOST_ATOMS, Exhaustive, Sweeping
from telltree.search.genetic_programming import Evolution, GeneticProgramming, population_for
from telltree.search.proof import Proof
from telltree.search.search import PATIENCE, Breeder, Search, Task
from telltree.search.state import Given, State, together
from telltree.whole import require_whole

_COVERING, _EXTENDING = 0.5, 0.2
"""The largest shares of a budget, of formulas or of time, for all small formulas, and for those with one more atom."""
_LEVELS = 3
"""How often the best are extended."""
_MOST_EXTENDED = 20_000
"""Formulas with one more atom that are tried at a time, at most."""
_EXTENDED = 10
"""How many of the best are extended, at least; with fewer atoms each, if the budget is small."""
_PLANTED = 80
"""How many of the best are bred from, beside random ones: if all parents are small, breeding leads nowhere."""
_POPULATION = 0.34
"""The size of the population, as a share of what breeding alone takes for as many evaluations: part of them is spent
before."""


@dataclass(frozen=True, repr=False)
class Auto(Search):
    """Tries all small formulas, joins the best with one more atom, three times over, and breeds from the best of all
    and from random ones.

    `Found.proof` says what was covered: all formulas of up to `max_atoms` atoms, or fewer if these would take more than
    half of the budget. Larger formulas are sampled. If those of one atom are too many, because they count and compare
    with many numbers, only those are tried in which an atom is all that is chosen, and nothing is proved. Grammars with
    random constants, or with too many atoms or kinds of formulas to list, are only bred from, as by
    `GeneticProgramming`, and there is no proof.

    max_atoms: up to how many atoms, such as `x < 5`, all formulas are tried, if the budget allows it.
    See `Search` for the other settings.
    """

    evaluations: int | None = 200_000
    max_atoms: int = 2

    @property
    def revisits(self) -> bool:
        return False

    def check(self, grammar: Grammar) -> None:
        super().check(grammar)
        require_whole("max_atoms", self.max_atoms, 1, MOST_ATOMS)

    def breeder(self, task: Task) -> Breeder:
        alone = GeneticProgramming(evaluations=self.evaluations, max_depth=self.max_depth)
        last = alone
        if self.evaluations is not None:
            last = replace(alone, population=int(_POPULATION * population_for(self.evaluations)))
        try:
            return _InTurn(self, task, Evolution(last, task.grammar, task.seed, task.memory))
        except SettingsError:  # what cannot be listed can be bred
            return Evolution(alone, task.grammar, task.seed, task.memory)


class _Stage(IntEnum):
    COVER = 0
    EXTEND = 1
    BREED = 2


class _InTurn:
    """Covers, extends and breeds, one after the other."""

    def __init__(self, settings: Auto, task: Task, evolution: Evolution) -> None:
        self._settings, self._evolution = settings, evolution
        depth = deepest(task.grammar.tables, settings.max_depth)
        best = population_for(settings.evaluations)
        self._elite = Elite(best, task.grammar.width(depth))
        self._sweeping = _covering(settings, task, best)
        self._extending = Extending(task.grammar, depth, self._sweeping.texts, self._sweeping.telling)
        self._stage = _Stage.COVER
        self._level, self._sampled, self._idle, self._begun = 0, 0, 0, time.monotonic()

    @property
    def finished(self) -> bool:
        """Whether nothing new was bred for long."""
        return self._idle >= PATIENCE

    total = None

    def propose(self, generation: int) -> Population:
        if self._stage == _Stage.COVER and (self._sweeping.finished or self._spent(_COVERING)):
            self._stage = _Stage.EXTEND
        if self._stage == _Stage.EXTEND and (self._level == _LEVELS or self._spent(_COVERING + _EXTENDING)):
            self._stage = _Stage.BREED
            best = np.arange(min(_PLANTED, len(self._elite.fitness)))
            self._evolution.plant(self._elite.rows.take(best), self._elite.fitness[best], self._elite.answer[best])
        if self._stage == _Stage.COVER:
            return self._sweeping.propose(generation)
        if self._stage == _Stage.BREED:
            return self._evolution.propose(generation)
        self._level += 1
        return self._extending.best_first(self._elite.rows, self._at_a_time, _EXTENDED)

    def _spent(self, share: float) -> bool:
        seconds = self._settings.seconds
        return seconds is not None and time.monotonic() - self._begun > share * seconds

    @property
    def _at_a_time(self) -> int:
        """How many formulas with one more atom to try."""
        budget = self._settings.evaluations
        most = _MOST_EXTENDED if budget is None else min(_MOST_EXTENDED, int(_EXTENDING * budget / _LEVELS))
        return max(1, most)

    def learn(self, population: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        new = int(np.count_nonzero(answer != FREE))
        if self._stage == _Stage.COVER:
            self._sweeping.learn(population, fitness, answer)
        else:
            self._sampled += new
        if self._stage == _Stage.BREED:
            self._evolution.learn(population, fitness, answer)
            self._idle = 0 if new else self._idle + 1
        else:
            self._elite.learn(population, fitness, answer)

    def plant(self, population: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        """Have formulas among those to extend and to breed from."""
        self._sampled += int(np.count_nonzero(answer != FREE))
        self._elite.learn(population, fitness, answer)

    def proof(self, fitness: float) -> Proof:
        """What is proved, and how many larger formulas were sampled."""
        return replace(self._sweeping.proof(fitness), wanted=self._settings.max_atoms, sampled=self._sampled)

    def state(self) -> State:
        numbers = {"stage": int(self._stage), "level": self._level, "sampled": self._sampled, "idle": self._idle}
        own: State = {name: np.array(number) for name, number in numbers.items()}
        own["seconds"] = np.array(time.monotonic() - self._begun)
        parts = {"sweeping": self._sweeping.state(), "elite": self._elite.state()}
        return own | together(**parts, evolution=self._evolution.state())

    def resume(self, given: Given) -> None:
        names = ("stage", "level", "sampled", "idle")
        stage, self._level, self._sampled, self._idle = (given.number(name, np.int64) for name in names)
        if stage > max(_Stage) or self._level > _LEVELS:
            raise CheckpointError(f"it was at stage {stage} of {len(_Stage)}")
        self._stage = _Stage(stage)
        self._begun = time.monotonic() - given.number("seconds", np.float64)
        self._sweeping.resume(given.part("sweeping"))
        self._elite.resume(given.part("elite"))
        self._evolution.resume(given.part("evolution"))


def _covering(settings: Auto, task: Task, best: int) -> Sweeping:
    """What covers all formulas of up to as many atoms as the budget allows, or else as many of one atom as it does."""
    most = None if settings.evaluations is None else int(_COVERING * settings.evaluations)
    for atoms in range(settings.max_atoms, 0, -1):
        search = Exhaustive(evaluations=1, max_atoms=atoms, max_depth=settings.max_depth, keep=best)
        sweeping = search.breeder(task)
        if most is None or sweeping.total <= most:
            return sweeping
    assert most is not None  # else all is allowed
    sweeping.narrow(most)
    return sweeping
