"""The normal form of formulas: negation only inside literals, flat lists, and one literal for each signal in a list.

A term is true or false at a step. `Sometime` and `Always` look from that step to the end, so when nested they mean
"then or later" and "from then on". A formula is true of a record if its term is true at the first step.
"""

from dataclasses import dataclass
from typing import TypeAlias

from telltree.operators import Expression
from telltree.speech.values import Orders, Reals, Values


@dataclass(frozen=True, slots=True)
class Says:
    """A literal: at this step, the value of a signal is one of these."""

    signal: Expression
    """An attribute of any type, or a real vector made of attributes (differences, functions). Not `abs` or `sign` of
    something compared with a constant: those are sets of values of that something."""
    values: Values


@dataclass(frozen=True, slots=True)
class Compares:
    """A literal: at this step, `first` relates to `second` in one of these ways. The two are in order of their text."""

    first: Expression
    second: Expression
    orders: Orders


@dataclass(frozen=True, slots=True)
class HowOften:
    """At how many steps of the whole record `part` is true, at whichever step it is asked: a set of whole numbers."""

    part: "Term"
    times: Reals


@dataclass(frozen=True, slots=True)
class Own:
    """What is not taken apart: a grammar's own sentence, a Boolean user function, arithmetic of counts."""

    expression: Expression
    holds: bool


@dataclass(frozen=True, slots=True)
class All:
    """Every one of two or more parts; none of them is an `All`. No parts: true."""

    parts: "tuple[Term, ...]"


@dataclass(frozen=True, slots=True)
class Some:
    """At least one of two or more parts; none of them is a `Some`. No parts: false."""

    parts: "tuple[Term, ...]"


@dataclass(frozen=True, slots=True)
class Sometime:
    """At this step or a later one."""

    part: "Term"


@dataclass(frozen=True, slots=True)
class Always:
    """At this step and all later ones."""

    part: "Term"


Literal: TypeAlias = Says | Compares | HowOften | Own
Term: TypeAlias = Literal | All | Some | Sometime | Always

TRUE, FALSE = All(()), Some(())
