"""What formulas mean, rule by rule, on data small enough to check by eye."""

import math

import numpy as np
import polars as pl
import pytest

from tests.support.examples import holds, over_time, records, steps
from tests.support.strategies import Column, panel_of

from telltree.engine import Formula, truth_of
from telltree.errors import DataError, DataWarning, GrammarError
from telltree.logic import user_function
from telltree.panel import Panel


def error_of(text, given, functions=()):
    with pytest.raises(GrammarError) as raised:
        Formula.parse(text, records(given).schema, functions=functions)
    return str(raised.value)


# Zero-length record: DataError


def test_a_record_without_steps_is_an_error():
    with pytest.raises(DataError, match=r"1"):
        Panel.from_arrays([np.zeros((2, 1)), np.zeros((0, 1))])


def test_a_panel_without_records_has_no_answers():
    panel = records({"x": [1.0], "b": [True]})
    formula = Formula.parse("F(x < 2 and b) and count(b) < 2", panel.schema)
    none = panel[[]]
    assert formula(none).shape == (0,)
    assert formula.over_time(none) == []
    assert truth_of([formula.expression] * 3, none).shape == (3, 0)


# Missing value: an atom on it is false, its negation true; arithmetic on it is missing; missing(x) asks


@pytest.mark.parametrize("atom", ["x < 9", "x <= 9", "x > -9", "x >= -9", "x = x", "abs(x) >= 0", "x - x = 0"])
def test_an_atom_on_a_missing_number_is_false_and_its_negation_true(atom):
    values = [1.0, None, math.nan]
    assert steps(atom, x=values) == [True, False, False]
    assert steps(f"not ({atom})", x=values) == [False, True, True]


def test_not_less_is_not_greater_or_equal_where_a_value_is_missing():
    values = [1.0, 3.0, None]
    assert steps("¬(x < 2)", x=values) == [False, True, True]
    assert steps("x >= 2", x=values) == [False, True, False]


def test_a_missing_boolean_is_false_and_its_negation_true():
    assert steps("b", b=[True, False, None]) == [True, False, False]
    assert steps("not b", b=[True, False, None]) == [False, True, True]


def test_a_missing_category_equals_nothing_not_even_another_missing_one():
    assert steps('c = "u"', c=["u", "v", None]) == [True, False, False]
    assert steps('not c = "u"', c=["u", "v", None]) == [False, True, True]
    assert steps("c = d", c=["u", None, None], d=["u", "u", None]) == [True, False, False]
    assert steps("c = c", c=["u", None]) == [True, False]


def test_a_column_without_any_category_equals_nothing():
    panel = panel_of([Column("c", "categorical"), Column("d", "categorical")], [{"c": [None, None], "d": ["u", "v"]}])
    for text in ("F(c = d)", "F(d = c)", "F(c = c)"):
        assert Formula.parse(text, panel.schema)(panel).tolist() == [False]


@pytest.mark.parametrize("arithmetic", ["x - y", "y - x", "abs(x - y)", "sign(y - x)", "x - y - 1", "1 - (x - y)"])
def test_arithmetic_on_a_missing_value_is_missing(arithmetic):
    columns = {"x": [1.0, None, 1.0, None], "y": [1.0, 1.0, None, None]}
    assert steps(f"missing({arithmetic})", **columns) == [False, True, True, True]
    assert steps(f"{arithmetic} >= -9", **columns) == [True, False, False, False]


def test_infinity_less_infinity_is_missing():
    assert steps("missing(x - x)", x=[math.inf, -math.inf, 1.0]) == [True, True, False]
    assert steps("x - x = 0", x=[math.inf, -math.inf, 1.0]) == [False, False, True]


def test_infinity_compares_as_usual():
    assert steps("x > 1e300", x=[math.inf, -math.inf, 1.0]) == [True, False, False]
    assert steps("x = y", x=[math.inf, math.inf], y=[math.inf, -math.inf]) == [True, False]


