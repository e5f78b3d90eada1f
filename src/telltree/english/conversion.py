"""Formulas to terms, without simplification, and terms to formulas, in the shortest natural form."""

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

from telltree.english.terms import (
    FALSE,
    TRUE,
    And,
    CountIn,
    Domains,
    Eventually,
    Globally,
    Kind,
    Literal,
    Opaque,
    Or,
    OrderIn,
    Term,
    ValueIn,
    has_own_phrase,
    joined,
)
from telltree.english.value_sets import ORDERS, Interval, Names, Reals, Truths, Values
from telltree.errors import GrammarError
from telltree.logic import Attribute, Expression, Level, Number, Type
from telltree.logic import operators as op
from telltree.logic.operators import Cells, Operator

# ---- Formulas to terms: operators.

_Conversion: TypeAlias = Callable[[Expression, Domains, bool], Term]


def direct_term(e: Expression, domains: Domains, truth: bool = True) -> Term:
    """Convert an expression, or its negation, to a term without simplification, except that lists are flat."""
    if has_own_phrase(e) and not isinstance(e.head, Attribute):  # a column's phrase may be negated, or take an adverb
        return Opaque(e, truth)
    if isinstance(e.head, Operator) and e.head.joins:
        return CONVERSIONS[e.head](e, domains, truth)
    count = counted(e)
    atom = literal_of(e) if count is None else CountIn(direct_term(count[0], domains), count[1])
    term = atom if isinstance(atom, And | Or | Eventually | Globally) else domains.literal(atom)
    return term if truth else domains.negated(term)


@dataclass(frozen=True, slots=True)
class OpaqueConversion:
    """Conversion of an operator that has no term: an opaque literal, worded by the operator's phrase."""

    opposite: Operator | None = None
    """The dual operator: of the negated operand, it is the negation of the whole."""

    def __call__(self, e: Expression, domains: Domains, truth: bool) -> Term:
        if truth or self.opposite is None:
            return Opaque(e, truth)
        return Opaque(Expression(self.opposite, (opposite(e.args[0]), *e.args[1:])), True)


opaque = OpaqueConversion()


def is_boolean(e: Expression) -> bool:
    """Return True if an expression is true or false, rather than a number or a category."""
    return e.type in (Type.BOOLEAN, Type.BOOLEAN_VECTOR)


def opposite(e: Expression) -> Expression:
    """Negate an expression, or remove its negation."""
    return e.args[0] if e.head is op.NOT else Expression(op.NOT, (e,))


def _negation(e: Expression, domains: Domains, truth: bool) -> Term:
    return direct_term(e.args[0], domains, not truth)


def _over_time(straight: type[Eventually] | type[Globally], opposite: type[Eventually] | type[Globally]) -> _Conversion:
    def apart(e: Expression, domains: Domains, truth: bool) -> Term:
        return (straight if truth else opposite)(direct_term(e.args[0], domains, truth))

    return apart


def _list(straight: Kind, opposite: Kind, turned: bool = False) -> _Conversion:
    """Convert to a list of both operands, the first negated if `turned`; all are negated for the negation."""

    def apart(e: Expression, domains: Domains, truth: bool) -> Term:
        parts = (direct_term(e.args[0], domains, truth != turned), direct_term(e.args[1], domains, truth))
        return joined(straight if truth else opposite, parts, domains)

    return apart


CONVERSIONS: Cells[_Conversion] = Cells(
    "the normal form",
    "english/conversion.py",
    {
        op.NOT: _negation,
        op.EVENTUALLY: _over_time(Eventually, Globally),
        op.GLOBALLY: _over_time(Globally, Eventually),
        op.AND: _list(And, Or),
        op.OR: _list(Or, And),
        op.IMPLIES: _list(Or, And, turned=True),
        op.EVENTUALLY_WITHIN: OpaqueConversion(op.GLOBALLY_WITHIN),
        op.GLOBALLY_WITHIN: OpaqueConversion(op.EVENTUALLY_WITHIN),
        op.ONCE: OpaqueConversion(op.HISTORICALLY),
        op.HISTORICALLY: OpaqueConversion(op.ONCE),
        op.ONCE_WITHIN: OpaqueConversion(op.HISTORICALLY_WITHIN),
        op.HISTORICALLY_WITHIN: OpaqueConversion(op.ONCE_WITHIN),
        op.NEXT: opaque,
        op.PREVIOUS: opaque,
        op.UNTIL: opaque,
        op.UNLESS: opaque,
        op.SINCE: opaque,
        op.RISE: opaque,
        op.FALL: opaque,
        op.BEFORE: opaque,
        op.BEFORE_WITHIN: opaque,
    },
    about=lambda operator: operator.joins,
)
"""The conversion of each operator that joins conditions to a term, or of its negation."""


