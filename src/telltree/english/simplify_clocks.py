"""Terms about clocks alone, as terms about the length of the record.

Where steps have one length, such terms depend only on the number of steps. "In the first 432 steps, at some point at
least 80 % of the record has passed" is true for records of fewer than 540 steps, and is written like that.
"""

import math
from collections.abc import Iterator
from functools import lru_cache, reduce
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from telltree.english.terms import (
    FALSE,
    TRUE,
    And,
    Domains,
    Eventually,
    Globally,
    Or,
    Term,
    ValueIn,
    is_about_length,
    is_about_position,
    joined,
)
from telltree.english.value_sets import Interval, Reals
from telltree.english.write_times_and_positions import Steps
from telltree.logic import Expression
from telltree.logic.operators import ELAPSED, GONE, LEFT, LENGTH, TIMES, Operator

_MOST_STEPS = 200_000  # lengths that are tried one by one
_MOST_CONJUNCTIONS = 64  # conjunctions in the disjunctive normal form
_MOST_RANGES = 2  # of lengths; more are too complicated to say
_Conjunction = dict[Operator, Interval]
"""A conjunction: intervals for clocks, all at one step."""


def in_lengths(term: Term, steps: Steps, domains: Domains) -> Term:
    """Replace terms about clocks alone by terms about the length of the record, for records with such steps."""
    match term:
        case And(parts) | Or(parts):
            return joined(type(term), [in_lengths(part, steps, domains) for part in parts], domains)
        case Eventually(part):
            return _sometime(part, steps, domains)
        case Globally(part):
            opposite = domains.negated(part)
            found = _sometime(opposite, steps, domains)
            return term if found == Eventually(opposite) else domains.negated(found)
    return term


def _sometime(part: Term, steps: Steps, domains: Domains) -> Term:
    """Return F of a term, with its parts about clocks alone as terms about the length of the record."""
    parts = part.parts if isinstance(part, Or) else (part,)
    clocks = [one for one in parts if _of_clocks(one)]
    found = _length(joined(Or, clocks, domains), steps) if clocks else None
    if found is None:
        return Eventually(part)
    rest = [one for one in parts if one not in clocks]
    return joined(Or, [found, Eventually(joined(Or, rest, domains))], domains) if rest else found


def _of_clocks(term: Term) -> bool:
    """Return True if a term is about nothing but positions in the record and its length."""
    if isinstance(term, And | Or):
        return bool(term.parts) and all(map(_of_clocks, term.parts))
    return is_about_position(term) or is_about_length(term)


@lru_cache(maxsize=2_000)
def _length(part: Term, steps: Steps) -> Term | None:
    """Convert F of a term about clocks to a term about the length of the record; None if that is too hard."""
    lasting = _lasting(part, steps)
    if lasting is not None:
        return lasting
    conjunctions = _conjunctions(part)
    if conjunctions is None:
        return None
    pace = 1.0 if all(conjunction.keys() == {LENGTH} for conjunction in conjunctions) else steps.pace
    lengths = _uneven(conjunctions) if pace is None else _even(conjunctions, pace)
    if lengths is None:
        return None
    if lengths in (Reals((), False), Reals((Interval(),), False)):
        return TRUE if lengths.intervals else FALSE
    timed = any(head in TIMES for conjunction in conjunctions for head in conjunction)
    return (_in_time(lengths, steps) if timed else None) or Eventually(ValueIn(Expression(LENGTH), lengths))


def _lasting(part: Term, steps: Steps) -> Term | None:
    """Convert a bound on the time alone, which keeps its number."""
    match part:
        case ValueIn(signal=Expression(head=head), values=Reals((i,))) if steps.timed and head in (ELAPSED, LEFT):
            if i.bounded_below and not i.bounded_above and (i.low > 0 or (i.low == 0 and steps.pace is None)):
                return Eventually(ValueIn(Expression(ELAPSED), Reals((i,), False)))
    return None


