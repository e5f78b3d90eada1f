"""Parser of counts of steps, and of positions in the record."""

from collections.abc import Callable
from dataclasses import dataclass

from telltree.english.cursor import Cursor
from telltree.english.terms import And, Eventually, Globally, Term, ValueIn
from telltree.english.tokens import BOUNDS, TokenKind
from telltree.english.value_sets import Interval, Reals
from telltree.english.write_times_and_positions import Steps, rest_of, share_of
from telltree.logic import Expression
from telltree.logic.operators import ELAPSED, GONE, LEFT, LENGTH, Operator

# ---- Counts of steps.

_BEHIND = ("or more", "or fewer", "or less")
_BEFORE = ("exactly", "other than", "fewer than", *BOUNDS)
_COUNT_RELATIONS = BOUNDS | {"exactly": "=", "fewer than": "<", "or more": ">=", "or fewer": "<=", "or less": "<="}


@dataclass(frozen=True, slots=True)
class CountReader:
    """Reads numbers of steps, or times if steps have a length."""

    cursor: Cursor
    steps: Steps

    def take(self) -> Reals | None:
        """Read a count, up to the comma; None, without moving the cursor, if none comes next."""
        cursor, start = self.cursor, self.cursor.at
        in_a_row = self.take_in_a_row() is not None
        cursor.at = start
        word = None if in_a_row else cursor.take("for", "at")
        times = None if word is None else self._ranges(word == "for")
        if times is None:
            cursor.at = start
            return None
        if word == "for" and self.steps.period is None:
            cursor.at = start
            cursor.fail("a number of steps, as in 'at more than 3 steps in all', for it is not known how long they are")
        if word == "at":
            cursor.expect("steps", "step")
        cursor.expect("in all")
        cursor.take(",")
        return times.whole

    def take_behind(self) -> Reals | None:
        """Read a count after its clause; None, without moving the cursor, if none comes next."""
        cursor, start = self.cursor, self.cursor.at
        times = self._ranges(in_time=False) if cursor.take("at") else None
        if times is None or not cursor.take("steps", "step"):
            cursor.at = start
            return None
        cursor.take("in all")
        return times.whole

    def take_stretches(self) -> Reals | None:
        """Read a number of stretches; None, without moving the cursor, if none comes next."""
        cursor, start = self.cursor, self.cursor.at
        numbers = self._ranges(in_time=False) if cursor.take("in") else None
        if numbers is None or not cursor.take("separate stretches", "separate stretch", "stretches", "stretch"):
            cursor.at = start
            return None
        return numbers.whole

    def take_in_a_row(self) -> tuple[Reals, bool] | None:
        """Read a number of steps in a row, and True if "at the longest" follows.

        Return None, without moving the cursor, if none comes next.
        """
        cursor, start = self.cursor, self.cursor.at
        for in_time in (False, True)[: 1 + (self.steps.period is not None)]:
            cursor.at = start
            numbers = self._ranges(in_time) if cursor.take("for") else None
            if numbers is not None and (in_time or cursor.take("steps", "step")) and cursor.take("in a row"):
                return numbers.whole, cursor.take("at the longest") is not None
        cursor.at = start
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
        """Read one range of step counts."""
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
        return ~Reals.compared("=", amount) if word == "other than" else Reals.compared(_COUNT_RELATIONS[word], amount)

    def _amount(self, in_time: bool) -> float | None:
        cursor, units = self.cursor, self.steps.units if in_time else ()
        amount = cursor.take_number(units)
        if amount is None or not in_time:
            return amount
        return self.steps.steps(self.steps.amount(amount, cursor.unit or cursor.unit_ahead(units)))


# ---- Positions in the record.

_RELATIONS = BOUNDS | {"exactly": "=", "fewer than": "<"}
_PASSED = ("have passed", "has passed")
_LEFT = ("are left", "is left")
_SCOPES = ("after the first", "in steps", "after", "before", "until", "in the first", "in the last")
Bounds = list[tuple[str, str]]
"""Relations and the words of their numbers, which together bound one range."""