# ---- Formulas to terms: atoms, by the values of a signal that they allow.

_MISSING: dict[Type, Values] = {
    Type.REAL_VECTOR: Reals((), True),
    Type.CATEGORICAL_VECTOR: Names(frozenset(), False, True),
    Type.BOOLEAN_VECTOR: Truths(False, False, True),
}


def counted(e: Expression) -> tuple[Expression, Reals] | None:
    """Return the operand of `count` and the allowed numbers if an expression compares one count with a number."""
    if e.type is not Type.BOOLEAN or e.head not in op.COMPARISONS:
        return None
    left, right, relation = _number_last(e)
    if not isinstance(right.head, Number):
        return None
    count, times = _bare(left, Reals.compared(relation, right.head.value))
    return (count.args[0], times.whole) if count.head is op.COUNT and not has_own_phrase(count) else None


def literal_of(e: Expression) -> Term:
    """Convert an atom: any Boolean vector except connectives, temporal operators and comparisons that are `counted`.

    The literal may allow values that the signal cannot have.
    """
    if e.head in op.COMPARISONS and e.type is Type.BOOLEAN_VECTOR:
        return comparison_literal(e)
    if e.head is op.MISSING:
        return _missing(e.args[0])
    return ValueIn(e, Truths(True, False, False)) if isinstance(e.head, Attribute) else Opaque(e, True)


def _missing(e: Expression) -> Term:
    if e.type is Type.BOOLEAN_VECTOR and not isinstance(e.head, Attribute):
        return FALSE  # a formula is never missing, nor is the result of a Boolean function
    values = _MISSING[e.type]
    return ValueIn(*_bare(e, values)) if isinstance(values, Reals) else ValueIn(e, values)


def comparison_literal(e: Expression) -> Literal:
    """Convert a comparison of signals or of counts."""
    left, right, relation = _number_last(e)
    match right.head:
        case Number(value=value):
            return ValueIn(*_bare(left, Reals.compared(relation, value)))
        case Level(name=name):
            return ValueIn(left, Names(frozenset([name]), False, False))
    if left == right and left.type is Type.REAL_VECTOR:
        return ValueIn(*_bare(left, Reals((Interval(),) if ORDERS[relation].equal else (), False)))
    if str(right) < str(left):
        left, right, relation = right, left, op.MIRRORED[relation]
    return OrderIn(left, right, ORDERS[relation])


def _number_last(e: Expression) -> tuple[Expression, Expression, str]:
    """Return the sides of a comparison and its relation, with a number on the right if there is one."""
    assert isinstance(e.head, Operator)
    left, right = e.args
    if isinstance(left.head, Number):
        return right, left, op.MIRRORED[e.head.name]
    return left, right, e.head.name


def _bare(signal: Expression, values: Reals) -> tuple[Expression, Reals]:
    """Remove `abs` and `sign` from a signal and order its differences by their text; adapt the values."""
    while (signal.head is op.ABS or signal.head is op.SIGN) and not has_own_phrase(signal):
        values = values.under_abs if signal.head is op.ABS else values.under_sign
        signal = signal.args[0]
    if signal.head is op.DIFFERENCE and not has_own_phrase(signal):
        left, right = signal.args
        last = isinstance(right.head, Number)
        if isinstance(left.head, Number) or (not last and str(right) < str(left)):
            return Expression(op.DIFFERENCE, (right, left)), values.mirrored  # exact: rounding is symmetric
    return signal, values


# ---- Terms to formulas.

_RELATIONS = {
    (True, False, False): op.LESS,
    (True, True, False): op.LESS_EQUAL,
    (False, True, False): op.EQUAL,
    (False, True, True): op.GREATER_EQUAL,
    (False, False, True): op.GREATER,
}
_EVERY_NUMBER, _ZERO = (Interval(),), (Interval(0.0, 0.0),)


def expression_of(term: Term, missing: Container[str] | None = None, witness: Expression | None = None) -> Expression:
    """Write a term as an equivalent expression, given that only columns of `missing` miss values (None: any may).

    Formulas have no constants for true and false. A term that is always true becomes a tautology about `witness`, any
    expression, or else about some column of the term: F(b ∨ ¬b), F(missing(x) ∨ ¬missing(x)); one that is never true
    becomes a contradiction. Raise GrammarError if the term has no column and there is no witness.
    """
    return _Writer(Domains(missing), witness or _some_column(term)).top(term)


