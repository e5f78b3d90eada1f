"""Criteria: description length (`MDL`), or impurity and size (`GiniSize`), of one split or a whole tree."""

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import kernel, lesser, small
from telltree.errors import SettingsError
from telltree.grammar import Grammar
from telltree.tree.class_target import ClassLabels
from telltree.tree.target import Labels, label_bits

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Criterion(Protocol):
    """A function of (counts of the true side, counts of all, sizes) that rates splits; less is better.

    For classes, counts are the weights of each class. It gets one row per formula for the true side, one row in all for
    the totals, and one size per formula, and returns one number per formula. Weights are numbers of records where none
    are given, else whole numbers in proportion to them. Splits with an empty side are never taken. It may also have:

    - `prepared(grammar, labels)`, which returns the criterion for a grammar and all records of a tree;
    - `at_node(records)`, which returns the criterion at a node of that many records;
    - `unsplit(total)`, the value of a node that stays a leaf. Without it, a split is compared with a formula of the
      same size that is true of all records;
    - `least_gain`, the least decrease for which a node is split, unless the user sets it;
    - `shorter_is_fitter = True`, if the longer of two formulas that split alike is never the fitter one. A search that
      tries all formulas then leaves the longer ones out;
    - `ties = "first"`, to take the first of equally fit formulas;
    - `size = "nodes"`, to get the nodes of the derivation tree as sizes, not terminals; see `GiniSize`;
    - `least(most, total, size)`, for each row of `most` a lower bound for formulas of this size whose true side has at
      most so much of each class, or None. Such a search then leaves out what cannot be good enough.
    """

    def __call__(self, true: Ints, total: Ints, size: Ints) -> Floats: ...


@kernel
def _gini_size(true, total, size, w1, w2, summed, out):
    everything = 0.0
    for k in range(len(total)):
        everything += total[k]
    for i in range(true.shape[0]):
        n, squares, other_squares = 0.0, 0.0, 0.0
        for k in range(len(total)):
            n += true[i, k]
            squares += np.float64(true[i, k]) ** 2
            other_squares += np.float64(total[k] - true[i, k]) ** 2
        m = everything - n
        gini = 1.0 - squares / (n * n) if n > 0 else 0.0
        other = 1.0 - other_squares / (m * m) if m > 0 else 0.0
        impurity = gini + other if summed else (n * gini + m * other) / everything
        out[i] = w1 * impurity + w2 * size[i]


@dataclass(frozen=True)
class GiniSize:
    """w1 · (Gini impurity of both sides) + w2 · (size of the formula).

    gini: "weighted", the mean of both sides by their weight, or "sum", their plain sum as in the paper's formula, which
        prefers splits that separate very few records.
    tolerance: splits whose fitness differs by at most this count as equally good, and the wider margin decides. The
        default is less than the cost of a terminal, and about the effect on Gini of one or two records in a class.
    size: "terminals" of the text, however a grammar is factored; or "nodes" of the derivation tree, the paper's N_e:
        every symbol that was rewritten, and every terminal. F(x1 ∧ x2) has 4 terminals, and with the paper's grammar
        11 nodes: Start, B, Ev, F, VB, And, ∧, and twice VB with an attribute.
    ties: of formulas that are as fit, "robustness" takes the most robust one that leaves the other levels room
        to tell classes apart, "first" the fittest that was found first.
    per_record: divide w2 by the number of records at the node. A terminal then costs the same number of records at
        every node: with w2 = 200 it must set about one right. Without it, a terminal costs 35 records at a root of
        70,000 and almost nothing at a node of 20, where long formulas overfit.
    """

    w1: float = 100.0
    w2: float = 0.1
    gini: Literal["weighted", "sum"] = "weighted"
    size: Literal["nodes", "terminals"] = "terminals"
    tolerance: float = 0.05
    per_record: bool = False
    ties: Literal["robustness", "first"] = "robustness"

    shorter_is_fitter: ClassVar[bool] = True

    @classmethod
    def paper(cls) -> "GiniSize":
        """Return the paper's criterion: the plain sum of both sides' impurities, nodes, and the first of the fittest.

        The weights, which the paper does not give, are those of its authors' code, where impurity is "weighted".
        """
        return cls(gini="sum", size="nodes", tolerance=0.0, ties="first")

    def __post_init__(self) -> None:
        for name, one, other in (
            ("gini", "weighted", "sum"),
            ("size", "nodes", "terminals"),
            ("ties", "robustness", "first"),
        ):
            if getattr(self, name) not in (one, other):
                raise SettingsError(f'{name} must be "{one}" or "{other}", got {getattr(self, name)!r}')
        if not isinstance(self.per_record, bool):
            raise SettingsError(f"per_record must be true or false, got {self.per_record!r}")
        for name, value in (("w1", self.w1), ("w2", self.w2), ("tolerance", self.tolerance)):
            if not (isinstance(value, Real) and 0 <= value < float("inf")):
                raise SettingsError(f"{name} must be a finite number of at least 0, got {value!r}")

    def prepared(self, _: Grammar, labels: Labels) -> "GiniSize":
        """Return this criterion, which is the same for all grammars; SettingsError if the labels are no classes."""
        require_classes(self, labels)
        return self

    def at_node(self, records: int) -> "GiniSize":
        """Return the criterion at a node of this many records."""
        return replace(self, w2=self.w2 / records, per_record=False) if self.per_record else self

    def __call__(self, true: Ints, total: Ints, size: Ints) -> Floats:
        if self.per_record:
            raise SettingsError("with per_record, a fitness is that of a node: ask at_node(records) for it")
        out = np.empty(len(size))
        _gini_size(true, total, size, float(self.w1), float(self.w2), self.gini == "sum", out)
        return out

    def least(self, most: Ints, total: Ints, size: Ints) -> Floats | None:
        """Return lower bounds, see `Criterion`; None for "sum": only "weighted" impurity is concave."""
        return None if self.gini == "sum" else least_at_corners(self, most, total, size)