def _conjunctions(part: Term) -> list[_Conjunction] | None:
    """Convert a term to disjunctive normal form; None if there are too many conjunctions."""
    match part:
        case ValueIn(signal=Expression(head=Operator() as head), values=Reals(intervals=intervals)):
            return [{head: i} for i in intervals]
        case Or(parts):
            lists = [_conjunctions(one) for one in parts]
            found = [conjunction for conjunctions in lists for conjunction in conjunctions or ()]
            return None if None in lists or len(found) > _MOST_CONJUNCTIONS else found
        case And(parts):
            return reduce(_both, map(_conjunctions, parts))
    return None


def _both(some: list[_Conjunction] | None, others: list[_Conjunction] | None) -> list[_Conjunction] | None:
    if some is None or others is None or len(some) * len(others) > _MOST_CONJUNCTIONS:
        return None
    pairs = [a | {head: a[head] & i if head in a else i for head, i in b.items()} for a in some for b in others]
    return [conjunction for conjunction in pairs if not any(i.empty for i in conjunction.values())]


def _uneven(conjunctions: list[_Conjunction]) -> Reals | None:
    """Return the lengths of records if step lengths vary: only the first and the last step are certain to exist."""
    if any(_holds(conjunction, {GONE: 1.0, LEFT: 0.0}) for conjunction in conjunctions):
        return Reals((Interval(),), False)
    shares_alone = all(conjunction.keys() == {GONE} for conjunction in conjunctions)
    if shares_alone and any(_holds(conjunction, {GONE: 0.0}) for conjunction in conjunctions):
        return Reals((Interval(2.0),), False)
    return None


def _holds(conjunction: _Conjunction, at: dict[Operator, float]) -> bool:
    """Return True if a conjunction is true where clocks have these values, whatever the other clocks have."""
    return all(head in at and at[head] in Reals((i,), False) for head, i in conjunction.items())


def _even(conjunctions: list[_Conjunction], pace: float) -> Reals | None:
    """Return the lengths of records if steps have one length; None if they are too complicated to say."""
    known = [_Bounds.of(conjunction, pace) for conjunction in conjunctions]
    if any(bounds is None for bounds in known):
        return None
    bounds = [one for one in known if one is not None]
    most = max((one.settles for one in bounds), default=1.0)
    if most > _MOST_STEPS:
        return None
    steps = np.arange(1, int(most) + 2)
    found = np.zeros(len(steps), bool)
    for one in bounds:
        found |= one.hold(steps)
    ranges = list(_ranges(found.tolist()))
    return Reals(tuple(ranges), False) if len(ranges) <= _MOST_RANGES else None


def _ranges(found: list[bool]) -> Iterator[Interval]:
    """Yield the runs of true values among lengths from 1 on; the last value stands for all greater lengths."""
    n = 1
    for true, run in groupby(found):
        last = n + len(list(run)) - 1
        if true:
            yield Interval(-math.inf if n == 1 else float(n), math.inf if last == len(found) else float(last))
        n = last + 1


