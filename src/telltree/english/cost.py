"""Cost of a term: how hard it is to read, measured on its structure, independent of the wording."""

from functools import lru_cache

from telltree.english.terms import (
    And,
    CountIn,
    Eventually,
    Globally,
    Interval,
    Literal,
    Names,
    Opaque,
    Or,
    Orders,
    Reals,
    Term,
    Truths,
    Values,
    values_of,
    with_values,
)

NEGATION, NESTED, FURTHER = 3, 2, 2
_NEVER = Reals((Interval(0.0, 0.0),), False)


def cost(term: Term) -> int:
    """Return the effort of reading a term; of equivalent terms, the cheapest is shown.

    - A literal costs 1, and 2 for each bound or name beyond the first: "between 2 and 5" has two bounds, "within 5"
      one. A negation in the wording costs 3: "not open", "other than up", a value that may also be missing.
    - A list costs the sum of its parts, and 2 more as a part of another list.
    - F and G cost 1 more than their operand, and 2 more under another F or G or in a count. G of an "or" costs 1 more.
      At the top it may become "whenever", where all parts but one may be replaced by their negations, and "never"
      costs 3 more than F of the negation. F(G(...)), "at the last step", costs 2.
    - A count costs as much as a literal, plus its operand. A count of 0 is "never".
    """
    return _cost(term)


def _cost(term: Term, opposite: bool = False, listed: bool = False, under: bool = False) -> int:
    """Return the cost of a term, or of its negation (`opposite`), in a list, or under F, G or a count."""
    match term:
        case And(parts) | Or(parts):
            return NESTED * listed + sum(_cost(part, opposite, True, under) for part in parts)
        case Eventually(Globally(part)):
            return 2 + NESTED * under + _cost(part, opposite, under=True)
        case Eventually(part) | Globally(part):
            always = isinstance(term, Eventually) == opposite
            inside = (_always_cost if always and not under else _cost)(part, opposite, under=True)
            return 1 + NESTED * under + inside + (always and isinstance(part, And if opposite else Or))
        case CountIn(part=part, times=times):
            allowed = (~times).whole if opposite else times
            often = NEGATION if allowed == _NEVER else FURTHER * (_bounds(allowed, 0.0) - 1)
            return 1 + often + NESTED * under + _cost(part, under=True)
        case Opaque():
            literal = with_values(term, ~values_of(term)) if opposite else term
            return 1 + NEGATION * (isinstance(literal, Opaque) and not literal.holds)
    return min(map(values_cost, _opposites(term))) if opposite else values_cost(values_of(term))


def _always_cost(part: Term, opposite: bool, under: bool) -> int:
    """Return the cost of G of a term, worded by the cheapest of "always", "never" and "whenever"."""
    an_or = And if opposite else Or
    ways = [_cost(part, opposite, under=under), NEGATION + _cost(part, not opposite, under=under)]
    if isinstance(part, an_or):
        ways[1] -= 1  # "never" takes no "or"
        own, other = ([_cost(p, o, True, under) for p in part.parts] for o in (opposite, not opposite))
        one_straight = max(0, min((mine - yours for mine, yours in zip(own, other, strict=True)), default=0))
        ways.append(sum(map(min, own, other)) + one_straight)
    return min(ways)


def _opposites(literal: Literal) -> list[Values]:
    """Return the values for which a literal is false, including "missing" and without it."""
    found = ~values_of(literal)
    never_missing: Values
    match found:
        case Reals(intervals=intervals):
            never_missing = Reals(intervals, False)
        case Names(names=names, others=others):
            never_missing = Names(names, others, False)
        case Truths(true=true, false=false):
            never_missing = Truths(true, false, False)
        case Orders(less=less, equal=equal, greater=greater):
            never_missing = Orders(less, equal, greater, False)
    return [found] if never_missing.empty else [found, never_missing]


def values_cost(values: Values) -> int:
    """Return the cost of wording a set of values."""
    match values:
        case Reals():
            return _reals_cost(values)
        case Names(names=names, others=others, missing=missing):
            further = len(names) - 1 + (missing and not others)
            return 1 + FURTHER * max(0, further) + NEGATION * others
        case Truths(true=true, false=false, missing=missing):
            return 1 + NEGATION * (false or (true and missing))
        case Orders(less=less, greater=greater, missing=missing):
            return 1 + NEGATION * ((less and greater) or missing)


@lru_cache(maxsize=1 << 14)
def _reals_cost(values: Reals) -> int:
    if not values.intervals:
        return 1  # "missing"
    if values.missing:
        return NEGATION + _reals_cost(~values)
    gaps = (~values).intervals
    if all(gap.point for gap in gaps):  # "other than …", or "known" if there are no gaps
        return 1 + NEGATION + FURTHER * max(0, len(gaps) - 1)
    return 1 + FURTHER * (_bounds(values) - 1)


def _bounds(values: Reals, least: float | None = None) -> int:
    """Count the numbers in the wording, where `least` is the lowest possible value; a range from -c to c has one."""
    if least is None and values.symmetric and values.intervals != _NEVER.intervals:
        return _bounds(values.from_zero, 0.0)
    below = (i.bounded_below and not (i.low == least and i.with_low) for i in values.intervals)
    return sum(1 if i.point else low + i.bounded_above for i, low in zip(values.intervals, below, strict=True))
