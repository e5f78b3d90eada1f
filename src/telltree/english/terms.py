"""Terms, the normal form of formulas: literals over sets of values, joined by lists and temporal operators.

Negation occurs only inside literals, lists are flat, and a list has one literal for each signal. A term is true or
false at a step. `Eventually` and `Globally` refer to the steps from that step to the end; nested ones mean "then or
later" and "from then on". A formula is true for a record if its term is true at the first step.
"""

import math
from collections.abc import Container, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from telltree.english.value_sets import Interval, Names, Orders, Reals, Truths, Values
from telltree.logic import Attribute, Expression, Number, Type, UserFunction
from telltree.logic.meaning import Infinities, Makes
from telltree.logic.operators import (
    CLOCKS,
    COMPARISONS,
    EPISODES,
    GREATER,
    GREATER_EQUAL,
    LENGTH,
    LESS,
    LESS_EQUAL,
    LONGEST,
    MIRRORED,
    Operator,
)


@dataclass(frozen=True, slots=True)
class ValueIn:
    """A literal: the value of a signal at this step is in a set."""

    signal: Expression
    """An attribute of any type, or a real vector made of attributes (differences, functions). `abs` and `sign` of a
    signal are expressed by sets of the signal's own values."""
    values: Values


@dataclass(frozen=True, slots=True)
class OrderIn:
    """A literal: the relation of `first` to `second` at this step is in a set. The two are in order of their text."""

    first: Expression
    second: Expression
    orders: Orders


@dataclass(frozen=True, slots=True)
class CountIn:
    """A literal: the number of steps of the whole record at which `part` is true is in a set; the same at any step."""

    part: "Term"
    times: Reals


@dataclass(frozen=True, slots=True)
class Opaque:
    """An opaque literal: a rule with a phrase of its own, a Boolean user function, an operator without a term."""

    expression: Expression
    holds: bool


@dataclass(frozen=True, slots=True)
class And:
    """A conjunction of two or more parts, none of which is an `And`; without parts it is true."""

    parts: "tuple[Term, ...]"


@dataclass(frozen=True, slots=True)
class Or:
    """A disjunction of two or more parts, none of which is a `Or`; without parts it is false."""

    parts: "tuple[Term, ...]"


@dataclass(frozen=True, slots=True)
class Eventually:
    """The part is true at this step or a later one (F)."""

    part: "Term"


@dataclass(frozen=True, slots=True)
class Globally:
    """The part is true at this step and all later ones (G)."""

    part: "Term"


Literal: TypeAlias = ValueIn | OrderIn | CountIn | Opaque
Term: TypeAlias = Literal | And | Or | Eventually | Globally

TRUE, FALSE = And(()), Or(())


def all_of(parts: Sequence[Term]) -> Term:
    """Return the conjunction of parts as they are, or the only part."""
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def one_of(parts: Sequence[Term]) -> Term:
    """Return the disjunction of parts as they are, or the only part."""
    return parts[0] if len(parts) == 1 else Or(tuple(parts))


# ---- Literals of all kinds as a subject and a set of values.

_OPPOSITE = {GREATER_EQUAL: LESS, GREATER: LESS_EQUAL}


def subject(literal: Literal) -> Hashable:
    """Return the subject of a literal; two literals on one subject can be merged."""
    match literal:
        case ValueIn(signal=signal):
            return signal
        case OrderIn(first=first, second=second):
            return first, second
        case CountIn(part=part):
            return "count", _unordered(part)
        case Opaque():
            return "own", _basis(literal)[0]


def subjects(term: Term) -> set[Hashable]:
    """Collect the subjects of a term's literals, including those inside counts."""
    match term:
        case And(parts) | Or(parts):
            return set().union(*map(subjects, parts))
        case Eventually(part) | Globally(part):
            return subjects(part)
        case CountIn(part=part):
            return {subject(term), *subjects(part)}
    return {subject(term)}


def values_of(literal: Literal) -> Values:
    """Return the set of values that a literal allows its subject."""
    match literal:
        case ValueIn(values=values):
            return values
        case OrderIn(orders=orders):
            return orders
        case CountIn(times=times):
            return times
        case Opaque():
            holds = _basis(literal)[1]
            return Truths(holds, not holds, False)


def with_values(literal: Literal, values: Values) -> Literal:
    """Return the literal on the same subject with other values."""
    match literal:
        case ValueIn():
            return ValueIn(literal.signal, values)
        case OrderIn():
            assert isinstance(values, Orders)
            return OrderIn(literal.first, literal.second, values)
        case CountIn():
            assert isinstance(values, Reals)
            return CountIn(literal.part, values.whole)
        case Opaque():
            assert isinstance(values, Truths)
            same = values == values_of(literal)
            return _turned(literal, literal.holds if same else not literal.holds)


