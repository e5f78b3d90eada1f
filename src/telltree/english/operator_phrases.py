"""Phrases of operators, by which they are both written and read back."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TypeAlias

from telltree.english.conversion import CONVERSIONS, OpaqueConversion
from telltree.logic import Expression, Type
from telltree.logic import operators as op
from telltree.logic.meaning import Scope
from telltree.logic.operators import Cells, Operator, Parameter

_PLACE = re.compile(r"\{([\w~-]+)\}")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A template with {0}, {1} … for operands, {~0} for a negated one, {k} for a parameter, {a-b} for a window.

    It begins with words, not with an operand.
    """

    words: str
    first: bool = False
    """True if the parser tries the phrase before the names of columns."""
    shorts: tuple["Short", ...] = ()
    of_record: "Phrase | None" = None
    """Phrase for use at the first step of a record: "after the start" rather than "later"."""
    denied: "Phrase | None" = None
    """Phrase for the negation, where the scope of "it is not so that" would be ambiguous."""
    closed: str = ""
    """Template that does not end with an operand, whose end might be unclear."""

    def fitting(self, e: Expression, explicit: bool = False) -> str:
        """Return the template for an expression with this operator."""
        if explicit and self.closed:
            return self.closed
        return next((short.words for short in self.shorts if short.fits(e)), self.words)

    def templates(self) -> Iterator[tuple[str, Mapping[str, float | str]]]:
        """Yield all templates, each with the values of the parameters that it omits."""
        for short in self.shorts:
            yield short.words, {short.parameter: short.value}
        yield self.words, {}
        if self.closed:
            yield self.closed, {}


@dataclass(frozen=True, slots=True)
class Short:
    """A template that omits a parameter with this value, or equal to another: "precisely {b} later" is from b to b."""

    words: str
    parameter: str
    value: float | str

    def fits(self, e: Expression) -> bool:
        """Return True if the template fits an expression."""
        value = e.parameter(self.value) if isinstance(self.value, str) else self.value
        return e.parameter(self.parameter) == value


@dataclass(frozen=True, slots=True)
class Span:
    """Two parameters that bound a window: "3 to 6 steps"."""

    first: Parameter
    last: Parameter


@dataclass(frozen=True, slots=True)
class Opposite:
    """The negation of the operand with this number."""

    operand: int


Piece: TypeAlias = str | int | Opposite | Parameter | Span
"""Words, the number of an operand, its negation, a parameter, or two parameters."""


@lru_cache(maxsize=256)
def pieces(operator: Operator, words: str) -> tuple[Piece, ...]:
    """Split a template into its pieces, in order."""
    rows = {row.name: row for row in operator.parameters}
    found: list[Piece] = []
    for i, piece in enumerate(_PLACE.split(words)):
        if i % 2:
            first, _, last = piece.partition("-")
            if piece.startswith("~"):
                found.append(Opposite(int(piece[1:])))
            else:
                found.append(int(piece) if piece.isdigit() else Span(rows[first], rows[last]) if last else rows[piece])
        elif piece.strip():
            found.append(_tokens(piece))
    return tuple(found)


def _tokens(words: str) -> str:
    """Separate words and punctuation, which are tokens, by single blanks."""
    return " ".join(words.replace(",", " ,").split())


def takes_boolean(operator: Operator, place: int) -> bool:
    """Return True if an operand is Boolean."""
    return any(types[place] is Type.BOOLEAN_VECTOR for types, _ in operator.uses())


def _window(words: str, from_here: str, exactly: str, *, of_record: Phrase | None = None) -> Phrase:
    """Make the phrase of a window, with templates for windows from the current step and of a single step."""
    shorts = (Short(exactly, "a", "b"), Short(from_here, "a", 0.0))
    return Phrase(words, first=True, shorts=shorts, of_record=of_record)


def _over_window(noun: str) -> Phrase:
    """Make the phrase of an aggregate over a window of past steps."""
    opening = f"the {noun} of {{0}}"
    return _window(
        f"{opening} {{a-b}} earlier",
        f"{opening} at that step and up to {{b}} earlier",
        f"{opening} exactly {{b}} earlier",
    )


def _over_record(noun: str) -> Phrase:
    """Make the phrase of an aggregate over a whole record."""
    return Phrase(f"the {noun} of {{0}} over the whole record", first=True)


