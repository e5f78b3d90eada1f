"""Comparisons of counts in one record: the step that decided them, and how many steps would decide them otherwise."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.operators import Expression, Number, Operator, Type, operator_named
from telltree.operators.cells import Cells
from telltree.operators.numbers import number_text
from telltree.operators.table import (
    ABS,
    COMPARISONS,
    COUNT,
    DIFFERENCE,
    EQUAL,
    GREATER,
    GREATER_EQUAL,
    LESS,
    LESS_EQUAL,
    MIRRORED,
    SIGN,
)

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_COMPARE: dict[Operator, Callable[[Any, Any], Any]] = {
    LESS: np.less, LESS_EQUAL: np.less_equal, GREATER: np.greater, GREATER_EQUAL: np.greater_equal, EQUAL: np.equal
}  # fmt: skip
_ASKED = {
    LESS: "fewer than", LESS_EQUAL: "at most", GREATER: "more than", GREATER_EQUAL: "at least", EQUAL: "exactly"
}  # fmt: skip
_FARTHEST = 1 << 20
"""Steps; a constant beyond that is as good as out of reach."""


def compares_counts(e: Expression) -> bool:
    """Tell whether an expression compares counts, and so has one answer for the whole record."""
    return isinstance(e.head, Operator) and e.head in COMPARISONS and e.type is Type.BOOLEAN


def timeless(e: Expression) -> bool:
    """Tell whether a formula has the same answer at every step, because all that it speaks of are counts."""
    joins = isinstance(e.head, Operator) and e.head.joins
    return compares_counts(e) or (joins and all(map(timeless, e.operands)))


def counted(e: Expression) -> tuple[Expression, ...]:
    """What a comparison counts, each once, in order of appearance."""
    return tuple(dict.fromkeys(_counted(e)))


def _counted(e: Expression) -> Iterator[Expression]:
    if e.head is COUNT:
        yield e.args[0]
    else:
        for arg in e.args:
            yield from _counted(arg)


def _constants(e: Expression) -> Iterator[float]:
    """The numbers that counts are compared with, not those that are compared step by step."""
    if isinstance(e.head, Number):
        yield e.head.value
    elif e.head is not COUNT:
        for arg in e.args:
            yield from _constants(arg)


@dataclass(frozen=True, eq=False)
class Tally:
    """A comparison of counts in one record, given the margins over time of everything that it counts."""

    comparison: Expression
    margins: Mapping[Expression, Floats]

    @cached_property
    def held(self) -> dict[Expression, Bools]:
        """Where each of what is counted is true."""
        return {operand: margin > 0 for operand, margin in self.margins.items()}

    @cached_property
    def totals(self) -> dict[Expression, int]:
        """How many steps each of them is true at."""
        return {operand: int(holds.sum()) for operand, holds in self.held.items()}

    @cached_property
    def holds(self) -> bool:
        """Whether the comparison is true of the record."""
        return bool(self._answers({operand: np.array([float(n)]) for operand, n in self.totals.items()})[0])

    @property
    def step(self) -> int:
        """The step at which the comparison came to the answer that it kept, as counting went on.

        If its answer was the same all along, the first step that brought it nearest to the other one, which for one
        count and a constant is the last true step; if nothing that it counts is ever true, the step nearest to that.
        """
        so_far = {operand: np.cumsum(np.append(0.0, holds)) for operand, holds in self.held.items()}
        answers = self._answers(so_far)
        changes = np.flatnonzero(answers != answers[-1])
        if len(changes):
            return int(changes[-1])  # how many steps had been counted before the one that changed it
        if not any(self.totals.values()):
            return int(np.argmax(np.max(list(self.margins.values()), axis=0)))
        left, right = (_number(side, so_far) for side in self.comparison.args)
        ahead = (left - right)[1:] if self.comparison.head in (GREATER, GREATER_EQUAL) else (right - left)[1:]
        if self.comparison.head is EQUAL:
            ahead = -np.abs(ahead)
        return int(np.argmax(-ahead if self.holds else ahead))

    @property
    def margin(self) -> float:
        """How many true steps more or fewer, of one of the counts, would change the answer; negative if it is false.

        Infinite if no number of steps would, or none that records have.
        """
        constants = sum(map(abs, _constants(self.comparison)))
        # A count moves a side by one a step or more, or not at all: beyond all numbers at hand nothing changes.
        reach = int(min(constants, _FARTHEST)) + sum(self.totals.values()) + 2
        least = np.inf
        for operand, total in self.totals.items():
            others = {other: np.array([float(n)]) for other, n in self.totals.items()}
            numbers = np.arange(total + reach, dtype=np.float64)
            changed = np.flatnonzero(self._answers({**others, operand: numbers}) != self.holds)
            least = min(least, float(np.abs(changed - float(total)).min(initial=np.inf)))
        return least if self.holds else -least

    def told(self, operand: Expression) -> str:
        """The count beside what is asked of it, "12 of more than 16", or alone if it is not compared with a number."""
        head, (left, right) = self.comparison.head, self.comparison.args
        assert isinstance(head, Operator)
        if isinstance(left.head, Number):
            head, left, right = operator_named(MIRRORED[head.name]), right, left
        total = str(self.totals[operand])
        if left.head is COUNT and isinstance(right.head, Number):
            return f"{total} of {_ASKED[head]} {number_text(right.head.value)}"
        return total

    def _answers(self, counts: Mapping[Expression, Floats]) -> Bools:
        """How the comparison comes out for given counts; arrays of one number stand for as many as there are."""
        assert isinstance(self.comparison.head, Operator)
        left, right = (_number(side, counts) for side in self.comparison.args)
        found: Bools = _COMPARE[self.comparison.head](left, right)
        return found


def _number(e: Expression, counts: Mapping[Expression, Floats]) -> Floats:
    if isinstance(e.head, Number):
        return np.array([e.head.value])
    if e.head is COUNT:
        return counts[e.args[0]]
    assert isinstance(e.head, Operator)
    return ARITHMETIC[e.head](*(_number(arg, counts) for arg in e.args))


ARITHMETIC: Cells[Callable[..., Floats]] = Cells(
    "counts in one record",
    "explain/counts.py",
    {DIFFERENCE: np.subtract, ABS: np.abs, SIGN: np.sign},
    about=lambda operator: any(Type.COUNT in types and result is Type.COUNT for types, result in operator.uses()),
)
"""What is done with counts."""