@dataclass(slots=True)
class PositionReader:
    """Reads times and shares of the record; each `take` returns None, without moving the cursor, if none comes next."""

    cursor: Cursor
    steps: Steps
    _unit: str = ""
    """Unit of the last number."""

    def sees_passed(self) -> bool:
        """Return True if an amount of time that has passed comes next."""
        start = self.cursor.at
        found = self.take_passed() is not None
        self.cursor.at = start
        return found

    def take_passed(self) -> ValueIn | None:
        """Read how much time, or which share of the record, has passed; or how much time is left."""
        start, ranges = self.cursor.at, self._ranges()
        signal = None if ranges is None else self._signal(*_PASSED, also=_LEFT)
        if ranges is None or signal is None:
            self.cursor.at = start
            return None
        return self._literal(signal, ranges)

    def take_length(self) -> Term | None:
        """Read how long the record lasts."""
        if not self.cursor.take("the record lasts"):
            return None
        if not self.steps.timed:
            self.cursor.at -= len(["the", "record", "lasts"])
            self.cursor.fail("a number of steps, as in 'the record has more than 8 steps', for times are not known")
        ranges = self._ranges()
        if ranges is None or len(ranges) > 1 or not self._takes_time():
            self.cursor.fail(f"how long: a number of {self._counted()}, as in 'more than 8 {self._counted()}'")
        (interval,) = _set(ranges[0], self._time).intervals or (Interval(1.0, 0.0),)
        parts: list[Term] = []
        if interval.bounded_below:
            parts.append(Eventually(_elapsed(Interval(interval.low, with_low=interval.with_low))))
        if interval.bounded_above:
            parts.append(Globally(_elapsed(Interval(high=interval.high, with_high=interval.with_high))))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def take_steps(self) -> ValueIn | None:
        """Read how many steps the record has."""
        if not self.cursor.take("the record has"):
            return None
        ranges = self._ranges(bare=True)
        if ranges is None or self._unit or not self.cursor.take("steps", "step"):
            self.cursor.fail("a number of steps, as in 'more than 8 steps'")
        values = Reals((), False)
        for bounds in ranges:
            values = values | _set(bounds, _plain)
        return ValueIn(Expression(LENGTH), values.lengths)

    def after_start(self) -> Reals:
        """Read a time after the start, or raise SpeechError if none comes next."""
        ranges = self._ranges()
        if ranges is None or not self._takes_time():
            self.cursor.fail(f"a number of {self._counted()}, as in 'more than 8 {self._counted()}'")
        self.cursor.expect("after the start")
        values = self._literal(ELAPSED, ranges).values
        assert isinstance(values, Reals)
        return values

    def take_scope(self) -> ValueIn | None:
        """Read a position before a sentence, up to the comma."""
        start = self.cursor.at
        found = self._scope(self.cursor.take(*_SCOPES))
        if found is None:
            self.cursor.at = start
            return None
        self.cursor.take(",")
        return found

    def _scope(self, word: str | None) -> ValueIn | None:  # noqa: PLR0911  one return a way to say it
        cursor = self.cursor
        match word:
            case "after the first":
                return self._behind_first()
            case "in steps":
                return self._steps()
            case "after":
                ranges = self._ranges()
                return self._literal(ELAPSED, ranges) if ranges is not None and self._takes_time() else None
            case "before" | "until":
                number = self._number()
                signal = None if number is None else self._signal(*_PASSED)
                return (
                    self._literal(signal, [[("<" if word == "before" else "<=", number)]])
                    if number and signal
                    else None
                )
            case "in the first" | "in the last":
                return self._edge(word == "in the first")
        ranges = self._ranges(alone="from")
        if ranges is None:
            return None
        if self._takes_time():
            return self._literal(ELAPSED, ranges) if cursor.take("after the start") else None
        if not self._takes_percent():
            return None
        return self._literal(GONE, ranges) if len(ranges[0]) == 2 or cursor.take("on") else None

    def _behind_first(self) -> ValueIn | None:
        """Read the steps after the first few."""
        number = None if self.steps.timed else "1" if self.cursor.sees("step") else self._number()
        return self._literal(ELAPSED, [[(">=", number)]]) if number is not None and self._takes_time() else None

    def _steps(self) -> ValueIn | None:
        """Read a range of steps by their numbers, counted from 0."""
        first = None if self.steps.timed else self._number()
        last = self._number() if first is not None and self.cursor.take("to") else None
        if first is None or last is None:
            return None
        return ValueIn(Expression(ELAPSED), Reals.of([Interval(_plain(first), _plain(last) + 1, True, False)]))

    def _edge(self, first: bool) -> ValueIn | None:
        """Read the first or the last part of the record. At its first 8 steps, fewer than 8 have passed."""
        clock = ELAPSED if first else LEFT
        if not self.steps.timed and self.cursor.take("step"):
            return self._literal(clock, [[("<", "1")]])
        number = self._number()
        if number is None:
            return None
        if self._takes_percent():
            if first:
                return self._literal(GONE, [[("<", number)]])
            return ValueIn(Expression(GONE), Reals.compared(">", rest_of(number)))
        if not self._takes_time():
            return None
        return self._literal(clock, [[("<=" if self.steps.timed else "<", number)]])

    def _signal(self, *end: str, also: tuple[str, ...] = ()) -> Operator | None:
        """Return the clock that numbers belong to, by the words after them; `also` are those for the time left."""
        if self._takes_percent():
            return GONE if self.cursor.take(*end) else None
        if self._takes_time():
            return ELAPSED if self.cursor.take(*end) else LEFT if self.cursor.take(*also) else None
        if self.cursor.next.kind is TokenKind.WORD and not self._unit:
            self.cursor.at += 1
            wrong = self.cursor.sees(*end, *also)
            self.cursor.at -= 1
            if wrong:
                self.cursor.fail(f"a number of {self._counted()}")
        return None

    def _counted(self) -> str:
        return self.steps.unit or (f"units of {self.steps.clock}" if self.steps.timed else "steps")

    def _takes_percent(self) -> bool:
        cursor, start = self.cursor, self.cursor.at
        percent = self._unit == "%" or (not self._unit and cursor.take("%"))
        if percent and self.steps.pace is None and cursor.sees("of the record's steps"):
            cursor.fail("a share of the record's time, for its steps differ in length")
        if percent and not self.steps.timed and cursor.sees("of the record's time"):
            cursor.fail("a share of the record's steps, for times are not known")
        if percent and cursor.take("of the record", "of the record's time", "of the record's steps"):
            return True
        cursor.at = start
        return False

    def _takes_time(self) -> bool:
        if self._unit or self.steps.unit:
            self._unit = self._unit or self.cursor.take_unit(self.steps.units) or ""
            return self._unit in self.steps.units
        if not self.steps.timed:
            return self.cursor.take("steps", "step") is not None
        cursor, start = self.cursor, self.cursor.at
        if cursor.take("units of", "unit of") and (cursor.take_words(self.steps.clock) or cursor.take("time")):
            return True
        cursor.at = start
        return False

    def _ranges(self, alone: str = "", bare: bool = False) -> list[Bounds] | None:
        """Read ranges joined by "or".

        `alone` is a word that may precede a single number, which is then the lower bound; with `bare`, a number may
        stand for itself.
        """
        found = []
        while True:
            exact = self._number() if bare else None
            bounds = self._bounds(alone) if exact is None else [("=", exact)]
            if bounds is None:
                return None
            found.append(bounds)
            if not self.cursor.take("or"):
                return found

    def _bounds(self, alone: str) -> Bounds | None:
        cursor = self.cursor
        word = cursor.take("between", "from", *_RELATIONS)
        low = None if word is None else self._number()
        if word is None or low is None:
            return None
        if word not in ("between", "from"):
            more = self._second() if word in ("more than", "at least", "above", "greater than") else []
            return None if more is None else [(_RELATIONS[word], low), *more]
        if not cursor.take("and" if word == "between" else "to"):
            return [(">=", low)] if word == alone else None
        high = self._number()
        equal = "" if word == "between" else "="
        return None if high is None else [(f">{equal}", low), (f"<{equal}", high)]

    def _second(self) -> Bounds | None:
        """Read the other bound, if there is one."""
        cursor = self.cursor
        if self._unit or not cursor.sees("and at most", "and less than", "and fewer than", "and below"):
            return []
        cursor.at += 1
        word, high = cursor.expect(*_RELATIONS), self._number()
        return None if high is None else [(_RELATIONS[word], high)]

    def _number(self) -> str | None:
        """Read a number, and return its exact digits; a unit may follow without a space."""
        found = self.cursor.numeral(("%", *self.steps.units))
        if found is None:
            return None
        self._unit = found.rest
        self.cursor.at += found.length
        return found.digits

    def _literal(self, head: Operator, ranges: list[Bounds]) -> ValueIn:
        values = Reals((), False)
        for bounds in ranges:
            values = values | _set(bounds, share_of if head is GONE else self._time)
        return ValueIn(Expression(head), values)

    def _time(self, words: str) -> float:
        """Convert a number to an amount of time by the unit that was last read."""
        return self.steps.amount(_plain(words), self._unit)


def _elapsed(interval: Interval) -> ValueIn:
    return ValueIn(Expression(ELAPSED), Reals.of([interval]))


def _set(bounds: Bounds, value: Callable[[str], float]) -> Reals:
    found = ~Reals((), True)
    for relation, number in bounds:
        found = found & Reals.compared(relation, value(number))
    return found


def _plain(words: str) -> float:
    return float(words.replace("∞", "inf"))
