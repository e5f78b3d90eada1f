"""Which of equivalent formulas to show."""

from collections.abc import Container, Iterable

from telltree.errors import GrammarError
from telltree.operators import Attribute, Expression, Type
from telltree.speech.cost import cost
from telltree.speech.literals import Possible
from telltree.speech.normal import taken_apart
from telltree.speech.simplify import simplified
from telltree.speech.terms import All, Always, Some, Term
from telltree.speech.write import expression_of


def plain(formula: Expression, missing: Container[str] | None = None, settled: Iterable[Expression] = ()) -> Expression:
    """The formula as simple as it can be found to be said; see `cost` for what is simple.

    It answers like the formula on every record there could be in which only the columns of `missing` miss values (None:
    any may) and of which the `settled` formulas are true. A formula that is always true, or never, becomes a tautology
    or a contradiction about one of its columns.
    """
    return _written(_best(formula, missing, settled, True), formula, missing)


def question(
    formula: Expression, missing: Container[str] | None = None, settled: Iterable[Expression] = ()
) -> tuple[Expression, bool]:
    """Of a formula and its complement the one that reads better, written by `plain`, and whether it is the complement.

    The cheaper one reads better; if both cost the same, the one that says "at some point" rather than "always", and
    then the formula itself.
    """
    settled = list(settled)
    sides = [_best(formula, missing, settled, truth) for truth in (True, False)]
    best = min(sides, key=lambda term: (cost(term), _always(term)))
    return _written(best, formula, missing), best is sides[1]


def _best(formula: Expression, missing: Container[str] | None, settled: Iterable[Expression], truth: bool) -> Term:
    if formula.type is not Type.BOOLEAN:
        raise GrammarError(f"{formula} is a {formula.type}, not true or false of a record: wrap it in F or G")
    possible = Possible(missing)
    claims = [taken_apart(claim, possible) for claim in settled]
    return simplified(taken_apart(formula, possible, truth), possible, claims, first=True)


def _written(term: Term, formula: Expression, missing: Container[str] | None) -> Expression:
    witness = next((e for e in formula.walk() if isinstance(e.head, Attribute)), formula)
    return expression_of(term, missing, witness)


def _always(term: Term) -> int:
    """How many of its sentences say "always"."""
    if isinstance(term, All | Some):
        return sum(map(_always, term.parts))
    return isinstance(term, Always)
