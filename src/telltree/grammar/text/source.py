"""The source tree of a grammar: what its author wrote, with places, before names are looked up.

The languages that telltree itself writes begin here: as text, thousands of columns would take seconds to parse.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from telltree.errors import GrammarError
from telltree.operators import Operator

DEEPEST = 100  # levels of nesting; later stages are recursive, and nobody reads deeper ones
LEAST_WEIGHT, MOST_WEIGHT = 1e-6, 1e6  # beyond these limits an alternative would never be drawn, or always


class Place(NamedTuple):
    """Where something stands in the text, from 1."""

    line: int
    column: int


NOWHERE = Place(1, 1)
"""The place of what telltree itself writes, which has no text."""


class Name(NamedTuple):
    """The name of an attribute or a symbol; certainly an attribute if it is quoted."""

    text: str
    quoted: bool
    place: Place = NOWHERE


class Constant(NamedTuple):
    """A number or the name of a category; with a unit, an amount of time."""

    value: float | str
    place: Place = NOWHERE
    unit: str = ""
    unit_place: Place = NOWHERE


class Supply(NamedTuple):
    """A source of constants: `word` is grid, quantiles, random, thresholds, levels, other or list."""

    word: str
    values: tuple[float | str, ...]
    place: Place = NOWHERE


class Each(NamedTuple):
    """A selector: every attribute of a type, or of a kind."""

    word: str
    """real, Boolean, categorical or kind"""
    kind: str
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Call:
    """A name before parentheses."""

    name: str
    args: tuple["Source", ...]
    place: Place = NOWHERE
    bounds: int = 0
    """How many of the arguments, the last ones, stand in brackets before the parentheses."""
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", _depth_over(self.args, self.place))


@dataclass(frozen=True, slots=True)
class Apply:
    """A connective or a difference."""

    operator: Operator
    args: tuple["Source", ...]
    place: Place = NOWHERE
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", _depth_over(self.args, self.place))


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison by one operator, or by any of a set of them."""

    operators: tuple[Operator, ...]
    left: "Source"
    right: "Source"
    place: Place = NOWHERE
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", _depth_over((self.left, self.right), self.place))


class English(NamedTuple):
    """The sentence of an alternative, as written."""

    text: str
    place: Place = NOWHERE


class Alternative(NamedTuple):
    """One of the alternatives of a symbol or an inline choice."""

    body: "Source"
    weight: float = 1.0
    english: English | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """An inline choice."""

    alternatives: tuple[Alternative, ...]
    place: Place = NOWHERE
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", _depth_over(tuple(a.body for a in self.alternatives), self.place))


Source = Name | Constant | Supply | Each | Call | Apply | Comparison | Choice


def any_of(bodies: Sequence[Source]) -> Source:
    """An inline choice among these; a single one is not wrapped."""
    return bodies[0] if len(bodies) == 1 else Choice(tuple(map(Alternative, bodies)))


class Definition(NamedTuple):
    """A symbol and its alternatives."""

    symbol: str
    alternatives: tuple[Alternative, ...]
    place: Place = NOWHERE


def _depth_over(below: tuple[Source, ...], place: Place) -> int:
    depth = 1 + max((getattr(source, "depth", 0) for source in below), default=0)
    if depth > DEEPEST:
        raise GrammarError(f"nested more than {DEEPEST} levels deep; name the inner part in a rule of its own", *place)
    return depth
