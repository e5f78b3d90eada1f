"""What a search has tried: every formula once, with its score."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import kernel
from telltree.errors import CheckpointError
from telltree.grammar.derivations.naming import FREE, place_of
from telltree.grammar.derivations.population import Population
from telltree.search.state import Given, State

_FIRST_SIZE = 1 << 14
"""Places in a new table: runs that try little, whatever their budget, stay within the cache."""
_MOST_AHEAD = 1 << 20
"""Places to grow to at once, at most, because the budget will need them."""


@kernel
def _recall(lengths, names, keys, kept, places, fresh):
    """Find or enter each individual in the table; `places` gets where, `fresh` the new ones; returns their number.

    `kept` is the fitness of what is in the table, if that is kept: infinitely bad until it is known.
    """
    new = 0
    for i in range(len(lengths)):
        places[i] = -1
        if lengths[i]:
            place = place_of(keys, names[i])
            is_new = keys[place] == FREE  # which cannot be foreseen, so that nothing depends on a branch
            places[i], keys[place], fresh[new] = place, names[i], i
            new += is_new
            if len(kept):
                kept[place] = np.inf if is_new else kept[place]
    return new


@kernel
def _note(places, fresh, fitness, answer, kept, kept_answers, of_all, answers_of_all):
    """Spread the scores of the individuals `fresh` over the whole population, and over the table if it keeps scores.

    What is no number is of no use: such a fitness becomes infinite, where it stands.
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
    """A table of formulas, with their fitness and answer if these are asked for again; it grows as needed."""

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
        """Make sure that so many more fit in."""
        if self._entries + individuals <= 3 * len(self.keys) // 4:  # few of them are new as a rule
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
        """Where each individual is kept, and which were never seen before, each formula once."""
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
        """The scores of a whole population, given those of its new individuals, whose fitness is made infinite in place
        where it is no number.

        What was tried before has the scores it had then if they are kept, else it is infinitely unfit.
        """
        of_all, answers_of_all = np.empty(len(places)), np.empty(len(places), np.uint64)
        _note(places, fresh, fitness, answer, self._fitness, self._answer, of_all, answers_of_all)
        return of_all, answers_of_all
