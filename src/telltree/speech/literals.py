"""Literals, all kinds of them alike: each has something it is about, and a set of values that this may have."""

import math
from collections.abc import Container, Hashable
from dataclasses import dataclass, replace

from telltree.operators import Attribute, Expression, Number, Operator, Type, UserFunction
from telltree.operators.table import COMPARISONS, DIFFERENCE, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, SIGN
from telltree.speech.terms import FALSE, TRUE, All, Always, Compares, HowOften, Literal, Own, Says, Some, Sometime, Term
from telltree.speech.values import Interval, Names, Orders, Reals, Truths, Values

_FREE = (Interval(),)
_COUNTS = Reals((Interval(0.0),), False)
_OPPOSITE = {GREATER_EQUAL: LESS, GREATER: LESS_EQUAL}


def subject(literal: Literal) -> Hashable:
    """What a literal is about: two literals on one subject can be made one."""
    match literal:
        case Says(signal=signal):
            return signal
        case Compares(first=first, second=second):
            return first, second
        case HowOften(part=part):
            return "count", _unordered(part)
        case Own():
            return "own", _basis(literal)[0]


def subjects(term: Term) -> set[Hashable]:
    """What the literals of a term are about, those of counts included."""
    match term:
        case All(parts) | Some(parts):
            return set().union(*map(subjects, parts))
        case Sometime(part) | Always(part):
            return subjects(part)
        case HowOften(part=part):
            return {subject(term), *subjects(part)}
    return {subject(term)}


def values_of(literal: Literal) -> Values:
    """What the subject of a literal may be."""
    match literal:
        case Says(values=values):
            return values
        case Compares(orders=orders):
            return orders
        case HowOften(times=times):
            return times
        case Own():
            holds = _basis(literal)[1]
            return Truths(holds, not holds, False)


def with_values(literal: Literal, values: Values) -> Literal:
    """The same literal with other values."""
    match literal:
        case Says():
            return replace(literal, values=values)
        case Compares():
            assert isinstance(values, Orders)
            return replace(literal, orders=values)
        case HowOften():
            assert isinstance(values, Reals)
            return replace(literal, times=values.whole)
        case Own():
            assert isinstance(values, Truths)
            same = values == values_of(literal)
            return _turned(literal, literal.holds if same else not literal.holds)


def lasting(literal: Literal) -> bool:
    """Whether it says the same at every step of a record: it is about counts."""
    if isinstance(literal, Own):
        return literal.expression.head in COMPARISONS and literal.expression.type is Type.BOOLEAN
    return isinstance(literal, HowOften)


@dataclass(frozen=True, slots=True)
class Possible:
    """Which values there may be."""

    missing: Container[str] | None = None
    """The columns that may miss values; None: any may."""

    def misses(self, signal: Expression) -> bool:
        """Whether a signal may be missing; arithmetic may be where no column is, as inf - inf is."""
        if isinstance(signal.head, Attribute):
            return self.missing is None or signal.head.name in self.missing
        if signal.head is DIFFERENCE and not any(map(_finite, signal.args)):
            return True
        return isinstance(signal.head, UserFunction) or any(map(self.misses, signal.args))

    def values(self, literal: Literal) -> Values:
        """All that the subject of a literal may be."""
        match literal:
            case Says(signal=signal, values=Reals()):
                return Reals(_FREE, self.misses(signal))
            case Says(signal=signal, values=Names()):
                return Names(frozenset(), True, self.misses(signal))
            case Says(signal=signal):
                return Truths(True, True, self.misses(signal))
            case Compares(first=first, second=second):
                return Orders(True, True, True, self.misses(first) or self.misses(second))
            case HowOften():
                return _COUNTS
            case Own():
                return Truths(True, True, False)

    def literal(self, literal: Literal, values: Values | None = None) -> Term:
        """The literal, with other values if given: true if it allows all there may be, false if nothing."""
        wanted, all_values = values_of(literal) if values is None else values, self.values(literal)
        kept = wanted & all_values
        if kept.empty:
            return FALSE
        return TRUE if all_values.within(kept) else with_values(literal, kept)

    def negated(self, term: Term) -> Term:
        """What is true where the term is not."""
        match term:
            case All(parts):
                return Some(tuple(map(self.negated, parts)))
            case Some(parts):
                return All(tuple(map(self.negated, parts)))
            case Sometime(part):
                return Always(self.negated(part))
            case Always(part):
                return Sometime(self.negated(part))
        return with_values(term, ~values_of(term) & self.values(term))


def _finite(signal: Expression) -> bool:
    """Whether it is certain that no value of a signal is infinite."""
    return signal.head is SIGN or (isinstance(signal.head, Number) and math.isfinite(signal.head.value))


def _basis(own: Own) -> tuple[Expression, bool]:
    """The expression without a negation that hides in a comparison of counts, and whether it holds."""
    e, head = own.expression, own.expression.head
    if lasting(own) and isinstance(head, Operator) and head in _OPPOSITE:
        return Expression(_OPPOSITE[head], e.args), not own.holds
    return e, own.holds


def _turned(own: Own, holds: bool) -> Own:
    """The same or the opposite; of comparisons of counts, which are never missing, the opposite comparison."""
    e, head = own.expression, own.expression.head
    opposite = _OPPOSITE | {less: more for more, less in _OPPOSITE.items()}
    if not holds and lasting(own) and isinstance(head, Operator) and head in opposite and e.english is None:
        return Own(Expression(opposite[head], e.args), True)
    return Own(e, holds)


def _unordered(term: Term) -> Hashable:
    """The same for terms that differ in the order of lists alone."""
    match term:
        case All(parts) | Some(parts):
            return type(term), frozenset(map(_unordered, parts))
        case Sometime(part) | Always(part):
            return type(term), _unordered(part)
        case HowOften(part=part, times=times):
            return HowOften, _unordered(part), times
    return term
