"""Speed of search: distinct formulas a second, whole loop, at the Auslan root, against plain Python and NumPy."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from auslan import load
from numpy.typing import NDArray
from peers import numpy_monte_carlo as peer
from results import Row
from timing import in_turn

from telltree import GeneticProgramming, GiniSize, Grammar, GrammaticalEvolution, MonteCarlo, Panel
from telltree.grammar.population import Population
from telltree.logic.engine import Engine
from telltree.search import Scores, Search
from telltree.search.memory import Memory
from telltree.search.search import Breeder
from telltree.tree.objective import Labels, SplitObjective

ATOMS_WEIGHT = 4.0  # what Grammar.for_panel takes by itself
DEPTH = 6


class Root(NamedTuple):
    """The first split of the eight-word data: what a search needs, and the same records for the peer."""

    grammar: Grammar
    engine: Engine
    objective: SplitObjective
    table: peer.Table
    codes: list[int]


class Entry(NamedTuple):
    """A search to time, and how many times as fast as the plain peer it should be."""

    name: str
    search: Search
    target: int


class Sizing:
    """An objective that also notes the terminals of what it scores; for runs off the clock."""

    def __init__(self, root: Root) -> None:
        self._root, self._masks = root, root.engine.layout.masks([])
        self._terminals: list[NDArray[np.int64]] = []

    def __call__(self, population: Population, wanted: NDArray[np.int64]) -> Scores:
        self._terminals.append(self._root.engine.evaluate(population, wanted, self._masks).size)
        return self._root.objective(population, wanted)

    def mean(self) -> float:
        """Terminals of the formulas scored so far, on average."""
        return float(np.concatenate(self._terminals).mean())


def rows(quick: bool) -> list[Row]:
    repeats = 2 if quick else 5
    root = _root()
    entries = [
        Entry("Monte Carlo", MonteCarlo(evaluations=100_000, max_depth=DEPTH), 60),
        Entry("genetic programming, the paper's settings", GeneticProgramming.paper(), 30),
        Entry("grammatical evolution, the paper's settings", GrammaticalEvolution.paper(), 30),
        Entry("genetic programming, default settings", GeneticProgramming(), 20),
    ]
    if quick:
        entries = [entry._replace(search=replace(entry.search, evaluations=5_000)) for entry in entries]
    for entry in entries:  # compiles, and makes the planes
        entry.search.run(root.grammar, root.objective, 0)
    # Small formulas run out, so distinct ones grow with their number: a peer must try as many to be alike in size.
    budgets = sorted({entry.search.evaluations or 0 for entry in entries})
    jobs = [_peer(root, budget, cache) for budget in budgets for cache in (False, True)]
    jobs += [_telltree(root, entry.search) for entry in entries]
    best = in_turn(repeats, jobs)
    peers = {budget: (best[2 * k], best[2 * k + 1]) for k, budget in enumerate(budgets)}
    ours = best[2 * len(budgets) :]
    return [
        _row(root, entry, own, *peers[entry.search.evaluations or 0], repeats=repeats)
        for entry, own in zip(entries, ours, strict=True)
    ]


def _row(root: Root, entry: Entry, own: float, plain: float, cached: float, *, repeats: int) -> Row:
    """One search against the peer; all are seconds a distinct formula. The sizes are found off the clock."""
    sizing = Sizing(root)
    evaluations, proposed = _proposed(root, entry.search, sizing)
    sizes = peer.search(root.table, root.codes, evaluations, weights=_weights(), depth=DEPTH).sizes
    of_peer = sum(size * number for size, number in sizes.items()) / sizes.total()
    return Row(
        f"search: {entry.name}, Auslan root",
        f"≥ {entry.target} ×",
        f"{1 / own:,.0f}/s, {sizing.mean():.1f} terminals",
        f"distinct formulas a second, whole run of {evaluations:,} ({proposed / evaluations:.3g} proposed for each), "
        f"planes made before, best of {repeats} seeds; both: depth {DEPTH}, as many distinct formulas, atoms "
        f"{ATOMS_WEIGHT:g} times as often as a connective",
        plain / own,
        f"NumPy Monte Carlo {1 / plain:,.0f}/s, {of_peer:.1f} terminals; {1 / cached:,.0f}/s if it keeps the answers "
        f"of atoms ({cached / own:.3g} ×)",
        plain / own >= entry.target,
    )


class Watched:
    """A breeder that counts what it proposes."""

    def __init__(self, breeder: Breeder) -> None:
        self._breeder, self.proposed = breeder, 0

    def propose(self, generation: int) -> Population:
        population = self._breeder.propose(generation)
        self.proposed += len(population.lengths)
        return population

    def learn(self, population: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        self._breeder.learn(population, fitness, answer)


def _proposed(root: Root, search: Search, objective: Sizing) -> tuple[int, int]:
    """Distinct formulas that a run tries, and how many it proposes to find them."""
    watched: list[Watched] = []
    make = type(search).breeder

    def breeder(own: Search, grammar: Grammar, seed: int, memory: Memory) -> Watched:
        watched.append(Watched(make(own, grammar, seed, memory)))
        return watched[-1]

    with patch.object(type(search), "breeder", breeder):
        found = search.run(root.grammar, objective, 0)
    return found.evaluations, watched[0].proposed


def _root() -> Root:
    data = load()
    panel = Panel.from_arrays(data.records, columns=data.columns)
    classes, codes = np.unique(data.labels, return_inverse=True)
    grammar = Grammar.for_panel(panel, atoms_weight=ATOMS_WEIGHT)
    engine = Engine(panel, grammar.rules, grammar.tables)
    objective = SplitObjective(engine, Labels(codes, len(classes)), GiniSize())
    return Root(grammar, engine, objective, peer.concatenate(data.records), codes.tolist())


def _weights() -> tuple[float, ...]:
    return 1, 1, 1, 1, ATOMS_WEIGHT


def _peer(root: Root, evaluations: int, cache: bool) -> Callable[[int], float]:
    def run(seed: int) -> float:
        done = peer.search(
            root.table, root.codes, evaluations, seed=seed, weights=_weights(), depth=DEPTH, cache=cache
        )  # fmt: skip
        return done.seconds / done.evaluations

    return run


def _telltree(root: Root, search: Search) -> Callable[[int], float]:
    def run(seed: int) -> float:
        begun = time.perf_counter()  # the whole call: a run's own clock leaves out its preparations
        done = search.run(root.grammar, root.objective, seed)
        return (time.perf_counter() - begun) / done.evaluations

    return run
