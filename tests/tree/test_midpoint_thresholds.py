"""Constants of the generic grammar end in the middle of their gaps; those that somebody gave stay."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telltree import Formula, Grammar, GrammarTreeClassifier, Panel
from telltree.engine.formula_evaluator import FormulaEvaluator
from telltree.errors import DataWarning
from telltree.search import MonteCarlo
from telltree.tree import Greedy
from telltree.tree.thresholds import midpoint_thresholds, roundest


def panel_of_peaks(peaks, **more):
    """Records that rise from 0 to a peak."""
    return Panel.from_arrays([np.array([[0.0], [peak], [0.0]]) for peak in peaks], columns=["x"], **more)


def moved(text, panel, columns=("x", "y")):
    formula = Formula.parse(text, panel.schema)
    return str(midpoint_thresholds(formula.expression, FormulaEvaluator(panel), columns))


PEAKS = panel_of_peaks([1.0, 2.0, 6.0, 7.0])


@pytest.mark.parametrize(
    ("given_text", "wanted"),
    [
        ("F(x > 2)", "F(x > 4)"),
        ("F(x > 5.9)", "F(x > 4)"),
        ("F(x >= 6)", "F(x ≥ 4)"),
        ("F(5 < x)", "F(4 < x)"),
        ("G(x <= 3)", "G(x ≤ 4)"),
        ("not F(x > 3)", "¬F(x > 4)"),
        ("F(x > 6)", "F(x > 6.5)"),
        ("F(x > 3) and F(x > 1.5)", "F(x > 4) ∧ F(x > 1.5)"),  # the second decides nothing beside the first
        ("F(x > 8)", "F(x > 8)"),  # true of none
        ("F(x = 6)", "F(x = 6)"),  # not a threshold
        ("count(x > 3) > 0", "count(x > 4) > 0"),
        ("count(x > 6.5) < 2", "count(x > 6.5) < 2"),  # no larger constant would change an answer
        ("F(abs(x - 9) < 4)", "F(abs(x - 9) < 5)"),
    ],
)
def test_constants_move_to_the_middle(given_text, wanted):
    assert moved(given_text, PEAKS) == str(Formula.parse(wanted, PEAKS.schema))


def test_only_the_columns_named_may_move():
    assert moved("F(x > 2)", PEAKS, columns=()) == "F(x > 2)"


def test_missing_and_infinite_values_are_no_walls():
    with pytest.warns(DataWarning, match="inf"):
        panel = panel_of_peaks([1.0, np.nan, np.inf, 5.0])
    assert moved("F(x > 2)", panel) == "F(x > 3)"


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=2, max_size=30), st.integers(0, 10**6))
def test_answers_never_change(rows, seed):
    panel = Panel.from_arrays([np.array([row, row[::-1]]) for row in rows], columns=["x", "y"])
    if len(set(panel.column("x").tolist())) < 2:
        return
    grammar = Grammar.generic(panel)
    formula = Formula(grammar.draw(seed, 4).expression)
    after = Formula(midpoint_thresholds(formula.expression, FormulaEvaluator(panel), ("x", "y")))
    assert np.array_equal(formula(panel), after(panel))


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9))
def test_the_roundest_number_is_close_to_the_middle(low, width):
    high = low + width
    if not low < high:
        return
    found = roundest(low, high)
    assert abs(found - (low + (high - low) / 2)) <= 0.05 * (high - low) * (1 + 1e-9)


def test_roundest_has_few_digits():
    assert [roundest(0, 10), roundest(0.3, 0.40001), roundest(990, 1010), roundest(-3, 3)] == [5.0, 0.35, 1000.0, 0.0]


def test_generic_grammars_are_centred_and_given_thresholds_are_not():
    labels = ["low", "low", "high", "high"]
    assert str(GrammarTreeClassifier(random_state=0).fit(PEAKS, labels).tree_.root.formula) in (
        "F(x > 4)", "F(x ≥ 4)", "G(x < 4)", "G(x ≤ 4)"
    )  # fmt: skip
    with_thresholds = panel_of_peaks([1.0, 2.0, 6.0, 7.0], schema={"x": {"thresholds": [2.5, 3.0]}})
    text = "Start ::= F(x > C)  C ::= 2.5 | 3"
    for settings in ({}, {"grammar": text}):
        model = GrammarTreeClassifier(search=MonteCarlo(evaluations=200), random_state=0, **settings)
        assert "3" in str(model.fit(with_thresholds, labels).tree_.root.formula)
    model = GrammarTreeClassifier(
        text, MonteCarlo(evaluations=200), growth=Greedy(thresholds="midpoint"), random_state=0
    )
    assert str(model.fit(PEAKS, labels).tree_.root.formula) == "F(x > 4)"
    assert model.tree_.root.robustness == pytest.approx(2 / np.std(PEAKS.column("x")))
