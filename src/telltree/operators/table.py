"""The operators: one row each, with all that is the same for whoever speaks of it.

A row has spellings, types, parameters, what the engine makes of it, LaTeX and the paper's English. What others must
know beside it, each keeps in a table of its own (`telltree.operators.cells`); CONTRIBUTING.md lists them.
"""

import enum
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType

from telltree.operators import meaning
from telltree.operators.meaning import (
    DUAL,
    JOINING,
    Bound,
    Finite,
    Joins,
    Makes,
    Meaning,
    MicroOp,
)
from telltree.operators.numbers import number_text
from telltree.operators.parameters import Parameter, Quantity
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
    """The canonical ASCII spelling, which is also how the operator is known everywhere in the code."""
    symbol: str
    """The spelling that formulas are printed with."""
    spellings: tuple[str, ...]
    """Every spelling that text may use."""
    form: Form
    takes: int
    """How many operands, beside its parameters."""
    signature: Signature
    """From operand types to the type of the whole, or None where the operands do not fit."""
    operands: str
    """What operands and parameters must be, for messages."""
    latex: str
    english: str
    """A sentence with {0} and {1} for the operands, and then the parameters."""
    means: Meaning
    """What the engine makes of it."""
    parameters: tuple[Parameter, ...] = ()
    """Constants that are written behind the operands, and are none."""

    def __post_init__(self) -> None:
        steps = {row.name for row in self.parameters if row.quantity is Quantity.STEPS}
        strange = [bound for bound in self.window or () if isinstance(bound, str) and bound not in steps]
        if strange:
            raise ValueError(f"{self.name}: {strange[0]!r} bounds its window, but is no number of steps that it takes")

    def __repr__(self) -> str:
        return f"<operator {self.name}>"

    def __reduce__(self) -> tuple[Callable[[str], "Operator"], tuple[str]]:
        # Identity must survive a trip to another process.
        return operator_named, (self.name,)

    @property
    def arity(self) -> int:
        """How many expressions are written behind it: operands, then parameters."""
        return self.takes + len(self.parameters)

    def result(self, types: tuple[Type, ...]) -> Type | None:
        """The type of the whole, given those of operands and parameters; None where they do not fit."""
        if len(types) != self.arity or any(given is not Type.REAL for given in types[self.takes :]):
            return None
        return self.signature(types[: self.takes])

    @property
    def joins(self) -> bool:
        """Whether it makes formulas of conditions: connectives, and what looks along time."""
        return isinstance(self.means, Joins) and self.means.code in JOINING

    @property
    def traits(self) -> Makes:
        """What is so of the signals that it makes; nothing in particular if it makes none."""
        return self.means if isinstance(self.means, Makes) else _NO_TRAITS

    @property
    def window(self) -> tuple[Bound, Bound] | None:
        """Of what looks along time: from which step to which, by numbers or parameters."""
        return self.means.window if isinstance(self.means, Joins) else None

    @property
    def seeks(self) -> bool | None:
        """Of what looks along time: whether one step is enough to make it true, or (False) to break it; else None."""
        return self.means.code not in DUAL if isinstance(self.means, Joins) and self.looks else None

    @property
    def looks(self) -> bool:
        """Whether it makes formulas of conditions at other steps."""
        return self.window is not None

    @property
    def makes_numbers(self) -> bool:
        """Whether it makes a signal or a count, not something that is true or false."""
        return any(result in (Type.REAL_VECTOR, Type.COUNT) for _, result in self.uses())

    def uses(self) -> Iterator[tuple[tuple[Type, ...], Type]]:
        """Each way to use it: the types of its operands, and of the whole."""
        for types in product(Type, repeat=self.takes):
            result = self.signature(types)
            if result is not None:
                yield types, result

    @property
    def example(self) -> str:
        """How it is written, with its parameters: "change(x, 5)"."""
        given = [*"xyz"[: self.takes], *(number_text(parameter.example) for parameter in self.parameters)]
        return f"{self.name}({', '.join(given)})"


