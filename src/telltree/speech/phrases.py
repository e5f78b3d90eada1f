"""What operators are called in plain English, for saying and for reading back alike."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from telltree.operators import Expression, Operator, Type
from telltree.operators.cells import Cells
from telltree.operators.parameters import Parameter
from telltree.operators.table import (
    ABS,
    BEFORE,
    BEFORE_WITHIN,
    CHANGE,
    COUNT,
    DIFFERENCE,
    DISTANCE,
    ELAPSED,
    EPISODES,
    EVENTUALLY_WITHIN,
    FALL,
    FIRST,
    GLOBALLY_WITHIN,
    GONE,
    HISTORICALLY,
    HISTORICALLY_WITHIN,
    LAST,
    LATEST,
    LEFT,
    LENGTH,
    LONGEST,
    MAX,
    MAX_WITHIN,
    MEAN,
    MEAN_WITHIN,
    MIN,
    MIN_WITHIN,
    NEXT,
    ONCE,
    ONCE_WITHIN,
    PREVIOUS,
    RISE,
    SIGN,
    SINCE,
    SLOPE,
    SPREAD,
    SPREAD_WITHIN,
    TOTAL,
    UNLESS,
    UNTIL,
    WHEN_MAX,
    WHEN_MIN,
)
from telltree.speech.normal import APART, KeptWhole
from telltree.speech.words import DASH

_PLACE = re.compile(r"\{([\w-]+)\}")


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words with {0}, {1} … for operands, {k}, by their names, for parameters, and {a-b} for two that bound a window.

    They begin with some of their own.
    """

    words: str
    first: bool = False
    """Whether they are looked for before a column's: nothing but telltree has words for what they say."""
    short: "Short | None" = None
    of_record: "Phrase | None" = None
    """Other words for the same of a whole record, which begins where it is asked: "after the start", not "later"."""

    def fitting(self, e: Expression) -> str:
        """The words for an expression with this operator."""
        short = self.short
        return short.words if short is not None and e.parameter(short.parameter) == short.value else self.words

    def ways(self) -> Iterator[tuple[str, Mapping[str, float]]]:
        """All words that there are for it, and what they leave out."""
        if self.short is not None:
            yield self.short.words, {self.short.parameter: self.short.value}
        yield self.words, {}


@dataclass(frozen=True, slots=True)
class Short:
    """Words that leave out a parameter of the usual value: "some time in the next {b}" is from 0 steps to b."""

    words: str
    parameter: str
    value: float


@dataclass(frozen=True, slots=True)
class Span:
    """Two parameters that bound a window: "3 to 6 steps"."""

    first: Parameter
    last: Parameter


Piece: TypeAlias = str | int | Parameter | Span
"""Words, the number of an operand, a parameter, or two of them."""


@lru_cache(maxsize=256)
def pieces(operator: Operator, words: str) -> tuple[Piece, ...]:
    """The words of an operator's phrase, operands by their numbers, and parameters, in order."""
    rows = {row.name: row for row in operator.parameters}
    found: list[Piece] = []
    for i, piece in enumerate(_PLACE.split(words)):
        if i % 2:
            first, _, last = piece.partition("-")
            found.append(int(piece) if piece.isdigit() else Span(rows[first], rows[last]) if last else rows[piece])
        elif piece.strip():
            found.append(piece.strip())
    return tuple(found)


def asks_truth(operator: Operator, place: int) -> bool:
    """Whether an operand is true or false, not a number."""
    return any(types[place] is Type.BOOLEAN_VECTOR for types, _ in operator.uses())


def _over_window(noun: str) -> Phrase:
    """What is made of the values in a window that is counted back."""
    opening = f"the {noun} of {{0}}"
    return Phrase(f"{opening} {{a-b}} earlier", first=True, short=Short(f"{opening} over the last {{b}}", "a", 0.0))


