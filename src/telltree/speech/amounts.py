"""Sets of numbers in words: "within 100 ft", "beyond ±500 ft", "between 2 and 5 bar", "below 2 or above 5"."""

import math

from telltree.speech.values import Interval, Reals
from telltree.speech.words import number_words


def amounts(values: Reals, unit: str) -> list[str]:
    """What a number may be: predicates, at least one of which is true."""
    missing = ["missing"] * values.missing
    even = _symmetric(values.intervals)
    if even is not None:
        (inner, outer), edge = even
        side, ends = "within " if inner else "beyond ±", " inclusive" if outer else ""
        return [f"{side}{number_words(edge)}{unit}{ends}", *missing]
    hole = _point_left_out(values.intervals)
    if hole is not None:
        return [f"other than {number_words(hole)}{unit}", *missing]
    said = [_between(interval, "") for interval in values.intervals[:-1]]  # only the last constant has the unit
    return [*said, *(_between(interval, unit) for interval in values.intervals[-1:]), *missing]


def _between(interval: Interval, unit: str) -> str:
    low, high = number_words(interval.low), number_words(interval.high) + unit
    match _bounded(interval):
        case (False, False):
            return "known"
        case (False, True):
            return f"{'at most' if interval.with_high else 'below'} {high}"
        case (True, False):
            return f"{'at least' if interval.with_low else 'above'} {low}{unit}"
    if interval.low == interval.high:
        return f"exactly {high}"
    words = {(True, True): "from {} to {}", (True, False): "at least {} and below {}",
             (False, True): "above {} and at most {}", (False, False): "between {} and {}"}  # fmt: skip
    return words[interval.with_low, interval.with_high].format(low, high)


def distance(values: Reals, unit: str) -> str | None:
    """The words between two signals whose difference has these values; None if there are no simple ones."""
    even = _symmetric(values.intervals)
    if even is not None:
        (inner, with_edge), edge = even
        words = {(True, False): "within {} of", (True, True): "at most {} from", (False, False): "more than {} from",
                 (False, True): "at least {} from"}  # fmt: skip
        return words[inner, with_edge].format(number_words(edge) + unit)
    if len(values.intervals) != 1:
        return None
    (i,) = values.intervals
    match _bounded(i):
        case (True, False) if i.low > 0:
            return f"{'at least' if i.with_low else 'more than'} {number_words(i.low)}{unit} above"
        case (False, True) if i.high < 0:
            return f"{'at least' if i.with_high else 'more than'} {number_words(-i.high)}{unit} below"
    return None


def rise(intervals: tuple[Interval, ...], unit: str) -> str | None:
    """By how much something has changed whose change lies in these intervals; None if it may be none."""
    if len(intervals) != 1 or _bounded(intervals[0]) != (True, False):
        return None
    edge, with_edge = intervals[0].low, intervals[0].with_low
    if edge == 0 and not with_edge:
        return ""
    if not 0 < edge < math.inf:
        return None
    return f"by {'at least' if with_edge else 'more than'} {number_words(edge)}{unit}"


def _bounded(i: Interval) -> tuple[bool, bool]:
    return i.low > -math.inf or not i.with_low, i.high < math.inf or not i.with_high


def only_above(i: Interval) -> float | None:
    """The constant c if the interval is everything above c."""
    return i.low if _bounded(i) == (True, False) and not i.with_low else None


def only_below(i: Interval) -> float | None:
    """The constant c if the interval is everything below c."""
    return i.high if _bounded(i) == (False, True) and not i.with_high else None


def _symmetric(intervals: tuple[Interval, ...]) -> tuple[tuple[bool, bool], float] | None:
    """If a set is all numbers within a distance of 0, or all beyond: whether within, if the edge is in; the edge."""
    match intervals:
        case (Interval(low=low, high=high, with_low=with_low, with_high=with_high),):
            if low == -high and with_low == with_high and 0 < high < math.inf:
                return (True, with_low), high
        case (Interval(high=low, with_high=with_low), Interval(low=high, with_low=with_high)):
            free = _bounded(intervals[0])[0] or _bounded(intervals[1])[1]
            if low == -high and with_low == with_high and 0 < high < math.inf and not free:
                return (False, with_low), high
    return None


def _point_left_out(intervals: tuple[Interval, ...]) -> float | None:
    match intervals:
        case (Interval(high=low), Interval(low=high)):
            free = _bounded(intervals[0])[0] or _bounded(intervals[1])[1]
            return low if low == high and not free else None
    return None
