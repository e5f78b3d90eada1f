"""Grammatical evolution: a genetic algorithm over lists of numbers, which the grammar reads as choices of rules."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.checks import (
    MOST_CODONS,
    MOST_INDIVIDUALS,
    PaperExperiment,
    require_experiment,
    require_share,
    require_whole,
)
from telltree.compiled import at, borrowed, inline, kernel, lesser, small
from telltree.errors import CheckpointError, SettingsError
from telltree.grammar import Grammar
from telltree.grammar.derivation import Population
from telltree.grammar.draw import deepest, holes_room, read_genome
from telltree.grammar.random_streams import FREE, after, below_of, first_state, mix, place_of, unit_of
from telltree.search.search import Breeder, Memory, Search, Task
from telltree.search.state import SavedState, State

_CODON = np.uint64(2**31 - 1)
_ATTEMPTS = 6
"""The number of times a child may be bred again because it was tried before. Off if parents may be copied: no copy is
new.
"""


@dataclass(frozen=True, repr=False)
class GrammaticalEvolution(Search):
    """One-point crossover, uniform mutation, truncation selection. See `Search` for the other settings.

    population: how many genomes live at a time; codons: numbers in a genome; wraps: how often it may be read again.
    crossover, mutation: how often a child has two parents, or is one with some codons redrawn; the rest are copied.
    rate: the probability that mutation redraws a codon.
    elite: the share of the population that may become parents, the fittest.
    """

    population: int = 200
    codons: int = 20
    wraps: int = 2
    crossover: float = 0.5
    mutation: float = 0.5
    rate: float = 0.1
    elite: float = 0.3

    @classmethod
    def paper(cls, experiment: PaperExperiment = "auslan") -> "GrammaticalEvolution":
        """The settings of the paper's authors, from the sources that `GeneticProgramming.paper` names.

        20 generations of 1,000 and genomes of 10 for the signs, 100 of 5,000 and genomes of 20 for the encounters; the
        best 30 % breed.
        """
        require_experiment(experiment)
        alike = cls(wraps=1, crossover=0.4, mutation=0.4, rate=0.1, elite=0.3)
        if experiment == "auslan":
            return replace(alike, evaluations=20_000, generations=20, population=1_000, codons=10)
        return replace(alike, evaluations=500_000, generations=100, population=5_000, codons=20)

    @property
    def least_new(self) -> float:
        return 0.0  # children may equal their parents, and still lead to more

    def check(self, grammar: Grammar) -> None:
        super().check(grammar)
        if grammar.has_random_constants:
            raise SettingsError(
                "grammatical evolution cannot draw random constants: use a grid in the grammar, or another search"
            )
        bounds = {"population": (2, MOST_INDIVIDUALS), "codons": (1, MOST_CODONS), "wraps": (0, 2**31 - 1)}
        for name, (least, most) in bounds.items():
            require_whole(name, getattr(self, name), least, most)
        for name in ("crossover", "mutation", "rate", "elite"):
            require_share(name, getattr(self, name))
        if self.crossover + self.mutation > 1:
            raise SettingsError(
                f"crossover and mutation must add up to at most 1, got {self.crossover!r} and {self.mutation!r}"
            )

    @property
    def parents(self) -> int:
        """The number of genomes that have children."""
        return min(max(2, round(self.elite * self.population)), self.population)

    def breeder(self, task: Task) -> Breeder:
        return _Genomes(self, task.grammar, task.seed, task.memory)


class _Chances(NamedTuple):
    elite: int
    crossover: float
    mutation: float
    rate: float
    attempts: int


class _Generation(NamedTuple):
    """Genomes, and the derivation read from each."""

    genomes: NDArray[np.int32]
    used: NDArray[np.int64]  # the number of different codons that were read
    lengths: NDArray[np.int64]
    names: NDArray[np.uint64]

    @classmethod
    def empty(cls, individuals: int, codons: int) -> "_Generation":
        return cls(
            np.zeros((individuals, codons), np.int32),
            np.zeros(individuals, np.int64),
            np.zeros(individuals, np.int64),
            np.zeros(individuals, np.uint64),
        )


_STREAM, _DIFFERS, _TODO, _CROSSED, _MUTATED, _UNREAD = range(6)
"""Rows of scratch memory: for each child the state of its random stream, and its first codon that differs from its
mother's. Then lists of children: those to breed (again), to cross, to mutate, and those that may read differently from
their mothers.
"""


@small
def _cross(child, father, cut):
    """One-point crossover at the same place in both parents; returns the first codon that changed."""
    differs = len(child)
    for k in range(len(child) - 1, -1, -1):
        codon = child[at(k)] if k < cut else father[at(k)]
        differs = differs if codon == child[at(k)] else k
        child[at(k)] = codon
    return differs


@small
def _mutate(child, redraw, state, differs):
    """Redraw each codon with probability `redraw` / 2³²; returns the state of the stream, and the first codon that was
    redrawn, or `differs` if that comes first.
    """
    for k in range(len(child)):
        state = after(state)
        word = mix(state)
        drawn = (word >> np.uint64(32)) < redraw
        child[at(k)] = np.int32(word & _CODON) if drawn else child[at(k)]
        differs = k if drawn and k < differs else differs
    return state, differs


@inline
def _choose_mothers(chances, attempt, ranked, parents, children, scratch, number):
    """Copy a mother for each child to be bred, and list those to cross and to mutate; returns the lengths of both
    lists.
    """
    crossed, mutated = 0, 0
    for j in range(number):
        i = scratch[_TODO, at(j)]
        state = after(scratch[_STREAM, i])
        chance, state = unit_of(mix(state)), after(state)
        mother = at(ranked[at(below_of(mix(state), chances.elite))])
        scratch[_STREAM, i], scratch[_DIFFERS, i] = after(state), children.genomes.shape[1]
        genome, child = parents.genomes[mother], children.genomes[i]
        for k in range(len(child)):
            child[at(k)] = genome[at(k)]
        children.used[i], children.lengths[i] = parents.used[mother], parents.lengths[mother]
        children.names[i] = parents.names[mother]
        scratch[_CROSSED, at(crossed)] = scratch[_MUTATED, at(mutated)] = i
        crossed += chance < chances.crossover
        mutated += (attempt > 0) | ((chances.crossover <= chance) & (chance < chances.crossover + chances.mutation))
    return crossed, mutated


@kernel
def _breed(tables, depth, wraps, chances, seed, generation, ranked, parents, children, rules, keys, holes, scratch):
    """One-point crossover at the same place in both parents, or uniform mutation of one, or a copy.

    A child that decodes to no formula, or to one tried before, is bred again, with more mutation each time. A child
    that reads the same codons as its mother decodes to the same formula, so it is not read again, and its row of rules
    is not written; in late generations this is most children. Children are first listed by operation, and each list is
    then done in one go, to avoid branches that would be mispredicted.
    """
    tables, rules, keys, holes, scratch = (
        borrowed(tables),
        borrowed(rules),
        borrowed(keys),
        borrowed(holes),
        borrowed(scratch),
    )
    parents, children, number = borrowed(parents), borrowed(children), len(children.used)
    genomes, codons = children.genomes, children.genomes.shape[1]
    for j in range(number):
        scratch[_STREAM, j], scratch[_TODO, j] = first_state(seed, generation, j), j
    for attempt in range(chances.attempts):
        crossed, mutated = _choose_mothers(chances, attempt, ranked, parents, children, scratch, number)
        for j in range(crossed):
            i = scratch[_CROSSED, at(j)]
            father = at(ranked[at(below_of(mix(scratch[_STREAM, i]), chances.elite))])
            scratch[_STREAM, i] = after(scratch[_STREAM, i])
            cut = 1 + below_of(mix(scratch[_STREAM, i]), codons)
            scratch[_DIFFERS, i] = _cross(genomes[i], parents.genomes[father], cut)
        redraw = np.uint64(2.0**32 * min(1.0, chances.rate * (1 + attempt)))
        for j in range(mutated):
            i = scratch[_MUTATED, at(j)]
            scratch[_STREAM, i], scratch[_DIFFERS, i] = _mutate(
                genomes[i], redraw, scratch[_STREAM, i], np.int64(scratch[_DIFFERS, i])
            )
        unread, again = 0, 0
        for j in range(number):
            i = scratch[_TODO, at(j)]
            scratch[_UNREAD, at(unread)] = i
            unread += (generation == 0) | (scratch[_DIFFERS, i] < at(children.used[i]))
        for j in range(unread):
            i = scratch[_UNREAD, at(j)]
            length, used, name = read_genome(tables, depth, genomes[i], wraps, rules[i], holes)
            children.used[i], children.lengths[i], children.names[i] = lesser(used, codons), length, name
        if attempt + 1 < chances.attempts:
            for j in range(number):
                i = scratch[_TODO, at(j)]
                scratch[_TODO, at(again)] = i
                again += (children.lengths[i] == 0) | (keys[place_of(keys, children.names[i])] != FREE)
            number = again


class _Genomes:
    def __init__(self, settings: GrammaticalEvolution, grammar: Grammar, seed: int, memory: Memory) -> None:
        self._settings, self._tables, self._seed, self._memory = (
            settings,
            grammar.tables.growing,
            np.uint64(seed),
            memory,
        )
        attempts = _ATTEMPTS if settings.crossover + settings.mutation > 1 - 1e-9 else 1
        shares = float(settings.crossover), float(settings.mutation), float(settings.rate)
        self._chances = _Chances(settings.parents, *shares, attempts)
        self._depth = deepest(grammar.tables, settings.max_depth)
        width = grammar.width(self._depth)
        self._rows, self._holes = (
            Population.empty(settings.population, width, False),
            holes_room(grammar.tables, width),
        )
        self._parents, self._children = (_Generation.empty(settings.population, settings.codons) for _ in range(2))
        self._ranked, self._scratch = np.arange(settings.population), np.empty((6, settings.population), np.uint64)

    def propose(self, generation: int) -> Population:
        chances = self._chances
        if generation == 0:  # every codon is drawn
            chances = chances._replace(crossover=0.0, mutation=1.0, rate=1.0, attempts=1)
        _breed(
            self._tables, self._depth, self._settings.wraps, chances, self._seed, generation, self._ranked,
            self._parents, self._children, self._rows.rules, self._memory.keys, self._holes, self._scratch,
        )  # fmt: skip
        self._parents, self._children = self._children, self._parents
        return Population(self._rows.rules, self._rows.constants, self._parents.lengths, self._parents.names)

    def learn(self, population: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        self._ranked = _best_first(fitness, self._settings.parents)

    def state(self) -> State:
        """Return the genomes, the names of their formulas, and those that breed. All were tried, so nobody needs their
        rules.
        """
        return {name: array.copy() for name, array in self._parents._asdict().items()} | {"ranked": self._ranked}

    def resume(self, given: SavedState) -> None:
        number, codons = self._parents.genomes.shape
        genomes = given.array("genomes", np.int32, number, codons)
        used, lengths = given.array("used", np.int64, number), given.array("lengths", np.int64, number)
        parents = _Generation(genomes, used, lengths, given.array("names", np.uint64, number))
        ranked = given.array("ranked", np.int64, self._settings.parents)
        tried = np.isin(parents.names, self._memory.keys) | (lengths == 0)
        fits = tried.all() and (genomes >= 0).all() and ((used >= 0) & (used <= codons)).all()
        if not (fits and ((ranked >= 0) & (ranked < number)).all()):
            raise CheckpointError("there are genomes that cannot have been bred")
        self._parents, self._ranked = parents, ranked


@kernel
def _first_best(fitness, places):
    """Find the indices of the smallest values, as many as there is room for; returns their number."""
    least, found = fitness.min(), 0
    for i in range(len(fitness)):
        if fitness[i] == least and found < len(places):
            places[found] = i
            found += 1
    return found


def _best_first(fitness: NDArray[np.float64], number: int) -> NDArray[np.int64]:
    """Return the indices of the smallest values, smallest first, ties in order of index."""
    places = np.empty(number, np.int64)
    if _first_best(fitness, places) == number:  # common in late generations; faster than a sort
        return places
    return np.argsort(fitness, kind="stable")[:number]
