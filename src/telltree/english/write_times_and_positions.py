"""Wording of times: durations and numbers of steps, in suitable units, and positions in the record."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from telltree.english.terms import Eventually, Globally, Term, ValueIn, is_about_position
from telltree.english.tokens import bare_or_quoted, number_words
from telltree.english.value_sets import Interval, Reals
from telltree.errors import SettingsError
from telltree.logic.operators import ELAPSED, GONE, LEFT
from telltree.panel.dates import UNITS, StepLength, time_column_of

# ---- Amounts of time in a suitable unit: 287 days, not 24796800 s. They stay exact.

_SIZES = {unit: Decimal(repr(size)) for unit, size in UNITS.items()}
_LARGER = ("d", "h", "min", "s", "ms", "µs")  # largest first
_SMALLER = ("ms", "µs", "ns")
_MANY_DIGITS = 4  # numbers with more digits are given in another unit
_MANY = 1000  # hours are given in days
_TINY = 0.1  # of seconds; less is given in a smaller unit


def convertible(unit: str) -> tuple[str, ...]:
    """Return the units that amounts of this one may be given in, itself first."""
    return (unit, *(other for other in UNITS if other != unit)) if unit in UNITS else (unit,) if unit else ()


def converted(amount: float, given: str, unit: str) -> float:
    """Convert an amount from one unit to another, exactly but for one rounding."""
    if given == unit or amount - amount:
        return amount
    return float(Decimal(repr(amount)) * _SIZES[given] / _SIZES[unit])


def suited(amounts: Sequence[float], unit: str) -> tuple[list[float], str]:
    """Convert amounts of time to one unit that suits them all, and return them with it."""
    for other in _ordered(amounts, unit):
        scaled = [_scaled(amount, unit, other) for amount in amounts]
        if [converted(amount, other, unit) for amount in scaled] == list(amounts):  # else it would be read as another
            return scaled, other
    return list(amounts), unit


def unit_words(unit: str, one: bool) -> str:
    """Return the name of a unit after a number."""
    return ("day" if one else "days") if unit == "d" else unit


def _ordered(amounts: Sequence[float], unit: str) -> Iterable[str]:
    """Yield suitable units, best first: the largest that gives halves, or hundredths where numbers are long."""
    finite = [amount for amount in amounts if amount - amount == 0]
    most = Decimal(repr(max(map(abs, finite), default=0.0)))
    if unit not in UNITS or not most:
        return
    fitting = [other for other in _LARGER if _SIZES[other] > _SIZES[unit] and most * _SIZES[unit] >= _SIZES[other]]
    scaled = {other: [Decimal(repr(a)) * _SIZES[unit] / _SIZES[other] for a in finite] for other in (*fitting, unit)}
    halves = [other for other in fitting if all(2 * amount % 1 == 0 for amount in scaled[other])]
    yield from (other for other in halves if max(map(abs, scaled[other])) < _MANY)
    if any(_digits(amount) > _MANY_DIGITS for amount in scaled[unit]):
        yield from (other for other in fitting if all(100 * amount % 1 == 0 for amount in scaled[other]))
    yield from halves
    if most * _SIZES[unit] < _TINY:
        smaller = [other for other in _SMALLER if _SIZES[other] < _SIZES[unit]]
        yield from (o for o in smaller if all(Decimal(repr(a)) * _SIZES[unit] / _SIZES[o] % 1 == 0 for a in finite))


def _digits(amount: Decimal) -> int:
    return len(amount.normalize().as_tuple().digits)


def _scaled(amount: float, unit: str, other: str) -> float:
    return amount if amount - amount else float(Decimal(repr(amount)) * _SIZES[unit] / _SIZES[other])


# ---- Sets of step counts in words, as numbers of steps or, if steps have a length, as times.


@dataclass(frozen=True, slots=True)
class Steps:
    """The length of a step, and the wording of step counts that follows from it."""

    period: float | None = None
    """Length of a step, if it is known and has a unit."""
    unit: str = ""
    timed: bool = False
    """True if `elapsed()` is a time rather than a number of steps."""
    pace: float | None = 1.0
    """Increase of `elapsed()` per step, if it is constant."""
    clock: str = "time"
    """Name of the time column, which stands in for a unit where times have none."""

    @classmethod
    def of(cls, step: StepLength | None) -> "Steps":
        """Build from a length, if known, and a unit; raise SettingsError if a step cannot have that length."""
        if step is None:
            return cls()
        period, unit = step
        if period is not None and not 0 < period < math.inf:
            raise SettingsError(f"step: a step must have a length above 0, got {period!r}")
        return cls(period if unit else None, unit, timed=True, pace=period, clock=time_column_of(step) or "time")

    @property
    def units(self) -> tuple[str, ...]:
        """Units that a time may be given in, its own first."""
        return convertible(self.unit)

    def amount(self, number: float, unit: str) -> float:
        """Convert a number in one unit to an amount of time in the steps' own unit."""
        return converted(number, unit if unit in self.units else self.unit, self.unit)

    def in_words(
        self, amounts: Sequence[float], quote_all: bool = False
    ) -> tuple[dict[float, str], Callable[[bool], str]]:
        """Return words for amounts of time, all in one unit, and for that unit, in the singular or the plural."""
        numbers, unit = (amounts, self.unit) if quote_all else suited(amounts, self.unit)

        def named(one: bool) -> str:
            if unit != self.unit or (unit == "d" and not quote_all):
                return unit_words(unit, one)
            if unit:
                return bare_or_quoted(unit, quote_all)
            if not self.timed:
                return "step" if one else "steps"
            return f"{'unit' if one else 'units'} of {bare_or_quoted(self.clock, quote_all)}"

        return dict(zip(amounts, map(number_words, numbers), strict=True)), named

    def in_all(self, times: Reals, quote_all: bool) -> str:
        """Return the words before the counted clause: "for more than 16 s in all,"."""
        if self.period is None:
            return f"{self._at(_step_ranges(times, number_words, timed=False))} in all,"
        ranges, unit = self._in_unit(lambda amount: _step_ranges(times, amount, timed=True), quote_all)
        return f"for {ranges} {unit} in all,"

    def behind(self, times: Reals) -> str | None:
        """Return the words after the counted clause: "at more than 3 steps"; None if no shorter than `says`."""
        return self._at(_step_ranges(times, number_words, timed=False)) if self.period is None else None

    def stretches(self, numbers: Reals, preferred: float) -> str:
        """Write a number of stretches: "in 3 or more separate stretches"; with the `preferred` bound if possible."""
        ranges = _step_ranges(numbers, number_words, timed=False, preferred=preferred)
        return f"in {ranges} stretch" if ranges.endswith(" 1") else f"in {ranges} separate stretches"

    def in_a_row(self, numbers: Reals, preferred: float) -> tuple[bool, str]:
        """Write the length of the longest run: "for more than 3 steps in a row", and True if "never" goes with it.

        It is not given as a time: from the first of three steps to the last, two step lengths pass.
        """
        never, longest, allowed = False, " at the longest", numbers
        match numbers.intervals:
            case (Interval(low=low, high=math.inf),) if low > 0:
                longest = ""
            case (Interval(low=0.0, high=high),):
                never, longest, allowed = True, "", Reals((Interval(high + 1),), False)
        ranges = _step_ranges(allowed, number_words, timed=False, preferred=preferred)
        return never, f"for {ranges} {'step' if ranges.endswith(' 1') else 'steps'} in a row{longest}"

    def _at(self, ranges: str) -> str:
        return f"at {ranges} {'step' if ranges.endswith(' 1') else 'steps'}"

    def _in_unit(self, write: Callable[[Callable[[float], str]], str], quote_all: bool) -> tuple[str, str]:
        """Word numbers of steps as times in one unit, and return the words with the unit."""
        amounts: list[float] = []

        def noted(steps: float) -> str:
            amounts.append(self._time(steps))
            return ""

        write(noted)
        words, unit = self.in_words(amounts, quote_all)
        text = write(lambda steps: words[self._time(steps)])
        return text, unit(is_one(text))

    def _time(self, steps: float) -> float:
        return steps if self.period is None else float(f"{steps * self.period:.12g}")

    def window(self, steps: float, quote_all: bool) -> str:
        """Write a number of steps as a span of time: "5 s", or "5 steps"."""
        if self._in_time(steps):
            return " ".join(self._in_unit(lambda amount: amount(steps), quote_all))
        return f"{number_words(steps)} {'step' if steps == 1 else 'steps'}"

    def span(self, first: float, last: float, quote_all: bool) -> str:
        """Write a range of steps: "3 to 6 s", or "exactly 3 s"."""
        end = self.window(last, quote_all)
        if first == last:
            return f"exactly {end}"
        if self._in_time(first) and self._in_time(last):
            return " ".join(self._in_unit(lambda amount: f"{amount(first)} to {amount(last)}", quote_all))
        if self._in_time(first) or self._in_time(last):
            return f"{self.window(first, quote_all)} to {end}"
        return f"{number_words(first)} to {end}"

    def _in_time(self, steps: float) -> bool:
        """Return True if the number of steps can be recovered from their time."""
        return self.period is not None and self.steps(self._time(steps)) == steps

    def steps(self, amount: float) -> float:
        """Return the number of steps in an amount of time, rounded if it is nearly whole."""
        if self.period is None:
            return amount
        number = amount / self.period
        return float(round(number)) if math.isfinite(number) and abs(number - round(number)) < 1e-6 else number


