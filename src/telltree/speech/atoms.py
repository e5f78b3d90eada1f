"""From atoms to literals: which values of which signal an atom allows."""

from telltree.operators import Attribute, Expression, Level, Number, Operator, Type
from telltree.operators.table import ABS, COMPARISONS, COUNT, DIFFERENCE, LENGTH, MIRRORED, MISSING, SIGN
from telltree.speech.terms import FALSE, Compares, Own, Says, Term
from telltree.speech.values import Interval, Names, Orders, Reals, Truths, Values

_ORDERS = {
    "<": Orders(True, False, False, False),
    "<=": Orders(True, True, False, False),
    ">": Orders(False, False, True, False),
    ">=": Orders(False, True, True, False),
    "=": Orders(False, True, False, False),
}
_MISSING: dict[Type, Values] = {
    Type.REAL_VECTOR: Reals((), True),
    Type.CATEGORICAL_VECTOR: Names(frozenset(), False, True),
    Type.BOOLEAN_VECTOR: Truths(False, False, True),
}


def has_own_words(e: Expression) -> bool:
    """Whether a grammar's rule has its own words for this; if not, a negation may read better."""
    if e.english is None or not isinstance(e.head, Operator):
        return e.english is not None
    return e.english != e.head.english or e.parts != e.args


def of_length(term: Term) -> bool:
    """Whether a term says how many steps the record has, without a grammar's own words."""
    return isinstance(term, Says) and term.signal.head is LENGTH and not has_own_words(term.signal)


def counted(e: Expression) -> tuple[Expression, Reals] | None:
    """For a comparison of one count with a number: what is counted, and the numbers that make it true; else None."""
    if e.type is not Type.BOOLEAN or e.head not in COMPARISONS:
        return None
    left, right, relation = _number_last(e)
    if not isinstance(right.head, Number):
        return None
    count, times = _bare(left, Reals.compared(relation, right.head.value))
    return (count.args[0], times.whole) if count.head is COUNT and not has_own_words(count) else None


def literal_of(e: Expression) -> Term:
    """What an atom says. An atom is any Boolean vector except connectives, temporal operators and what is `counted`.

    The literal may allow values that the signal cannot have.
    """
    if e.head in COMPARISONS and e.type is Type.BOOLEAN_VECTOR:
        return _comparison(e)
    if e.head is MISSING:
        return _missing(e.args[0])
    return Says(e, Truths(True, False, False)) if isinstance(e.head, Attribute) else Own(e, True)


def _missing(e: Expression) -> Term:
    if e.type is Type.BOOLEAN_VECTOR and not isinstance(e.head, Attribute):
        return FALSE  # a formula is never missing, nor is the result of a Boolean function
    values = _MISSING[e.type]
    return Says(*_bare(e, values)) if isinstance(values, Reals) else Says(e, values)


def _comparison(e: Expression) -> Term:
    left, right, relation = _number_last(e)
    match right.head:
        case Number(value=value):
            return Says(*_bare(left, Reals.compared(relation, value)))
        case Level(name=name):
            return Says(left, Names(frozenset([name]), False, False))
    if left == right and left.type is Type.REAL_VECTOR:
        return Says(*_bare(left, Reals((Interval(),) if _ORDERS[relation].equal else (), False)))
    if str(right) < str(left):
        left, right, relation = right, left, MIRRORED[relation]
    return Compares(left, right, _ORDERS[relation])


def _number_last(e: Expression) -> tuple[Expression, Expression, str]:
    """The sides of a comparison and its relation, with a number on the right if there is one."""
    assert isinstance(e.head, Operator)
    left, right = e.args
    if isinstance(left.head, Number):
        return right, left, MIRRORED[e.head.name]
    return left, right, e.head.name


def _bare(signal: Expression, values: Reals) -> tuple[Expression, Reals]:
    """The signal without absolute value and sign, with differences in the order of their text; and its values."""
    while (signal.head is ABS or signal.head is SIGN) and not has_own_words(signal):
        values = values.under_abs if signal.head is ABS else values.under_sign
        signal = signal.args[0]
    if signal.head is DIFFERENCE and not has_own_words(signal):
        left, right = signal.args
        last = isinstance(right.head, Number)
        if isinstance(left.head, Number) or (not last and str(right) < str(left)):
            return Expression(DIFFERENCE, (right, left)), values.mirrored  # exact: rounding is symmetric
    return signal, values
