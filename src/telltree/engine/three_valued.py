"""Three-valued truth (Kleene's strong logic), as two formulas that are true or false.

An atom is unknown at a step where it reads a missing value; a formula is unknown for a record if unknown atoms decide
it. Two formulas in the same language express that: one is true where the formula is `surely` true, the other where it
is `possibly` true; where they differ, the answer is unknown. So evaluation, export and explanation need no third value.

Operators on conditions without a negation are bounded by their bounded operands; a negation exchanges the two bounds.
Counts are bounded by the steps where the condition is surely, and possibly, true. Inside a signal, as in `latest(x,
a)`, a condition is true where it surely is. A number that does not exist, because there is no step to take it from, is
not unknown: its atom is false.
"""

from collections.abc import Callable, Iterable
from functools import reduce
from typing import NamedTuple, TypeAlias

from telltree.errors import SettingsError
from telltree.logic import Attribute, Expression, Number, Type
from telltree.logic.expression import spelt_out
from telltree.logic.meaning import Scope
from telltree.logic.operators import (
    ABS,
    AND,
    BEFORE,
    BEFORE_WITHIN,
    CHANGE,
    COUNT,
    DIFFERENCE,
    DISTANCE,
    ELAPSED,
    EPISODES,
    EQUAL,
    EVENTUALLY,
    EVENTUALLY_WITHIN,
    FALL,
    GLOBALLY,
    GLOBALLY_WITHIN,
    GONE,
    GREATER,
    GREATER_EQUAL,
    HISTORICALLY,
    HISTORICALLY_WITHIN,
    IMPLIES,
    LATEST,
    LEFT,
    LENGTH,
    LESS,
    LESS_EQUAL,
    LONGEST,
    MISSING,
    NEXT,
    NOT,
    ONCE,
    ONCE_WITHIN,
    OR,
    PREVIOUS,
    RISE,
    SIGN,
    SINCE,
    UNLESS,
    UNTIL,
    Cells,
    Operator,
)


def surely(e: Expression) -> Expression:
    """Return a formula, or Boolean vector, that is true where this one is, whatever the missing values were."""
    return _bounder()(e, True)


def possibly(e: Expression) -> Expression:
    """Return a formula, or Boolean vector, that is true where this one is true or unknown."""
    return _bounder()(e, False)


def bounds(e: Expression) -> tuple[Expression, Expression]:
    """Return `surely` and `possibly` of a formula."""
    bound = _bounder()
    return bound(e, True), bound(e, False)


def resolve_unknown(e: Expression, unknown_is: bool) -> Expression:
    """Return a formula with the same answer where that is known, and `unknown_is` where it is unknown."""
    return possibly(e) if unknown_is else surely(e)


def columns_tested_for_missing(e: Expression) -> frozenset[str]:
    """Return the columns that a formula tests for missing values; such a test is never unknown."""
    return frozenset(name for part in e.walk() if part.head is MISSING for name in part.attributes())


def check_bounds(formulas: Iterable[Expression]) -> None:
    """Raise SettingsError if a formula, or a template of one, has a part without known bounds."""
    for part in (part for e in formulas for part in e.walk()):
        if part.head is ABS and part.type is Type.COUNT:
            raise _no_bounds(part)


def _no_bounds(e: Expression) -> SettingsError:
    return SettingsError(
        f"missing='unknown' has no meaning for {e}: between which numbers 'abs' of a count lies is not known where "
        f"steps are unknown; compare the counts themselves, or leave missing at 'false'"
    )


Bound: TypeAlias = Callable[[Expression, bool], Expression]
"""Returns a bound of a part of a formula: the sure one if the second argument is True, else the possible one."""


def _bounder() -> Bound:
    """Return a function that bounds each part of a formula once: edges need their operand twice, and may be nested."""
    made: dict[tuple[int, bool], tuple[Expression, Expression]] = {}

    def bound(e: Expression, sure: bool) -> Expression:
        if (id(e), sure) not in made:
            made[id(e), sure] = e, _bounded(e, sure, bound)  # keeps e alive, so that its id stays unique
        return made[id(e), sure][1]

    return bound


def _bounded(e: Expression, sure: bool, bound: Bound) -> Expression:
    if isinstance(e.head, Operator) and e.head.joins:
        return BOUNDS[e.head](e, sure, bound)
    if isinstance(e.head, Operator) and e.type is Type.BOOLEAN:
        first, second = (_range(side, bound) for side in e.args)
        return OF_COUNTS[e.head](first, second, sure)
    read = _read(e, bound)
    unknown = None if sure or e.head is MISSING else _unknown(read)
    return read if unknown is None else _or(read, unknown)


_BoundRule: TypeAlias = Callable[[Expression, bool, Bound], Expression]


def by_operands(e: Expression, sure: bool, bound: Bound) -> Expression:
    """Bound an operator that is monotonic in its operands."""
    operands = tuple(bound(operand, sure) for operand in e.operands)
    return _with(e, *operands)


