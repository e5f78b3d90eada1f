"""GrammarTreeClassifier: as scikit-learn's users expect it, and what it makes of odd data and settings."""

import copy
import logging
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.utils.class_weight import compute_sample_weight

from examples import records
from telltree.data import Column, Panel, Schema
from telltree.errors import DataError, DataWarning, FunctionError, GrammarError, SettingsError
from telltree.estimators import GrammarTreeClassifier
from telltree.grammar import Grammar
from telltree.logic import Formula
from telltree.operators import user_function
from telltree.search import GeneticProgramming, GrammaticalEvolution, MonteCarlo
from telltree.tree import GiniSize, Leaf

FEW = MonteCarlo(evaluations=300)
TEXT = """
Start ::= F(V) | G(V)
V     ::= on | mode = levels | speed {<, >} [-1, 0, 2.5] | height >= [3, 4]
"""
ALL_OF_IT = MonteCarlo(evaluations=24)
"""The text says so many formulas; a search that looks for more takes its time to be sure that there are none."""


def tree(**settings):
    return GrammarTreeClassifier(**({"search": FEW, "random_state": 1} | settings))


@pytest.fixture(scope="module")
def fitted(panel, labels):
    return tree(search=GeneticProgramming(evaluations=2_000)).fit(panel, labels)


# what it answers


def test_what_is_learned_is_what_is_predicted(fitted, panel, labels):
    assert fitted.fit(panel, labels) is fitted
    assert fitted.classes_.tolist() == ["calm", "fast", "high"]
    assert fitted.n_features_in_ == 4
    assert fitted.feature_names_in_.tolist() == ["speed", "height", "on", "mode"]
    predicted = fitted.predict(panel)
    assert predicted.shape == (60,)
    assert fitted.score(panel, labels) == np.mean(predicted == np.array(labels)) > 0.9
    assert fitted.interrupted_ is False


