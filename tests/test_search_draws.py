"""Monte Carlo draws many formulas at a time, and leaves out the simplest once all were tried: neither must show."""

import numpy as np
import pytest
from test_paper_example import PLAIN as SCHEMA

from telltree import Grammar, MonteCarlo
from telltree.grammar.drawing import NO_ROW, Simplest
from telltree.search import Scores

GRAMMARS = {
    "constants": "A ::= F(V) | G(V)\nV ::= x1 | x3 < C | V and V | not V\nC ::= 1 | 2 | 3",
    "no constants": "A ::= F(V)\nV ::= x1 | x2 | V or V | not V",
    "atoms of an attribute": "A ::= F(V) | G(V)\nV ::= x1 | x3 {<, >} grid(0, 1, 5) | V implies V",
    "holes of two symbols": "A ::= F(V) | G(W)\nV ::= x1 | x2 | V and V\nW ::= x3 < 1 | x3 > 2 | W or W",
    "connectives outside": "A ::= F(V) | A and A | not A\nV ::= x2 | V and V | not V",
    "three holes": "A ::= F(V and V and V) | F(V)\nV ::= x1 | x2 | V or V",
    "random constants": "A ::= F(V)\nV ::= x1 | x3 < C | V and V\nC ::= random(0, 1)",
}


class Tried:
    """An objective that remembers, in their order, the formulas it was asked for."""

    def __init__(self):
        self.names = []

    def __call__(self, population, wanted):
        self.names += population.names[wanted].tolist()
        return Scores(population.names[wanted] % np.uint64(997) * 1.0, population.names[wanted])


def tried(text, evaluations, max_depth=6, **settings):
    objective = Tried()
    grammar = Grammar.parse(text, SCHEMA)
    MonteCarlo(evaluations=evaluations, max_depth=max_depth, **settings).run(grammar, objective, 5)
    return objective.names


def test_a_larger_budget_tries_the_same_formulas_first():
    text = GRAMMARS["atoms of an attribute"]
    few, many = tried(text, 3_000), tried(text, 70_000)
    assert (len(few), len(many)) == (3_000, 70_000)
    assert many[:3_000] == few
    assert tried(text, 10_000, generations=1_000) == many[:10_000]


@pytest.mark.parametrize("max_depth", [2, 3, 6])
@pytest.mark.parametrize("name", GRAMMARS)
def test_leaving_out_the_simplest_changes_nothing(monkeypatch, name, max_depth):
    found = tried(GRAMMARS[name], 20_000, max_depth)
    monkeypatch.setattr(Simplest, "of", lambda tables, depth: Simplest(NO_ROW, 0))
    assert tried(GRAMMARS[name], 20_000, max_depth) == found


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("constants", 2 * (1 + 3)),
        ("no constants", 2),
        ("atoms of an attribute", 2 * (1 + 2 * 5)),
        ("holes of two symbols", 0),
        ("connectives outside", 0),
        ("three holes", 0),
        ("random constants", 0),
    ],
)
def test_the_simplest_are_one_rule_for_the_start_and_one_more(name, number):
    grammar = Grammar.parse(GRAMMARS[name], SCHEMA)
    row, counted = Simplest.of(grammar.tables, 6)
    assert counted == number
    assert (row == NO_ROW) == (number == 0)


def test_the_simplest_are_no_longer_proposed_once_all_were_tried():
    grammar = Grammar.parse(GRAMMARS["constants"], SCHEMA)
    breeder = MonteCarlo().breeder(grammar, 0, None)
    population = breeder.propose(0)
    simplest = (population.lengths > 0) & (population.lengths <= 3) & ~_negates(grammar, population)
    assert len(set(population.names[simplest].tolist())) == 8
    _, first = np.unique(population.names, return_index=True)  # what a search would find to be new
    answer = np.zeros(len(population.names), np.uint64)
    answer[first] = population.names[first]
    breeder.learn(population, np.zeros(len(answer)), answer)
    population = breeder.propose(1)
    drawn = population.lengths > 0
    assert 0 < drawn.sum() < len(drawn)
    assert not np.any(drawn & (population.lengths <= 3) & ~_negates(grammar, population))


def _negates(grammar, population):
    """Whether the second rule is that of ¬."""
    negation = next(i for i, rule in enumerate(grammar.rules) if str(rule.template).startswith(("not", "¬")))
    return population.rules[:, 1] == negation
