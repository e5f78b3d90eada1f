"""Where in the record a step is, in words: "more than 8 h have passed", "in the last 20 % of the record"."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from telltree.operators import Expression
from telltree.operators.table import CLOCKS, ELAPSED, LEFT, TIMES
from telltree.speech.atoms import has_own_words
from telltree.speech.terms import Always, Says, Sometime, Term
from telltree.speech.times import Steps
from telltree.speech.values import Interval, Reals
from telltree.speech.words import bare_or_quoted, number_words

NO_UNIT = ("unit of time", "units of time")
"""The unit of times without a unit: singular and plural."""


def of_clock(term: Term) -> bool:
    """Whether a term says where in the record a step is, without a grammar's own words."""
    return isinstance(term, Says) and term.signal.head in CLOCKS and not has_own_words(term.signal)


@dataclass(frozen=True, slots=True)
class When:
    """Says where in the record a step is."""

    steps: Steps

    def passed(self, literal: Says, closed: bool = False) -> str:
        """How much of the record, or of time, has passed, as a clause; `closed` if its "or" might meet others."""
        assert isinstance(literal.values, Reals)
        ranges = [self._range(literal.signal, i) for i in literal.values.intervals]
        said = ranges if closed else [" or ".join(ranges)]
        if literal.signal.head is ELAPSED:
            clauses = [self._have_passed(amount) for amount in said]
        elif literal.signal.head is LEFT:
            clauses = [f"{self._measured(amount)} {'is' if _is_one(amount) else 'are'} left" for amount in said]
        else:
            clauses = [f"{amount} % of the record has passed" for amount in said]
        return clauses[0] if len(clauses) == 1 else f"either {', '.join(clauses[:-1])} or {clauses[-1]}"

    def lasts(self, term: Term) -> str | None:
        """How long the record is, if that is what the term, taken of a record, means.

        Not in steps: a record of 9 steps "lasts 9 steps", but only 8 have passed at the last one.
        """
        if not self.steps.timed:
            return None
        match term:
            case Sometime(Says(values=Reals(intervals=(i,))) as literal):
                one_sided = i.bounded_below and not i.bounded_above
            case Always(Says(values=Reals(intervals=(i,))) as literal):
                one_sided = i.bounded_above and not i.bounded_below
            case _:
                return None
        one_sided = one_sided and of_clock(literal) and literal.signal.head is ELAPSED
        return f"the record lasts {self._measured(self._range(Expression(ELAPSED), i))}" if one_sided else None

    def scope(self, literal: Says) -> str | None:
        """When the step is, as words before a sentence: "after more than 8 h"; None if there are no words for it."""
        assert isinstance(literal.values, Reals)
        if len(literal.values.intervals) != 1:
            return None
        (interval,) = literal.values.intervals
        if literal.signal.head is LEFT:
            return self._last(interval)
        return self._time(interval) if literal.signal.head is ELAPSED else _share(interval)

    def _time(self, i: Interval) -> str:
        numbered = None if self.steps.timed else _numbered(i)
        if numbered is not None:
            return numbered
        if i.bounded_below and i.bounded_above:
            return f"{self._measured(self._range(Expression(ELAPSED), i))} after the start"
        if i.bounded_below:
            return f"after {self._measured(self._range(Expression(ELAPSED), i))}"
        number = number_words(i.high)
        if not i.with_high:
            return f"before {self._have_passed(number)}"
        return f"in the first {self._measured(number)}" if self.steps.timed else f"until {self._have_passed(number)}"

    def _last(self, i: Interval) -> str | None:
        """The last part of the record. Its last 8 steps are those at which fewer than 8 are left."""
        if i.bounded_below or i.with_high != self.steps.timed:
            return None
        if self.steps.timed:
            return f"in the last {self._measured(number_words(i.high))}"
        numbered = _numbered(i)
        return None if numbered is None else numbered.replace("first", "last")

    def _have_passed(self, ranges: str) -> str:
        return f"{self._measured(ranges)} {'has' if _is_one(ranges) else 'have'} passed"

    def _measured(self, ranges: str) -> str:
        """A number, or ranges of numbers, with their unit."""
        if self.steps.unit:
            return f"{ranges} {bare_or_quoted(self.steps.unit)}"
        one, more = NO_UNIT if self.steps.timed else ("step", "steps")
        return f"{ranges} {one if _is_one(ranges) else more}"

    def _range(self, signal: Expression, i: Interval) -> str:
        elapsed = signal.head in TIMES
        number: Callable[[float], str] = number_words if elapsed else percent_words
        less = "fewer than" if elapsed and not self.steps.timed else "less than"
        low, high = number(i.low), number(i.high)
        least, most = "at least" if i.with_low else "more than", "at most" if i.with_high else less
        match i.bounded_below, i.bounded_above:
            case True, False:
                return f"{least} {low}"
            case False, True:
                return f"{most} {high}"
        if i.point:
            return f"exactly {high}"
        if i.with_low != i.with_high:
            return f"{least} {low} and {most} {high}"
        return f"from {low} to {high}" if i.with_low else f"between {low} and {high}"


