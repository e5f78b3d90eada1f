"""Expressions: operators over attributes and constants, and the user-defined functions among them."""

import dataclasses
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from telltree.errors import SettingsError
from telltree.logic.operators import (
    AND,
    BEFORE,
    BEFORE_WITHIN,
    COUNT,
    EPISODES,
    EVENTUALLY,
    EVENTUALLY_WITHIN,
    FALL,
    NOT,
    PREVIOUS,
    RISE,
    STARTS,
    Form,
    Operator,
    constant_text,
    is_word,
)
from telltree.logic.shapelet import Shape
from telltree.logic.types import Type, fits, number_text
from telltree.text import visible, visible_json

# ---- User-defined functions, which a grammar's author adds to the language.

_TAKES = {"real": Type.REAL_VECTOR, "Boolean": Type.BOOLEAN_VECTOR, "categorical": Type.CATEGORICAL_VECTOR}
_GIVES = {"real": Type.REAL_VECTOR, "Boolean": Type.BOOLEAN_VECTOR, "truth": Type.BOOLEAN}


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A vectorised Python function that formulas may call by name.

    `implementation` gets one NumPy array for each operand: floats (NaN where missing), Booleans (False where missing)
    or category names (None where missing), and returns an array of the same length, or one truth value if it gives
    "truth". It is called once for each record with that record's steps, or, if `elementwise`, once with the steps of
    many records laid end to end, which is much faster and right for every function whose result at a step depends on
    that step alone.
    """

    name: str
    implementation: Callable[..., Any]
    takes: tuple[str, ...]
    gives: str
    phrase: str
    """English with {0}, {1} … for the operands."""
    elementwise: bool = False

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[^\W\d]\w*", self.name) or is_word(self.name):
            raise SettingsError(
                f"a user function cannot be called {self.name!r}: use letters, digits and underscores, and none of "
                f"the operators' names"
            )
        wrong = [kind for kind in self.takes if kind not in _TAKES]
        if wrong or not self.takes:
            raise SettingsError(f"{self.name}: takes must list one or more of {sorted(_TAKES)}, got {self.takes!r}")
        if self.gives not in _GIVES:
            raise SettingsError(f"{self.name}: gives must be one of {sorted(_GIVES)}, got {self.gives!r}")
        if self.gives == "truth" and self.elementwise:
            raise SettingsError(f"{self.name}: a truth is of a whole record, and elementwise looks at single steps")
        if not callable(self.implementation):
            raise SettingsError(f"{self.name}: the implementation must be callable, got {self.implementation!r}")

    def __call__(self, *arrays: Any) -> Any:
        return self.implementation(*arrays)

    @property
    def symbol(self) -> str:
        return self.name

    @property
    def english(self) -> str:
        return self.phrase

    @property
    def latex(self) -> str:
        return r"\mathrm{" + self.name.replace("_", r"\_") + "}"

    @property
    def arity(self) -> int:
        return len(self.takes)

    @property
    def operands(self) -> str:
        return ", ".join(f"a {_TAKES[kind]}" for kind in self.takes)

    def result(self, types: tuple[Type, ...]) -> Type | None:
        """The type of a call with operands of these types, or None where they do not fit."""
        wanted = [_TAKES[kind] for kind in self.takes]
        matches = len(types) == len(wanted) and all(map(fits, types, wanted))
        return _GIVES[self.gives] if matches else None


def user_function(
    *, takes: Sequence[str], gives: str, phrase: str | None = None, name: str | None = None, elementwise: bool = False
) -> Callable[[Callable[..., Any]], UserFunction]:
    """Decorate a vectorised function to make it a word for grammars: `Grammar.parse(text, schema, functions=[f])`.

    takes: the types of its operands, each "real", "Boolean" or "categorical".
    gives: the type of its answer: "real" or "Boolean", one value per step; or "truth", one truth value of the whole
        record, which is a formula by itself, such as a rule of the start symbol.
    phrase: English with {0}, {1} … for the operands; by default "name of {0} and {1}".
    name: what grammars call it; by default the function's own name.
    elementwise: the answer at a step depends on that step alone, so that it may get many records at once.

    The function gets one NumPy array per operand: floats (NaN where missing), Booleans (False where missing) or
    category names (None where missing).
    """

    def register(implementation: Callable[..., Any]) -> UserFunction:
        called = name or str(getattr(implementation, "__name__", ""))
        words = phrase or f"{called} of " + " and ".join(f"{{{i}}}" for i in range(len(takes)))
        return UserFunction(called, implementation, tuple(takes), gives, words, elementwise)

    return register


# ---- Expressions: what a derivation spells out, as a tree of operators over attributes and constants.


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column of the panel."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Number:
    """A real constant."""

    value: float


@dataclass(frozen=True, slots=True)
class Level:
    """The name of a category."""

    name: str


@dataclass(frozen=True, slots=True)
class Hole:
    """A place in a rule's template that another rule fills."""

    symbol: str
    type: Type


