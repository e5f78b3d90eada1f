"""Weights of records: only their ratios count, whatever their size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import few_fast

from telltree import GrammarTreeClassifier
from telltree.estimators.inputs import fixed_point, record_weights
from telltree.search import MonteCarlo
from telltree.tree.class_target import ONE

SCALES = st.sampled_from([3.7, 0.1, 7 / 3, 1e-3, 1e200, 1e-200])


def tree(**settings):
    return GrammarTreeClassifier(search=MonteCarlo(evaluations=300), max_depth=3, random_state=0, **settings)


def same(one, other):
    return (one is None and other is None) or np.array_equal(one, other)


@given(st.lists(st.integers(0, 50), min_size=2).filter(any), SCALES, st.sampled_from([1.0, 0.1, 1 / 3]))
def test_whole_weights_keep_their_ratios_at_any_scale(weights, scale, unit):
    given_weights = np.array(weights) * unit
    found = fixed_point(given_weights)
    assert same(found, fixed_point(given_weights * scale))
    if found is not None:
        assert np.array_equal(found * max(weights), np.array(weights) * found.max())


@given(st.lists(st.floats(1e-9, 1.0), min_size=2), SCALES)
def test_any_weights_mean_the_same_at_any_scale(weights, scale):
    found = fixed_point(np.array(weights))
    assert same(found, fixed_point(np.array(weights) * scale))
    assert found is None or (found.min() > 0 and found.max() <= ONE)


@pytest.mark.parametrize("seed", few_fast(range(4)))
def test_a_tree_does_not_depend_on_the_unit_of_weights(panel, labels, seed):
    weights = np.random.default_rng(seed).random(60)
    once, scaled = (tree().fit(panel, labels, sample_weight=weights * scale) for scale in (1.0, 3.7))
    assert once.tree_ == scaled.tree_


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_products_of_weights_neither_vanish_nor_overflow(size):
    labels = np.array(["a", "b", "b"])
    found = record_weights(labels, [size, size, 3 * size], {"a": 2 * size, "b": size})
    assert np.allclose(found / found[1], [2, 1, 3])


@pytest.mark.parametrize("cv", [None, 3])
def test_weights_of_very_different_sizes_are_learnt_from(panel, labels, cv):
    weights = np.full(60, 1e-300)
    weights[0] = 1e300
    fitted = tree(cv=cv, class_weight=dict.fromkeys(labels, 1e-200)).fit(panel, labels, sample_weight=weights)
    assert np.isfinite(fitted.predict_proba(panel)).all()