def _numbered(i: Interval) -> str | None:
    """Steps by their numbers, from 0, or the first few; None if the ends are not whole numbers."""
    whole = all(math.isinf(end) or (end == round(end) and end > 0) for end in (i.low, i.high))
    if not whole or (i.bounded_below and not i.with_low) or (i.bounded_above and i.with_high):
        return None
    first, end = number_words(i.low), number_words(i.high)
    match i.bounded_below, i.bounded_above:
        case True, True if i.low + 1 < i.high:
            return f"in steps {first} to {number_words(i.high - 1)}"
        case True, False:
            return f"after the first {'step' if i.low == 1 else f'{first} steps'}"
        case False, True:
            return f"in the first {'step' if i.high == 1 else f'{end} steps'}"
    return None


def _share(i: Interval) -> str | None:
    """A part of the record."""
    low, high = percent_words(i.low), percent_words(i.high)
    match i.bounded_below, i.bounded_above:
        case True, False if i.with_low:
            return f"from {low} % of the record on"
        case True, False:
            left = rest_words(i.low)
            return None if left is None else f"in the last {left} % of the record"
        case False, True if i.with_high:
            return f"until {high} % of the record has passed"
        case False, True:
            return f"in the first {high} % of the record"
    if i.point or i.with_low != i.with_high:
        return None
    return f"from {low} to {high} % of the record" if i.with_low else f"between {low} and {high} % of the record"


def _is_one(ranges: str) -> bool:
    return ranges.endswith(" 1") or ranges == "1"


def percent_words(share: float) -> str:
    """A share as a number of percent, exactly: 0.07 is 7."""
    return number_words(share) if share - share else _decimal_words(Decimal(repr(share)).scaleb(2))


def rest_words(share: float) -> str | None:
    """The rest of the whole beside a share, in percent; None if that cannot be said exactly."""
    if not 0 < share < 1:
        return None
    words = _decimal_words((1 - Decimal(repr(share))).scaleb(2))
    return words if rest_of(words) == share else None


def share_of(words: str) -> float:
    """The share for a percentage, whatever signs it is written with."""
    if "∞" in words:
        return float(words.replace("−", "-").replace("∞", "inf"))
    return float(Decimal(words.replace("−", "-")).scaleb(-2))


def rest_of(words: str) -> float:
    """The rest of the whole beside a percentage."""
    return float(1 - Decimal(words.replace("−", "-")).scaleb(-2)) if "∞" not in words else -share_of(words)


def _decimal_words(number: Decimal) -> str:
    number = number.normalize()
    text = f"{abs(number):f}" if -9 < number.adjusted() < 15 else str(abs(number)).replace("E", "e")
    return ("−" if number < 0 else "") + text
