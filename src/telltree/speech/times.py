"""How often: sets of step counts in words, as numbers of steps or, if steps have a length, as times."""

import math
from dataclasses import dataclass

from telltree.errors import SettingsError
from telltree.speech.values import Interval, Reals
from telltree.speech.words import bare_or_quoted, number_words


@dataclass(frozen=True, slots=True)
class Steps:
    """The unit in which steps are counted."""

    period: float | None = None
    """How long a step is, if that is known"""
    unit: str = ""
    timed: bool = False
    """Whether `elapsed()` is a time, not a number of steps"""

    @classmethod
    def of(cls, step: tuple[float | None, str] | None) -> "Steps":
        """The same from a length, if known, and a unit; SettingsError if a step cannot have that length."""
        if step is None:
            return cls()
        period, unit = step
        if period is not None and not 0 < period < math.inf:
            raise SettingsError(f"step: a step must have a length above 0, got {period!r}")
        return cls(period if unit else None, unit, timed=True)

    def says(self, times: Reals, careful: bool) -> str:
        """The words before what is counted: "for more than 16 s in all,"."""
        said = self._ranges(times.whole.intervals)
        if self.period is not None:
            return f"for {said} {bare_or_quoted(self.unit, careful)} in all,"
        return f"{self._at(said)} in all,"

    def behind(self, times: Reals) -> str | None:
        """The words behind what is counted: "at more than 3 steps"; None if no shorter than the words before it."""
        return self._at(self._ranges(times.whole.intervals)) if self.period is None else None

    def _at(self, said: str) -> str:
        return f"at {said} {'step' if said.endswith(' 1') else 'steps'}"

    def _ranges(self, intervals: tuple[Interval, ...]) -> str:
        match intervals:
            case (Interval(low=0.0, high=before), Interval(low=after, high=math.inf)) if before + 2 == after:
                return f"other than {self._amount(before + 1)}"
        return " or ".join(map(self._range, intervals))

    def _range(self, i: Interval) -> str:
        """The way to say a range of whole numbers that has the rounder number."""
        if i.low == i.high:
            return f"exactly {self._amount(i.low)}"
        if i.low > 0 and i.high < math.inf:
            return f"{self._amount(i.low)} to {self._amount(i.high)}"
        if i.high == math.inf:
            strict = i.low > 0 and _roundness(i.low - 1) > _roundness(i.low)
            return f"more than {self._amount(i.low - 1)}" if strict else self._at_least(self._amount(i.low))
        strict = _roundness(i.high + 1) > _roundness(i.high)
        fewer = "fewer than" if self.period is None else "less than"
        return f"{fewer} {self._amount(i.high + 1)}" if strict else self._at_most(self._amount(i.high))

    def _at_least(self, amount: str) -> str:
        return f"{amount} or more" if self.period is None else f"at least {amount}"

    def _at_most(self, amount: str) -> str:
        return f"{amount} or fewer" if self.period is None else f"at most {amount}"

    def _amount(self, steps: float) -> str:
        return number_words(steps if self.period is None else float(f"{steps * self.period:.12g}"))

    def window(self, steps: float, careful: bool) -> str:
        """A number of steps as a span of time: "5 s", or "5 steps"."""
        if self._in_time(steps):
            return f"{self._amount(steps)} {bare_or_quoted(self.unit, careful)}"
        return f"{number_words(steps)} {'step' if steps == 1 else 'steps'}"

    def span(self, first: float, last: float, careful: bool) -> str:
        """From one number of steps to another: "3 to 6 s", or "exactly 3 s"."""
        end = self.window(last, careful)
        if first == last:
            return f"exactly {end}"
        if self._in_time(first) != self._in_time(last):
            return f"{self.window(first, careful)} to {end}"
        return f"{self._amount(first) if self._in_time(first) else number_words(first)} to {end}"

    def _in_time(self, steps: float) -> bool:
        """Whether the time that so many steps take says how many they are."""
        return self.period is not None and self.steps(float(self._amount(steps))) == steps

    def steps(self, amount: float) -> float:
        """How many steps an amount of time is; rounded if it is nearly a whole number."""
        if self.period is None:
            return amount
        number = amount / self.period
        return float(round(number)) if math.isfinite(number) and abs(number - round(number)) < 1e-6 else number


def _roundness(number: float) -> tuple[bool, bool, bool]:
    return number % 10 == 0 and number > 0, number % 5 == 0 and number > 0, number % 2 == 0 and number > 0