def test_probabilities_are_the_shares_of_leaves(panel, labels):
    clf = tree(max_depth=2).fit(panel, labels)
    shares = clf.predict_proba(panel)
    assert shares.shape == (60, 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    clusters = clf.apply(panel)
    for cluster in set(clusters.tolist()):
        inside = np.array(labels)[clusters == cluster]
        np.testing.assert_allclose(shares[clusters == cluster][0], [np.mean(inside == c) for c in clf.classes_])
    sure = shares.argmax(axis=1)
    assert clf.predict(panel).tolist() == clf.classes_[sure].tolist()


def test_clusters_are_numbered_from_left_to_right(fitted, panel):
    clusters = fitted.apply(panel)
    assert set(clusters.tolist()) == set(range(1, len(fitted.tree_.leaves) + 1))
    for number, (leaf, branches) in enumerate(fitted.tree_.leaves, 1):
        holds = np.all([formula(panel) == truth for formula, truth in branches], axis=0)
        assert (clusters == number).tolist() == holds.tolist()
        assert leaf.support == np.sum(holds)


def test_the_decision_path_leads_from_the_root_to_the_leaf(fitted, panel):
    path = fitted.decision_path(panel)
    nodes = len(fitted.tree_.nodes) + len(fitted.tree_.leaves)
    assert path.shape == (60, nodes)
    passes = path.toarray()
    assert passes[:, 0].all()
    lengths = [len(branches) + 1 for _, branches in fitted.tree_.leaves]
    assert passes.sum(axis=1).tolist() == [lengths[cluster - 1] for cluster in fitted.apply(panel)]


def test_categories_and_rules_say_what_leaves_are(fitted, panel, labels):
    categories, rules = fitted.categories(panel, labels), fitted.rules()
    assert len(categories) == len(rules) == len(fitted.tree_.leaves)
    assert sorted(i for c in categories for i in c.positions.tolist()) == list(range(60))
    for category, rule, (leaf, _) in zip(categories, rules, fitted.tree_.leaves, strict=True):
        assert category.description == rule.formula
        assert category.label == rule.label == fitted.classes_[leaf.label]
        assert sum(category.counts.values()) == rule.support == leaf.support
        assert Formula.parse(rule.formula, panel.schema)(panel).nonzero()[0].tolist() == category.positions.tolist()
    assert all(c.counts == {} for c in fitted.categories(panel))


def test_the_tree_prints():
    panel = records(*({"x": [float(i), 0.0]} for i in range(6)))
    clf = tree(grammar="A ::= F(x > [2, 3])").fit(panel, list("aaabbb"))
    assert str(clf.tree_) == "F(x > 2)\n├─ yes: [1] b  (b: 3)\n└─ no:  [2] a  (a: 3)"
    assert "GrammarTreeClassifier" in repr(clf)


def test_the_first_class_wins_ties():
    panel = records(*({"x": [1.0]} for _ in range(4)))
    clf = leaf_with_warning(
        panel, list("baba"), "no formula that was tried splits the 4 records", grammar="A ::= F(x > 2)"
    )
    assert clf.predict(panel).tolist() == ["a"] * 4


# with scikit-learn


def test_parameters_are_kept_and_cloned():
    grammar = Grammar.parse("A ::= F(x < 1)", Schema([Column("x", "real")]))
    clf = tree(grammar=grammar, max_depth=3, class_weight={"a": 2.0}, min_gain=0.5)
    copy = clone(clf)
    assert copy is not clf
    assert copy.get_params() == clf.get_params()
    assert copy.set_params(max_depth=2, search=GrammaticalEvolution()).get_params()["max_depth"] == 2
    with pytest.raises(ValueError, match="Invalid parameter"):
        copy.set_params(depth=2)


def test_fitting_does_not_change_parameters(panel, labels):
    clf = tree(fitness=GiniSize(w2=0.2), functions=[])
    before = clf.get_params()
    clf.fit(panel, labels)
    assert {name: id(value) for name, value in clf.get_params().items()} == {n: id(v) for n, v in before.items()}


def test_it_is_a_classifier(fitted):
    from sklearn.base import is_classifier

    assert is_classifier(fitted)


def test_pipelines_work(panel, labels):
    pipe = Pipeline([("tree", tree())]).fit(panel, labels)
    assert pipe.predict(panel).tolist() == tree().fit(panel, labels).predict(panel).tolist()
    assert pipe.set_params(tree__max_depth=1).fit(panel, labels)["tree"].tree_.depth == 1


def test_cross_validation_takes_panels(panel, labels):
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    scores = cross_val_score(tree(), panel, labels, cv=folds)
    again = []
    for train, test in folds.split(np.zeros(len(panel)), labels):
        y = np.array(labels)
        again.append(tree().fit(panel[train], y[train]).score(panel[test], y[test]))
    assert scores.tolist() == again


def test_settings_can_be_searched(panel, labels):
    grid = {"max_depth": [0, 2], "search": [FEW, GrammaticalEvolution(evaluations=100)]}
    found = GridSearchCV(tree(), grid, cv=2, error_score="raise").fit(panel, labels)
    assert found.best_params_["max_depth"] == 2
    assert found.predict(panel).shape == (60,)
    assert found.best_estimator_.tree_.depth <= 2


def test_fitted_estimators_travel_to_other_processes(fitted, panel, labels):
    here = cross_val_score(tree(), panel, labels, cv=2)
    there = cross_val_score(tree(), panel, labels, cv=2, n_jobs=2)
    assert here.tolist() == there.tolist()
    back = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own bytes
    assert back.predict(panel).tolist() == fitted.predict(panel).tolist()
    assert str(back.tree_) == str(fitted.tree_)


# data


@pytest.mark.parametrize(
    "names",
    [
        (0, 1, 2), (-5, 7, 1_000), (False, True), ("a", "b"), ("é", "ü", "<script>"), (1.0, 2.0),
        (np.int8(3), np.int8(4)),
    ],
    ids=str,
)  # fmt: skip
def test_labels_of_every_kind_come_back_as_they_were(panel, names):
    y = [names[i % len(names)] for i in range(len(panel))]
    clf = tree().fit(panel, y)
    assert clf.classes_.tolist() == sorted(set(y))
    assert set(clf.predict(panel).tolist()) <= set(y)
    assert clf.score(panel, y) > 1 / len(names)
    assert np.asarray(y).dtype.kind == clf.predict(panel).dtype.kind or clf.classes_.dtype == object


def test_labels_may_be_a_series(panel, labels):
    expected = str(tree().fit(panel, labels).tree_)
    for y in (pd.Series(labels), pd.Series(labels, dtype="category"), pl.Series(labels), np.array(labels)):
        assert str(tree().fit(panel, y).tree_) == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y: y[:-1], "there are 59 labels for 60 records"),
        (lambda y: [], "there are 0 labels for 60 records"),
        (lambda y: [*y[:-1], None], "1 of 60 labels are missing: records 59"),
        (lambda y: np.r_[np.nan, np.ones(59)], "1 of 60 labels are missing: records 0"),
        (lambda y: np.linspace(0, 1, 60), "58 are continuous numbers"),
        (lambda y: [[label, label] for label in y], "one-dimensional"),
        (lambda y: [[y[0]], *y[1:]], "one-dimensional"),
        (lambda y: "calm", "one-dimensional"),
        (lambda y: [*y[:-1], 7], "'int', 'str'"),
        (lambda y: None, "requires y to be passed"),
    ],
)
def test_labels_that_do_not_fit_are_refused(panel, labels, change, message):
    with pytest.raises(DataError, match=message):
        tree().fit(panel, change(labels))


