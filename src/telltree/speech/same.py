"""Whether two terms are the same, apart from the order of lists and how they were built."""

from collections.abc import Hashable

from telltree.operators import Attribute, Expression, Number, Operator, Type, operator_named
from telltree.operators.table import MIRRORED
from telltree.speech.lists import joined
from telltree.speech.literals import how_many
from telltree.speech.moments import Moments
from telltree.speech.normal import taken_apart
from telltree.speech.possible import Possible
from telltree.speech.terms import All, Always, Compares, HowOften, Own, Says, Some, Sometime, Term
from telltree.speech.write import expression_of


def same(first: Term, second: Term, possible: Possible) -> bool:
    """Whether two terms are alike. If so, they are true of the same records; if not, they may still be equivalent."""
    return _key(first, possible) == _key(second, possible)


def settled(term: Term, possible: Possible) -> Term:
    """The term with only possible values, so that a literal that allows all or nothing is true or false."""
    match term:
        case All(parts) | Some(parts):
            return joined(type(term), [settled(part, possible) for part in parts], possible)
        case Sometime(part) | Always(part):
            return type(term)(settled(part, possible))
        case HowOften(part=part, times=times):
            return possible.literal(HowOften(settled(part, possible), times.whole))
    return possible.literal(term)


def _key(term: Term, possible: Possible) -> Hashable:
    """Equal for terms that are alike: written as a formula and taken apart again."""
    witness = Expression(Attribute("", Type.BOOLEAN_VECTOR))
    formula = expression_of(settled(term, possible), possible.missing, witness)
    return _unordered(Moments(possible).settled(taken_apart(formula, possible)), possible)


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
