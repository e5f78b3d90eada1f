"""Speed of search: distinct formulas a second, whole loop, at the Auslan root, against plain Python and NumPy."""

import time
from collections import Counter
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

from telltree import Grammar, Panel
from telltree.engine.population_evaluator import PopulationEvaluator
from telltree.grammar.derivation import Population
from telltree.search import CrossEntropy, GeneticProgramming, GrammaticalEvolution, MonteCarlo, Pipe, Scores, Search
from telltree.search.search import Breeder, Task
from telltree.tree import GiniSize
from telltree.tree.class_target import ClassLabels, ClassTarget
from telltree.tree.objective import SplitObjective

ATOMS_WEIGHT = 4.0  # what Grammar.generic takes by itself
DEPTH = 6
ALIKE = 0.02  # by how much sizes may differ


class Root(NamedTuple):
    """The first split of the eight-word data: what a search needs, and the same records for the peer."""

    grammar: Grammar
    evaluator: PopulationEvaluator
    objective: SplitObjective
    table: peer.Table
    codes: list[int]


class Entry(NamedTuple):
    """A search to time, and how many times as fast as the plain peer it should be, if that is asked."""

    name: str
    search: Search
    target: int | None = None
    cold: int | None = None
    """The same where bitsets must be made first."""


class Sizing:
    """An objective that also notes the terminals of what it scores; for runs off the clock."""

    def __init__(self, root: Root) -> None:
        self._root, self._masks = root, root.evaluator.layout.masks([])
        self._terminals: list[NDArray[np.int64]] = []

    def __call__(self, population: Population, wanted: NDArray[np.int64]) -> Scores:
        self._terminals.append(self._root.evaluator.evaluate(population, wanted, self._masks).size)
        return self._root.objective(population, wanted)

    def mean(self) -> float:
        """Terminals of the formulas scored so far, on average."""
        return float(np.concatenate(self._terminals).mean())


class Peer(NamedTuple):
    """What a peer must be told to try as many distinct formulas as a search does, of like size."""

    evaluations: int
    atoms_weight: float
    terminals: float

    @classmethod
    def like(cls, root: Root, evaluations: int, terminals: float) -> "Peer":
        """Atoms weigh more until the peer's formulas are as small, or less until they are as large."""
        weight, low, high = ATOMS_WEIGHT, 1.0, 64.0
        while True:
            made = cls(evaluations, weight, 0.0)
            made = made._replace(terminals=_mean_size(made.run(root, 0, cache=False).sizes))
            if abs(made.terminals / terminals - 1) < ALIKE:
                return made
            if high / low < 1.001:
                raise RuntimeError(f"no weight gives the peer formulas of {terminals:.1f} terminals")
            low, high = (weight, high) if made.terminals > terminals else (low, weight)
            weight = (low * high) ** 0.5

    def run(self, root: Root, seed: int, *, cache: bool) -> peer.Outcome:
        weights = 1, 1, 1, 1, self.atoms_weight
        return peer.search(
            root.table, root.codes, self.evaluations, seed=seed, weights=weights, depth=DEPTH, cache=cache
        )  # fmt: skip


def rows(quick: bool) -> list[Row]:
    repeats = 2 if quick else 5
    root = _root()
    entries = [
        Entry("Monte Carlo", MonteCarlo(evaluations=100_000, max_depth=DEPTH), 60, 60),
        Entry("genetic programming, the paper's settings", GeneticProgramming.paper(), 30),
        Entry("grammatical evolution, the paper's settings", GrammaticalEvolution.paper()),
        Entry("genetic programming, default settings", GeneticProgramming(), 20, 25),
        Entry("cross-entropy, default settings", CrossEntropy()),
        Entry("PIPE, default settings", Pipe()),
    ]
    if quick:
        entries = [entry._replace(search=replace(entry.search, evaluations=5_000)) for entry in entries]
    runs = [_run_of(root, entry.search) for entry in entries]  # compiles too, and makes the bitsets
    peers = [Peer.like(root, run.evaluations, run.terminals) for run in runs]
    jobs = [_telltree(root, entry.search, cold=cold) for cold in (False, True) for entry in entries]
    jobs += [_peer(root, like, cache) for cache in (False, True) for like in peers]
    best = in_turn(repeats, jobs)
    times = (Times(*best[k :: len(entries)]) for k in range(len(entries)))
    made = [
        _rows(entry, run, like, taken, repeats=repeats)
        for entry, run, like, taken in zip(entries, runs, peers, times, strict=True)
    ]
    return [row for pair in made for row in pair]


