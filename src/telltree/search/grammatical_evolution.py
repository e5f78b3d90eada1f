"""Grammatical evolution: a genetic algorithm over lists of numbers, which the grammar reads as choices of rules."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, borrowed, kernel, small
from telltree.errors import SettingsError
from telltree.grammar import Grammar
from telltree.grammar.growing import deepest, holes_room, read_genome
from telltree.grammar.naming import FREE, place_of
from telltree.grammar.population import Population
from telltree.grammar.streams import after, below_of, first_state, mix, unit_of
from telltree.search.memory import Memory
from telltree.search.search import Breeder, Search
from telltree.search.settings import require_share, require_whole

_CODON = np.uint64(2**31 - 1)
_ATTEMPTS = 6
"""How often a child may be bred anew because it was tried before; copying parents would defeat it."""


@dataclass(frozen=True)
class GrammaticalEvolution(Search):
    """One-point crossover, uniform mutation, truncation selection. See `Search` for the other settings.

    population: how many genomes live at a time; codons: numbers in a genome; wraps: how often it may be read again.
    crossover, mutation: how often a child has two parents, or is one with some codons drawn anew; the rest are copied.
    rate: how likely each codon is to be drawn anew in mutation.
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
    def paper(cls) -> "GrammaticalEvolution":
        """The settings of the paper's authors: 20 generations of 1,000, genomes of 10, the best 300 breed."""
        return cls(
            evaluations=20_000, generations=20, population=1_000, codons=10, wraps=1, crossover=0.4, mutation=0.4,
            rate=0.1, elite=0.3,
        )  # fmt: skip

    def check(self, grammar: Grammar) -> None:
        super().check(grammar)
        if grammar.has_random_constants:
            raise SettingsError(
                "grammatical evolution cannot draw random constants: use a grid in the grammar, or another search"
            )
        for name, least in (("population", 2), ("codons", 1), ("wraps", 0)):
            require_whole(name, getattr(self, name), least)
        for name in ("crossover", "mutation", "rate", "elite"):
            require_share(name, getattr(self, name))
        if self.crossover + self.mutation > 1:
            raise SettingsError(
                f"crossover and mutation must add up to at most 1, got {self.crossover!r} and {self.mutation!r}"
            )

    @property
    def parents(self) -> int:
        """How many genomes have children."""
        return min(max(2, round(self.elite * self.population)), self.population)

    def breeder(self, grammar: Grammar, seed: int, memory: Memory) -> Breeder:
        return _Genomes(self, grammar, seed, memory)


class _Chances(NamedTuple):
    elite: int
    crossover: float
    mutation: float
    rate: float
    attempts: int


class _Generation(NamedTuple):
    """Genomes, and what each was read as."""

    genomes: NDArray[np.int32]
    used: NDArray[np.int64]  # codons read, none twice
    lengths: NDArray[np.int64]
    names: NDArray[np.uint64]

    @classmethod
    def room(cls, individuals: int, codons: int) -> "_Generation":
        return cls(
            np.zeros((individuals, codons), np.int32),
            np.zeros(individuals, np.int64),
            np.zeros(individuals, np.int64),
            np.zeros(individuals, np.uint64),
        )


@small
def _cross(mother, father, cut, child):
    """One-point crossover at the same place of both; returns the first codon that is not the mother's."""
    differs = len(child)
    for k in range(len(child) - 1, -1, -1):
        child[at(k)] = mother[at(k)] if k < cut else father[at(k)]
        differs = differs if child[at(k)] == mother[at(k)] else k
    return differs


@small
def _mutate(child, redraw, state, differs):
    """Draw each codon anew with a chance of `redraw` / 2³²; returns the state of the stream, and the first codon that
    was drawn, or `differs` if that comes first.
    """
    for k in range(len(child)):
        state = after(state)
        word = mix(state)
        drawn = (word >> np.uint64(32)) < redraw
        child[at(k)] = np.int32(word & _CODON) if drawn else child[at(k)]
        differs = k if drawn and k < differs else differs
    return state, differs


