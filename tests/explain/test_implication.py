"""What is left out of a sentence follows from the rest: by example, and judged on every small record there is."""

import itertools
import random
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import oracle
from tests.support.effort import examples
from tests.support.strategies import FUNCTIONS, RandomFormulas, draw_case, draw_columns

from telltree.engine import Formula, truth_of
from telltree.explain import redundant, shown
from telltree.panel import Column, Panel, Schema

SCHEMA = Schema(
    [
        Column("a", "Boolean"),
        Column("b", "Boolean"),
        Column("x", "real"),
        Column("y", "real"),
        Column("c", "categorical", levels=("up", "down")),
    ]
)


def branches(*texts):
    return [
        (Formula.parse(text.removeprefix("no: "), SCHEMA, functions=FUNCTIONS), not text.startswith("no: "))
        for text in texts
    ]


def follows(premises, conclusion):
    return redundant(branches(conclusion, *premises))[0]


@pytest.mark.parametrize(
    ("premises", "conclusion"),
    [
        (["F(a)"], "F(a)"),
        (["F(a and b)"], "F(b and a)"),
        (["F(x < 1)"], "F(x < 2)"),
        (["F(x < 1)"], "F(x <= 1)"),
        (["F(x <= 1)"], "F(x < 1.5)"),
        (["F(x < 1)"], "F(2 > x)"),
        (["F(x < y)"], "F(y >= x)"),
        (["G(x < 1)"], "G(x < 2)"),
        (["G(x < 1)"], "F(x < 2)"),
        (["G(x < 1)"], "no: F(x >= 1)"),
        (["G(x < 1)"], "no: F(missing(x))"),
        (["no: F(x < 2)"], "no: F(x < 1)"),
        (["no: F(x < 2)"], "no: G(x < 1)"),
        (["no: G(x < 2)"], "no: G(x < 1)"),
        (["no: F(a)"], "G(not a)"),
        (["F(a and b)"], "F(a)"),
        (["F(a)"], "F(a or b)"),
        (["G(a)", "G(b)"], "G(a and b)"),
        (["G(a)", "F(b)"], "F(a and b)"),
        (["G(a and b)"], "G(a)"),
        (["no: F(a or b)"], "no: F(a)"),
        (["F(a or b)", "no: F(a)"], "F(b)"),
        (["G(a => b)", "F(a)"], "F(b)"),
        (["G(a => b)", "no: F(b)"], "no: F(a)"),
        (["F(x = 3)"], "F(x <= 3)"),
        (["F(x = 3)"], "F(x < 4)"),
        (["G(x = 3)"], "no: F(x = 4)"),
        (["G(x <= 3)", "G(x >= 3)"], "G(x = 3)"),
        (['G(c = "up")'], 'no: F(c = "down")'),
        (["G(missing(a))"], "no: F(a)"),
        (["G(missing(x))"], "no: F(x < 9)"),
        (["F(G(a))"], "F(a)"),
        (["F(F(a))"], "F(a)"),
        (["G(a)"], "G(G(a))"),
        (["G(a)"], "F(G(a))"),
        (["G(F(a))"], "F(a)"),
        (["F(a) and F(b)"], "F(b)"),
        (["F(a) => G(b)", "F(a)"], "F(b)"),
        (["no: F(a) => F(b)"], "F(a)"),
        (["count(a) > 3"], "count(a) > 2"),
        (["no: count(a) > 3"], "count(a) <= 3"),
        (["no: count(a) > count(b)"], "count(b) >= count(a)"),
        (["count(a) > 3"], "G(count(a) > 2)"),
        (["count(a) > 3", "F(b)"], "F(b and count(a) > 2)"),
        (["F(so_far(a))"], "F(so_far(a) or b)"),
        ([], "G(a or not a)"),
        ([], "no: F(missing(not a))"),
    ],
)
def test_it_follows(premises, conclusion):
    assert follows(premises, conclusion)


@pytest.mark.parametrize(
    ("premises", "conclusion"),
    [
        ([], "F(a)"),
        (["F(a)"], "G(a)"),
        (["F(x < 2)"], "F(x < 1)"),
        (["F(a)", "F(b)"], "F(a and b)"),
        (["G(a or b)"], "G(a) or G(b)"),
        (["no: F(x < 1)"], "G(x >= 1)"),  # values may be missing
        (["no: G(x < 1)"], "F(x >= 1)"),
        (["no: F(a)"], "no: F(missing(a))"),
        (['no: F(c = "up")'], 'F(c = "down")'),
        (["G(x <= y)"], "G(x < y)"),
        (["F(a)"], "F(b)"),
        (["F(x < 1)"], "F(y < 1)"),
    ],
)
def test_it_does_not_follow(premises, conclusion):
    assert not follows(premises, conclusion)


