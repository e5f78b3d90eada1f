"""How hard a term is to read: a measure of its structure, whatever words are found for it."""

from telltree.speech.lists import Kind
from telltree.speech.terms import All, Always, Compares, HowOften, Literal, Own, Says, Some, Sometime, Term
from telltree.speech.values import Interval, Names, Orders, Reals, Truths, Values

NEGATION, NESTED, BOUND = 3, 2, 2


def cost(term: Term) -> int:
    """The effort of reading a term; of equivalent ones, the one that costs least is shown.

    - A literal costs 1, and 2 for each bound or name beyond the first: "between 2 and 5" has two bounds, "within 5"
      one. A negation that must be said costs 3: "not open", "other than up", a value that may also be missing. A count
      is a literal and costs what is counted besides.
    - A list costs what its parts do, and 2 if it is itself a part of a list.
    - F and G cost 1 and what they are said of, and 2 if they stand under another one or in a count; G of an "or" costs
      1 more. "At the last step", F(G(...)), costs 2.
    """
    return _cost(term, None, under=False)


def _cost(term: Term, inside: Kind | None, under: bool) -> int:
    match term:
        case All(parts) | Some(parts):
            return (NESTED if inside else 0) + sum(_cost(part, type(term), under) for part in parts)
        case Sometime(Always(part)):
            return 2 + NESTED * under + _cost(part, None, True)
        case Sometime(part):
            return 1 + NESTED * under + _cost(part, None, True)
        case Always(part):
            return 1 + NESTED * under + _cost(part, None, True) + isinstance(part, Some)
        case HowOften(part=part):
            return literal_cost(term) + _cost(part, None, True)
    return literal_cost(term)


def literal_cost(literal: Literal) -> int:
    """The effort of reading a literal, without what is counted."""
    match literal:
        case Says(values=values):
            return values_cost(values)
        case Compares(orders=orders):
            return values_cost(orders)
        case HowOften(times=times):
            return 1 + BOUND * (_bounds(times, 0.0) - 1)
        case Own(holds=holds):
            return 1 if holds else 1 + NEGATION


def values_cost(values: Values) -> int:
    """The effort of saying that a value is one of these."""
    match values:
        case Reals(intervals=intervals):
            return _reals_cost(values) if intervals else 1
        case Names(names=names, others=others, missing=missing):
            return 1 + BOUND * max(0, len(names) - 1 + (missing and not others and bool(names))) + NEGATION * others
        case Truths(true=true, false=false, missing=missing):
            return 1 + NEGATION * false + NEGATION * (true and missing)
        case Orders(less=less, greater=greater, missing=missing):
            return 1 + NEGATION * ((less and greater) or missing)


def _reals_cost(values: Reals) -> int:
    if values.missing:
        return NEGATION + _reals_cost(~values)
    if values.intervals == (Interval(),):
        return 1 + NEGATION  # not missing
    points = ~values
    if all(gap.point for gap in points.intervals):
        return 1 + NEGATION + BOUND * (len(points.intervals) - 1)
    return 1 + BOUND * (_bounds(values) - 1)


def _bounds(values: Reals, least: float | None = None) -> int:
    """How many numbers it takes to say it, `least` being the least there is; those from -c to c take one."""
    if least is None and values == values.mirrored and values.intervals != (Interval(0.0, 0.0),):
        return _bounds(values.from_zero, 0.0)
    ends = (1 if i.point else (i.bounded_below and i.low != least) + i.bounded_above for i in values.intervals)
    return sum(ends)
