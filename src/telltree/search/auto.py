"""Auto: all small formulas first, the best of them with one more atom next, and then what is bred from the best.

Where records are many, what is not proved is judged by a sample of them, and only what does best there by all.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from telltree.errors import CheckpointError, SettingsError
from telltree.grammar import Grammar
from telltree.grammar.derivations.growing import deepest
from telltree.grammar.derivations.population import Population
from telltree.grammar.shapes.extending import Extending
from telltree.search.elite import Elite
from telltree.search.exhaustive import MOST_ATOMS, Exhaustive, Sweeping
from telltree.search.genetic_programming import Evolution, GeneticProgramming, population_for
from telltree.search.memory import Memory
from telltree.search.proof import Proof
from telltree.search.search import Breeder, Judge, Resumable, Sampling, Search, Task
from telltree.search.stages import COVERING, Again, Breeding, Covering, Lengthening, Spending, Stage, new_in
from telltree.search.state import Given, State, together
from telltree.whole import require_whole

_USUAL = 2
"""Up to how many atoms all formulas are tried, unless the budget is too small, or large enough for more."""
_FEW_KINDS = 20
"""With more kinds of formulas, such as `F(a and b)`, all of them with one more atom take long to list."""
_PLANTED = 80
"""How many of the best are bred from, beside random ones: if all parents are small, breeding leads nowhere."""
_POPULATION = 0.34
"""The size of the population, as a share of what breeding alone takes for as many evaluations: part of them is spent
before."""
_MOVED = 200
"""How many of the best by all records are judged again by a sample, to be extended and bred from."""
_FINISHING, _FINALISTS = 0.05, 600
"""The share of the budget that is bred by all records in the end, and from how many of the best by the sample."""


@dataclass(frozen=True, repr=False)
class Auto(Search):
    """Tries all small formulas, joins the best with one more atom, three times over, and breeds from the best of all
    and from random ones.

    `Found.proof` says what was covered: all formulas of up to two atoms, or fewer if these would take more than half of
    the budget, or more in a grammar of few kinds of formulas, which may be all it has. Larger formulas are sampled. If
    those of one atom are too many, because they count and compare with many numbers, only those are tried in which an
    atom is all that is chosen, and nothing is proved. Grammars with random constants, or with too many atoms or kinds
    of formulas to list, are only bred from, as by `GeneticProgramming`, and there is no proof.

    What proves nothing is judged by 1,200 to 2,400 records of each class where there are more, and if it does well by
    all records in the end, so what is found and its fitness are about all records. Below the root less of it is tried,
    by the square root of what there is still to tell.

    max_atoms: up to how many atoms, such as `x < 5`, all formulas are tried, if the budget allows it (None: two, or
        more if that is little work).
    See `Search` for the other settings.
    """

    evaluations: int | None = 100_000
    max_atoms: int | None = None

    @property
    def revisits(self) -> bool:
        return False

    def check(self, grammar: Grammar) -> None:
        super().check(grammar)
        if self.max_atoms is not None:
            require_whole("max_atoms", self.max_atoms, 1, MOST_ATOMS)

    def breeder(self, task: Task) -> Breeder:
        try:
            return _InTurn(self, task)
        except SettingsError:  # what cannot be listed can be bred
            alone = GeneticProgramming(evaluations=self.evaluations, max_depth=self.max_depth)
            return Evolution(alone, task.grammar, task.seed, task.memory)


class _InTurn:
    """Covers, extends and breeds, one after the other.

    With a sample, what proves nothing is judged by it. The best that was covered by all records is judged again by the
    sample before, and the best by the sample by all records afterwards, and bred on.
    """

    def __init__(self, settings: Auto, task: Task) -> None:
        self._settings, self._at = settings, 0
        self._spending = spending = Spending(settings.evaluations, settings.seconds, task.stake**0.5)
        self._sweeping = sweeping = _covering(settings, task, spending)
        self._judge = judge = _sample(settings, task)
        depth, best = deepest(task.grammar.tables, settings.max_depth), population_for(settings.evaluations)
        width = task.grammar.width(depth)
        self._known = known = Elite(best, width)
        self._elite = elite = known if judge is None else Elite(best, width)

        def evolution(memory: Memory, population: int) -> Evolution:
            bred = GeneticProgramming(max_depth=settings.max_depth, population=population)
            return Evolution(bred, task.grammar, task.seed, memory)

        covering = Covering(sweeping, *((known, None) if sweeping.proves else (elite, judge)), spending)
        lengthening = Lengthening(
            Extending(task.grammar, depth, sweeping.texts, sweeping.telling), elite, judge, spending
        )
        self._stages: list[Stage]
        if judge is None:
            share = 1.0 if settings.evaluations is None else _POPULATION
            bred = evolution(task.memory, int(share * best))
            self._breeding = Breeding(bred, elite, None, spending, most=_PLANTED, mixed=True)
            self._stages = [covering, lengthening, self._breeding]
        else:
            bred, last = evolution(judge.memory, best), evolution(task.memory, _FINALISTS)
            until = 1 - _FINISHING
            self._breeding = Breeding(bred, elite, judge, spending, most=_PLANTED, mixed=True, until=until)
            to_sample, to_all = Again(self._covered, elite, judge), Again(self._breeding.best, known, None)
            finishing = Breeding(last, known, None, spending, most=_FINALISTS)
            self._stages = [covering, to_sample, lengthening, self._breeding, to_all, finishing]

    def _covered(self) -> Population:
        """The best by all records, to be judged by the sample."""
        return self._known.rows.take(np.arange(min(_MOVED, len(self._known.fitness))))

    @property
    def finished(self) -> bool:
        """Whether all that is worth the budget was tried, or all there is."""
        if self._sweeping.is_all and self._sweeping.finished:
            return True
        return self._at + 1 == len(self._stages) and self._stages[-1].finished

    total = None

    @property
    def sample(self) -> Judge | None:
        """By what the next proposal is to be judged, if not by all records."""
        return self._stages[self._at].sample

    @property
    def again(self) -> bool:
        """Whether the next proposal was tried by other records before."""
        return self._stages[self._at].again

    def finalists(self) -> Population:
        """The best by the sample, best first; none if there is no sample."""
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
        """Have formulas among those to extend and to breed from."""
        self._spending.sampled += new_in(answer)
        self._known.learn(population, fitness, answer)

    def proof(self, fitness: float) -> Proof:
        """What is proved, and how many larger formulas were sampled."""
        found = self._sweeping.proof(fitness)
        wanted = self._settings.max_atoms or max(_USUAL, found.wanted)
        return replace(found, wanted=wanted, sampled=self._spending.sampled)

    @property
    def _parts(self) -> dict[str, Resumable]:
        """Whatever has a state; what others look at comes first."""
        found: dict[str, Resumable] = {"spending": self._spending, "elite": self._elite}
        if self._judge is not None:
            found |= {"known": self._known, "memory": self._judge.memory}
        return found | {f"stage{k}": stage for k, stage in enumerate(self._stages)}

    def state(self) -> State:
        own: State = {"stage": np.array(self._at)}
        return own | together(**{name: part.state() for name, part in self._parts.items()})

    def resume(self, given: Given) -> None:
        self._at = given.number("stage", np.int64)
        if self._at >= len(self._stages):
            raise CheckpointError(f"it was at stage {self._at} of {len(self._stages)}")
        for name, part in self._parts.items():
            part.resume(given.part(name))


def _covering(settings: Auto, task: Task, spending: Spending) -> Sweeping:
    """What covers all formulas of up to as many atoms as the budget allows, or else as many of one atom as it does."""
    best = population_for(settings.evaluations)
    most = None if settings.evaluations is None else int(COVERING * settings.evaluations)

    def sweeping(atoms: int) -> Sweeping:
        search = Exhaustive(evaluations=1, max_atoms=atoms, max_depth=settings.max_depth, keep=best)
        return search.breeder(task)

    atoms = settings.max_atoms or _USUAL
    found = sweeping(atoms)
    if most is None:
        return found
    if found.total <= most:
        return found if settings.max_atoms else _more(found, sweeping, most)
    for fewer in range(atoms - 1, 0, -1):
        found = sweeping(fewer)
        if found.total <= most:
            return found
    some = spending.part(COVERING)
    assert some is not None  # else all is allowed
    found.narrow(some)
    return found


def _more(found: Sweeping, sweeping: Callable[[int], Sweeping], most: int) -> Sweeping:
    """What covers more atoms than usual, where a grammar has so few kinds of formulas that this is quickly known."""
    for atoms in range(_USUAL + 1, MOST_ATOMS + 1):
        if found.is_all or found.kinds > _FEW_KINDS:
            break
        larger = sweeping(atoms)
        if larger.total > most or larger.kinds == found.kinds:
            break
        found = larger
    return found


def _sample(settings: Auto, task: Task) -> Judge | None:
    """What judges by a sample, if there are enough records to draw one."""
    objective = task.objective.sample(task.seed) if isinstance(task.objective, Sampling) else None
    return None if objective is None else Judge(objective, Memory(False, settings.evaluations))