@pytest.mark.parametrize("values", [[1.0, None], [True, None], ["u", None]])
def test_missing_asks_of_every_type(values):
    assert steps("missing(x)", x=values) == [False, True]
    assert steps("not missing(x)", x=values) == [True, False]


def test_a_formula_is_never_missing():
    assert steps("missing(x < 2)", x=[1.0, None]) == [False, False]
    assert steps("missing(not b)", b=[True, None]) == [False, False]


# Negation: the complement of the evaluated result


def test_negation_of_a_whole_formula_is_the_complement():
    panel = [{"x": [1.0, 3.0]}, {"x": [None]}, {"x": [3.0, None]}, {"x": [1.0]}]
    assert holds("F(x < 2)", *panel) == [True, False, False, True]
    assert holds("not F(x < 2)", *panel) == [False, True, True, False]
    assert holds("G(not (x < 2))", *panel) == [False, True, True, False]


# Equality: exact on reals, by name on categories; categories have no order


def test_equality_on_reals_is_exact():
    assert steps("x = 0.3", x=[0.3, 0.1 + 0.2, 0.3 + 1e-16]) == [True, False, False]
    assert steps("x = 0", x=[0.0, -0.0]) == [True, True]


def test_categories_of_two_columns_are_equal_by_name():
    # "v" has code 1 in c and code 0 in d
    assert steps("c = d", c=["u", "v", "v"], d=["v", "v", "w"]) == [False, True, False]


def test_the_empty_name_is_a_category_where_the_schema_says_so():
    frame = pl.DataFrame({"id": [0, 1, 2], "c": ["", "u", None]})
    panel = Panel.from_frame(frame, id="id", schema={"c": {"type": "categorical", "levels": ["", "u"]}})
    assert Formula.parse('F(c = "")', panel.schema)(panel).tolist() == [True, False, False]
    panel = Panel.from_frame(frame, id="id")
    assert Formula.parse("F(missing(c))", panel.schema)(panel).tolist() == [True, False, True]


def test_odd_names_are_categories_like_others():
    assert steps(r'c = "say \"hi\""', c=['say "hi"', "u"]) == [True, False]


def test_a_category_the_schema_does_not_know_equals_nothing_and_is_not_missing():
    known = {"c": {"type": "categorical", "levels": ["u", "v"]}, "d": {"type": "categorical", "levels": ["u", "w"]}}
    frame = pl.DataFrame({"id": [0, 1, 2], "c": ["u", "w", "z"], "d": ["u", "w", "z"]})
    with pytest.warns(DataWarning, match="'w', 'z'"):
        panel = Panel.from_frame(frame, id="id", schema=known)

    def of(text):
        return Formula.parse(text, panel.schema)(panel).tolist()

    assert of('F(c = "u")') == [True, False, False]
    assert of('F(not c = "u")') == [False, True, True]
    assert of("F(c = d)") == [True, False, False]
    assert of("F(missing(c))") == [False, False, False]


def test_a_category_that_the_panel_does_not_have_is_false():
    formula = Formula.parse('F(c = "u")', records({"c": ["u"]}).schema)
    assert formula(records({"c": ["v"]}, {"c": [None]})).tolist() == [False, False]


@pytest.mark.parametrize("text", ['F(c < "u")', "F(c >= c)", 'G(not c <= "u")'])
def test_ordering_categories_is_an_error(text):
    assert "categories have no order" in error_of(text, {"c": ["u"]})


# Implication: ¬a ∨ b step by step; right-associative, binds loosest; ¬ binds looser than comparisons

TABLE = {"a": [False, False, True, True], "b": [False, True, False, True]}


def test_implication_is_not_a_or_b():
    assert steps("a implies b", **TABLE) == [True, True, False, True]
    assert steps("a implies b", **TABLE) == steps("not a or b", **TABLE)


def test_implication_is_judged_step_by_step():
    alarm = {"a": [False, True], "b": [True, False]}
    assert holds("G(a ⇒ b)", alarm) == [False]
    assert holds("F(a) ⇒ F(b)", alarm) == [True]
    assert over_time("F(a) ⇒ F(b)", **alarm) == [True, False]


