"""What operators are called in plain English, for saying and for reading back alike."""

import re
from dataclasses import dataclass
from functools import lru_cache

from telltree.operators import Operator, Type
from telltree.operators.cells import Cells
from telltree.operators.parameters import Parameter
from telltree.operators.table import ABS, CHANGE, COUNT, DIFFERENCE, ELAPSED, GONE, SIGN
from telltree.speech.normal import APART, kept_whole

_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words with {0}, {1} … for operands and {k}, by their names, for parameters. They begin with some of their own."""

    words: str
    first: bool = False
    """Whether they are looked for before a column's: nothing but telltree has words for what they say."""


@lru_cache(maxsize=256)
def pieces(operator: Operator, words: str) -> tuple[str | int | Parameter, ...]:
    """The words of an operator's phrase, operands by their numbers, and parameters, in order."""
    rows = {row.name: row for row in operator.parameters}
    found: list[str | int | Parameter] = []
    for i, piece in enumerate(_PLACE.split(words)):
        if i % 2:
            found.append(int(piece) if piece.isdigit() else rows[piece])
        elif piece.strip():
            found.append(piece.strip())
    return tuple(found)


def asks_truth(operator: Operator, place: int) -> bool:
    """Whether an operand is true or false, not a number."""
    return any(types[place] is Type.BOOLEAN_VECTOR for types, _ in operator.uses())


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
        CHANGE: Phrase("the change of {0} within {k}", first=True),
    },
    about=lambda operator: operator.makes_numbers or (operator in APART and APART[operator] is kept_whole),
)
