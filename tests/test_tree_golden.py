"""What a seed finds does not depend on how it is computed: recorded trees are reproduced."""

import json

import pytest
from golden_trees import CASES, FILE, grown


@pytest.mark.parametrize("name", CASES)
def test_what_a_seed_finds_stays_the_same(name):
    recorded = json.loads(FILE.read_text())[name]
    found = grown(name)
    assert [node[:2] for node in found] == [node[:2] for node in recorded]
    assert [node[4] for node in found] == [node[4] for node in recorded]
    assert [node[2:4] for node in found] == [pytest.approx(node[2:4], rel=1e-12) for node in recorded]