@pytest.mark.parametrize("form", [list, np.array, pd.DataFrame], ids=["list", "array", "frame"])
def test_a_column_of_labels_is_taken_with_a_warning(panel, labels, form):
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        clf = tree().fit(panel, form([[label] for label in labels]))
    same(clf, tree().fit(panel, labels), panel)


@pytest.mark.parametrize("X", [None, 5, "text", np.zeros(3), np.zeros((2, 2, 2)), np.zeros((0, 3))], ids=str)
def test_what_is_no_table_is_refused(X):
    with pytest.raises(DataError):
        tree().fit(X, [0, 1])


def test_no_records_are_refused(panel):
    with pytest.raises(DataError, match="no records"):
        tree().fit(panel[[]], [])


def leaf_with_warning(X, y, message, **settings):
    with pytest.warns(DataWarning, match=message):
        clf = tree(**settings).fit(X, y)
    assert isinstance(clf.tree_.root, Leaf)
    assert clf.searches_ == {}
    assert clf.interrupted_ is False
    assert len(clf.predict(X)) == len(clf.apply(X)) == len(X)
    assert clf.predict_proba(X).shape == (len(X), len(clf.classes_))
    assert clf.decision_path(X).shape == (len(X), 1)
    assert len(clf.categories(X)) == len(clf.rules()) == 1
    return clf


def test_one_class_is_a_leaf(panel):
    clf = leaf_with_warning(panel, ["only"] * len(panel), "only one class, 'only': the tree is a single leaf")
    assert clf.predict(panel).tolist() == ["only"] * len(panel)
    leaf_with_warning(panel, [3] * len(panel), "only one class, 3")


def test_one_record_is_a_leaf():
    leaf_with_warning(records({"x": [1.0, 2.0]}), ["a"], "only one class")
    leaf_with_warning(np.ones((1, 2)), ["a"], "only one class")


def test_constant_columns_are_a_leaf():
    clf = leaf_with_warning(np.ones((4, 3)), [0, 1, 1, 0], "no column tells records apart")
    assert clf.predict_proba(np.ones((1, 3))).tolist() == [[0.5, 0.5]]
    empty = records({"x": [None], "c": ["u"]}, {"x": [None], "c": ["u"]})
    leaf_with_warning(empty, [0, 1], "no column tells records apart")


def test_constant_columns_are_left_out_beside_others():
    X = np.column_stack([np.ones(20), np.arange(20)])
    clf = tree().fit(X, [0] * 10 + [1] * 10)
    assert clf.grammar_.left_out == {"x1": "constant"}
    assert clf.score(X, [0] * 10 + [1] * 10) > 0.9


