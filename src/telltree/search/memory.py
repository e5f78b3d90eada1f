"""Every formula that a search has tried, once, with its score."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import kernel
from telltree.errors import CheckpointError
from telltree.grammar.derivations.naming import FREE, place_of
from telltree.grammar.derivations.population import Population
from telltree.search.state import Given, State

_FIRST_SIZE = 1 << 14
"""Slots in a new hash table: few, so that short runs stay within the cache, whatever their budget."""
_MOST_AHEAD = 1 << 20
"""The most slots to allocate ahead because the budget will need them."""


@kernel
def _recall(lengths, names, keys, kept, places, fresh):
    """Find each individual in the hash table, or insert it. `places` gets its slot, `fresh` the new ones; returns their
    number.

    `kept` has the fitness of the formulas in the table, if that is kept; it is infinite until it is known.
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
        """Make sure that this many more fit in."""
        if self._entries + individuals <= 3 * len(self.keys) // 4:  # usually few of them are new
            return
        keys, fitness, answer = self.keys, self._fitness, self._answer
        size = 4 * len(keys)
        while size < max(2 * (self._entries + individuals), self._ahead):
            size *= 2
        self._clear(size)
        held = np.flatnonzero(keys)
        places, new = np.empty((2, len(held)), np.int64)
        _recall(held + 1, keys[held], self.keys, self._fitness, places, new)  # any length but 0 will do
        if self._scores:
            self._fitness[places], self._answer[places] = fitness[held], answer[held]
        self._entries = len(held)

    def state(self) -> State:
        """What was tried, and the scores if they are kept."""
        held = np.flatnonzero(self.keys)
        found = {"keys": self.keys[held]}
        return found | {"fitness": self._fitness[held], "answer": self._answer[held]} if self._scores else found

    def resume(self, given: Given) -> None:
        """Take what was tried before, in place of what is here."""
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
        """The slot of each individual, and which were never seen before, each formula once."""
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
        """The scores of a whole population, given those of its new individuals. Where their fitness is not finite, it
        becomes infinite, in place.

        Formulas tried before have their former scores if these are kept, else infinite fitness.
        """
        of_all, answers_of_all = np.empty(len(places)), np.empty(len(places), np.uint64)
        _note(places, fresh, fitness, answer, self._fitness, self._answer, of_all, answers_of_all)
        return of_all, answers_of_all


class NoMemory(Memory):
    """For a search that never proposes a formula twice."""

    def __init__(self) -> None:
        super().__init__(False)

    def recall(self, population: Population) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All formulas are new."""
        return np.zeros(len(population.lengths), np.int64), np.flatnonzero(population.lengths)
