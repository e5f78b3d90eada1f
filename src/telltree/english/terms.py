"""Terms, the normal form of formulas: literals over sets of values, joined by lists and temporal operators."""

import abc
import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

from telltree.logic import Attribute, Expression, Level, Number, Type, UserFunction
from telltree.logic.operators import (
    ABS,
    COMPARISONS,
    COUNT,
    DIFFERENCE,
    EPISODES,
    GREATER,
    GREATER_EQUAL,
    LENGTH,
    LESS,
    LESS_EQUAL,
    LONGEST,
    MIRRORED,
    MISSING,
    SIGN,
    Operator,
)

# ---- Sets of values that a signal may have at a step, with "missing" as one of the values.
#
# A literal (`ValueIn`) restricts a signal to such a set. Intersection is "and", union "or", complement "not". All three
# are exact, so negation can always be pushed into a literal.


class _Set(abc.ABC):
    """Set operations derived from intersection and complement."""

    __slots__ = ()

    @abc.abstractmethod
    def __and__(self, other: Any) -> Self: ...

    @abc.abstractmethod
    def __invert__(self) -> Self: ...

    @property
    @abc.abstractmethod
    def empty(self) -> bool:
        """True if the set has no values."""

    def __or__(self, other: Any) -> Self:
        mine: Self = ~(~self & ~other)
        return mine

    def within(self, other: Any) -> bool:
        """Return True if this is a subset of `other`."""
        beyond: Self = self & ~other
        return beyond.empty

    def meets(self, other: Any) -> bool:
        """Return True if the two sets have a value in common."""
        both: Self = self & other
        return not both.empty


@dataclass(frozen=True, slots=True)
class Interval:
    """Real numbers from `low` to `high`. Infinities are values too, so [-inf, inf] is the whole line."""

    low: float = -math.inf
    high: float = math.inf
    with_low: bool = True
    with_high: bool = True

    @property
    def empty(self) -> bool:
        """True if the interval contains no number; sets hold no such intervals."""
        return not (self.low < self.high or (self.low == self.high and self.with_low and self.with_high))

    @property
    def point(self) -> bool:
        """True if the interval contains exactly one number."""
        return self.low == self.high

    @property
    def bounded_below(self) -> bool:
        """True if some numbers lie below the interval."""
        return self.low > -math.inf or not self.with_low

    @property
    def bounded_above(self) -> bool:
        """True if some numbers lie above the interval."""
        return self.high < math.inf or not self.with_high

    def meets(self, other: "Interval") -> bool:
        """Return True if the two intervals have a number in common."""
        if self.low > other.high or other.low > self.high:
            return False
        if self.low == other.high and not (self.with_low and other.with_high):
            return False
        return self.high != other.low or (self.with_high and other.with_low)

    def within(self, other: "Interval") -> bool:
        """Return True if this is a subset of `other`."""
        if self.low < other.low or self.high > other.high:
            return False
        if self.low == other.low and self.with_low and not other.with_low:
            return False
        return self.high != other.high or other.with_high or not self.with_high

    def __and__(self, other: "Interval") -> "Interval":
        low, with_low, high, with_high = self.low, self.with_low, self.high, self.with_high
        if other.low > low or (other.low == low and not other.with_low):
            low, with_low = other.low, other.with_low
        if other.high < high or (other.high == high and not other.with_high):
            high, with_high = other.high, other.with_high
        return Interval(low, high, with_low, with_high)


_EVERY_NUMBER = Interval()
_SIGNS = ((-1.0, Interval(high=0.0, with_high=False)), (0.0, Interval(0.0, 0.0)), (1.0, Interval(0.0, with_low=False)))


