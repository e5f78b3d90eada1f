"""Parameters of operators: constants that say which of several operators is meant, like the k of change(x, k).

A parameter is no operand: it is not evaluated, has no value of its own at a step, and is not rounded. It is written
behind the operands, and stands there in expressions as a number, or as a shape.
"""

import enum
import math
from dataclasses import dataclass

from telltree.operators.numbers import number_text
from telltree.operators.shape import LEAST_STEPS, MOST_STEPS, Shape
from telltree.operators.types import Type


class Quantity(enum.Enum):
    """What a parameter is a number of; the value is how messages speak of it."""

    STEPS = "a whole number"
    SECONDS = "a number of seconds"
    NUMBER = "a number"
    SHAPE = "numbers that are not all the same"


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
    example: float | Shape = 5.0
    """How it may be written."""

    def __post_init__(self) -> None:
        if not self.allows(self.example):
            raise ValueError(f"parameter {self.name}: {self.example} is no example of {self.wanted}")

    @property
    def wanted(self) -> str:
        """What it must be: "a whole number of at least 1"."""
        if self.quantity is Quantity.SHAPE:
            return f"{LEAST_STEPS} to {MOST_STEPS:,} {self.quantity.value}"
        bounded = f"{self.quantity.value} of at least {number_text(self.least)}"
        return bounded if math.isinf(self.most) else f"{bounded} and at most {number_text(self.most)}"

    @property
    def type(self) -> Type:
        """Of the constants that may be given for it."""
        return Type.SHAPE if self.quantity is Quantity.SHAPE else Type.REAL

    def allows(self, value: float | Shape) -> bool:
        """Whether a constant may be given for it."""
        if isinstance(value, Shape) or self.quantity is Quantity.SHAPE:
            return isinstance(value, Shape) and self.quantity is Quantity.SHAPE and not value.problem
        whole = self.quantity is not Quantity.STEPS or float(value).is_integer()
        return whole and self.least <= value <= self.most