@kernel
def _breed(tables, depth, wraps, chances, seed, generation, ranked, parents, children, rules, keys, todo):
    """One-point crossover at the same place of both parents, or uniform mutation of one, or a copy.

    A child that says what was said before, or nothing, is bred again, mutating more each time. One that reads the same
    codons as its mother says what she says, and need not be read: most do in the end. Its row of rules is not written.
    """
    tables, rules, keys, todo = borrowed(tables), borrowed(rules), borrowed(keys), borrowed(todo)
    parents, children = borrowed(parents), borrowed(children)
    codons = parents.genomes.shape[1]
    for i in range(len(children.used)):
        state, child = first_state(seed, generation, i), children.genomes[i]
        for attempt in range(chances.attempts):
            chance, state = unit_of(mix(after(state))), after(state)
            mother, state = ranked[at(below_of(mix(after(state)), chances.elite))], after(state)
            father, state = ranked[at(below_of(mix(after(state)), chances.elite))], after(state)
            cut = codons
            if chance < chances.crossover:
                cut, state = 1 + below_of(mix(after(state)), codons), after(state)
            differs = _cross(parents.genomes[at(mother)], parents.genomes[at(father)], cut, child)
            if attempt > 0 or chances.crossover <= chance < chances.crossover + chances.mutation:
                redraw = np.uint64(2.0**32 * min(1.0, chances.rate * (1 + attempt)))
                state, differs = _mutate(child, redraw, state, differs)
            if generation > 0 and parents.used[at(mother)] <= differs:
                used, length, name = parents.used[at(mother)], parents.lengths[at(mother)], parents.names[at(mother)]
            else:
                length, used, name = read_genome(tables, depth, child, wraps, rules[at(i)], todo)
            children.used[i], children.lengths[i], children.names[i] = min(used, codons), length, name
            if attempt + 1 < chances.attempts and length and keys[place_of(keys, name)] == FREE:
                break


class _Genomes:
    def __init__(self, settings: GrammaticalEvolution, grammar: Grammar, seed: int, memory: Memory) -> None:
        self._settings, self._tables, self._seed, self._memory = (
            settings,
            grammar.tables.growing,
            np.uint64(seed),
            memory,
        )
        self._depth = deepest(grammar.tables, settings.max_depth)
        width = grammar.width(self._depth)
        self._rows, self._todo = Population.room(settings.population, width, False), holes_room(width)
        self._parents, self._children = (_Generation.room(settings.population, settings.codons) for _ in range(2))
        self._ranked = np.arange(settings.population)

    def propose(self, generation: int) -> Population:
        s = self._settings
        attempts = _ATTEMPTS if s.crossover + s.mutation > 1 - 1e-9 else 1
        chances = _Chances(s.parents, s.crossover, s.mutation, s.rate, attempts)
        if generation == 0:  # every codon is drawn
            chances = chances._replace(crossover=0.0, mutation=1.0, rate=1.0, attempts=1)
        _breed(
            self._tables, self._depth, s.wraps, chances, self._seed, generation, self._ranked, self._parents,
            self._children, self._rows.rules, self._memory.keys, self._todo,
        )  # fmt: skip
        self._parents, self._children = self._children, self._parents
        return self._rows._replace(lengths=self._parents.lengths, names=self._parents.names)

    def learn(self, population: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        self._ranked = _best_first(fitness, self._settings.parents)


def _best_first(fitness: NDArray[np.float64], number: int) -> NDArray[np.int64]:
    """The places of the least, least first, and of equals the first."""
    equals = np.flatnonzero(fitness == fitness.min())
    if len(equals) >= number:  # as when all say the same in the end; quicker than to sort them all
        return equals[:number]
    return np.argsort(fitness, kind="stable")[:number]
