"""Literals of all kinds: each has a subject, and a set of values that the subject may have."""

from collections.abc import Hashable

from telltree.operators import Expression, Number, Operator, Type, UserFunction
from telltree.operators.table import (
    COMPARISONS,
    EPISODES,
    GREATER,
    GREATER_EQUAL,
    LESS,
    LESS_EQUAL,
    LONGEST,
    MIRRORED,
)
from telltree.speech.terms import All, Always, Compares, HowOften, Literal, Own, Says, Some, Sometime, Term
from telltree.speech.values import Interval, Orders, Reals, Truths, Values

_OPPOSITE = {GREATER_EQUAL: LESS, GREATER: LESS_EQUAL}


def subject(literal: Literal) -> Hashable:
    """What a literal is about: two literals on one subject can be merged."""
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
    """The subjects of a term's literals, including those inside counts."""
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
            return Says(literal.signal, values)
        case Compares():
            assert isinstance(values, Orders)
            return Compares(literal.first, literal.second, values)
        case HowOften():
            assert isinstance(values, Reals)
            return HowOften(literal.part, values.whole)
        case Own():
            assert isinstance(values, Truths)
            same = values == values_of(literal)
            return _turned(literal, literal.holds if same else not literal.holds)


def of_counts(literal: Literal) -> bool:
    """Whether it compares counts, or is the truth of a whole record that a user's function gives. Then it is never
    missing, and the same at every step of a record."""
    if isinstance(literal, Own):
        e = literal.expression
        return e.type is Type.BOOLEAN and (e.head in COMPARISONS or isinstance(e.head, UserFunction))
    return isinstance(literal, HowOften)


def how_many(own: Own) -> tuple[Expression, Reals] | None:
    """Of a comparison of one number of episodes, or of steps in a row, with a number: that number, and what it may be.

    None of anything else, and where all numbers or none will do.
    """
    e = own.expression
    if not of_counts(own) or e.english is not None or not isinstance(e.head, Operator):
        return None
    turned = isinstance(e.args[0].head, Number)
    count, number = e.args[::-1] if turned else e.args
    if count.head not in (EPISODES, LONGEST) or count.english is not None or not isinstance(number.head, Number):
        return None
    numbers = Reals.compared(MIRRORED[e.head.name] if turned else e.head.name, number.head.value)
    numbers = (numbers if own.holds else ~numbers).whole
    return (count, numbers) if numbers.intervals not in ((), (Interval(0.0),)) else None


def _basis(own: Own) -> tuple[Expression, bool]:
    """The expression without the negation that a comparison of counts may hide, and whether it holds."""
    e, head = own.expression, own.expression.head
    if of_counts(own) and isinstance(head, Operator) and head in _OPPOSITE:
        return Expression(_OPPOSITE[head], e.args), not own.holds
    return e, own.holds


def _turned(own: Own, holds: bool) -> Own:
    """The literal or its opposite; for comparisons of counts, which are never missing, the opposite comparison."""
    e, head = own.expression, own.expression.head
    opposite = _OPPOSITE | {less: more for more, less in _OPPOSITE.items()}
    if not holds and of_counts(own) and isinstance(head, Operator) and head in opposite and e.english is None:
        return Own(Expression(opposite[head], e.args), True)
    return Own(e, holds)


def _unordered(term: Term) -> Hashable:
    """Equal for terms that differ only in the order of lists."""
    match term:
        case All(parts) | Some(parts):
            return type(term), frozenset(map(_unordered, parts))
        case Sometime(part) | Always(part):
            return type(term), _unordered(part)
        case HowOften(part=part, times=times):
            return HowOften, _unordered(part), times
    return term
