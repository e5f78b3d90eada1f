"""Auto: all small formulas first, then the best of them with one more atom, then genetic programming from the best."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from telltree.checks import require_whole
from telltree.errors import CheckpointError, SettingsError
from telltree.grammar import Grammar
from telltree.grammar.derivation import Population
from telltree.grammar.draw import deepest
from telltree.grammar.fill_templates import Extending
from telltree.grammar.random_streams import FREE
from telltree.search.exhaustive import MOST_ATOMS, Exhaustive, ExhaustiveBreeder, formulas_by_atoms
from telltree.search.genetic_programming import Evolution, GeneticProgramming, population_for
from telltree.search.proof import Proof
from telltree.search.search import (
    LEAST_NEW,
    PATIENCE,
    Breeder,
    Elite,
    Judge,
    Memory,
    ResumableBreeder,
    SampledObjective,
    Search,
    Task,
)
from telltree.search.state import SavedState, State, together

# ---- The stages of a search, one after the other.

Floats = NDArray[np.float64]
Answers = NDArray[np.uint64]

COVERING, EXTENDING = 0.5, 0.2
"""The largest shares of a budget, of formulas or of time, for covering small formulas, and for extending the best."""
_LEVELS = 3
"""The number of times that the best are extended."""
_MOST_EXTENDED = 20_000
"""The most formulas with one more atom that are tried at a time."""
_EXTENDED = 10
"""The least number of formulas to extend; with fewer atoms each, if the budget is small."""


def new_in(answer: Answers) -> int:
    """Return the number of formulas that were scored, by their answers."""
    return int(np.count_nonzero(answer != FREE))


class SpentBudget:
    """The part of the budget that was spent, of formulas or of time."""

    def __init__(self, evaluations: int | None, seconds: float | None, share: float) -> None:
        """`share` is the share of the formulas left beside covering that may be spent."""
        self._evaluations, self._seconds, self._share = evaluations, seconds, share
        self.covered, self.sampled, self._begun = 0, 0, 0.0
        """The formulas that were covered, the others, and the time at which the clock started."""

    def begin(self) -> None:
        """Start the clock. Preparation, or loading compiled code, may take longer than the time there is."""
        self._begun = time.monotonic()

    def part(self, share: float) -> int | None:
        """Return the number of formulas in that share of the budget; None if there is no limit."""
        return None if self._evaluations is None else int(share * self._share * self._evaluations)

    def is_past(self, share: float) -> bool:
        """Return True if this share of the time is over."""
        return self._seconds is not None and time.monotonic() - self._begun > share * self._seconds

    def has_sampled(self, share: float) -> bool:
        """Return True if this share of the budget left beside covering was spent."""
        if self._evaluations is None:
            return self.is_past(share)
        return self.is_past(share) or self.sampled >= share * self._share * (self._evaluations - self.covered)

    def state(self) -> State:
        seconds = time.monotonic() - self._begun
        return {"covered": np.array(self.covered), "sampled": np.array(self.sampled), "seconds": np.array(seconds)}

    def resume(self, given: SavedState) -> None:
        self.covered, self.sampled = (given.number(name, np.int64) for name in ("covered", "sampled"))
        self._begun = time.monotonic() - given.number("seconds", np.float64)


class Stage(Protocol):
    """A way to spend a part of the budget."""

    sample: Judge | None
    """The judge of its proposals, if that is not all records."""
    again: bool
    """True if its proposals were tried before, by other records."""

    @property
    def finished(self) -> bool:
        """True if the next stage should begin."""

    def propose(self, generation: int) -> Population: ...

    def learn(self, population: Population, fitness: Floats, answer: Answers) -> None: ...

    def state(self) -> State: ...

    def resume(self, given: SavedState) -> None: ...


class CoverStage:
    """The stage that tries all small formulas, or some of them if they are too many."""

    again = False

    def __init__(self, sweeping: ExhaustiveBreeder, into: Elite, sample: Judge | None, spending: SpentBudget) -> None:
        self._sweeping, self._into, self.sample, self._spending = sweeping, into, sample, spending
        self.state, self.resume, self.propose = sweeping.state, sweeping.resume, sweeping.propose

    @property
    def finished(self) -> bool:
        return self._sweeping.finished or self._spending.is_past(COVERING)

    def learn(self, population: Population, fitness: Floats, answer: Answers) -> None:
        self._spending.covered += new_in(answer)
        self._sweeping.learn(population, fitness, answer)
        self._into.learn(population, fitness, answer)


class RejudgeStage:
    """The stage that judges the best again, by other records."""

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

    def resume(self, given: SavedState) -> None:
        self.finished = bool(given.number("finished", np.int64))


class ExtendStage:
    """The stage that extends the best by one atom, and the best of those by another one."""

    again = False

    def __init__(self, extending: Extending, elite: Elite, sample: Judge | None, spending: SpentBudget) -> None:
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

    def resume(self, given: SavedState) -> None:
        self._level = given.number("level", np.int64)
        if self._level > _LEVELS:
            raise CheckpointError(f"formulas were extended {self._level} times, of {_LEVELS}")


class BreedStage:
    """The stage of genetic programming from the best."""

    again = False

    def __init__(
        self,
        evolution: Evolution,
        elite: Elite,
        sample: Judge | None,
        spending: SpentBudget,
        *,
        most: int,
        mixed: bool = False,
        until: float = 1.0,
    ) -> None:
        """`most` is the number of formulas to start from, `mixed` adds random ones, `until` is the share of the budget
        at which the stage ends.
        """
        self._evolution, self._elite, self.sample, self._spending = evolution, elite, sample, spending
        self._most, self._mixed, self._until, self._begun, self._idle = most, mixed, until, False, 0

    @property
    def finished(self) -> bool:
        """True if the budget share is spent, or hardly anything new was found for long."""
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
        """The best parents; before breeding begins, the best to start from."""
        return self._evolution.best() if self._begun else self._elite.rows

    def state(self) -> State:
        own: State = {"begun": np.array(int(self._begun)), "idle": np.array(self._idle)}
        return own | together(evolution=self._evolution.state())

    def resume(self, given: SavedState) -> None:
        begun, self._idle = (given.number(name, np.int64) for name in ("begun", "idle"))
        self._begun = bool(begun)
        self._evolution.resume(given.part("evolution"))


# ---- Auto itself
#
# With many records, formulas that prove nothing are judged by a sample, and only the best of them by all records.

_BUDGET = 100_000
"""The default number of formulas to try."""
_USUAL, _LARGEST = 2, 12
"""The numbers of atoms up to which all formulas are tried: by default, and at most."""
_FEW_KINDS, _ALIKE = 20, 100
"""The limits for trying more atoms: listing takes long if there are more kinds of formulas, such as `F(a and b)`, or
this many times more formulas than may be tried. Many of these mean the same, but not so many.
"""
_UNLISTED = 0.2
"""The share of the budget for grammars that cannot be listed: it proves nothing, and random constants take longer."""
_PLANTED = 80
"""The number of the best that join random formulas as parents: if all parents are small, breeding leads nowhere."""
_POPULATION = 0.34
"""The size of the population, as a share of that of genetic programming for as many evaluations, part of which are
spent before.
"""
_MOVED = 200
"""The number of the best by all records that are judged again by a sample, to be extended and bred from."""
_FINISHING, _FINALISTS = 0.05, 600
"""The share of the budget for breeding by all records in the end, and the number of the best by the sample to start
from.
"""


@dataclass(frozen=True, repr=False)
class Auto(Search):
    """Tries all small formulas, joins the best with one more atom, three times over, and breeds from the best of all
    and from random ones.

    `SearchResult.proof` says what was covered: all formulas of up to two atoms, or fewer if these would take more
    than half of the budget, or more in a grammar of few kinds of formulas. If that is all it has, the search ends
    there; else larger formulas are sampled. If those of one atom are too many, because they count and compare with
    many numbers, only those are tried in which an atom is all that is chosen, and nothing is proved. Grammars with
    random constants, or with too many atoms or kinds of formulas to list, are only bred from, with a fifth of the
    budget, and nothing is proved.

    What proves nothing is judged by 1,200 to 1,800 records of each class that has 2,400 or more, and if it does well by
    all records in the end, so what is found and its fitness are about all records; a formula that is tried by both
    counts twice. Below the root less of it is tried, by the square root of what there is still to tell.

    max_atoms: up to how many atoms, such as `x < 5`, all formulas are tried, if the budget allows it (None: two, or
        more if that is little work).
    See `Search` for the other settings.
    """

    evaluations: int | None = _BUDGET
    max_atoms: int | None = None

    @property
    def revisits(self) -> bool:
        return False

    def check(self, grammar: Grammar) -> None:
        super().check(grammar)
        if self.max_atoms is not None:
            require_whole("max_atoms", self.max_atoms, 1, MOST_ATOMS)

    def breeder(self, task: Task) -> Breeder:
        return _AutoBreeder(self, task)


class _AutoBreeder:
    """The breeder that covers, extends and breeds, one after the other.

    Grammars that cannot be listed are only bred from. With a sample, it judges all formulas that prove nothing. The
    best of those covered by all records are judged again by the sample first; in the end the best by the sample are
    judged by all records, and bred from.
    """

    def __init__(self, settings: Auto, task: Task) -> None:
        self._settings, self._at, grammar = settings, 0, task.grammar
        share = task.budget_weight**0.5
        self._sweeping = sweeping = _covering(settings, task, share)
        self._spending = spending = SpentBudget(
            settings.evaluations, settings.seconds, share if sweeping is not None else _UNLISTED * share
        )
        self._judge = judge = _sample(settings, task)
        depth = deepest(grammar.tables, settings.max_depth)
        best = population_for(settings.evaluations if sweeping is not None else spending.part(1.0))
        known, sampled = (Elite(best, grammar.width(depth), grammar.has_random_constants) for _ in range(2))
        self._known, self._elite = known, known if judge is None else sampled
        self._stages: list[Stage] = []
        if sweeping is not None:
            into = (known, None) if sweeping.proves else (self._elite, judge)
            self._stages.append(CoverStage(sweeping, *into, spending))
        if judge is not None:
            self._stages.append(RejudgeStage(self._covered, self._elite, judge))
        if sweeping is not None:
            extending = Extending(grammar, depth, sweeping.fillings, sweeping.telling)
            self._stages.append(ExtendStage(extending, self._elite, judge, spending))
        self._breeding = self._breed(task, best)
        self._stages.append(self._breeding)
        if judge is not None:
            last = Evolution(self._bred(_FINALISTS), grammar, task.seed, task.memory)
            self._stages.append(RejudgeStage(self._breeding.best, known, None))
            self._stages.append(BreedStage(last, known, None, spending, most=_FINALISTS))

    def _bred(self, population: int) -> GeneticProgramming:
        return GeneticProgramming(max_depth=self._settings.max_depth, population=population)

    def _breed(self, task: Task, best: int) -> BreedStage:
        """Return the stage that breeds from these, beside random formulas."""
        judge, spending = self._judge, self._spending
        if judge is not None:
            population, memory, until = best, judge.memory, 1 - _FINISHING
        else:
            share = 1.0 if self._settings.evaluations is None or self._sweeping is None else _POPULATION
            population, memory, until = int(share * best), task.memory, 1.0
        evolution = Evolution(self._bred(population), task.grammar, task.seed, memory)
        return BreedStage(evolution, self._elite, judge, spending, most=_PLANTED, mixed=True, until=until)

    def _covered(self) -> Population:
        """Return the best by all records, to be judged by the sample."""
        return self._known.rows.take(np.arange(min(_MOVED, len(self._known.fitness))))

    @property
    def finished(self) -> bool:
        """True if everything worth the budget was tried, or everything there is."""
        if self._sweeping is not None and self._sweeping.is_all and self._sweeping.finished:
            return True
        return self._at + 1 == len(self._stages) and self._stages[-1].finished

    total = None

    @property
    def sample(self) -> Judge | None:
        """The judge of the next proposal, if that is not all records."""
        return self._stages[self._at].sample

    @property
    def again(self) -> bool:
        """True if the next proposal was tried by other records before."""
        return self._stages[self._at].again

    def finalists(self) -> Population:
        """Return the best by the sample, best first; nothing if there is no sample."""
        return self._elite.rows.take(np.arange(0)) if self._judge is None else self._breeding.best()

    def propose(self, generation: int) -> Population:
        if generation == 0:
            self._spending.begin()
        while self._stages[self._at].finished and self._at + 1 < len(self._stages):
            self._at += 1
        return self._stages[self._at].propose(generation)

    def learn(self, population: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        self._stages[self._at].learn(population, fitness, answer)

    def plant(self, population: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        """Add formulas to those to extend and to breed from."""
        self._spending.sampled += new_in(answer)
        self._known.learn(population, fitness, answer)

    def cut_short(self) -> None:
        if self._sweeping is not None:
            self._sweeping.cut_short()

    def proof(self, fitness: float) -> Proof:
        """Return the proof, with the number of larger formulas that were sampled."""
        settings, sampled = self._settings, self._spending.sampled
        if self._sweeping is None:
            return Proof(0, settings.max_depth, None, 0, 0, settings.max_atoms or _USUAL, fitness, sampled)
        found = self._sweeping.proof(fitness)
        wanted = settings.max_atoms or max(_USUAL, found.wanted)
        return replace(found, wanted=wanted, sampled=found.sampled + sampled)

    @property
    def _parts(self) -> dict[str, ResumableBreeder]:
        """The parts that have a state; parts that others read come first."""
        found: dict[str, ResumableBreeder] = {"spending": self._spending, "elite": self._elite}
        if self._judge is not None:
            found |= {"known": self._known, "memory": self._judge.memory}
        return found | {f"stage{k}": stage for k, stage in enumerate(self._stages)}

    def state(self) -> State:
        own: State = {"stage": np.array(self._at)}
        return own | together(**{name: part.state() for name, part in self._parts.items()})

    def resume(self, given: SavedState) -> None:
        self._at = given.number("stage", np.int64)
        if self._at >= len(self._stages):
            raise CheckpointError(f"it was at stage {self._at} of {len(self._stages)}")
        for name, part in self._parts.items():
            part.resume(given.part(name))


def _covering(settings: Auto, task: Task, share: float) -> ExhaustiveBreeder | None:
    """Return the search that covers formulas of as many atoms as the budget allows, or some of one atom; None if they
    cannot be listed.
    """
    best, budget = population_for(settings.evaluations), settings.evaluations
    most = int(COVERING * (budget or _BUDGET))
    numbers = formulas_by_atoms(task.grammar, _LARGEST, settings.max_depth)

    def sweeping(atoms: int) -> ExhaustiveBreeder:
        search = Exhaustive(evaluations=1, max_atoms=atoms, max_depth=settings.max_depth, keep=best)
        return search.breeder(task)

    usual = settings.max_atoms or max(_USUAL, min(numbers, default=_USUAL))
    in_turn = [usual, *sorted((n for n in numbers if n < usual), reverse=True)]
    try:
        for atoms in in_turn:
            formulas = max((of for n, of in numbers.items() if n <= atoms), default=0)
            if budget is not None and formulas > _ALIKE * most and atoms != in_turn[-1]:
                continue
            found = sweeping(atoms)
            if budget is None or found.total <= most:
                more = {n: of for n, of in numbers.items() if n > atoms == usual}
                return found if settings.max_atoms else _larger(found, sweeping, more, most)
    except SettingsError:
        return None
    found.narrow(int(share * most))
    return found


def _larger(
    found: ExhaustiveBreeder, sweeping: Callable[[int], ExhaustiveBreeder], numbers: dict[int, int], most: int
) -> ExhaustiveBreeder:
    """Return a search that covers more atoms, as long as it is cheap to know that the budget allows it."""
    for atoms, formulas in numbers.items():
        if found.kinds > _FEW_KINDS or formulas > _ALIKE * most:
            break
        try:
            larger = sweeping(atoms)
        except SettingsError:  # too many kinds
            break
        if larger.total > most:
            break
        found = larger
    return found


def _sample(settings: Auto, task: Task) -> Judge | None:
    """Return the judge by a sample, if there are enough records to draw one."""
    objective = task.objective.sample(task.seed) if isinstance(task.objective, SampledObjective) else None
    return None if objective is None else Judge(objective, Memory(False, settings.evaluations))