def _negation(e: Expression, sure: bool, bound: Bound) -> Expression:
    return _with(e, bound(e.args[0], not sure))


def _implication(e: Expression, sure: bool, bound: Bound) -> Expression:
    return _with(e, bound(e.args[0], not sure), bound(e.args[1], sure))


def _edge(e: Expression, sure: bool, bound: Bound) -> Expression:
    """Bound an edge, which needs its operand at one step and the negation at another."""
    bounded = bound(e.args[0], sure)
    return _with(e, bounded) if bounded == bound(e.args[0], not sure) else bound(spelt_out(e), sure)


BOUNDS: Cells[_BoundRule] = Cells(
    "three-valued truth",
    "engine/three_valued.py",
    {
        NOT: _negation,
        IMPLIES: _implication,
        RISE: _edge,
        FALL: _edge,
        **dict.fromkeys(
            (
                AND, OR, EVENTUALLY, GLOBALLY, EVENTUALLY_WITHIN, GLOBALLY_WITHIN, NEXT, PREVIOUS, ONCE, HISTORICALLY,
                ONCE_WITHIN, HISTORICALLY_WITHIN, UNTIL, UNLESS, SINCE, BEFORE, BEFORE_WITHIN,
            ),
            by_operands,
        ),
    },
    about=lambda operator: operator.joins,
)  # fmt: skip
"""The bounds of operators on conditions."""


class _Range(NamedTuple):
    """The least and the greatest value of a number per record."""

    least: Expression
    most: Expression


def _range(e: Expression, bound: Bound) -> _Range:
    return RANGES[e.head](e, bound) if isinstance(e.head, Operator) else _Range(e, e)


def _counted(e: Expression, bound: Bound) -> _Range:
    return _Range(*(_with(e, bound(e.args[0], sure)) for sure in (True, False)))


def _episodes(e: Expression, bound: Bound) -> _Range:
    """Bound a number of episodes: an unknown step may join two or divide one."""
    counted = _counted(e, bound)
    return counted if counted.least == counted.most else _counted(spelt_out(e), bound)


def _difference(e: Expression, bound: Bound) -> _Range:
    first, second = (_range(operand, bound) for operand in e.args)
    return _Range(_with(e, first.least, second.most), _with(e, first.most, second.least))


def _sign(e: Expression, bound: Bound) -> _Range:
    return _Range(*(_with(e, end) for end in _range(e.args[0], bound)))


def _absolute(e: Expression, bound: Bound) -> _Range:
    least, most = _range(e.args[0], bound)
    if least != most:
        raise _no_bounds(e)
    return _Range(_with(e, least), _with(e, least))


RANGES: Cells[Callable[[Expression, Bound], _Range]] = Cells(
    "three-valued counts",
    "engine/three_valued.py",
    {
        COUNT: _counted, LONGEST: _counted, EPISODES: _episodes, DIFFERENCE: _difference, SIGN: _sign, ABS: _absolute,
    },
    about=lambda operator: any(result is Type.COUNT for _, result in operator.uses()),
)  # fmt: skip
"""The range of operators that make one number per record."""


_CountComparison: TypeAlias = Callable[[_Range, _Range, bool], Expression]


def _below(operator: Operator) -> _CountComparison:
    return lambda a, b, sure: Expression(operator, (a.most, b.least) if sure else (a.least, b.most))


def _above(operator: Operator) -> _CountComparison:
    return lambda a, b, sure: Expression(operator, (a.least, b.most) if sure else (a.most, b.least))


def _equal(a: _Range, b: _Range, sure: bool) -> Expression:
    if a.least == a.most and b.least == b.most:
        return Expression(EQUAL, (a.least, b.least))
    if a.least.head in (COUNT, LONGEST) and b.least == b.most == _ZERO:  # it is never below 0
        return _below(LESS_EQUAL)(a, b, sure)
    return _and(*(compare(a, b, sure) for compare in (_below(LESS_EQUAL), _above(GREATER_EQUAL))))


OF_COUNTS: Cells[_CountComparison] = Cells(
    "three-valued comparisons of counts",
    "engine/three_valued.py",
    {
        LESS: _below(LESS),
        LESS_EQUAL: _below(LESS_EQUAL),
        GREATER: _above(GREATER),
        GREATER_EQUAL: _above(GREATER_EQUAL),
        EQUAL: _equal,
    },
    about=lambda operator: bool(operator.traits.outcomes),
)
"""The bounds of comparisons of counts, given the ranges of both sides."""


def _read(e: Expression, bound: Bound) -> Expression:
    """Return an atom or a signal with its conditions replaced by their sure bounds."""
    return _with(e, *(bound(x, True) if _is_condition(x, e) else _read(x, bound) for x in e.operands))