def test_implication_is_right_associative():
    a_implies_a = {"a": [False], "b": [True], "c": [False]}
    assert steps("a ⇒ b ⇒ c", **a_implies_a) == steps("a ⇒ (b ⇒ c)", **a_implies_a) == [True]
    assert steps("(a ⇒ b) ⇒ c", **a_implies_a) == [False]


def test_implication_binds_loosest_then_or_then_and():
    columns = {"a": [True, False], "b": [False, True], "c": [False, False]}
    assert steps("a or b ⇒ c", **columns) == steps("(a or b) ⇒ c", **columns) == [False, False]
    assert steps("a or (b ⇒ c)", **columns) == [True, False]
    assert steps("a or b and c", **columns) == steps("a or (b and c)", **columns) == [True, False]
    assert steps("(a or b) and c", **columns) == [False, False]


def test_not_binds_looser_than_comparisons_and_tighter_than_and():
    assert steps("not x < 2", x=[1.0, 3.0]) == [False, True]
    assert steps("not a and b", **TABLE) == steps("(not a) and b", **TABLE) == [False, True, False, False]
    assert steps("¬¬a", **TABLE) == TABLE["a"]


def test_differences_are_taken_from_left_to_right():
    assert steps("x - 1 - 1 = 0", x=[2.0, 0.0]) == [True, False]
    assert steps("x - (1 - y) = 0", x=[2.0, 0.0], y=[-1.0, 1.0]) == [True, True]


def test_comparisons_absolute_value_and_sign():
    values = [-2.0, 0.0, 2.0]
    assert steps("x < 0", x=values) == steps("0 > x", x=values) == [True, False, False]
    assert steps("x ≤ 0", x=values) == steps("0 ≥ x", x=values) == [True, True, False]
    assert steps("abs(x) = 2", x=values) == [True, False, True]
    assert steps("sign(x) = -1", x=values) == [True, False, False]
    assert steps("sign(x) >= 0", x=values) == [False, True, True]
    assert steps("abs(x - y) < 2", x=values, y=[-1.0, 2.0, 3.0]) == [True, False, True]


# Count: the number of true steps of the whole record, comparable with constants and other counts

COUNTED = ({"b": [True, False, True], "x": [1.0, 2.0, None]}, {"b": [None], "x": [1.0]}, {"b": [True], "x": [9.0]})


def test_count_is_the_number_of_true_steps():
    assert holds("count(b) = 2", *COUNTED) == [True, False, False]
    assert holds("1 >= count(b)", *COUNTED) == [False, True, True]
    assert holds("count(not b) = 1", *COUNTED) == [True, True, False]


def test_counts_compare_with_each_other():
    assert holds("count(b) = count(x < 3)", *COUNTED) == [True, False, False]
    assert holds("count(b) > count(x < 3)", *COUNTED) == [False, False, True]
    assert holds("abs(count(b) - count(x < 3)) < 1", *COUNTED) == [True, False, False]
    assert holds("sign(count(b) - count(x < 3)) = -1", *COUNTED) == [False, True, False]


def test_a_count_is_that_of_the_whole_record_at_every_step():
    record = {"b": [True, False, True]}
    assert over_time("count(b) = 2", **record) == [True, True, True]
    assert over_time("F(count(b) = 2 and b)", **record) == [True, True, True]
    assert over_time("F(count(b) = 1)", **record) == [False, False, False]


def test_counts_of_temporal_formulas_count_steps_from_which_they_hold():
    assert holds("count(F(b)) = 2", {"b": [False, True, False]}) == [True]
    assert holds("count(G(b)) = 1", {"b": [True, False, True]}) == [True]
    assert holds("count(count(b) = 1) = 3", {"b": [False, True, False]}) == [True]


def test_a_count_does_not_compare_with_a_value_at_a_step():
    assert "a real vector and a count" in error_of("F(x < count(b))", {"x": [1.0], "b": [True]})


# Nested F and G look from their step to the end; a formula's truth is its value at the first step


