"""GrammarTreeClassifier: what it answers, within scikit-learn, and with grammars of one's own."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline

from tests.support.examples import records
from tests.support.small_trees import ALL_OF_IT, FEW, TEXT, leaf_with_warning, tree

from telltree.engine import Formula
from telltree.errors import DataError, FunctionError, GrammarError, SettingsError
from telltree.grammar import Grammar
from telltree.logic import user_function
from telltree.panel import Column, Schema
from telltree.search import GeneticProgramming, GrammaticalEvolution, MonteCarlo
from telltree.tree import GiniSize, Greedy


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


def test_probabilities_are_the_shares_of_leaves_with_one_record_more_of_all_classes_alike(panel, labels):
    clf = tree(max_depth=2).fit(panel, labels)
    shares = clf.predict_proba(panel)
    assert shares.shape == (60, 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    clusters = clf.apply(panel)
    for cluster in set(clusters.tolist()):
        inside = np.array(labels)[clusters == cluster]
        expected = [(np.sum(inside == c) + 1 / 3) / (len(inside) + 1) for c in clf.classes_]
        np.testing.assert_allclose(shares[clusters == cluster][0], expected)
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
        assert category.label == rule.label == leaf.summary.predicted
        assert sum(category.counts.values()) == rule.support == leaf.support
        assert Formula.parse(rule.formula, panel.schema)(panel).nonzero()[0].tolist() == category.positions.tolist()
    assert all(c.counts == {} for c in fitted.categories(panel))


@pytest.mark.parametrize(("first", "told"), [(0.0, False), (None, True)], ids=["whole", "with a gap"])
def test_rules_speak_of_missing_values_where_training_met_some(first, told):
    panel = records({"x": [first, 9.0]}, {"x": [0.0, 2.0]}, {"x": [0.0, 9.0]}, {"x": [0.0, 1.0]})
    clf = tree(grammar="A ::= G(not (x > 5))").fit(panel, list("abab"))
    said = "x is never above 5" if told else "x is always at most 5"  # what is missing is not above it either
    assert said in [rule.english for rule in clf.rules()]


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
    clf = tree(grammar=grammar, max_depth=3, class_weight={"a": 2.0}, growth=Greedy(min_gain=0.5))
    copy = clone(clf)
    assert copy is not clf
    assert copy.get_params() == clf.get_params()
    assert copy.set_params(max_depth=2, search=GrammaticalEvolution()).get_params()["max_depth"] == 2
    with pytest.raises(ValueError, match="Invalid parameter"):
        copy.set_params(depth=2)


def test_fitting_does_not_change_parameters(panel, labels):
    clf = tree(criterion=GiniSize(w2=0.2), functions=[])
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


@pytest.mark.slow
def test_estimators_are_fitted_in_other_processes(panel, labels):
    here = cross_val_score(tree(), panel, labels, cv=2)
    there = cross_val_score(tree(), panel, labels, cv=2, n_jobs=2)
    assert here.tolist() == there.tolist()


def test_fitted_estimators_are_pickled(fitted, panel):
    back = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own bytes
    assert back.predict(panel).tolist() == fitted.predict(panel).tolist()
    assert str(back.tree_) == str(fitted.tree_)


# grammars


def test_a_grammar_can_be_text_or_made_before(panel, labels):
    text = tree(grammar=TEXT, search=ALL_OF_IT).fit(panel, labels)
    made = tree(grammar=Grammar.parse(TEXT, panel), search=ALL_OF_IT).fit(panel, labels)
    assert text.grammar_.count(9) == text.searches_[1].evaluations
    assert str(text.tree_) == str(made.tree_)
    assert text.grammar_ == made.grammar_
    assert tree().fit(panel, labels).grammar_ == Grammar.for_panel(panel, labels)


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
