"""Trees that must come out the same however they are computed. Run as a script, this file records them anew."""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

from telltree import Grammar, GrammarTreeClassifier, Panel
from telltree.datasets import load_acasx, make_encounters
from telltree.search import GeneticProgramming, GrammaticalEvolution, MonteCarlo
from telltree.tree import MDL, GiniSize, Greedy

FILE = Path(__file__).parents[1] / "tree" / "golden" / "trees.json"
PAPER = {"criterion": GiniSize(), "max_depth": 4, "min_samples_leaf": 1, "growth": Greedy(thresholds="midpoint")}

STRICT = {"criterion": MDL(leniency=0)}


def gaps():
    """Records of mixed columns and unequal lengths, some values missing."""
    rng = np.random.default_rng(5)
    lengths = rng.integers(1, 80, 300)
    rows = int(lengths.sum())
    speed, height = np.cumsum(rng.normal(size=rows)), rng.normal(size=rows) * 100
    height[rng.random(rows) < 0.1] = np.nan
    table = {
        "id": np.repeat(np.arange(300), lengths),
        "speed": speed,
        "height": height,
        "open": rng.random(rows) < 0.3,
        "mode": rng.choice(["fill", "purge", "rest"], rows),
    }
    panel = Panel.from_frame(pa.table(table), id="id")
    high = np.array([np.nanmax(panel.values("speed", k)) for k in range(300)])
    return panel, np.where(high > np.median(high), "bad", rng.choice(["good", "fair"], 300))


def acasx():
    return tuple(load_acasx())[:2]


def encounters():
    return tuple(make_encounters(600, 120, 3))[:2]


CASES = {
    "generic, genetic programming, gaps": (gaps, "generic", GeneticProgramming(evaluations=3_000), PAPER),
    "generic, Monte Carlo, gaps": (gaps, "generic", MonteCarlo(evaluations=3_000), PAPER),
    "generic, grammatical evolution, gaps": (gaps, "generic", GrammaticalEvolution(evaluations=1_000), PAPER),
    "generic, genetic programming, acasx": (acasx, "generic", GeneticProgramming(evaluations=3_000), PAPER),
    "generic, genetic programming, encounters": (encounters, "generic", GeneticProgramming(evaluations=3_000), PAPER),
    "fitted, gaps": (gaps, "for_panel", GeneticProgramming(evaluations=3_000), STRICT),
    "fitted, acasx": (acasx, "for_panel", GeneticProgramming(evaluations=3_000), STRICT),
}


def grammar_of(panel, labels, language):
    codes = np.unique(labels, return_inverse=True)[1]
    return Grammar.generic(panel) if language == "generic" else Grammar.for_panel(panel, codes)


def grown(name):
    """Return the formulas of a tree, node by node, before any of it is pruned."""
    data, language, search, settings = CASES[name]
    panel, labels = data()
    grammar = grammar_of(panel, labels, language)
    model = GrammarTreeClassifier(grammar=grammar, search=search, random_state=1, **settings).fit(panel, labels)
    tree = model.pruning_path_.whole
    return [
        [str(node.formula), list(node.summary.counts), node.fitness, node.robustness, _texts(node.runners_up)]
        for node in tree.nodes
    ]


def _texts(runners_up):
    return [str(other.formula) for other in runners_up]


if __name__ == "__main__":
    found = {name: grown(name) for name in sys.argv[1:] or CASES}
    FILE.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n")
