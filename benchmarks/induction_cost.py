"""How the cost of a tree grows with its depth: O(m N d), because a level of nodes holds each record once at most."""

import time
from dataclasses import dataclass, field

import numpy as np
from auslan import load
from results import Row
from walks import random_walks

from telltree import GrammarTreeClassifier, Panel
from telltree.search import GeneticProgramming
from telltree.tree import NodeProgress

DEPTH = 6


@dataclass
class Levels:
    """Notes the last report of every node."""

    nodes: dict[int, NodeProgress] = field(default_factory=dict)

    def __call__(self, told: NodeProgress) -> None:
        self.nodes[told.node] = told

    def sums(self) -> list[tuple[int, int, float]]:
        """By level: records searched, evaluations times records, seconds of search."""
        levels: list[list[NodeProgress]] = [[] for _ in range(1 + max(told.depth for told in self.nodes.values()))]
        for told in self.nodes.values():
            levels[told.depth].append(told)
        return [
            (
                sum(told.records for told in level),
                sum(told.records * told.search.evaluations for told in level),
                sum(told.search.seconds for told in level),
            )
            for level in levels
        ]


def rows(quick: bool) -> list[Row]:
    data = load()
    auslan = Panel.from_arrays(data.records, columns=data.columns)
    records = 2_000 if quick else 20_000
    walks = Panel.from_arrays(random_walks(records, 5), layout="records, steps, columns")
    coins = np.random.default_rng(1).integers(0, 8, records)  # labels that nothing explains, so that no level ends
    return [
        _row("Auslan", auslan, np.array(data.labels)),
        _row(f"{records:,} random walks × 5 attributes, eight random classes", walks, coins),
    ]


def _row(name: str, panel: Panel, labels: np.ndarray) -> Row:
    levels = Levels()
    search = GeneticProgramming()
    model = GrammarTreeClassifier(search=search, max_depth=DEPTH, random_state=0, callback=levels)
    begun = time.perf_counter()
    model.fit(panel, labels)
    whole = time.perf_counter() - begun
    sums = levels.sums()
    most = search.evaluations or 0
    times = ", ".join(f"{seconds:.2f}" for _, _, seconds in sums)
    return Row(
        name,
        "shown",
        "records by level: " + ", ".join(f"{records:,}" for records, _, _ in sums),
        f"m = {most:,} evaluations a node, N = {len(panel):,} records; m N by level: "
        + ", ".join(f"{work / (most * len(panel)):.2f}" for _, work, _ in sums)
        + f"; seconds of search by level: {times}; whole tree of {len(model.tree_.nodes)} nodes {whole:.2f} s",
    )
