"""The vocabulary of formulas: operators, user-defined functions, and the expressions they form."""

from telltree.operators.expression import Attribute, Expression, Hole, Level, Number
from telltree.operators.functions import UserFunction, user_function
from telltree.operators.shape import Shape
from telltree.operators.table import OPERATORS, Operator, operator_named
from telltree.operators.types import Type

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
