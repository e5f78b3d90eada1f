"""The protocol of all searches: a grammar, an objective, a budget and a seed in; the best formulas out."""

import abc
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from telltree.checks import MOST_KEPT, MOST_TRIED, require_positive, require_whole
from telltree.compiled import kernel
from telltree.errors import CheckpointError, GrammarError, SettingsError, SpeechError
from telltree.grammar import Derivation, Grammar
from telltree.grammar.derivation import Population
from telltree.grammar.draw import deepest
from telltree.grammar.formulas import parse_formula
from telltree.grammar.random_streams import FREE, name_rows, place_of
from telltree.logic import Expression
from telltree.search.archive import Archive, BySize, Candidate, Moment, OfSize, moments
from telltree.search.proof import Proof
from telltree.search.state import SavedState, State, flat, together

# ---- Seeds: formulas of the user to try first


def checked_seeds(seeds: Any) -> tuple[Any, ...]:
    """Return the seeds as a tuple; SettingsError if they are not a list of formulas."""
    if isinstance(seeds, str) or not isinstance(seeds, Iterable):
        raise SettingsError(
            f"seeds must be a list of formulas or sentences, got {seeds!r:.200}; write [{seeds!r:.200}]"
        )
    found = tuple(seeds)
    for number, seed in enumerate(found):
        if not isinstance(getattr(seed, "expression", seed), str | Expression):
            raise SettingsError(f"seeds[{number}] must be a Formula or a text, got {seed!r:.200}")
    return found


def derived(seeds: Iterable[Any], grammar: Grammar, max_depth: int) -> list[Derivation]:
    """Return a derivation of each seed; SettingsError if the grammar has none within the depth."""
    found: list[Derivation] = []
    for number, seed in enumerate(seeds):
        label = f"seeds[{number}], {str(seed)!r:.200}"
        try:
            derivation = grammar.derive(_expression(getattr(seed, "expression", seed), label, grammar))
        except GrammarError as error:
            raise SettingsError(f"{label}: {error}; let the grammar say it, or leave it out") from None
        if derivation.depth > max_depth:
            raise SettingsError(f"{label}: nests {derivation.depth} operators, and max_depth is {max_depth}")
        if derivation not in found:
            found.append(derivation)
    return found


def _expression(seed: str | Expression, label: str, grammar: Grammar) -> Expression:
    """Return the formula of a text in the grammar language or in plain English."""
    if isinstance(seed, Expression):
        return seed
    from telltree.english.read_sentence import read  # few searches have seeds, and fewer in English

    try:
        return parse_formula(seed, grammar.schema, functions=grammar.functions)
    except GrammarError as error:
        no_formula = error
    try:
        return read(seed, grammar.schema, functions=grammar.functions)
    except SpeechError as error:
        raise SettingsError(f"{label}: is no formula ({no_formula}), and no sentence ({error})") from None


# ---- The memory of a search: every formula tried, once, with its score

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


_FIRST_SIZE = 1 << 14
"""Slots in a new hash table: few, so that short runs stay within the cache, whatever their budget."""
_MOST_AHEAD = 1 << 20
"""The most slots to allocate ahead because the budget will need them."""


@kernel
def _recall(lengths, names, keys, kept, places, fresh):
    """Find each individual in the hash table, or insert it.

    `places` gets its slot, `fresh` the indices of new ones, whose number is returned. `kept` has the fitness of the
    formulas in the table, if that is kept; it is infinite until it is known.
    """
    new = 0
    for i in range(len(lengths)):
        places[i] = -1
        if lengths[i]:
            place = place_of(keys, names[i])
            is_new = keys[place] == FREE  # unpredictable, so the code does not branch on it
            places[i], keys[place], fresh[new] = place, names[i], i
            new += is_new
            if len(kept):
                kept[place] = np.inf if is_new else kept[place]
    return new


@kernel
def _note(places, fresh, fitness, answer, kept, kept_answers, of_all, answers_of_all):
    """Spread the scores of the individuals `fresh` over the whole population, and over the table if it keeps scores.

    A fitness that is not finite becomes infinite, in place.
    """
    of_all[:] = np.inf
    answers_of_all[:] = FREE
    for k in range(len(fresh)):
        i = fresh[k]
        fitness[k] = fitness[k] if np.isfinite(fitness[k]) else np.inf
        of_all[i], answers_of_all[i] = fitness[k], answer[k]
        if len(kept):
            kept[places[i]], kept_answers[places[i]] = fitness[k], answer[k]
    for i in range(len(places) if len(kept) else 0):
        if places[i] >= 0:
            of_all[i], answers_of_all[i] = kept[places[i]], kept_answers[places[i]]