@dataclass(frozen=True, slots=True)
class Reals(_Set):
    """A set of real numbers, as sorted intervals that neither overlap nor touch, and possibly "missing"."""

    intervals: tuple[Interval, ...]
    missing: bool

    @classmethod
    def compared(cls, relation: str, constant: float) -> "Reals":
        """Return the numbers that are in this relation ("<", "<=", ">", ">=" or "=") to a constant."""
        c = constant + 0.0  # -0.0 is 0.0
        low, high = c if relation in (">", ">=", "=") else -math.inf, c if relation in ("<", "<=", "=") else math.inf
        interval = Interval(low, high, relation != ">", relation != "<")
        return cls(() if interval.empty else (interval,), False)

    @classmethod
    def of(cls, intervals: Iterable[Interval], missing: bool = False) -> "Reals":
        """Return the union of intervals, which may overlap and come in any order."""
        found = cls((), missing)
        for interval in intervals:
            if not interval.empty:
                found = found | cls((interval,), False)
        return found

    def __and__(self, other: Any) -> "Reals":
        met = [mine & yours for mine in self.intervals for yours in other.intervals]
        return Reals(tuple([i for i in met if not i.empty]), self.missing and other.missing)

    def __invert__(self) -> "Reals":
        gaps, low, with_low = [], -math.inf, True
        for interval in self.intervals:
            if low < interval.low or (low == interval.low and with_low and not interval.with_low):
                gaps.append(Interval(low, interval.low, with_low, not interval.with_low))
            low, with_low = interval.high, not interval.with_high
        if low < math.inf or with_low:
            gaps.append(Interval(low, math.inf, with_low, True))
        return Reals(tuple(gaps), not self.missing)

    def __contains__(self, number: float) -> bool:
        return any(Interval(number, number).within(i) for i in self.intervals)

    def within(self, other: Any) -> bool:
        """Return True if this is a subset of `other`: each interval must lie within a single one of the other's."""
        if self.missing and not other.missing:
            return False
        return all(any(mine.within(yours) for yours in other.intervals) for mine in self.intervals)

    def meets(self, other: Any) -> bool:
        """Return True if the two sets have a value in common."""
        if self.missing and other.missing:
            return True
        return any(mine.meets(yours) for mine in self.intervals for yours in other.intervals)

    @property
    def empty(self) -> bool:
        """True if the set has no values."""
        return not self.intervals and not self.missing

    @property
    def symmetric(self) -> bool:
        """True if the set contains -x for each of its x."""
        return not self.intervals or (self.intervals[0].low == -self.intervals[-1].high and self == self.mirrored)

    @property
    def mirrored(self) -> "Reals":
        """The set of all -x with x in this one."""
        turned = (Interval(0.0 - i.high, 0.0 - i.low, i.with_high, i.with_low) for i in reversed(self.intervals))
        return Reals(tuple(turned), self.missing)

    @property
    def from_zero(self) -> "Reals":
        """The set's numbers from 0 upwards, without "missing"."""
        return self & Reals((Interval(0.0),), False)

    @property
    def under_abs(self) -> "Reals":
        """The set of all x with abs(x) in this one."""
        up = self.from_zero
        return Reals((), self.missing) | up | up.mirrored

    @property
    def under_sign(self) -> "Reals":
        """The set of all x with sign(x) in this one."""
        return Reals.of((interval for sign, interval in _SIGNS if sign in self), self.missing)

    @property
    def whole(self) -> "Reals":
        """The set's whole numbers from 0 upwards, for counts: every interval begins and ends at a whole number."""
        found: list[Interval] = []
        for i in self.intervals:
            low = 0.0 if i.low < 0 else _whole_from(i.low, i.with_low)
            high = math.inf if i.high == math.inf else -_whole_from(-i.high, i.with_high)
            if low > high:
                continue
            if found and low <= found[-1].high + 1:
                low = found.pop().low
            found.append(Interval(low, high))
        return Reals(tuple(found), False)

    @property
    def lengths(self) -> "Reals":
        """The set's whole numbers from 1 upwards, for lengths of records, unbounded below where it includes 1."""
        kept = self.whole & Reals((Interval(1.0),), False)
        return Reals(tuple(replace(i, low=-math.inf) if i.low == 1 else i for i in kept.intervals), False)


