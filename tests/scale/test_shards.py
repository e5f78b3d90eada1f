"""A tree grown on records in several shards is the tree grown on all of them at once."""

import threading
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.strategies import Column, panel_of

from telltree import Formula, Grammar
from telltree.engine.formula_evaluator import FormulaEvaluator, signals_of
from telltree.scale.out_of_core import OutOfCoreShards
from telltree.scale.shards import Shard, ShardedBackend, ShardPlaces, answered
from telltree.search import Auto, Exhaustive, GeneticProgramming, MonteCarlo
from telltree.tree import MDL, GiniSize, TreeSettings, grow, objective
from telltree.tree.backend import LocalBackend
from telltree.tree.class_target import ONE, ClassLabels, ClassTarget
from telltree.tree.induction import TreeRun

COLUMNS = (Column("x", "real"), Column("on", "Boolean"), Column("mode", "categorical"))
GRAMMAR = """
Start ::= F(B) | G(B) | count(B) > 1 | count(B) > 3 | F(B) and not G(B)
B ::= x < grid(5) | x > grid(5) | on | mode = "up" | missing(x) | B and B
"""


def drawn_panel(seed, records, missing):
    rng = np.random.default_rng(seed)
    found = []
    for length in rng.integers(1, 9, records).tolist():
        x = np.where(rng.random(length) < missing, np.nan, rng.normal(size=length).round(1))
        found.append(
            {
                "x": [None if np.isnan(value) else value for value in x.tolist()],
                "on": (rng.random(length) < 0.3).tolist(),
                "mode": rng.choice(["up", "down"], length).tolist(),
            }
        )
    return panel_of(COLUMNS, found)


class InProcess(ShardPlaces):
    """Shards as workers have them, asked one after the other."""

    def __init__(self, panel, grammar, bounds):
        super().__init__(bounds)
        self._shards = [Shard(LocalBackend(panel[low:high], grammar)) for low, high in pairwise(bounds)]

    def ask(self, messages):
        return [answered(self._shards[message.shard], message) for message in messages]


def in_shards(bounds, places=InProcess):
    def backend(panel, grammar):
        return ShardedBackend(places(panel, grammar, bounds), panel.schema, grammar, signals_of(panel).deviation)

    return backend


def in_turns(panel, grammar, bounds):
    """Shards of which one is in memory at a time, with room for few bitsets."""
    return OutOfCoreShards(panel, grammar, bounds, threads=1, memory=1)


class Nested(InProcess):
    """Shards as workers have them if their bitsets do not fit into memory: each is cut into some that take turns."""

    def __init__(self, panel, grammar, bounds):
        super().__init__(panel, grammar, bounds)
        parts = [panel[low:high].alone() for low, high in pairwise(bounds)]
        inner = [sorted({*range(0, len(part), 64), len(part)}) for part in parts]
        self._shards = [
            Shard(ShardedBackend(in_turns(part, grammar, cuts), panel.schema, grammar, _unknown))
            for part, cuts in zip(parts, inner, strict=True)
        ]


class SideBySide(InProcess):
    """Shards that are asked about several nodes in turn, more than they keep in mind."""

    nodes_at_once = 5

    def __init__(self, panel, grammar, bounds):
        super().__init__(panel, grammar, bounds)
        self._lock = threading.Lock()

    def ask(self, messages):
        with self._lock:
            return super().ask(messages)


def _unknown(signal):
    raise AssertionError(f"the spread of {signal} is that of all records, which a shard does not know by itself")


TARGET = ClassTarget(("a", "b", "c"))


def grown(panel, labels, backend, fitness, search):
    settings = TreeSettings(search, fitness, max_depth=3, movable=frozenset("x"), seed=7)
    learned = grow(panel, labels, Grammar.parse(GRAMMAR, panel), settings, TreeRun(backend or LocalBackend))
    searches = {
        number: (found.runners_up, [best for best, _ in found.by_size], found.proof)
        for number, found in learned.searches.items()
    }
    return learned.tree, searches


@examples(40)
@given(
    st.integers(0, 2**32),
    st.integers(2, 300),
    st.sampled_from([0.0, 0.3]),
    st.lists(st.integers(1, 299), max_size=4),
    st.sampled_from([GiniSize(), GiniSize(size="nodes"), MDL()]),
    st.sampled_from(
        [
            MonteCarlo(evaluations=60),
            GeneticProgramming(evaluations=120, population=30),
            Exhaustive(),
            Auto(evaluations=300),
        ]
    ),
    st.booleans(),
    st.sampled_from([InProcess, in_turns, Nested, SideBySide]),
)
def test_shards_of_any_size_grow_the_tree_of_all_records(  # noqa: PLR0917  one for each thing that is drawn
    seed, records, missing, cuts, fitness, search, weighed, places
):
    panel = drawn_panel(seed, records, missing)
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, records) * ONE if weighed else None
    labels = ClassLabels(rng.integers(0, 3, records), TARGET, weights)
    bounds = sorted({0, records, *(cut for cut in cuts if cut < records)})
    with patch.object(objective, "_EACH", 20):  # so that Auto draws a sample
        whole = grown(panel, labels, None, fitness, search)
        assert grown(panel, labels, in_shards(bounds, places), fitness, search) == whole


def test_a_node_may_have_no_records_in_a_shard():
    """Sorted by what tells the classes apart, each side of the first question is in one shard alone."""
    panel = drawn_panel(0, 200, 0.0)
    order = np.argsort([bool(panel.values("on", k).any()) for k in range(len(panel))], kind="stable")
    panel = panel[order]
    labels = ClassLabels(np.array([int(panel.values("on", k).any()) for k in range(len(panel))]), TARGET)
    noisy = labels.codes.copy()
    noisy[::7] = 2
    labels = ClassLabels(noisy, TARGET)
    first = int(np.flatnonzero(labels.codes == 1)[0])
    bounds = [0, first, len(panel)]
    assert all(low < high for low, high in pairwise(bounds))
    search = MonteCarlo(evaluations=200)
    assert grown(panel, labels, in_shards(bounds), GiniSize(), search) == grown(panel, labels, None, GiniSize(), search)


def test_margins_of_shards_are_in_units_of_all_records():
    panel = drawn_panel(3, 130, 0.1)
    grammar = Grammar.parse(GRAMMAR, panel)
    formulas = [Formula.parse(text, panel.schema).expression for text in ("F(x > 0.25)", "G(x < 1 or on)", "F(on)")]
    asked = in_shards([0, 5, 70, 130])(panel, grammar).formulas(np.arange(len(panel)))
    whole = FormulaEvaluator(panel).robustness(formulas)
    widest = asked.robustness(formulas, cutoff=float(np.sort(whole)[1]))
    assert widest[whole >= np.sort(whole)[1]].tolist() == whole[whole >= np.sort(whole)[1]].tolist()
    assert (widest >= whole).all()
    assert asked.robustness(formulas).tolist() == pytest.approx(
        FormulaEvaluator(panel).robustness(formulas).tolist(), abs=0
    )
