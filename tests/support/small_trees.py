"""Classifiers that tests of the estimator ask, small enough to be learnt at once."""

import numpy as np
import pytest

from telltree.errors import DataWarning
from telltree.estimators import GrammarTreeClassifier
from telltree.search import MonteCarlo
from telltree.tree import Leaf

FEW = MonteCarlo(evaluations=300)
TEXT = """
Start ::= F(V) | G(V)
V     ::= on | mode = levels | speed {<, >} [-1, 0, 2.5] | height >= [3, 4]
"""
ALL_OF_IT = MonteCarlo(evaluations=24)
"""The text says so many formulas; a search that looks for more takes its time to be sure that there are none."""


def tree(**settings):
    return GrammarTreeClassifier(**({"search": FEW, "random_state": 1} | settings))


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


def same(one, other, panel):
    assert str(one.tree_) == str(other.tree_)
    assert one.tree_ == other.tree_
    np.testing.assert_array_equal(one.predict_proba(panel), other.predict_proba(panel))