def compares_counts(literal: Literal) -> bool:
    """Return True if a literal compares counts, or is a user function's truth value of a whole record.

    Such a literal is never missing, and the same at every step of a record.
    """
    if isinstance(literal, Opaque):
        e = literal.expression
        return e.type is Type.BOOLEAN and (e.head in COMPARISONS or isinstance(e.head, UserFunction))
    return isinstance(literal, CountIn)


def allowed_counts(own: Opaque) -> tuple[Expression, Reals] | None:
    """Return the count and its allowed numbers if a literal compares one `episodes` or `longest` with a number.

    Return None for other literals, and where all numbers are allowed, or none.
    """
    e = own.expression
    if not compares_counts(own) or e.english is not None or not isinstance(e.head, Operator):
        return None
    turned = isinstance(e.args[0].head, Number)
    count, number = e.args[::-1] if turned else e.args
    if count.head not in (EPISODES, LONGEST) or count.english is not None or not isinstance(number.head, Number):
        return None
    numbers = Reals.compared(MIRRORED[e.head.name] if turned else e.head.name, number.head.value)
    numbers = (numbers if own.holds else ~numbers).whole
    return (count, numbers) if numbers.intervals not in ((), (Interval(0.0),)) else None


def _basis(own: Opaque) -> tuple[Expression, bool]:
    """Return the expression and whether it holds, with >= and > of counts as negated < and <=."""
    e, head = own.expression, own.expression.head
    if compares_counts(own) and isinstance(head, Operator) and head in _OPPOSITE:
        return Expression(_OPPOSITE[head], e.args), not own.holds
    return e, own.holds


def _turned(own: Opaque, holds: bool) -> Opaque:
    """Return the literal or its negation, for counts by the opposite comparison, as they are never missing."""
    e, head = own.expression, own.expression.head
    opposite = _OPPOSITE | {less: more for more, less in _OPPOSITE.items()}
    if not holds and compares_counts(own) and isinstance(head, Operator) and head in opposite and e.english is None:
        return Opaque(Expression(opposite[head], e.args), True)
    return Opaque(e, holds)


def _unordered(term: Term) -> Hashable:
    """Return a key that is equal for terms that differ only in the order of lists."""
    match term:
        case And(parts) | Or(parts):
            return type(term), frozenset(map(_unordered, parts))
        case Eventually(part) | Globally(part):
            return type(term), _unordered(part)
        case CountIn(part=part, times=times):
            return CountIn, _unordered(part), times
    return term


def has_own_phrase(e: Expression) -> bool:
    """Return True if a grammar gives the expression a phrase of its own."""
    if e.english is None or not isinstance(e.head, Operator):
        return e.english is not None
    return e.english != e.head.english or e.parts != e.args


def is_about_length(term: Term) -> bool:
    """Return True if a term is about the number of steps of the record, without a phrase of a grammar."""
    return isinstance(term, ValueIn) and term.signal.head is LENGTH and not has_own_phrase(term.signal)


def is_about_position(term: Term) -> bool:
    """Return True if a term is about the position of a step in the record, without a phrase of a grammar."""
    return isinstance(term, ValueIn) and term.signal.head in CLOCKS and not has_own_phrase(term.signal)


# ---- Domains: the values that signals may have, and terms that are the same at several steps.

_FREE = (Interval(),)
_NONE = Makes()
_COUNTS = Reals((Interval(0.0),), False)


