"""Wording of positions in the record: "more than 8 h have passed", "in the last 20 % of the record"."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from telltree.english.durations import Steps, is_one, roundness
from telltree.english.terms import Eventually, Globally, Interval, Reals, Term, ValueIn, has_own_words
from telltree.english.words import number_words
from telltree.logic.operators import CLOCKS, ELAPSED, GONE, LEFT


def of_clock(term: Term) -> bool:
    """Return True if a term is about the position of a step in the record, without a phrase of a grammar."""
    return isinstance(term, ValueIn) and term.signal.head in CLOCKS and not has_own_words(term.signal)


@dataclass(frozen=True, slots=True)
class PositionWriter:
    """Writes positions in the record, and lengths of records."""

    steps: Steps

    def passed(self, literal: ValueIn, closed: bool = False) -> str:
        """Write how much of the record, or of time, has passed; `closed` if its "or" might be confused with others."""
        assert isinstance(literal.values, Reals)
        if literal.signal.head is GONE:
            ranges = [_position_range(i, percent_words, "less than") for i in literal.values.intervals]
            return _one_of([f"{amount} % of {self._record} has passed" for amount in _joined_ranges(ranges, closed)])
        words = self._words(literal.values.intervals)
        ranges = _joined_ranges([words.ranged(i) for i in literal.values.intervals], closed)
        if literal.signal.head is ELAPSED:
            return _one_of([words.have_passed(amount) for amount in ranges])
        return _one_of([f"{words.measured(amount)} {'is' if is_one(amount) else 'are'} left" for amount in ranges])

    def lasts(self, term: Term) -> str | None:
        """Write the duration of the record if a term, evaluated for a record, is a bound on it; else return None.

        Durations are never in steps: a record of 9 steps "lasts 9 steps", but only 8 have passed at the last one.
        """
        if not self.steps.timed:
            return None
        match term:
            case Eventually(ValueIn(values=Reals(intervals=(i,))) as literal):
                one_sided = i.bounded_below and not i.bounded_above
            case Globally(ValueIn(values=Reals(intervals=(i,))) as literal):
                one_sided = i.bounded_above and not i.bounded_below
            case _:
                return None
        if not (one_sided and of_clock(literal) and literal.signal.head is ELAPSED):
            return None
        words = self._words([i])
        return f"the record lasts {words.measured(words.ranged(i))}"

    def has(self, literal: ValueIn, closed: bool = False) -> str:
        """Write the number of steps of the record as a clause."""
        assert isinstance(literal.values, Reals)
        ranges = [_number_of_steps(i) for i in literal.values.intervals]
        amounts = _joined_ranges(ranges, closed)
        return _one_of([f"the record has {amount} {'step' if is_one(amount) else 'steps'}" for amount in amounts])

    def after_start(self, i: Interval) -> str:
        """Write a time after the start: "more than 5 steps after the start"."""
        words = self._words([i])
        return f"{words.measured(words.ranged(i))} after the start"

    def scope(self, literal: ValueIn) -> str | None:
        """Write a position as words before a sentence: "after more than 8 h"; None if there are no words for it."""
        assert isinstance(literal.values, Reals)
        if len(literal.values.intervals) != 1:
            return None
        (interval,) = literal.values.intervals
        if literal.signal.head is LEFT:
            return self._last(interval)
        return self._time(interval) if literal.signal.head is ELAPSED else self._share(interval)

    def _time(self, i: Interval) -> str:
        numbered = None if self.steps.timed else _numbered(i)
        if numbered is not None:
            return numbered
        words = self._words([i])
        if i.bounded_below and i.bounded_above:
            return f"{words.measured(words.ranged(i))} after the start"
        if i.bounded_below:
            return f"after {words.measured(words.ranged(i))}"
        number = words.numbers[i.high]
        if not i.with_high:
            return f"before {words.have_passed(number)}"
        return f"in the first {words.measured(number)}" if self.steps.timed else f"until {words.have_passed(number)}"

    def _last(self, i: Interval) -> str | None:
        """Write the last part of the record. At its last 8 steps, fewer than 8 are left."""
        if i.bounded_below or i.with_high != self.steps.timed:
            return None
        if self.steps.timed:
            words = self._words([i])
            return f"in the last {words.measured(words.numbers[i.high])}"
        numbered = _numbered(i)
        return None if numbered is None else numbered.replace("first", "last")

    def _share(self, i: Interval) -> str | None:
        """Write a part of the record in percent."""
        low, high, record = percent_words(i.low), percent_words(i.high), self._record
        match i.bounded_below, i.bounded_above:
            case True, False if i.with_low:
                return f"from {low} % of {record} on"
            case True, False:
                left = rest_words(i.low)
                return None if left is None else f"in the last {left} % of {record}"
            case False, True if i.with_high:
                return f"until {high} % of {record} has passed"
            case False, True:
                return f"in the first {high} % of {record}"
        if i.point or i.with_low != i.with_high:
            return None
        return f"from {low} to {high} % of {record}" if i.with_low else f"between {low} and {high} % of {record}"

    @property
    def _record(self) -> str:
        """The noun that percentages refer to: of unequal steps, the share of time is not the share of steps."""
        return "the record" if self.steps.pace is not None else "the record's time"

    def _words(self, intervals: Sequence[Interval]) -> "_DurationWords":
        ends = [end for i in intervals for end in (i.low, i.high)]
        return _DurationWords(*self.steps.in_words(ends), "less than" if self.steps.timed else "fewer than")


@dataclass(frozen=True, slots=True)
class _DurationWords:
    """Words for some amounts of time, and for their common unit."""

    numbers: Mapping[float, str]
    unit: Callable[[bool], str]
    less: str

    def ranged(self, i: Interval) -> str:
        """Write a range without its unit."""
        return _position_range(i, self.numbers.__getitem__, self.less)

    def measured(self, ranges: str) -> str:
        """Add the unit to a number or to ranges."""
        return f"{ranges} {self.unit(is_one(ranges))}"

    def have_passed(self, ranges: str) -> str:
        """Add "have passed" to ranges."""
        return f"{self.measured(ranges)} {'has' if is_one(ranges) else 'have'} passed"


def _joined_ranges(ranges: list[str], closed: bool) -> list[str]:
    return ranges if closed else [" or ".join(ranges)]


def _one_of(clauses: list[str]) -> str:
    return clauses[0] if len(clauses) == 1 else f"either {', '.join(clauses[:-1])} or {clauses[-1]}"


def _position_range(i: Interval, number: Callable[[float], str], less: str) -> str:
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


def _number_of_steps(i: Interval) -> str:
    """Write a range of numbers of steps with the rounder bound."""
    if i.high == 1:
        return "exactly 1"
    if i.bounded_below and not i.bounded_above and roundness(i.low - 1) > roundness(i.low):
        return f"more than {number_words(i.low - 1)}"
    if i.bounded_above and not i.bounded_below and roundness(i.high + 1) > roundness(i.high):
        return f"fewer than {number_words(i.high + 1)}"
    return _position_range(i, number_words, "fewer than")


def _numbered(i: Interval) -> str | None:
    """Write a range of steps by their numbers, counted from 0; None if the ends are not whole numbers."""
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


def percent_words(share: float) -> str:
    """Write a share in percent, exactly: 7 for 0.07."""
    return number_words(share) if share - share else _decimal_words(Decimal(repr(share)).scaleb(2))


def rest_words(share: float) -> str | None:
    """Write 1 minus a share in percent; None if that is not exact."""
    if not 0 < share < 1:
        return None
    words = _decimal_words((1 - Decimal(repr(share))).scaleb(2))
    return words if rest_of(words) == share else None


def share_of(words: str) -> float:
    """Read a percentage as a share."""
    if "∞" in words:
        return float(words.replace("−", "-").replace("∞", "inf"))
    return float(Decimal(words.replace("−", "-")).scaleb(-2))


def rest_of(words: str) -> float:
    """Read a percentage as 1 minus its share."""
    return float(1 - Decimal(words.replace("−", "-")).scaleb(-2)) if "∞" not in words else -share_of(words)


def _decimal_words(number: Decimal) -> str:
    number = number.normalize()
    text = f"{abs(number):f}" if -9 < number.adjusted() < 15 else str(abs(number)).replace("E", "e")
    return ("−" if number < 0 else "") + text


# ---- Sentences that missing values may leave open: "at some point b; and, unless missing values leave it open: a".

UNLESS = "unless missing values leave it open"
_IN_QUOTES = re.compile(r'"[^"]*"|“[^”]*”')
_BEGINS = re.compile(rf"(?:^|; and,? |; ){UNLESS}[,:] ", re.IGNORECASE)


def with_open(known: str, left_open: str) -> str:
    """Join a text that is certain and one that missing values may leave open; either may be empty."""
    if not left_open:
        return known
    if not known:
        several = "; " in left_open or ", and " in left_open
        return f"{UNLESS}{':' if several else ','} {left_open}"
    return f"{known}; and, {UNLESS}: {left_open}"


def parted(text: str) -> tuple[str, str]:
    """Split such a text into its certain part and its open part, which may be empty."""
    bare = _IN_QUOTES.sub(lambda found: "“" * len(found[0]), text)  # of the same length
    begins = _BEGINS.search(bare)
    return (text, "") if begins is None else (text[: begins.start()], text[begins.end() :])


def asks_what_is_missing(text: str) -> bool:
    """Return True if a text mentions that values are missing, known or unknown."""
    return re.search(r"\b(missing|known|unknown)\b", _IN_QUOTES.sub("", text)) is not None
