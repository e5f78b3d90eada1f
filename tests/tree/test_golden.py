"""What a seed finds does not depend on how it is computed: recorded trees are reproduced."""

import json

import numpy as np
import pytest

from tests.support.golden_trees import CASES, FILE, grammar_of, grown

from telltree import GrammarTreeClassifier


@pytest.mark.parametrize("name", CASES)
def test_what_a_seed_finds_stays_the_same(name):
    recorded = json.loads(FILE.read_text())[name]
    found = grown(name)
    assert [node[:2] for node in found] == [node[:2] for node in recorded]
    assert [node[4] for node in found] == [node[4] for node in recorded]
    assert [node[2:4] for node in found] == [pytest.approx(node[2:4], rel=1e-12) for node in recorded]


@pytest.mark.parametrize("name", ["generic, grammatical evolution, gaps", "fitted, gaps"])
def test_what_else_could_be_asked_splits_the_records_in_another_way(name):
    """At the root, where all records are; whichever side is called true."""
    data, language, search, settings = CASES[name]
    panel, labels = data()
    grammar = grammar_of(panel, labels, language)
    root = (
        GrammarTreeClassifier(grammar, search, random_state=1, **settings).fit(panel, labels).pruning_path_.whole.root
    )
    answers = [np.array(formula(panel)) for formula in (root.formula, *(other.formula for other in root.runners_up))]
    assert len({(answer ^ answer[0]).tobytes() for answer in answers}) == len(answers) == 10
