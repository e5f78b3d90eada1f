"""Sets of values, judged by which values are in them."""

import math
import random
from itertools import pairwise

import pytest

from telltree.english.value_sets import Interval, Names, Orders, Reals, Truths

MISSING = object()
CONSTANTS = (-2.0, -1.0, -0.0, 0.0, 0.5, 1.0, 3.0)
NUMBERS = (-math.inf, -9.0, -2.0, -1.5, -1.0, -0.5, -1e-300, 0.0, 1e-300, 0.25, 0.5, 0.75, 1.0, 2.0, 3.0, 4.0, math.inf)
RELATIONS = {
    "<": lambda x, c: x < c,
    "<=": lambda x, c: x <= c,
    ">": lambda x, c: x > c,
    ">=": lambda x, c: x >= c,
    "=": lambda x, c: x == c,
}


def numbers_of(values):
    """Which of the numbers worth asking about are in a set, and whether "missing" is."""
    inside = {x for x in NUMBERS if x in values}
    return inside | {MISSING} if values.missing else inside


def draw_reals(rng, depth=3):
    """A random set, and which of the numbers are in it by the plain meaning of comparisons."""
    if depth == 0 or rng.random() < 0.2:
        relation, constant = rng.choice(list(RELATIONS)), rng.choice(CONSTANTS)
        compared = {x for x in NUMBERS if RELATIONS[relation](x, constant)}
        return rng.choice([(Reals((), True), {MISSING}), *[(Reals.compared(relation, constant), compared)] * 5])
    (a, in_a), (b, in_b) = draw_reals(rng, depth - 1), draw_reals(rng, depth - 1)
    return rng.choice([(a & b, in_a & in_b), (a | b, in_a | in_b), (~a, {*NUMBERS, MISSING} - in_a)])


@pytest.fixture(params=range(3))
def reals(request):
    """Random sets of numbers, each with what is in it."""
    rng = random.Random(request.param)
    return [draw_reals(rng) for _ in range(400)]


def test_sets_of_numbers_hold_what_comparisons_say(reals):
    for (a, in_a), (b, in_b) in pairwise(reals):
        assert numbers_of(a) == in_a
        assert a.within(b) == in_a.issubset(in_b)
        assert a.empty == (not in_a)
        assert (a == b) == (in_a == in_b)  # one set, one way to write it
        assert ~~a == a
        assert [x in a.mirrored for x in NUMBERS] == [-x in a for x in NUMBERS]


def test_intervals_come_in_order_and_do_not_touch(reals):
    for values, _ in reals:
        assert not any(interval.empty for interval in values.intervals)
        for before, after in pairwise(values.intervals):
            assert before.high < after.low or (before.high == after.low and not before.with_high and not after.with_low)


def test_absolute_value_and_sign_are_undone_exactly(reals):
    for values, inside in reals:
        missing = {MISSING} & inside
        assert numbers_of(values.under_abs) == {x for x in NUMBERS if abs(x) in values} | missing
        assert numbers_of(values.under_sign) == {x for x in NUMBERS if (x > 0) - (x < 0) in values} | missing


def test_whole_numbers_are_kept_and_nothing_else(reals):
    for values, _ in reals:
        whole = values.whole
        assert [n for n in range(9) if n in whole] == [n for n in range(9) if n in values]
        assert not whole.missing
        for interval in whole.intervals:
            assert interval.with_low
            assert interval.with_high
            assert interval.low == int(interval.low) >= 0
            assert interval.high == math.inf or interval.high == int(interval.high)
        for before, after in pairwise(whole.intervals):
            assert after.low > before.high + 1


def test_intervals_in_any_order_make_one_set():
    parts = [Interval(2.0, 3.0), Interval(0.0, 1.0, True, False), Interval(1.0, 2.0), Interval(5.0, 5.0, True, False)]
    assert Reals.of(parts) == Reals((Interval(0.0, 3.0),), False)


def truths(rng):
    return Truths(*(rng.random() < 0.5 for _ in range(3)))


def orders(rng):
    return Orders(*(rng.random() < 0.5 for _ in range(4)))


def names(rng):
    return Names(frozenset(rng.sample(["up", "down", ""], rng.randint(0, 3))), rng.random() < 0.5, rng.random() < 0.5)


def members(values):
    """What is in a small set; of names, one that nobody knows stands for all others."""
    if isinstance(values, Names):
        inside = {name for name in ("up", "down", "", "stranger") if (name in values.names) != values.others}
        return inside | {MISSING} if values.missing else inside
    fields = ("true", "false", "missing") if isinstance(values, Truths) else ("less", "equal", "greater", "missing")
    return {field for field in fields if getattr(values, field)}


@pytest.mark.parametrize("draw", [truths, orders, names])
def test_small_sets_hold_what_they_say(draw):
    rng = random.Random(1)
    for _ in range(200):
        a, b = draw(rng), draw(rng)
        assert members(a & b) == members(a) & members(b)
        assert members(a | b) == members(a) | members(b)
        assert members(~a) == members(a | ~a) - members(a)
        assert a.within(b) == members(a).issubset(members(b))
        assert a.empty == (not members(a))
        assert (a == b) == (members(a) == members(b))
