"""A tree is put into words when it is first asked for, by the records that it was learned from."""

import pickle

import numpy as np
import pytest

from tests.support.golden_trees import gaps

from telltree import Grammar, GrammarTreeClassifier
from telltree.errors import DataWarning
from telltree.estimators import fitted_tree
from telltree.scale.run_context import RunContext
from telltree.search import MonteCarlo

PANEL, LABELS = gaps()
SETTINGS = {"search": MonteCarlo(evaluations=300), "max_depth": 2, "random_state": 0}


def learned(X=PANEL, y=LABELS, **settings):
    return GrammarTreeClassifier(**(SETTINGS | settings)).fit(X, y)


def headlines(model):
    return [leaf.headline for leaf, _ in model.tree_.leaves]


def test_learning_and_predicting_find_no_words(monkeypatch):
    calls = []
    monkeypatch.setattr(fitted_tree, "with_headlines", lambda tree, panel: calls.append(panel) or tree)
    model = learned()
    model.predict(PANEL), model.predict_proba(PANEL), model.apply(PANEL), model.decision_path(PANEL)
    assert not calls
    model.tree_, model.categories(PANEL), model.rules()
    assert len(calls) == 1


def test_a_copy_has_the_words_and_not_the_records():
    model = learned()
    kept = pickle.dumps(model)
    assert b"telltree.panel.panel" not in kept
    assert any(headlines(model))
    assert headlines(pickle.loads(kept)) == headlines(model)  # noqa: S301  it was written here


def test_records_that_were_changed_say_nothing():
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = X[:, 0] > 0
    assert any(headlines(learned(X, y)))
    model = learned(X, y)
    X[:] = 0
    with pytest.warns(DataWarning, match="were changed since the tree was learned"):
        assert not any(headlines(model))


def test_trees_of_folds_are_the_same_with_planes_of_their_own(monkeypatch):
    grammar = Grammar.generic(PANEL)
    shared = learned(grammar=grammar, cv=3)
    monkeypatch.setattr(RunContext, "share_bitsets", lambda *_: None)
    own = learned(grammar=grammar, cv=3)
    assert np.array_equal(shared.validation_.path_probabilities, own.validation_.path_probabilities)
    assert shared.tree_ == own.tree_
