"""Exact thresholds: constants of a chosen formula move to where it splits the records best, of all places there are.

Of a constant it is known for each record at which value its answer turns. Sorted, these turning points leave gaps, and
anywhere in a gap the formula makes the same split: one sweep counts the classes on the sides of all of them.
"""

from collections.abc import Callable, Container

import numpy as np
from numpy.typing import NDArray

from telltree.grammar.languages.cuts import roundest
from telltree.logic.asked import OfFormulas
from telltree.operators import Expression
from telltree.tree.centring import Place, movable
from telltree.tree.fitness import Fitness
from telltree.tree.objective import checked_fitness
from telltree.tree.target import Labels

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_ROUNDS = 5
"""How often all constants are looked at: where one is best may change as others move."""


class Splits:
    """Judges splits of the records of a node by formulas of one size."""

    def __init__(self, labels: Labels, fitness: Fitness, size: int, min_members: int = 0) -> None:
        groups, worth = labels.groups()
        own = np.column_stack(groups).astype(np.int64)
        self._worth: Ints = own if worth is None else own @ worth
        """What each record counts for."""
        self._totals, self._fitness, self._size, self._least = labels.totals(), fitness, size, max(1, min_members)

    @property
    def tolerance(self) -> float:
        """Up to which difference two splits are as good."""
        return float(getattr(self._fitness, "tolerance", 0.0))

    def of(self, truth: NDArray[np.bool_]) -> float:
        """The fitness of the split between the records of which a formula is true, and the others."""
        return float(self._judged(self._worth[truth].sum(axis=0)[None], np.array([np.count_nonzero(truth)]))[0])

    def after(self, order: Ints, ends: Ints, first_is_true: bool) -> Floats:
        """The fitness of the splits after these places of an order of the records."""
        counts, members = np.cumsum(self._worth[order], axis=0)[ends], ends + 1
        if not first_is_true:
            counts, members = self._totals - counts, len(order) - members
        return self._judged(counts, members)

    def _judged(self, counts: Ints, members: Ints) -> Floats:
        size = np.full(len(members), self._size)
        fitness = checked_fitness(self._fitness(counts, self._totals, size), len(members))
        fewest = np.minimum(members, len(self._worth) - members)
        return np.where((fewest >= self._least) & np.isfinite(fitness), fitness, np.inf)


def best_thresholds(
    formula: Expression,
    formulas: OfFormulas,
    columns: Container[str],
    splits: Splits,
    late: Callable[[], bool] = bool,
) -> Expression:
    """The formula with the constants compared with real signals of these columns where it is fittest; of gaps in which
    it is as fit, within the tolerance, in the widest.

    One constant moves at a time, until none is better elsewhere between records it tells apart. Formulas that count,
    or compare a signal with the same constant twice, keep theirs, as their answers may turn more than once; and so does
    a formula with English of its own from a grammar. When it is `late`, the remaining constants stay.
    """
    if late() or any(e.english is not None for e in formula.walk()):
        return formula
    least = splits.of(formulas.truth([formula])[0])
    for _ in range(_ROUNDS):
        before = formula
        for path in movable(formula, columns):
            place = Place(formula, path, formulas)
            if late():
                return formula
            if place.turns_once:
                formula, least = _moved(place, splits, least)
        if formula == before:
            break
    return formula


def _moved(place: Place, splits: Splits, least: float) -> tuple[Expression, float]:
    """The formula with its constant in the best gap, and the least fitness met so far, by which gaps are measured."""
    points = place.turning_points()
    order = np.argsort(points, kind="stable")
    values = points[order]
    ends = np.flatnonzero(np.isfinite(values[:-1]) & np.isfinite(values[1:]) & (values[:-1] < values[1:]))
    if not len(ends):
        return place.formula, least
    fitness, low, high = splits.after(order, ends, place.rises), values[ends], values[ends + 1]
    least = min(least, float(fitness.min()))
    good = np.flatnonzero((fitness <= least + splits.tolerance) & np.isfinite(fitness))
    if not len(good):
        return place.formula, least
    best = good[np.argmax(high[good] - low[good])]
    moved = place.moved(roundest(float(low[best]), float(high[best])))
    # two neighbouring floats have nothing between them
    return (moved if splits.of(place.formulas.truth([moved])[0]) == fitness[best] else place.formula), least
