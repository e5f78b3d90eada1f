"""Decisive moments: witnesses, near misses, and margins whose sign is the truth."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import oracle
from tests.support.effort import examples
from tests.support.strategies import FUNCTIONS, PLAIN_FUNCTIONS, RandomFormulas, draw_case, draw_columns

from telltree import ask
from telltree.engine import Formula
from telltree.errors import DataError
from telltree.explain import Robustness, decisive_step, decisive_steps
from telltree.explain.evidence import how_decided
from telltree.panel import Panel

TYPES = {"x": "real", "y": "real", "a": "Boolean"}
nan = np.nan


def panel(*records):
    arrays = [np.array([*zip(*record, strict=True)], dtype=object) for record in records]
    return Panel.from_arrays(arrays, columns=list(TYPES), schema={name: {"type": kind} for name, kind in TYPES.items()})


PANEL = panel(
    ([0, 3, 5, 3], [9, 9, 0, 9], [False, True, False, True]),
    ([2, 2], [1, 1], [None, False]),
    ([nan, 4, nan], [0, 50, 60], [True, True, None]),
    ([7], [7], [True]),
)


def step(text, record):
    return decisive_step(Formula.parse(text, PANEL.schema), PANEL, record)


@pytest.mark.parametrize(
    ("text", "record", "wanted"),
    [
        ("F(x > 2)", 0, 1),  # true: the first witness
        ("F(a)", 0, 1),
        ("G(x < 4)", 0, 2),  # false: the first witness against it
        ("G(a)", 0, 0),
        ("F(x > 6)", 0, 2),  # false: the nearest
        ("F(x < 0)", 0, 0),  # nearest although the distance is 0
        ("F(x = 4)", 0, 1),
        ("G(x < 6)", 0, 2),  # true: nearest to breaking
        ("G(x >= 0)", 0, 0),
        ("F(x > 6)", 1, 0),  # equals: the first
        ("F(a)", 1, 0),
        ("F(x > 5)", 2, 1),  # a missing value is one deviation away, this one less
        ("F(missing(x))", 2, 0),
        ("G(missing(x))", 2, 1),
        ("F(x < 3 and y > 100)", 0, 0),  # by the smaller of both margins
        ("not F(x > 2)", 0, 1),
        ("F(G(x < 4))", 0, 3),  # the first step from which on it holds
        ("G(F(a))", 0, 0),
        ("F(x > 6)", 3, 0),
        # ∧ and ∨: the operand that decides
        ("F(x > 4) and F(a)", 0, 2),  # both true: the one that is less so
        ("F(x > 900) and G(a)", 0, 2),  # both false: the one that is more so
        ("F(x > 4) and G(x < 3)", 0, 1),  # the false one
        ("F(x > 4) or G(x < 3)", 0, 2),  # the true one
        ("F(x > 4) => G(x < 3)", 0, 2),  # false, and its left side is the weaker reason
        ("G(a) => F(x > 9)", 0, 0),  # true, for its left side is false
        # counts: from where on the comparison comes out as it does
        ("count(a) > 0", 0, 1),
        ("count(a) > 1", 0, 3),
        ("count(a) > 2", 0, 3),
        ("count(a) < 2", 0, 3),
        ("count(x > 2) - count(a) = 1", 0, 2),
        ("count(a) = count(x < 5)", 0, 0),
        ("not abs(count(a)) < 2", 0, 3),
        ("sign(count(a)) = 1", 0, 1),
    ],
)
def test_decisive_step(text, record, wanted):
    assert step(text, record) == wanted


def test_all_records_at_once_and_some():
    formula = Formula.parse("F(x > 3)", PANEL.schema)
    assert decisive_steps(formula, PANEL).tolist() == [2, 0, 1, 0]
    assert decisive_steps(formula, PANEL, [2, 0]).tolist() == [1, 2]
    assert decisive_steps(formula, PANEL[[2]]).tolist() == [1]


@pytest.mark.parametrize("record", [-1, 4])
@pytest.mark.parametrize("text", ["F(a)", "count(a) > 0"])
def test_a_record_that_is_not_there(text, record):
    with pytest.raises(DataError, match=f"there is no record {record}: the panel has 4"):
        step(text, record)


def test_margins_are_in_standard_deviations():
    records = panel(([0, 4], [0, 0], [True, None]), ([nan], [0], [False]))
    margins = Robustness(records)
    operand = Formula.parse("F(x < 1)", records.schema).expression.args[0]
    assert margins.over_time(operand, 0).tolist() == [0.5, -1.5]
    assert margins.over_time(operand, 1).tolist() == [-1.0]


def test_a_constant_column_has_margins_too():
    records = panel(([1, 1], [0, 0], [True, True]))
    assert decisive_step(Formula.parse("F(x > 3)", records.schema), records, 0) == 0


def test_a_constant_column_is_measured_by_1_also_where_its_mean_is_rounded():
    records = panel(([0.1] * 3, [0] * 3, [True] * 3))
    assert Robustness(records).distance(Formula.parse("F(x > 3)", records.schema).expression, 0).size == -2.9


def test_the_unit_of_a_distance_is_that_of_the_step_that_it_is_of():
    """The first step that proves "b and x > 4" is step 0, by x; the margin is that of step 1, by b."""
    arrays = [np.array([[4.1, 1], [9, 1], [4.05, 0]]), np.array([[3, 0], [5, 1]])]
    records = Panel.from_arrays(arrays, columns=["x", "b"], schema={"b": {"type": "Boolean"}})
    formula = Formula.parse("F(b and x > 4)", records.schema)
    assert Robustness(records).distance(formula.expression, 0) == (1.0, None)
    assert decisive_step(formula, records, 0) == 0


@pytest.mark.parametrize(
    ("text", "a", "b", "step"),
    [
        ("until(a, b)", "111111", "000001", 5),
        ("until(a, b)", "111000", "000001", 3),
        ("until(a, b)", "000000", "100001", 0),
        ("until(a, b)", "111111", "000000", 0),
        ("unless(a, b)", "111111", "000000", 0),
        ("unless(a, b)", "110111", "000100", 2),
        ("F[5, 5](since(a, b))", "000111", "001000", 2),
        ("F[5, 5](since(a, b))", "111011", "001000", 3),
    ],
)
def test_until_is_decided_where_b_comes_after_a_or_a_ends_before_b(text, a, b, step):
    record = np.array([[float(one), float(two)] for one, two in zip(a, b, strict=True)])
    schema = {name: {"type": "Boolean"} for name in "ab"}
    records = Panel.from_arrays([record], columns=["a", "b"], schema=schema)
    assert decisive_step(Formula.parse(text, records.schema), records, 0) == step


@examples(60)
@given(st.integers(0, 2**32))
def test_the_sign_of_margins_is_the_truth(seed):
    rng = random.Random(seed)
    columns = draw_columns(rng)
    case = draw_case(rng, columns, [rng.randint(1, 6) for _ in range(4)])
    draw = RandomFormulas(rng, columns)
    for _ in range(3):
        text = oracle.text(draw.boolean(rng.randint(1, 4)), rng)
        formula = Formula.parse(text, case.panel.schema, functions=FUNCTIONS)
        margins = Robustness(case.panel)
        for i, truth in enumerate(formula.over_time(case.panel)):
            assert (margins.over_time(formula.expression, i) > 0).tolist() == truth.tolist(), text
        lengths = case.panel.lengths
        steps = decisive_steps(formula, case.panel)
        assert ((steps >= 0) & (steps < lengths)).all()


@examples(60)
@given(st.integers(0, 2**32))
def test_witnesses_witness(seed):
    rng = random.Random(seed)
    columns = draw_columns(rng)
    case = draw_case(rng, columns, [rng.randint(1, 6) for _ in range(6)])
    inner = RandomFormulas(rng, columns).vector(rng.randint(0, 2))
    head = rng.choice("FG")
    formula = Formula.parse(oracle.text((head, inner), rng), case.panel.schema, functions=FUNCTIONS)
    steps = decisive_steps(formula, case.panel)
    for i, record in enumerate(case.records):
        holds = oracle.over_time(inner, record, PLAIN_FUNCTIONS)
        if (head == "F") in holds:
            assert steps[i] == holds.index(head == "F")


def test_distances_may_be_measured_by_another_panel():
    formula = Formula.parse("F(x > 10 or y > 10)", PANEL.schema)
    given = panel(([1, 0], [0, 2], [None, None]))
    assert decisive_step(formula, given, 0) == 1  # y is 10 deviations away, then 8; x is 18, then 20
    wide = panel(([0, 200], [0, 2], [None, None]))
    assert decisive_step(formula, given, 0, reference=wide) == 0  # by these, x is 0.09 away, then 0.1
    assert decisive_steps(formula, given, reference=wide).tolist() == [0]
    e = formula.expression.args[0].args[0]
    np.testing.assert_array_equal(Robustness(given, wide).over_time(e, 0), [-0.09, -0.1])
    np.testing.assert_array_equal(Robustness(given).over_time(e, 0), [-18.0, -20.0])


NESTED = [
    ("next(next(b))", [0, 0, 1, 0], True, 2, "decided"),
    ("next(next(b))", [0, 1, 0, 1], False, 2, "decided"),
    ("not next(next(b))", [0, 1, 0, 1], True, 2, "decided"),
    ("next(b or next(next(b)))", [0, 0, 0, 1], True, 3, "decided"),
    ("next(F(b))", [1, 0, 0, 1], True, 3, "first held"),
    ("next(F[1, 1](G(b)))", [0, 0, 1, 0], False, 3, "first failed"),
    ("F[2, 2](b)", [0, 0, 1], True, 2, "decided"),
    ("next(next(b))", [1, 1], False, 1, "decided"),  # there is no such step
    ("F(next(b))", [0, 0, 1], True, 1, "first held"),
]


@pytest.mark.parametrize("nested", NESTED)
@pytest.mark.parametrize("records", [1, 3000], ids=["walked", "compiled"])
def test_what_looks_at_one_step_is_decided_there(nested, records):
    text, values, holds, step, how = nested
    column = np.array([[bool(value)] for value in values], object)
    panel = Panel.from_arrays([column] * records, columns=["b"], schema={"b": {"type": "Boolean"}})
    formula = Formula.parse(text, panel.schema)
    assert formula(panel).tolist() == [holds] * records
    assert decisive_steps(formula, panel).tolist() == [step] * records
    assert how_decided(formula, holds) == how


@pytest.mark.parametrize(
    ("text", "holds", "how"),
    [
        ("until(x < 5, x > 8)", False, "came nearest"), ("until(x < 5, x > 8)", True, "decided"),
        ("not until(x < 5, x > 8)", True, "came nearest to failing"), ("not until(x < 5, x > 8)", False, "decided"),
        ("unless(x < 5, x > 8)", False, "came nearest"), ("next(until(x < 5, x > 8))", False, "came nearest"),
    ],
)  # fmt: skip
def test_an_until_that_is_false_came_nearest(text, holds, how):
    panel = Panel.from_arrays([np.array([[1.0], [2.0], [9.0]])], columns=["x"])
    assert how_decided(Formula.parse(text, panel.schema), holds) == how


def test_ask_explains_where_an_until_came_nearest():
    panel = Panel.from_arrays([np.array([[1.0], [7.5], [3.0]]), np.array([[1.0], [9.0], [3.0]])], columns=["x"])
    answer = ask(panel, "until(x < 8, x > 8)")
    assert answer.positions.tolist() == [1]
    assert answer.explain(0).when == "came nearest at step 1"
    assert str(ask(panel, "next(next(x < 5))").explain(0)).endswith("decided at step 2: x is 3")