_MOST_CLASSES = 4


def least_at_corners(criterion: Criterion, most: Ints, total: Ints, size: Ints) -> Floats | None:
    """Return a lower bound of splits whose true side has at most so much of each class; None if there are many classes.

    A criterion that is concave in each class is least where each class is there with all that it may have, or not at
    all.
    """
    classes = len(total)
    if classes > _MOST_CLASSES:
        return None
    found = np.full(len(most), np.inf)
    for corner in range(1 << classes):
        taken = most * np.array([corner >> k & 1 for k in range(classes)])
        np.minimum(found, criterion(np.ascontiguousarray(taken), total, size), out=found)
    return found


def require_classes(criterion: Criterion, labels: Labels) -> None:
    """Raise SettingsError if labels are no classes, which this criterion needs."""
    if not isinstance(labels, ClassLabels):
        name = type(criterion).__name__
        raise SettingsError(
            f"{name} tells how mixed classes are, and got {type(labels).__name__}: give a criterion for them"
        )


def sized_for(criterion: Criterion, grammar: Grammar) -> Grammar:
    """Return the grammar with formulas sized as the criterion counts them."""
    return grammar.counting_nodes if getattr(criterion, "size", None) == "nodes" else grammar


def prepared(criterion: Criterion, grammar: Grammar, labels: Labels) -> Criterion:
    """Return the criterion for formulas of this grammar as splits of records with these labels."""
    own = getattr(criterion, "prepared", None)
    return criterion if own is None else own(grammar, labels)


def criterion_at(criterion: Criterion, records: int) -> Criterion:
    """Return the criterion at a node of this many records."""
    own = getattr(criterion, "at_node", None)
    return criterion if own is None else own(records)


def gain_of(criterion: Criterion, total: Ints, size: int, reached: float) -> float:
    """Return the decrease of the criterion by a split that reaches this value."""
    own = getattr(criterion, "unsplit", None)
    before = float(criterion(total[None, :], total, np.array([size]))[0]) if own is None else float(own(total))
    return before - reached


# ---- MDL (minimum description length): the bits that encode the labels, given the records.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


LARGEST = 48
"""The most terminals up to which formulas are counted; larger ones cost as much as these."""
_MANY = 400  # number of records from which formulas have their full price
_LEAST = 0.1  # lowest share of the full price, for very few records


_label_bits = small(label_bits)


@kernel
def _split_bits(true, total, size, prices, unit, out):
    false = np.empty_like(total)
    for i in range(true.shape[0]):
        for k in range(len(total)):
            false[k] = total[k] - true[i, k]
        formula_bits = prices[lesser(size[i], len(prices) - 1)]
        out[i] = _label_bits(true[i], unit) + _label_bits(false, unit) + formula_bits


