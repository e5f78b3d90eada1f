"""The front: the best trees from a single leaf to the whole tree, from the smallest to the largest.

A branch is worth its formula if it saves more bits of labels than the formula costs. The price is the cost of a bit of
a formula: the higher it is, the fewer branches are left. Each tree of the front is the best for some range of prices
(weakest-link pruning by Breiman and others, with bits in place of errors and leaves).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from telltree.amounts import counted
from telltree.tree.tree import Leaf, Node, Tree


class Score(NamedTuple):
    """The accuracy on unseen records, and its standard error."""

    share: float
    error: float


@dataclass(frozen=True)
class Pruning:
    """A tree of the front."""

    tree: Tree
    price: float
    """The lowest price of a bit of a formula for which this tree is the best."""
    score: Score | None = None
    """How well it did in cross-validation, if there was any."""

    @property
    def leaves(self) -> int:
        """How many categories it has."""
        return len(self.tree.leaves)

    @cached_property
    def words(self) -> int:
        """How many words its questions have, in plain English."""
        return sum(len(self.tree.asks(node).split()) for node in self.tree.nodes)

    def __str__(self) -> str:
        told = f"{counted(self.leaves, 'category', 'categories')}, {counted(self.words, 'word')}"
        return told if self.score is None else f"{told}, {self.score.share:.3f} ± {self.score.error:.3f}"


class Front(tuple[Pruning, ...]):
    """The trees of the front, the smallest first; printed, one line each."""

    __slots__ = ()

    @classmethod
    def of(cls, tree: Tree) -> "Front":
        """The trees that are left of this one as the price goes up."""
        unit = tree.unit
        steps, price = [Pruning(tree, 0.0)], 0.0
        left = _left(tree.root, -math.inf, unit)
        while left.weakest < math.inf:
            price = max(price, left.weakest)
            left = _left(left.branch, price, unit)
            tree = replace(tree, root=left.branch)
            if len(steps) > 1 and steps[-1].price == price:  # keep the smaller of two that are equally good
                steps.pop()
            steps.append(Pruning(tree, price))
        return cls(reversed(steps))

    def scored(self, scores: Sequence[Score]) -> "Front":
        """The same trees, with their scores."""
        return Front(replace(step, score=score) for step, score in zip(self, scores, strict=True))

    @property
    def whole(self) -> Tree:
        """The largest tree."""
        return self[-1].tree

    def at(self, leaves: int) -> Tree:
        """The largest tree with at most this many leaves."""
        return [step.tree for step in self if step.leaves <= leaves][-1]

    def beside(self, tree: Tree) -> tuple["Front", Pruning | None]:
        """The front with a model's own tree in its place, by size, and that step; None if it does not belong to this
        front.

        A model may have cut questions whose answers predict the same. Such a tree stands for the smallest of the front
        that predicts the same for all records, and does as well.
        """
        for step in self:
            if _answers_alike(tree.root, step.tree.root):
                own = replace(step, tree=tree)
                others = (other for other in self if other is not step)
                return Front(sorted([*others, own], key=lambda step: step.leaves)), own
        return self, None

    def at_price(self, price: float) -> Tree:
        """The tree that remains when a bit of a formula has this price."""
        return next(step.tree for step in self if step.price <= price)

    def __str__(self) -> str:
        return "\n".join(map(str, self))


def equals_merged(tree: Tree, price: float) -> Tree:
    """The tree with two leaves of one question merged if they predict the same, unless the question is worth this
    price.

    What is predicted is told alike by both; a question that tells only how likely it is must tell more of that.
    """
    unit = tree.unit

    def below(node: Node | Leaf) -> Node | Leaf:
        if isinstance(node, Leaf):
            return node
        left = replace(node, true=below(node.true), false=below(node.false))
        sides = [side for side in (left.true, left.false) if isinstance(side, Leaf)]
        equal = len(sides) == 2 and sides[0].summary.predicted == sides[1].summary.predicted
        return Leaf(node.summary) if equal and _left(left, -math.inf, unit).weakest <= price else left

    return replace(tree, root=below(tree.root))


def between(steps: Front) -> list[float]:
    """A price inside the range of each step, in order: the geometric mean of its ends, as prices are ratios."""
    prices = [math.sqrt(lower.price * upper.price) for upper, lower in pairwise(steps)]
    return [math.inf, *prices]


def _answers_alike(cut: Node | Leaf, whole: Node | Leaf) -> bool:
    """Whether `cut` is what remains of `whole` if branches whose leaves all predict the same are cut."""
    if isinstance(whole, Leaf):
        return isinstance(cut, Leaf) and cut.summary.predicted == whole.summary.predicted
    if isinstance(cut, Leaf):
        return _answers_alike(cut, whole.true) and _answers_alike(cut, whole.false)
    same = cut.formula.expression == whole.formula.expression
    return same and _answers_alike(cut.true, whole.true) and _answers_alike(cut.false, whole.false)


class _Left(NamedTuple):
    """What is left of a branch at some price."""

    branch: Node | Leaf
    labels: float
    """The bits of the labels of all leaves below."""
    naming: float
    """Those of all formulas below."""
    weakest: float
    """The lowest price at which one of its branches is worth nothing: the bits of labels saved per bit of its
    formulas."""


def _left(node: Node | Leaf, price: float, unit: float) -> _Left:
    """The tree without branches that are worth no more than this price, pruned from the leaves upwards."""
    labels = node.summary.bits(unit)
    if isinstance(node, Leaf):
        return _Left(node, labels, 0.0, math.inf)
    true, false = (_left(side, price, unit) for side in (node.true, node.false))
    below, naming = true.labels + false.labels, node.naming + (true.naming + false.naming)
    worth = max(0.0, labels - below) / max(naming, 1e-9)
    if worth <= price:
        return _Left(Leaf(node.summary), labels, 0.0, math.inf)
    branch = replace(node, true=true.branch, false=false.branch)
    return _Left(branch, below, naming, min(worth, true.weakest, false.weakest))
