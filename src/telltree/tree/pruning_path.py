"""The pruning path: the best trees from a single leaf to the whole tree, from the smallest to the largest.

A branch is worth its formula if it saves more bits of labels than the formula costs. The price is the cost of a bit of
a formula: the higher it is, the fewer branches are left. Each tree on the path is the best for some range of prices
(cost–complexity pruning by Breiman and others, with bits in place of errors and leaves).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple

from telltree.text import counted
from telltree.tree.tree import Leaf, Node, Tree


class Measured(NamedTuple):
    """A share of unseen records, or a difference of two, and its standard error."""

    share: float
    error: float

    def __str__(self) -> str:
        return f"{self.share:.3f} ± {self.error:.3f}"


class TreeScore(NamedTuple):
    """The accuracy of a tree on unseen records."""

    share: float
    """The accuracy, by weight if records had weights."""
    error: float
    """Its standard error."""
    balanced: Measured | None = None
    """The accuracy in each class, averaged over the classes, which decides between sizes; None in old files."""
    behind: Measured | None = None
    """The shortfall of balanced accuracy from the best tree's, and the standard error of the difference."""


@dataclass(frozen=True)
class Pruning:
    """A tree on the pruning path."""

    tree: Tree
    price: float
    """The lowest price of a bit of a formula for which this tree is the best."""
    score: TreeScore | None = None
    """Its score in cross-validation, if there was any."""
    worth: float | None = None
    """The bits of labels that its least worthy branch saves for each bit of its formula: the price at which it would be
    cut. None for a single leaf.
    """
    own: Tree | None = None
    """The model's own tree, if it was made of this one: without questions of little worth whose sides predict the same.
    """

    @property
    def cut(self) -> int:
        """The number of its questions that were cut from the model's own tree."""
        return 0 if self.own is None else self.leaves - len(self.own.leaves)

    @property
    def remarks(self) -> list[str]:
        """A remark if questions were cut from the model's own tree after the tree was judged."""
        were = "was" if self.cut == 1 else "were"
        remark = f"judged before {counted(self.cut, 'question')} whose answers predict the same {were} cut"
        return [remark] if self.cut else []

    @property
    def leaves(self) -> int:
        """The number of categories."""
        return len(self.tree.leaves)

    @cached_property
    def words(self) -> int:
        """The number of words in its questions, in plain English."""
        return sum(len(self.tree.question(node).split()) for node in self.tree.nodes)

    def __str__(self) -> str:
        text = f"{counted(self.leaves, 'category', 'categories')}, {counted(self.words, 'word')}"
        return text if self.score is None else f"{text}, {Measured(*self.score[:2])}"