@cache
def _aggregated(operator: Operator) -> Phrase | None:
    """Derive the phrase of an aggregate from its noun."""
    traits = operator.traits
    if traits.aggregate is None:
        return None
    return (_over_window if traits.scope is Scope.WINDOW else _over_record)(traits.aggregate.noun)


def _until(how: str, event: str, none: str, then: str, denied: Phrase | None = None) -> Phrase:
    """Make the phrase of "until" and "unless", including the case that the event never comes."""
    words = f"{how} the first step at which {event}, {none}, {then}"
    return Phrase(f"from then {words}", first=True, of_record=Phrase(f"from the start {words}"), denied=denied)


_EXISTS, _TO_THE_END = "and there is one", "or to the end if there is none"
_UP_TO = "up to and including"


_THEN_ONE, _ONE = "at that or a later step", "at some step"
_NONE_THEN, _NONE = "after no step from then on at which", "after no step at which"


def _after(one: str) -> Phrase:
    """Make the phrase of one event some steps after another."""
    first = f"{one} {{0}}, and"
    return _window(
        f"{first} some time {{a-b}} later {{1}}",
        f"{first} at that step or up to {{b}} later {{1}}",
        f"{first} precisely {{b}} later {{1}}",
    )


def _never_after(none: str) -> Phrase:
    """Make the phrase for the absence of one event some steps after another."""
    opening, last = f"{none} {{0}} comes,", "one at which {1}"
    short = Short(f"{opening} precisely {{b}} later, {last}", "a", "b")
    return Phrase(f"{opening} {{a-b}} later, {last}", first=True, shorts=(short,))


def _of_both(words: Phrase, of_record: Phrase, denied: Phrase, denied_of_record: Phrase) -> Phrase:
    return replace(words, of_record=of_record, denied=replace(denied, of_record=denied_of_record))


EXTREMES = {
    op.WHEN_MIN: "its lowest value of the whole record",
    op.WHEN_MAX: "its highest value of the whole record",
}
"""Words for the value that a signal reaches at these times."""
_FARTHEST = {op.MIN_WITHIN: True, op.MAX_WITHIN: False}
"""True for the extreme from which signals rise, False for the one from which they fall."""


def is_rise(difference: Expression) -> tuple[bool, Expression, bool] | None:
    """Recognise the distance of a signal from its minimum or maximum of the last steps, the current one included.

    Return True if it has risen (False if fallen), the extreme, and True if the operands are swapped; None for other
    differences.
    """
    one, other = difference.args
    for value, extreme, last in ((one, other, True), (other, one, False)):
        rises = _FARTHEST.get(extreme.head) if isinstance(extreme.head, Operator) else None
        if rises is not None and extreme.args[0] == value and extreme.parameter("a") == 0:
            return rises, extreme, rises != last
    return None