def _whole_from(low: float, with_low: bool) -> float:
    """Return the first whole number from `low` on, which itself counts only if `with_low`."""
    first = float(math.ceil(low)) if math.isfinite(low) else low
    return first if with_low or first > low else first + 1


@dataclass(frozen=True, slots=True)
class Truths(_Set):
    """A set of values of a Boolean column: true, false and missing."""

    true: bool
    false: bool
    missing: bool

    def __and__(self, other: Any) -> "Truths":
        return Truths(self.true and other.true, self.false and other.false, self.missing and other.missing)

    def __invert__(self) -> "Truths":
        return Truths(not self.true, not self.false, not self.missing)

    @property
    def empty(self) -> bool:
        """True if the set has no values."""
        return not (self.true or self.false or self.missing)


@dataclass(frozen=True, slots=True)
class Names(_Set):
    """A set of categories, or all but these (`others`), including unknown ones; and possibly "missing"."""

    names: frozenset[str]
    others: bool
    missing: bool

    def __and__(self, other: Any) -> "Names":
        missing = self.missing and other.missing
        if self.others and other.others:
            return Names(self.names | other.names, True, missing)
        if self.others:
            return Names(other.names - self.names, False, missing)
        names = self.names - other.names if other.others else self.names & other.names
        return Names(names, False, missing)

    def __invert__(self) -> "Names":
        return Names(self.names, not self.others, not self.missing)

    @property
    def empty(self) -> bool:
        """True if the set has no values."""
        return not (self.names or self.others or self.missing)


@dataclass(frozen=True, slots=True)
class Orders(_Set):
    """A set of relations of one signal to another; `missing` means that either is missing, so no comparison holds.

    Categories are equal or not; for unequal ones `less` and `greater` are always both in the set.
    """

    less: bool
    equal: bool
    greater: bool
    missing: bool

    def __and__(self, other: Any) -> "Orders":
        return Orders(
            self.less and other.less,
            self.equal and other.equal,
            self.greater and other.greater,
            self.missing and other.missing,
        )

    def __invert__(self) -> "Orders":
        return Orders(not self.less, not self.equal, not self.greater, not self.missing)

    @property
    def empty(self) -> bool:
        """True if the set has no values."""
        return not (self.less or self.equal or self.greater or self.missing)


Values: TypeAlias = Reals | Truths | Names | Orders


# ---- Terms: negation only inside literals, flat lists, and one literal for each signal in a list.
#
# A term is true or false at a step. `Eventually` and `Globally` refer to the steps from that step to the end; nested ones
# mean "then or later" and "from then on". A formula is true for a record if its term is true at the first step.


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


def of_counts(literal: Literal) -> bool:
    """Return True if a literal compares counts, or is a user function's truth value of a whole record.

    Such a literal is never missing, and the same at every step of a record.
    """
    if isinstance(literal, Opaque):
        e = literal.expression
        return e.type is Type.BOOLEAN and (e.head in COMPARISONS or isinstance(e.head, UserFunction))
    return isinstance(literal, CountIn)