_NO_TRAITS = Makes()


def _temporal(types: tuple[Type, ...]) -> Type | None:
    return Type.BOOLEAN if fits(types[0], Type.BOOLEAN_VECTOR) else None


def _connective(types: tuple[Type, ...]) -> Type | None:
    if all(t is Type.BOOLEAN for t in types):
        return Type.BOOLEAN
    return Type.BOOLEAN_VECTOR if all(fits(t, Type.BOOLEAN_VECTOR) for t in types) else None


def _order(types: tuple[Type, ...]) -> Type | None:
    if all(t is Type.REAL for t in types):
        return None  # two constants: true or false whatever the data
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


def _of_signal(types: tuple[Type, ...]) -> Type | None:
    return Type.REAL_VECTOR if types == (Type.REAL_VECTOR,) else None


def _missing(types: tuple[Type, ...]) -> Type | None:
    asked = (Type.REAL_VECTOR, Type.CATEGORICAL_VECTOR, Type.BOOLEAN_VECTOR)
    return Type.BOOLEAN_VECTOR if types[0] in asked else None


_TRUTHS = "Boolean vectors"
_NUMBERS = "real vectors, counts or numbers, not all of them numbers"


def _compares(outcomes: int) -> Makes:
    return Makes(on_counts=MicroOp.COMPARE, outcomes=outcomes)


EVENTUALLY = Operator(
    "F", "F", ("F",), Form.CALL, 1, _temporal, "a Boolean vector", r"\mathrm{F}", "at some point, {0}",
    Joins(MicroOp.EVENTUALLY, meaning.TO_THE_END),
)  # fmt: skip
GLOBALLY = Operator(
    "G", "G", ("G",), Form.CALL, 1, _temporal, "a Boolean vector", r"\mathrm{G}", "for all time, {0}",
    Joins(MicroOp.GLOBALLY, meaning.TO_THE_END),
)  # fmt: skip
AND = Operator(
    "and", "∧", ("and", "∧"), Form.INFIX, 2, _connective, _TRUTHS, r"\wedge", "{0} and {1}", Joins(MicroOp.AND)
)
OR = Operator("or", "∨", ("or", "∨"), Form.INFIX, 2, _connective, _TRUTHS, r"\vee", "{0} or {1}", Joins(MicroOp.OR))
NOT = Operator("not", "¬", ("not", "¬"), Form.PREFIX, 1, _connective, _TRUTHS, r"\neg", "not {0}", Joins(MicroOp.NOT))
IMPLIES = Operator(
    "implies", "⇒", ("implies", "⇒", "=>"), Form.INFIX, 2, _connective, _TRUTHS, r"\Rightarrow", "if {0}, then {1}",
    Joins(MicroOp.IMPLIES),
)  # fmt: skip
LESS = Operator("<", "<", ("<",), Form.INFIX, 2, _order, _NUMBERS, "<", "{0} is less than {1}", _compares(meaning.LESS))
LESS_EQUAL = Operator(
    "<=", "≤", ("<=", "≤"), Form.INFIX, 2, _order, _NUMBERS, r"\leq", "{0} is less than or equal to {1}",
    _compares(meaning.LESS | meaning.EQUAL),
)  # fmt: skip
GREATER = Operator(
    ">", ">", (">",), Form.INFIX, 2, _order, _NUMBERS, ">", "{0} is greater than {1}", _compares(meaning.GREATER)
)
GREATER_EQUAL = Operator(
    ">=", "≥", (">=", "≥"), Form.INFIX, 2, _order, _NUMBERS, r"\geq", "{0} is greater than or equal to {1}",
    _compares(meaning.GREATER | meaning.EQUAL),
)  # fmt: skip
EQUAL = Operator(
    "=", "=", ("=", "=="), Form.INFIX, 2, _equality,
    "real vectors, counts or numbers, or a categorical vector and a category name or categorical vector", "=",
    "{0} is equal to {1}", _compares(meaning.EQUAL),
)  # fmt: skip
ABS = Operator(
    "abs", "abs", ("abs",), Form.CALL, 1, _arithmetic, "a real vector or count", r"\mathrm{abs}",
    "absolute value of {0}", Makes(on_counts=MicroOp.ABS, keeps_unit=True, finite=Finite.LIKE_OPERANDS),
)  # fmt: skip
DIFFERENCE = Operator(
    "-", "-", ("-", "−"), Form.INFIX, 2, _arithmetic, _NUMBERS, "-", "difference between {0} and {1}",
    Makes(on_counts=MicroOp.SUBTRACT, keeps_unit=True, subtracts=True),
)  # fmt: skip
SIGN = Operator(
    "sign", "sign", ("sign",), Form.CALL, 1, _arithmetic, "a real vector or count", r"\mathrm{sign}", "sign of {0}",
    Makes(on_counts=MicroOp.SIGN, finite=Finite.ALWAYS),
)  # fmt: skip
COUNT = Operator(
    "count", "count", ("count",), Form.CALL, 1, _count, "a Boolean vector", r"\mathrm{count}",
    "number of steps at which {0}", Joins(MicroOp.COUNT),
)  # fmt: skip
MISSING = Operator(
    "missing", "missing", ("missing",), Form.CALL, 1, _missing, "an attribute", r"\mathrm{missing}", "{0} is missing",
    Makes(),
)  # fmt: skip
ELAPSED = Operator(
    "elapsed", "elapsed", ("elapsed",), Form.CALL, 0, _of_time, "nothing", r"\mathrm{elapsed}", "time since the start",
    Makes(finite=Finite.ALWAYS, moves=True),
)  # fmt: skip
GONE = Operator(
    "gone", "gone", ("gone",), Form.CALL, 0, _of_time, "nothing", r"\mathrm{gone}",
    "share of the record that has passed", Makes(finite=Finite.ALWAYS, moves=True),
)  # fmt: skip
CHANGE = Operator(
    "change", "change", ("change",), Form.CALL, 1, _of_signal, "a real vector and a number of steps",
    r"\mathrm{change}", "change of {0} within {1} steps", Makes(keeps_unit=True, subtracts=True),
    parameters=(Parameter("k", "steps"),),
)  # fmt: skip