def test_records_of_one_step_work():
    panel = records(*({"x": [float(i)]} for i in range(10)))
    assert tree().fit(panel, [0] * 5 + [1] * 5).score(panel, [0] * 5 + [1] * 5) == 1


def test_two_records_are_told_apart():
    panel = records({"x": [1.0, 5.0], "b": [True, False]}, {"x": [2.0], "b": [True]})
    assert tree().fit(panel, ["a", "b"]).predict(panel).tolist() == ["a", "b"]


def test_tables_of_every_kind_give_the_same_tree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] > 0) & (X[:, 2] < 0.5)
    frame = pd.DataFrame(X, columns=["x1", "x2", "x3"])
    read_only = X.copy()
    read_only.flags.writeable = False
    forms = [X, X.tolist(), np.asfortranarray(X), X[::-1][::-1], read_only, frame, pl.from_pandas(frame)]
    fits = [tree().fit(form, y) for form in forms]
    assert len({str(clf.tree_) for clf in fits}) == 1
    assert all(np.array_equal(clf.predict(form), fits[0].predict(X)) for clf, form in zip(fits, forms, strict=True))
    assert fits[0].score(X, y) > 0.8


def test_frames_of_mixed_types_work():
    frame = pd.DataFrame({"h": [1.0, 2, 3, 4] * 5, "on": [True, False] * 10, "mode": ["u", "v", "w", "u"] * 5})
    y = (frame["mode"] == "u") & frame["on"]
    clf = tree(search=MonteCarlo(evaluations=3_000)).fit(frame, y)
    assert clf.score(frame, y) == 1


def test_extra_and_reordered_columns_change_nothing(panel, labels, fitted):
    expected = fitted.predict(panel).tolist()
    reordered = panel.select(["mode", "on", "height", "speed"])
    assert fitted.predict(reordered).tolist() == expected
    X = np.random.default_rng(0).normal(size=(30, 2))
    frame = pd.DataFrame(X, columns=["a", "b"])
    clf = tree().fit(frame, X[:, 0] > 0)
    wider = frame.assign(c="text", d=None)[["d", "c", "b", "a"]]
    assert clf.predict(wider).tolist() == clf.predict(frame).tolist()


def test_a_column_that_the_tree_needs_must_be_there(panel, fitted):
    used = list(fitted.tree_.schema)
    without = panel.select([name for name in panel.schema if name != used[0]])
    for ask in (fitted.predict, fitted.predict_proba, fitted.apply, fitted.decision_path, fitted.categories):
        with pytest.raises(DataError, match=f"lack '{used[0]}'"):
            ask(without)


def test_a_column_that_the_tree_does_not_need_may_be_missing():
    frame = pd.DataFrame({"x": np.arange(10.0), "unused": np.arange(10.0) % 3})
    clf = tree(grammar="A ::= F(x > [2, 4.5]) | F(unused > 1)").fit(frame, [0] * 5 + [1] * 5)
    assert clf.predict(frame[["x"]]).tolist() == [0] * 5 + [1] * 5


def test_a_column_of_another_type_is_refused():
    frame = pd.DataFrame({"x": np.arange(10.0)})
    clf = tree().fit(frame, [0] * 5 + [1] * 5)
    with pytest.raises(DataError, match="column 'x' is categorical, but real was expected"):
        clf.predict(pd.DataFrame({"x": ["fast", "slow"]}))


def test_categories_never_seen_before_are_warned_about():
    panel = records(*({"mode": ["up"]} for _ in range(5)), *({"mode": ["down"]} for _ in range(5)))
    clf = tree(grammar='A ::= F(mode = "up")').fit(panel, ["a"] * 5 + ["b"] * 5)
    with pytest.warns(DataWarning, match="sideways"):
        assert clf.predict(records({"mode": ["sideways"]}, {"mode": ["up"]})).tolist() == ["b", "a"]


