"""Counts: the step that decided a comparison, and how many steps would decide it otherwise."""

import math
import operator
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import oracle
from tests.support.class_trees import class_leaf, class_tree
from tests.support.effort import examples
from tests.support.examples import records
from tests.support.strategies import FUNCTIONS, PLAIN_FUNCTIONS, RandomFormulas, draw_case, draw_columns

from telltree import Formula, Panel
from telltree.explain import Robustness, decisive_step, path_of
from telltree.tree.tree import Node

COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq}
LONG = 80  # steps: more than any constant or count here


def naive_step(holds, head, constant):
    """Walk along the record: the last step that changed the answer; else the last true one; None without any."""
    so_far, answer, last, changed = 0, COMPARE[head](0, constant), None, None
    for step, here in enumerate(holds):
        if here:
            so_far, last = so_far + 1, step
            if COMPARE[head](so_far, constant) != answer:
                answer, changed = not answer, step
    return last if changed is None else changed


def naive_margin(answer, *totals):
    """Change one of the counts by one step after another until the answer is another."""
    truth = answer(*totals)
    for steps in range(1, 4 * LONG):
        for place, total in enumerate(totals):
            for changed in (total - steps, total + steps):
                if changed >= 0 and answer(*totals[:place], changed, *totals[place + 1 :]) != truth:
                    return steps if truth else -steps
    return math.inf if truth else -math.inf


def settled(constant, head):
    """Comparisons whose answer is the same whatever is counted are decided nowhere in particular."""
    if head == "=":
        return constant < 0 or constant != int(constant)
    return constant < 0 or (constant == 0 and head in ("<", ">="))


@examples(80)
@given(st.integers(0, 2**32))
def test_one_count_and_a_constant_are_as_a_naive_loop_has_them(seed):
    rng = random.Random(seed)
    columns = draw_columns(rng)
    case = draw_case(rng, columns, [rng.randint(1, 9) for _ in range(4)])
    inner = RandomFormulas(rng, columns).vector(rng.randint(0, 2))
    head, constant = rng.choice(list(COMPARE)), rng.choice((-1, 0, 1, 2, 3, 5, 0.5, 2.5, 60))
    negated = rng.random() < 0.3
    said = (head, ("count", inner), ("number", float(constant)))
    text = oracle.text(("not", said) if negated else said, rng)
    formula = Formula.parse(text, case.panel.schema, functions=FUNCTIONS)
    margins = Robustness(case.panel)
    for i, record in enumerate(case.records):
        holds = [value is True for value in oracle.over_time(inner, record, PLAIN_FUNCTIONS)]
        distance = margins.distance(formula.expression, i)
        wanted = naive_margin(lambda n: COMPARE[head](n, constant), sum(holds))
        assert distance == (-wanted if negated else wanted, "steps"), text
        step = decisive_step(formula, case.panel, i)
        if any(holds) and not settled(constant, head):
            assert step == naive_step(holds, head, constant), text
        elif not any(holds):
            counted = formula.expression.args[0] if negated else formula.expression
            operand = next(e for e in counted.walk() if e.type.name == "COUNT").args[0]
            assert step == int(np.argmax(margins.over_time(operand, i))), text