@dataclass(frozen=True, slots=True)
class Domains:
    """The records that are possible, by which columns may be missing and which are static."""

    missing: Container[str] | None = None
    """Columns that may have missing or infinite values; None if any may."""
    static: Container[str] = ()
    """Columns with one value per record."""

    def may_be_missing(self, signal: Expression) -> bool:
        """Return True if a signal may be missing, even where no column is: inf - inf, or no earlier step."""
        if isinstance(signal.head, Attribute):
            return self._column_may_be_missing(signal.head.name)
        cancels = _traits(signal).infinities is Infinities.CANCEL
        if signal.has_gaps or (cancels and not any(map(self._finite, signal.operands))):
            return True
        return isinstance(signal.head, UserFunction) or any(map(self.may_be_missing, signal.signals))

    def _column_may_be_missing(self, column: str) -> bool:
        return self.missing is None or column in self.missing

    def _finite(self, signal: Expression) -> bool:
        """Return True if a signal is certainly finite; the difference of large finite values may overflow."""
        match signal.head:
            case Attribute(name=name):
                return not self._column_may_be_missing(name)
            case Number(value=value):
                return math.isfinite(value)
        infinities = _traits(signal).infinities
        kept = infinities is Infinities.KEPT
        return infinities is Infinities.NONE or (kept and all(map(self._finite, signal.signals)))

    def is_static(self, literal: Literal) -> bool:
        """Return True if a literal has the same truth at every step of a record."""
        match literal:
            case ValueIn(signal=signal):
                return self._one_value(signal)
            case OrderIn(first=first, second=second):
                return self._one_value(first) and self._one_value(second)
            case _:
                return compares_counts(literal)

    def _one_value(self, signal: Expression) -> bool:
        if isinstance(signal.head, Attribute):
            return signal.head.name in self.static
        if signal.type is Type.COUNT:
            return True
        if _traits(signal).moves or _traits(signal).lasts:
            return _traits(signal).lasts
        return not isinstance(signal.head, UserFunction) and all(map(self._one_value, signal.operands))

    def eventual(self, term: Term) -> bool:
        """Return True if a term that is true at a step is true at all earlier steps."""
        match term:
            case And(parts) | Or(parts):
                return all(map(self.eventual, parts))
            case Eventually() | Globally():
                return isinstance(term, Eventually)
        return self.is_static(term)

    def enduring(self, term: Term) -> bool:
        """Return True if a term that is true at a step is true at all later steps."""
        match term:
            case And(parts) | Or(parts):
                return all(map(self.enduring, parts))
            case Eventually(part):
                return self.enduring(part)
            case Globally():
                return True
        return self.is_static(term)

    def values(self, literal: Literal) -> Values:
        """Return all possible values of a literal's subject."""
        match literal:
            case ValueIn(signal=signal, values=Reals()):
                return Reals(_FREE, self.may_be_missing(signal))
            case ValueIn(signal=signal, values=Names()):
                return Names(frozenset(), True, self.may_be_missing(signal))
            case ValueIn(signal=signal):
                return Truths(True, True, self.may_be_missing(signal))
            case OrderIn(first=first, second=second):
                return Orders(True, True, True, self.may_be_missing(first) or self.may_be_missing(second))
            case CountIn():
                return _COUNTS
            case Opaque():
                return Truths(True, True, False)

    def literal(self, literal: Literal, values: Values | None = None) -> Term:
        """Restrict a literal, or other values for it, to its domain; TRUE if all of it is allowed, FALSE if none."""
        wanted, all_values = values_of(literal) if values is None else values, self.values(literal)
        kept = _whole(literal, wanted & all_values)
        if kept.empty:
            return FALSE
        return TRUE if all_values.within(kept) else with_values(literal, kept)

    def negated(self, term: Term) -> Term:
        """Return the negation of a term."""
        match term:
            case And(parts):
                return Or(tuple(map(self.negated, parts)))
            case Or(parts):
                return And(tuple(map(self.negated, parts)))
            case Eventually(part):
                return Globally(self.negated(part))
            case Globally(part):
                return Eventually(self.negated(part))
        return with_values(term, _whole(term, ~values_of(term) & self.values(term)))


def _whole(literal: Literal, values: Values) -> Values:
    """Restrict the values of a record's number of steps to whole numbers."""
    return values.lengths if isinstance(values, Reals) and is_about_length(literal) else values


def _traits(signal: Expression) -> Makes:
    """Return the traits of the operator that makes a signal."""
    return signal.head.traits if isinstance(signal.head, Operator) else _NONE


# ---- Flat lists: terms joined by "and" or "or", with one literal for each subject.

Kind: TypeAlias = type[And] | type[Or]


def joined(kind: Kind, parts: Iterable[Term], domains: Domains) -> Term:
    """Join parts into one flat list without duplicates, with literals on one subject merged; unwrap a single part."""
    decisive = FALSE if kind is And else TRUE
    found: dict[Hashable, Term] = {}
    for part in _flat(kind, parts):
        place: Hashable = part if isinstance(part, And | Or | Eventually | Globally) else subject(part)
        found[place] = _merged(kind, found[place], part, domains) if place in found else part
        if found[place] == decisive:
            return decisive
    return next(iter(found.values())) if len(found) == 1 else kind(tuple(found.values()))


def _merged(kind: Kind, first: Term, second: Term, domains: Domains) -> Term:
    """Merge two equal parts of a list, or two literals on one subject."""
    if isinstance(first, And | Or | Eventually | Globally) or isinstance(second, And | Or | Eventually | Globally):
        return first
    mine, yours = values_of(first), values_of(second)
    return domains.literal(first, mine & yours if kind is And else mine | yours)


def _flat(kind: Kind, parts: Iterable[Term]) -> Iterable[Term]:
    for part in parts:
        if isinstance(part, kind):
            yield from _flat(kind, part.parts)
        else:
            yield part