def test_missing_values_are_learned_from():
    rng = np.random.default_rng(3)
    given = [{"x": [None if rng.random() < 0.3 else float(rng.normal()) for _ in range(4)]} for _ in range(30)]
    panel = records(*given)
    y = [any(x is not None and x > 1 for x in record["x"]) for record in given]
    clf = tree(search=MonteCarlo(evaluations=1_000)).fit(panel, y)
    assert clf.score(panel, y) > 0.9
    gaps = [any(x is None for x in record["x"]) for record in given]
    assert tree(grammar="A ::= F(missing(x))").fit(panel, gaps).score(panel, gaps) == 1


def test_infinite_values_are_survived():
    X = np.array([[np.inf, 1], [-np.inf, 2], [3, 3], [4, np.inf]] * 5)
    with pytest.warns(DataWarning, match="infinite"):
        clf = tree().fit(X, [0, 1, 0, 1] * 5)
    with pytest.warns(DataWarning, match="infinite"):
        assert clf.predict(X).shape == (20,)


def test_thousands_of_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2_000))
    y = X[:, 1_234] > 0
    X[:, 1_234] *= 5
    grammar = Grammar.for_panel(Panel.from_table(X), operators=("F", "and", "<", ">"), points=3)
    clf = tree(grammar=grammar, search=MonteCarlo(evaluations=2_000), max_depth=1).fit(X, y)
    assert clf.n_features_in_ == 2_000
    assert len(clf.grammar_.attributes) == 2_000
    assert clf.predict(X).shape == (30,)


HOSTILE = [
    "größe", "高度", "a b", 'say "hi"', "back`tick", "new\nline", "tab\t", "F", "and", "real", "$HOME", "[x]",
    "<script>alert(1)</script>", "\x1b[31mred", "", "x < 1", "\\", "{0}", "%s", "Start", "🚀", "x" * 500,
]  # fmt: skip


def test_any_name_will_do():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, len(HOSTILE)))
    panel = Panel.from_table(X, columns=HOSTILE)
    everything = tree(search=MonteCarlo(evaluations=3_000)).fit(panel, (X[:, 0] > 0) & (X[:, 4] < 0.5))
    assert everything.grammar_.attributes == tuple(HOSTILE)
    for k, name in enumerate(HOSTILE):
        y = X[:, k] > 0
        clf = tree(grammar=Grammar.for_panel(panel, columns=[name])).fit(panel, y)
        assert list(clf.tree_.schema) == [name]
        assert clf.score(panel, y) > 0.8
        for rule in clf.rules():
            assert rule.english
            assert Formula.parse(rule.formula, panel.schema)(panel).sum() == rule.support


def test_any_category_name_and_label_will_do():
    levels = [name for name in HOSTILE if name]
    panel = records(*({"c": [level]} for level in levels for _ in range(2)))
    y = [level for level in levels for _ in range(2)]
    search = MonteCarlo(evaluations=len(levels))
    clf = tree(grammar="A ::= F(c = levels)", search=search, max_depth=30).fit(panel, y)
    assert clf.predict(panel).tolist() == y


# grammars


def test_a_grammar_can_be_text_or_made_before(panel, labels):
    text = tree(grammar=TEXT, search=ALL_OF_IT).fit(panel, labels)
    made = tree(grammar=Grammar.parse(TEXT, panel), search=ALL_OF_IT).fit(panel, labels)
    assert text.grammar_.count(9) == text.searches_[1].evaluations
    assert str(text.tree_) == str(made.tree_)
    assert text.grammar_ == made.grammar_
    assert tree().fit(panel, labels).grammar_ == Grammar.for_panel(panel)


def test_a_grammar_that_does_not_parse_says_where(panel, labels):
    with pytest.raises(GrammarError, match="no attribute or symbol called speeed; did you mean speed") as raised:
        tree(grammar="A ::= F(\n  speeed < 1)").fit(panel, labels)
    assert (raised.value.line, raised.value.column) == (2, 3)


def test_a_grammar_of_other_columns_is_refused(panel, labels):
    other = Grammar.parse("A ::= F(depth < 1)", Schema([Column("depth", "real")]))
    with pytest.raises(DataError, match="no column 'depth'"):
        tree(grammar=other).fit(panel, labels)
    retyped = Grammar.parse("A ::= F(speed)", Schema([Column("speed", "Boolean")]))
    with pytest.raises(DataError, match="'speed' is real"):
        tree(grammar=retyped).fit(panel, labels)


