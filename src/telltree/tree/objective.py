"""The objective of a split: combines the truth of formulas with the labels of records."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.amounts import counted
from telltree.errors import SettingsError
from telltree.grammar.derivations.population import Population
from telltree.logic.asked import OfPopulations
from telltree.search import Scores
from telltree.tree.fitness import Fitness
from telltree.tree.target import Labels

_LEAST_FITNESS = np.array([-np.inf, np.inf])
"""The lowest fitness of a usable split, and the fitness of an unusable one."""


class SplitObjective:
    """Fitness and answer of formulas as splits of the records of one tree node."""

    def __init__(self, engine: OfPopulations, labels: Labels, fitness: Fitness, min_members: int = 0) -> None:
        self._engine, self._fitness = engine, fitness
        groups, self._worth = labels.groups()
        self._masks = engine.masks(groups)
        self._totals = labels.totals()
        self._least = max(1, min_members)

    def __call__(self, population: Population, wanted: NDArray[np.int64]) -> Scores:
        tally = self._engine.evaluate(population, wanted, self._masks)
        counts = tally.counts if self._worth is None else tally.counts @ self._worth
        fitness = _checked(self._fitness(counts, self._totals, tally.size), len(wanted))
        useless = tally.members[:, 1] < self._least
        return Scores(np.maximum(fitness, _LEAST_FITNESS.take(useless.view(np.int8))), tally.answer, tally.size)


def _checked(fitness: Any, formulas: int) -> NDArray[np.float64]:
    """The fitness; SettingsError if it is not one number for each formula."""
    found = np.asarray(fitness)
    if found.shape != (formulas,) or found.dtype.kind not in "fiub":
        raise SettingsError(
            f"a fitness must return one number for each of the {counted(formulas, 'formula')} it is given, but it "
            f"returned {type(fitness).__name__} of shape {found.shape} and type {found.dtype}"
        )
    return found
