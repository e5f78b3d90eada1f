"""Settings of search and fitness by their own names, ensembles of trees of series, and the importance of columns."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from tests.support.examples import records
from tests.support.small_trees import FEW, TEXT, tree

from telltree.errors import SettingsError
from telltree.estimators import GrammarTreeClassifier, load
from telltree.search import Auto, MonteCarlo
from telltree.tree import GiniSize


def halves(true, total, size):
    """A fitness that is a function, and has no settings."""
    return np.abs(true.sum(axis=1) - total.sum() / 2)


# settings of parts


def test_settings_of_parts_are_parameters():
    given = GrammarTreeClassifier(search=MonteCarlo(evaluations=7), criterion=GiniSize(w2=3)).get_params()
    assert (given["search__evaluations"], given["search__max_depth"], given["criterion__w2"]) == (7, 6, 3)
    assert given["search"] == MonteCarlo(evaluations=7)
    shallow = GrammarTreeClassifier().get_params(deep=False)
    assert not [name for name in shallow if "__" in name]
    assert shallow.keys() < given.keys()


def test_nothing_stands_for_the_default():
    model = GrammarTreeClassifier()
    assert model.get_params()["search__evaluations"] == Auto().evaluations
    assert model.set_params(search__evaluations=50, max_depth=2) is model
    assert (model.search, model.max_depth) == (Auto(evaluations=50), 2)
    model.set_params(search=None, search__keep=3)
    assert model.search == Auto(keep=3)


def test_settings_are_set_one_by_one_and_parts_are_not_changed():
    search, fitness = MonteCarlo(evaluations=7), GiniSize()
    model = GrammarTreeClassifier(search=search, criterion=fitness)
    model.set_params(search__evaluations=9, search__max_depth=4, criterion__w2=0.5)
    assert model.search == MonteCarlo(evaluations=9, max_depth=4)
    assert model.criterion == GiniSize(w2=0.5)
    assert (search, fitness) == (MonteCarlo(evaluations=7), GiniSize())
    model.set_params(search=FEW, search__keep=2)
    assert model.search == MonteCarlo(evaluations=300, keep=2)
    again = clone(model)
    assert again.get_params() == model.get_params()
    assert clone(GrammarTreeClassifier()).search is None


def test_settings_that_are_not_there_are_refused_and_nothing_is_set():
    model = GrammarTreeClassifier(search=MonteCarlo(evaluations=7), criterion=halves)
    with pytest.raises(SettingsError, match=r"Invalid parameter 'population' for the search, MonteCarlo.*it has evalu"):
        model.set_params(max_depth=1, search__population=5)
    with pytest.raises(SettingsError, match="it has no settings"):
        model.set_params(criterion__w2=1)
    with pytest.raises(SettingsError, match="w2 must be a finite number"):
        model.set_params(criterion=GiniSize(), criterion__w2=-1)
    with pytest.raises(ValueError, match="Invalid parameter 'depth'"):
        model.set_params(depth=1)
    assert model.max_depth == GrammarTreeClassifier().max_depth
    assert not [name for name in model.get_params() if name.startswith("criterion__")]


def test_a_grid_of_settings_is_searched(panel, labels):
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    grid = {"search__evaluations": [5, 24], "criterion__w2": [0.1, 90.0]}
    found = GridSearchCV(tree(grammar=TEXT, criterion=GiniSize()), grid, cv=folds).fit(panel, labels)
    assert set(found.best_params_) == set(grid)
    assert found.best_estimator_.search.evaluations == found.best_params_["search__evaluations"]
    inside = Pipeline([("tree", tree(grammar=TEXT))]).set_params(tree__search__evaluations=24, tree__max_depth=1)
    assert inside.fit(panel, labels)[-1].search == MonteCarlo(evaluations=24)


# ensembles


def test_trees_of_series_are_bagged_by_the_numbers_of_records(panel, labels):
    rows = np.arange(60)[:, None]
    pick = FunctionTransformer(lambda numbers: panel[numbers[:, 0]])
    bag = BaggingClassifier(make_pipeline(pick, tree(grammar=TEXT)), 3, random_state=0).fit(rows, labels)
    assert bag.score(rows, labels) > 0.6
    assert len({str(one[-1].tree_) for one in bag.estimators_}) > 1


def test_plain_tables_are_bagged_and_permuted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = np.where(X[:, 1] > 0.3, "up", "down")
    bag = BaggingClassifier(tree(max_depth=2), 3, random_state=0).fit(X, y)
    assert bag.score(X, y) > 0.9
    model = tree(max_depth=2).fit(X, y)
    found = permutation_importance(model, X, y, n_repeats=3, random_state=0)
    assert found.importances_mean.argmax() == model.feature_importances_.argmax() == 1


# importances


def test_columns_that_tell_are_important():
    steps = [{"a": [float(i % 2)], "F": [float(i // 2 % 2)], "and": [float(i % 7)]} for i in range(40)]
    panel = records(*steps)
    y = [f"{int(s['a'][0])}{int(s['F'][0])}" for s in steps]
    grammar = "Start ::= F(a > 0.5) | F(`F` > 0.5)"
    model = tree(grammar=grammar, search=MonteCarlo(evaluations=2), max_depth=2, criterion=GiniSize()).fit(panel, y)
    assert len(model.tree_.leaves) == 4
    # of an impurity of 3/4, the root takes 1/4, and its children the rest
    np.testing.assert_allclose(sorted(model.feature_importances_[:2]), [1 / 3, 2 / 3])
    assert model.feature_importances_[2] == 0


def test_columns_of_one_formula_share_its_gain(tmp_path):
    panel = records(*({"a": [float(i > 4)], "b": [float(i < 8)], "c": [1.0 * i]} for i in range(12)))
    y = ["in" if 4 < i < 8 else "out" for i in range(12)]
    model = tree(grammar="Start ::= F(a > 0.5 and b > 0.5)", search=MonteCarlo(evaluations=1), max_depth=1)
    model.fit(panel, y)
    assert model.feature_importances_.tolist() == [0.5, 0.5, 0]
    model.save(tmp_path / "model.json")
    np.testing.assert_array_equal(load(tmp_path / "model.json").feature_importances_, model.feature_importances_)


def test_gains_count_by_weight_and_leaves_have_none(panel, labels):
    model = tree(max_depth=3).fit(panel, labels)
    assert model.feature_importances_.shape == (model.n_features_in_,)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert (model.feature_importances_ >= 0).all()
    used = {name for node in model.tree_.nodes for name in node.formula.expression.attributes()}
    assert {n for n, x in zip(panel.schema, model.feature_importances_, strict=True) if x} <= used
    assert tree(max_depth=0).fit(panel, labels).feature_importances_.tolist() == [0, 0, 0, 0]
    with pytest.raises(NotFittedError):
        _ = tree().feature_importances_