def test_random_constants(panel, labels):
    text = "A ::= F(speed > random) | G(height < random)"
    clf = tree(grammar=text).fit(panel, labels)
    assert clf.tree_.nodes
    with pytest.raises(SettingsError, match="cannot draw random constants"):
        tree(grammar=text, search=GrammaticalEvolution()).fit(panel, labels)


@user_function(takes=["real"], gives="real")
def rise(x):
    return np.nanmax(x, initial=-9) - x


def test_user_functions(panel, labels):
    text = "A ::= F(rise(speed) > [1, 2, 4]) | F(height > 3)"
    clf = tree(grammar=text, search=MonteCarlo(evaluations=4), functions=[rise]).fit(panel, labels)
    assert clf.tree_.nodes
    assert clf.predict(panel).shape == (60,)


def test_a_user_function_that_fails_is_named(panel, labels):
    @user_function(takes=["real"], gives="real")
    def broken(x):
        raise KeyError("speed")

    with pytest.raises(FunctionError, match="function 'broken', record 0: it raised KeyError"):
        tree(grammar="A ::= F(broken(speed) > 1) | F(on)", functions=[broken]).fit(panel, labels)


# settings


BAD = [
    ("grammar", 5), ("grammar", b"A ::= F(on)"), ("search", "genetic"), ("search", MonteCarlo),
    ("fitness", "gini"), ("max_depth", -1), ("max_depth", 1.5), ("max_depth", True),
    ("min_members", 0), ("min_members", 0.1), ("min_gain", "much"), ("min_gain", float("nan")),
    ("min_gain", [1]), ("min_gain", 1j), ("prevent_same_label", "no"), ("prevent_same_label", None),
    ("class_weight", "even"), ("class_weight", 2), ("class_weight", {"nobody": 1}), ("class_weight", {"calm": -1}),
    ("class_weight", {"calm": float("nan")}), ("class_weight", {"calm": "x"}),
    ("class_weight", {"calm": 0, "fast": 0, "high": 0}), ("functions", [len]), ("functions", 5),
    ("functions", "rise"), ("random_state", "x"), ("random_state", -1), ("random_state", 1.5), ("n_jobs", 0),
    ("n_jobs", -2), ("n_jobs", 1.5), ("n_jobs", "all"), ("progress", 5),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD, ids=lambda value: repr(value)[:20])
def test_senseless_parameters_are_refused(panel, labels, name, value):
    with pytest.raises(SettingsError, match=name):
        tree(**{name: value}).fit(panel, labels)


def test_senseless_settings_of_the_search_are_refused(panel, labels):
    with pytest.raises(SettingsError, match="evaluations must be"):
        tree(search=MonteCarlo(evaluations=0)).fit(panel, labels)
    with pytest.raises(SettingsError, match="too shallow"):
        tree(search=MonteCarlo(max_depth=0)).fit(panel, labels)


@pytest.mark.parametrize(
    "weights", [np.ones(3), -np.ones(60), np.zeros(60), ["a"] * 60, np.ones((60, 1)), np.full(60, np.nan), 2.0]
)
def test_senseless_sample_weights_are_refused(panel, labels, weights):
    with pytest.raises(SettingsError, match="sample_weight must hold"):
        tree().fit(panel, labels, sample_weight=weights)


@pytest.mark.parametrize("ask", ["predict", "predict_proba", "apply", "decision_path", "categories"])
def test_questions_before_fitting_are_refused(panel, ask):
    with pytest.raises(NotFittedError):
        getattr(tree(), ask)(panel)
    with pytest.raises(NotFittedError):
        tree().rules()


def same(one, other, panel):
    assert str(one.tree_) == str(other.tree_)
    assert one.tree_ == other.tree_
    np.testing.assert_array_equal(one.predict_proba(panel), other.predict_proba(panel))