@dataclass(frozen=True, slots=True)
class RandomNumber:
    """A real constant that is drawn from a range together with a derivation; it occurs only in templates of rules."""

    low: float
    high: float


Head = Operator | UserFunction | Attribute | Number | Level | Shape | Hole | RandomNumber
_APPLIED = (Operator, UserFunction)


@dataclass(frozen=True)
class Expression:
    """A head applied to arguments; leaves have none. Equality ignores `english`."""

    head: Head
    args: tuple["Expression", ...] = ()
    english: str | None = field(default=None, compare=False)
    """The sentence of the grammar rule that wrote this node, in place of its operator's, with {0}, {1} … for `parts`.
    """
    parts: tuple["Expression", ...] = field(default=(), compare=False, repr=False)
    """The expressions that filled that rule's holes, in order."""

    def __post_init__(self) -> None:
        if isinstance(self.head, _APPLIED) and len(self.args) != self.head.arity:
            raise ValueError(f"{self.head.symbol} takes {self.head.arity} operands, got {len(self.args)}")

    @cached_property
    def _hash(self) -> int:
        return hash((self.head, self.args))

    def __hash__(self) -> int:
        """Cached: expressions are looked up by the thousand, and are deep."""
        return self._hash

    def __getstate__(self) -> dict[str, object]:
        """Everything but the hash, which differs between processes."""
        return {name: value for name, value in self.__dict__.items() if name != "_hash"}

    @cached_property
    def type(self) -> Type:
        """The type of the whole; ValueError if the operands do not fit, which the parser rules out."""
        match self.head:
            case Number() | RandomNumber():
                return Type.REAL
            case Level():
                return Type.LEVEL
            case Shape():
                return Type.SHAPE
            case Attribute() | Hole():
                return self.head.type
        found = self.head.result(tuple(arg.type for arg in self.args))
        if found is None:
            types = ", ".join(str(arg.type) for arg in self.args)
            raise ValueError(f"{self.head.symbol} takes {self.head.operands}, got {types}")
        return found

    @property
    def operands(self) -> tuple["Expression", ...]:
        """The arguments without the parameters of an operator."""
        return self.args[: self.head.takes] if isinstance(self.head, Operator) else self.args

    @property
    def signals(self) -> tuple["Expression", ...]:
        """The operands that are not Boolean."""
        return tuple(e for e in self.operands if e.type not in (Type.BOOLEAN, Type.BOOLEAN_VECTOR))

    @property
    def has_gaps(self) -> bool:
        """True if the value may be missing where no operand is: an operator that looks back may find nothing there."""
        traits = self.head.traits if isinstance(self.head, Operator) else None
        return traits is not None and (traits.gaps or (traits.window is not None and self.window[0] > 0))

    def parameter(self, name: str) -> float:
        """Return the number given for a parameter of its operator; KeyError if it has none of this name."""
        rows = self.head.parameters if isinstance(self.head, Operator) else ()
        given = {row.name: arg.head for row, arg in zip(rows, self.args[len(self.operands) :], strict=True)}
        head = given[name]
        assert isinstance(head, Number), "a parameter is a constant, but for templates"
        return head.value

    @property
    def shape(self) -> Shape:
        """The shape with which a distance compares."""
        head = self.args[-1].head
        assert isinstance(head, Shape), f"{self.head} compares with no shape"
        return head

    @property
    def window(self) -> tuple[float, float]:
        """The first and last step that its operator looks at, relative to the current step; it must have a window."""
        bounds = self.head.window if isinstance(self.head, Operator) else None
        assert bounds is not None, f"{self.head} looks along no time"
        first, last = (self.parameter(bound) if isinstance(bound, str) else float(bound) for bound in bounds)
        return first, last

    @cached_property
    def terminals(self) -> int:
        """The number of terminals in the text, as the paper counts: F(x1 ∧ x2) has four."""
        return 1 + sum(arg.terminals for arg in self.args)

    @cached_property
    def depth(self) -> int:
        """The depth of nested operators: F(x1 ∧ (x3 < 2)) has depth 3."""
        return (1 + max(arg.depth for arg in self.args)) if self.args else 0

    def walk(self) -> Iterator["Expression"]:
        """Yield this node and all below it, in prefix order."""
        yield self
        for arg in self.args:
            yield from arg.walk()

    def attributes(self) -> tuple[str, ...]:
        """Return the names of the columns it mentions, each once, in order of appearance."""
        return tuple(dict.fromkeys(e.head.name for e in self.walk() if isinstance(e.head, Attribute)))

    def __str__(self) -> str:
        return _text(self)

    def latex(self) -> str:
        """The formula as LaTeX mathematics."""
        return _latex(self)


