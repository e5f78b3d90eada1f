"""Minimum recalls: the records of a class weigh more in the leaves until enough of them are found.

A leaf predicts the class of greatest weight in it. The more a class weighs, the more leaves predict it: more of its
records are found, and more others are taken for it. The least weight that reaches the minimum is taken.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.errors import SettingsError
from telltree.panel.schema import listed
from telltree.text import counted
from telltree.tree.class_target import ClassSummary, ClassTarget
from telltree.tree.tree import ClassRecall, Floor, Leaf, Node, Tree

_BEYOND = 1.01  # times the weight that ties, where no other leaf is left


def with_recall(tree: Tree, floors: Mapping[Any, float] | None) -> Tree:
    """Return the tree with leaves reweighted so that each class reaches its minimum recall on the training records.

    SettingsError if the minimum recalls of several classes exclude each other. A class without training records has
    none.
    """
    if not floors:
        return tree
    target = tree.target
    assert isinstance(target, ClassTarget)
    leaves = _Leaves.of([summary for summary in tree.summaries if isinstance(summary, ClassSummary)])
    wanted = {target.classes.index(label): float(floor) for label, floor in floors.items()}
    factors = _factors(leaves, wanted, tree)
    once = np.ones(len(target.classes))
    reached = tuple(
        Floor(target.classes[k], floor, float(factors[k]), leaves.found(once, k), leaves.found(factors, k))
        for k, floor in wanted.items()
        if leaves.counts[:, k].any()
    )
    return replace(tree, root=_reweighted(tree.root, factors), floors=reached)


@dataclass(frozen=True)
class _Leaves:
    """Records and weights by leaf and class."""

    counts: NDArray[np.int64]
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, leaves: Sequence[ClassSummary]) -> "_Leaves":
        return cls(np.array([leaf.counts for leaf in leaves]), np.array([leaf.weights for leaf in leaves]))

    def found(self, factors: NDArray[np.float64], k: int) -> ClassRecall:
        """Return the recall and the precision of a class if classes weigh so many times as much."""
        predicted = np.argmax(self.weights * factors, axis=1) == k
        hits, taken = self.counts[predicted, k].sum(), self.counts[predicted].sum()
        return ClassRecall(float(hits / self.counts[:, k].sum()), float(hits / taken) if taken else None)

    def least(self, factors: NDArray[np.float64], k: int, floor: float) -> float:
        """Return the least factor with which a class reaches its minimum, half-way between the leaves it separates."""
        own, others = self.weights[:, k], np.delete(self.weights * factors, k, axis=1).max(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ties = np.where(own > 0, others / own, np.inf)  # the factor at which a leaf is about to predict the class
        order = np.argsort(ties, kind="stable")
        hits = np.cumsum(self.counts[order, k])
        needed = float(ties[order[np.argmax(hits >= floor * hits[-1])]])
        later = ties[ties > needed].min(initial=np.inf)
        return math.sqrt(needed * later) if needed and np.isfinite(later) else needed * _BEYOND


def _factors(leaves: _Leaves, wanted: Mapping[int, float], tree: Tree) -> NDArray[np.float64]:
    """Return the factor for the weight of each class."""
    factors = np.ones(leaves.counts.shape[1])
    met = {k: floor for k, floor in wanted.items() if leaves.counts[:, k].any()}
    for _ in range(len(leaves.counts) * len(met) + 1):  # each round gives a class at least one leaf more
        short = [k for k, floor in met.items() if leaves.found(factors, k).recall < floor]
        if not short:
            return factors
        factors[short[0]] = leaves.least(factors, short[0], met[short[0]])
    classes = listed([tree.target.parts[k] for k in met])
    raise SettingsError(
        f"the recall of {classes} cannot all be as high as asked for: each takes leaves from the others in this tree "
        f"of {counted(len(leaves.counts), 'leaf', 'leaves')}; ask for less, for fewer classes, or for a larger tree"
    )


def _reweighted(node: Node | Leaf, factors: NDArray[np.float64]) -> Node | Leaf:
    if isinstance(node, Node):
        return replace(node, true=_reweighted(node.true, factors), false=_reweighted(node.false, factors))
    summary = node.summary
    assert isinstance(summary, ClassSummary)
    weights = tuple((np.array(summary.weights) * factors).tolist())
    return replace(node, summary=replace(summary, weights=weights))
