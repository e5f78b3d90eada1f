"""Which of several equivalent formulas to show."""

from collections.abc import Container, Iterable

from telltree.operators import Attribute, Expression, Operator
from telltree.operators.table import NOT
from telltree.speech.cost import cost
from telltree.speech.normal import term_of
from telltree.speech.terms import All, Always, Some, Term
from telltree.speech.write import expression_of


def plain(
    formula: Expression,
    missing: Container[str] | None = None,
    *,
    static: Container[str] = (),
    settled: Iterable[Expression] = (),
) -> Expression:
    """The simplest form of the formula that is found; see `cost` for what counts as simple.

    It gives the same answer on every possible record: only the columns of `missing` miss values (None: any may), those
    of `static` have one value, and the `settled` formulas are true. A formula that is always or never true becomes a
    tautology or a contradiction about one of its columns.
    """
    return _written(term_of(formula, missing, static=static, settled=settled), formula, missing)


def question(
    formula: Expression,
    missing: Container[str] | None = None,
    *,
    static: Container[str] = (),
    settled: Iterable[Expression] = (),
) -> tuple[Expression, bool]:
    """The formula or its complement, whichever reads better, written by `plain`; and whether it is the complement.

    The cheaper one reads better. If both cost the same, the one that says "at some point" rather than "always", and
    then the formula itself.
    """
    opposite, settled = Expression(NOT, (formula,)), list(settled)
    sides = [term_of(side, missing, static=static, settled=settled) for side in (formula, opposite)]
    best = min(sides, key=lambda term: (cost(term), _always(term)))
    return _written(best, formula, missing), best is sides[1]


def _written(term: Term, formula: Expression, missing: Container[str] | None) -> Expression:
    leaves = [e for e in formula.walk() if isinstance(e.head, Attribute | Operator) and not e.args]  # x, or left()
    witness = min(leaves, key=lambda e: not isinstance(e.head, Attribute), default=formula)
    return expression_of(term, missing, witness)


def _always(term: Term) -> int:
    """How many of its sentences say "always"."""
    if isinstance(term, All | Some):
        return sum(map(_always, term.parts))
    return isinstance(term, Always)
