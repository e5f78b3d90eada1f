"""Sets of values that a signal may have at a step: numbers, truth values, categories, relations; and "missing".

A literal (`ValueIn`) restricts a signal to such a set. Intersection is "and", union "or", complement "not". All three
are exact, so negation can always be pushed into a literal.
"""

import abc
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias


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


ORDERS = {
    "<": Orders(True, False, False, False),
    "<=": Orders(True, True, False, False),
    ">": Orders(False, False, True, False),
    ">=": Orders(False, True, True, False),
    "=": Orders(False, True, False, False),
    "!=": Orders(True, False, True, False),
}
"""The relations that satisfy each comparison."""
Values: TypeAlias = Reals | Truths | Names | Orders