def conjunction(parts: list[Expression]) -> str:
    """Join formulas by ∧ on one level, as the paper writes the description of a category."""
    if len(parts) == 1:
        return _text(parts[0])
    return f" {AND.symbol} ".join(_operand(part) for part in parts) or "true"


_PLAIN_NAME = re.compile(r"[^\W\d]\w*")
_WORDS = {
    "each", "other", "grid", "quantiles", "thresholds", "levels", "random", "real", "Boolean", "categorical", "kind"
}  # fmt: skip


@lru_cache(maxsize=10_000)
def name_text(name: str) -> str:
    """Return a column's name as formulas write it: bare where that is unambiguous, else in backticks with escapes."""
    if _PLAIN_NAME.fullmatch(name) and name not in _WORDS and not is_word(name):
        return name
    return "`" + level_text(name)[1:-1].replace('\\"', '"').replace("`", "\\u0060") + "`"


def level_text(name: str) -> str:
    """Return a category's name as formulas write it: in double quotes, with JSON's escapes."""
    return visible_json(json.dumps(name, ensure_ascii=False))


def _text(e: Expression) -> str:  # noqa: PLR0911  one return a kind of node
    match e.head:
        case Attribute():
            return name_text(e.head.name)
        case Number() | Shape():
            return _constant(e.head)
        case Level():
            return level_text(e.head.name)
        case Hole():
            return e.head.symbol
        case RandomNumber():
            return f"random({number_text(e.head.low)}, {number_text(e.head.high)})"
        case Operator(form=Form.INFIX):
            return f"{_operand(e.args[0])} {e.head.symbol} {_operand(e.args[1])}"
        case Operator(form=Form.PREFIX):
            return e.head.symbol + _operand(e.args[0])
        case Operator(form=Form.WINDOW):
            bounds = ", ".join(_text(arg) for arg in e.args[e.head.takes :])
            return f"{e.head.symbol}[{bounds}]({', '.join(_text(arg) for arg in e.operands)})"
    return f"{e.head.symbol}({', '.join(_text(arg) for arg in e.args)})"


def _constant(head: Number | Shape) -> str:
    return constant_text(head.value if isinstance(head, Number) else head)


def _operand(e: Expression) -> str:
    """Write an operand; infix expressions inside others have brackets, so nobody needs to know the precedence."""
    infix = isinstance(e.head, Operator) and e.head.form is Form.INFIX
    return f"({_text(e)})" if infix else _text(e)


_LATEX_SPECIAL = {c: "\\" + c for c in "#$%&_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\n": " "
}  # fmt: skip