@pytest.mark.parametrize("search", [FEW, GeneticProgramming(evaluations=400), GrammaticalEvolution(evaluations=400)])
def test_the_same_seed_gives_the_same_tree_for_any_number_of_jobs(panel, labels, search):
    fits = [tree(search=search, n_jobs=jobs).fit(panel, labels) for jobs in (None, 1, 2, -1)]
    for other in fits[1:]:
        same(fits[0], other, panel)


def test_random_states_of_every_kind(panel, labels):
    few = MonteCarlo(evaluations=20)
    same(tree(search=few).fit(panel, labels), tree(search=few).fit(panel, labels), panel)
    shared = np.random.RandomState(5)
    first, second = (str(tree(search=few, random_state=shared).fit(panel, labels).tree_) for _ in range(2))
    assert first != second
    assert first == str(tree(search=few, random_state=np.random.RandomState(5)).fit(panel, labels).tree_)
    assert first == str(tree(search=few, random_state=5).fit(panel, labels).tree_)
    tree(search=few, random_state=None).fit(panel, labels)
    tree(search=few, random_state=np.int64(3)).fit(panel, labels)


def test_what_is_not_given_is_what_works_best(panel, labels):
    given = tree(search=GeneticProgramming(), fitness=GiniSize(), max_depth=2).fit(panel, labels)
    same(tree(search=None, fitness=None, max_depth=2).fit(panel, labels), given, panel)


def test_depth_without_a_limit():
    panel = records(*({"x": [float(i)]} for i in range(40)))
    grammar = "A ::= F(x < grid(40))"
    search = MonteCarlo(evaluations=40)
    whole = tree(grammar=grammar, search=search, max_depth=None, fitness=first_apart).fit(panel, range(40))
    assert whole.tree_.depth == 39
    assert whole.score(panel, range(40)) == 1
    assert tree(grammar=grammar, search=search, fitness=first_apart).fit(panel, range(40)).tree_.depth == 6


def first_apart(true, total, size):
    """The fewer records the formula is true of, the better: as lopsided a tree as can be."""
    return true.sum(axis=1)


def test_no_tree_is_too_deep_to_travel():
    panel = records(*({"x": [float(i)]} for i in range(130)))
    search = MonteCarlo(evaluations=130)
    for limit in (None, 10_000):
        clf = tree(grammar="A ::= F(x < grid(130))", search=search, max_depth=limit, fitness=first_apart)
        clf.fit(panel, range(130))
        assert clf.tree_.depth == 100
        assert pickle.loads(pickle.dumps(clf.tree_)) == copy.deepcopy(clf.tree_)  # noqa: S301 - our own bytes


def test_sides_that_would_be_too_small_are_a_leaf(panel, labels):
    leaf_with_warning(panel, labels, "into sides of at least 31", min_members=31)


def test_limits_reach_the_tree(panel, labels):
    assert tree(max_depth=0).fit(panel, labels).tree_.depth == 0
    assert tree(max_depth=1).fit(panel, labels).tree_.depth == 1
    assert min(leaf.support for leaf, _ in tree(min_members=9).fit(panel, labels).tree_.leaves) >= 9
    assert not tree(min_gain=1e9).fit(panel, labels).tree_.nodes
    free, strict = (tree(prevent_same_label=p, max_depth=9).fit(panel, labels).tree_ for p in (False, True))
    assert len(strict.nodes) <= len(free.nodes)


def formulas(clf):
    return [str(node.formula) for node in clf.tree_.nodes]


def test_balanced_weights_are_computed_once_at_the_root(panel, labels):
    balanced = tree(class_weight="balanced", max_depth=4).fit(panel, labels)
    given = tree(max_depth=4).fit(panel, labels, sample_weight=compute_sample_weight("balanced", labels))
    same(balanced, given, panel)
    weight = {c: len(labels) / (3 * labels.count(c)) for c in balanced.classes_}
    for leaf, _ in balanced.tree_.leaves:  # were they computed anew in every node, pure and mixed leaves would differ
        own = np.array([n * weight[c] for n, c in zip(leaf.counts, balanced.classes_, strict=True)])
        np.testing.assert_allclose(leaf.probabilities, own / own.sum(), rtol=1e-5)


