"""From formulas to the normal form."""

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from telltree.operators import Attribute, Expression, Operator, Type
from telltree.operators.cells import Cells
from telltree.operators.table import (
    AND,
    BEFORE,
    BEFORE_WITHIN,
    EVENTUALLY,
    EVENTUALLY_WITHIN,
    FALL,
    GLOBALLY,
    GLOBALLY_WITHIN,
    HISTORICALLY,
    HISTORICALLY_WITHIN,
    IMPLIES,
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
)
from telltree.speech.atoms import counted, has_own_words, literal_of
from telltree.speech.lists import Kind, joined
from telltree.speech.possible import Possible
from telltree.speech.simplify import simplified
from telltree.speech.terms import All, Always, HowOften, Own, Some, Sometime, Term

_Apart: TypeAlias = Callable[[Expression, Possible, bool], Term]


def term_of(
    expression: Expression,
    missing: Container[str] | None = None,
    *,
    static: Container[str] = (),
    settled: Iterable[Expression] = (),
) -> Term:
    """The simplest normal form that is found for a formula or a Boolean vector.

    It is true where the expression is, on every possible record: only the columns of `missing` miss values (None: any
    may), those of `static` have one value, and the `settled` formulas are true. The term of a formula is true or false
    at the first step of a record, that of a Boolean vector at every step.
    """
    possible = Possible(missing, static)
    return simplified(
        taken_apart(expression, possible),
        possible,
        [taken_apart(claim, possible) for claim in settled],
        first=expression.type is Type.BOOLEAN,
    )


def taken_apart(e: Expression, possible: Possible, truth: bool = True) -> Term:
    """The normal form of an expression, or of its negation, as it stands: nothing is simplified but flat lists."""
    if has_own_words(e) and not isinstance(e.head, Attribute):  # a column's words may be denied, or have an adverb
        return Own(e, truth)
    if isinstance(e.head, Operator) and e.head.joins:
        return APART[e.head](e, possible, truth)
    count = counted(e)
    atom = literal_of(e) if count is None else HowOften(taken_apart(count[0], possible), count[1])
    term = atom if isinstance(atom, All | Some | Sometime | Always) else possible.literal(atom)
    return term if truth else possible.negated(term)


@dataclass(frozen=True, slots=True)
class KeptWhole:
    """What the normal form has no term for is told in the operator's own phrase."""

    opposite: Operator | None = None
    """The operator that, of the opposite of the operand, says that it is not so."""

    def __call__(self, e: Expression, possible: Possible, truth: bool) -> Term:
        if truth or self.opposite is None:
            return Own(e, truth)
        operand = e.args[0].args[0] if e.args[0].head is NOT else Expression(NOT, (e.args[0],))
        return Own(Expression(self.opposite, (operand, *e.args[1:])), True)


kept_whole = KeptWhole()


def _negation(e: Expression, possible: Possible, truth: bool) -> Term:
    return taken_apart(e.args[0], possible, not truth)


def _over_time(straight: type[Sometime] | type[Always], opposite: type[Sometime] | type[Always]) -> _Apart:
    def apart(e: Expression, possible: Possible, truth: bool) -> Term:
        return (straight if truth else opposite)(taken_apart(e.args[0], possible, truth))

    return apart


def _list(straight: Kind, opposite: Kind, turned: bool = False) -> _Apart:
    """A list of both operands, the first turned round or not; of their opposites, if it is negated."""

    def apart(e: Expression, possible: Possible, truth: bool) -> Term:
        parts = (taken_apart(e.args[0], possible, truth != turned), taken_apart(e.args[1], possible, truth))
        return joined(straight if truth else opposite, parts, possible)

    return apart


APART: Cells[_Apart] = Cells(
    "the normal form",
    "speech/normal.py",
    {
        NOT: _negation,
        EVENTUALLY: _over_time(Sometime, Always),
        GLOBALLY: _over_time(Always, Sometime),
        AND: _list(All, Some),
        OR: _list(Some, All),
        IMPLIES: _list(Some, All, turned=True),
        EVENTUALLY_WITHIN: KeptWhole(GLOBALLY_WITHIN),
        GLOBALLY_WITHIN: KeptWhole(EVENTUALLY_WITHIN),
        ONCE: KeptWhole(HISTORICALLY),
        HISTORICALLY: KeptWhole(ONCE),
        ONCE_WITHIN: KeptWhole(HISTORICALLY_WITHIN),
        HISTORICALLY_WITHIN: KeptWhole(ONCE_WITHIN),
        NEXT: kept_whole,
        PREVIOUS: kept_whole,
        UNTIL: kept_whole,
        UNLESS: kept_whole,
        SINCE: kept_whole,
        RISE: kept_whole,
        FALL: kept_whole,
        BEFORE: kept_whole,
        BEFORE_WITHIN: kept_whole,
    },
    about=lambda operator: operator.joins,
)
"""How a formula, or its negation, becomes a term."""
