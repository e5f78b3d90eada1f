"""The operators: one row each with spellings, types, text, LaTeX and English.

Adding an operator is one row here, its meaning in `telltree.logic`, and one line in the tests' oracle.
"""

import enum
from collections.abc import Callable
from dataclasses import dataclass

from telltree.operators.types import Type, fits

Signature = Callable[[tuple[Type, ...]], Type | None]


class Form(enum.Enum):
    """How an operator is written."""

    CALL = "call"  # F(x)
    PREFIX = "prefix"  # ¬x
    INFIX = "infix"  # x ∧ y


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """One row of the table. Operators are compared by identity: there is one object for each."""

    name: str
    """The canonical ASCII spelling, which also identifies the operator in code."""
    symbol: str
    """The spelling that formulas are printed with."""
    spellings: tuple[str, ...]
    """Every spelling that text may use."""
    form: Form
    arity: int
    result: Signature
    """From operand types to the type of the whole, or None if the operands do not fit."""
    operands: str
    """What the operands must be, for messages."""
    latex: str
    english: str
    """A sentence with {0} and {1} for the operands."""

    def __repr__(self) -> str:
        return f"<operator {self.name}>"

    def __reduce__(self) -> tuple[Callable[[str], "Operator"], tuple[str]]:
        # Identity must survive pickling.
        return operator_named, (self.name,)


def _temporal(types: tuple[Type, ...]) -> Type | None:
    return Type.BOOLEAN if fits(types[0], Type.BOOLEAN_VECTOR) else None


def _connective(types: tuple[Type, ...]) -> Type | None:
    if all(t is Type.BOOLEAN for t in types):
        return Type.BOOLEAN
    return Type.BOOLEAN_VECTOR if all(fits(t, Type.BOOLEAN_VECTOR) for t in types) else None


def _order(types: tuple[Type, ...]) -> Type | None:
    if all(t is Type.REAL for t in types):
        return None  # two constants: the result does not depend on the data
    if all(fits(t, Type.COUNT) for t in types):
        return Type.BOOLEAN
    return Type.BOOLEAN_VECTOR if all(fits(t, Type.REAL_VECTOR) for t in types) else None


def _equality(types: tuple[Type, ...]) -> Type | None:
    if types[0] is Type.CATEGORICAL_VECTOR and types[1] in (Type.CATEGORICAL_VECTOR, Type.LEVEL):
        return Type.BOOLEAN_VECTOR
    return _order(types)


def _arithmetic(types: tuple[Type, ...]) -> Type | None:
    if all(t is Type.REAL for t in types):
        return None  # constants alone: the author can write the result
    for candidate in (Type.COUNT, Type.REAL_VECTOR):
        if all(fits(t, candidate) for t in types):
            return candidate
    return None


def _count(types: tuple[Type, ...]) -> Type | None:
    return Type.COUNT if fits(types[0], Type.BOOLEAN_VECTOR) else None


def _of_time(types: tuple[Type, ...]) -> Type | None:
    return None if types else Type.REAL_VECTOR


def _change(types: tuple[Type, ...]) -> Type | None:
    return Type.REAL_VECTOR if types == (Type.REAL_VECTOR, Type.REAL) else None


def _missing(types: tuple[Type, ...]) -> Type | None:
    asked = (Type.REAL_VECTOR, Type.CATEGORICAL_VECTOR, Type.BOOLEAN_VECTOR)
    return Type.BOOLEAN_VECTOR if types[0] in asked else None


_TRUTHS = "Boolean vectors"
_NUMBERS = "real vectors, counts or numbers, not all of them numbers"

