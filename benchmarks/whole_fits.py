"""Whole fits to be timed: records, labels, a grammar and a depth. Only what is public is used, so that versions of
telltree that are laid out differently can be compared (`against.py`).
"""

from collections.abc import Callable
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from auslan import default_folder
from numpy.typing import NDArray
from walks import random_walks

from telltree import Grammar, GrammarTreeClassifier, Panel
from telltree.datasets import load_acasx, make_encounters
from telltree.tree import GiniSize, Greedy


class Case(NamedTuple):
    """What a tree is learnt from, and how deep."""

    name: str
    panel: Panel
    labels: NDArray[np.int64]
    grammar: Grammar
    depth: int

    def fit(self, records: int | None = None, seed: int = 0) -> GrammarTreeClassifier:
        """Learn a tree, from all records or from the first ones."""
        model = GrammarTreeClassifier(
            self.grammar,
            criterion=GiniSize(),
            min_samples_leaf=1,
            growth=Greedy(thresholds="midpoint"),
            max_depth=self.depth,
            random_state=seed,
        )
        return model.fit(self.panel[:records], self.labels[:records])


def acasx(few: int) -> Case | None:
    """Encounters of the paper, in its own language; None where they are not at hand."""
    home = default_folder() / "acasx"
    if not home.exists():
        return None
    panel, y = load_acasx(home)
    panel, y = panel[: 7_000 // few], y[: 7_000 // few]
    text = (files("telltree.experiments") / "acasx.bnf").read_text(encoding="utf-8")
    return Case(f"{len(panel):,} encounters of acasx, the paper's grammar", panel, y, Grammar.parse(text, panel), 4)


def simulated(few: int) -> Case:
    """Encounters of the simulator, in the generic language."""
    panel, y, _ = make_encounters(7_000 // few, 604 // few, 0)
    return Case(f"{len(panel):,} simulated encounters, generic grammar", panel, y, Grammar.generic(panel), 4)


def walks(few: int) -> Case:
    """Random walks with labels that nothing explains, so that no level ends."""
    panel = Panel.from_arrays(random_walks(20_000 // few, 5), layout="records, steps, columns")
    coins = np.random.default_rng(1).integers(0, 8, len(panel))
    return Case(f"{len(panel):,} × 50 × 5 random walks, eight classes", panel, coins, Grammar.generic(panel), 6)


CASES: dict[str, Callable[[int], Case | None]] = {"acasx": acasx, "simulated": simulated, "walks": walks}
"""Each for how many times fewer records than it has."""
