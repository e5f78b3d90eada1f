"""A grammar with every name looked up and every group written out, before it is brought to normal form."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from telltree.grammar.text.source import NOWHERE, Place
from telltree.operators import Attribute, Level, Number, Operator, Shape, UserFunction
from telltree.operators.expression import RandomNumber


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
    place: Place = field(default=NOWHERE, compare=False)

    @property
    def opens(self) -> bool:
        """Whether a rule of its own fills it in: true of symbols and random constants."""
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
    place: Place = field(compare=False)


Draft = Term | Pick
Definitions = Mapping[str, tuple[Option, ...]]


def pick(bodies: list[Draft], place: Place) -> Draft:
    """One of these, with equal weights; a single one is not wrapped."""
    return bodies[0] if len(bodies) == 1 else Pick(tuple(map(Option, bodies)), place)


def open_places(body: Draft) -> Iterator[Draft]:
    """The symbols that a rule with this body leaves to other rules, in prefix order."""
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
        """The option with inline choices replaced by symbols; a random constant may be a whole rule."""
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

    def _symbol(self, options: tuple[Option, ...], place: Place) -> Term:
        # The same choice written twice is one symbol, so that crossover can exchange its subtrees.
        name = self._known.setdefault(options, str(len(self._known) + 1))
        self.symbols[name] = options
        return Term(Symbol(name), (), place)


def lift(definitions: Definitions) -> dict[str, tuple[Option, ...]]:
    """The definitions with a symbol of its own for every inline choice and every random constant."""
    lifting = _Lift()
    named = {symbol: tuple(map(lifting.option, options)) for symbol, options in definitions.items()}
    return named | lifting.symbols