def test_of_two_alike_the_later_stays():
    assert redundant(branches("F(a)", "F(a)", "F(a)")) == [True, True, False]


def test_shown_keeps_the_order_and_drops_the_general():
    given_, wanted = branches("F(x < 3)", "no: F(b)", "F(x < 2)"), branches("no: F(b)", "F(x < 2)")
    assert shown(given_) == tuple(wanted)


def test_something_stays():
    assert shown([]) == ()
    always = branches("G(a or not a)", "G(b or not b)")
    assert shown(always) == tuple(always[1:])


def test_long_questions_are_given_up_in_time():
    ors = [f"F((x < {i} and a) or (y < {i} and b)) or G(F(a and x > {i})) or G(F(b))" for i in range(20)]
    assert not any(redundant(branches(*ors, "F(b)"))[20:])


# The judge: every record of up to three steps over these values, missing ones among them.


@cache
def small_world():
    states = list(itertools.product((None, -1.0, 0.0, 0.5, 1.0, 2.0), (None, False, True)))
    records = [r for length in (1, 2, 3) for r in itertools.product(states, repeat=length)]
    arrays = [np.array(record, dtype=object) for record in records]
    overrides = {"x": {"type": "real"}, "a": {"type": "Boolean"}}
    return Panel.from_arrays(arrays, columns=["x", "a"], schema=overrides)


ATOMS = ("a", "missing(a)", "missing(x)", *(f"x {op} {c}" for op in ("<", "<=", ">", ">=", "=") for c in (0, 1)))


def draw_formula(rng):
    def vector(depth):
        roll = rng.random()
        if depth == 0 or roll < 0.3:
            return rng.choice(ATOMS)
        if roll < 0.45:
            return f"not ({vector(depth - 1)})"
        if roll < 0.6:
            return f"{rng.choice('FG')}({vector(depth - 1)})"
        return f"({vector(depth - 1)}) {rng.choice(('and', 'or', 'implies'))} ({vector(depth - 1)})"

    def boolean(depth):
        roll = rng.random()
        if depth == 0 or roll < 0.65:
            return f"{rng.choice('FG')}({vector(rng.randint(0, 2))})"
        if roll < 0.75:
            return f"count({vector(0)}) {rng.choice('<>=')} {rng.choice((0, 1, 2))}"
        return f"({boolean(depth - 1)}) {rng.choice(('and', 'or', 'implies'))} ({boolean(depth - 1)})"

    return boolean(1)


def assert_sound(chosen, dropped, panel):
    """Whatever satisfies those that stay satisfies those that go."""
    truth = truth_of([formula.expression for formula, _ in chosen], panel)
    holds = truth == np.array([[positive] for _, positive in chosen])
    stay = holds[~np.array(dropped)].all(axis=0)
    assert (holds[:, stay].all(axis=0)).all(), [(str(formula), positive) for formula, positive in chosen]
    return holds


@examples(150)
@given(st.integers(0, 2**32))
def test_sound_on_every_small_record(seed):
    rng = random.Random(seed)
    panel = small_world()
    chosen = [(Formula.parse(draw_formula(rng), panel.schema), rng.random() < 0.5) for _ in range(rng.randint(1, 4))]
    assert_sound(chosen, redundant(chosen), panel)


def test_what_follows_without_counting_is_found():
    rng = random.Random(1)
    panel = small_world()
    found = there = 0
    for _ in range(400):
        chosen = [(Formula.parse(draw_formula(rng), panel.schema), rng.random() < 0.5) for _ in range(2)]
        if any("count" in str(formula) for formula, _ in chosen):
            continue
        dropped = redundant(chosen)
        holds = assert_sound(chosen, dropped, panel)
        if holds.any(axis=1).all():
            there += bool((holds[0] | ~holds[1]).all() or (holds[1] | ~holds[0]).all())
            found += any(dropped)
    assert found == there > 50


@examples(60)
@given(st.integers(0, 2**32))
def test_sound_on_mixed_records_with_functions_and_counts(seed):
    rng = random.Random(seed)
    columns = draw_columns(rng)
    panel = draw_case(rng, columns, [rng.randint(1, 4) for _ in range(100)]).panel
    draw = RandomFormulas(rng, columns)
    texts = [oracle.text(draw.boolean(rng.randint(1, 3)), rng) for _ in range(3)]
    pool = [Formula.parse(text, panel.schema, functions=FUNCTIONS) for text in texts]
    chosen = [(rng.choice(pool), rng.random() < 0.7) for _ in range(4)]
    assert_sound(chosen, redundant(chosen), panel)
