"""Evidence: the step of a record at which a formula was decided, or came nearest to it."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.errors import DataError
from telltree.logic import Formula
from telltree.logic.atoms import Atom
from telltree.logic.engine import signals_of
from telltree.logic.instructions import EQUAL, GREATER, LESS
from telltree.operators import Expression, Number, Operator, Type
from telltree.operators.table import ABS, AND, COMPARISONS, COUNT, DIFFERENCE, EVENTUALLY, GLOBALLY, IMPLIES, NOT, OR

Floats = NDArray[np.float64]
Reference = Panel | Mapping[str, float]
"""What distances are measured by: a panel, or the standard deviations of signals by their text, which a model keeps."""

_TINY = 5e-324
"""The margin of what is true, but only just: as good as 0, and it keeps the sign."""
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "=": np.equal
}  # fmt: skip


def decisive_step(formula: Formula, panel: Panel, record: int, *, reference: Reference | None = None) -> int:
    """The step (from 0) of a record, given by its position in the panel, that decides the formula.

    F true, G false: the first witness. F false, G true: the step nearest to being one, by margins in standard
    deviations over `reference`, by default the panel; the first of equals. ¬a: the step of a. a ∧ b, a ∨ b, and a ⇒ b,
    which is ¬a ∨ b: the step of the operand that decides, which is the one with the smaller margin for ∧, with the
    larger for ∨; the first of equals. A comparison of counts: the first step from which on it comes out the same
    wherever counting stops.
    """
    return int(decisive_steps(formula, panel, [record], reference=reference)[0])


def decisive_steps(
    formula: Formula, panel: Panel, records: Iterable[int] | None = None, *, reference: Reference | None = None
) -> NDArray[np.int64]:
    """The decisive step of each of the records (by default all), as `decisive_step` finds it."""
    chosen = range(len(panel)) if records is None else list(records)
    margins = Margins(panel, reference)
    return np.array([_decisive(formula.expression, margins, i) for i in chosen], np.int64)


class Margins:
    """Margins over time of Boolean vectors, record by record; positive where the vector is true, else negative.

    Distances of reals are in standard deviations of the signal over `reference`, by default the panel itself; all other
    atoms have ±1. Give the panel that a tree learnt from as the reference, or what the model kept of it
    (`training_.spread`), and a record has the same margins whatever others it comes with. At a step, F and G look from
    there to the end.
    """

    def __init__(self, panel: Panel, reference: Reference | None = None) -> None:
        self._panel = panel
        self._signals = signals_of(panel)
        self._reference = signals_of(reference) if isinstance(reference, Panel) else self._signals
        self._kept = reference if isinstance(reference, Mapping) else {}

    def over_time(self, e: Expression, record: int) -> Floats:
        """The margin of a Boolean vector (or formula) at every step of the record at this position."""
        head = e.head
        if isinstance(head, Operator) and head in _COMBINE:
            return _COMBINE[head](*(self.over_time(arg, record) for arg in e.args))
        if isinstance(head, Operator) and head in COMPARISONS and e.type is Type.BOOLEAN:
            running = self.running(e, record)
            return np.full(len(running), 1.0 if running[-1] else -1.0)
        atom = Atom.of(e, self._panel.schema)
        values = self._signals.values(atom.signal)[self._rows(record)]
        with np.errstate(over="ignore"):  # a deviation too large for a float counts as 1, a distance as infinite
            return _atom_margin(atom, values, self._spread(atom.signal) if atom.graded else None)

    def _spread(self, signal: Expression) -> float:
        kept = self._kept.get(str(signal)) if self._kept else None
        return self._reference.spread(signal) if kept is None else kept

    def running(self, e: Expression, record: int) -> NDArray[np.bool_]:
        """How a comparison of counts would come out, for each step, if counting stopped there."""
        assert isinstance(e.head, Operator)
        left, right = (self._running_number(arg, record) for arg in e.args)
        found: NDArray[np.bool_] = _COMPARE[e.head.name](left, right)
        return found

    def _running_number(self, e: Expression, record: int) -> Floats:
        if isinstance(e.head, Number):
            return np.array([e.head.value])  # at every step
        if e.head is COUNT:
            return np.cumsum(self.over_time(e.args[0], record) > 0).astype(np.float64)
        operands = [self._running_number(arg, record) for arg in e.args]
        if e.head is DIFFERENCE:
            return operands[0] - operands[1]
        return np.abs(operands[0]) if e.head is ABS else np.sign(operands[0])

    def _rows(self, record: int) -> slice:
        if not 0 <= record < len(self._panel):
            raise DataError(f"there is no record {record}: the panel has {len(self._panel)}, counted from 0")
        start = int(self._panel.starts[record])
        return slice(start, start + int(self._panel.lengths[record]))


def _atom_margin(atom: Atom, values: Floats, spread: float | None) -> Floats:
    """Margins of an atom, given its signal's values, and the unit of distances if these mean something."""
    holds = np.zeros(len(values), np.bool_)
    for outcome, compare in ((LESS, np.less), (EQUAL, np.equal), (GREATER, np.greater)):
        if atom.outcomes & outcome:
            holds |= compare(values, atom.constant)
    size = np.ones(len(values))
    if spread is not None:
        distance = np.abs(values - atom.constant) / spread
        size = np.where(np.isnan(values), 1.0, np.maximum(distance, _TINY))
    return np.where(holds, size, -size)


def _suffix(best: np.ufunc) -> Callable[[Floats], Floats]:
    return lambda margin: best.accumulate(margin[::-1])[::-1]


_COMBINE: dict[Operator, Callable[..., Floats]] = {
    NOT: np.negative,
    AND: np.minimum,
    OR: np.maximum,
    IMPLIES: lambda a, b: np.maximum(-a, b),
    EVENTUALLY: _suffix(np.maximum),
    GLOBALLY: _suffix(np.minimum),
}


def _decisive(e: Expression, margins: Margins, record: int) -> int:
    if e.head is NOT:
        return _decisive(e.args[0], margins, record)
    if e.head is EVENTUALLY or e.head is GLOBALLY:
        inner = margins.over_time(e.args[0], record)
        toward = inner if e.head is EVENTUALLY else -inner  # what F looks for, and what would break G
        return int(np.argmax(toward > 0) if (toward > 0).any() else np.argmax(toward))
    if e.head is AND or e.head is OR or e.head is IMPLIES:
        first, second = (float(margins.over_time(arg, record)[0]) for arg in e.args)
        first = -first if e.head is IMPLIES else first
        # ∧ takes the smaller margin and ∨ the larger one, and that operand has the truth of the whole.
        earlier = first <= second if e.head is AND else first >= second
        return _decisive(e.args[0] if earlier else e.args[1], margins, record)
    running = margins.running(e, record)
    differs = np.flatnonzero(running != running[-1])
    return int(differs[-1]) + 1 if len(differs) else 0
