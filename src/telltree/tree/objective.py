"""The objective of a split: joins what formulas mean with what records are labelled."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.amounts import counted
from telltree.errors import SettingsError
from telltree.grammar.population import Population
from telltree.logic.engine import Engine
from telltree.search import Scores
from telltree.tree.fitness import Fitness

ONE = 1 << 20
"""Weights are whole numbers of 1 / ONE, so that sums do not depend on the order of summation."""

_LEAST_FITNESS = np.array([-np.inf, np.inf])
"""The fitness that a split has at least, if it is of use, and if it is not."""


@dataclass(frozen=True)
class Labels:
    """The class of each record, and its weight as a whole number (None: every record counts one)."""

    codes: NDArray[np.int64]
    classes: int
    weights: NDArray[np.int64] | None = None

    def __getitem__(self, members: NDArray[np.int64]) -> "Labels":
        weights = None if self.weights is None else self.weights[members]
        return Labels(self.codes[members], self.classes, weights)

    def totals(self) -> NDArray[np.int64]:
        """The weight of each class."""
        found = np.zeros(self.classes, np.int64)
        np.add.at(found, self.codes, 1 if self.weights is None else self.weights)
        return found

    def counts(self) -> NDArray[np.int64]:
        """The records of each class."""
        return np.bincount(self.codes, minlength=self.classes)

    def groups(self) -> tuple[list[NDArray[np.bool_]], NDArray[np.int64] | None]:
        """Groups of records to count, and how to make the weight of each class of the counts: groups × classes.

        Without weights the groups are the classes, and there is nothing to make (None). With them, a class has a group
        for each of its different weights, or if these are many, one for each bit of them.
        """
        classes = [self.codes == k for k in range(self.classes)]
        if self.weights is None:
            return classes, None
        parts = [(k, weight, group) for k, own in enumerate(classes) for weight, group in _parts(self.weights, own)]
        worth = np.zeros((len(parts), self.classes), np.int64)
        for row, (k, weight, _) in enumerate(parts):
            worth[row, k] = weight
        return [group for _, _, group in parts], worth


def _parts(weights: NDArray[np.int64], own: NDArray[np.bool_]) -> list[tuple[int, NDArray[np.bool_]]]:
    """The records of a class by weight if it has few different ones, else by each bit of their weights."""
    distinct = np.unique(weights[own])
    bits = int(weights.max()).bit_length()
    if len(distinct) <= bits:
        return [(int(weight), own & (weights == weight)) for weight in distinct if weight]
    return [(1 << bit, own & ((weights >> bit) & 1 == 1)) for bit in range(bits)]


class SplitObjective:
    """Fitness and answer of formulas as splits of the records of one tree node."""

    def __init__(self, engine: Engine, labels: Labels, fitness: Fitness, min_members: int = 0) -> None:
        self._engine, self._fitness = engine, fitness
        groups, self._worth = labels.groups()
        self._masks = engine.layout.masks(groups)
        self._totals = labels.totals()
        self._least = max(1, min_members)

    def __call__(self, population: Population, wanted: NDArray[np.int64]) -> Scores:
        tally = self._engine.evaluate(population, wanted, self._masks)
        counts = tally.counts if self._worth is None else tally.counts @ self._worth
        fitness = _checked(self._fitness(counts, self._totals, tally.size), len(wanted))
        useless = tally.members[:, 1] < self._least
        return Scores(np.maximum(fitness, _LEAST_FITNESS.take(useless.view(np.int8))), tally.answer)


def _checked(fitness: Any, formulas: int) -> NDArray[np.float64]:
    """The fitness; SettingsError if it is not one number for each formula."""
    found = np.asarray(fitness)
    if found.shape != (formulas,) or found.dtype.kind not in "fiub":
        raise SettingsError(
            f"a fitness must return one number for each of the {counted(formulas, 'formula')} it is given, but it "
            f"returned {type(fitness).__name__} of shape {found.shape} and type {found.dtype}"
        )
    return found
