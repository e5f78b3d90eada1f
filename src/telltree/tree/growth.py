"""How a tree is grown, if not one question at a time."""

from dataclasses import dataclass

from telltree.checks import require_whole

USUAL, DEEPEST = 2, 3
"""The levels of an optimal tree if nobody says, and the most. With each level, the work is multiplied by the number of
answers in the pool."""
MOST_POOLED = 10_000
MOST_TREES = 10_000


@dataclass(frozen=True)
class Optimal:
    """Of all trees of up to `max_depth` levels over a pool of questions, the one that costs least as a whole.

    The tree is first grown greedily. The pool are its questions, and of what the searches of its nodes found the best
    that answer differently. What a tree costs is the fitness, taken of all leaves and questions together: with `MDL`
    the bits that tell the labels in all leaves, and the price of all formulas; with `GiniSize` the mean impurity of all
    leaves by their weight, and the size of all formulas. So the tree is never worse than the greedy one, and
    `Tree.optimum` says what was proved.

    pool: how many questions there are to choose from, at most. Work grows with its square for two levels, and with
        its cube for three.
    """

    pool: int = 500

    def __post_init__(self) -> None:
        require_whole("pool", self.pool, 1, MOST_POOLED)


@dataclass(frozen=True)
class LookAhead:
    """Each question is judged by what it costs together with the best question on each of its sides.

    A question that tells nothing by itself may tell all with another one below it: whether one of two things happened,
    but not both. At each node that leaves another level below, the pool are the best of what its search found that
    answer differently. What questions and leaves cost is as for `Optimal`, of two levels; the node stays a leaf if none
    of them costs less than that. Below, the search begins anew.

    pool: how many questions there are to choose from, at most. Work grows with its square.
    """

    pool: int = 200

    def __post_init__(self) -> None:
        require_whole("pool", self.pool, 1, MOST_POOLED)
