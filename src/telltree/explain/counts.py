"""Comparisons of counts: what they count, and how a count is told."""

from collections.abc import Iterator

from telltree.operators import Expression, Number, Operator, Type, operator_named
from telltree.operators.numbers import number_text
from telltree.operators.table import (
    COMPARISONS,
    COUNT,
    EQUAL,
    GREATER,
    GREATER_EQUAL,
    LESS,
    LESS_EQUAL,
    MIRRORED,
)

_ASKED = {
    LESS: "fewer than", LESS_EQUAL: "at most", GREATER: "more than", GREATER_EQUAL: "at least", EQUAL: "exactly"
}  # fmt: skip


def compares_counts(e: Expression) -> bool:
    """Whether an expression compares counts, and so has one answer for the whole record."""
    return isinstance(e.head, Operator) and e.head in COMPARISONS and e.type is Type.BOOLEAN


def timeless(e: Expression) -> bool:
    """Tell whether a formula has the same answer at every step, because all that it speaks of are counts."""
    joins = isinstance(e.head, Operator) and e.head.joins
    return compares_counts(e) or (joins and all(map(timeless, e.operands)))


def counted(e: Expression) -> tuple[Expression, ...]:
    """The distinct operands that a comparison counts, in order of appearance."""
    return tuple(dict.fromkeys(_counted(e)))


def _counted(e: Expression) -> Iterator[Expression]:
    if e.head is COUNT:
        yield e.args[0]
    else:
        for arg in e.args:
            yield from _counted(arg)


def count_text(comparison: Expression, total: int) -> str:
    """A count beside what is asked of it, "12 of more than 16", or alone if it is not compared with a number."""
    head, (left, right) = comparison.head, comparison.args
    assert isinstance(head, Operator)
    if isinstance(left.head, Number):
        head, left, right = operator_named(MIRRORED[head.name]), right, left
    if left.head is COUNT and isinstance(right.head, Number):
        return f"{total} of {_ASKED[head]} {number_text(right.head.value)}"
    return str(total)
