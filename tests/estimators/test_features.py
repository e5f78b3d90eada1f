"""TemporalFeatures: formulas as columns for any model."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from tests.support.examples import records

from telltree.engine import Formula
from telltree.errors import DataError, DataWarning, GrammarError, SettingsError
from telltree.estimators import GrammarTreeClassifier, TemporalFeatures
from telltree.explain import Robustness
from telltree.grammar import Grammar
from telltree.logic import user_function
from telltree.panel import Column, Panel, Schema
from telltree.search import MonteCarlo

TEXTS = ["F(speed > 2.5)", "G(height >= 1)", 'F(on and mode = "up")', "count(on) > 1", "F(not speed < 0)"]
FEW = MonteCarlo(evaluations=60)


def tree(**settings):
    return GrammarTreeClassifier(**({"search": FEW, "random_state": 1, "max_depth": 3} | settings))


def test_a_column_is_the_truth_of_a_formula(panel):
    found = TemporalFeatures(TEXTS).fit_transform(panel)
    assert found.shape == (60, 5)
    assert found.dtype == np.float64
    for text, column in zip(TEXTS, found.T, strict=True):
        assert column.tolist() == Formula.parse(text, panel.schema)(panel).astype(float).tolist()


def test_margins_are_in_deviations_of_the_training_records(panel):
    train, test = panel[:40], panel[40:]
    features = TemporalFeatures(TEXTS, robustness=True).fit(train)
    found = features.transform(test)
    assert found.shape == (20, 10)
    measure = Robustness(test, train)
    for k, text in enumerate(TEXTS):
        e = Formula.parse(text, panel.schema).expression
        assert found[:, 5 + k].tolist() == [measure.over_time(e, i)[0] for i in range(20)]
    np.testing.assert_array_equal(found[:, 5:] > 0, found[:, :5] == 1)
    assert np.array_equal(features.transform(test[[3]]), found[[3]])


def test_names_are_the_formulas(panel):
    features = TemporalFeatures(["F(speed>2.5)", "F((speed) > 2.5)", "G(on)"], robustness=True).fit(panel)
    assert features.get_feature_names_out().tolist() == [
        "F(speed > 2.5)", "G(on)", "margin of F(speed > 2.5)", "margin of G(on)",
    ]  # fmt: skip
    assert [str(formula) for formula in features.formulas_] == ["F(speed > 2.5)", "G(on)"]
    with pytest.raises(ValueError, match="length equal"):
        features.get_feature_names_out(["a"])
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        features.get_feature_names_out(list("abcd"))


def test_frames_come_out_where_they_are_asked_for(panel):
    plain = TemporalFeatures(TEXTS).fit_transform(panel)
    for kind, library in (("pandas", pd), ("polars", pl)):
        frame = TemporalFeatures(TEXTS).set_output(transform=kind).fit_transform(panel)
        assert isinstance(frame, library.DataFrame)
        assert list(frame.columns) == [str(Formula.parse(text, panel.schema)) for text in TEXTS]
        assert np.array_equal(frame.to_numpy(), plain)


def test_the_formulas_of_a_tree(panel, labels):
    clf = tree().fit(panel, labels)
    branches = list(dict.fromkeys(str(node.formula) for node in clf.tree_.nodes))
    for given in (clf.tree_, tree(), FrozenEstimator(clf)):
        features = TemporalFeatures(tree=given).fit(panel, labels)
        assert features.get_feature_names_out().tolist() == branches
        assert set(features.schema_) == set(clf.tree_.schema)
    both = TemporalFeatures(["F(on)", branches[0]], tree=clf.tree_).fit(panel)
    assert both.get_feature_names_out().tolist() == ["F(on)", *branches]
    with pytest.raises(DataError, match="requires y to be passed"):
        TemporalFeatures(tree=tree()).fit(panel)


def test_a_tree_without_branches_gives_no_columns(panel):
    with pytest.warns(DataWarning, match="only one class"):
        features = TemporalFeatures(tree=tree(), robustness=True).fit(panel, ["a"] * 60)
    assert features.transform(panel).shape == (60, 0)
    assert features.get_feature_names_out().shape == (0,)


def test_all_formulas_of_a_small_grammar_feed_other_models(panel, labels):
    grammar = Grammar.parse("Start ::= F(VB) | G(VB)  VB ::= each real < grid(4) | each Boolean", panel)
    formulas = [Formula(derivation.expression) for derivation in grammar.enumerate(4)]
    for model in (LogisticRegression(max_iter=1_000), RandomForestClassifier(10, random_state=0)):
        pipe = make_pipeline(TemporalFeatures(formulas, robustness=True), model)
        assert cross_val_score(pipe, panel, labels, cv=3, error_score="raise").mean() > 0.5


def test_values_that_are_missing_or_infinite_give_finite_columns():
    panel = records({"x": [float("inf"), 1.0]}, {"x": [None, None]}, {"x": [float("-inf")]}, {"x": [5.0, 2.0]})
    found = TemporalFeatures(["F(x > 2)", "G(x < 3)"], robustness=True).fit_transform(panel)
    assert np.isfinite(found).all()
    assert found[:, 0].tolist() == [1, 0, 0, 1]
    assert found[1, 2] == -1


def test_plain_tables_work():
    X = np.random.default_rng(0).normal(size=(20, 3))
    found = TemporalFeatures(["F(x1 > 0)", "G(x3 - x1 < 0.5)"]).fit(X).transform(X[:5])
    assert found[:, 0].tolist() == (X[:5, 0] > 0).astype(float).tolist()
    assert found[:, 1].tolist() == (X[:5, 2] - X[:5, 0] < 0.5).astype(float).tolist()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    named = TemporalFeatures(["F(a > 0)"]).fit(frame)
    assert named.transform(frame[["c", "a"]]).ravel().tolist() == (X[:, 0] > 0).astype(float).tolist()


def test_user_functions(panel):
    @user_function(takes=["real"], gives="Boolean", elementwise=True)
    def steep(x):
        return np.abs(x) > 3

    found = TemporalFeatures(["F(steep(speed))"], functions=[steep], robustness=True).fit_transform(panel)
    assert set(found[:, 0]) == {0.0, 1.0}
    assert np.array_equal(found[:, 1], 2 * found[:, 0] - 1)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({}, SettingsError, "give formulas, a tree, or both"),
        ({"formulas": "F(on)"}, SettingsError, "a list of formulas"),
        ({"formulas": [5]}, SettingsError, "a list of formulas"),
        ({"tree": 5}, SettingsError, "tree must be a Tree"),
        ({"formulas": ["F(onn)"]}, GrammarError, "did you mean on"),
        ({"formulas": ["speed"]}, GrammarError, "wrap that in F"),
        ({"formulas": [Formula.parse("F(x)", Schema([Column("x", "Boolean")]))]}, DataError, "X has not: 'x'"),
        ({"formulas": [Formula.parse("F(speed)", Schema([Column("speed", "Boolean")]))]}, DataError, "'speed' is real"),
    ],
)
def test_what_makes_no_sense_is_refused(panel, settings, error, message):
    with pytest.raises(error, match=message):
        TemporalFeatures(**settings).fit(panel)


def test_questions_before_fitting_are_refused(panel):
    for ask in (lambda f: f.transform(panel), lambda f: f.get_feature_names_out()):
        with pytest.raises(NotFittedError):
            ask(TemporalFeatures(["F(on)"]))


def test_odd_panels():
    one = Panel.from_arrays([np.array([[1.0]])])
    assert TemporalFeatures(["F(x1 > 0)"], robustness=True).fit_transform(one).tolist() == [[1.0, 1.0]]
    with pytest.raises(DataError, match="no records"):
        TemporalFeatures(["F(x1 > 0)"]).fit(one[:0])
    wide = Panel.from_table(np.random.default_rng(0).normal(size=(4, 3_000)))
    assert list(TemporalFeatures(["F(x2999 > 0)"]).fit(wide).schema_) == ["x2999"]
