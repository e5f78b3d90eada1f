"""Bits: how long the shortest message is from which somebody who has the records could read off their labels."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import kernel, small
from telltree.errors import SettingsError
from telltree.grammar import Grammar
from telltree.tree.fitness import Floats, Ints, require_classes
from telltree.tree.target import Labels
from telltree.tree.target.message import label_bits

LARGEST = 48
"""Terminals up to which formulas are counted; from there on each costs what the last one did."""
_MANY = 400  # records from which on formulas have their full price
_LEAST = 0.1  # of the full price: what formulas cost where there is next to nothing to learn from


_label_bits = small(label_bits)


@kernel
def _split_bits(true, total, size, prices, unit, out):  # noqa: PLR0917  a kernel
    false = np.empty_like(total)
    for i in range(true.shape[0]):
        for k in range(len(total)):
            false[k] = total[k] - true[i, k]
        asked = prices[min(size[i], len(prices) - 1)]
        out[i] = _label_bits(true[i], unit) + _label_bits(false, unit) + asked


@dataclass(frozen=True)
class Bits:
    """The bits it takes to tell the labels of both sides of a split, and to say the formula.

    Labels are told one after another, each foretold by those before it on its side (the Dirichlet-multinomial code with
    1/k for each of k classes). A formula is one of those that the grammar can write with so many terminals or fewer,
    so it takes log2 of their number to name it. A split is worth its formula if it saves more than it costs, whatever
    the number of records, classes and columns: where there is more to choose from, chance finds more, and the price
    goes up. A node whose best split saves nothing stays a leaf.

    price: what a bit of a formula counts, in bits of labels. Half, because most formulas that a grammar can write
        answer alike, or are of no use, so that naming a split takes fewer bits than naming its formula. A higher price
        makes for shorter formulas and fewer leaves. Where there are few records, it is lower, see `price_for`.
    tolerance: splits that differ by no more bits are as good as each other: the shorter formula is taken, and of equals
        the one with the wider margin.
    leniency: the share of what the best split saves that a shorter one may leave unsaved and still be taken. What it
        leaves is for the questions below it: two short questions read better than a long one, and tell as much.
        Formulas of up to six terminals are short enough.
    """

    price: float = 0.5
    tolerance: float = 2.0
    leniency: float = 0.2

    def __post_init__(self) -> None:
        for name, value in (("price", self.price), ("tolerance", self.tolerance), ("leniency", self.leniency)):
            if not (isinstance(value, Real) and 0 <= value < math.inf):
                raise SettingsError(f"{name} must be a finite number of at least 0, got {value!r}")

    def price_for(self, records: int) -> float:
        """The price in a tree of so many records: full from 400 on, and less by the root of their number below.

        Where records are few, to miss a branch costs more than to follow chance once.
        """
        return self.price * min(1.0, max(_LEAST, math.sqrt(records / _MANY)))

    def prepared(self, grammar: Grammar, labels: Labels) -> "BitsOf":
        """The criterion for formulas of this grammar as splits of records that have these labels."""
        require_classes(self, labels)
        weight = int(labels.totals().sum())
        return BitsOf(
            self.price_for(len(labels)),
            self.tolerance,
            self.leniency,
            np.array(grammar.bits(LARGEST)),
            len(labels) / weight,
        )

    def __call__(self, true: Ints, total: Ints, size: Ints) -> Floats:
        raise SettingsError("Bits is the criterion of a grammar: ask prepared(grammar, labels) for it")


@dataclass(frozen=True, eq=False)
class BitsOf:
    """Bits for one grammar, and one way of weighing records: their weights add up to their number."""

    price: float
    tolerance: float
    leniency: float
    naming: NDArray[np.float64]
    """The bits that name a formula, by its size."""
    unit: float
    """What a weight of 1 counts, in records."""

    least_gain = 0.0
    shorter_first = True
    brief = 6
    """Terminals of a formula that need not be fewer, such as those of `F(x > 3 ∧ b)`: a shorter one must be as good."""

    def __call__(self, true: Ints, total: Ints, size: Ints) -> Floats:
        out = np.empty(len(size))
        _split_bits(true, total, size, self.price * self.naming, self.unit, out)
        return out

    def unsplit(self, total: Ints) -> float:
        """The bits without a split."""
        return label_bits(total.tolist(), self.unit)
