"""The syntax tree of a grammar as its author wrote it, and the draft in which every name is looked up."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from telltree.errors import GrammarError
from telltree.logic import Attribute, Level, Number, Shape, UserFunction
from telltree.logic.expression import RandomNumber
from telltree.logic.operators import Operator

# ---- The syntax tree, with places, before names are looked up.
#
# Languages that telltree itself writes are built as syntax trees: parsing the text of thousands of columns would take
# seconds.

DEEPEST = 100  # levels of nesting; later stages are recursive, and nobody reads deeper ones
LEAST_WEIGHT, MOST_WEIGHT = 1e-6, 1e6  # beyond these limits an alternative would never be drawn, or always


class TextPlace(NamedTuple):
    """The line and column of something in the text, from 1."""

    line: int
    column: int


NOWHERE = TextPlace(1, 1)
"""The place of anything that telltree itself writes, which has no text."""


class Name(NamedTuple):
    """The name of an attribute or a symbol; certainly an attribute if it is quoted."""

    text: str
    quoted: bool
    place: TextPlace = NOWHERE


class Constant(NamedTuple):
    """A number or the name of a category; with a unit, an amount of time."""

    value: float | str
    place: TextPlace = NOWHERE
    unit: str = ""
    unit_place: TextPlace = NOWHERE


class Supply(NamedTuple):
    """A source of constants: `word` is grid, quantiles, random, thresholds, levels, other or list."""

    word: str
    values: tuple[float | str, ...]
    place: TextPlace = NOWHERE


class Each(NamedTuple):
    """A selector: every attribute of a type, or of a kind."""

    word: str
    """real, Boolean, categorical or kind"""
    kind: str
    place: TextPlace = NOWHERE


@dataclass(frozen=True, slots=True)
class Call:
    """A name before parentheses."""

    name: str
    args: tuple["Source", ...]
    place: TextPlace = NOWHERE
    bounds: int = 0
    """The number of arguments, the last ones, that stand in brackets before the parentheses."""
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", _depth_over(self.args, self.place))


@dataclass(frozen=True, slots=True)
class Apply:
    """A connective or a difference."""

    operator: Operator
    args: tuple["Source", ...]
    place: TextPlace = NOWHERE
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", _depth_over(self.args, self.place))


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison by one operator, or by any of a set of them."""

    operators: tuple[Operator, ...]
    left: "Source"
    right: "Source"
    place: TextPlace = NOWHERE
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", _depth_over((self.left, self.right), self.place))


class English(NamedTuple):
    """The sentence of an alternative, as written."""

    text: str
    place: TextPlace = NOWHERE


class Alternative(NamedTuple):
    """One of the alternatives of a symbol or an inline choice."""

    body: "Source"
    weight: float = 1.0
    english: English | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """An inline choice."""

    alternatives: tuple[Alternative, ...]
    place: TextPlace = NOWHERE
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", _depth_over(tuple(a.body for a in self.alternatives), self.place))


Source = Name | Constant | Supply | Each | Call | Apply | Comparison | Choice


def any_of(bodies: Sequence[Source]) -> Source:
    """Return an inline choice among these; a single one is not wrapped."""
    return bodies[0] if len(bodies) == 1 else Choice(tuple(map(Alternative, bodies)))


class Definition(NamedTuple):
    """A symbol and its alternatives."""

    symbol: str
    alternatives: tuple[Alternative, ...]
    place: TextPlace = NOWHERE


def _depth_over(below: tuple[Source, ...], place: TextPlace) -> int:
    depth = 1
    for source in below:
        depth = max(depth, 1 + getattr(source, "depth", 0))
    if depth > DEEPEST:
        raise GrammarError(f"nested more than {DEEPEST} levels deep; name the inner part in a rule of its own", *place)
    return depth


# ---- The draft, with every name looked up and every group written out, before it is brought to normal form.


@dataclass(frozen=True, slots=True)
class Symbol:
    """A reference to a symbol; unnamed ones have numbers as names, which no text can contain."""

    name: str

    @property
    def named(self) -> bool:
        return not self.name.isdigit()


@dataclass(frozen=True, slots=True)
class Term:
    """A head applied to arguments; equality ignores where it was written."""

    head: Operator | UserFunction | Attribute | Number | Level | Shape | RandomNumber | Symbol
    args: tuple["Draft", ...] = ()
    place: TextPlace = field(default=NOWHERE, compare=False)

    @property
    def opens(self) -> bool:
        """True if a rule of its own fills it in, as for symbols and random constants."""
        return isinstance(self.head, (Symbol, RandomNumber))


class Option(NamedTuple):
    """One alternative. Its English has {0}, {1} … for the parts of the body, or {0} for a body that only renames."""

    body: "Draft"
    weight: float = 1.0
    english: str | None = None


@dataclass(frozen=True, slots=True)
class Pick:
    """An inline choice."""

    options: tuple[Option, ...]
    place: TextPlace = field(compare=False)


Draft = Term | Pick
Definitions = Mapping[str, tuple[Option, ...]]


def pick(bodies: list[Draft], place: TextPlace) -> Draft:
    """Return a choice among these, with equal weights; a single one is not wrapped."""
    return bodies[0] if len(bodies) == 1 else Pick(tuple(map(Option, bodies)), place)


def open_places(body: Draft) -> Iterator[Draft]:
    """Yield the symbols that a rule with this body leaves to other rules, in prefix order."""
    if isinstance(body, Pick) or body.opens:
        yield body
        return
    for arg in body.args:
        yield from open_places(arg)


class _Lift:
    def __init__(self) -> None:
        self.symbols: dict[str, tuple[Option, ...]] = {}
        self._known: dict[tuple[Option, ...], str] = {}
        self._done: dict[int, Term] = {}  # by identity: the operators of a set share the constants on their right

    def option(self, option: Option) -> Option:
        """Return the option with inline choices replaced by symbols; a random constant may be a whole rule."""
        body = option.body
        if isinstance(body, Term) and not body.args:
            return option
        return Option(self._term(body), option.weight, option.english)

    def _term(self, body: Draft) -> Term:
        if isinstance(body, Pick):
            if id(body) not in self._done:
                self._done[id(body)] = self._symbol(tuple(map(self.option, body.options)), body.place)
            return self._done[id(body)]
        if isinstance(body.head, RandomNumber):
            return self._symbol((Option(body),), body.place)
        return Term(body.head, tuple(map(self._term, body.args)), body.place) if body.args else body

    def _symbol(self, options: tuple[Option, ...], place: TextPlace) -> Term:
        # The same choice written twice is one symbol, so that crossover can exchange its subtrees.
        name = self._known.setdefault(options, str(len(self._known) + 1))
        self.symbols[name] = options
        return Term(Symbol(name), (), place)


def lift(definitions: Definitions) -> dict[str, tuple[Option, ...]]:
    """Return the definitions with a symbol of its own for every inline choice and every random constant."""
    lifting = _Lift()
    named = {symbol: tuple(map(lifting.option, options)) for symbol, options in definitions.items()}
    return named | lifting.symbols
