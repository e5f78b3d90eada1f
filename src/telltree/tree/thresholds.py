"""Thresholds: constants of a chosen formula move to the middle of their gap, or to where they split best."""

from collections.abc import Callable, Container, Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from telltree.engine.atoms import Atom
from telltree.engine.evaluator import FormulaEvaluatorProtocol
from telltree.engine.instructions import EQUAL as EQUALITY
from telltree.engine.instructions import GREATER, LESS
from telltree.grammar.default_language import roundest
from telltree.logic import Expression, Number, Type
from telltree.logic.operators import COMPARISONS, EQUAL, IMPLIES, NOT, TURNING_BACK, Operator
from telltree.tree.criterion import Criterion
from telltree.tree.objective import checked_values
from telltree.tree.target import Labels

# ---- Midpoints: constants of a chosen formula move to the middle of the gap in which the formula makes the same split.
#
# Constants from a grid are often close to some record. The middle of the gap leaves unseen records the most room on
# both sides; on Auslan that halves the error of a tree.

_POSITIONS = 16  # positions to try at a time on each side: batches are cheaper

Path = tuple[int, ...]


def midpoint_thresholds(
    formula: Expression,
    formulas: FormulaEvaluatorProtocol,
    columns: Container[str],
    is_late: Callable[[], bool] = bool,
) -> Expression:
    """Return the formula with constants moved to the middle of their gaps.

    They are the constants that real signals of these columns are compared with. The answers for the records of
    `formulas` do not change. An atom that decides nothing is not changed, nor is a formula with English of its own from
    a grammar, which may quote constants. When it is late, the remaining constants stay.
    """
    if is_late() or any(e.english is not None for e in formula.walk()):
        return formula
    paths = movable(formula, columns)
    if not paths:
        return formula
    answers = formulas.truth([formula])[0]
    for path in paths:
        place = ConstantPlace(formula, path, formulas)
        gap = None if is_late() else _Gap(place, answers, is_late).bounds()
        if gap is not None:
            moved = place.moved(roundest(*gap))
            if np.array_equal(formulas.truth([moved])[0], answers):
                formula = moved
    return formula


def movable(formula: Expression, columns: Container[str]) -> list[Path]:
    """Return the paths to the comparisons whose constants may move: those that mention these columns alone."""
    named = [(path, _at(formula, path).attributes()) for path in _comparisons(formula, ())]
    # constants that times are compared with stay at steps
    return [path for path, names in named if names and all(name in columns for name in names)]


def _falls(e: Expression, path: Path) -> bool:
    """Return True if the part at `path` makes the formula false by being true."""
    found = False
    for place in path:
        found ^= e.head is NOT or (e.head is IMPLIES and place == 0)
        e = e.args[place]
    return found


def _comparisons(e: Expression, path: Path) -> Iterator[Path]:
    """Yield the paths to comparisons of real signals with constants by order; not inside atoms."""
    if isinstance(e.head, Operator) and e.head in COMPARISONS and e.type is Type.BOOLEAN_VECTOR:
        if e.head is not EQUAL and sum(isinstance(arg.head, Number) for arg in e.args) == 1:
            yield path
    elif isinstance(e.head, Operator):
        for place, arg in enumerate(e.args):
            yield from _comparisons(arg, (*path, place))


def _at(e: Expression, path: Path) -> Expression:
    for place in path:
        e = e.args[place]
    return e


def _with_constant(e: Expression, path: Path, value: float) -> Expression:
    """Return the expression with another constant in the comparison at `path`."""
    if not path:
        args = tuple(Expression(Number(value)) if isinstance(arg.head, Number) else arg for arg in e.args)
        return Expression(e.head, args)
    place, *rest = path
    changed = _with_constant(e.args[place], tuple(rest), value)
    return Expression(e.head, (*e.args[:place], changed, *e.args[place + 1 :]))


class ConstantPlace:
    """The place of a constant in a formula: a comparison, given by the path to it."""

    def __init__(self, formula: Expression, path: Path, formulas: FormulaEvaluatorProtocol) -> None:
        self.formula, self._path, self.formulas = formula, path, formulas
        self.atom = self._atom(path)

    def _atom(self, path: Path) -> Atom:
        return Atom.of(_at(self.formula, path), self.formulas.schema)

    @property
    def turns_once(self) -> bool:
        """True if the answer for each record changes at one value of the constant at most."""
        atoms = map(self._atom, _comparisons(self.formula, ()))
        twins = sum((atom.signal, atom.constant) == (self.atom.signal, self.atom.constant) for atom in atoms)
        return twins == 1 and not any(e.head in TURNING_BACK for e in self.formula.walk())

    @property
    def rises(self) -> bool:
        """True if the formula becomes true, not false, when the constant rises above a record's turning point."""
        return _falls(self.formula, self._path) != bool(self.atom.outcomes & LESS)

    def turning_points(self) -> NDArray[np.float64]:
        """Return for each record the value of the constant at which its answer changes.

        −∞ or ∞ if it has the answer of the records below, or above, whatever the constant is.
        """
        points = self.formulas.turning_points([self.formula], self.atom)
        return -points if self.rises else points

    def moved(self, constant: float) -> Expression:
        """Return the formula with another constant here."""
        return _with_constant(self.formula, self._path, constant)


