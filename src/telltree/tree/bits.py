"""Bits: the length of the shortest message that tells the labels to somebody who has the records."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import kernel, lesser, small
from telltree.errors import SettingsError
from telltree.grammar import Grammar
from telltree.tree.fitness import Floats, Ints, least_at_corners, require_classes
from telltree.tree.target import Labels
from telltree.tree.target.message import label_bits

LARGEST = 48
"""Formulas are counted up to this many terminals; larger ones cost as much as the last."""
_MANY = 400  # number of records from which formulas have their full price
_LEAST = 0.1  # lowest share of the full price, for very few records


_label_bits = small(label_bits)


@kernel
def _split_bits(true, total, size, prices, unit, out):  # noqa: PLR0917  a kernel
    false = np.empty_like(total)
    for i in range(true.shape[0]):
        for k in range(len(total)):
            false[k] = total[k] - true[i, k]
        asked = prices[lesser(size[i], len(prices) - 1)]
        out[i] = _label_bits(true[i], unit) + _label_bits(false, unit) + asked


@dataclass(frozen=True)
class Bits:
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
        """The price in a tree of this many records: full from 400 on, below that in proportion to the square root.

        With few records, missing a branch costs more than following chance once.
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
    """Bits for one grammar and one set of weights, scaled so that weights add up to the number of records."""

    price: float
    tolerance: float
    leniency: float
    naming: NDArray[np.float64]
    """The bits that name a formula, by its size."""
    unit: float
    """How many records a weight of 1 counts for."""

    least_gain = 0.0
    shorter_first = shorter_is_fitter = True
    brief = 6
    """Formulas of this many terminals, such as `F(x > 3 ∧ b)`, are short enough: a shorter one must be as good."""

    def __call__(self, true: Ints, total: Ints, size: Ints) -> Floats:
        out = np.empty(len(size))
        _split_bits(true, total, size, self.price * self.naming, self.unit, out)
        return out

    def least(self, most: Ints, total: Ints, size: Ints) -> Floats | None:
        """See `Fitness`: the bits are concave in the weight of each class, because trigamma falls."""
        return least_at_corners(self, most, total, size)

    def unsplit(self, total: Ints) -> float:
        """The bits without a split."""
        return label_bits(total.tolist(), self.unit)
