"""Wording of durations and numbers of steps, in the unit that a person would use."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from telltree.english.terms import Interval, Reals
from telltree.english.words import bare_or_quoted, number_words
from telltree.errors import SettingsError
from telltree.panel.dates import UNITS
from telltree.panel.how_read import clock_of

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
    def of(cls, step: tuple[float | None, str] | None) -> "Steps":
        """Build from a length, if known, and a unit; raise SettingsError if a step cannot have that length."""
        if step is None:
            return cls()
        period, unit = step
        if period is not None and not 0 < period < math.inf:
            raise SettingsError(f"step: a step must have a length above 0, got {period!r}")
        return cls(period if unit else None, unit, timed=True, pace=period, clock=clock_of(step) or "time")

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
