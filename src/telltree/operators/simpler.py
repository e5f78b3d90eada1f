"""Operators that say in one word what others say in several."""

import dataclasses
import math
from collections.abc import Callable

from telltree.operators.expression import Expression, Number
from telltree.operators.table import (
    AND,
    BEFORE,
    BEFORE_WITHIN,
    COUNT,
    EPISODES,
    EVENTUALLY,
    EVENTUALLY_WITHIN,
    FALL,
    NOT,
    PREVIOUS,
    RISE,
    STARTS,
    Operator,
)


def spelt_out(e: Expression) -> Expression:
    """The same in other operators, if its own is one of these; its operands stay as they are, and may come twice."""
    return SPELT_OUT[e.head](*e.args) if isinstance(e.head, Operator) and e.head in SPELT_OUT else e


def all_spelt_out(e: Expression) -> Expression:
    """The same of it and of all below it."""
    whole = spelt_out(e)
    return dataclasses.replace(whole, args=tuple(map(all_spelt_out, whole.args))) if whole.args else whole


def once_each(e: Expression) -> Expression:
    """The same, but with each operand once and in the same order, as templates need it."""
    if e.head is EPISODES:
        return Expression(COUNT, (Expression(STARTS, e.args),))
    return spelt_out(e) if e.head in (BEFORE, BEFORE_WITHIN) else e


def _and(a: Expression, b: Expression) -> Expression:
    return Expression(AND, (a, b))


def _not(a: Expression) -> Expression:
    return Expression(NOT, (a,))


def _previous(a: Expression) -> Expression:
    return Expression(PREVIOUS, (a,))


def _before(a: Expression, b: Expression, first: Expression, last: Expression) -> Expression:
    return Expression(EVENTUALLY, (_and(a, Expression(EVENTUALLY_WITHIN, (b, first, last))),))


_NEXT, _LAST = Expression(Number(1.0)), Expression(Number(math.inf))

SPELT_OUT: dict[Operator, Callable[..., Expression]] = {
    RISE: lambda a: _and(a, _previous(_not(a))),
    FALL: lambda a: _and(_not(a), _previous(a)),
    BEFORE: lambda a, b: _before(a, b, _NEXT, _LAST),
    BEFORE_WITHIN: _before,
    EPISODES: lambda a: Expression(COUNT, (_and(a, _not(_previous(a))),)),
}