def test_class_weights_multiply_sample_weights(panel, labels):
    sample = np.random.default_rng(0).integers(1, 4, size=60)
    classes = {"calm": 1, "fast": 2, "high": 4}
    both = tree(class_weight=classes).fit(panel, labels, sample_weight=sample)
    product = tree().fit(panel, labels, sample_weight=sample * np.array([classes[label] for label in labels]))
    same(both, product, panel)


def test_equal_weights_are_no_weights(panel, labels):
    same(tree().fit(panel, labels), tree().fit(panel, labels, sample_weight=np.full(60, 7.5)), panel)


@pytest.mark.parametrize("most", [3, 5, 50])
def test_whole_weights_stand_for_repeated_records(panel, labels, most):
    times = np.random.default_rng(most).integers(1, most, size=60, endpoint=True)
    rows = np.repeat(np.arange(60), times)
    weighted = tree(grammar=TEXT, search=ALL_OF_IT).fit(panel, labels, sample_weight=times)
    repeated = tree(grammar=TEXT, search=ALL_OF_IT).fit(panel[rows], np.array(labels)[rows])
    assert [n.fitness for n in weighted.tree_.nodes] == [n.fitness for n in repeated.tree_.nodes]
    assert formulas(weighted) == formulas(repeated)
    np.testing.assert_allclose(weighted.predict_proba(panel), repeated.predict_proba(panel))


# progress and Ctrl-C


def test_progress_is_told_node_by_node(panel, labels):
    events = []
    clf = tree(max_depth=2, progress=events.append).fit(panel, labels)
    assert {event.node for event in events} == set(clf.searches_)
    assert (events[0].node, events[0].depth, events[0].records) == (1, 0, 60)
    assert events[-1].search.evaluations == 300


@pytest.mark.parametrize("at", [1, 2, 3])
def test_an_interrupt_keeps_the_best_so_far(panel, labels, at, caplog):
    nodes = set()

    def stop(event):
        nodes.add(event.node)
        if len(nodes) == at:
            raise KeyboardInterrupt

    with caplog.at_level(logging.WARNING, logger="telltree"):
        clf = tree(progress=stop).fit(panel, labels)
    assert clf.interrupted_ is True
    assert "interrupted; the tree keeps the best splits found so far" in caplog.text
    assert clf.predict(panel).shape == (60,)
    whole = tree().fit(panel, labels)
    assert formulas(clf)[0] == formulas(whole)[0] or at == 1
    assert 1 <= len(clf.tree_.nodes) < len(whole.tree_.nodes)
    assert whole.interrupted_ is False


LONG_FIT = """
import numpy as np
from telltree import GeneticProgramming, GrammarTreeClassifier, Panel

rng = np.random.default_rng(0)
panel = Panel.from_arrays(list(rng.normal(size=(300, 20, 4))))
labels = rng.integers(0, 2, 300)
told = []

def tell(progress):
    if not told:
        print("under way", flush=True)
    told.append(progress)

search = GeneticProgramming(evaluations=300_000)
model = GrammarTreeClassifier(search=search, max_depth=8, random_state=0, progress=tell)
model.fit(panel, labels)
print(model.interrupted_, len(model.predict(panel)))
"""


@pytest.mark.parametrize("delay", [0.0, 0.4, 1.1])
def test_control_c_keeps_the_best_tree_so_far_whenever_it_comes(delay):
    command = [sys.executable, "-c", LONG_FIT]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "under way\n"
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    said, logged = process.communicate(timeout=120)
    assert said == "True 300\n", logged
    assert "interrupted; the tree keeps the best splits found so far" in logged


def test_a_fit_that_fails_leaves_what_was_learned_before(panel, labels):
    model = GrammarTreeClassifier(search=MonteCarlo(evaluations=50), random_state=0).fit(panel, labels)
    before = model.predict(panel)
    model.set_params(grammar="A ::= F(nowhere > 1)")
    with pytest.raises(GrammarError):
        model.fit(panel, [f"other {label}" for label in labels])
    assert np.array_equal(model.predict(panel), before)
