"""Induction: the paper's Algorithm 1, top-down, one search per node, as a queue of nodes still to be split."""

import logging
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from types import FrameType, TracebackType
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from telltree.grammar import Grammar
from telltree.panel import Panel, Schema
from telltree.search import Auto, SearchResult
from telltree.search.search import Remember
from telltree.search.state import State
from telltree.tree.backend import Backend, LocalBackend
from telltree.tree.criterion import MDL, sized_for
from telltree.tree.settings import Greedy, Optimal, TreeSettings
from telltree.tree.split_search import NodeProgress, NodeTask, SplitResult, SplitSearch
from telltree.tree.target import Labels
from telltree.tree.tree import Leaf, Node, Tree

# ---- Ctrl-C while learning: noted at once, acted on where nothing is half done.

T = TypeVar("T")


class Interruption:
    """While it is open, a first Ctrl-C only sets `asked`; a second one interrupts as usual.

    Signals reach only the main thread; in other threads nothing is noted.
    """

    def __init__(self) -> None:
        self.asked = False
        self._before: Any = None
        self._cuts = False

    def __enter__(self) -> "Interruption":
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def unless_asked(self, work: Callable[[], T]) -> T | None:
        """The result of work that may be left at any moment; None if Ctrl-C came, during the work or before."""
        try:
            try:
                self._cuts = True
                return None if self.asked else work()
            finally:
                self._cuts = False
        except KeyboardInterrupt:
            self.asked = True
            return None

    def _note(self, number: int, frame: FrameType | None) -> None:
        again, self.asked = self.asked, True
        if again or self._cuts:
            raise KeyboardInterrupt


# ---- The run of one tree: what surrounds learning, and affects neither questions nor bytes.


class CheckpointStore:
    """Keeps the results of the nodes of a tree. This one keeps nothing; `scale.checkpoint` has one with a file."""

    def result(self, task: NodeTask, split_search: SplitSearch) -> SplitResult | None:
        """The kept result of a node; None if it must be searched."""
        return None

    def unfinished(self, task: NodeTask, cuts: NDArray[np.int64]) -> tuple[State | None, Remember | None]:
        """The state from which the search of a node goes on, and a function that keeps its later states.

        A state holds hashes of splits, so it is of use only if records are cut into shards alike.
        """
        return None, None

    def keep(self, task: NodeTask, result: SplitResult) -> None:
        """Keep the result of a node that was not cut short."""


NO_CHECKPOINT = CheckpointStore()
MakeBackend = Callable[[Panel, Grammar], Backend]


@dataclass(frozen=True)
class Run:
    """The circumstances in which a tree is learned."""

    backend: MakeBackend = LocalBackend
    """Makes the evaluators, for a panel and a grammar."""
    callback: Callable[[NodeProgress], None] | None = None
    checkpoint: CheckpointStore = NO_CHECKPOINT
    nodes_at_once: int = 1
    """The number of nodes searched side by side, each with bitsets of its own. Any number gives the same tree."""


# ---- Growing a tree.

logger = logging.getLogger("telltree")
DEFAULT_SEARCH, DEFAULT_CRITERION, DEFAULT_GROWTH = Auto(), MDL(), Greedy()


class GrowthResult(NamedTuple):
    """The whole tree, which may be pruned, and the results of its searches by node number."""

    tree: Tree
    searches: dict[int, SearchResult]
    interrupted: bool


def grow(
    panel: Panel, labels: Labels, grammar: Grammar, settings: TreeSettings, run: Run | None = None
) -> GrowthResult:
    """Learn the tree of these records."""
    run = Run() if run is None else run
    grammar = sized_for(settings.criterion, grammar)
    with Interruption() as interruption:
        split_search = SplitSearch(panel, labels, grammar, settings, run.callback, lambda: interruption.asked)
        backends = _backends(panel, grammar, settings, run)
        results = _search_all(split_search, backends, run.checkpoint, interruption)
        final, optimum = results, None
        if isinstance(settings.growth, Optimal) and not interruption.asked:
            from telltree.tree.optimal import regrown  # few trees are grown so

            final, optimum = regrown(results, split_search, backends[0])
    if interruption.asked:
        splits = sum(result.split is not None for result in final.values())
        logger.warning("telltree: interrupted; the tree keeps the best splits found so far, %d of them", splits)
    schema = Schema(replace(column, static=column.name in split_search.static) for column in panel.schema.values())
    tree = Tree(_built(final, split_search), schema, split_search.missing, panel.step, panel.how_read, optimum)
    searches = {
        number: result.search
        for number, result in sorted(results.items())
        if result.search is not None and result.search.best is not None
    }
    return GrowthResult(tree, searches, interruption.asked)


def _backends(panel: Panel, grammar: Grammar, settings: TreeSettings, run: Run) -> list[Backend]:
    """A backend for each node that is searched side by side; one that serves several nodes is there several times.

    If each node has some seconds for itself, its backend serves one node at a time.
    """
    made = [run.backend(panel, grammar) for _ in range(run.nodes_at_once)]
    return [one for one in made for _ in range(one.nodes_at_once if settings.search.seconds is None else 1)]


def _search_all(
    split_search: SplitSearch, backends: Sequence[Backend], checkpoint: CheckpointStore, interruption: Interruption
) -> dict[int, SplitResult]:
    """The results of all nodes, by number; as many nodes are searched at once as there are backends."""

    def search(task: NodeTask, backend: Backend) -> SplitResult:
        result = checkpoint.result(task, split_search)
        if result is None:
            result = split_search.find(task, backend, *checkpoint.unfinished(task, backend.cuts))
            interruption.asked |= result.interrupted  # by an exception; the other nodes stay leaves
            if not interruption.asked:
                checkpoint.keep(task, result)
        return result

    results, pending = dict[int, SplitResult](), [NodeTask(1, np.arange(len(split_search.panel)))]
    if len(backends) == 1:
        while pending:
            task = pending.pop()
            results[task.number] = search(task, backends[0])
            pending += reversed(task.children(results[task.number]))
        return results
    free, running = list(backends), dict[Future[SplitResult], tuple[NodeTask, Backend]]()
    with ThreadPoolExecutor(len(backends)) as pool:
        while pending or running:
            while pending and free:
                task, backend = pending.pop(), free.pop()
                running[pool.submit(search, task, backend)] = task, backend
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                task, backend = running.pop(done)
                free.append(backend)
                results[task.number] = done.result()
                pending += reversed(task.children(results[task.number]))
    return results


def _built(results: dict[int, SplitResult], split_search: SplitSearch) -> Node | Leaf:
    """Build the tree from the results of all nodes, from the leaves upwards."""
    made: dict[int, Node | Leaf] = {}
    for number, result in sorted(results.items(), reverse=True):
        if result.split is None:
            made[number] = result.leaf
        else:
            made[number] = split_search.node(result, made.pop(2 * number), made.pop(2 * number + 1))
    return made[1]