def _some_column(term: Term) -> Expression | None:
    match term:
        case And(parts) | Or(parts):
            return next(filter(None, map(_some_column, parts)), None)
        case Eventually(part) | Globally(part) | CountIn(part=part):
            return _some_column(part)
        case ValueIn(signal=e) | OrderIn(first=e) | Opaque(expression=e):
            return next((below for below in e.walk() if isinstance(below.head, Attribute)), e)


class _Writer:
    def __init__(self, domains: Domains, witness: Expression | None) -> None:
        self.domains = domains
        self.witness = witness

    def top(self, term: Term) -> Expression:
        written = self.written(term)
        return Expression(op.EVENTUALLY, (written,)) if term in (TRUE, FALSE) else written

    def written(self, term: Term) -> Expression:  # noqa: PLR0911  one return a kind of term
        match term:
            case And(()) | Or(()):
                return self._constant(term == TRUE)
            case And(parts):
                return _chain(op.AND, map(self.written, parts))
            case Or(parts):
                return _either([self.written(part) for part in parts])
            case Eventually(part):
                return Expression(op.EVENTUALLY, (self.written(part),))
            case Globally(part):
                return Expression(op.GLOBALLY, (self.written(part),))
            case CountIn(part=part, times=times):
                return _numbers(Expression(op.COUNT, (self.written(part),)), times, may_miss=False)
            case Opaque(expression=e, holds=holds):
                return e if holds else _not(e)
            case OrderIn():
                return _orders(term, self.domains.values(term).missing)
            case ValueIn():
                return _value_in(term, self.domains.may_be_missing(term.signal))

    def _constant(self, truth: bool) -> Expression:
        if self.witness is None:
            raise GrammarError(f"what is always {'true' if truth else 'false'} cannot be written without any column")
        about = self.witness
        if not is_boolean(about):
            about = Expression(op.MISSING, (about,))
        return Expression(op.OR if truth else op.AND, (about, _not(about)))


def _value_in(term: ValueIn, may_miss: bool) -> Expression:
    signal = term.signal
    match term.values:
        case Reals() as numbers:
            turned = _difference_turned(signal, numbers)
            return _numbers(*(turned or (signal, numbers)), may_miss)
        case Names() as names:
            return _names(signal, names, may_miss)
        case Truths(true=true, false=false, missing=missing):
            is_missing = Expression(op.MISSING, (signal,))
            if true:
                return _not(is_missing) if false else _chain(op.OR, [signal, is_missing]) if missing else signal
            if not false:
                return is_missing
            known = may_miss and not missing
            return _chain(op.AND, [_not(signal), _not(is_missing)]) if known else _not(signal)
    raise AssertionError(f"no literal says {term.values} of one signal")


def _names(signal: Expression, values: Names, may_miss: bool) -> Expression:
    same = [Expression(op.EQUAL, (signal, Expression(Level(name)))) for name in sorted(values.names)]
    is_missing = Expression(op.MISSING, (signal,))
    if not values.others:
        return _chain(op.OR, [*same, is_missing] if values.missing else same)
    known = [_not(is_missing)] if may_miss and not values.missing else []
    return _chain(op.AND, [*map(_not, same), *known])


def _numbers(signal: Expression, values: Reals, may_miss: bool) -> Expression:
    """Write that a signal is in a set of numbers, in the shortest of several forms."""
    if not values.intervals:
        return Expression(op.MISSING, (signal,))
    if values.missing:
        ways = [_not(_numbers(signal, ~values, may_miss))]
        known = _numbers(signal, Reals(values.intervals, False), may_miss)
        ways.append(_chain(op.OR, [known, Expression(op.MISSING, (signal,))]))
    elif values.intervals == _EVERY_NUMBER:
        return _not(Expression(op.MISSING, (signal,)))
    else:
        ways = [_intervals(signal, values)]
        if not may_miss and len(values.intervals) > 1:  # the complement of a single interval is not shorter
            ways.append(_not(_intervals(signal, (~values).whole if signal.type is Type.COUNT else ~values)))
        if values.symmetric and values.intervals != _ZERO and signal.type is Type.REAL_VECTOR:
            ways.append(_intervals(Expression(op.ABS, (signal,)), values.from_zero))
    return ways[0] if len(ways) == 1 else min(ways, key=lambda way: way.terminals)