class Memory:
    """A hash table of formulas, with their fitness and answer if these are needed again; it grows on demand."""

    def __init__(self, scores: bool, budget: int | None = None) -> None:
        self._scores = scores
        self._ahead = min(2 * (budget or 0), _MOST_AHEAD)
        self._clear(_FIRST_SIZE)

    def _clear(self, size: int) -> None:
        self.keys = np.zeros(size, np.uint64)
        self._fitness = np.empty(size if self._scores else 0)
        self._answer = np.empty(size if self._scores else 0, np.uint64)
        self._entries = 0

    def make_room(self, individuals: int) -> None:
        """Grow the table, if needed, to hold this many more formulas."""
        if self._entries + individuals <= 3 * len(self.keys) // 4:  # usually few of them are new
            return
        keys, fitness, answer = self.keys, self._fitness, self._answer
        size = 4 * len(keys)
        while size < max(2 * (self._entries + individuals), self._ahead):
            size *= 2
        self._clear(size)
        held = np.flatnonzero(keys)
        places, new = np.empty((2, len(held)), np.int64)
        _recall(held + 1, keys[held], self.keys, self._fitness, places, new)  # any length but 0 is right
        if self._scores:
            self._fitness[places], self._answer[places] = fitness[held], answer[held]
        self._entries = len(held)

    def state(self) -> State:
        """Return the formulas, and the scores if they are kept."""
        held = np.flatnonzero(self.keys)
        found = {"keys": self.keys[held]}
        return found | {"fitness": self._fitness[held], "answer": self._answer[held]} if self._scores else found

    def resume(self, given: SavedState) -> None:
        """Replace the contents by those of an earlier state."""
        keys = given.array("keys", np.uint64, None)
        self._clear(_FIRST_SIZE)
        self.make_room(len(keys))
        places, new = np.empty((2, len(keys)), np.int64)
        entered = _recall(np.ones(len(keys), np.int64), keys, self.keys, self._fitness, places, new)
        if entered < len(keys) or not keys.all():
            raise CheckpointError("a formula is said to have been tried twice")
        if self._scores:
            fitness, answer = given.array("fitness", np.float64, len(keys)), given.array("answer", np.uint64, len(keys))
            self._fitness[places], self._answer[places] = fitness, answer
        self._entries = len(keys)

    def recall(self, population: Population) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the slot of each individual, and the indices of those never seen before, each formula once."""
        self.make_room(len(population.lengths))
        places, fresh = np.empty(len(population.lengths), np.int64), np.empty(len(population.lengths), np.int64)
        new = _recall(population.lengths, population.names, self.keys, self._fitness, places, fresh)
        self._entries += new
        return places, fresh[:new]

    def scores(
        self,
        places: NDArray[np.int64],
        fresh: NDArray[np.int64],
        fitness: NDArray[np.float64],
        answer: NDArray[np.uint64],
    ) -> tuple[NDArray[np.float64], NDArray[np.uint64]]:
        """Return the scores of a whole population, given those of its new individuals.

        Fitness of these that is not finite becomes infinite, in place. Formulas tried before have their former scores
        if these are kept, else infinite fitness.
        """
        of_all, answers_of_all = np.empty(len(places)), np.empty(len(places), np.uint64)
        _note(places, fresh, fitness, answer, self._fitness, self._answer, of_all, answers_of_all)
        return of_all, answers_of_all


class NoMemory(Memory):
    """The memory of a search that never proposes a formula twice."""

    def __init__(self) -> None:
        super().__init__(False)

    def recall(self, population: Population) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return all formulas as new."""
        return np.zeros(len(population.lengths), np.int64), np.flatnonzero(population.lengths)


# ---- The best formulas so far, to breed from


