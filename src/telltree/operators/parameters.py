"""Parameters of operators: constants that say which of several operators is meant, like the k of change(x, k).

A parameter is no operand: it is not evaluated, has no value of its own at a step, and is not rounded. It is written
behind the operands, and stands there in expressions as a number.
"""

import enum
import math
from dataclasses import dataclass

from telltree.operators.numbers import number_text


class Quantity(enum.Enum):
    """What a parameter is a number of; the value is how messages speak of it."""

    STEPS = "a whole number"
    SECONDS = "a number of seconds"
    NUMBER = "a number"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A constant that an operator takes."""

    name: str
    """By which rows and sentences mention it."""
    called: str
    """What messages call it."""
    quantity: Quantity = Quantity.STEPS
    least: float = 1.0
    most: float = math.inf
    example: float = 5.0
    """How it may be written."""

    def __post_init__(self) -> None:
        if not self.allows(self.example):
            raise ValueError(f"parameter {self.name}: {self.example} is no example of {self.wanted}")

    @property
    def wanted(self) -> str:
        """What it must be: "a whole number of at least 1"."""
        bounded = f"{self.quantity.value} of at least {number_text(self.least)}"
        return bounded if math.isinf(self.most) else f"{bounded} and at most {number_text(self.most)}"

    def allows(self, value: float) -> bool:
        """Whether a constant may be given for it."""
        whole = self.quantity is not Quantity.STEPS or float(value).is_integer()
        return whole and self.least <= value <= self.most
