"""Formulas F or G of two comparisons joined by `and` or `or`, on random walks, for telltree and for the NumPy peer."""

# mypy: disable-error-code="no-untyped-call"

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from peers.numpy_monte_carlo import TwoAtoms
from walks import random_walks

from telltree import Grammar, Panel
from telltree.engine.population_evaluator import PopulationEvaluator
from telltree.grammar.derivation import Population
from telltree.grammar.draw import NO_ROW, Lanes, draw
from telltree.logic import Attribute, Expression, Number, Operator

GRAMMAR = """
Start ::= F(A and A) | F(A or A) | G(A and A) | G(A or A)
A ::= each real {<, <=, >, >=, =} grid(10)
"""
DEPTH = 3


class Setting(NamedTuple):
    """Data, and formulas about it."""

    cube: NDArray[np.float64]
    panel: Panel
    grammar: Grammar
    population: Population


def setting(records: int, columns: int, formulas: int) -> Setting:
    """Random walks, a panel that shares their memory, and random formulas."""
    cube = random_walks(records, columns)
    panel = Panel.from_arrays(cube, layout="records, steps, columns")
    grammar = Grammar.parse(GRAMMAR, panel)
    return Setting(cube, panel, grammar, draw_formulas(grammar, formulas))


def draw_formulas(grammar: Grammar, formulas: int, depth: int = DEPTH) -> Population:
    """Random formulas, as Monte Carlo draws them."""
    width = grammar.width(depth)
    population = Population.empty(formulas, width, grammar.has_random_constants)
    lanes = Lanes.empty(grammar.tables, width)
    draw(grammar.tables.growing, depth, np.uint64(0), 0, NO_ROW, lanes, *population.for_kernels())
    return population


def engine_for(where: Setting) -> PopulationEvaluator:
    """An engine without bitsets."""
    return PopulationEvaluator(where.panel, where.grammar.rules, where.grammar.tables)


def two_classes(evaluator: PopulationEvaluator) -> NDArray[np.uint64]:
    """Masks that make evaluation count two classes, as a search would."""
    side = np.arange(evaluator.layout.records) % 2 == 0
    return evaluator.layout.masks([side, ~side])


def for_peer(where: Setting, chosen: Sequence[int]) -> list[TwoAtoms]:
    """The chosen formulas as the peer wants them."""
    places = {name: place for place, name in enumerate(where.panel.schema.names)}

    def name(e: Expression) -> str:
        assert isinstance(e.head, Operator)
        return e.head.name

    def atom(e: Expression) -> tuple[int, str, float]:
        signal, constant = (arg.head for arg in e.args)
        assert isinstance(signal, Attribute)
        assert isinstance(constant, Number)
        return places[signal.name], name(e), constant.value

    wholes = [where.grammar.derivation(where.population, i).expression for i in chosen]
    return [(name(e), name(e.args[0]), atom(e.args[0].args[0]), atom(e.args[0].args[1])) for e in wholes]
