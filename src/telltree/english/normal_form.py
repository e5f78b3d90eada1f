"""The normal form of formulas, and the formula to show of several equivalent ones."""

from collections.abc import Callable, Container, Hashable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from telltree.english.cost import cost
from telltree.english.possible import Kind, Possible, joined
from telltree.english.simplify import TermsOverTime, simplified
from telltree.english.terms import (
    All,
    Always,
    Compares,
    HowOften,
    Own,
    Says,
    Some,
    Sometime,
    Term,
    counted,
    has_own_words,
    how_many,
    literal_of,
)
from telltree.english.write import expression_of
from telltree.logic import Attribute, Expression, Number, Type, operator_named
from telltree.logic.operators import (
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
    MIRRORED,
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

# ---- From formulas to the normal form.

_Apart: TypeAlias = Callable[[Expression, Possible, bool], Term]


def term_of(
    expression: Expression,
    missing: Container[str] | None = None,
    *,
    static: Container[str] = (),
    settled: Iterable[Expression] = (),
) -> Term:
    """Return the simplest normal form that is found for a formula or a Boolean vector.

    It is equivalent on every possible record: only columns of `missing` have missing values (None: any may), columns
    of `static` have one value, and `settled` formulas are true. The term of a formula is evaluated at the first step
    of a record, that of a Boolean vector at every step.
    """
    possible = Possible(missing, static)
    return simplified(
        taken_apart(expression, possible),
        possible,
        [taken_apart(claim, possible) for claim in settled],
        first=expression.type is Type.BOOLEAN,
    )


def taken_apart(e: Expression, possible: Possible, truth: bool = True) -> Term:
    """Convert an expression, or its negation, to a term without simplification, except that lists are flat."""
    if has_own_words(e) and not isinstance(e.head, Attribute):  # a column's phrase may be negated, or take an adverb
        return Own(e, truth)
    if isinstance(e.head, Operator) and e.head.joins:
        return APART[e.head](e, possible, truth)
    count = counted(e)
    atom = literal_of(e) if count is None else HowOften(taken_apart(count[0], possible), count[1])
    term = atom if isinstance(atom, All | Some | Sometime | Always) else possible.literal(atom)
    return term if truth else possible.negated(term)


@dataclass(frozen=True, slots=True)
class KeptWhole:
    """Conversion of an operator that has no term: an opaque literal, worded by the operator's phrase."""

    opposite: Operator | None = None
    """The dual operator: of the negated operand, it is the negation of the whole."""

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
    """Convert to a list of both operands, the first negated if `turned`; all are negated for the negation."""

    def apart(e: Expression, possible: Possible, truth: bool) -> Term:
        parts = (taken_apart(e.args[0], possible, truth != turned), taken_apart(e.args[1], possible, truth))
        return joined(straight if truth else opposite, parts, possible)

    return apart


APART: Cells[_Apart] = Cells(
    "the normal form",
    "english/normal_form.py",
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
"""The conversion of each operator that joins conditions to a term, or of its negation."""


# ---- Equality of terms, apart from the order of lists and how they were built.


def same(first: Term, second: Term, possible: Possible) -> bool:
    """Return True if two terms are alike, and so equivalent; other terms may still be equivalent."""
    return _key(first, possible) == _key(second, possible)


def settled(term: Term, possible: Possible) -> Term:
    """Restrict literals to possible values, so that those that allow all or none become true or false."""
    match term:
        case All(parts) | Some(parts):
            return joined(type(term), [settled(part, possible) for part in parts], possible)
        case Sometime(part) | Always(part):
            return type(term)(settled(part, possible))
        case HowOften(part=part, times=times):
            return possible.literal(HowOften(settled(part, possible), times.whole))
    return possible.literal(term)


def _key(term: Term, possible: Possible) -> Hashable:
    """Return a key that is equal for terms that are alike, by way of a formula and back."""
    witness = Expression(Attribute("", Type.BOOLEAN_VECTOR))
    formula = expression_of(settled(term, possible), possible.missing, witness)
    return _unordered(TermsOverTime(possible).settled(taken_apart(formula, possible)), possible)


def _unordered(term: Term, possible: Possible) -> Hashable:  # noqa: PLR0911  one return a kind of term
    match term:
        case All(parts) | Some(parts):
            return type(term), frozenset(_unordered(part, possible) for part in parts)
        case Sometime(part) | Always(part):
            return type(term), _unordered(part, possible)
        case HowOften(part=part, times=times):
            return HowOften, _unordered(part, possible), times
        case Own() if (counted := how_many(term)) is not None:
            return counted[0].head, _operand(counted[0].args[0], possible), counted[1]
        case Own(expression=Expression(head=Operator() as head, args=(Expression(head=Number()), other))):
            turned = Expression(operator_named(MIRRORED[head.name]), (other, term.expression.args[0]))
            return _unordered(Own(turned, term.holds), possible)
        case Own(expression=e, holds=holds):
            return Own, e.head, *(_operand(arg, possible) for arg in e.args), e.english, holds
        case Says(signal=Expression(head=Attribute() as column), values=values):
            return Says, column, values
        case Says(signal=signal, values=values):
            return Says, _operand(signal, possible), values
        case Compares(first=first, second=second, orders=orders):
            return Compares, _operand(first, possible), _operand(second, possible), orders


def _operand(e: Expression, possible: Possible) -> Hashable:
    if e.type in (Type.BOOLEAN, Type.BOOLEAN_VECTOR):
        return _key(taken_apart(e, possible), possible)
    return (e.head, *(_operand(arg, possible) for arg in e.args))


# ---- The formula to show.


def plain(
    formula: Expression,
    missing: Container[str] | None = None,
    *,
    static: Container[str] = (),
    settled: Iterable[Expression] = (),
) -> Expression:
    """Return the simplest equivalent formula that is found, by `cost`.

    It is equivalent on every possible record: only columns of `missing` have missing values (None: any may), columns
    of `static` have one value, and `settled` formulas are true. A formula that is always or never true becomes a
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
    """Return the formula or its complement, whichever is cheaper, as `plain` has it; and True if it is the complement.

    Of equal costs, the one with fewer "always" is chosen, and then the formula itself.
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
    """Count the sentences of a term that say "always"."""
    if isinstance(term, All | Some):
        return sum(map(_always, term.parts))
    return isinstance(term, Always)
