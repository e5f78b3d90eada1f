"""Engines for given formulas: their connectives, F, G and what these join become a grammar."""

from telltree.engine.population_evaluator import PopulationEvaluator
from telltree.grammar.derivation import Population
from telltree.grammar.normal_form import Rule
from telltree.grammar.tables import Tables, code_of
from telltree.logic import Expression, Hole
from telltree.logic.meaning import JOINING

_FORMULA = "Formula"


def engine_for(panel, formulas, signals=None):
    """An engine for given formulas, and their derivations."""
    number = {}
    derivations = [
        [number.setdefault(template, len(number)) for template in _templates(formula)] for formula in formulas
    ]
    rules = [Rule(_FORMULA, template, 1.0) for template in number]
    population = Population.empty(len(formulas), max(map(len, derivations), default=1), False)
    for i, derivation in enumerate(derivations):
        population.rules[i, : len(derivation)], population.lengths[i] = derivation, len(derivation)
    return PopulationEvaluator(panel, rules, Tables.of(rules, [_FORMULA]), signals), population


def _templates(e):
    """The rules that write a formula, in prefix order."""
    if code_of(e) not in JOINING:
        yield e
        return
    holes = [Expression(Hole(_FORMULA, operand.type)) for operand in e.operands]
    yield Expression(e.head, (*holes, *e.args[len(holes) :]))
    for operand in e.operands:
        yield from _templates(operand)
