"""The normal form of formulas, and the formula to show of several equivalent ones."""

from collections.abc import Callable, Container, Hashable
from dataclasses import dataclass
from typing import TypeAlias

from telltree.english.cost import cost
from telltree.english.domains import Domains, Kind, joined
from telltree.english.simplify import TemporalTerms, simplified
from telltree.english.terms import (
    And,
    CountIn,
    Eventually,
    Globally,
    Opaque,
    Or,
    OrderIn,
    Term,
    ValueIn,
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

_Conversion: TypeAlias = Callable[[Expression, Domains, bool], Term]


def term_of(expression: Expression, missing: Container[str] | None = None, *, static: Container[str] = ()) -> Term:
    """Return the simplest normal form that is found for a formula or a Boolean vector.

    It is equivalent on every possible record: only columns of `missing` have missing values (None: any may), and
    columns of `static` have one value. The term of a formula is evaluated at the first step of a record, that of a
    Boolean vector at every step.
    """
    domains = Domains(missing, static)
    return simplified(direct_term(expression, domains), domains, first=expression.type is Type.BOOLEAN)


def direct_term(e: Expression, domains: Domains, truth: bool = True) -> Term:
    """Convert an expression, or its negation, to a term without simplification, except that lists are flat."""
    if has_own_words(e) and not isinstance(e.head, Attribute):  # a column's phrase may be negated, or take an adverb
        return Opaque(e, truth)
    if isinstance(e.head, Operator) and e.head.joins:
        return CONVERSIONS[e.head](e, domains, truth)
    count = counted(e)
    atom = literal_of(e) if count is None else CountIn(direct_term(count[0], domains), count[1])
    term = atom if isinstance(atom, And | Or | Eventually | Globally) else domains.literal(atom)
    return term if truth else domains.negated(term)


@dataclass(frozen=True, slots=True)
class OpaqueConversion:
    """Conversion of an operator that has no term: an opaque literal, worded by the operator's phrase."""

    opposite: Operator | None = None
    """The dual operator: of the negated operand, it is the negation of the whole."""

    def __call__(self, e: Expression, domains: Domains, truth: bool) -> Term:
        if truth or self.opposite is None:
            return Opaque(e, truth)
        operand = e.args[0].args[0] if e.args[0].head is NOT else Expression(NOT, (e.args[0],))
        return Opaque(Expression(self.opposite, (operand, *e.args[1:])), True)


opaque = OpaqueConversion()


def _negation(e: Expression, domains: Domains, truth: bool) -> Term:
    return direct_term(e.args[0], domains, not truth)


def _over_time(straight: type[Eventually] | type[Globally], opposite: type[Eventually] | type[Globally]) -> _Conversion:
    def apart(e: Expression, domains: Domains, truth: bool) -> Term:
        return (straight if truth else opposite)(direct_term(e.args[0], domains, truth))

    return apart


def _list(straight: Kind, opposite: Kind, turned: bool = False) -> _Conversion:
    """Convert to a list of both operands, the first negated if `turned`; all are negated for the negation."""

    def apart(e: Expression, domains: Domains, truth: bool) -> Term:
        parts = (direct_term(e.args[0], domains, truth != turned), direct_term(e.args[1], domains, truth))
        return joined(straight if truth else opposite, parts, domains)

    return apart


CONVERSIONS: Cells[_Conversion] = Cells(
    "the normal form",
    "english/normal_form.py",
    {
        NOT: _negation,
        EVENTUALLY: _over_time(Eventually, Globally),
        GLOBALLY: _over_time(Globally, Eventually),
        AND: _list(And, Or),
        OR: _list(Or, And),
        IMPLIES: _list(Or, And, turned=True),
        EVENTUALLY_WITHIN: OpaqueConversion(GLOBALLY_WITHIN),
        GLOBALLY_WITHIN: OpaqueConversion(EVENTUALLY_WITHIN),
        ONCE: OpaqueConversion(HISTORICALLY),
        HISTORICALLY: OpaqueConversion(ONCE),
        ONCE_WITHIN: OpaqueConversion(HISTORICALLY_WITHIN),
        HISTORICALLY_WITHIN: OpaqueConversion(ONCE_WITHIN),
        NEXT: opaque,
        PREVIOUS: opaque,
        UNTIL: opaque,
        UNLESS: opaque,
        SINCE: opaque,
        RISE: opaque,
        FALL: opaque,
        BEFORE: opaque,
        BEFORE_WITHIN: opaque,
    },
    about=lambda operator: operator.joins,
)
"""The conversion of each operator that joins conditions to a term, or of its negation."""


# ---- Equality of terms, apart from the order of lists and how they were built.


def same(first: Term, second: Term, domains: Domains) -> bool:
    """Return True if two terms are alike, and so equivalent; other terms may still be equivalent."""
    return _key(first, domains) == _key(second, domains)


def restricted(term: Term, domains: Domains) -> Term:
    """Restrict literals to possible values, so that those that allow all or none become true or false."""
    match term:
        case And(parts) | Or(parts):
            return joined(type(term), [restricted(part, domains) for part in parts], domains)
        case Eventually(part) | Globally(part):
            return type(term)(restricted(part, domains))
        case CountIn(part=part, times=times):
            return domains.literal(CountIn(restricted(part, domains), times.whole))
    return domains.literal(term)


def _key(term: Term, domains: Domains) -> Hashable:
    """Return a key that is equal for terms that are alike, by way of a formula and back."""
    witness = Expression(Attribute("", Type.BOOLEAN_VECTOR))
    formula = expression_of(restricted(term, domains), domains.missing, witness)
    return _unordered(TemporalTerms(domains).rebuilt(direct_term(formula, domains)), domains)


def _unordered(term: Term, domains: Domains) -> Hashable:  # noqa: PLR0911  one return a kind of term
    match term:
        case And(parts) | Or(parts):
            return type(term), frozenset(_unordered(part, domains) for part in parts)
        case Eventually(part) | Globally(part):
            return type(term), _unordered(part, domains)
        case CountIn(part=part, times=times):
            return CountIn, _unordered(part, domains), times
        case Opaque() if (counted := how_many(term)) is not None:
            return counted[0].head, _operand(counted[0].args[0], domains), counted[1]
        case Opaque(expression=Expression(head=Operator() as head, args=(Expression(head=Number()), other))):
            turned = Expression(operator_named(MIRRORED[head.name]), (other, term.expression.args[0]))
            return _unordered(Opaque(turned, term.holds), domains)
        case Opaque(expression=e, holds=holds):
            return Opaque, e.head, *(_operand(arg, domains) for arg in e.args), e.english, holds
        case ValueIn(signal=Expression(head=Attribute() as column), values=values):
            return ValueIn, column, values
        case ValueIn(signal=signal, values=values):
            return ValueIn, _operand(signal, domains), values
        case OrderIn(first=first, second=second, orders=orders):
            return OrderIn, _operand(first, domains), _operand(second, domains), orders


def _operand(e: Expression, domains: Domains) -> Hashable:
    if e.type in (Type.BOOLEAN, Type.BOOLEAN_VECTOR):
        return _key(direct_term(e, domains), domains)
    return (e.head, *(_operand(arg, domains) for arg in e.args))


# ---- The formula to show.


def plain(formula: Expression, missing: Container[str] | None = None, *, static: Container[str] = ()) -> Expression:
    """Return the simplest equivalent formula that is found, by `cost`.

    It is equivalent on every possible record: only columns of `missing` have missing values (None: any may), and
    columns of `static` have one value. A formula that is always or never true becomes a tautology or a contradiction
    about one of its columns.
    """
    return _written(term_of(formula, missing, static=static), formula, missing)


def simpler_side(
    formula: Expression, missing: Container[str] | None = None, *, static: Container[str] = ()
) -> tuple[Expression, bool]:
    """Return the formula or its complement, whichever is cheaper, as `plain` has it; and True if it is the complement.

    Of equal costs, the one with fewer "always" is chosen, and then the formula itself.
    """
    sides = [term_of(side, missing, static=static) for side in (formula, Expression(NOT, (formula,)))]
    best = min(sides, key=lambda term: (cost(term), _always(term)))
    return _written(best, formula, missing), best is sides[1]


def _written(term: Term, formula: Expression, missing: Container[str] | None) -> Expression:
    leaves = [e for e in formula.walk() if isinstance(e.head, Attribute | Operator) and not e.args]  # x, or left()
    witness = min(leaves, key=lambda e: not isinstance(e.head, Attribute), default=formula)
    return expression_of(term, missing, witness)


def _always(term: Term) -> int:
    """Count the sentences of a term that say "always"."""
    if isinstance(term, And | Or):
        return sum(map(_always, term.parts))
    return isinstance(term, Globally)
