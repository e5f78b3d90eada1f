"""What a search has tried: every formula once, with its score."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import kernel
from telltree.grammar.naming import FREE, place_of
from telltree.grammar.population import Population

_LARGEST_START = 1 << 21


@kernel
def _recall(lengths, names, keys, places, fresh):
    """Find or enter each individual in the table; `places` gets where, `fresh` the new ones; returns their number."""
    new = 0
    for i in range(len(lengths)):
        places[i] = -1
        if lengths[i]:
            place = place_of(keys, names[i])
            places[i] = place
            if keys[place] == FREE:
                keys[place] = names[i]
                fresh[new] = i
                new += 1
    return new


@kernel
def _enter(names, keys, places):
    for i in range(len(names)):
        places[i] = place_of(keys, names[i])
        keys[places[i]] = names[i]


class Memory:
    """A table of formulas, with their fitness and answer if these are asked for again; it grows as needed."""

    def __init__(self, expected: int, scores: bool) -> None:
        self._scores = scores
        self._clear(1 << max(12, min(4 * expected, _LARGEST_START).bit_length()))

    def _clear(self, size: int) -> None:
        self.keys = np.zeros(size, np.uint64)
        self._fitness = np.full(size if self._scores else 0, np.inf)
        self._answer = np.zeros(size if self._scores else 0, np.uint64)
        self._entries = 0

    def make_room(self, individuals: int) -> None:
        """Make sure that so many more fit in."""
        if 2 * (self._entries + individuals) <= len(self.keys):
            return
        keys, fitness, answer = self.keys, self._fitness, self._answer
        self._clear(4 * len(keys))
        held = np.flatnonzero(keys)
        places = np.empty(len(held), np.int64)
        _enter(keys[held], self.keys, places)
        if self._scores:
            self._fitness[places], self._answer[places] = fitness[held], answer[held]
        self._entries = len(held)

    def recall(self, population: Population) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where each individual is kept, and which were never seen before, each formula once."""
        self.make_room(len(population.lengths))
        places, fresh = np.empty((2, len(population.lengths)), np.int64)
        new = _recall(population.lengths, population.names, self.keys, places, fresh)
        self._entries += new
        return places, fresh[:new]

    def scores(
        self,
        places: NDArray[np.int64],
        fresh: NDArray[np.int64],
        fitness: NDArray[np.float64],
        answer: NDArray[np.uint64],
    ) -> tuple[NDArray[np.float64], NDArray[np.uint64]]:
        """The scores of a whole population, given those of its new individuals.

        What was tried before has the scores it had then if they are kept, else it is infinitely unfit.
        """
        if self._scores:
            self._fitness[places[fresh]], self._answer[places[fresh]] = fitness, answer
            return np.where(places >= 0, self._fitness[places], np.inf), self._answer[places]
        all_fitness, all_answers = np.full(len(places), np.inf), np.zeros(len(places), np.uint64)
        all_fitness[fresh], all_answers[fresh] = fitness, answer
        return all_fitness, all_answers