EVENTUALLY = Operator(
    "F", "F", ("F",), Form.CALL, 1, _temporal, "a Boolean vector", r"\mathrm{F}", "at some point, {0}"
)
GLOBALLY = Operator("G", "G", ("G",), Form.CALL, 1, _temporal, "a Boolean vector", r"\mathrm{G}", "for all time, {0}")
AND = Operator("and", "∧", ("and", "∧"), Form.INFIX, 2, _connective, _TRUTHS, r"\wedge", "{0} and {1}")
OR = Operator("or", "∨", ("or", "∨"), Form.INFIX, 2, _connective, _TRUTHS, r"\vee", "{0} or {1}")
NOT = Operator("not", "¬", ("not", "¬"), Form.PREFIX, 1, _connective, _TRUTHS, r"\neg", "not {0}")
IMPLIES = Operator(
    "implies", "⇒", ("implies", "⇒", "=>"), Form.INFIX, 2, _connective, _TRUTHS, r"\Rightarrow", "if {0}, then {1}"
)
LESS = Operator("<", "<", ("<",), Form.INFIX, 2, _order, _NUMBERS, "<", "{0} is less than {1}")
LESS_EQUAL = Operator(
    "<=", "≤", ("<=", "≤"), Form.INFIX, 2, _order, _NUMBERS, r"\leq", "{0} is less than or equal to {1}"
)
GREATER = Operator(">", ">", (">",), Form.INFIX, 2, _order, _NUMBERS, ">", "{0} is greater than {1}")
GREATER_EQUAL = Operator(
    ">=", "≥", (">=", "≥"), Form.INFIX, 2, _order, _NUMBERS, r"\geq", "{0} is greater than or equal to {1}"
)
EQUAL = Operator(
    "=",
    "=",
    ("=", "=="),
    Form.INFIX,
    2,
    _equality,
    "real vectors, counts or numbers, or a categorical vector and a category name or categorical vector",
    "=",
    "{0} is equal to {1}",
)
ABS = Operator(
    "abs", "abs", ("abs",), Form.CALL, 1, _arithmetic, "a real vector or count", r"\mathrm{abs}",
    "absolute value of {0}",
)  # fmt: skip
DIFFERENCE = Operator(
    "-", "-", ("-", "−"), Form.INFIX, 2, _arithmetic, _NUMBERS, "-",
    "difference between {0} and {1}",
)  # fmt: skip
SIGN = Operator(
    "sign", "sign", ("sign",), Form.CALL, 1, _arithmetic, "a real vector or count", r"\mathrm{sign}", "sign of {0}"
)
COUNT = Operator(
    "count", "count", ("count",), Form.CALL, 1, _count, "a Boolean vector", r"\mathrm{count}",
    "number of steps at which {0}",
)  # fmt: skip
MISSING = Operator(
    "missing", "missing", ("missing",), Form.CALL, 1, _missing, "an attribute", r"\mathrm{missing}", "{0} is missing"
)
ELAPSED = Operator(
    "elapsed", "elapsed", ("elapsed",), Form.CALL, 0, _of_time, "nothing", r"\mathrm{elapsed}", "time since the start"
)
GONE = Operator(
    "gone", "gone", ("gone",), Form.CALL, 0, _of_time, "nothing", r"\mathrm{gone}",
    "share of the record that has passed",
)  # fmt: skip
CHANGE = Operator(
    "change", "change", ("change",), Form.CALL, 2, _change, "a real vector and a number of steps", r"\mathrm{change}",
    "change of {0} within {1} steps",
)  # fmt: skip

OPERATORS: tuple[Operator, ...] = (
    EVENTUALLY, GLOBALLY, AND, OR, NOT, IMPLIES, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL,
    ABS, DIFFERENCE, SIGN, COUNT, MISSING, ELAPSED, GONE, CHANGE,
)  # fmt: skip
JOINS: tuple[Operator, ...] = (AND, OR, NOT, IMPLIES, EVENTUALLY, GLOBALLY)
"""The operators that make formulas of conditions."""
COMPARISONS: tuple[Operator, ...] = (LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL)
CLOCKS: tuple[Operator, ...] = (ELAPSED, GONE)
"""The operators for where in the record a step is; they take no operands."""
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
"""The names of comparisons that mean the same with their sides swapped."""

_BY_SPELLING = {spelling: operator for operator in OPERATORS for spelling in operator.spellings}


def operator_named(spelling: str) -> Operator:
    """The operator with this spelling; KeyError if there is none."""
    return _BY_SPELLING[spelling]
