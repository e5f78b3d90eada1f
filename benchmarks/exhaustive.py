"""Exhaustive search: all formulas of up to two atoms at the root of the eight-word Auslan data, on one core."""

import time

import numpy as np
from auslan import hard2_labels, load
from results import Row

from telltree import Grammar, Panel
from telltree.engine.population_evaluator import PopulationEvaluator
from telltree.search import Exhaustive
from telltree.tree import MDL, GiniSize
from telltree.tree.class_target import ClassLabels, ClassTarget
from telltree.tree.criterion import Criterion, prepared
from telltree.tree.objective import SplitObjective

TARGET = 0.3


def rows(quick: bool) -> list[Row]:
    data = load()
    panel = Panel.from_arrays(data.records, columns=data.columns)
    kinds = sorted(set(data.labels))
    signs = ClassLabels(np.array([kinds.index(label) for label in data.labels]), ClassTarget(tuple(kinds)))
    hard = ClassLabels(np.array(hard2_labels(data.labels)), ClassTarget((0, 1)))
    generic, usual = Grammar.generic(panel), Grammar.for_panel(panel, data.labels)
    times = 2 if quick else 9
    return [
        _row("generic grammar, eight signs", panel, generic, signs, GiniSize(), times),
        _row("generic grammar, hard2", panel, generic, hard, GiniSize(), times),
        _row("default language and fitness, eight signs", panel, usual, signs, MDL(), times),
    ]


def _row(name: str, panel: Panel, grammar: Grammar, labels: ClassLabels, fitness: Criterion, times: int) -> Row:  # noqa: PLR0917
    """The processor's time of one search, bitsets included; what the grammar alone decides is kept from the first."""
    taken = []
    for _ in range(times + 1):  # the first compiles
        evaluator = PopulationEvaluator(panel, grammar.rules, grammar.tables)
        objective = SplitObjective(evaluator, labels, prepared(fitness, grammar, labels))
        begun = time.process_time()
        found = Exhaustive().run(grammar, objective, 0)
        taken.append(time.process_time() - begun)
    assert found.proof is not None
    assert found.best is not None
    best, proof = min(taken[1:]), found.proof
    return Row(
        name, f"≤ {TARGET} s", f"{best:.3f} s",
        f"processor time, bitsets included, least of {times}; {proof.formulas:,} formulas covered by {proof.tried:,}; "
        f"best fitness {found.best.fitness:.1f}", met=best <= TARGET,
    )  # fmt: skip
