"""The stages of a search that goes through several, one after the other."""

import time
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from telltree.errors import CheckpointError
from telltree.grammar.derivations.naming import FREE
from telltree.grammar.derivations.population import Population
from telltree.grammar.shapes.extending import Extending
from telltree.search.elite import Elite
from telltree.search.exhaustive import Sweeping
from telltree.search.genetic_programming import Evolution
from telltree.search.search import LEAST_NEW, PATIENCE, Judge
from telltree.search.state import Given, State, together

Floats = NDArray[np.float64]
Answers = NDArray[np.uint64]

COVERING, EXTENDING = 0.5, 0.2
"""The largest shares of a budget, of formulas or of time, for all small formulas, and for those with one more atom."""
_LEVELS = 3
"""How often the best are extended."""
_MOST_EXTENDED = 20_000
"""Formulas with one more atom that are tried at a time, at most."""
_EXTENDED = 10
"""How many of the best are extended, at least; with fewer atoms each, if the budget is small."""


def new_in(answer: Answers) -> int:
    """How many formulas were scored, of which these are the answers."""
    return int(np.count_nonzero(answer != FREE))


class Spending:
    """How much of the budget was spent, of formulas or of time."""

    def __init__(self, evaluations: int | None, seconds: float | None, share: float) -> None:
        """`share`: how much of the formulas that are left beside covering is spent."""
        self._evaluations, self._seconds, self._share = evaluations, seconds, share
        self.covered, self.sampled, self._begun = 0, 0, 0.0
        """Formulas that were covered, and others; and since when."""

    def begin(self) -> None:
        """Start the clock: making ready, or loading compiled code, may take longer than the time there is."""
        self._begun = time.monotonic()

    def part(self, share: float) -> int | None:
        """How many formulas that share of the budget is; None if there is no limit."""
        return None if self._evaluations is None else int(share * self._share * self._evaluations)

    def is_past(self, share: float) -> bool:
        """Whether this share of the time is over."""
        return self._seconds is not None and time.monotonic() - self._begun > share * self._seconds

    def has_sampled(self, share: float) -> bool:
        """Whether this share of what is left beside covering was spent."""
        if self._evaluations is None:
            return self.is_past(share)
        return self.is_past(share) or self.sampled >= share * self._share * (self._evaluations - self.covered)

    def state(self) -> State:
        seconds = time.monotonic() - self._begun
        return {"covered": np.array(self.covered), "sampled": np.array(self.sampled), "seconds": np.array(seconds)}

    def resume(self, given: Given) -> None:
        self.covered, self.sampled = (given.number(name, np.int64) for name in ("covered", "sampled"))
        self._begun = time.monotonic() - given.number("seconds", np.float64)


class Stage(Protocol):
    """One of several ways to spend a budget, one after the other."""

    sample: Judge | None
    """By what its proposals are judged, if not by all records."""
    again: bool
    """Whether these were tried before, by other records."""

    @property
    def finished(self) -> bool:
        """Whether the next stage begins."""

    def propose(self, generation: int) -> Population: ...

    def learn(self, population: Population, fitness: Floats, answer: Answers) -> None: ...

    def state(self) -> State: ...

    def resume(self, given: Given) -> None: ...


class Covering:
    """All small formulas, or some of them if they are too many."""

    again = False

    def __init__(self, sweeping: Sweeping, into: Elite, sample: Judge | None, spending: Spending) -> None:
        self._sweeping, self._into, self.sample, self._spending = sweeping, into, sample, spending
        self.state, self.resume, self.propose = sweeping.state, sweeping.resume, sweeping.propose

    @property
    def finished(self) -> bool:
        return self._sweeping.finished or self._spending.is_past(COVERING)

    def learn(self, population: Population, fitness: Floats, answer: Answers) -> None:
        self._spending.covered += new_in(answer)
        self._sweeping.learn(population, fitness, answer)
        self._into.learn(population, fitness, answer)


class Again:
    """What did well is judged again, by other records."""

    again = True

    def __init__(self, best: Callable[[], Population], into: Elite, sample: Judge | None) -> None:
        self._best, self._into, self.sample, self.finished = best, into, sample, False

    def propose(self, _: int) -> Population:
        return self._best()

    def learn(self, population: Population, fitness: Floats, answer: Answers) -> None:
        self._into.learn(population, fitness, answer)
        self.finished = True

    def state(self) -> State:
        return {"finished": np.array(int(self.finished))}

    def resume(self, given: Given) -> None:
        self.finished = bool(given.number("finished", np.int64))


class Lengthening:
    """The best with one more atom, and the best of those with another one."""

    again = False

    def __init__(self, extending: Extending, elite: Elite, sample: Judge | None, spending: Spending) -> None:
        self._extending, self._elite, self.sample, self._spending, self._level = extending, elite, sample, spending, 0
        most = spending.part(EXTENDING / _LEVELS)
        self._at_a_time = _MOST_EXTENDED if most is None else max(1, min(_MOST_EXTENDED, most))

    @property
    def finished(self) -> bool:
        return self._level == _LEVELS or self._spending.is_past(COVERING + EXTENDING)

    def propose(self, _: int) -> Population:
        self._level += 1
        return self._extending.best_first(self._elite.rows, self._at_a_time, _EXTENDED)

    def learn(self, population: Population, fitness: Floats, answer: Answers) -> None:
        self._spending.sampled += new_in(answer)
        self._elite.learn(population, fitness, answer)

    def state(self) -> State:
        return {"level": np.array(self._level)}

    def resume(self, given: Given) -> None:
        self._level = given.number("level", np.int64)
        if self._level > _LEVELS:
            raise CheckpointError(f"formulas were extended {self._level} times, of {_LEVELS}")


class Breeding:
    """What is bred from the best."""

    again = False

    def __init__(
        self,
        evolution: Evolution,
        elite: Elite,
        sample: Judge | None,
        spending: Spending,
        *,
        most: int,
        mixed: bool = False,
        until: float = 1.0,
    ) -> None:
        """`most`: from how many of the best, at most; `mixed`: whether random ones breed beside them; `until`: which
        share of the budget is spent in the end."""
        self._evolution, self._elite, self.sample, self._spending = evolution, elite, sample, spending
        self._most, self._mixed, self._until, self._begun, self._idle = most, mixed, until, False, 0

    @property
    def finished(self) -> bool:
        """Whether enough was bred, or hardly anything new for long."""
        return self._idle >= PATIENCE or self._spending.has_sampled(self._until)

    def propose(self, generation: int) -> Population:
        if not self._begun:
            self._begun, best = True, np.arange(min(self._most, len(self._elite.fitness)))
            begin = self._evolution.plant if self._mixed else self._evolution.begin
            begin(self._elite.rows.take(best), self._elite.fitness[best], self._elite.answer[best])
        return self._evolution.propose(generation)

    def learn(self, population: Population, fitness: Floats, answer: Answers) -> None:
        new = new_in(answer)
        self._spending.sampled += new
        self._evolution.learn(population, fitness, answer)
        self._idle = 0 if new > LEAST_NEW * len(population.lengths) else self._idle + 1

    def best(self) -> Population:
        """The best that breed; before they do, the best to breed from."""
        return self._evolution.best() if self._begun else self._elite.rows

    def state(self) -> State:
        own: State = {"begun": np.array(int(self._begun)), "idle": np.array(self._idle)}
        return own | together(evolution=self._evolution.state())

    def resume(self, given: Given) -> None:
        begun, self._idle = (given.number(name, np.int64) for name in ("begun", "idle"))
        self._begun = bool(begun)
        self._evolution.resume(given.part("evolution"))