def _latex_words(text: str) -> str:
    return r"\text{" + "".join(_LATEX_SPECIAL.get(c, c) for c in visible(text)) + "}"


def _latex(e: Expression) -> str:  # noqa: PLR0911  one return a kind of node
    match e.head:
        case Attribute() | Level():
            return _latex_words(e.head.name)
        case Number() | Shape():
            return _constant(e.head)
        case Hole() | RandomNumber():
            return _latex_words(_text(e))
        case Operator(form=Form.INFIX):
            left, right = (_latex_operand(arg) for arg in e.args)
            return f"{left} {e.head.latex} {right}"
        case Operator(form=Form.PREFIX):
            return f"{e.head.latex} {_latex_operand(e.args[0])}"
        case Operator(form=Form.WINDOW):
            bounds = ", ".join(_latex(arg) for arg in e.args[e.head.takes :])
            return f"{e.head.latex}_{{[{bounds}]}}({', '.join(_latex(arg) for arg in e.operands)})"
    return f"{e.head.latex}({', '.join(_latex(arg) for arg in e.args)})"


def _latex_operand(e: Expression) -> str:
    infix = isinstance(e.head, Operator) and e.head.form is Form.INFIX
    return f"({_latex(e)})" if infix else _latex(e)


# ---- Formulas with few digits, for people to read.


def rounded(e: Expression, digits: int | None) -> Expression:
    """Return the expression with its constants in this many significant digits; None leaves them unchanged."""
    if digits is None:
        return e
    if isinstance(e.head, Number):
        few = float(f"{e.head.value:.{digits}g}")
        return dataclasses.replace(e, head=Number(few)) if math.isfinite(few) else e  # not past the largest float
    if e.operands != e.args:  # parameters are not measurements
        few_operands = tuple(rounded(operand, digits) for operand in e.operands)
        return dataclasses.replace(e, args=(*few_operands, *e.args[len(few_operands) :]))
    args, parts = (tuple(rounded(below, digits) for below in side) for side in (e.args, e.parts))
    return dataclasses.replace(e, args=args, parts=parts)


# ---- Operators that say in one word what others say in several.


def spelt_out(e: Expression) -> Expression:
    """Return the same in other operators, if its own is an abbreviation; operands stay as they are, and may occur
    twice.
    """
    return SPELT_OUT[e.head](*e.args) if isinstance(e.head, Operator) and e.head in SPELT_OUT else e


def all_spelt_out(e: Expression) -> Expression:
    """Return the expression with all abbreviations spelt out, at any depth."""
    whole = spelt_out(e)
    return dataclasses.replace(whole, args=tuple(map(all_spelt_out, whole.args))) if whole.args else whole


def once_each(e: Expression) -> Expression:
    """Spell an abbreviation out with each operand once and in the same order, as templates need it."""
    if e.head is EPISODES:
        return Expression(COUNT, (Expression(STARTS, e.args),))
    return spelt_out(e) if e.head in (BEFORE, BEFORE_WITHIN) else e


def _and(a: Expression, b: Expression) -> Expression:
    return Expression(AND, (a, b))


def _not(a: Expression) -> Expression:
    return Expression(NOT, (a,))


def _previous(a: Expression) -> Expression:
    return Expression(PREVIOUS, (a,))


def _before(a: Expression, b: Expression, first: Expression, last: Expression) -> Expression:
    return Expression(EVENTUALLY, (_and(a, Expression(EVENTUALLY_WITHIN, (b, first, last))),))


_NEXT, _LAST = Expression(Number(1.0)), Expression(Number(math.inf))

SPELT_OUT: dict[Operator, Callable[..., Expression]] = {
    RISE: lambda a: _and(a, _previous(_not(a))),
    FALL: lambda a: _and(_not(a), _previous(a)),
    BEFORE: lambda a, b: _before(a, b, _NEXT, _LAST),
    BEFORE_WITHIN: _before,
    EPISODES: lambda a: Expression(COUNT, (_and(a, _not(_previous(a))),)),
}
