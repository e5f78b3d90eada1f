"""Monte Carlo draws many formulas at a time, and leaves out the simplest once all were tried: neither must show."""

import numpy as np
import pytest

from tests.tree.test_paper_example import PLAIN as SCHEMA

from telltree import Grammar, Panel
from telltree.grammar.derivation import Population
from telltree.grammar.draw import NO_ROW, Lanes, Simplest, draw
from telltree.search import GeneticProgramming, GrammaticalEvolution, MonteCarlo, Scores
from telltree.search.search import Memory, Task

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
    breeder = MonteCarlo().breeder(Task(grammar, 0, Memory(scores=False), None, 0.0))
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


WORD = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def scrambled(x):
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & WORD
    return x ^ (x >> 31)


class Plain:
    """One derivation after the other, rule by rule: drawing side by side must give the same."""

    def __init__(self, grammar, depth, end):
        self.tables, self.depth, self.end = grammar.tables, depth, end

    def draw(self, seed, generation, individual):
        self.state = scrambled(scrambled(seed + GOLDEN * generation & WORD) + GOLDEN * individual & WORD)
        for depth in range(self.depth, int(self.tables.of_symbol["least_depth"][0]) - 1, -1):
            for _ in range(4):
                rules = self.attempt(depth)
                if rules:
                    return rules
        return []

    def attempt(self, depth):
        rules, holes = [], [(0, depth)]
        while holes and len(rules) + len(holes) < self.end:
            symbol, left = holes.pop()
            rule = self.choose(symbol, left)
            rules.append(rule)
            first, last = self.tables.rule["first_hole"][rule : rule + 2].tolist()
            own = [(symbol, left - drop) for symbol, drop in self.tables.hole[first:last].tolist()]
            if self.tables.rule["takes"][rule]:
                rules.append(self.choose(own[0][0], 0))
            else:
                holes += reversed(own)
        return [] if holes else rules

    def choose(self, symbol, left):
        self.state = self.state + GOLDEN & WORD
        word = scrambled(self.state)
        row = self.tables.of_symbol[symbol]
        start, size = self.tables.row[row["first_row"] + min(left, row["last_depth"])].tolist()
        cut, rule, other = self.tables.choice[start + ((word >> 32) * size >> 32)].tolist()
        return rule if word & 0xFFFFFFFF < cut else other


LONG = {name: text for name, text in GRAMMARS.items() if name != "random constants"} | {
    "hardly an end": "A ::= F(V)\nV ::= x1 | x3 < C | V and V @9 | V or V @9\nC ::= 1 | 2",
}


@pytest.mark.parametrize("depth", [3, 6, 12, 40])
@pytest.mark.parametrize("name", LONG)
def test_drawing_side_by_side_agrees_with_drawing_one_by_one(name, depth):
    grammar = Grammar.parse(LONG[name], SCHEMA)
    width = grammar.width(depth)
    number = 100 if name == "hardly an end" else 300  # its formulas are by far the longest
    population = Population.empty(number, width, False)
    lanes = Lanes.empty(grammar.tables, width)
    draw(grammar.tables.growing, depth, np.uint64(7), 2, NO_ROW, lanes, *population.for_kernels())
    plain = Plain(grammar, depth, width)
    for individual, length in enumerate(population.lengths.tolist()):
        assert population.rules[individual, :length].tolist() == plain.draw(7, 2, individual)


@pytest.mark.parametrize("search", [MonteCarlo, GeneticProgramming, GrammaticalEvolution])
def test_a_grammar_that_nearly_always_nests_further_does_not_stall_a_search(search):
    panel = Panel.from_arrays([np.array([[float(i)], [i / 2]]) for i in range(8)], columns=["x"])
    grammar = Grammar.parse("A ::= F(V)\nV ::= V and V @1000 | x < grid(9) | x > grid(9)", panel)
    found = search(evaluations=200, max_depth=30).run(grammar, counting_rules, 0)
    assert found.evaluations > 0
    assert found.best is not None


def counting_rules(population, wanted):
    """An objective that asks for short formulas."""
    return Scores(population.lengths[wanted].astype(np.float64), population.names[wanted])
