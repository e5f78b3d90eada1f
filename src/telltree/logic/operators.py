"""The table of operators, their parameters, and the cells that other modules keep for each operator."""

import enum
import math
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from types import MappingProxyType
from typing import TypeVar

from telltree.errors import OperatorError
from telltree.logic import meaning
from telltree.logic.meaning import (
    AHEAD,
    DUAL,
    JOINING,
    LOOKING,
    Aggregate,
    Bound,
    Infinities,
    Joins,
    Makes,
    Meaning,
    MicroOp,
    Scope,
)
from telltree.logic.shapelet import LEAST_STEPS, MOST_STEPS, Shape
from telltree.logic.types import Type, fits, number_text

# ---- Parameters of operators: constants that say which of several operators is meant, like the k of change(x, k).
#
# A parameter is not an operand: it is not evaluated, has no value of its own at a step, and is not rounded. It is
# written after the operands, and stands there in expressions as a number, or as a shape.


class Quantity(enum.Enum):
    """The kind of a parameter; the value is its name in messages."""

    STEPS = "a whole number"
    SECONDS = "a number of seconds"
    NUMBER = "a number"
    SHAPE = "numbers that are not all the same"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A constant that an operator takes."""

    name: str
    """The name by which rows and sentences mention it."""
    called: str
    """The name in messages."""
    quantity: Quantity = Quantity.STEPS
    least: float = 1.0
    most: float = math.inf
    example: float | Shape = 5.0
    """A value for examples."""

    def __post_init__(self) -> None:
        if not self.allows(self.example):
            raise ValueError(f"parameter {self.name}: {self.example} is no example of {self.wanted}")

    @property
    def wanted(self) -> str:
        """Its requirements, for messages: "a whole number of at least 1"."""
        if self.quantity is Quantity.SHAPE:
            return f"{LEAST_STEPS} to {MOST_STEPS:,} {self.quantity.value}"
        bounded = f"{self.quantity.value} of at least {number_text(self.least)}"
        return bounded if math.isinf(self.most) else f"{bounded} and at most {number_text(self.most)}"

    @property
    def type(self) -> Type:
        """The type of the constants that may be given for it."""
        return Type.SHAPE if self.quantity is Quantity.SHAPE else Type.REAL

    def allows(self, value: float | Shape) -> bool:
        """Return True if this constant may be given for it."""
        if isinstance(value, Shape) or self.quantity is Quantity.SHAPE:
            return isinstance(value, Shape) and self.quantity is Quantity.SHAPE and not value.problem
        whole = self.quantity is not Quantity.STEPS or float(value).is_integer()
        return whole and self.least <= value <= self.most


# ---- The operators: one row each, with everything that is the same in all packages.
#
# A row has spellings, types, parameters, the meaning for the engine, LaTeX and the paper's English. A package that
# needs more about each operator keeps a table of `Cells`; CONTRIBUTING.md lists them.

Signature = Callable[[tuple[Type, ...]], Type | None]


class Form(enum.Enum):
    """The notation of an operator."""

    CALL = "call"  # F(x)
    PREFIX = "prefix"  # ¬x
    INFIX = "infix"  # x ∧ y
    WINDOW = "window"  # F[0, 5](x): parameters in brackets, before the operands


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """A row of the table. Operators are compared by identity: there is one object for each."""

    name: str
    """The canonical ASCII spelling, which also identifies the operator in code."""
    symbol: str
    """The spelling that formulas are printed with."""
    spellings: tuple[str, ...]
    """Every spelling that text may use."""
    form: Form
    takes: int
    """The number of operands, without parameters."""
    signature: Signature
    """The type of the result by those of the operands; None if they do not fit."""
    operands: str
    """A description of valid operands and parameters, for messages."""
    latex: str
    english: str
    """A sentence with {0} and {1} for the operands, and then the parameters."""
    means: Meaning
    """Its meaning for the engine."""
    parameters: tuple[Parameter, ...] = ()
    """Constants that are written after the operands."""
    yields: bool = False
    """True if a symbol or user function may have its name, which then means that."""

    def __post_init__(self) -> None:
        steps = {row.name for row in self.parameters if row.quantity is Quantity.STEPS}
        strange = [bound for bound in self.window or () if isinstance(bound, str) and bound not in steps]
        if strange:
            raise ValueError(f"{self.name}: {strange[0]!r} bounds its window, but is no number of steps that it takes")

    def __repr__(self) -> str:
        return f"<operator {self.name}>"

    def __reduce__(self) -> tuple[Callable[[str], "Operator"], tuple[str]]:
        # Identity must survive pickling.
        return operator_named, (self.name,)

    @property
    def arity(self) -> int:
        """The number of expressions in its parentheses: operands, then parameters."""
        return self.takes + len(self.parameters)

    def result(self, types: tuple[Type, ...]) -> Type | None:
        """Return the type of the result by those of operands and parameters; None if they do not fit."""
        if types[self.takes :] != tuple(row.type for row in self.parameters):
            return None
        return self.signature(types[: self.takes])

    @property
    def joins(self) -> bool:
        """True if it makes formulas of conditions: connectives and temporal operators."""
        return isinstance(self.means, Joins) and self.means.code in JOINING

    @property
    def traits(self) -> Makes:
        """The traits of the signals that it makes; the defaults if it makes none."""
        return self.means if isinstance(self.means, Makes) else _NO_TRAITS

    @property
    def window(self) -> tuple[Bound, Bound] | None:
        """The first and last step that it looks at, as numbers or names of parameters; None if it has no window."""
        return self.means.window

    @property
    def seeks(self) -> bool | None:
        """True if one step suffices to make a windowed operator true, False if one step suffices to break it; else
        None.
        """
        return self.means.code not in DUAL if isinstance(self.means, Joins) and self.window is not None else None

    @property
    def looks(self) -> bool:
        """True if its truth at a step depends on conditions at other steps."""
        return self.joins and isinstance(self.means, Joins) and self.means.code in AHEAD | LOOKING

    @property
    def makes_numbers(self) -> bool:
        """True if it makes a signal or a count, not a condition."""
        return any(result in (Type.REAL_VECTOR, Type.COUNT) for _, result in self.uses())

    def uses(self) -> tuple[tuple[tuple[Type, ...], Type], ...]:
        """Return each way to use it: the types of its operands, and of the result."""
        return _uses(self.signature, self.takes)

    @property
    def example(self) -> str:
        """An example with parameters: "change(x, 5)"."""
        operands, given = "xyz"[: self.takes], [constant_text(parameter.example) for parameter in self.parameters]
        if self.form is Form.WINDOW:
            return f"{self.symbol}[{', '.join(given)}]({', '.join(operands)})"
        return f"{self.name}({', '.join([*operands, *given])})"

    def is_empty(self, parameters: Sequence[float]) -> bool:
        """Return True if its window ends before it begins, given these parameters."""
        value = dict(zip((row.name for row in self.parameters), parameters, strict=True))
        bounds = [value[bound] if isinstance(bound, str) else bound for bound in self.window or ()]
        return bool(bounds) and bounds[0] > bounds[1]


_NO_TRAITS = Makes()


@lru_cache(maxsize=256)  # reading sentences looks the same few rows up thousands of times
def _uses(signature: Signature, takes: int) -> tuple[tuple[tuple[Type, ...], Type], ...]:
    tried = ((types, signature(types)) for types in product(Type, repeat=takes))
    return tuple((types, result) for types, result in tried if result is not None)


def constant_text(value: float | Shape) -> str:
    """Return a constant as formulas write it; a shape as its numbers."""
    return ", ".join(map(number_text, value.values)) if isinstance(value, Shape) else number_text(value)


def _temporal(types: tuple[Type, ...]) -> Type | None:
    return Type.BOOLEAN if fits(types[0], Type.BOOLEAN_VECTOR) else None


def _temporal_of_two(types: tuple[Type, ...]) -> Type | None:
    return Type.BOOLEAN if all(fits(t, Type.BOOLEAN_VECTOR) for t in types) else None


def _of_past(types: tuple[Type, ...]) -> Type | None:
    """At the first step there is no past, so the result is a vector, never one truth value of the record."""
    return Type.BOOLEAN_VECTOR if all(fits(t, Type.BOOLEAN_VECTOR) for t in types) else None


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


def _of_signal(types: tuple[Type, ...]) -> Type | None:
    return Type.REAL_VECTOR if types == (Type.REAL_VECTOR,) else None


def _of_event(types: tuple[Type, ...]) -> Type | None:
    return Type.REAL_VECTOR if types[0] is Type.REAL_VECTOR and fits(types[1], Type.BOOLEAN_VECTOR) else None


def _missing(types: tuple[Type, ...]) -> Type | None:
    vectors = (Type.REAL_VECTOR, Type.CATEGORICAL_VECTOR, Type.BOOLEAN_VECTOR)
    return Type.BOOLEAN_VECTOR if types[0] in vectors else None


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
_FROM_TO = (Parameter("a", "first step", least=0.0, example=0.0), Parameter("b", "last step", least=0.0))
"""The first and last step of a window, counted from the current step."""
_WINDOW_OF = "a Boolean vector, and a window of steps"
EVENTUALLY_WITHIN = Operator(
    "F[]", "F", ("F[]",), Form.WINDOW, 1, _temporal, _WINDOW_OF, r"\mathrm{F}",
    "at some point {1} to {2} steps later, {0}", Joins(MicroOp.SOME_WITHIN, ("a", "b")), parameters=_FROM_TO,
)  # fmt: skip
GLOBALLY_WITHIN = Operator(
    "G[]", "G", ("G[]",), Form.WINDOW, 1, _temporal, _WINDOW_OF, r"\mathrm{G}",
    "at all steps {1} to {2} steps later, {0}", Joins(MicroOp.ALL_WITHIN, ("a", "b")), parameters=_FROM_TO,
)  # fmt: skip
NEXT = Operator(
    "next", "next", ("next",), Form.CALL, 1, _temporal, "a Boolean vector", r"\mathrm{X}", "at the next step, {0}",
    Joins(MicroOp.SOME_WITHIN, (1, 1)), yields=True,
)  # fmt: skip
PREVIOUS = Operator(
    "previous", "previous", ("previous",), Form.CALL, 1, _of_past, "a Boolean vector", r"\mathrm{Y}",
    "at the step before, {0}", Joins(MicroOp.SOME_BEFORE, (1, 1)), yields=True,
)  # fmt: skip
ONCE = Operator(
    "once", "once", ("once",), Form.CALL, 1, _of_past, "a Boolean vector", r"\mathrm{O}", "then or before, {0}",
    Joins(MicroOp.SOME_BEFORE, meaning.TO_THE_END), yields=True,
)  # fmt: skip
HISTORICALLY = Operator(
    "historically", "historically", ("historically",), Form.CALL, 1, _of_past, "a Boolean vector", r"\mathrm{H}",
    "all the time until then, {0}", Joins(MicroOp.ALL_BEFORE, meaning.TO_THE_END), yields=True,
)  # fmt: skip
ONCE_WITHIN = Operator(
    "once[]", "once", ("once[]",), Form.WINDOW, 1, _of_past, _WINDOW_OF, r"\mathrm{O}",
    "at some point {1} to {2} steps before, {0}", Joins(MicroOp.SOME_BEFORE, ("a", "b")), parameters=_FROM_TO,
)  # fmt: skip
HISTORICALLY_WITHIN = Operator(
    "historically[]", "historically", ("historically[]",), Form.WINDOW, 1, _of_past, _WINDOW_OF, r"\mathrm{H}",
    "at all steps {1} to {2} steps before, {0}", Joins(MicroOp.ALL_BEFORE, ("a", "b")), parameters=_FROM_TO,
)  # fmt: skip
UNTIL = Operator(
    "until", "until", ("until",), Form.CALL, 2, _temporal_of_two, _TRUTHS, r"\mathrm{until}",
    "{0} until {1}", Joins(MicroOp.UNTIL), yields=True,
)  # fmt: skip
UNLESS = Operator(
    "unless", "unless", ("unless",), Form.CALL, 2, _temporal_of_two, _TRUTHS, r"\mathrm{unless}",
    "{0} to the end, or until {1}", Joins(MicroOp.UNLESS), yields=True,
)  # fmt: skip
SINCE = Operator(
    "since", "since", ("since",), Form.CALL, 2, _of_past, _TRUTHS, r"\mathrm{since}", "{0} ever since {1}",
    Joins(MicroOp.SINCE), yields=True,
)  # fmt: skip
RISE = Operator(
    "rise", "rise", ("rise",), Form.CALL, 1, _of_past, "a Boolean vector", r"\mathrm{rise}", "it becomes true that {0}",
    Joins(MicroOp.RISES), yields=True,
)  # fmt: skip
FALL = Operator(
    "fall", "fall", ("fall",), Form.CALL, 1, _of_past, "a Boolean vector", r"\mathrm{fall}",
    "it stops being true that {0}", Joins(MicroOp.FALLS), yields=True,
)  # fmt: skip
STARTS = Operator(
    "starts", "starts", ("starts",), Form.CALL, 1, _of_past, "a Boolean vector", r"\mathrm{starts}",
    "from then on {0}, or from the start", Joins(MicroOp.STARTS),
)  # fmt: skip
"""Only for the engine, which counts episodes with it; text cannot contain it."""
BEFORE = Operator(
    "before", "before", ("before",), Form.CALL, 2, _temporal_of_two, _TRUTHS, r"\mathrm{before}",
    "{0} before {1}", Joins(MicroOp.PRECEDES, (1, math.inf)), yields=True,
)  # fmt: skip
BEFORE_WITHIN = Operator(
    "before[]", "before", ("before[]",), Form.WINDOW, 2, _temporal_of_two, "Boolean vectors, and a window of steps",
    r"\mathrm{before}", "{0}, and {2} to {3} steps later, {1}", Joins(MicroOp.PRECEDES, ("a", "b")),
    parameters=_FROM_TO,
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
    "absolute value of {0}", Makes(on_counts=MicroOp.ABS, keeps_unit=True, infinities=Infinities.KEPT),
)  # fmt: skip
DIFFERENCE = Operator(
    "-", "-", ("-", "−"), Form.INFIX, 2, _arithmetic, _NUMBERS, "-", "difference between {0} and {1}",
    Makes(on_counts=MicroOp.SUBTRACT, keeps_unit=True, infinities=Infinities.CANCEL),
)  # fmt: skip
SIGN = Operator(
    "sign", "sign", ("sign",), Form.CALL, 1, _arithmetic, "a real vector or count", r"\mathrm{sign}", "sign of {0}",
    Makes(on_counts=MicroOp.SIGN, infinities=Infinities.NONE),
)  # fmt: skip
COUNT = Operator(
    "count", "count", ("count",), Form.CALL, 1, _count, "a Boolean vector", r"\mathrm{count}",
    "number of steps at which {0}", Joins(MicroOp.COUNT),
)  # fmt: skip
EPISODES = Operator(
    "episodes", "episodes", ("episodes",), Form.CALL, 1, _count, "a Boolean vector", r"\mathrm{episodes}",
    "number of separate stretches in which {0}", Joins(MicroOp.EPISODES), yields=True,
)  # fmt: skip
LONGEST = Operator(
    "longest", "longest", ("longest",), Form.CALL, 1, _count, "a Boolean vector", r"\mathrm{longest}",
    "number of steps in the longest stretch in which {0}", Joins(MicroOp.LONGEST), yields=True,
)  # fmt: skip
MISSING = Operator(
    "missing", "missing", ("missing",), Form.CALL, 1, _missing, "an attribute", r"\mathrm{missing}", "{0} is missing",
    Makes(),
)  # fmt: skip
ELAPSED = Operator(
    "elapsed", "elapsed", ("elapsed",), Form.CALL, 0, _of_time, "nothing", r"\mathrm{elapsed}", "time since the start",
    Makes(infinities=Infinities.NONE, scope=Scope.POSITION),
)  # fmt: skip
GONE = Operator(
    "gone", "gone", ("gone",), Form.CALL, 0, _of_time, "nothing", r"\mathrm{gone}",
    "share of the record that has passed", Makes(infinities=Infinities.NONE, scope=Scope.POSITION),
)  # fmt: skip
LEFT = Operator(
    "left", "left", ("left",), Form.CALL, 0, _of_time, "nothing", r"\mathrm{left}", "time until the end",
    Makes(infinities=Infinities.NONE, scope=Scope.POSITION), yields=True,
)  # fmt: skip
LENGTH = Operator(
    "length", "length", ("length",), Form.CALL, 0, _of_time, "nothing", r"\mathrm{length}",
    "number of steps of the record", Makes(infinities=Infinities.NONE, scope=Scope.RECORD), yields=True,
)  # fmt: skip
CHANGE = Operator(
    "change", "change", ("change",), Form.CALL, 1, _of_signal, "a real vector and a number of steps",
    r"\mathrm{change}", "change of {0} since the later of the start and {1} steps earlier",
    Makes(keeps_unit=True, infinities=Infinities.CANCEL), parameters=(Parameter("k", "steps"),),
)  # fmt: skip
_SIGNAL = "a real vector"


def over_window(aggregate: Aggregate) -> Operator:
    """Return the row of an aggregate over a window of past steps: min[0, 5](x)."""
    name = aggregate.name
    return Operator(
        f"{name}[]", name, (f"{name}[]",), Form.WINDOW, 1, _of_signal, "a real vector, and a window of steps",
        rf"\mathrm{{{name}}}", f"{aggregate.noun} of {{0}} from {{2}} to {{1}} steps before",
        Makes(
            keeps_unit=True, infinities=aggregate.infinities, scope=Scope.WINDOW, aggregate=aggregate, window=("a", "b")
        ),
        parameters=_FROM_TO,
    )  # fmt: skip


def over_record(aggregate: Aggregate) -> Operator:
    """Return the row of an aggregate over the whole record: min(x)."""
    name = aggregate.name
    return Operator(
        name, name, (name,), Form.CALL, 1, _of_signal, _SIGNAL, rf"\mathrm{{{name}}}",
        f"{aggregate.noun} of {{0}} over the record",
        Makes(keeps_unit=True, infinities=aggregate.infinities, scope=Scope.RECORD, aggregate=aggregate), yields=True,
    )  # fmt: skip


_MEAN = Aggregate("mean", "mean", Infinities.CANCEL)
_MIN = Aggregate("min", "minimum", Infinities.KEPT)
_MAX = Aggregate("max", "maximum", Infinities.KEPT)
_SPREAD = Aggregate("spread", "range", Infinities.CANCEL)
MEAN_WITHIN, MEAN = over_window(_MEAN), over_record(_MEAN)
MIN_WITHIN, MIN = over_window(_MIN), over_record(_MIN)
MAX_WITHIN, MAX = over_window(_MAX), over_record(_MAX)
SPREAD_WITHIN, SPREAD = over_window(_SPREAD), over_record(_SPREAD)
TOTAL = Operator(
    "total", "total", ("total",), Form.CALL, 1, _of_signal, _SIGNAL, r"\mathrm{total}",
    "sum of {0} up to and including that step",
    Makes(keeps_unit=True, infinities=Infinities.CANCEL, scope=Scope.SO_FAR), yields=True,
)  # fmt: skip
LATEST = Operator(
    "latest", "latest", ("latest",), Form.CALL, 2, _of_event, "a real vector and a Boolean vector",
    r"\mathrm{latest}", "value of {0} at the last step so far at which {1}",
    Makes(keeps_unit=True, infinities=Infinities.KEPT, scope=Scope.SO_FAR, gaps=True), yields=True,
)  # fmt: skip
SLOPE = Operator(
    "slope", "slope", ("slope",), Form.CALL, 1, _of_signal, _SIGNAL, r"\mathrm{slope}",
    "slope per step of the line that best fits {0} over the record",
    Makes(infinities=Infinities.CANCEL, scope=Scope.RECORD), yields=True,
)  # fmt: skip
FIRST = Operator(
    "first", "first", ("first",), Form.CALL, 1, _of_signal, _SIGNAL, r"\mathrm{first}", "first value of {0}",
    Makes(keeps_unit=True, infinities=Infinities.KEPT, scope=Scope.RECORD), yields=True,
)  # fmt: skip
LAST = Operator(
    "last", "last", ("last",), Form.CALL, 1, _of_signal, _SIGNAL, r"\mathrm{last}", "last value of {0}",
    Makes(keeps_unit=True, infinities=Infinities.KEPT, scope=Scope.RECORD), yields=True,
)  # fmt: skip
WHEN_MIN = Operator(
    "when_min", "when_min", ("when_min",), Form.CALL, 1, _of_signal, _SIGNAL, r"\mathrm{when\_min}",
    "time until {0} first reaches its lowest value of the record",
    Makes(infinities=Infinities.NONE, scope=Scope.RECORD), yields=True,
)  # fmt: skip
WHEN_MAX = Operator(
    "when_max", "when_max", ("when_max",), Form.CALL, 1, _of_signal, _SIGNAL, r"\mathrm{when\_max}",
    "time until {0} first reaches its highest value of the record",
    Makes(infinities=Infinities.NONE, scope=Scope.RECORD), yields=True,
)  # fmt: skip

DISTANCE = Operator(
    "distance[]", "distance", ("distance[]",), Form.WINDOW, 1, _of_signal, "a real vector, and a shape",
    r"\mathrm{distance}", "distance of {0} from the shape {1}",
    Makes(infinities=Infinities.NONE, scope=Scope.WINDOW, gaps=True),
    parameters=(Parameter("shape", "shape", Quantity.SHAPE, example=Shape((0.0, 1.0, 3.0, 2.0))),),
)  # fmt: skip

OPERATORS: list[Operator] = []
"""All operators, in the order of their registration."""
COMPARISONS: tuple[Operator, ...] = (LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL)
TIMES: tuple[Operator, ...] = (ELAPSED, LEFT, WHEN_MIN, WHEN_MAX)
"""Times since the start, or until the end, in the unit of times."""
CLOCKS: tuple[Operator, ...] = (ELAPSED, GONE, LEFT)
"""The operators for the position of a step in its record; they take no operands."""
TURNING_BACK: tuple[Operator, ...] = (COUNT, EPISODES, LONGEST, RISE, FALL)
"""Operators that may turn false again while their operand comes to hold at more and more steps."""
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
"""The names of comparisons that mean the same with their sides swapped."""

_BY_SPELLING: dict[str, Operator] = {}
SPELLINGS: Mapping[str, Operator] = MappingProxyType(_BY_SPELLING)
"""All operators by their spellings."""


def is_word(name: str) -> bool:
    """Return True if a name is reserved for an operator."""
    return name in _BY_SPELLING and not _BY_SPELLING[name].yields


def register(operator: Operator) -> None:
    """Add a row to the table; ValueError if one of its spellings is taken."""
    taken = [spelling for spelling in operator.spellings if spelling in _BY_SPELLING]
    if taken:
        raise ValueError(f"there is an operator {taken[0]!r} already")
    OPERATORS.append(operator)
    _BY_SPELLING.update(dict.fromkeys(operator.spellings, operator))
    _note_change()


def _note_change() -> None:
    for cells in EVERYONE:  # some of whose cells are derived from rows
        cells.changes += 1


def operator_named(spelling: str) -> Operator:
    """Return the operator with this spelling; KeyError if there is none."""
    return _BY_SPELLING[spelling]


EVERYONE: list["Cells"] = []  # type: ignore[type-arg]  # each has cells of its own kind
"""All tables of cells in modules that were imported."""

for _row in (
    EVENTUALLY, GLOBALLY, AND, OR, NOT, IMPLIES, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL,
    ABS, DIFFERENCE, SIGN, COUNT, MISSING, ELAPSED, GONE, CHANGE,
    EVENTUALLY_WITHIN, GLOBALLY_WITHIN, LEFT,
    NEXT, PREVIOUS, ONCE, HISTORICALLY, ONCE_WITHIN, HISTORICALLY_WITHIN, UNTIL, UNLESS, SINCE,
    RISE, FALL, BEFORE, BEFORE_WITHIN, EPISODES, LONGEST,
    MEAN_WITHIN, MIN_WITHIN, MAX_WITHIN, SPREAD_WITHIN, TOTAL, LATEST,
    MEAN, MIN, MAX, SPREAD, SLOPE, FIRST, LAST, WHEN_MIN, WHEN_MAX, DISTANCE, LENGTH,
):  # fmt: skip
    register(_row)


# ---- Tables of cells: each package that must know every operator has one. A missing cell is an error that names it.

T = TypeVar("T")


class Cells(MutableMapping[Operator, T]):
    """A package's knowledge of each operator; a missing cell is an OperatorError."""

    def __init__(
        self,
        who: str,
        place: str,
        cells: Mapping[Operator, T],
        about: Callable[[Operator], bool] = lambda _: True,
        derived: Callable[[Operator], T | None] = lambda _: None,
    ) -> None:
        """`who` needs the cells, at `place` in the source; `about` selects the operators that must have one.

        `derived` makes the cell of an operator without one of its own from its row; None if it cannot.
        """
        self.who, self.place, self.about, self._derived = who, place, about, derived
        self._cells = dict(cells)
        self.changes = 0
        """A counter of changes to the table, for caches of what follows from it."""
        EVERYONE.append(self)

    def __getitem__(self, operator: Operator) -> T:
        cell = self._cells[operator] if operator in self._cells else self._derived(operator)
        if cell is None:
            raise OperatorError(operator.name, f"{self.place} ({self.who})")
        return cell

    def __contains__(self, operator: object) -> bool:
        return operator in self._cells or (isinstance(operator, Operator) and self._derived(operator) is not None)

    def __setitem__(self, operator: Operator, cell: T) -> None:
        self._cells[operator] = cell
        self.changes += 1

    def __delitem__(self, operator: Operator) -> None:
        del self._cells[operator]
        self.changes += 1

    def __iter__(self) -> Iterator[Operator]:
        yield from self._cells
        yield from (row for row in OPERATORS if row not in self._cells and row in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


_TABLE = "logic/operators.py"
_IN_ROWS = {"LaTeX": "latex", "the paper's English": "english", "messages": "operands", "text": "spellings"}
"""Readers whose cells are fields of the rows themselves."""


def missing_cells() -> list[str]:
    """Return a line for each missing cell, with the operator, its reader, and the place in the source."""
    lacks = [(row, who, _TABLE) for row in OPERATORS for who, field in _IN_ROWS.items() if not getattr(row, field)]
    lacks += [(row, of.who, of.place) for row in OPERATORS for of in EVERYONE if of.about(row) and row not in of]
    return [f"operator {row.name!r} has no cell for {who}: add it in {place}" for row, who, place in lacks]
