"""Signatures distinguish conditions by the steps at which they hold, within a shard and over several."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from telltree.engine.population_evaluator import signatures_of

WORDS = arrays(np.uint64, 6, elements=st.integers(0, 3) | st.integers(0, 2**64 - 1))


@given(WORDS, WORDS, WORDS)
def test_conditions_have_the_same_signatures_if_they_hold_at_the_same_steps(one, other, valid):
    same = bool(((one ^ other) & valid == 0).all())
    assert (signatures_of(one, valid)[0] == signatures_of(other, valid)[0]) == same
    assert (signatures_of(one, valid)[1] == signatures_of(other, valid)[1]) == same


@given(WORDS, WORDS)
def test_a_negation_has_the_signatures_the_other_way_round(words, valid):
    assert signatures_of(~words, valid) == signatures_of(words, valid)[::-1]


@given(WORDS, WORDS)
def test_only_what_holds_nowhere_has_a_signature_of_zeros(words, valid):
    true, false = signatures_of(words, valid)
    assert any(true) == bool((words & valid).any())
    assert any(false) == bool((~words & valid).any())
    assert len(true) == len(false) == 16  # so that concatenated signatures of shards begin where they should


@given(WORDS)
def test_the_order_of_steps_matters(words):
    everywhere = ~np.zeros(6, np.uint64)
    assert (signatures_of(words, everywhere) == signatures_of(words[::-1].copy(), everywhere)) == (
        words == words[::-1]
    ).all()
