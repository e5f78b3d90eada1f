"""Centring: constants of a chosen formula move to the middle of the gap in which the formula makes the same split.

Constants from a grid are often close to some record. The middle of the gap leaves unseen records the most room on both
sides; on Auslan that halves the distance between a tree's accuracy and 1.
"""

from collections.abc import Callable, Container, Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from telltree.grammar.languages.cuts import roundest
from telltree.logic.asked import OfFormulas
from telltree.logic.atoms import Atom
from telltree.logic.instructions import EQUAL as EQUALITY
from telltree.logic.instructions import GREATER, LESS
from telltree.operators import Expression, Number, Operator, Type
from telltree.operators.table import COMPARISONS, EQUAL, IMPLIES, NOT, TURNING_BACK

_WAYS = 16  # positions to try at a time on each side: evaluating formulas by the dozen is cheaper

Path = tuple[int, ...]


def centred(
    formula: Expression,
    formulas: OfFormulas,
    columns: Container[str],
    late: Callable[[], bool] = bool,
) -> Expression:
    """The formula with the constants compared with real signals of these columns moved to the middle of their gaps.

    The answers for the records of `formulas` do not change. An atom that decides nothing is not changed, nor is a
    formula with English of its own from a grammar, which may quote constants. When it is `late`, the remaining
    constants stay.
    """
    if late() or any(e.english is not None for e in formula.walk()):
        return formula
    paths = [path for path in _comparisons(formula, ()) if _movable(_at(formula, path), columns)]
    if not paths:
        return formula
    answers = formulas.truth([formula])[0]
    for path in paths:
        gap = None if late() else _Gap(formula, path, formulas, answers, late).bounds()
        if gap is not None:
            moved = _with_constant(formula, path, roundest(*gap))
            if np.array_equal(formulas.truth([moved])[0], answers):
                formula = moved
    return formula


def _movable(atom: Expression, columns: Container[str]) -> bool:
    names = atom.attributes()
    return bool(names) and all(name in columns for name in names)  # times stay where the data have steps


def _falls(e: Expression, path: Path) -> bool:
    """Whether the part at `path` makes the formula false by being true."""
    found = False
    for place in path:
        found ^= e.head is NOT or (e.head is IMPLIES and place == 0)
        e = e.args[place]
    return found


def _comparisons(e: Expression, path: Path) -> Iterator[Path]:
    """The paths to comparisons of real signals with constants by order; not inside atoms."""
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
    """The expression with another constant in the comparison at `path`."""
    if not path:
        args = tuple(Expression(Number(value)) if isinstance(arg.head, Number) else arg for arg in e.args)
        return Expression(e.head, args)
    place, *rest = path
    changed = _with_constant(e.args[place], tuple(rest), value)
    return Expression(e.head, (*e.args[:place], changed, *e.args[place + 1 :]))


class _Gap:
    """The range of values of its signal in which a comparison's constant can move without changing an answer."""

    def __init__(
        self,
        formula: Expression,
        path: Path,
        formulas: OfFormulas,
        answers: NDArray[np.bool_],
        late: Callable[[], bool],
    ) -> None:
        self._formula, self._path, self._formulas = formula, path, formulas
        self._answers, self._late = answers, late
        self._own = self._atom(path)

    def _atom(self, path: Path) -> Atom:
        return Atom.of(_at(self._formula, path), self._formulas.schema)

    def bounds(self) -> tuple[float, float] | None:
        """The values on either side; None if one side has none that would change an answer."""
        atoms = map(self._atom, _comparisons(self._formula, ()))
        twins = sum((atom.signal, atom.constant) == (self._own.signal, self._own.constant) for atom in atoms)
        if twins > 1 or any(e.head in TURNING_BACK for e in self._formula.walk()):
            return self._by_trying()
        return self._by_turning_points()

    def _by_turning_points(self) -> tuple[float, float] | None:
        own = self._own
        points = self._formulas.turning_points([self._formula], own)
        points = points[np.isfinite(points)]
        if _falls(self._formula, self._path) != bool(own.outcomes & LESS):
            points = -points
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
        """For any formula: with counts, answers may change back as the constant moves on."""
        values, place = self._values, int(np.searchsorted(self._values, self._own.constant))
        # A constant that equals a value may belong to the gap below or above it.
        for start in (place, place + 1):
            if 0 < start < len(values) and self._alike([start])[0]:
                low, high = self._furthest(start, 0), self._furthest(start, len(values))
                return (float(values[low - 1]), float(values[high])) if low > 0 and high < len(values) else None
        return None

    def _furthest(self, start: int, end: int) -> int:
        """How far from `start` towards `end` all gaps give the same answers, assuming that answers change only once."""
        step = 1 if end > start else -1
        while start != end and not self._late():  # what was found so far stays valid
            count = min(_WAYS, abs(end - start))
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
        """Whether the formula answers as before with the constant in each of these gaps."""
        constants = [self._middle(gap) for gap in gaps]
        moved = [_with_constant(self._formula, self._path, constant) for constant in constants]
        return [np.array_equal(truth, self._answers) for truth in self._formulas.truth(moved)]
