"""The compiler: derivations and expressions give programs with the same answers, also in odd populations."""

import numpy as np

from telltree import Grammar, Panel
from telltree.engine import truth_of
from telltree.engine.formula_evaluator import FormulaEvaluator
from telltree.engine.population_evaluator import PopulationEvaluator
from telltree.grammar.derivation import Population
from telltree.logic import user_function

PANEL = Panel.from_arrays(list(np.random.default_rng(0).normal(size=(70, 12, 2))), columns=["x", "y"])


def test_an_empty_row_of_a_population_is_true_of_no_record():
    """Whatever the memory after its rules holds: a row of rule 0 would be read beyond its end."""
    grammar = Grammar.parse("A ::= F(V) | G(V)\nV ::= x > 0 | V and V", PANEL)
    empty = Population.of([grammar.draw(seed, 3) for seed in range(5)], False)
    empty.lengths[[1, 3]] = 0
    evaluator = PopulationEvaluator(PANEL, grammar.rules, grammar.tables)
    truth = evaluator.truth(empty)
    assert not truth[[1, 3]].any()
    expected = [grammar.derivation(empty, i).expression for i in (0, 2, 4)]
    assert np.array_equal(truth[[0, 2, 4]], truth_of(expected, PANEL))
    tally = evaluator.evaluate(empty, np.arange(5), evaluator.masks([]))
    assert tally.size[[1, 3]].tolist() == [0, 0]


def test_functions_of_one_name_are_not_taken_for_each_other():
    """Atoms are known by a hash of their text; of two functions of one name that is the same text."""

    @user_function(takes=["real"], gives="real", name="f")
    def up(x):
        return x + 10.0

    @user_function(takes=["real"], gives="real", name="f")
    def down(x):
        return x - 10.0

    formulas = [Grammar.parse("A ::= G(f(x) > 0)", PANEL, functions=[f]).draw(0, 3).expression for f in (up, down)]
    assert FormulaEvaluator(PANEL).truth(formulas).all(axis=1).tolist() == [True, False]
    evaluator = FormulaEvaluator(PANEL)
    assert [evaluator.truth([formula])[0].all() for formula in formulas] == [True, False]
