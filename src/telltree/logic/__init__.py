"""The vocabulary of formulas: operators, user-defined functions, and the expressions they form."""

from telltree.logic.expression import Attribute, Expression, Hole, Level, Number, UserFunction, user_function
from telltree.logic.operators import OPERATORS, Operator, operator_named
from telltree.logic.shapelet import Shape
from telltree.logic.types import Type

__all__ = [
    "OPERATORS",
    "Attribute",
    "Expression",
    "Hole",
    "Level",
    "Number",
    "Operator",
    "Shape",
    "Type",
    "UserFunction",
    "operator_named",
    "user_function",
]