class Elite:
    """The k fittest formulas with different answers, best first; among equals the first found."""

    def __init__(self, k: int, width: int, constants: bool = False) -> None:
        self._k = k
        self.rows = Population.empty(0, width, constants)
        self.fitness, self.answer = np.empty(0), np.empty(0, np.uint64)

    @property
    def worst(self) -> float:
        """The fitness that a formula must be below to be taken."""
        return float(self.fitness[-1]) if len(self.fitness) == self._k else np.inf

    def learn(self, population: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        """Add the formulas of a population that are good enough."""
        better = np.flatnonzero(fitness < self.worst)
        if not len(better):
            return
        fitness, answer = np.append(self.fitness, fitness[better]), np.append(self.answer, answer[better])
        ranked = np.argsort(fitness, kind="stable")
        first = ranked[np.sort(np.unique(answer[ranked], return_index=True)[1])[: self._k]]
        self.rows = Population.joined([self.rows, population.take(better)]).take(first)
        self.fitness, self.answer = fitness[first], answer[first]

    def state(self) -> State:
        """Return the contents as arrays."""
        return {"fitness": self.fitness.copy(), "answer": self.answer.copy()} | together(rows=flat(self.rows))

    def resume(self, given: SavedState) -> None:
        """Replace the contents by those of an earlier state."""
        rows = given.rows("rows")
        fitness = given.array("fitness", np.float64, len(rows.lengths))
        if len(fitness) > self._k or not np.isfinite(fitness).all() or (np.diff(fitness) < 0).any():
            raise CheckpointError("the formulas to breed from are not the best")
        self.rows, self.fitness = rows, fitness
        self.answer = given.array("answer", np.uint64, len(fitness))


# ---- The protocol of all searches

PATIENCE = 200
"""The number of proposals in a row with nothing new, or hardly anything, after which a search ends."""
LEAST_NEW = 0.01
"""The share of a proposal that must be new, else it has hardly anything: in a small grammar, the last formulas take
longer than all others.
"""

_FIRST_PART, _SHORT = 8, 0.25
"""The number of formulas scored at a time, at first; it doubles whenever a part took less than `_SHORT` seconds."""


class Scores(NamedTuple):
    """The scores of individuals: lower fitness is better; equal answers mean the same split."""

    fitness: NDArray[np.float64]
    answer: NDArray[np.uint64]
    size: NDArray[np.int64] | None = None
    """The number of terminals, if the best formula of each size is to be kept."""


_NO_SCORES = Scores(np.empty(0), np.empty(0, np.uint64))


def _joined(parts: list[Scores]) -> Scores:
    """Join the scores of several parts."""
    if len(parts) < 2:
        return parts[0] if parts else _NO_SCORES
    sizes = [part.size for part in parts if part.size is not None]
    size = np.concatenate(sizes) if len(sizes) == len(parts) else None
    return Scores(np.concatenate([part.fitness for part in parts]), np.concatenate([p.answer for p in parts]), size)


class Objective(Protocol):
    """Scores some rows of a population, in the order of `wanted`."""

    def __call__(self, population: Population, wanted: NDArray[np.int64]) -> Scores: ...


class Progress(NamedTuple):
    """The progress of a search while it runs."""

    evaluations: int
    budget: int | None
    seconds: float
    fitness: float
    best: Derivation | None
    spent: float | None = None
    """The share of the budget that is spent, of formulas, time or generations: the largest; None without a limit."""


@dataclass(frozen=True)
class SearchResult:
    """The result of a search."""

    best: Candidate | None
    """None if nothing was tried, or every formula had infinite fitness."""
    runners_up: tuple[Candidate, ...]
    """The best formulas that answer differently, best first."""
    ties: Population | None
    """All formulas that tie for the best, within the tolerance asked for, up to 1,000."""
    history: tuple[Moment, ...]
    evaluations: int
    seconds: float
    interrupted: bool
    by_size: tuple[OfSize, ...] = ()
    """The best formulas of each size whose best is fitter than all smaller ones, the smallest first."""
    proof: Proof | None = None
    """The formulas that are certainly not fitter than the best, if the search proves that."""


class Breeder(Protocol):
    """The part in which searches differ: it proposes formulas, and learns from their scores."""

    def propose(self, generation: int) -> Population: ...

    def learn(self, population: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None: ...


@runtime_checkable
class ResumableBreeder(Protocol):
    """A breeder that can return its state after a generation, and continue from it in another process."""

    def state(self) -> State: ...

    def resume(self, given: SavedState) -> None: ...


@runtime_checkable
class SeededBreeder(Protocol):
    """A breeder that starts from formulas that were tried before it began."""

    def plant(self, population: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None: ...


class Judge(NamedTuple):
    """An objective, with the formulas that it has scored."""

    objective: Objective
    memory: Memory


@runtime_checkable
class SamplingBreeder(Protocol):
    """A breeder whose proposals are judged by a sample of the records, to save time where records are many."""

    @property
    def sample(self) -> Judge | None:
        """The judge of the next proposal, if that is not all records."""

    @property
    def again(self) -> bool:
        """True if the next proposal was tried by other records before, and is not counted again."""

    def finalists(self) -> Population:
        """Return the best by the sample, best first, to be judged by all records at the end."""


@runtime_checkable
class SampledObjective(Protocol):
    """An objective that can judge by a sample of its records."""

    def sample(self, seed: int) -> Objective | None:
        """Return the same objective for a sample; None if the records are so few that it would not save time."""


@runtime_checkable
class ProvingBreeder(Protocol):
    """A breeder that comes to an end, and then has a proof."""

    @property
    def finished(self) -> bool: ...

    @property
    def total(self) -> int | None:
        """The largest number of formulas that it will propose, if known."""

    def cut_short(self) -> None:
        """Note, before learning from a proposal, that there was no time or budget for all of it."""

    def proof(self, fitness: float) -> Proof:
        """Return the proof, given the fitness of the best."""


Remember = Callable[[Callable[[], State]], None]
"""Called after a generation with a function that makes the state of the search, which takes a moment."""


class Task(NamedTuple):
    """The inputs of a breeder."""

    grammar: Grammar
    seed: int
    memory: Memory
    objective: Objective
    tolerance: float
    budget_weight: float = 1.0
    """The node's share of the impurity of the whole tree."""


@dataclass(frozen=True, repr=False)
class Search(abc.ABC):
    """Settings common to all searches.

    evaluations: how many distinct formulas to try (None: no limit, then give `seconds`).
    seconds: stop after this time (None: no limit). The one setting that makes results depend on the machine.
    generations: stop after this many rounds of proposing and learning (None: no limit).
    max_depth: how deeply operators may be nested: F(x1 ∧ (x3 < 2)) has depth 3.
    keep: how many of the best formulas that answer differently to return.
    seeds: formulas to try first, and to breed from: each a `Formula`, its text, or a sentence in plain English.
    """

    evaluations: int | None = 20_000
    seconds: float | None = None
    generations: int | None = None
    max_depth: int = 6
    keep: int = 10
    seeds: tuple[Any, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "seeds", checked_seeds(self.seeds))

    def __repr__(self) -> str:
        """All settings, and seeds if there are any."""
        shown = [own.name for own in fields(self) if own.name != "seeds" or self.seeds]
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    @property
    def revisits(self) -> bool:
        """True if a formula that was tried before can be useful again, so that its score must be kept."""
        return True

    @property
    def repeats(self) -> bool:
        """True if a formula may be proposed again, so that those tried must be remembered."""
        return True

    @property
    def least_new(self) -> float:
        """The share of a proposal that must be new, else there is hardly anything left to find."""
        return LEAST_NEW

    @property
    def needs_budget(self) -> bool:
        """True if the search would never end without a budget."""
        return True

    @abc.abstractmethod
    def breeder(self, task: Task) -> Breeder:
        """Return the breeder for a task."""

    def run(
        self,
        grammar: Grammar,
        objective: Objective,
        seed: int,
        progress: Callable[[Progress], None] | None = None,
        *,
        tolerance: float = 0.0,
        budget_weight: float = 1.0,
        stop: Callable[[], bool] = lambda: False,
        state: State | None = None,
        remember: Remember | None = None,
    ) -> SearchResult:
        """Search for the formula of least fitness. The seed alone decides the result, unless time runs out.

        Formulas whose fitness is above the best by no more than `tolerance` are returned as ties. When `stop` returns
        True, or on Ctrl-C, the search ends early with the best so far. `budget_weight` is the node's share of the
        impurity of the whole tree: if it is small, a search may spend less. After each generation `remember` is offered
        the state of the search. With such a `state`, a search of the same settings, grammar, objective and seed goes on
        from there, and finds what it would have found undisturbed.
        """
        self.check(grammar)
        require_whole("seed", seed, 0)
        if seed >= 1 << 64:
            raise SettingsError(f"seed must be a whole number of less than 2**64, got {seed!r}")
        run = _Run(
            self, grammar, objective, seed, progress=progress, tolerance=tolerance,
            budget_weight=budget_weight, stop=stop, remember=remember,
        )  # fmt: skip
        if state is not None:
            run.resume(SavedState(state, grammar, self.max_depth))
        return run.result()

    def check(self, grammar: Grammar) -> None:
        """Raise SettingsError if settings are invalid, for any grammar or for this one."""
        if self.needs_budget and self.evaluations is self.seconds is self.generations is None:
            raise SettingsError("a search needs a budget: give it evaluations, seconds or generations")
        if self.evaluations is not None:
            require_whole("evaluations", self.evaluations, 1, MOST_TRIED)
        if self.seconds is not None:
            require_positive("seconds", self.seconds)
        if self.generations is not None:
            require_whole("generations", self.generations, 1, MOST_TRIED)
        require_whole("keep", self.keep, 1, MOST_KEPT)
        require_whole("max_depth", self.max_depth)
        grammar.check_depth(self.max_depth)


class _Run:
    """One run of a search."""

    def __init__(
        self,
        search: Search,
        grammar: Grammar,
        objective: Objective,
        seed: int,
        *,
        progress: Callable[[Progress], None] | None,
        tolerance: float,
        budget_weight: float,
        stop: Callable[[], bool],
        remember: Remember | None,
    ) -> None:
        self._search, self._grammar, self._progress = search, grammar, progress
        self._memory = Memory(search.revisits, search.evaluations) if search.repeats else NoMemory()
        self._all = self._judged_by = Judge(objective, self._memory)
        self._breeder = search.breeder(Task(grammar, seed, self._memory, objective, tolerance, budget_weight))
        self._proving = self._breeder if isinstance(self._breeder, ProvingBreeder) else None
        self._sparing = self._breeder if isinstance(self._breeder, SamplingBreeder) else None
        self._archive = Archive(grammar, search.keep, tolerance)
        self._by_size = BySize(grammar, tolerance)
        self._history: list[Moment] = []
        self._stop, self._interrupted = stop, False
        self._start = time.monotonic()
        self._evaluations, self._at_a_time = 0, _FIRST_PART
        self._generation, self._idle, self._resumed = 0, 0, False
        self._whole = self._all_judged = True  # the part of a proposal within the budget, and everything new in it
        self._remember = remember if isinstance(self._breeder, ResumableBreeder) else None

    def result(self) -> SearchResult:
        try:
            if not self._resumed:
                self._plant()
            self._explore()
            self._judge_finalists()
            if self._progress:
                self._report()
        except KeyboardInterrupt:
            self._interrupted = True
            with suppress(KeyboardInterrupt):
                self._judge_finalists()
        runners_up = self._archive.runners_up()
        return SearchResult(
            best=runners_up[0] if runners_up else None,
            runners_up=runners_up,
            ties=self._archive.ties(),
            history=tuple(self._history),
            evaluations=self._evaluations,
            seconds=self._elapsed(),
            interrupted=self._interrupted,
            by_size=self._by_size.pruning_path(),
            proof=None if self._proving is None else self._proving.proof(self._archive.best),
        )

    def state(self) -> State:
        """Return everything on which the rest of the search depends, after a generation."""
        assert isinstance(self._breeder, ResumableBreeder)
        own = {
            "evaluations": np.array(self._evaluations),
            "generation": np.array(self._generation),
            "idle": np.array(self._idle),
            "seconds": np.array(self._elapsed()),
            "history": np.array(self._history, np.float64).reshape(-1, 3),
        }
        memory, breeder = self._memory.state(), self._breeder.state()
        kept = together(memory=memory, breeder=breeder, archive=self._archive.state(), by_size=self._by_size.state())
        return own | kept

    def resume(self, given: SavedState) -> None:
        """Continue from the state of another run of this search."""
        if not isinstance(self._breeder, ResumableBreeder):
            raise CheckpointError(f"{type(self._search).__name__} cannot go on from where it was")
        self._evaluations, self._generation, self._idle = (
            given.number(name, np.int64) for name in ("evaluations", "generation", "idle")
        )
        self._start -= given.number("seconds", np.float64)
        self._resumed = True
        self._history = moments(given)
        self._memory.resume(given.part("memory"))  # before the breeder, which may read it
        self._breeder.resume(given.part("breeder"))
        self._archive.resume(given.part("archive"))
        self._by_size.resume(given.part("by_size"))

    def _elapsed(self) -> float:
        return time.monotonic() - self._start

    def _explore(self) -> None:
        reported = -np.inf
        while not (self._interrupted or self._spent() or self._exhausted()):
            if self._stop():
                self._interrupted = True
                break
            new, proposed = self._try_next()
            self._idle = 0 if new > self._search.least_new * proposed else self._idle + 1
            self._generation += 1
            if self._remember and self._whole:
                self._remember(self.state)
            if self._progress and self._elapsed() > reported + 0.1:
                reported = self._elapsed()
                self._report()

    def _judge_finalists(self) -> None:
        """Score the best by a sample by all records; they were counted when they were first tried."""
        if self._sparing is not None:
            self._judge(self._sparing.finalists(), self._all, counted=False)

    def _plant(self) -> None:
        """Try the formulas that the user gave."""
        search, grammar = self._search, self._grammar
        seeds = derived(search.seeds, grammar, search.max_depth)
        if seeds:
            width = max(grammar.width(deepest(grammar.tables, search.max_depth)), *(len(one.rules) for one in seeds))
            population = Population.empty(len(seeds), width, grammar.has_random_constants)
            for row, seed in enumerate(seeds):
                population.put(row, seed)
            name_rows(*population.for_kernels())
            scores = self._judge(population, self._all)[1]
            if isinstance(self._breeder, SeededBreeder):
                self._breeder.plant(population, *scores)

    def _exhausted(self) -> bool:
        """True if there is nothing left to try."""
        return self._idle >= PATIENCE if self._proving is None else self._proving.finished

    def _spent(self) -> bool:
        search = self._search
        return (
            (search.evaluations is not None and self._evaluations >= search.evaluations)
            or (search.generations is not None and self._generation >= search.generations)
            or self._late()
        )

    def _try_next(self) -> tuple[int, int]:
        """Score the next proposal and let the breeder learn; return the numbers of new formulas, and of all."""
        proposed, judge, again = self._breeder.propose(self._generation), self._all, False
        if self._sparing is not None:
            judge, again = self._sparing.sample or judge, self._sparing.again
        new, scores = self._judge(proposed, judge, counted=not again)
        if self._proving is not None and not self._all_judged:
            self._proving.cut_short()
        self._breeder.learn(proposed, *scores)
        return new, len(proposed.lengths)

    def _judge(
        self, population: Population, judge: Judge, *, counted: bool = True
    ) -> tuple[int, tuple[NDArray[np.float64], NDArray[np.uint64]]]:
        """Score the formulas that are new to a judge, and archive scores by all records.

        Returns the number of new formulas, and the scores of all.
        """
        if judge is not self._judged_by:  # which may take much more time, or less
            self._judged_by, self._at_a_time = judge, _FIRST_PART
        places, fresh = judge.memory.recall(population)
        new = len(fresh)
        if counted and self._search.evaluations is not None:
            fresh = fresh[: self._search.evaluations - self._evaluations]
        fresh, scores = self._scored(population, fresh, judge.objective)
        fitness, answer = np.array(scores.fitness, np.float64), scores.answer
        self._all_judged = len(fresh) == new
        of_all = judge.memory.scores(places, fresh, fitness, answer)
        self._evaluations += len(fresh) if counted else 0
        if len(fresh) and judge is self._all:
            if scores.size is not None:
                self._by_size.add(population, fresh, fitness, scores.size)
            if self._archive.add(population, fresh, fitness, answer) or not self._history:
                self._history.append(Moment(self._evaluations, self._elapsed(), self._archive.best))
        return len(fresh), of_all

    def _scored(
        self, population: Population, fresh: NDArray[np.int64], objective: Objective
    ) -> tuple[NDArray[np.int64], Scores]:
        """Score new formulas part by part; return those for which there was time, and their scores.

        With many records, scoring one generation takes longer than anyone who sets `seconds`, or presses Ctrl-C, will
        wait.
        """
        done, parts = 0, list[Scores]()
        while done < len(fresh) and (not done or not (self._late() or self._stop())):
            part, began = fresh[done : done + self._at_a_time], time.monotonic()
            try:
                parts.append(objective(population, part))
            except KeyboardInterrupt:  # keep the scores so far
                self._interrupted = True
                break
            done += len(part)
            if time.monotonic() - began < _SHORT:
                self._at_a_time *= 2
        self._whole = done == len(fresh)
        return fresh[:done], _joined(parts)

    def _late(self) -> bool:
        return self._search.seconds is not None and self._elapsed() >= self._search.seconds

    def _report(self) -> None:
        assert self._progress is not None
        search, seconds = self._search, self._elapsed()
        best, budget = self._archive.runners_up()[:1], search.evaluations
        if budget is None and self._proving is not None:
            budget = self._proving.total
        limits = (self._evaluations, budget), (seconds, search.seconds), (self._generation, search.generations)
        spent = max((min(1.0, done / limit) for done, limit in limits if limit), default=None)
        derivation = best[0].derivation if best else None
        self._progress(Progress(self._evaluations, budget, seconds, self._archive.best, derivation, spent))
