"""Quality of search on hard2, two labels that are hard to tell apart, against DEAP's genetic programming.

Searches that learn which rules are good are measured against Monte Carlo, with as many evaluations.
"""

from statistics import median

import numpy as np
from auslan import default_folder, hard2_labels, load
from machine import core_in_use
from peers.run_deap import run_deap
from results import Row

from telltree import Grammar, Panel
from telltree.engine.population_evaluator import PopulationEvaluator
from telltree.search import Auto, CrossEntropy, GeneticProgramming, MonteCarlo, Pipe, Search
from telltree.tree import GiniSize
from telltree.tree.class_target import ClassLabels, ClassTarget
from telltree.tree.objective import SplitObjective

EVALUATIONS = 10_000
TARGETS = {GeneticProgramming: (24.0, 10.0), Auto: (20.0, 5.0)}
"""For so many evaluations, and for as long as DEAP takes."""


def rows(quick: bool) -> list[Row]:
    seeds = range(3 if quick else 25)
    theirs = run_deap(default_folder(), seeds, EVALUATIONS, core_in_use())
    best, taken = median(run["best"] for run in theirs), median(run["seconds"] for run in theirs)
    peer = f"DEAP {best:.1f} in {taken:.2f} s"
    how = f"fitness (less is better) with terminals as size, median of {len(seeds)} seeds, least to greatest "
    found = []
    for search, (target, target_in_time) in TARGETS.items():
        _best(search(evaluations=1_000), range(1))  # compiles
        ours = _best(search(evaluations=EVALUATIONS), seeds)
        in_time = _best(search(evaluations=None, seconds=taken), seeds)
        found += [
            Row(f"{search.__name__}, {EVALUATIONS:,} evaluations", f"≤ {target:g}", f"{median(ours):.1f}",
                how + _span(ours), peer=peer, met=median(ours) <= target),
            Row(f"{search.__name__}, as long as DEAP takes, {taken:.2f} s", f"≤ {target_in_time:g}",
                f"{median(in_time):.2g}", how + _span(in_time), peer=peer, met=median(in_time) <= target_in_time),
        ]  # fmt: skip
    return found + learning_rows(seeds)


def learning_rows(seeds: range) -> list[Row]:
    """Searches that learn, each to be better than chance."""
    chance = _best(MonteCarlo(evaluations=EVALUATIONS), seeds)
    how = f"fitness (less is better) with terminals as size, median of {len(seeds)} seeds, least to greatest "
    found = []
    for name, search in {"cross-entropy": CrossEntropy, "PIPE": Pipe}.items():
        ours = _best(search(evaluations=EVALUATIONS), seeds)
        target = "better than chance"
        found.append(
            Row(f"{name}, {EVALUATIONS:,} evaluations", target, f"{median(ours):.1f}", how + _span(ours),
                peer=f"Monte Carlo {median(chance):.1f} ({_span(chance)})", met=median(ours) < median(chance)),
        )  # fmt: skip
    return found


def _span(values: list[float]) -> str:
    return f"{min(values):.1f} to {max(values):.1f}"


def _best(search: Search, seeds: range) -> list[float]:
    """The best fitness by seed; each run makes its own planes, within its time."""
    data = load()
    panel = Panel.from_arrays(data.records, columns=data.columns)
    grammar = Grammar.generic(panel)
    labels = ClassLabels(np.array(hard2_labels(data.labels)), ClassTarget((0, 1)))
    found = []
    for seed in seeds:
        evaluator = PopulationEvaluator(panel, grammar.rules, grammar.tables)
        objective = SplitObjective(evaluator, labels, GiniSize(size="terminals"))
        best = search.run(grammar, objective, seed).best
        found.append(float("inf") if best is None else best.fitness)
    return found