SHAPES = {
    "count(a) {} count(b)": lambda c, a, b, k: c(a, b),
    "count(a) - count(b) {} {}": lambda c, a, b, k: c(a - b, k),
    "abs(count(a) - count(b)) {} {}": lambda c, a, b, k: c(abs(a - b), k),
    "abs(abs(count(a) - 5) - count(b)) {} {}": lambda c, a, b, k: c(abs(abs(a - 5) - b), k),
    "sign(count(a) - count(b)) {} {}": lambda c, a, b, k: c((a > b) - (a < b), k),
    "count(a) - (count(b) - count(a)) {} {}": lambda c, a, b, k: c(2 * a - b, k),
    "{1} {0} count(a)": lambda c, a, b, k: c(k, a),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_margins_of_several_counts_are_as_a_naive_loop_has_them(shape):
    rng = random.Random(shape)
    for _ in range(60):
        head, constant = rng.choice(list(COMPARE)), rng.choice((-2, 0, 1, 3, 2.5, 7))
        truths = [[rng.random() < share for _ in range(12)] for share in (0.3, 0.6)]
        panel = records({"a": truths[0], "b": truths[1]})
        formula = Formula.parse(shape.format(head, constant), panel.schema)
        totals = [sum(one) for one in truths]
        if "b" not in formula.expression.attributes():
            wanted = naive_margin(lambda a, s=shape, h=head, k=constant: SHAPES[s](COMPARE[h], a, 0, k), totals[0])
        else:
            wanted = naive_margin(lambda a, b, s=shape, h=head, k=constant: SHAPES[s](COMPARE[h], a, b, k), *totals)
        assert Robustness(panel).distance(formula.expression, 0).size == wanted, str(formula)


T, F = True, False
PANEL = records(
    {"a": [F, T, T, F, T, F], "x": [0.0, 5.0, 1.0, 2.0, 4.0, 3.0]},
    {"a": [F, F, F], "x": [0.0, 9.0, 1.0]},
)


@pytest.mark.parametrize(
    ("text", "record", "step", "size", "unit"),
    [
        ("count(a) > 1", 0, 2, 2, "steps"),  # passed at the second true step
        ("count(a) >= 1", 0, 1, 3, "steps"),
        ("count(a) > 3", 0, 4, -1, "steps"),  # never passed: the last true step
        ("count(a) < 3", 0, 4, -1, "steps"),  # the step that broke it
        ("count(a) <= 3", 0, 4, 1, "steps"),
        ("count(a) = 3", 0, 4, 1, "steps"),
        ("count(a) = 1", 0, 2, -2, "steps"),  # the step that went past
        ("count(a) = 5", 0, 4, -2, "steps"),
        ("count(a) = 2.5", 0, 2, -math.inf, "steps"),  # never: the first step that came nearest
        ("count(a) >= 0", 0, 0, math.inf, "steps"),  # always, and from the start
        ("not count(a) > 1", 0, 2, -2, "steps"),
        ("16 < count(a)", 0, 4, -14, "steps"),
        ("count(x > 100) > 2", 0, 1, -3, "steps"),  # never true: the step nearest to it
        ("count(x > 100) > 2", 1, 1, -3, "steps"),
        ("count(a) > 2", 1, 0, -3, "steps"),
        ("F(count(a) > 1)", 0, 2, 2, "steps"),
        ("G(not (count(a) > 1))", 0, 2, -2, "steps"),
        ("count(a) > 1 and F(x > 900)", 0, 1, None, "standard deviations"),
        ("count(a) > 5 and F(x >= 0)", 0, 4, -3, "steps"),
        ("count(a) > 5 or count(x < 3) > 1", 0, 2, 2, "steps"),
        ("F(a)", 0, 1, 1, None),
    ],
)
def test_what_decides_and_by_how_much(text, record, step, size, unit):
    formula = Formula.parse(text, PANEL.schema)
    assert decisive_step(formula, PANEL, record) == step
    found = Robustness(PANEL).distance(formula.expression, record)
    assert found.unit == unit
    assert size is None or found.size == size
    assert (found.size > 0) == formula(PANEL)[record]


def test_margins_that_searches_use_stay_as_they_are():
    e = Formula.parse("count(a) > 1", PANEL.schema).expression
    assert Robustness(PANEL).over_time(e, 0).tolist() == [1.0] * 6
    assert Robustness(PANEL).over_time(e, 1).tolist() == [-1.0] * 3


def turn(text, panel, record=0):
    leaves = class_leaf((1, 0), (1.0, 0.0)), class_leaf((0, 1), (0.0, 1.0))
    node = Node(Formula.parse(text, panel.schema), *leaves, 0.0, 0.0, 0.0, ())
    return path_of(class_tree(node, ("u", "v"), panel.schema), panel, record)[0]


@pytest.mark.parametrize(
    ("period", "unit", "said"),
    [(None, None, "+4 steps"), (1.0, "s", "+4 s"), (900.0, "s", "+1 h"), (1.0, None, "+4 steps"), (6.0, "h", "+1 d")],
)
def test_distances_are_told_in_steps_or_in_time(period, unit, said):
    panel = Panel.from_arrays([np.ones((20, 1))], columns=["x"], period=period, time_unit=unit)
    found = turn("count(x > 0) > 16", panel)
    assert (found.robustness, found.unit, found.distance) == (4, "steps", said)
    assert found.step == 16


def test_a_turn_says_when_and_how_clearly():
    bare = turn("count(a) > 3", PANEL)
    assert (bare.moment, bare.time, bare.date, bare.distance) == ("step 4", None, None, "-1 step")
    assert turn("count(a) >= 0", PANEL).distance == "+∞ steps"
    deviations = turn("F(x > 900)", PANEL)
    assert deviations.unit == "standard deviations"
    assert deviations.distance == f"{deviations.robustness:+.3g}"


def test_constants_out_of_reach_are_infinitely_far():
    panel = records({"x": [1e30, 2e30, 0.0]})
    far = Robustness(panel).distance(Formula.parse("count(x > 1e30) < 1e12", panel.schema).expression, 0)
    assert far == (math.inf, "steps")
    near = Robustness(panel).distance(Formula.parse("count(x > 1e30) < 2", panel.schema).expression, 0)
    assert near == (1, "steps")
