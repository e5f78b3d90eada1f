"""What a tree costs as a whole: the fitness of a split, with all leaves and all questions in place of two and one."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from telltree.errors import SettingsError
from telltree.grammar import Grammar
from telltree.tree.bits import LARGEST, Bits
from telltree.tree.fitness import Fitness, GiniSize, require_classes
from telltree.tree.target import Labels
from telltree.tree.target.message import label_bits


@dataclass(frozen=True, eq=False)
class Whole:
    """What leaves and questions cost; less is better."""

    prices: NDArray[np.float64]
    """Of a question, by its size; larger ones cost as much as the last."""
    impurity: float
    """What a unit of weight in a leaf costs, times the Gini impurity there."""
    unit: float
    """How many records a weight of 1 counts for where leaves cost bits instead; else 0."""
    told_in: str
    """What it is counted in, in words."""

    def price(self, size: int) -> float:
        """What a question of so many terminals costs."""
        return float(self.prices[min(size, len(self.prices) - 1)])

    def leaf(self, weights: NDArray[np.int64]) -> float:
        """What a leaf costs in which classes have these weights."""
        if self.unit:
            return label_bits(weights.tolist(), self.unit)
        total = int(weights.sum())
        return self.impurity * (total - float(np.sum(weights.astype(np.float64) ** 2)) / total) if total else 0.0


def whole_of(fitness: Fitness, grammar: Grammar, labels: Labels, node: Labels | None = None) -> Whole:
    """What trees of formulas of this grammar cost for all these records; SettingsError if the fitness does not say.

    `node`: the records of the node below which they grow, if that is not the root: impurity is a mean over these.
    """
    here = labels if node is None else node
    if isinstance(fitness, Bits):
        require_classes(fitness, labels)
        prices = fitness.price_for(len(labels)) * np.array(grammar.bits(LARGEST))
        return Whole(prices, 0.0, len(labels) / int(labels.totals().sum()), "bits")
    if isinstance(fitness, GiniSize) and fitness.gini == "weighted":
        require_classes(fitness, labels)
        each = fitness.w2 / len(here) if fitness.per_record else fitness.w2
        most = 256  # rules of a derivation
        return Whole(each * np.arange(most + 1.0), fitness.w1 / int(here.totals().sum()), 0.0, "of fitness")
    raise SettingsError(
        f"what a whole tree costs is known for Bits() and for GiniSize(gini='weighted'), not for {fitness!r:.200}; "
        "give one of these as fitness, or leave growth out"
    )
