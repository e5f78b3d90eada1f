"""Reading how often something holds."""

from dataclasses import dataclass

from telltree.speech.cursor import Cursor
from telltree.speech.times import Steps
from telltree.speech.values import Interval, Reals
from telltree.speech.words import BOUNDS

_BEHIND = ("or more", "or fewer", "or less")
_BEFORE = ("exactly", "other than", "fewer than", *BOUNDS)
_RELATIONS = BOUNDS | {"exactly": "=", "fewer than": "<", "or more": ">=", "or fewer": "<=", "or less": "<="}


@dataclass(frozen=True, slots=True)
class TimesReader:
    """Reads numbers of steps, or times if steps have a length."""

    cursor: Cursor
    steps: Steps

    def take(self) -> Reals | None:
        """How often something holds, up to the comma; None, without moving the cursor, if the text does not say so."""
        cursor, begun = self.cursor, self.cursor.at
        in_a_row = self.take_in_a_row() is not None
        cursor.at = begun
        word = None if in_a_row else cursor.take("for", "at")
        times = None if word is None else self._ranges(word == "for")
        if times is None:
            cursor.at = begun
            return None
        if word == "for" and self.steps.period is None:
            cursor.at = begun
            cursor.fail("a number of steps, as in 'at more than 3 steps in all', for it is not known how long they are")
        if word == "at":
            cursor.expect("steps", "step")
        cursor.expect("in all")
        cursor.take(",")
        return times.whole

    def take_behind(self) -> Reals | None:
        """How often the preceding clause holds; None, without moving the cursor, if that does not follow."""
        cursor, begun = self.cursor, self.cursor.at
        times = self._ranges(in_time=False) if cursor.take("at") else None
        if times is None or not cursor.take("steps", "step"):
            cursor.at = begun
            return None
        cursor.take("in all")
        return times.whole

    def take_stretches(self) -> Reals | None:
        """In how many stretches something holds; None, without moving the cursor, if the text does not say so."""
        cursor, begun = self.cursor, self.cursor.at
        numbers = self._ranges(in_time=False) if cursor.take("in") else None
        if numbers is None or not cursor.take("separate stretches", "separate stretch", "stretches", "stretch"):
            cursor.at = begun
            return None
        return numbers.whole

    def take_in_a_row(self) -> tuple[Reals, bool] | None:
        """For how many steps in a row something holds, and whether at the longest; None, without moving the cursor, if
        the text does not say so."""
        cursor, begun = self.cursor, self.cursor.at
        for in_time in (False, True)[: 1 + (self.steps.period is not None)]:
            cursor.at = begun
            numbers = self._ranges(in_time) if cursor.take("for") else None
            if numbers is not None and (in_time or cursor.take("steps", "step")) and cursor.take("in a row"):
                return numbers.whole, cursor.take("at the longest") is not None
        cursor.at = begun
        return None

    def _ranges(self, in_time: bool) -> Reals | None:
        times = self._range(in_time)
        while times is not None and self.cursor.take("or"):
            self.cursor.count_part()
            more = self._range(in_time)
            if more is None:
                self.cursor.fail("another number")
            times = times | more
        return times

    def _range(self, in_time: bool) -> Reals | None:
        """One range of step counts."""
        cursor = self.cursor
        word = cursor.take(*_BEFORE)
        amount = self._amount(in_time)
        if amount is None:
            return None
        if word is None and cursor.take("to"):
            high = self._amount(in_time)
            return cursor.fail("a number") if high is None else Reals.of([Interval(amount, high)])
        if word is None:
            word = cursor.take(*_BEHIND) or "exactly"
        return ~Reals.compared("=", amount) if word == "other than" else Reals.compared(_RELATIONS[word], amount)

    def _amount(self, in_time: bool) -> float | None:
        cursor, units = self.cursor, self.steps.units if in_time else ()
        amount = cursor.take_number(units)
        if amount is None or not in_time:
            return amount
        return self.steps.steps(self.steps.amount(amount, cursor.unit or cursor.unit_ahead(units)))