class _Gap:
    """The range in which a comparison's constant can move without changing an answer."""

    def __init__(self, place: ConstantPlace, answers: NDArray[np.bool_], is_late: Callable[[], bool]) -> None:
        self._place, self._formulas, self._own = place, place.formulas, place.atom
        self._answers, self._is_late = answers, is_late

    def bounds(self) -> tuple[float, float] | None:
        """Return the values on either side; None if one side has none that would change an answer."""
        return self._by_turning_points() if self._place.turns_once else self._by_trying()

    def _by_turning_points(self) -> tuple[float, float] | None:
        own = self._own
        points = self._place.turning_points()
        points = points[np.isfinite(points)]
        # a value equal to the constant belongs to the side with the same outcome of the comparison
        with_those_below = own.outcomes in (GREATER, LESS | EQUALITY)
        below = points <= own.constant if with_those_below else points < own.constant
        if below.all() or not below.any():
            return None
        return float(points[below].max()), float(points[~below].min())

    @cached_property
    def _values(self) -> NDArray[np.float64]:
        """The values of the signal. Gaps are numbered by the values below them: gap 0 is below all, the last above."""
        return self._formulas.distinct(self._own.signal)

    def _by_trying(self) -> tuple[float, float] | None:
        """Return the bounds for any formula: with counts, answers may change back as the constant moves on."""
        values, place = self._values, int(np.searchsorted(self._values, self._own.constant))
        # A constant that equals a value may belong to the gap below or above it.
        for start in (place, place + 1):
            if 0 < start < len(values) and self._alike([start])[0]:
                low, high = self._furthest(start, 0), self._furthest(start, len(values))
                return (float(values[low - 1]), float(values[high])) if low > 0 and high < len(values) else None
        return None

    def _furthest(self, start: int, end: int) -> int:
        """Return the last gap from `start` towards `end` with the same answers, if answers change only once."""
        step = 1 if end > start else -1
        while start != end and not self._is_late():  # what was found so far stays valid
            count = min(_POSITIONS, abs(end - start))
            tried = [start + step * (abs(end - start) * k // count) for k in range(1, count + 1)]
            alike = self._alike(tried)
            if all(alike):
                return end
            first = alike.index(False)
            start, end = tried[first - 1] if first else start, tried[first] - step
        return start

    def _middle(self, gap: int) -> float:
        values = self._values
        below = values[gap - 1] if gap > 0 else values[0] - 2
        above = values[gap] if gap < len(values) else values[-1] + 2
        return float(below + (above - below) / 2)

    def _alike(self, gaps: list[int]) -> list[bool]:
        """Return for each gap true if the formula answers as before with the constant there."""
        constants = [self._middle(gap) for gap in gaps]
        moved = [self._place.moved(constant) for constant in constants]
        return [np.array_equal(truth, self._answers) for truth in self._formulas.truth(moved)]


# ---- Exact thresholds: constants of a chosen formula move to the gap where it splits the records best.
#
# For each record, its turning point is the constant at which its answer changes. Anywhere between two sorted turning
# points the formula makes the same split: one sweep counts the classes on both sides of all gaps.

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_ROUNDS = 5
"""The most rounds over all constants: the best place of one may change as others move."""


class Splits:
    """Judges splits of the records of a node by formulas of one size."""

    def __init__(self, labels: Labels, criterion: Criterion, size: int, min_samples_leaf: int = 0) -> None:
        groups, worth = labels.groups()
        own = np.column_stack(groups).astype(np.int64)
        self._worth: Ints = own if worth is None else own @ worth
        """Records × columns: what each record adds to the counts."""
        self._totals, self._criterion, self._size, self._least = (
            labels.totals(),
            criterion,
            size,
            max(1, min_samples_leaf),
        )

    @property
    def tolerance(self) -> float:
        """The difference up to which two splits are equally good."""
        return float(getattr(self._criterion, "tolerance", 0.0))

    def of(self, truth: NDArray[np.bool_]) -> float:
        """Return the fitness of the split by a formula with this truth."""
        return float(self._judged(self._worth[truth].sum(axis=0)[None], np.array([np.count_nonzero(truth)]))[0])

    def after(self, order: Ints, ends: Ints, first_is_true: bool) -> Floats:
        """Return the fitness of the splits after these places of an order of the records."""
        counts, members = np.cumsum(self._worth[order], axis=0)[ends], ends + 1
        if not first_is_true:
            counts, members = self._totals - counts, len(order) - members
        return self._judged(counts, members)

    def _judged(self, counts: Ints, members: Ints) -> Floats:
        size = np.full(len(members), self._size)
        fitness = checked_values(self._criterion(counts, self._totals, size), len(members))
        fewest = np.minimum(members, len(self._worth) - members)
        return np.where((fewest >= self._least) & np.isfinite(fitness), fitness, np.inf)


def best_thresholds(
    formula: Expression,
    formulas: FormulaEvaluatorProtocol,
    columns: Container[str],
    splits: Splits,
    is_late: Callable[[], bool] = bool,
) -> Expression:
    """Return the formula with its constants where it is fittest.

    They are the constants that real signals of these columns are compared with. Of gaps that are as fit, within the
    tolerance, the widest is taken. One constant moves at a time, until none is better elsewhere between the records it
    tells apart. Formulas that count, or compare a signal with the same constant twice, keep theirs, as their answers
    may change more than once; and so does a formula with English of its own from a grammar. When it is late, the
    remaining constants stay.
    """
    if is_late() or any(e.english is not None for e in formula.walk()):
        return formula
    least = splits.of(formulas.truth([formula])[0])
    for _ in range(_ROUNDS):
        before = formula
        for path in movable(formula, columns):
            place = ConstantPlace(formula, path, formulas)
            if is_late():
                return formula
            if place.turns_once:
                formula, least = _moved(place, splits, least)
        if formula == before:
            break
    return formula


def _moved(place: ConstantPlace, splits: Splits, least: float) -> tuple[Expression, float]:
    """Return the formula with its constant in the best gap, and the least fitness so far, which gaps must reach."""
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