class Times(NamedTuple):
    """Seconds a distinct formula."""

    own: float
    cold: float  # with the making of bitsets
    plain: float  # of the peer
    cached: float  # of the peer, if it keeps the answers of atoms


def _rows(entry: Entry, run: "Run", like: Peer, times: Times, *, repeats: int) -> tuple[Row, Row]:
    """One search against the peer, with bitsets at hand and without."""
    own, cold, plain, cached = times
    with_planes = Row(
        f"{entry.name}, bitsets at hand",
        f"≥ {entry.target} ×" if entry.target else "",
        f"{1 / own:,.0f}/s",
        f"distinct formulas a second, a whole run of {run.evaluations:,} from {run.proposed / run.evaluations:.3g} "
        f"children each ({run.proposed / run.evaluations / own:,.0f} children/s; both of the first seed), best of "
        f"{repeats} seeds; {run.terminals:.1f} terminals a formula. The peer: depth {DEPTH} and as many distinct "
        f"formulas too, {like.terminals:.1f} terminals, because its atoms are {like.atoms_weight:.2g} times as "
        f"frequent as a connective; {1 / cached:,.0f}/s if it keeps the answers of atoms, none at first "
        f"({cached / own:.3g} ×)",
        plain / own,
        f"NumPy Monte Carlo {1 / plain:,.0f}/s",
        plain / own >= entry.target if entry.target else None,
    )
    without = Row(
        f"{entry.name}, bitsets made on the way",
        f"≥ {entry.cold} ×" if entry.cold else "",
        f"{1 / cold:,.0f}/s",
        "the same with a new engine for each run, as at a tree's root: its first formulas wait for their bitsets",
        plain / cold,
        f"NumPy Monte Carlo {1 / plain:,.0f}/s",
        plain / cold >= entry.cold if entry.cold else None,
    )
    return with_planes, without


class Run(NamedTuple):
    """What a run of a search comes to: distinct formulas tried, proposed to find them, and their mean size."""

    evaluations: int
    proposed: int
    terminals: float


class Watched:
    """A breeder that counts what it proposes."""

    def __init__(self, breeder: Breeder) -> None:
        self._breeder, self.proposed = breeder, 0

    def propose(self, generation: int) -> Population:
        population = self._breeder.propose(generation)
        self.proposed += np.count_nonzero(population.lengths)  # others are left out
        return population

    def learn(self, population: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        self._breeder.learn(population, fitness, answer)


def _run_of(root: Root, search: Search) -> Run:
    """Watch a run, off the clock."""
    watched: list[Watched] = []
    make = type(search).breeder

    def breeder(own: Search, task: Task) -> Watched:
        watched.append(Watched(make(own, task)))
        return watched[-1]

    sizing = Sizing(root)
    with patch.object(type(search), "breeder", breeder):
        found = search.run(root.grammar, sizing, 0)
    return Run(found.evaluations, watched[0].proposed, sizing.mean())


def _mean_size(sizes: Counter[int]) -> float:
    return sum(size * number for size, number in sizes.items()) / sizes.total()


def _root() -> Root:
    data = load()
    panel = Panel.from_arrays(data.records, columns=data.columns)
    codes = np.unique(data.labels, return_inverse=True)[1].tolist()
    grammar = Grammar.generic(panel, atoms_weight=ATOMS_WEIGHT)
    evaluator, objective = _objective(grammar, panel, codes)
    return Root(grammar, evaluator, objective, peer.concatenate(data.records), codes)


def _objective(grammar: Grammar, panel: Panel, codes: list[int]) -> tuple[PopulationEvaluator, SplitObjective]:
    """An engine without bitsets, and the objective of a first split."""
    evaluator = PopulationEvaluator(panel, grammar.rules, grammar.tables)
    return evaluator, SplitObjective(
        evaluator, ClassLabels(np.array(codes), ClassTarget(tuple(range(max(codes) + 1)))), GiniSize()
    )


def _peer(root: Root, like: Peer, cache: bool) -> Callable[[int], float]:
    def run(seed: int) -> float:
        done = like.run(root, seed, cache=cache)
        return done.seconds / done.evaluations

    return run


def _telltree(root: Root, search: Search, *, cold: bool) -> Callable[[int], float]:
    def run(seed: int) -> float:
        begun = time.process_time()  # the whole call: a run's own clock leaves out its preparations
        objective = _objective(root.grammar, root.evaluator.panel, root.codes)[1] if cold else root.objective
        done = search.run(root.grammar, objective, seed)
        return (time.process_time() - begun) / done.evaluations

    return run