OPERATORS: list[Operator] = []
"""All there are."""
COMPARISONS: tuple[Operator, ...] = (LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL)
CLOCKS: tuple[Operator, ...] = (ELAPSED, GONE)
"""Where in its record a step is; these take no operands."""
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
"""The names of comparisons that say the same with their sides swapped."""

_BY_SPELLING: dict[str, Operator] = {}
SPELLINGS: Mapping[str, Operator] = MappingProxyType(_BY_SPELLING)
"""Every spelling of every operator."""


def register(operator: Operator) -> None:
    """Add a row to the table; ValueError if one of its spellings is taken."""
    taken = [spelling for spelling in operator.spellings if spelling in _BY_SPELLING]
    if taken:
        raise ValueError(f"there is an operator {taken[0]!r} already")
    OPERATORS.append(operator)
    _BY_SPELLING.update(dict.fromkeys(operator.spellings, operator))


def withdraw(operator: Operator) -> None:
    """Take a row out of the table again."""
    OPERATORS.remove(operator)
    for spelling in operator.spellings:
        del _BY_SPELLING[spelling]


def operator_named(spelling: str) -> Operator:
    """The operator with this spelling; KeyError if there is none."""
    return _BY_SPELLING[spelling]


for _row in (
    EVENTUALLY, GLOBALLY, AND, OR, NOT, IMPLIES, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL,
    ABS, DIFFERENCE, SIGN, COUNT, MISSING, ELAPSED, GONE, CHANGE,
):  # fmt: skip
    register(_row)
