"""Evidence: the step of a record at which a formula was decided, or came nearest to it."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.errors import DataError
from telltree.explain.counts import Tally, compares_counts, counted, timeless
from telltree.logic import Formula
from telltree.logic.atoms import Atom
from telltree.logic.formulas import signals_of
from telltree.logic.instructions import EQUAL, GREATER, LESS
from telltree.operators import Expression, Operator
from telltree.operators.cells import Cells
from telltree.operators.table import AND, EVENTUALLY, GLOBALLY, IMPLIES, NOT, OR

Floats = NDArray[np.float64]
Reference = Panel | Mapping[str, float]
"""What distances are measured by: a panel, or the standard deviations of signals by their text, which a model keeps."""

_NOTHING = 1.0
"""The margin of what is false because there is nothing to look at, which no distance measures."""
_TINY = 5e-324
"""The margin of what is true, but only just: as good as 0, and it keeps the sign."""


class Distance(NamedTuple):
    """How far a record is from the other answer; positive if the answer is yes."""

    size: float
    unit: Literal["standard deviations", "steps"] | None
    """None where distance has no sense: the size is 1 then."""


def decisive_step(formula: Formula, panel: Panel, record: int, *, reference: Reference | None = None) -> int:
    """The step (from 0) of a record, given by its position in the panel, that decides the formula.

    F true, G false: the first witness. F false, G true: the step nearest to being one, by margins in standard
    deviations over `reference`, by default the panel; the first of equals. ¬a: the step of a. a ∧ b, a ∨ b, and a ⇒ b,
    which is ¬a ∨ b: the step of the operand that decides, which is the one with the smaller margin for ∧, with the
    larger for ∨; the first of equals. A comparison of counts: the step at which it came to its answer as counting went
    on; if that was the same all along, the step that brought it nearest to the other, which for `count(a) > c` that is
    false is the last true step of a, or the one nearest to being true.
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
        if isinstance(head, Operator) and head.joins:
            return DECIDED[head].margin(e, [self.over_time(operand, record) for operand in e.operands])
        if compares_counts(e):
            rows = self._rows(record)
            return np.full(rows.stop - rows.start, 1.0 if self.tally(e, record).holds else -1.0)
        atom = Atom.of(e, self._panel.schema)
        values = self._signals.values(atom.signal)[self._rows(record)]
        with np.errstate(over="ignore"):  # a deviation too large for a float counts as 1, a distance as infinite
            return _atom_margin(atom, values, self._spread(atom.signal) if atom.graded else None)

    def _spread(self, signal: Expression) -> float:
        kept = self._kept.get(str(signal)) if self._kept else None
        return self._reference.spread(signal) if kept is None else kept

    def tally(self, e: Expression, record: int) -> Tally:
        """A comparison of counts in the record at this position."""
        return Tally(e, {operand: self.over_time(operand, record) for operand in counted(e)})

    def distance(self, e: Expression, record: int) -> Distance:
        """How far the record is from the other answer to a formula, for people to read.

        It is the margin of the formula, which is that of the part that decides; if that part compares counts, which
        have no standard deviation, it is how many true steps more or fewer would change the answer. A missing value
        is at no distance from any other.
        """
        part, step = _deciding(e, self, record)
        if compares_counts(part):
            turned = (self.over_time(e, record)[0] > 0) != self.tally(part, record).holds
            size = self.tally(part, record).margin
            return Distance(-size if turned else size, "steps")
        size, atom = float(self.over_time(e, record)[0]), Atom.of(part, self._panel.schema)
        if not atom.graded or np.isnan(self._signals.values(atom.signal)[self._rows(record)][step]):
            return Distance(size, None)
        return Distance(size, "standard deviations")

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


def _decisive(e: Expression, margins: Margins, record: int) -> int:
    if not isinstance(e.head, Operator) or not e.head.joins:
        return margins.tally(e, record).step
    part, step = DECIDED[e.head].by(e, margins, record, 0)
    return step if e.head.looks and not timeless(e) else _decisive(part, margins, record)


def _deciding(e: Expression, margins: Margins, record: int, step: int = 0) -> tuple[Expression, int]:
    """The comparison, column or call by which a formula is decided at a step, and the step that it looks at."""
    if not isinstance(e.head, Operator) or not e.head.joins:
        return e, step
    part, there = DECIDED[e.head].by(e, margins, record, step)
    return _deciding(part, margins, record, there)


def _witness(toward: Floats) -> int:
    """The first step at which a margin is above 0; if there is none, the one nearest to it."""
    return int(np.argmax(toward > 0) if (toward > 0).any() else np.argmax(toward))


class Decided(NamedTuple):
    """How an operator that joins conditions is decided by its operands."""

    margin: Callable[[Expression, list[Floats]], Floats]
    """Its margin at every step, given those of the operands."""
    by: Callable[[Expression, Margins, int, int], tuple[Expression, int]]
    """The operand by which it is decided at a step of a record, and the step of that."""


def along(sign: int) -> Decided:
    """What looks along time, and is proven by one step (`sign` 1), or broken by one (−1)."""

    def margin(e: Expression, operands: list[Floats]) -> Floats:
        toward = sign * operands[0]
        first, last = e.window
        if first == 0 and math.isinf(last):
            best = np.maximum.accumulate(toward[::-1])[::-1]
        else:
            seen = [_seen(toward, e, step) for step in range(len(toward))]
            best = np.array([there.max() if len(there) else -_NOTHING for there in seen])
        found: Floats = sign * best
        return found

    def by(e: Expression, margins: Margins, record: int, step: int) -> tuple[Expression, int]:
        seen = _seen(sign * margins.over_time(e.args[0], record), e, step)
        start = step + int(e.window[0])
        return e.args[0], start + _witness(seen) if len(seen) else step

    return Decided(margin, by)


def _seen(toward: Floats, e: Expression, step: int) -> Floats:
    """What is looked at from a step: a window, as far as the record goes."""
    first, last = (int(min(step + bound, len(toward) - 1)) for bound in e.window)
    return toward[first : last + 1] if step + e.window[0] < len(toward) else toward[:0]


def _of_two(best: np.ufunc, sign: int = 1) -> Decided:
    """A connective that is as true as the better of its operands, the first taken with a sign; the first of equals."""

    def margin(e: Expression, operands: list[Floats]) -> Floats:
        found: Floats = best(sign * operands[0], operands[1])
        return found

    def by(e: Expression, margins: Margins, record: int, step: int) -> tuple[Expression, int]:
        first, second = (float(margins.over_time(arg, record)[step]) for arg in e.args)
        return e.args[0] if best(sign * first, second) == sign * first else e.args[1], step

    return Decided(margin, by)


DECIDED: Cells[Decided] = Cells(
    "margins and decisive steps",
    "explain/evidence.py",
    {
        NOT: Decided(lambda e, operands: -operands[0], lambda e, margins, record, step: (e.args[0], step)),
        AND: _of_two(np.minimum),
        OR: _of_two(np.maximum),
        IMPLIES: _of_two(np.maximum, sign=-1),
        EVENTUALLY: along(1),
        GLOBALLY: along(-1),
    },
    about=lambda operator: operator.joins,
)