def test_eventually_and_globally_look_from_their_step_to_the_end():
    record = {"b": [True, False, True, False]}
    assert over_time("F(b)", **record) == [True, True, True, False]
    assert over_time("G(b)", **record) == [False, False, False, False]
    assert over_time("G(not b)", **record) == [False, False, False, True]
    assert over_time("F(not b)", **record) == [True, True, True, True]


def test_nested_temporal_operators():
    ends_true, ends_false = {"b": [False, True, True]}, {"b": [True, True, False]}
    assert holds("F(G(b))", ends_true, ends_false) == [True, False]  # from some step on, always
    assert holds("G(F(b))", ends_true, ends_false) == [True, False]  # again and again, to the end
    assert holds("F(b and F(not b))", ends_true, ends_false) == [False, True]  # true, and then false
    assert holds("G(b implies G(b))", ends_true, ends_false) == [True, False]  # once true, true for ever


def test_truth_is_the_value_at_the_first_step():
    panel = records({"b": [False, True]}, {"b": [True]}, {"b": [False]})
    formula = Formula.parse("not G(b)", panel.schema)
    assert formula(panel).tolist() == [steps[0] for steps in formula.over_time(panel)] == [True, False, True]


def test_records_end_where_they_end():
    long, short = {"b": [True] * 100 + [False]}, {"b": [True]}
    assert holds("G(b)", long, short, short) == [False, True, True]
    assert holds("F(not b)", long, short, short) == [True, False, False]
    assert holds("count(not b) = 1", long, short, short) == [True, False, False]
    assert holds("F(G(not b))", long, short, short) == [True, False, False]


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("b", "wrap it in F"),
        ("x < 2", "wrap it in F"),
        ("count(b)", "compare it"),
        ("x", "compare it"),
        ("b and F(b)", "F"),
    ],
)
def test_a_formula_must_be_true_or_false_of_a_record(text, remedy):
    message = error_of(text, {"b": [True], "x": [1.0]})
    assert "must be Boolean" in message
    assert remedy in message


def test_part_of_a_formula_that_is_no_formula_is_refused():
    formula = Formula.parse("F(b and x < 2)", records({"b": [True], "x": [1.0]}).schema)
    with pytest.raises(GrammarError, match="wrap it in F or G"):
        Formula(formula.expression.args[0])


# Columns


def test_static_columns_hold_at_every_step():
    frame = pl.DataFrame(
        {"id": [0, 0, 1], "on": [True, False, True], "heavy": [True, True, None], "age": [3.0, 3.0, 5.0]}
    )
    panel = Panel.from_frame(frame, id="id", static=["heavy", "age"])
    for text, answer in {
        "G(heavy)": [True, False], "F(age < 4 and not on)": [True, False], "count(heavy) = 2": [True, False],
        "G(missing(heavy))": [False, True],
    }.items():  # fmt: skip
        assert Formula.parse(text, panel.schema)(panel).tolist() == answer
        assert Formula.parse(text, panel.schema)(panel[[1, 0, 1]]).tolist() == [answer[1], answer[0], answer[1]]


def test_a_column_that_is_not_there_is_an_error():
    formula = Formula.parse("F(speed < 2)", records({"speed": [1.0]}).schema)
    with pytest.raises(DataError, match="no column 'speed'"):
        formula(records({"x": [1.0]}))


@pytest.mark.parametrize("text", ["F(x < 2)", "F(x - 1 < y)", "F(missing(x))", "F(f(x) < 2)"])
@pytest.mark.parametrize("other", [["1", "2"], [True, False]])
def test_a_column_of_another_type_than_the_formula_reads_is_an_error(text, other):
    formula = Formula.parse(
        text,
        records({"x": [1.0], "y": [1.0]}).schema,
        functions=[user_function(takes=["real"], gives="real", name="f")(np.abs)],
    )
    with pytest.raises(DataError, match=r"'x' is .*real vector"):
        formula(records({"x": other, "y": [1.0, 1.0]}))
