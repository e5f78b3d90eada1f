"""Signals that a grammar compares with a list of constants are kept as bytes, which say the same as the numbers."""

import numpy as np
import pytest

from telltree import Grammar, Panel
from telltree.engine.formula_evaluator import FormulaEvaluator
from telltree.engine.population_evaluator import PopulationEvaluator
from telltree.grammar.derivation import Population

TEXT = """
Start  ::= F(Atom) | G(Atom) | count(Atom) > 3 | F(Atom and Atom)
Atom   ::= Signal {<, <=, >, >=, =} Number | Signal < 0.25 | flag
Signal ::= x | y | x - y | abs(x)
Number ::= [-1, -0.5, 0, 1, 2]
"""


def ragged():
    """Records of many lengths, with values on the constants, between them, infinite and missing."""
    rng = np.random.default_rng(0)
    values = [-np.inf, -2, -1, -0.75, -0.5, 0, 0.25, 0.5, 1, 1.5, 2, 9, np.inf, np.nan]
    records = [
        np.column_stack([*rng.choice(values, (2, length)), rng.integers(0, 2, length)])
        for length in rng.integers(1, 30, 150)
    ]
    overrides = {"flag": {"type": "boolean"}}
    return Panel.from_arrays(records, columns=["x", "y", "flag"], schema=overrides)


@pytest.mark.filterwarnings("ignore::telltree.errors.DataWarning")
@pytest.mark.parametrize("memory", [None, 1 << 12])
def test_codes_answer_like_numbers(memory):
    panel = ragged()
    grammar = Grammar.parse(TEXT, panel)
    population = Population.of([grammar.draw(seed, 4) for seed in range(400)], False)
    evaluator = PopulationEvaluator(panel, grammar.rules, grammar.tables, memory=memory)
    expressions = [grammar.derivation(population, i).expression for i in range(400)]
    assert len({str(e) for e in expressions}) > 150
    assert np.array_equal(evaluator.truth(population), FormulaEvaluator(panel).truth(expressions))