@dataclass(frozen=True)
class MDL:
    """The bits that encode the labels of both sides of a split, and the formula (minimum description length).

    Labels are encoded one after another, each predicted from those before it on its side (the Dirichlet-multinomial
    code with 1/k for each of k classes). A formula is one of those that the grammar can write with at most as many
    terminals, so log2 of their number names it. A split is worth its formula if it saves more than it costs, whatever
    the number of records, classes and columns: the more there is to choose from, the more chance finds, and the higher
    the price. A node whose best split saves nothing stays a leaf.

    price: the cost of a bit of a formula, in bits of labels. One half, because many formulas of a grammar have equal
        answers, or are useless, so that naming a split takes fewer bits than naming its formula. A higher price makes
        formulas shorter and leaves fewer. With few records it is lower, see `price_for`.
    tolerance: splits that differ by at most this many bits count as equally good: the shorter formula is taken, and
        among equals the one with the wider margin.
    leniency: a shorter formula is taken if it saves at least 1 − leniency of what the best split saves. The rest is
        left to the questions below it: two short questions read better than a long one, and tell as much. Formulas of
        up to six terminals are short enough.
    """

    price: float = 0.5
    tolerance: float = 2.0
    leniency: float = 0.2

    def __post_init__(self) -> None:
        for name, value in (("price", self.price), ("tolerance", self.tolerance), ("leniency", self.leniency)):
            if not (isinstance(value, Real) and 0 <= value < math.inf):
                raise SettingsError(f"{name} must be a finite number of at least 0, got {value!r}")

    def price_for(self, records: int) -> float:
        """Return the price in a tree of this many records.

        It is full from 400 records on, and below that in proportion to the square root. With few records, missing a
        branch costs more than following chance once.
        """
        return self.price * min(1.0, max(_LEAST, math.sqrt(records / _MANY)))

    def prepared(self, grammar: Grammar, labels: Labels) -> "MDLOf":
        """Return the criterion for formulas of this grammar as splits of records that have these labels."""
        require_classes(self, labels)
        weight = int(labels.totals().sum())
        return MDLOf(
            self.price_for(len(labels)),
            self.tolerance,
            self.leniency,
            np.array(grammar.bits(LARGEST)),
            len(labels) / weight,
        )

    def __call__(self, true: Ints, total: Ints, size: Ints) -> Floats:
        raise SettingsError("MDL is the criterion of a grammar: ask prepared(grammar, labels) for it")


@dataclass(frozen=True, eq=False)
class MDLOf:
    """MDL for one grammar and one set of weights, which are scaled so that they add up to the number of records."""

    price: float
    tolerance: float
    leniency: float
    naming: NDArray[np.float64]
    """The bits that name a formula, by its size."""
    unit: float
    """The number of records that a weight of 1 counts for."""

    least_gain = 0.0
    shorter_first = shorter_is_fitter = True
    brief = 6
    """Formulas of this many terminals, such as `F(x > 3 ∧ b)`, are short enough: a shorter one must be as good."""

    def __call__(self, true: Ints, total: Ints, size: Ints) -> Floats:
        out = np.empty(len(size))
        _split_bits(true, total, size, self.price * self.naming, self.unit, out)
        return out

    def least(self, most: Ints, total: Ints, size: Ints) -> Floats | None:
        """Return lower bounds, see `Criterion`: the bits are concave in each class weight, because trigamma falls."""
        return least_at_corners(self, most, total, size)

    def unsplit(self, total: Ints) -> float:
        """Return the bits without a split."""
        return label_bits(total.tolist(), self.unit)


# ---- The cost of a whole tree: over all its leaves and formulas, where a split has two leaves and one formula.


@dataclass(frozen=True, eq=False)
class TreeCost:
    """The costs of the leaves and formulas of a tree: the criterion of a split, extended to whole trees."""

    prices: NDArray[np.float64]
    """The cost of a formula, by its size; larger ones cost as much as the last."""
    impurity: float
    """The cost of a unit of weight in a leaf of Gini impurity 1."""
    unit: float
    """The number of records that a weight of 1 counts for, if leaves cost bits; else 0."""
    told_in: str
    """The unit, in words."""

    def price(self, size: int) -> float:
        """Return the cost of a formula with this many terminals."""
        return float(self.prices[min(size, len(self.prices) - 1)])

    def leaf(self, weights: NDArray[np.int64]) -> float:
        """Return the cost of a leaf with these class weights."""
        if self.unit:
            return label_bits(weights.tolist(), self.unit)
        total = int(weights.sum())
        return self.impurity * (total - float(np.sum(weights.astype(np.float64) ** 2)) / total) if total else 0.0


def tree_cost(criterion: Criterion, grammar: Grammar, labels: Labels, node: Labels | None = None) -> TreeCost:
    """Return the costs of trees with formulas of this grammar; SettingsError if the criterion has none.

    `node`: the records of the node below which they grow, if that is not the root: impurity is a mean over these.
    """
    here = labels if node is None else node
    if isinstance(criterion, MDL):
        require_classes(criterion, labels)
        prices = criterion.price_for(len(labels)) * np.array(grammar.bits(LARGEST))
        return TreeCost(prices, 0.0, len(labels) / int(labels.totals().sum()), "bits")
    if isinstance(criterion, GiniSize) and criterion.gini == "weighted":
        require_classes(criterion, labels)
        each = criterion.w2 / len(here) if criterion.per_record else criterion.w2
        most = 256  # rules of a derivation
        return TreeCost(each * np.arange(most + 1.0), criterion.w1 / int(here.totals().sum()), 0.0, "of fitness")
    raise SettingsError(
        f"what a whole tree costs is known for MDL() and for GiniSize(gini='weighted'), not for {criterion!r:.200}; "
        "give one of these as criterion, or leave growth out"
    )
