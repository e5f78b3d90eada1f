"""How fit a formula must be to matter: to be kept among the best, to tie, or to be the best of its size."""

import numpy as np
from numpy.typing import NDArray

from telltree.errors import CheckpointError
from telltree.search.state import Given, State

_LARGEST = 256
"""Larger formulas are taken to be of this size, so that more of them matter."""


class Hope:
    """Follows the best fitness of each size, and that of the k best formulas that answer differently."""

    def __init__(self, k: int, tolerance: float) -> None:
        self._k, self._tolerance = k, tolerance
        self._by_size = np.full(_LARGEST + 1, np.inf)
        self._fitness, self._answer = np.empty(0), np.empty(0, np.uint64)

    def needed(self, size: int) -> float:
        """A formula of this size whose fitness is greater does not matter."""
        least = float(self._by_size[: min(size, _LARGEST) + 1].min()) + self._tolerance
        last = float(self._fitness[-1]) if len(self._fitness) == self._k else np.inf
        return max(least, last)

    def learn(self, size: NDArray[np.int64], fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        """Take in the scores of formulas of these sizes."""
        np.minimum.at(self._by_size, np.minimum(size, _LARGEST), fitness)
        last = self._fitness[-1] if len(self._fitness) == self._k else np.inf
        better = fitness < last
        fitness, answer = (
            np.concatenate([a, b[better]]) for a, b in ((self._fitness, fitness), (self._answer, answer))
        )
        ranked = np.argsort(fitness, kind="stable")
        first = np.sort(np.unique(answer[ranked], return_index=True)[1])[: self._k]  # the fittest with each answer
        self._fitness, self._answer = fitness[ranked][first], answer[ranked][first]

    def state(self) -> State:
        """What was reached so far."""
        return {"by_size": self._by_size.copy(), "fitness": self._fitness.copy(), "answer": self._answer.copy()}

    def resume(self, given: Given) -> None:
        """Take what was reached before."""
        by_size, fitness = given.array("by_size", np.float64, _LARGEST + 1), given.array("fitness", np.float64, None)
        if np.isnan(by_size).any() or len(fitness) > self._k or not (np.diff(fitness) >= 0).all():
            raise CheckpointError("what was reached so far is in no order")
        self._by_size, self._fitness = by_size, fitness
        self._answer = given.array("answer", np.uint64, len(fitness))
