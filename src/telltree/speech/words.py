"""The vocabulary of the English: keywords, numbers, and which of a user's words may stand among them without quotes."""

import math
import re
from functools import lru_cache

from telltree.operators import Shape
from telltree.operators.numbers import number_text
from telltree.speech.numerals import begins_number
from telltree.speech.tokens import quoted

BOUNDS = {
    "below": "<", "less than": "<", "at most": "<=", "above": ">", "more than": ">", "greater than": ">",
    "at least": ">=",
}  # fmt: skip
"""Words for being on one side of a constant or of another signal; telltree itself uses the first of each meaning."""

ALONE = ("missing", "known")
"""Predicates that are said of two signals in other words: "x or y is missing"."""

OPENERS = (
    "at some point", "each at some point", "at no point", "at the end", "at the last step", "at each step", "its value",
    "never", "always", "whenever", "either",
    "all of", "then or later", "from then on", "it is so that", "it is not so that", "it is false that",
    "it is always so", "it is never so", "it is always the case that", "it is never the case that",
    "it is known whether", "it is unknown whether", "it is always false that",
    "it is never false that", "it is always known whether", "it is never known whether",
    "it is always unknown whether", "it is never unknown whether", "that is unknown", "the sign of",
    "the absolute value of", "the difference", "the excess of", "the number of steps at which",
    "the record lasts", "the record has", "the time since the start", "the share of the record", "the change of",
    "it is false or unknown that", "it is true or unknown that",
)  # fmt: skip
"""Words that begin a part of a sentence, and so cannot begin a user's words."""

_OTHERS = (
    *BOUNDS, "exactly", "between", "from", "to", "within", "of", "other than", "equal to", "unequal to", "the same as",
    "different from", "missing", "known", "not", "neither", "nor", "is", "are", "ever", "in all", "steps", "step",
    "either way", "beyond", "at once", "both", "inclusive", "for exactly", "at exactly", "fewer than", "fewer", "more",
    "less", "after the first", "in steps", "after", "before", "until", "in the first", "in the last",
)  # fmt: skip
_KEYWORDS = tuple(tuple(keyword.split()) for keyword in (*OPENERS, *_OTHERS))
OR_AT_THE_START = "or at the start, whichever is later"
"""What follows "its value 5 steps earlier"; its "or" joins no items."""
_JOINTS = {"and", "or", "nor", "while", "minus", "whenever"}
QUOTED = re.compile("“.*?”")
_JOINT = re.compile(" (?:and|or|while) ")
_NUMBER = re.compile(r"[-−+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-−+]?\d+)?|∞)", re.ASCII)


def joins_items(text: str) -> bool:
    """Whether words outside quotes join items."""
    return bool(_JOINT.search(QUOTED.sub("", text)))


def number_words(value: float) -> str:
    """A number in telltree's form: with a true minus sign, as short as possible."""
    sign = "−" if value < 0 else ""
    return sign + ("∞" if math.isinf(value) else number_text(abs(value)))


def shape_words(shape: Shape) -> str:
    """What a shape does, and its picture, or its numbers in quotes where it has no picture."""
    drawn = shape.picture or quoted(" ".join(map(number_words, shape.values)))
    return f"a {shape.name} {drawn}"


def shape_of(text: str) -> Shape | None:
    """The shape that a picture, or numbers between blanks, stand for; None if they are no shape."""
    numbers = [number_of(word) for word in text.split(" ")]
    values = tuple(number for number in numbers if number is not None)
    shape = Shape(values) if len(values) == len(numbers) else Shape.drawn(text)
    return None if shape is None or shape.problem else shape


def number_of(text: str) -> float | None:
    """The number that a word stands for, if any."""
    if not _NUMBER.fullmatch(text):
        return None
    return float(text.replace("−", "-").replace("∞", "inf"))


def openings() -> frozenset[str]:
    """The words that a part of a sentence may begin with, those of operators included."""
    from telltree.speech.phrases import PHRASES, beginnings  # the phrases need words of this module

    return _openings(beginnings(PHRASES.changes))


@lru_cache(maxsize=2)
def _openings(of_operators: frozenset[str]) -> frozenset[str]:
    return of_operators | frozenset(OPENERS)


@lru_cache(maxsize=10_000)
def stands_bare(text: str, numbers: bool = False) -> bool:
    """Whether a user's words are clear without quotes, among telltree's own; `numbers`: even if they begin with one."""
    words = text.split(" ")
    if not text.isprintable() or any(not word or set(word) & set(',;“”"[]') for word in words):
        return False
    lower = tuple(word.lower() for word in words)
    if (not numbers and begins_number(words)) or _JOINTS.intersection(lower):
        return False
    hidden = any(keyword[: len(lower)] == lower for keyword in _KEYWORDS)
    opening = any(lower[: len(keyword)] == keyword for keyword in _KEYWORDS[: len(OPENERS)])
    return not hidden and not opening and " ".join(lower) not in openings()


def bare_or_quoted(text: str, careful: bool = False, numbers: bool = False) -> str:
    """A user's words as they appear in a sentence."""
    return text if not careful and stands_bare(text, numbers) else quoted(text)
