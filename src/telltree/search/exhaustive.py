"""Exhaustive search: all formulas of a grammar up to a number of atoms, and the proof that none is better."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from telltree.checks import require_whole
from telltree.errors import CheckpointError, SettingsError
from telltree.grammar import Grammar
from telltree.grammar.derivation import Population
from telltree.grammar.draw import deepest
from telltree.grammar.fill_templates import Sweep, fill_slots, swept
from telltree.grammar.random_streams import FREE
from telltree.grammar.templates import Counted, FormulaLimits, Template, TemplateSet
from telltree.search.proof import Proof, in_words
from telltree.search.search import Search, Task
from telltree.search.state import SavedState, State, together

# ---- The fitness that a formula must reach to matter: to be among the best, to tie, or to be the best of its size

_LARGEST = 256
"""Larger formulas count as of this size, so that more of them matter."""


class AdmissionThreshold:
    """The best fitness of each size, and that of the k best formulas with different answers."""

    def __init__(self, k: int, tolerance: float) -> None:
        self._k, self._tolerance = k, tolerance
        self._by_size = np.full(_LARGEST + 1, np.inf)
        self._fitness, self._answer = np.empty(0), np.empty(0, np.uint64)

    def needed(self, size: int) -> float:
        """Return the fitness above which a formula of this size does not matter."""
        least = float(self._by_size[: min(size, _LARGEST) + 1].min()) + self._tolerance
        last = float(self._fitness[-1]) if len(self._fitness) == self._k else np.inf
        return max(least, last)

    def learn(self, size: NDArray[np.int64], fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        """Add the scores of formulas of these sizes."""
        np.minimum.at(self._by_size, np.minimum(size, _LARGEST), fitness)
        last = self._fitness[-1] if len(self._fitness) == self._k else np.inf
        better = fitness < last
        fitness, answer = (
            np.concatenate([a, b[better]]) for a, b in ((self._fitness, fitness), (self._answer, answer))
        )
        ranked = np.argsort(fitness, kind="stable")
        first = np.sort(np.unique(answer[ranked], return_index=True)[1])[: self._k]  # the fittest of each answer
        self._fitness, self._answer = fitness[ranked][first], answer[ranked][first]

    def state(self) -> State:
        """Return the best so far as arrays."""
        return {"by_size": self._by_size.copy(), "fitness": self._fitness.copy(), "answer": self._answer.copy()}

    def resume(self, given: SavedState) -> None:
        """Replace the best so far by those of an earlier state."""
        by_size, fitness = given.array("by_size", np.float64, _LARGEST + 1), given.array("fitness", np.float64, None)
        if np.isnan(by_size).any() or len(fitness) > self._k or not (np.diff(fitness) >= 0).all():
            raise CheckpointError("what was reached so far is in no order")
        self._by_size, self._fitness = by_size, fitness
        self._answer = given.array("answer", np.uint64, len(fitness))


# ---- Exhaustive search: all formulas of a grammar up to a number of atoms, and the proof that none is better.

MOST_UNASKED = 100_000_000
"""The most formulas to try for a proof without a limit of time or formulas: some minutes with few records."""
MOST_ATOMS, _MOST_SIZE = 100, 10_000
_BATCH = 8_192


@dataclass(frozen=True, repr=False)
class Exhaustive(Search):
    """Tries every formula of the grammar up to a number of atoms, and proves that none of them is fitter than the best.

    Formulas that mean the same, such as `F(a ∨ b)` and `F(b) ∨ F(a)`, or that are true at the same steps of the records
    at hand, are tried once, by the shortest of them. `SearchResult.proof` says what was covered. Without `evaluations`
    and `seconds`, a grammar that is too large is refused with the number of its formulas; with them the search may end
    early, and the proof says how far it got.

    max_atoms: how many atoms, such as `x < 5`, a formula may have.
    max_size: how many terminals it may write (None: no limit).
    See `Search` for the other settings.
    """

    evaluations: int | None = None
    max_atoms: int = 2
    max_size: int | None = None

    @property
    def revisits(self) -> bool:
        return False

    @property
    def repeats(self) -> bool:
        return False

    @property
    def needs_budget(self) -> bool:
        return False

    def breeder(self, task: Task) -> "ExhaustiveBreeder":
        objective = task.objective if isinstance(task.objective, BoundingObjective) else None
        found = plan(task.grammar, self._scope, objective is None or not objective.shorter_is_fitter)
        breeder = ExhaustiveBreeder(task.grammar, found, objective, AdmissionThreshold(self.keep, task.tolerance))
        if self.evaluations is self.seconds is self.generations is None and breeder.total > MOST_UNASKED:
            raise SettingsError(
                f"this grammar has {found.formulas[-1]:,} formulas of up to {in_words(self.max_atoms)}, of which "
                f"{breeder.total:,} would have to be tried, more than {MOST_UNASKED:,}; choose from fewer columns or "
                f"constants, allow fewer atoms, or give seconds or evaluations: then the proof may cover less"
            )
        return breeder

    @property
    def _scope(self) -> FormulaLimits:
        return FormulaLimits(self.max_atoms, self.max_depth, self.max_size)

    def check(self, grammar: Grammar) -> None:
        super().check(grammar)
        require_whole("max_atoms", self.max_atoms, 1, MOST_ATOMS)
        if self.max_size is not None:
            require_whole("max_size", self.max_size, 1, _MOST_SIZE)


@dataclass(frozen=True)
class Plan:
    """The templates of all formulas in a scope."""

    scope: FormulaLimits
    templates: TemplateSet
    formulas: tuple[int, ...]
    """The numbers of formulas of at most 0, 1, … atoms."""
    is_all: bool
    """True if the grammar has no other formulas that nest no deeper."""
    goes_deeper: bool
    """True if it has formulas that nest deeper."""


@lru_cache(maxsize=32)
def formulas_by_atoms(grammar: Grammar, max_atoms: int, max_depth: int) -> dict[int, int]:
    """Return, for each number of atoms that formulas have, the number of formulas of at most as many."""
    by_atoms = Counted(grammar.rules, FormulaLimits(max_atoms, max_depth)).by_atoms(grammar.start)
    numbers = sorted(by_atoms)
    return dict(zip(numbers, accumulate(by_atoms[number] for number in numbers), strict=True))


@lru_cache(maxsize=32)
def plan(grammar: Grammar, scope: FormulaLimits, every_size: bool) -> Plan:
    """Return the plan for all formulas of a grammar in a scope; SettingsError if there are none, or too many kinds of
    them.
    """
    if grammar.has_random_constants:
        raise SettingsError(
            "with random constants there are infinitely many formulas, which cannot all be tried; use a grid instead"
        )
    counted = Counted(grammar.rules, scope)
    by_atoms = counted.by_atoms(grammar.start)
    if not by_atoms:
        limit = "" if scope.max_size is None else f" and {in_words(scope.max_size, 'terminal')}"
        raise SettingsError(f"no formula of this grammar has at most {in_words(scope.max_atoms)}{limit}; allow more")
    formulas = accumulate(by_atoms.get(atoms, 0) for atoms in range(scope.max_atoms + 1))
    templates = TemplateSet(grammar.rules, scope, every_size=every_size)
    return Plan(scope, templates, tuple(formulas), counted.is_all(grammar.start), counted.goes_deeper(grammar.start))


@runtime_checkable
class BoundingObjective(Protocol):
    """An objective that knows which conditions hold at the same steps of all records."""

    @property
    def shorter_is_fitter(self) -> bool:
        """True if of two formulas with the same split the longer one is never fitter."""

    def signatures(self, conditions: Population) -> list[tuple[bytes, bytes]] | None:
        """Return the signatures of each condition and its negation; None if they are unknown."""

    def floors(self, conditions: Population, size: int) -> NDArray[np.float64] | None:
        """Return lower bounds of the fitness of formulas of this size, for each condition c; None if they are unknown.

        The four bounds hold for formulas that are true only of records in which c holds at some step, or never, or in
        which ¬c does, or never.
        """


class ExhaustiveBreeder:
    """The breeder: proposes all formulas of a plan that may matter, by template, those of fewer atoms and terminals
    first.
    """

    def __init__(
        self, grammar: Grammar, plan: Plan, objective: BoundingObjective | None, threshold: AdmissionThreshold
    ) -> None:
        self._plan, self._objective, self._threshold = plan, objective, threshold
        self._templates, self._tried, self._covered, self._cut = plan.templates.all, 0, 0, False
        self._tried_for_it = 0
        self.fillings, self._sweeps, self.telling = swept(
            plan.templates, None if objective is None else objective.signatures
        )
        self.total, self._partial = sum(sweep.size for sweep in self._sweeps), False
        self._begin(0)
        width = grammar.width(deepest(grammar.tables, plan.scope.max_depth))
        self._room, self._sizes = Population.empty(_BATCH, width, False), np.zeros(_BATCH, np.int64)

    def narrow(self, most: int) -> None:
        """Propose only formulas in which nothing but one condition is open, at most this many; then nothing is proved.

        Where a formula also counts and compares, the best would all be of the same condition.
        """
        simple = [k for k, sweep in enumerate(self._sweeps) if len(sweep.number) == 1]
        room = np.cumsum([self._sweeps[k].size for k in simple]) <= most
        simple = np.array(simple, np.int64)[room].tolist()
        self._templates, self._sweeps = [self._templates[k] for k in simple], [self._sweeps[k] for k in simple]
        self.total, self._partial = sum(sweep.size for sweep in self._sweeps), True
        self._begin(0)

    def _begin(self, sweep: int) -> None:
        """Go to the first filling of a template; templates without fillings are skipped."""
        while sweep < len(self._sweeps) and self._sweeps[sweep].is_empty:
            sweep += 1
        self._at = sweep
        self._cursor = np.zeros(0 if self.finished else len(self._sweeps[sweep].number), np.int64)
        self._floors: NDArray[np.float64] | None = None

    @property
    def finished(self) -> bool:
        """True if all formulas were proposed."""
        return self._at == len(self._sweeps)

    @property
    def proves(self) -> bool:
        """True if all formulas of a number of atoms are covered, so that something is proved at the end."""
        return not self._partial

    @property
    def kinds(self) -> int:
        """The number of kinds of formulas, such as `F(a and b)`."""
        return len(self._templates)

    @property
    def is_all(self) -> bool:
        """True if the grammar has no other formulas than those covered, of the depth that is allowed."""
        return self._plan.is_all and not self._partial

    @property
    def _level(self) -> int:
        """The number of atoms of the next formula."""
        return self._plan.scope.max_atoms + 1 if self.finished else self._templates[self._at].atoms

    def propose(self, generation: int) -> Population:
        rules, _, lengths, names = self._room
        row, looking, level = 0, True, self._level
        while row < _BATCH and looking and not self.finished:
            sweep, begun = self._sweeps[self._at], row
            self._give_up(sweep)
            row, done, looking = fill_slots(sweep, self.fillings, self._cursor, rules, lengths, names, row, _BATCH)
            self._sizes[begun:row] = self._templates[self._at].size
            if done:
                self._begin(self._at + 1)
                looking &= self._level == level  # scores of formulas of fewer atoms show which larger ones are hopeless
        lengths[row:] = 0
        return self._room

    def _give_up(self, sweep: Sweep) -> None:
        """Leave out fillings of a slot if no formula with them can matter."""
        template = self._templates[self._at]
        if self._objective is None or template.simple is None or len(template.slots) < 2:
            return
        if self._floors is None:
            self._floors = self._bounds(sweep, template, self._objective)
        sweep.hopeless[:] = self._floors > self._threshold.needed(template.size)

    def _bounds(self, sweep: Sweep, template: Template, objective: BoundingObjective) -> NDArray[np.float64]:
        """Return, for each filling of a slot, the least fitness of formulas with it."""
        assert template.simple is not None
        _, kind, slots, negated = template.simple
        found, known = np.full(len(sweep.chosen), -np.inf), dict[bytes, NDArray[np.float64] | None]()
        for (_, side), slot, turned in zip(kind, slots, negated, strict=True):
            own = slice(sweep.first[slot], sweep.first[slot] + sweep.number[slot])
            rows = sweep.chosen[own]
            if rows.tobytes() not in known:
                known[rows.tobytes()] = objective.floors(self.fillings.rows(rows), template.size)
            floors = known[rows.tobytes()]
            if floors is not None:
                found[own] = floors[:, 2 * turned + side]
        return found

    def cut_short(self) -> None:
        """Note that the last proposal was not judged completely; it is the last one."""
        self._cut = True

    def learn(self, population: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        """Update the admission threshold, and what is covered."""
        scored = np.flatnonzero(answer != FREE)
        self._tried += len(scored)
        self._threshold.learn(self._sizes[scored], fitness[scored], answer[scored])
        if not (self._cut or self._partial):
            self._covered, self._tried_for_it = self._level - 1, self._tried

    def proof(self, fitness: float) -> Proof:
        """Return the proof, given the fitness of the best formula."""
        plan, scope, covered = self._plan, self._plan.scope, self._covered
        return Proof(
            covered,
            scope.max_depth,
            scope.max_size,
            formulas=plan.formulas[covered],
            tried=self._tried_for_it,
            wanted=scope.max_atoms,
            fitness=fitness,
            sampled=self._tried - self._tried_for_it,
            is_all=covered == scope.max_atoms and plan.is_all,
            goes_deeper=plan.goes_deeper,
        )

    def state(self) -> State:
        numbers = {"sweep": self._at, "tried": self._tried, "covered": self._covered, "for_it": self._tried_for_it}
        own = {"cursor": self._cursor.copy()} | {name: np.array(number) for name, number in numbers.items()}
        return own | together(hope=self._threshold.state())

    def resume(self, given: SavedState) -> None:
        sweep, self._tried, self._covered, self._tried_for_it = (
            given.number(name, np.int64) for name in ("sweep", "tried", "covered", "for_it")
        )
        if sweep > len(self._sweeps) or self._covered > self._plan.scope.max_atoms:
            raise CheckpointError(f"it was at kind {sweep} of {len(self._sweeps)} kinds of formulas")
        self._begin(sweep)
        self._cursor = given.array("cursor", np.int64, len(self._cursor))
        if (self._cursor < 0).any() or not (self.finished or (self._cursor < self._sweeps[self._at].number).all()):
            raise CheckpointError("it was at a formula that is not there")
        self._threshold.resume(given.part("hope"))