def _intervals(signal: Expression, values: Reals) -> Expression:
    """Write that a number is in one of the intervals; intervals with only one number between them are merged."""
    spans: list[tuple[Interval, list[float]]] = []
    for interval in values.intervals:
        if spans and spans[-1][0].high == interval.low and (spans[-1][0].bounded_below or interval.bounded_above):
            before, holes = spans.pop()
            spans.append(
                (Interval(before.low, interval.high, before.with_low, interval.with_high), [*holes, interval.low])
            )
        else:
            spans.append((interval, []))
    return _chain(op.OR, (_span(signal, interval, holes) for interval, holes in spans))


def _span(signal: Expression, interval: Interval, holes: list[float]) -> Expression:
    if interval.point:
        return _compared(op.EQUAL, signal, interval.low)
    bounds = []
    size = signal.head is op.ABS and interval.bounded_above  # without any bound it could be missing
    from_zero = interval.low == 0 and interval.with_low and (size or signal.type is Type.COUNT)
    if interval.bounded_below and not from_zero:
        bounds.append(_compared(op.GREATER_EQUAL if interval.with_low else op.GREATER, signal, interval.low))
    if interval.bounded_above:
        bounds.append(_compared(op.LESS_EQUAL if interval.with_high else op.LESS, signal, interval.high))
    return _chain(op.AND, [*bounds, *(_not(_compared(op.EQUAL, signal, hole)) for hole in holes)])


def _difference_turned(signal: Expression, values: Reals) -> tuple[Expression, Reals] | None:
    """Reverse a difference and its values if that saves minus signs: y - x < 3 for x - y > -3."""
    if signal.head is not op.DIFFERENCE or has_own_phrase(signal):
        return None
    ends = [end for i in values.intervals for end in (i.low, i.high) if abs(end) < float("inf") and end != 0]
    if sum(end < 0 for end in ends) <= sum(end > 0 for end in ends):
        return None
    return Expression(op.DIFFERENCE, signal.args[::-1]), values.mirrored


def _orders(term: OrderIn, may_miss: bool) -> Expression:
    orders, sides = term.orders, (term.first, term.second)
    if orders.missing:
        return _not(_orders(OrderIn(*sides, ~orders), may_miss))
    if orders.less != orders.greater or (orders.equal and not orders.less):
        return Expression(_RELATIONS[orders.less, orders.equal, orders.greater], sides)
    if not orders.equal and not may_miss:
        return _not(Expression(op.EQUAL, sides))
    if term.first.type is Type.CATEGORICAL_VECTOR:
        known = [_not(Expression(op.MISSING, (side,))) for side in sides]
        return _chain(op.AND, known if orders.equal else [_not(Expression(op.EQUAL, sides)), *known])
    return _chain(op.OR, [Expression(op.LESS_EQUAL if orders.equal else op.LESS, sides), Expression(op.GREATER, sides)])


def _either(parts: list[Expression]) -> Expression:
    """Join parts by "or", as an implication if some but not all are negations."""
    opposites = [_opposite(part) for part in parts]
    given_parts = [opposite for opposite in opposites if opposite is not None]
    bare = [part for part, opposite in zip(parts, opposites, strict=True) if opposite is None]
    if not given_parts:
        return _chain(op.OR, bare)
    given = _chain(op.AND, given_parts)
    return Expression(op.IMPLIES, (given, _chain(op.OR, bare))) if bare else _not(given)


def _opposite(e: Expression) -> Expression | None:
    """Return the expression whose negation this is, by ¬ or as a conjunction of negations; None for anything else."""
    if _is_negation(e):
        return e.args[0]
    if e.head is not op.AND or has_own_phrase(e):
        return None
    first, second = map(_opposite, e.args)
    return Expression(op.OR, (first, second)) if first and second else None


def _not(e: Expression) -> Expression:
    return e.args[0] if _is_negation(e) else Expression(op.NOT, (e,))


def _is_negation(e: Expression) -> bool:
    return e.head is op.NOT and not has_own_phrase(e)


def _compared(operator: Operator, signal: Expression, number: float) -> Expression:
    return Expression(operator, (signal, Expression(Number(number))))


def _chain(operator: Operator, parts: Iterable[Expression]) -> Expression:
    """Join parts by one operator, from the left."""
    return reduce(lambda before, part: Expression(operator, (before, part)), parts)