def _is_condition(operand: Expression, of: Expression) -> bool:
    """Return True if an operand is a condition, other than a column that is tested for missing values."""
    truth = operand.type in (Type.BOOLEAN, Type.BOOLEAN_VECTOR)
    return truth and not (of.head is MISSING and isinstance(operand.head, Attribute))


def _unknown(atom: Expression) -> Expression | None:
    """Return the condition that an atom reads a missing value of a signal that exists; None if it cannot."""
    if not isinstance(atom.head, Attribute | Operator):
        return None  # a user's function handles missing values itself
    sides = (atom,) if isinstance(atom.head, Attribute) else atom.operands
    missing = [Expression(MISSING, (side,)) for side in dict.fromkeys(sides) if _may_miss(side)]
    if not missing:
        return None
    there = like_operands(atom)
    return reduce(_or, missing) if there is None else _and(reduce(_or, missing), there)


def _may_miss(signal: Expression) -> bool:
    """Return True unless the signal is a constant or a time."""
    return isinstance(signal.head, Attribute) or bool(signal.args)


def _there(signal: Expression) -> Expression | None:
    """Return the condition that a signal exists, missing or not; None if it does at every step."""
    return THERE[signal.head](signal) if isinstance(signal.head, Operator) else None


_Presence: TypeAlias = Callable[[Expression], Expression | None]


def _everywhere(signal: Expression) -> None:
    return None


def like_operands(signal: Expression) -> Expression | None:
    """Return the condition that all operands exist."""
    found = [there for there in map(_there, signal.operands) if there is not None]
    return reduce(_and, found) if found else None


def _like_both_ends(signal: Expression) -> Expression | None:
    """Return the condition that the operand exists now, and so many steps back or else at the first step."""
    there = _there(signal.args[0])
    if there is None:
        return None
    steps = signal.args[1]
    before = Expression(ONCE_WITHIN, (there, steps, steps))
    at_the_first = Expression(ONCE_WITHIN, (_and(there, _FIRST), _ZERO, steps))
    return _and(there, _or(before, at_the_first))


def _in_window(signal: Expression) -> Expression | None:
    first, last = signal.args[1:]
    there = _there(signal.args[0])
    if there is None and first == _ZERO:
        return None
    return Expression(ONCE_WITHIN, (_ALWAYS if there is None else there, first, last))


def _so_far(signal: Expression) -> Expression | None:
    there = _there(signal.args[0])
    return None if there is None else Expression(ONCE, (there,))


def _in_record(signal: Expression) -> Expression | None:
    there = _there(signal.args[0])
    return None if there is None else _or(Expression(ONCE, (there,)), Expression(EVENTUALLY, (there,)))


def _when_it_held(signal: Expression) -> Expression:
    value, condition = signal.args
    there = _there(value)
    if there is None:
        return Expression(ONCE, (condition,))
    return Expression(SINCE, (Expression(NOT, (condition,)), _and(condition, there)))


def _at_last_steps(signal: Expression) -> Expression:
    """Return the condition that the operand exists at as many last steps as the shapelet has values."""
    first = Expression(Number(len(signal.shape.values) - 1.0))
    begun, there = Expression(ONCE_WITHIN, (_ALWAYS, first, first)), _there(signal.args[0])
    return begun if there is None else _and(begun, Expression(HISTORICALLY_WITHIN, (there, _ZERO, first)))


_BY_SCOPE: dict[Scope, _Presence] = {Scope.WINDOW: _in_window, Scope.SO_FAR: _so_far, Scope.RECORD: _in_record}
"""The conditions for signals that exist if their operand does at some step of their scope."""

THERE: Cells[_Presence] = Cells(
    "which numbers exist",
    "engine/three_valued.py",
    {
        **dict.fromkeys((ELAPSED, GONE, LEFT, LENGTH), _everywhere),
        **dict.fromkeys((ABS, SIGN, DIFFERENCE), like_operands),
        CHANGE: _like_both_ends,
        LATEST: _when_it_held,
        DISTANCE: _at_last_steps,
    },
    about=lambda operator: any(result is Type.REAL_VECTOR for _, result in operator.uses()),
    derived=lambda operator: _BY_SCOPE.get(operator.traits.scope),
)
"""The steps at which the signal of each operator exists; None if at all."""

_ZERO = Expression(Number(0.0))
_ALWAYS = Expression(GREATER_EQUAL, (Expression(LENGTH), _ZERO))
_FIRST = Expression(NOT, (Expression(PREVIOUS, (_ALWAYS,)),))


def _with(e: Expression, *operands: Expression) -> Expression:
    """Return the expression with other operands; the same object, with its words, if they are equal."""
    args = (*operands, *e.args[len(operands) :])
    return e if args == e.args else Expression(e.head, args)


def _and(a: Expression, b: Expression) -> Expression:
    return Expression(AND, (a, b))


def _or(a: Expression, b: Expression) -> Expression:
    return Expression(OR, (a, b))
