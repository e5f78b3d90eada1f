"""A peer: strongly typed genetic programming in DEAP on the hard2 labels of Auslan.

Runs as a script in a virtual environment with deap and numpy only, and prints one line of JSON per seed:

    python deap_hard2.py DATA_FOLDER SEED [SEED ...] [--evaluations 10000] [--core 0]

The comparisons are the terminals, each with its answer at every time step computed beforehand; trees are
evaluated by walking their prefix form, which is faster than DEAP's compilation to source text. An evaluation
is counted once per distinct expression: a tree met again takes its fitness from a table.
"""

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from deap import base, creator, gp, tools  # type: ignore[import-not-found]
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the script runs where nothing is installed

from auslan import hard2_labels, load

MAX_HEIGHT = 6  # edges from F down to a comparison
Bools = NDArray[np.bool_]


class Steps:
    """The type of what holds or not at each time step."""


class Answer:
    """The type of what holds or not for a record."""


def primitives(columns: NDArray[np.float64], starts: NDArray[np.intp]) -> Any:
    """The grammar as typed primitives; the comparisons use a grid of ten points per column."""
    pset = gp.PrimitiveSetTyped("hard2", [], Answer)
    pset.addPrimitive(lambda x: np.bitwise_or.reduceat(x.view(np.uint8), starts).view(np.bool_), [Steps], Answer, "F")
    pset.addPrimitive(lambda x: np.bitwise_and.reduceat(x.view(np.uint8), starts).view(np.bool_), [Steps], Answer, "G")
    pset.addPrimitive(np.logical_and, [Steps, Steps], Steps, "and_")
    pset.addPrimitive(np.logical_or, [Steps, Steps], Steps, "or_")
    pset.addPrimitive(np.less_equal, [Steps, Steps], Steps, "implies")
    pset.addPrimitive(np.logical_not, [Steps], Steps, "not_")
    compare = {"eq": np.equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
    for place, column in enumerate(columns):
        for name, function in compare.items():
            for point, constant in enumerate(np.linspace(column.min(), column.max(), 10)):
                pset.addTerminal(function(column, constant), Steps, f"x{place}_{name}_{point}")
    return pset


def fitness_of(pset: Any, labels: NDArray[np.intp]) -> Callable[[Any], tuple[float]]:
    """100 x weighted Gini + 0.1 x terminals of a tree: three for a comparison, one for any operator."""
    context = pset.context
    records, total = len(labels), int(labels.sum())

    def fitness(tree: Any) -> tuple[float]:
        stack: list[Any] = []
        size = 0
        for node in reversed(tree):
            if node.arity == 0:
                stack.append(context[node.name])
                size += 3
            else:
                arguments = [stack.pop() for _ in range(node.arity)]
                stack.append(context[node.name](*arguments))
                size += 1
        inside, ones = np.count_nonzero(stack[0]), int(labels @ stack[0])
        impurity = 0.0
        for members, positive in ((inside, ones), (records - inside, total - ones)):
            if members:
                impurity += 2 * positive * (members - positive) / members
        return (100 * impurity / records + 0.1 * size,)

    return fitness


def toolbox_for(pset: Any, tournament: int, grow: int) -> Any:
    """DEAP's usual operators, with the height of trees bounded."""
    toolbox = base.Toolbox()

    def regrow(pset: Any, type_: Any) -> Any:
        # An Answer has no terminals, so a tree that stands for one has a height of at least 1. Not genGrow:
        # with 1,100 terminals to four operators it would plant a lone comparison nearly every time.
        return gp.genFull(pset, min_=1 if type_ is Answer else 0, max_=grow, type_=type_)

    toolbox.register("expr", gp.genFull, pset=pset, min_=1, max_=3)
    toolbox.register("individual", tools.initIterate, creator.Individual, toolbox.expr)
    toolbox.register("population", tools.initRepeat, list, toolbox.individual)
    toolbox.register("select", tools.selTournament, tournsize=tournament)
    toolbox.register("mate", gp.cxOnePoint)
    toolbox.register("regrow", gp.mutUniform, expr=regrow, pset=pset)
    toolbox.register("replace", gp.mutNodeReplacement, pset=pset)
    limit = gp.staticLimit(key=lambda tree: tree.height, max_value=MAX_HEIGHT)
    for name in ("mate", "regrow", "replace"):
        toolbox.decorate(name, limit)
    return toolbox


def offspring(toolbox: Any, population: list[Any], cross: float) -> list[Any]:
    """As many children as parents; each pair is either crossed or mutated."""
    children: list[Any] = [toolbox.clone(parent) for parent in toolbox.select(population, len(population))]
    for one in range(0, len(children) - 1, 2):
        if random.random() < cross:
            children[one], children[one + 1] = toolbox.mate(children[one], children[one + 1])
        else:
            for place in (one, one + 1):
                mutate = toolbox.regrow if random.random() < 0.5 else toolbox.replace
                (children[place],) = mutate(children[place])
    return children


def text_of(tree: Any) -> tuple[str, ...]:
    """What tells trees apart: the prefix form, cheaper to write than DEAP's str and as telling."""
    return tuple([node.name for node in tree])


def evolve(toolbox: Any, fitness: Callable[[Any], tuple[float]], options: argparse.Namespace) -> tuple[Any, int]:
    """The best tree, and the number of distinct trees evaluated; ends early if 100 generations bring none."""
    known: dict[tuple[str, ...], tuple[float]] = {}

    def assess(trees: list[Any]) -> int:
        before = len(known)
        for tree in trees:
            key = text_of(tree)
            if key not in known and len(known) < options.evaluations:
                known[key] = fitness(tree)
            tree.fitness.values = known.get(key, (float("inf"),))
        return len(known) - before

    population = toolbox.population(options.population)
    assess(population)
    best, stale = tools.selBest(population, 1)[0], 0
    while len(known) < options.evaluations and stale < 100:
        children = offspring(toolbox, population, options.cross)
        stale = 0 if assess(children) else stale + 1
        best = tools.selBest([best, *children], 1)[0]
        if options.survival == "both":
            distinct = {text_of(tree): tree for tree in population + children}
            population = tools.selBest(list(distinct.values()), options.population)
        else:
            population = [best, *children[1:]]
    return best, len(known)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("seeds", type=int, nargs="+")
    parser.add_argument("--evaluations", type=int, default=10_000)
    parser.add_argument("--core", type=int, help="run on this core only, where the system allows it")
    parser.add_argument("--population", type=int, default=500)
    parser.add_argument("--tournament", type=int, default=7)
    parser.add_argument("--cross", type=float, default=0.5)
    parser.add_argument("--grow", type=int, default=2)
    parser.add_argument("--survival", choices=("children", "both"), default="children")
    options = parser.parse_args()
    if options.core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {options.core})
    data = load(options.data)
    columns = np.ascontiguousarray(np.concatenate(data.records).T)
    starts = np.cumsum([0] + [len(record) for record in data.records[:-1]])
    labels = np.asarray(hard2_labels(data.labels))
    creator.create("Smallest", base.Criterion, weights=(-1.0,))
    creator.create("Individual", gp.PrimitiveTree, fitness=creator.Smallest)
    for seed in options.seeds:
        random.seed(seed)
        begun = time.perf_counter()
        pset = primitives(columns, starts)
        toolbox = toolbox_for(pset, options.tournament, options.grow)
        tree, evaluations = evolve(toolbox, fitness_of(pset, labels), options)
        seconds = time.perf_counter() - begun
        best = tree.fitness.values[0]
        line = {"seed": seed, "best": best, "evaluations": evaluations, "seconds": seconds, "tree": str(tree)}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
