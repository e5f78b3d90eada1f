"""Which parts of a conjunction follow from the others, for every possible record.

A formula follows from others if they and its negation cannot all be true. To find out, claims are taken apart until two
of them contradict each other: claims about one step, and those that hold from there on to the end. An implication that
is found is real. Not all are found: some would take too long, or need more than this method, such as arithmetic.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from telltree.engine import Formula
from telltree.logic import Attribute, Expression, Level, Number, Type
from telltree.logic.expression import spelt_out
from telltree.logic.operators import (
    AND,
    BEFORE,
    BEFORE_WITHIN,
    COMPARISONS,
    EVENTUALLY,
    EVENTUALLY_WITHIN,
    FALL,
    GLOBALLY,
    GLOBALLY_WITHIN,
    HISTORICALLY,
    HISTORICALLY_WITHIN,
    IMPLIES,
    MIRRORED,
    MISSING,
    NEXT,
    NOT,
    ONCE,
    ONCE_WITHIN,
    OR,
    PREVIOUS,
    RISE,
    SINCE,
    UNLESS,
    UNTIL,
    Cells,
    Operator,
)

Branch = tuple[Formula, bool]
Signal: TypeAlias = Expression | tuple[Expression, Expression]
Claim: TypeAlias = "Literal | Both | Either | SometimeClaim | AlwaysClaim"
Claimed: TypeAlias = Callable[[Expression, bool], "Claim"]

MOST_STATES = 400  # examined for one question
DEEPEST = 60  # choices and steps into the future, nested


@dataclass(frozen=True, slots=True)
class Literal:
    """An atom or its negation: at this step, `signal` is (or is not) in `relation` to `constant`."""

    signal: Signal
    """What is compared with a constant; or two vectors that are compared with each other (the constant is then 0)."""
    relation: str
    """A comparison, or "missing"."""
    constant: float | str | None
    holds: bool
    lasting: bool
    """Whether it is the same at every step, and never missing: true of comparisons of counts."""


@dataclass(frozen=True, slots=True)
class Both:
    """All of these."""

    parts: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """At least one of these."""

    parts: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class SometimeClaim:
    """At this step or a later one."""

    part: Claim


@dataclass(frozen=True, slots=True)
class AlwaysClaim:
    """At this step and all later ones."""

    part: Claim


def redundant(branches: Sequence[Branch]) -> list[bool]:
    """Which conjuncts to leave out: together they follow from those that stay, for every possible record.

    A branch is a formula and whether it is true. Earlier branches, which say less about a category, are dropped first.
    """
    claims = [_claim(formula.expression, truth) for formula, truth in branches]
    denials = [_claim(formula.expression, not truth) for formula, truth in branches]
    dropped = [False] * len(claims)
    for i, denial in enumerate(denials):
        others = [claim for j, claim in enumerate(claims) if j != i and not dropped[j]]
        dropped[i] = _Refutation().impossible((*others, denial))
    return dropped


def follows(formula: Formula, branches: Sequence[Branch]) -> bool:
    """Whether a formula follows from branches for every possible record, as far as can be found."""
    claims = [_claim(above.expression, truth) for above, truth in branches]
    return _Refutation().impossible([*claims, _claim(formula.expression, False)])


def shown(branches: Sequence[Branch]) -> tuple[Branch, ...]:
    """The conjuncts worth showing, in order: the others follow from them. At least the last one stays."""
    kept = [branch for branch, follows in zip(branches, redundant(branches), strict=True) if not follows]
    return tuple(kept or branches[-1:])


class _Refutation:
    """Looks for a contradiction, within limits."""

    def __init__(self) -> None:
        self._left = MOST_STATES

    def impossible(self, claims: Iterable[Claim], depth: int = 0) -> bool:
        """Whether no record has a step at which all the claims are true, as far as can be found."""
        self._left -= 1
        if self._left < 0 or depth > DEEPEST:
            return False
        known = _taken_apart(claims)
        if _clash([claim for claim in known if isinstance(claim, Literal)]):
            return True
        for choice in known:
            if isinstance(choice, Either) and not any(part in known for part in choice.parts):
                return all(self.impossible((*known, part), depth + 1) for part in choice.parts)
        later = [
            claim for claim in known if isinstance(claim, AlwaysClaim) or (isinstance(claim, Literal) and claim.lasting)
        ]
        return any(
            self.impossible((claim.part, *later), depth + 1)
            for claim in known
            if isinstance(claim, SometimeClaim) and claim.part not in known
        )


def _taken_apart(claims: Iterable[Claim]) -> dict[Claim, None]:
    """The claims, and everything that they say of this step without a choice, each once, in order."""
    known: dict[Claim, None] = {}
    waiting = list(claims)
    for claim in waiting:  # grows during the loop
        if claim not in known:
            known[claim] = None
            match claim:
                case Both(parts):
                    waiting.extend(parts)
                case AlwaysClaim(part):
                    waiting.append(part)
    return known


def _clash(literals: Iterable[Literal]) -> bool:
    """Whether no value of some signal satisfies all claims about it."""
    by_signal: dict[Signal, list[Literal]] = {}
    for literal in literals:
        by_signal.setdefault(literal.signal, []).append(literal)
    return any(not _values(said) for said in by_signal.values())


def _values(said: Sequence[Literal]) -> set[int]:
    """Which values satisfy all literals on one signal, as numbers of intervals.

    The constants divide the line: 0 is everything below the first, 1 the first itself, 2 everything between it and the
    second … and the last number stands for a missing value. Categories are put on a line too, in any order.
    """
    points = sorted({literal.constant for literal in said if literal.constant is not None})
    end = 2 * len(points) + 1
    left = set(range(end if said[0].lasting else end + 1))
    for literal in said:
        place = end if literal.constant is None else 2 * points.index(literal.constant) + 1
        true = {
            "<": range(place),
            "<=": range(place + 1),
            ">": range(place + 1, end),
            ">=": range(place, end),
            "=": range(place, place + 1),
            "missing": range(end, end + 1),
        }[literal.relation]
        left = left.intersection(true) if literal.holds else left.difference(true)
    return left


def _claim(e: Expression, truth: bool) -> Claim:
    """What it says of a step that the expression is true, or false, there; negations are pushed into the literals."""
    if isinstance(e.head, Operator) and e.head.joins:
        return CLAIMS[e.head](e, truth)
    return _literal(e, truth)


def opaque(e: Expression, truth: bool) -> Claim:
    """What is not taken apart: it is so or not, and clashes with nothing but its opposite."""
    return Literal(e, "=", 1.0, truth, False)


def _over_time(
    straight: type[SometimeClaim] | type[AlwaysClaim], opposite: type[SometimeClaim] | type[AlwaysClaim]
) -> Claimed:
    return lambda e, truth: (straight if truth else opposite)(_claim(e.args[0], truth))


def _some_step(e: Expression, truth: bool) -> Claim:
    """One of the steps of a window: it is itself, and what it says of any step from here on."""
    if not truth:
        return _all_steps(Expression(GLOBALLY_WITHIN, (_opposite(e.args[0]), *e.args[1:])), True)
    return Both((opaque(e, True), SometimeClaim(_claim(e.args[0], True))))


def _all_steps(e: Expression, truth: bool) -> Claim:
    """All steps of a window: of the step at hand, if it is one of them."""
    if not truth:
        return _some_step(Expression(EVENTUALLY_WITHIN, (_opposite(e.args[0]), *e.args[1:])), True)
    here = (_claim(e.args[0], True),) if e.window[0] == 0 else ()
    return Both((_denied(e), *here))


def _denied(e: Expression) -> Claim:
    """All steps of a window, as what a literal about some step of it denies."""
    return opaque(Expression(EVENTUALLY_WITHIN, (_opposite(e.args[0]), *e.args[1:])), False)


def _opposite(e: Expression) -> Expression:
    return e.args[0] if e.head is NOT else Expression(NOT, (e,))


def _joined(straight: type[Both] | type[Either], opposite: type[Both] | type[Either], turned: bool = False) -> Claimed:
    return lambda e, truth: (straight if truth else opposite)(
        (_claim(e.args[0], truth != turned), _claim(e.args[1], truth))
    )


CLAIMS: Cells[Claimed] = Cells(
    "implication",
    "explain/implication.py",
    {
        NOT: lambda e, truth: _claim(e.args[0], not truth),
        EVENTUALLY: _over_time(SometimeClaim, AlwaysClaim),
        GLOBALLY: _over_time(AlwaysClaim, SometimeClaim),
        AND: _joined(Both, Either),
        OR: _joined(Either, Both),
        IMPLIES: _joined(Either, Both, turned=True),
        EVENTUALLY_WITHIN: _some_step,
        GLOBALLY_WITHIN: _all_steps,
        **dict.fromkeys((RISE, FALL, BEFORE, BEFORE_WITHIN), lambda e, truth: _claim(spelt_out(e), truth)),
        **dict.fromkeys(
            (NEXT, PREVIOUS, ONCE, HISTORICALLY, ONCE_WITHIN, HISTORICALLY_WITHIN, UNTIL, UNLESS, SINCE), opaque
        ),
    },
    about=lambda operator: operator.joins,
)
"""What it says of a step that a formula is true, or false, there."""


def _literal(e: Expression, truth: bool) -> Claim:
    if isinstance(e.head, Operator) and e.head in COMPARISONS:
        return _comparison(e, e.head.name, truth)
    if e.head is MISSING:
        asked = e.args[0]
        if asked.type is Type.BOOLEAN_VECTOR and not isinstance(asked.head, Attribute):
            return Either(()) if truth else Both(())  # a formula is never missing
        return Literal(asked, "missing", None, truth, False)
    return opaque(e, truth)


def _comparison(e: Expression, relation: str, truth: bool) -> Literal:
    left, right = e.args
    lasting = e.type is Type.BOOLEAN
    if isinstance(left.head, Number):
        left, right, relation = right, left, MIRRORED[relation]
    if isinstance(right.head, Number):
        return Literal(left, relation, right.head.value, truth, lasting)
    if isinstance(right.head, Level):
        return Literal(left, relation, right.head.name, truth, lasting)
    if str(right) < str(left):
        left, right, relation = right, left, MIRRORED[relation]
    return Literal((left, right), relation, 0.0, truth, lasting)
