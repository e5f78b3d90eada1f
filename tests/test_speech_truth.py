"""Nothing that is told of a tree is false: every count, share and sentence against records judged one by one."""

import pytest
from speech_truth import checked, draw_subject

TREES = 200
"""As many as a test run can wait for; benchmarks/plain_speech.py takes 2,000."""


@pytest.mark.parametrize("tens", range(TREES // 10))
def test_nothing_that_is_told_of_random_trees_is_refuted(tens):
    for seed in range(10 * tens, 10 * tens + 10):
        verdict = checked(draw_subject(seed))
        assert not verdict.refuted, f"tree {seed}: {verdict.refuted[0]}"
        assert verdict.checked > 20