class PruningPath(tuple[Pruning, ...]):
    """The trees of a pruning path, the smallest first; printed, a table with one line each."""

    __slots__ = ()

    @classmethod
    def of(cls, tree: Tree) -> "PruningPath":
        """Return the pruning path of this tree: what remains of it as the price goes up."""
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
        steps.reverse()
        larger = (replace(step, worth=smaller.price) for smaller, step in pairwise(steps))
        return cls([steps[0], *larger])

    def scored(self, scores: Sequence[TreeScore]) -> "PruningPath":
        """Return the path with the scores of its trees."""
        return PruningPath(replace(step, score=score) for step, score in zip(self, scores, strict=True))

    def taken(self, place: int, tree: Tree) -> "PruningPath":
        """Return the path with the model's own tree, made of the tree at this place."""
        return PruningPath(replace(step, own=tree if step is self[place] else None) for step in self)

    @property
    def whole(self) -> Tree:
        """The largest tree."""
        return self[-1].tree

    def place_at(self, leaves: int) -> int:
        """Return the place of the largest tree with at most this many leaves."""
        return max(place for place, step in enumerate(self) if step.leaves <= leaves)

    def beside(self, tree: Tree) -> tuple["PruningPath", Pruning | None]:
        """Return the path with the model's own tree in its place, and that step; None if it is not of this path.

        A model may have cut questions whose sides predict the same. Such a tree replaces the smallest tree of the path
        that predicts the same for all records.
        """
        place = next((place for place, step in enumerate(self) if _answers_alike(tree.root, step.tree.root)), None)
        if place is None:
            return self, None
        own = replace(self[place], tree=tree)
        others = (*self[:place], *self[place + 1 :])
        return PruningPath(sorted([*others, own], key=lambda step: step.leaves)), own

    def place_of(self, tree: Tree) -> int | None:
        """Return the place of the tree that a model's own was made of.

        That is the smallest that contains it, and predicts alike. Minimum recalls may make a model's leaves predict
        other classes; then only questions count.
        """
        alike = (place for place, step in enumerate(self) if _answers_alike(tree.root, step.tree.root))
        containing = (place for place, step in enumerate(self) if _asks_all_of(step.tree.root, tree.root))
        return next(containing if tree.floors else alike, None)

    def place_at_price(self, price: float) -> int:
        """Return the place of the tree that remains when a bit of a formula has this price."""
        return next(place for place, step in enumerate(self) if step.price <= price)

    def at_price(self, price: float) -> Tree:
        """Return the tree that remains when a bit of a formula has this price."""
        return self[self.place_at_price(price)].tree

    @property
    def scored_by(self) -> Literal["balanced accuracy", "accuracy", "worth"]:
        """The score that its trees are compared by: accuracy in old files, the worth of branches without validation."""
        if any(step.score is None for step in self):
            return "worth"
        balanced = all(step.score is not None and step.score.balanced is not None for step in self)
        return "balanced accuracy" if balanced else "accuracy"

    @property
    def legend(self) -> str:
        """The meaning of the columns of the table."""
        own = next((", ".join(["> the model's own tree", *step.remarks]) for step in self if step.own is not None), "")
        return "; ".join(filter(None, (own, _LEGENDS[self.scored_by])))

    def table(self) -> str:
        """Return a line for each tree below a heading; the model's own has a mark."""
        rows = list(map(_row, self))
        rows.sort(key=lambda row: int(row["categories"].replace(",", "")))  # the model's own may have fewer than it had
        lines = [list(rows[0]), *(list(row.values()) for row in rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join("  ".join(map(str.rjust, line, widths)).rstrip() for line in lines)

    def __str__(self) -> str:
        return f"{self.table()}\n{self.legend}"


_LEGENDS = {
    "balanced accuracy": "± a standard error, in cross-validation; balanced accuracy: how often a tree is right about "
    "the records of a class, averaged over the classes",
    "accuracy": "± a standard error, in cross-validation",
    "worth": "worth: the bits of labels that its least worthy branch saves, for each bit that it takes to say",
}


def _row(step: Pruning) -> dict[str, str]:
    """Return the cells of a line of the table, by heading."""
    shown = step if step.own is None else replace(step, tree=step.own)
    row = {"": "" if step.own is None else ">", "categories": f"{shown.leaves:,}", "words": f"{shown.words:,}"}
    if step.score is None:
        return row | {"worth": "–" if step.worth is None else f"{step.worth:.3g}"}
    accuracy = {"accuracy": str(Measured(step.score.share, step.score.error))}
    if step.score.balanced is None or step.score.behind is None:
        return row | accuracy
    behind = str(step.score.behind) if step.score.behind.error or step.score.behind.share else "–"
    return row | {"balanced accuracy": str(step.score.balanced), "behind the best": behind} | accuracy


def equals_merged(tree: Tree, price: float) -> Tree:
    """Return the tree without questions whose two leaves predict the same, unless they are worth this price.

    Such a question changes only how likely the prediction is, so it must save more bits than others.
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


def between(steps: PruningPath) -> list[float]:
    """Return a price inside the range of each step, in order: the geometric mean of its ends, as prices are ratios."""
    prices = [math.sqrt(lower.price * upper.price) for upper, lower in pairwise(steps)]
    return [math.inf, *prices]


def _answers_alike(cut: Node | Leaf, whole: Node | Leaf) -> bool:
    """Return True if `cut` remains of `whole` when branches whose leaves all predict the same are cut."""
    if isinstance(whole, Leaf):
        return isinstance(cut, Leaf) and cut.summary.predicted == whole.summary.predicted
    if isinstance(cut, Leaf):
        return _answers_alike(cut, whole.true) and _answers_alike(cut, whole.false)
    same = cut.formula.expression == whole.formula.expression
    return same and _answers_alike(cut.true, whole.true) and _answers_alike(cut.false, whole.false)


def _asks_all_of(whole: Node | Leaf, cut: Node | Leaf) -> bool:
    """Return True if `cut` remains of `whole` when some of its branches are cut."""
    if isinstance(cut, Leaf) or isinstance(whole, Leaf):
        return isinstance(cut, Leaf)
    same = cut.formula.expression == whole.formula.expression
    return same and _asks_all_of(whole.true, cut.true) and _asks_all_of(whole.false, cut.false)


class _Left(NamedTuple):
    """The remainder of a branch at some price."""

    branch: Node | Leaf
    labels: float
    """The bits of the labels in all leaves below."""
    naming: float
    """The bits of all formulas below."""
    weakest: float
    """The lowest price at which one of its branches is worth nothing: the bits of labels saved per bit of its formulas.
    """


def _left(node: Node | Leaf, price: float, unit: float) -> _Left:
    """Return the tree without branches that are worth no more than this price, pruned from the leaves upwards."""
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