PHRASES: Cells[Phrase] = Cells(
    "plain English, said and read back",
    "english/operator_phrases.py",
    {
        op.ABS: Phrase("the absolute value of {0}"),
        op.SIGN: Phrase("the sign of {0}"),
        op.DIFFERENCE: Phrase("the difference {0} minus {1}"),
        op.COUNT: Phrase("the number of steps at which {0}"),
        op.ELAPSED: Phrase("the time since the start", first=True),
        op.GONE: Phrase("the share of the record that has passed", first=True),
        op.LEFT: Phrase("the time until the end", first=True),
        op.LENGTH: Phrase("the number of steps of the record", first=True),
        op.CHANGE: Phrase("the change of {0} since the later of the start and {k} earlier", first=True),
        op.EVENTUALLY_WITHIN: _window(
            "some time {a-b} later {0}",
            "at that step or up to {b} later {0}",
            "precisely {b} later {0}",
            of_record=_window(
                "sometime {a-b} after the start, {0}",
                "at the first step or up to {b} later {0}",
                "at the step {b} after the start, {0}",
            ),
        ),
        op.GLOBALLY_WITHIN: _window(
            "at every step {a-b} later {0}",
            "at that step and every one up to {b} later {0}",
            "precisely {b} later, if there is such a step, {0}",
            of_record=_window(
                "at all steps {a-b} after the start, {0}",
                "at the first step and every one up to {b} later {0}",
                "at the step {b} after the start, if there is such a step, {0}",
            ),
        ),
        op.ONCE_WITHIN: _window(
            "some time {a-b} earlier {0}", "at that step or up to {b} earlier {0}", "precisely {b} earlier {0}"
        ),
        op.HISTORICALLY_WITHIN: _window(
            "at every step {a-b} earlier {0}",
            "at that step and every one up to {b} earlier {0}",
            "precisely {b} earlier, if there is such a step, {0}",
        ),
        op.ONCE: Phrase("at that step or earlier {0}", first=True),
        op.HISTORICALLY: Phrase("at that step and every earlier one {0}", first=True),
        op.NEXT: Phrase(
            "at the next step {0}",
            first=True,
            of_record=Phrase("at the second step {0}"),
            denied=Phrase(
                "at the next step, if there is one, {~0}",
                first=True,
                of_record=Phrase("at the second step, if there is one, {~0}"),
            ),
        ),
        op.PREVIOUS: Phrase(
            "at the previous step {0}",
            first=True,
            denied=Phrase("at the previous step, if there is one, {~0}", first=True),
        ),
        op.UNTIL: _until("until", "{1}", _EXISTS, "{0}", denied=_until(_UP_TO, "{~0}", _TO_THE_END, "{~1}")),
        op.UNLESS: _until("until", "{1}", _TO_THE_END, "{0}", denied=_until(_UP_TO, "{~0}", _EXISTS, "{~1}")),
        op.SINCE: Phrase(
            "ever since the last step so far at which {1}, and there is one, {0}",
            first=True,
            denied=Phrase(
                "back to and including the last step so far at which {~0}, or to the start if there is none, {~1}",
                first=True,
            ),
        ),
        op.RISE: Phrase(
            "it becomes true that {0}",
            first=True,
            denied=Phrase("it does not change from false to true that {0}", first=True),
        ),
        op.FALL: Phrase(
            "it stops being true that {0}",
            first=True,
            denied=Phrase("it does not change from true to false that {0}", first=True),
        ),
        op.BEFORE: _of_both(
            Phrase(f"{_THEN_ONE} {{0}}, and at a still later one {{1}}", first=True),
            Phrase(f"{_ONE} {{0}}, and at a later one {{1}}"),
            Phrase(f"{_NONE_THEN} {{0}} comes one at which {{1}}", first=True),
            Phrase(f"{_NONE} {{0}} comes one at which {{1}}"),
        ),
        op.BEFORE_WITHIN: _of_both(
            _after(_THEN_ONE),
            _after(_ONE),
            _never_after(_NONE_THEN),
            _never_after(_NONE),
        ),
        op.TOTAL: Phrase("the sum of {0} up to and including that step", first=True),
        op.LATEST: Phrase(
            "the value of {0} at the last step so far at which {1}",
            first=True,
            closed="the value, at the last step so far at which {1}, of {0}",
        ),
        op.SLOPE: Phrase("the slope per step of the line that best fits {0} over the whole record", first=True),
        op.FIRST: Phrase("the first value of {0}", first=True),
        op.LAST: Phrase("the last value of {0}", first=True),
        op.WHEN_MIN: Phrase(f"the time until {{0}} first reaches {EXTREMES[op.WHEN_MIN]}", first=True),
        op.WHEN_MAX: Phrase(f"the time until {{0}} first reaches {EXTREMES[op.WHEN_MAX]}", first=True),
        op.EPISODES: Phrase("the number of separate stretches in which {0}", first=True),
        op.LONGEST: Phrase("the number of steps in the longest stretch in which {0}", first=True),
        op.DISTANCE: Phrase("the distance of the latest values of {0} from {shape}", first=True),
    },
    about=lambda operator: (
        operator.makes_numbers or (operator in CONVERSIONS and isinstance(CONVERSIONS[operator], OpaqueConversion))
    ),
    derived=_aggregated,
)


@lru_cache(maxsize=2)
def beginnings(changes: int) -> frozenset[str]:
    """Return the first words of all phrases; `changes` identifies the state of the table, for the cache."""
    usual = [phrase for row in PHRASES.values() for phrase in (row, row.denied) if phrase is not None]
    phrases = [*usual, *(phrase.of_record for phrase in usual if phrase.of_record is not None)]
    return frozenset(_tokens(_PLACE.split(words)[0]) for phrase in phrases for words, _ in phrase.templates())