class _Bounds:
    """A conjunction for steps of one length: bounds on the number of a step."""

    def __init__(self, elapsed: tuple[float, float], left: tuple[float, float], share: Interval, length: Interval):
        self.elapsed, self.left, self.share, self.length = elapsed, left, share, length

    @classmethod
    def of(cls, conjunction: _Conjunction, pace: float) -> "_Bounds | None":
        """Build from a conjunction; None if it has numbers that are too large to try."""
        free = Interval()
        ends = [_whole(conjunction.get(head, free), pace) for head in (ELAPSED, LEFT)]
        elapsed, left = ends
        if elapsed is None or left is None:
            return None
        return cls(elapsed, left, conjunction.get(GONE, free), conjunction.get(LENGTH, free))

    @property
    def settles(self) -> float:
        """Length of records from which on the truth stays the same; infinite if there is none."""
        (a, b), (c, d), s, t = self.elapsed, self.left, self.share.low, self.share.high
        if s == t and s not in (0.0, 1.0):
            return math.inf  # true for multiples only
        found = [1.0, a + c, b + d, self.length.low, self.length.high]
        if 0 < t < 1:
            found += [(a + 2) / t, (d + 2) / (1 - t)]
        if 0 < s < 1:
            found += [(b + 2) / s, (c + 2) / (1 - s)]
        if 0 <= s < t <= 1:
            found.append(2 / (t - s))
        return max(one for one in found if math.isfinite(one)) + 5

    def hold(self, lengths: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of these lengths have such a step."""
        last = (lengths - 1).astype(np.float64)
        (a, b), (c, d), share = self.elapsed, self.left, self.share
        low = np.maximum.reduce([np.zeros(len(last)), np.full(len(last), a), last - d, _first(share, last)])
        high = np.minimum.reduce([last, np.full(len(last), b), last - c, _last(share, last)])
        i = self.length
        enough = (lengths >= i.low) if i.with_low else (lengths > i.low)
        return np.asarray((low <= high) & enough & ((lengths <= i.high) if i.with_high else (lengths < i.high)))


def _shares(steps: NDArray[np.float64], last: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the value of `gone` at these steps."""
    return np.where(last > 0, steps / np.maximum(last, 1), 1.0)


def _first(share: Interval, last: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the first step at which the share is not below an interval."""
    if not share.bounded_below:
        return np.zeros(len(last))
    found = np.maximum(np.floor(share.low * last) - 1, 0.0)
    for _ in range(4):
        shares = _shares(found, last)
        found = found + ~((shares >= share.low) if share.with_low else (shares > share.low))
    return np.asarray(found)


def _last(share: Interval, last: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the last step at which the share is not above an interval; less than 0 if there is none."""
    if not share.bounded_above:
        return last
    found = np.minimum(np.ceil(share.high * last) + 1, last)
    for _ in range(4):
        shares = _shares(found, last)
        found = found - ~((shares <= share.high) if share.with_high else (shares < share.high))
    return np.asarray(found)


def _whole(i: Interval, pace: float) -> tuple[float, float] | None:
    """Return the first and the last step, counted from 0, whose time is in an interval."""
    ends = [end for end in (i.low, i.high) if math.isfinite(end)]
    if any(abs(end) / pace > _MOST_STEPS for end in ends) or math.inf == i.low or -math.inf == i.high:
        return None
    low = 0.0
    if i.bounded_below and i.low >= 0:
        low = max(0.0, math.floor(i.low / pace) - 1.0)
        while not (low * pace > i.low or (i.with_low and low * pace == i.low)):
            low += 1
    high = math.inf
    if i.bounded_above:
        high = math.ceil(i.high / pace) + 1.0
        while high >= 0 and not (high * pace < i.high or (i.with_high and high * pace == i.high)):
            high -= 1
    return low, high


def _in_time(lengths: Reals, steps: Steps) -> Term | None:
    """Convert a bound on lengths to one on the duration; None if that is not equivalent, or has no unit."""
    if len(lengths.intervals) != 1 or steps.period is None:
        return None
    (i,) = lengths.intervals
    if i.bounded_below and i.bounded_above:
        return None
    if i.bounded_below:
        least = _between(i.low - 2, i.low - 1, steps.period)
        return Eventually(ValueIn(Expression(ELAPSED), Reals.compared(">=", least))) if least else None
    most = _between(i.high - 1, i.high, steps.period, below=True)
    return Globally(ValueIn(Expression(ELAPSED), Reals.compared("<=", most))) if most else None


def _between(first: float, second: float, period: float, below: bool = False) -> float | None:
    """Return the time of the second of two steps (`below`: of the first) with few digits, if it separates them."""
    time = float(f"{(first if below else second) * period:.12g}")
    low, high = first * period, second * period
    return time if (low <= time < high if below else low < time <= high) and time > 0 else None