def how_many(own: Opaque) -> tuple[Expression, Reals] | None:
    """Return the count and its allowed numbers if a literal compares one `episodes` or `longest` with a number.

    Return None for other literals, and where all numbers are allowed, or none.
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


def _basis(own: Opaque) -> tuple[Expression, bool]:
    """Return the expression and whether it holds, with >= and > of counts as negated < and <=."""
    e, head = own.expression, own.expression.head
    if of_counts(own) and isinstance(head, Operator) and head in _OPPOSITE:
        return Expression(_OPPOSITE[head], e.args), not own.holds
    return e, own.holds


def _turned(own: Opaque, holds: bool) -> Opaque:
    """Return the literal or its negation, for counts by the opposite comparison, as they are never missing."""
    e, head = own.expression, own.expression.head
    opposite = _OPPOSITE | {less: more for more, less in _OPPOSITE.items()}
    if not holds and of_counts(own) and isinstance(head, Operator) and head in opposite and e.english is None:
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


# ---- Atoms to literals: the values of a signal that an atom allows.

_ORDERS = {
    "<": Orders(True, False, False, False),
    "<=": Orders(True, True, False, False),
    ">": Orders(False, False, True, False),
    ">=": Orders(False, True, True, False),
    "=": Orders(False, True, False, False),
}
_MISSING: dict[Type, Values] = {
    Type.REAL_VECTOR: Reals((), True),
    Type.CATEGORICAL_VECTOR: Names(frozenset(), False, True),
    Type.BOOLEAN_VECTOR: Truths(False, False, True),
}


def has_own_words(e: Expression) -> bool:
    """Return True if a grammar gives the expression a phrase of its own."""
    if e.english is None or not isinstance(e.head, Operator):
        return e.english is not None
    return e.english != e.head.english or e.parts != e.args


def of_length(term: Term) -> bool:
    """Return True if a term is about the number of steps of the record, without a phrase of a grammar."""
    return isinstance(term, ValueIn) and term.signal.head is LENGTH and not has_own_words(term.signal)


def counted(e: Expression) -> tuple[Expression, Reals] | None:
    """Return the operand of `count` and the allowed numbers if an expression compares one count with a number."""
    if e.type is not Type.BOOLEAN or e.head not in COMPARISONS:
        return None
    left, right, relation = _number_last(e)
    if not isinstance(right.head, Number):
        return None
    count, times = _bare(left, Reals.compared(relation, right.head.value))
    return (count.args[0], times.whole) if count.head is COUNT and not has_own_words(count) else None


def literal_of(e: Expression) -> Term:
    """Convert an atom: any Boolean vector except connectives, temporal operators and comparisons that are `counted`.

    The literal may allow values that the signal cannot have.
    """
    if e.head in COMPARISONS and e.type is Type.BOOLEAN_VECTOR:
        return _comparison(e)
    if e.head is MISSING:
        return _missing(e.args[0])
    return ValueIn(e, Truths(True, False, False)) if isinstance(e.head, Attribute) else Opaque(e, True)


def _missing(e: Expression) -> Term:
    if e.type is Type.BOOLEAN_VECTOR and not isinstance(e.head, Attribute):
        return FALSE  # a formula is never missing, nor is the result of a Boolean function
    values = _MISSING[e.type]
    return ValueIn(*_bare(e, values)) if isinstance(values, Reals) else ValueIn(e, values)


def _comparison(e: Expression) -> Term:
    left, right, relation = _number_last(e)
    match right.head:
        case Number(value=value):
            return ValueIn(*_bare(left, Reals.compared(relation, value)))
        case Level(name=name):
            return ValueIn(left, Names(frozenset([name]), False, False))
    if left == right and left.type is Type.REAL_VECTOR:
        return ValueIn(*_bare(left, Reals((Interval(),) if _ORDERS[relation].equal else (), False)))
    if str(right) < str(left):
        left, right, relation = right, left, MIRRORED[relation]
    return OrderIn(left, right, _ORDERS[relation])


def _number_last(e: Expression) -> tuple[Expression, Expression, str]:
    """Return the sides of a comparison and its relation, with a number on the right if there is one."""
    assert isinstance(e.head, Operator)
    left, right = e.args
    if isinstance(left.head, Number):
        return right, left, MIRRORED[e.head.name]
    return left, right, e.head.name


def _bare(signal: Expression, values: Reals) -> tuple[Expression, Reals]:
    """Remove `abs` and `sign` from a signal and order its differences by their text; adapt the values."""
    while (signal.head is ABS or signal.head is SIGN) and not has_own_words(signal):
        values = values.under_abs if signal.head is ABS else values.under_sign
        signal = signal.args[0]
    if signal.head is DIFFERENCE and not has_own_words(signal):
        left, right = signal.args
        last = isinstance(right.head, Number)
        if isinstance(left.head, Number) or (not last and str(right) < str(left)):
            return Expression(DIFFERENCE, (right, left)), values.mirrored  # exact: rounding is symmetric
    return signal, values
