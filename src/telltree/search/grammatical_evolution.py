"""Grammatical evolution: a genetic algorithm over lists of numbers, which the grammar reads as choices of rules."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import borrowed, kernel
from telltree.errors import SettingsError
from telltree.grammar import Grammar
from telltree.grammar.growing import deepest, read_genome, row_width
from telltree.grammar.naming import FREE, name_of, place_of
from telltree.grammar.population import Population
from telltree.grammar.streams import below, next_word, open_stream, unit
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

    def breeder(self, grammar: Grammar, seed: int, memory: Memory) -> Breeder:
        return _Genomes(self, grammar, seed, memory)


class _Chances(NamedTuple):
    elite: int
    crossover: float
    mutation: float
    rate: float
    attempts: int


@kernel
def _breed(tables, depth, wraps, chances, seed, generation, ranked, genomes, children, rules, lengths, names, keys):
    """One-point crossover at the same place of both parents, or uniform mutation of one, or a copy.

    A child that says what was said before, or nothing, is bred again, mutating more each time.
    """
    tables, rules, keys = borrowed(tables), borrowed(rules), borrowed(keys)
    stream = np.empty(1, np.uint64)
    todo = np.empty((rules.shape[1] + 8, 2), np.int64)
    none, codons = np.empty(0), genomes.shape[1]
    for i in range(len(children)):
        open_stream(stream, seed, generation, i)
        for attempt in range(chances.attempts):
            chance = unit(stream)
            mother, father = ranked[below(stream, chances.elite)], ranked[below(stream, chances.elite)]
            cut = 1 + below(stream, codons) if chance < chances.crossover else codons
            mutates = attempt > 0 or chances.crossover <= chance < chances.crossover + chances.mutation
            redraw = np.uint64(2.0**32 * min(1.0, chances.rate * (1 + attempt))) if mutates else np.uint64(0)
            for k in range(codons):
                children[i, k] = genomes[mother, k] if k < cut else genomes[father, k]
                word = next_word(stream) if mutates else FREE
                if (word >> np.uint64(32)) < redraw:
                    children[i, k] = word & _CODON
            lengths[i] = read_genome(tables, depth, children[i], wraps, rules[i], todo)
            names[i] = name_of(rules[i], none, lengths[i])
            if lengths[i] and keys[place_of(keys, names[i])] == FREE:
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
        self._room = Population.room(settings.population, row_width(grammar.tables, self._depth), False)
        shape = settings.population, settings.codons
        self._genomes, self._children = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
        self._ranked = np.arange(settings.population)

    def propose(self, generation: int) -> Population:
        s = self._settings
        elite = max(2, round(s.elite * s.population))
        attempts = _ATTEMPTS if s.crossover + s.mutation > 1 - 1e-9 else 1
        chances = _Chances(elite, s.crossover, s.mutation, s.rate, attempts)
        if generation == 0:  # every codon is drawn
            chances = chances._replace(crossover=0.0, mutation=1.0, rate=1.0, attempts=1)
        _breed(
            self._tables, self._depth, s.wraps, chances, self._seed, generation, self._ranked, self._genomes,
            self._children, self._room.rules, self._room.lengths, self._room.names, self._memory.keys,
        )  # fmt: skip
        self._genomes, self._children = self._children, self._genomes
        return self._room

    def learn(self, population: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        self._ranked = np.argsort(fitness, kind="stable")