PHRASES: Cells[Phrase] = Cells(
    "plain English, said and read back",
    "speech/phrases.py",
    {
        ABS: Phrase("the absolute value of {0}"),
        SIGN: Phrase("the sign of {0}"),
        DIFFERENCE: Phrase("the difference {0} minus {1}"),
        COUNT: Phrase("the number of steps at which {0}"),
        ELAPSED: Phrase("the time since the start", first=True),
        GONE: Phrase("the share of the record that has passed", first=True),
        LEFT: Phrase("the time until the end", first=True),
        LENGTH: Phrase("the number of steps of the record", first=True),
        CHANGE: Phrase("the change of {0} within {k}", first=True),
        EVENTUALLY_WITHIN: Phrase(
            "some time {a-b} later {0}",
            first=True,
            short=Short("some time in the next {b} {0}", "a", 0.0),
            of_record=Phrase(
                "some time {a-b} after the start {0}", short=Short("some time within {b} of the start {0}", "a", 0.0)
            ),
        ),
        GLOBALLY_WITHIN: Phrase(
            "all the time from {a-b} later {0}",
            first=True,
            short=Short("throughout the next {b} {0}", "a", 0.0),
            of_record=Phrase(
                "all the time from {a-b} after the start {0}",
                short=Short("all the time until {b} after the start {0}", "a", 0.0),
            ),
        ),
        ONCE_WITHIN: Phrase(
            "some time {a-b} earlier {0}", first=True, short=Short("some time in the last {b} {0}", "a", 0.0)
        ),
        HISTORICALLY_WITHIN: Phrase(
            "all the time from {a-b} earlier {0}", first=True, short=Short("throughout the last {b} {0}", "a", 0.0)
        ),
        ONCE: Phrase("then or earlier {0}", first=True),
        HISTORICALLY: Phrase("all the time until then {0}", first=True),
        NEXT: Phrase("at the next step {0}", first=True, of_record=Phrase("at the second step {0}")),
        PREVIOUS: Phrase("at the step before {0}", first=True),
        UNTIL: Phrase("until {1}, {0}", first=True),
        UNLESS: Phrase("unless and until {1}, {0}", first=True),
        SINCE: Phrase("since the last time {1}, {0}", first=True),
        RISE: Phrase("it becomes true that {0}", first=True),
        FALL: Phrase("it stops being true that {0}", first=True),
        BEFORE: Phrase("then first {0} and later {1}", first=True, of_record=Phrase("first {0} and later {1}")),
        BEFORE_WITHIN: Phrase(
            "then first {0} and {a-b} later {1}",
            first=True,
            short=Short("then first {0} and within {b} {1}", "a", 0.0),
            of_record=Phrase("first {0} and {a-b} later {1}", short=Short("first {0} and within {b} {1}", "a", 0.0)),
        ),
        MEAN_WITHIN: _over_window("mean"),
        MIN_WITHIN: _over_window("minimum"),
        MAX_WITHIN: _over_window("maximum"),
        SPREAD_WITHIN: _over_window("spread"),
        TOTAL: Phrase("the sum of {0} so far", first=True),
        LATEST: Phrase(f"the value of {{0}} {DASH} when last {{1}} {DASH}", first=True),
        MEAN: Phrase("the mean of {0} over the record", first=True),
        MIN: Phrase("the minimum of {0} over the record", first=True),
        MAX: Phrase("the maximum of {0} over the record", first=True),
        SPREAD: Phrase("the spread of {0} over the record", first=True),
        SLOPE: Phrase("the slope of {0} per step over the record", first=True),
        FIRST: Phrase("the first value of {0}", first=True),
        LAST: Phrase("the last value of {0}", first=True),
        WHEN_MIN: Phrase("the time of the first minimum of {0}", first=True),
        WHEN_MAX: Phrase("the time of the first maximum of {0}", first=True),
        EPISODES: Phrase("the number of episodes in which {0}", first=True),
        LONGEST: Phrase("the most steps in a row at which {0}", first=True),
        DISTANCE: Phrase("the distance of {0} from {shape}", first=True),
    },
    about=lambda operator: operator.makes_numbers or (operator in APART and isinstance(APART[operator], KeptWhole)),
)


@lru_cache(maxsize=2)
def beginnings(changes: int) -> frozenset[str]:
    """The words that phrases begin with, as they are after so many changes."""
    phrases = [phrase for usual in PHRASES.values() for phrase in (usual, usual.of_record) if phrase is not None]
    found = (_PLACE.split(words)[0].strip() for phrase in phrases for words, _ in phrase.ways())
    return frozenset(found)
