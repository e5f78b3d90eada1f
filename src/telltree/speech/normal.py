"""From formulas to the normal form."""

from collections.abc import Container, Iterable

from telltree.operators import Expression, Type
from telltree.operators.table import AND, EVENTUALLY, GLOBALLY, IMPLIES, NOT, OR
from telltree.speech.atoms import counted, has_own_words, literal_of
from telltree.speech.lists import joined
from telltree.speech.possible import Possible
from telltree.speech.simplify import simplified
from telltree.speech.terms import All, Always, HowOften, Own, Some, Sometime, Term


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
    """The normal form of an expression, or of its negation, without simplification except flat lists."""
    head = e.head
    if has_own_words(e):
        return Own(e, truth)
    if head is NOT:
        return taken_apart(e.args[0], possible, not truth)
    if head is EVENTUALLY or head is GLOBALLY:
        part = taken_apart(e.args[0], possible, truth)
        return Sometime(part) if (head is EVENTUALLY) == truth else Always(part)
    if head is AND or head is OR or head is IMPLIES:
        first = taken_apart(e.args[0], possible, truth != (head is IMPLIES))
        parts = (first, taken_apart(e.args[1], possible, truth))
        return joined(All if (head is AND) == truth else Some, parts, possible)
    count = counted(e)
    atom = literal_of(e) if count is None else HowOften(taken_apart(count[0], possible), count[1])
    term = atom if isinstance(atom, All | Some | Sometime | Always) else possible.literal(atom)
    return term if truth else possible.negated(term)
