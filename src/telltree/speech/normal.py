"""From formulas to the normal form."""

from collections.abc import Callable, Container, Iterable
from typing import TypeAlias

from telltree.operators import Expression, Operator, Type
from telltree.operators.cells import Cells
from telltree.operators.table import AND, EVENTUALLY, GLOBALLY, IMPLIES, NOT, OR
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
    """The simplest normal form found of a formula, or of a Boolean vector.

    It is true where the expression is, of every record there could be: one in which only the columns of `missing` miss
    values (None: any may), those of `static` have one value, and of which the `settled` formulas are true. A formula's
    term is true or false at the first step of a record, that of a Boolean vector at every step.
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
    if has_own_words(e):
        return Own(e, truth)
    if isinstance(e.head, Operator) and e.head.joins:
        return APART[e.head](e, possible, truth)
    count = counted(e)
    atom = literal_of(e) if count is None else HowOften(taken_apart(count[0], possible), count[1])
    term = atom if isinstance(atom, All | Some | Sometime | Always) else possible.literal(atom)
    return term if truth else possible.negated(term)


def kept_whole(e: Expression, possible: Possible, truth: bool) -> Term:
    """What the normal form has no term for is told in the operator's own phrase."""
    return Own(e, truth)


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
    },
    about=lambda operator: operator.joins,
)
"""How a formula, or its negation, becomes a term."""
