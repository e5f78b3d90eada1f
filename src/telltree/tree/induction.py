"""Induction: the paper's Algorithm 1, top-down, with one search for each node, as a queue of open nodes."""

import logging
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.grammar import Grammar
from telltree.panel import Panel, Schema
from telltree.search import Auto, SearchResult
from telltree.search.search import Remember
from telltree.search.state import State
from telltree.tree.backend import Backend, LocalBackend
from telltree.tree.criterion import MDL, sized_for
from telltree.tree.interruption import Interruption
from telltree.tree.settings import Greedy, Optimal, TreeSettings
from telltree.tree.split_search import NodeProgress, NodeTask, SplitResult, SplitSearch
from telltree.tree.target import Labels
from telltree.tree.tree import Leaf, Node, Tree

logger = logging.getLogger("telltree")
DEFAULT_SEARCH, DEFAULT_CRITERION, DEFAULT_GROWTH = Auto(), MDL(), Greedy()


class GrowthResult(NamedTuple):
    """A grown tree before pruning, and the results of its searches by node number."""

    tree: Tree
    searches: dict[int, SearchResult]
    interrupted: bool


class CheckpointStore:
    """Keeps the results of the nodes of a tree. This one keeps nothing; `scale.checkpoint` has one with a file."""

    def result(self, task: NodeTask, split_search: SplitSearch) -> SplitResult | None:
        """Return the kept result of a node; None if it must be searched."""
        return None

    def unfinished(self, task: NodeTask, cuts: NDArray[np.int64]) -> tuple[State | None, Remember | None]:
        """Return the state from which the search of a node goes on, and a function that keeps its later states.

        A state holds hashes of splits, so it is of use only if records are cut into shards alike.
        """
        return None, None

    def keep(self, task: NodeTask, result: SplitResult) -> None:
        """Keep the result of a node that was not cut short."""


NO_CHECKPOINT = CheckpointStore()


@dataclass(frozen=True)
class TreeRun:
    """The circumstances in which one tree is grown. They do not affect the tree."""

    backend: Callable[[Panel, Grammar], Backend] = LocalBackend
    """Makes the backend that evaluates formulas."""
    callback: Callable[[NodeProgress], None] | None = None
    checkpoint: CheckpointStore = NO_CHECKPOINT


def grow(
    panel: Panel, labels: Labels, grammar: Grammar, settings: TreeSettings, run: TreeRun | None = None
) -> GrowthResult:
    """Grow the tree of these records. Ctrl-C ends it early, with the best splits found so far."""
    run = TreeRun() if run is None else run
    grammar = sized_for(settings.criterion, grammar)
    with Interruption() as interruption:
        split_search = SplitSearch(panel, labels, grammar, settings, run.callback, lambda: interruption.asked)
        backend = run.backend(panel, grammar)
        results = _search_nodes(split_search, backend, run.checkpoint, interruption)
        final, optimum = results, None
        if isinstance(settings.growth, Optimal) and not interruption.asked:
            from telltree.tree.optimal import optimal_splits  # few trees are grown so

            final, optimum = optimal_splits(results, split_search, backend)
    if interruption.asked:
        splits = sum(result.split is not None for result in final.values())
        logger.warning("telltree: interrupted; the tree keeps the best splits found so far, %d of them", splits)
    schema = Schema(replace(column, static=column.name in split_search.static) for column in panel.schema.values())
    root = _build(final, split_search)
    tree = Tree(root, schema, split_search.missing, panel.step, panel.how_read, optimum)
    searches = {
        number: result.search
        for number, result in sorted(results.items())
        if result.search is not None and result.search.best is not None
    }
    return GrowthResult(tree, searches, interruption.asked)


def _search_nodes(
    split_search: SplitSearch, backend: Backend, checkpoint: CheckpointStore, interruption: Interruption
) -> dict[int, SplitResult]:
    """Return the results of all nodes, by number.

    As many nodes are searched side by side as the backend serves; one at a time if each has some seconds for itself.
    """

    def search(task: NodeTask) -> SplitResult:
        result = checkpoint.result(task, split_search)
        if result is None:
            result = split_search.find(task, backend, *checkpoint.unfinished(task, backend.cuts))
            interruption.asked |= result.interrupted  # by an exception; the other nodes stay leaves
            if not interruption.asked:
                checkpoint.keep(task, result)
        return result

    results, pending = dict[int, SplitResult](), [NodeTask(1, np.arange(len(split_search.panel)))]
    side_by_side = backend.nodes_at_once if split_search.settings.search.seconds is None else 1
    if side_by_side == 1:
        while pending:
            task = pending.pop()
            results[task.number] = search(task)
            pending += reversed(task.children(results[task.number]))
        return results
    running = dict[Future[SplitResult], NodeTask]()
    with ThreadPoolExecutor(side_by_side) as pool:
        while pending or running:
            while pending and len(running) < side_by_side:
                task = pending.pop()
                running[pool.submit(search, task)] = task
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                task = running.pop(done)
                results[task.number] = done.result()
                pending += reversed(task.children(results[task.number]))
    return results


def _build(results: dict[int, SplitResult], split_search: SplitSearch) -> Node | Leaf:
    """Build the tree from the results of all nodes, from the leaves upwards."""
    made: dict[int, Node | Leaf] = {}
    for number, result in sorted(results.items(), reverse=True):
        if result.split is None:
            made[number] = result.leaf
        else:
            made[number] = split_search.node(result, made.pop(2 * number), made.pop(2 * number + 1))
    return made[1]