def is_one(ranges: str) -> bool:
    """Return True if ranges end with exactly 1, so that a singular follows."""
    return ranges.endswith(" 1") or ranges == "1"


def _step_ranges(times: Reals, amount: Callable[[float], str], timed: bool, preferred: float | None = None) -> str:
    """Write a set of numbers of steps."""
    intervals = times.whole.intervals
    match intervals:
        case (Interval(low=0.0, high=before), Interval(low=after, high=math.inf)) if before + 2 == after:
            return f"other than {amount(before + 1)}"
    return " or ".join(_step_range(interval, amount, timed, preferred) for interval in intervals)


def _step_range(i: Interval, amount: Callable[[float], str], timed: bool, preferred: float | None) -> str:
    """Write a range of whole numbers with the bound `preferred`, or else with the rounder bound."""
    if i.low == i.high:
        return f"exactly {amount(i.low)}"
    if i.low > 0 and i.high < math.inf:
        return f"{amount(i.low)} to {amount(i.high)}"
    if i.high == math.inf:
        if i.low > 0 and _bound_is_better(i.low - 1, i.low, preferred):
            return f"more than {amount(i.low - 1)}"
        return f"at least {amount(i.low)}" if timed else f"{amount(i.low)} or more"
    if _bound_is_better(i.high + 1, i.high, preferred):
        return f"{'less' if timed else 'fewer'} than {amount(i.high + 1)}"
    return f"at most {amount(i.high)}" if timed else f"{amount(i.high)} or fewer"


def roundness(number: float) -> tuple[bool, bool, bool]:
    """Return a key by which rounder numbers of steps compare as greater."""
    return number % 10 == 0 and number > 0, number % 5 == 0 and number > 0, number % 2 == 0 and number > 0


def _bound_is_better(bound: float, least: float, preferred: float | None) -> bool:
    """Return True if the excluded bound of a range is the better wording than its least (or greatest) member."""
    return bound == preferred if preferred in (bound, least) else roundness(bound) > roundness(least)


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
        if not (one_sided and is_about_position(literal) and literal.signal.head is ELAPSED):
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
