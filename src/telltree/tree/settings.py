"""The settings of a tree: the ways of growing it, and all that decides which tree is learned."""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from telltree.checks import is_number, require_whole
from telltree.errors import SettingsError

if TYPE_CHECKING:
    from telltree.search import Search
    from telltree.tree.criterion import Criterion

OPTIMAL_DEPTH, DEEPEST_OPTIMAL = 2, 3
"""The default and the largest depth of an optimal tree. Each level multiplies the work by the size of the pool."""
MOST_POOLED = 10_000
MOST_TREES = 10_000

Thresholds = Literal["grid", "midpoint", "best"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Growth:
    """The settings common to all ways of growing a tree.

    thresholds: where the constants of a chosen formula go. "grid" leaves them where the grammar has them; "midpoint"
        moves each to the middle of the gap in which it splits the training records alike; "best" moves each to the gap
        where the formula is fittest, the widest of equals. None means "midpoint" where telltree writes the grammar,
        else "grid". Where telltree writes the grammar, columns whose thresholds the schema gives keep them.
    simplify: False keeps each formula exactly as the search derived it: no part is dropped, no constant moved, nothing
        brought to normal form, and yes and no are not exchanged.
    simplicity: the strength of pruning. With cross-validation, the number of standard errors by which a smaller tree
        may be worse than the best and still be taken; without, a factor of the price of formulas. 0 takes the best
        tree, or the whole one.
    """

    thresholds: Thresholds | None = None
    simplify: bool = True
    simplicity: float = 1.0

    def __post_init__(self) -> None:
        if self.thresholds is not None and self.thresholds not in get_args(Thresholds):
            raise SettingsError(f'thresholds must be "grid", "midpoint", "best" or None, got {self.thresholds!r}')
        _require_flag("simplify", self.simplify)
        if not (is_number(self.simplicity) and self.simplicity >= 0):
            raise SettingsError(f"simplicity must be a number of at least 0, got {self.simplicity!r}")
        if not self.simplify and self.thresholds in ("midpoint", "best"):
            raise SettingsError(
                f"simplify=False keeps formulas as they are, and thresholds={self.thresholds!r} moves constants; leave "
                "out one of them"
            )

    def __repr__(self) -> str:
        changed = [field for field in fields(self) if getattr(self, field.name) != field.default]
        return f"{type(self).__name__}({', '.join(f'{field.name}={getattr(self, field.name)!r}' for field in changed)})"


@dataclass(frozen=True, repr=False)
class Greedy(Growth):
    """Growth in which each question is the best by itself.

    min_gain: the least decrease in the criterion for which a node is split; None takes any, with `MDL` any that saves
        bits.
    prevent_same_label: refuse splits whose two sides predict the same.
    """

    min_gain: float | None = None
    prevent_same_label: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_gain is not None and not is_number(self.min_gain):
            raise SettingsError(f"min_gain must be a number or None, got {self.min_gain!r}")
        _require_flag("prevent_same_label", self.prevent_same_label)


@dataclass(frozen=True, repr=False)
class Optimal(Growth):
    """The tree of up to `max_depth` levels over a pool of questions that costs least as a whole.

    The tree is first grown greedily. The pool consists of its questions and the best formulas with different answers
    that the searches of its nodes found. The cost of a tree is the criterion over all leaves and questions together:
    with `MDL` the bits that encode the labels in all leaves, and the price of all formulas; with `GiniSize` the mean
    impurity of all leaves by their weight, and the size of all formulas. So the tree is never worse than the greedy
    one, and `Tree.optimum` holds the proof.

    pool: the most questions to choose from. Work grows with its square for two levels, and with its cube for three.
    """

    pool: int = 500

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_pool(self, self.pool)


@dataclass(frozen=True, repr=False)
class LookAhead(Growth):
    """Growth in which each question is judged by its cost together with the best question on each of its sides.

    A question that is useless by itself may be decisive with another one below it: for example, if just one of two
    things happened. At each node that leaves another level below, the pool consists of the best formulas with different
    answers that its search found. Questions and leaves cost what they do for `Optimal`, over two levels; the node stays
    a leaf if none of them costs less than that. Below, the search begins anew.

    pool: the most questions to choose from. Work grows with its square.
    """

    pool: int = 200

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_pool(self, self.pool)


def _check_pool(growth: Growth, pool: object) -> None:
    require_whole("pool", pool, 1, MOST_POOLED)
    if growth.thresholds == "best":
        raise SettingsError(
            f"thresholds='best' fits one question at a time, and {type(growth).__name__} weighs several; leave "
            "out thresholds, or use Greedy"
        )


def _require_flag(name: str, value: object) -> None:
    if not isinstance(value, bool | np.bool_):
        raise SettingsError(f"{name} must be True or False, got {value!r}")


@dataclass(frozen=True)
class TreeSettings:
    """All settings that decide, beside records and grammar, which tree is learned."""

    search: "Search"
    criterion: "Criterion"
    growth: Growth = Greedy()
    max_depth: int = 6
    """The most branches from the root to a leaf."""
    min_samples_leaf: int = 1
    """The fewest records on a side of a split."""
    movable: frozenset[str] = frozenset()
    """The columns whose constants `growth.thresholds` may move."""
    three_valued: bool = False
    """True if an atom on a missing value is unknown, not false."""
    seed: int = 0

    @property
    def pool(self) -> int:
        """The number of formulas with different answers that each search must return for the growth to choose from."""
        return self.growth.pool if isinstance(self.growth, Optimal | LookAhead) else 0
