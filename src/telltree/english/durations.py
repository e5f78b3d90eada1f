"""Times and step counts in words, in the unit that a person would use."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from telltree.english.terms import Interval, Reals
from telltree.english.words import bare_or_quoted, number_words
from telltree.errors import SettingsError
from telltree.panel.dates import UNITS, time_column_of

# ---- Amounts of time in the unit that a person would use: 287 days, not 24796800 s; what is said is exact.

_SIZES = {unit: Decimal(repr(size)) for unit, size in UNITS.items()}
_LARGER = ("d", "h", "min", "s", "ms", "µs")  # largest first
_SMALLER = ("ms", "µs", "ns")
_MANY_DIGITS = 4  # more are not a number that anybody says
_MANY = 1000  # hours are told in days
_TINY = 0.1  # of seconds; what is less is told in a smaller unit


def convertible(unit: str) -> tuple[str, ...]:
    """The units in which amounts of this one may be given, itself first."""
    return (unit, *(other for other in UNITS if other != unit)) if unit in UNITS else (unit,) if unit else ()


def converted(amount: float, said: str, unit: str) -> float:
    """An amount that was given in one unit, in another; exact but for one rounding."""
    if said == unit or amount - amount:
        return amount
    return float(Decimal(repr(amount)) * _SIZES[said] / _SIZES[unit])


def suited(amounts: Sequence[float], unit: str) -> tuple[list[float], str]:
    """Amounts of time in one unit that suits them all, and this unit."""
    for other in _ordered(amounts, unit):
        scaled = [_scaled(amount, unit, other) for amount in amounts]
        if [converted(amount, other, unit) for amount in scaled] == list(amounts):  # else it would be read as another
            return scaled, other
    return list(amounts), unit


def unit_words(unit: str, one: bool) -> str:
    """What a unit is called behind a number."""
    return ("day" if one else "days") if unit == "d" else unit


def _ordered(amounts: Sequence[float], unit: str) -> Iterable[str]:
    """The units that may suit, the best first: the largest of which halves will do, or hundredths of long numbers."""
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


# ---- How often: sets of step counts in words, as numbers of steps or, if steps have a length, as times.


@dataclass(frozen=True, slots=True)
class Steps:
    """The unit in which steps are counted."""

    period: float | None = None
    """How long a step is, if that is known and has a unit"""
    unit: str = ""
    timed: bool = False
    """Whether `elapsed()` is a time, not a number of steps"""
    pace: float | None = 1.0
    """By how much `elapsed()` grows at a step, if that is always the same"""
    clock: str = "time"
    """What has passed if times have no unit: the name of their column"""

    @classmethod
    def of(cls, step: tuple[float | None, str] | None) -> "Steps":
        """The same from a length, if known, and a unit; SettingsError if a step cannot have that length."""
        if step is None:
            return cls()
        period, unit = step
        if period is not None and not 0 < period < math.inf:
            raise SettingsError(f"step: a step must have a length above 0, got {period!r}")
        return cls(period if unit else None, unit, timed=True, pace=period, clock=time_column_of(step) or "time")

    @property
    def units(self) -> tuple[str, ...]:
        """The units that a time may be given in, its own first."""
        return convertible(self.unit)

    def amount(self, number: float, unit: str) -> float:
        """An amount of time in its own unit, from a number in the unit that it was given in."""
        return converted(number, unit if unit in self.units else self.unit, self.unit)

    def told(self, amounts: Sequence[float], careful: bool = False) -> tuple[dict[float, str], Callable[[bool], str]]:
        """Words for amounts of time, all in one unit, and for the unit behind them, if only one of it or more."""
        numbers, unit = (amounts, self.unit) if careful else suited(amounts, self.unit)

        def named(one: bool) -> str:
            if unit != self.unit or (unit == "d" and not careful):
                return unit_words(unit, one)
            if unit:
                return bare_or_quoted(unit, careful)
            if not self.timed:
                return "step" if one else "steps"
            return f"{'unit' if one else 'units'} of {bare_or_quoted(self.clock, careful)}"

        return dict(zip(amounts, map(number_words, numbers), strict=True)), named

    def says(self, times: Reals, careful: bool) -> str:
        """The words before what is counted: "for more than 16 s in all,"."""
        if self.period is None:
            return f"{self._at(_ranges(times, number_words, timed=False))} in all,"
        said, unit = self._in_unit(lambda amount: _ranges(times, amount, timed=True), careful)
        return f"for {said} {unit} in all,"

    def behind(self, times: Reals) -> str | None:
        """The words behind what is counted: "at more than 3 steps"; None if no shorter than the words before it."""
        return self._at(_ranges(times, number_words, timed=False)) if self.period is None else None

    def stretches(self, numbers: Reals, named: float) -> str:
        """In how many stretches: "in 3 or more separate stretches"; `named`: the number to say, if it is a bound."""
        said = _ranges(numbers, number_words, timed=False, named=named)
        return f"in {said} stretch" if said.endswith(" 1") else f"in {said} separate stretches"

    def in_a_row(self, numbers: Reals, named: float) -> tuple[bool, str]:
        """For how many steps at the longest: whether never for so many, and "for more than 3 steps in a row".

        Not as a time: from the first of three steps to the last are two of their lengths.
        """
        never, longest, asked = False, " at the longest", numbers
        match numbers.intervals:
            case (Interval(low=low, high=math.inf),) if low > 0:
                longest = ""
            case (Interval(low=0.0, high=high),):
                never, longest, asked = True, "", Reals((Interval(high + 1),), False)
        said = _ranges(asked, number_words, timed=False, named=named)
        return never, f"for {said} {'step' if said.endswith(' 1') else 'steps'} in a row{longest}"

    def _at(self, said: str) -> str:
        return f"at {said} {'step' if said.endswith(' 1') else 'steps'}"

    def _in_unit(self, said: Callable[[Callable[[float], str]], str], careful: bool) -> tuple[str, str]:
        """What is said of numbers of steps, as times in one unit, and the unit."""
        amounts: list[float] = []

        def noted(steps: float) -> str:
            amounts.append(self._time(steps))
            return ""

        said(noted)
        words, unit = self.told(amounts, careful)
        text = said(lambda steps: words[self._time(steps)])
        return text, unit(is_one(text))

    def _time(self, steps: float) -> float:
        return steps if self.period is None else float(f"{steps * self.period:.12g}")

    def window(self, steps: float, careful: bool) -> str:
        """A number of steps as a span of time: "5 s", or "5 steps"."""
        if self._in_time(steps):
            return " ".join(self._in_unit(lambda amount: amount(steps), careful))
        return f"{number_words(steps)} {'step' if steps == 1 else 'steps'}"

    def span(self, first: float, last: float, careful: bool) -> str:
        """From one number of steps to another: "3 to 6 s", or "exactly 3 s"."""
        end = self.window(last, careful)
        if first == last:
            return f"exactly {end}"
        if self._in_time(first) and self._in_time(last):
            return " ".join(self._in_unit(lambda amount: f"{amount(first)} to {amount(last)}", careful))
        if self._in_time(first) or self._in_time(last):
            return f"{self.window(first, careful)} to {end}"
        return f"{number_words(first)} to {end}"

    def _in_time(self, steps: float) -> bool:
        """Whether the time that so many steps take says how many they are."""
        return self.period is not None and self.steps(self._time(steps)) == steps

    def steps(self, amount: float) -> float:
        """How many steps an amount of time is; rounded if it is nearly a whole number."""
        if self.period is None:
            return amount
        number = amount / self.period
        return float(round(number)) if math.isfinite(number) and abs(number - round(number)) < 1e-6 else number


def is_one(ranges: str) -> bool:
    """Whether what is said of a number ends with just one."""
    return ranges.endswith(" 1") or ranges == "1"


def _ranges(times: Reals, amount: Callable[[float], str], timed: bool, named: float | None = None) -> str:
    """Ranges of numbers of steps."""
    intervals = times.whole.intervals
    match intervals:
        case (Interval(low=0.0, high=before), Interval(low=after, high=math.inf)) if before + 2 == after:
            return f"other than {amount(before + 1)}"
    return " or ".join(_range(interval, amount, timed, named) for interval in intervals)


def _range(i: Interval, amount: Callable[[float], str], timed: bool, named: float | None) -> str:
    """The way to say a range of whole numbers that has the number `named`, or else the rounder one."""
    if i.low == i.high:
        return f"exactly {amount(i.low)}"
    if i.low > 0 and i.high < math.inf:
        return f"{amount(i.low)} to {amount(i.high)}"
    if i.high == math.inf:
        if i.low > 0 and _is_named(i.low - 1, i.low, named):
            return f"more than {amount(i.low - 1)}"
        return f"at least {amount(i.low)}" if timed else f"{amount(i.low)} or more"
    if _is_named(i.high + 1, i.high, named):
        return f"{'less' if timed else 'fewer'} than {amount(i.high + 1)}"
    return f"at most {amount(i.high)}" if timed else f"{amount(i.high)} or fewer"


def roundness(number: float) -> tuple[bool, bool, bool]:
    """How round a number of steps is; rounder ones compare as greater."""
    return number % 10 == 0 and number > 0, number % 5 == 0 and number > 0, number % 2 == 0 and number > 0


def _is_named(bound: float, least: float, named: float | None) -> bool:
    """Whether to say the bound of a range, rather than the least (or most) that is in it."""
    return bound == named if named in (bound, least) else roundness(bound) > roundness(least)
