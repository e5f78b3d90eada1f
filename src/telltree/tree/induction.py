"""Induction: the paper's Algorithm 1, top-down, one search per node, as a queue of open nodes."""

import logging
import signal
import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from types import FrameType, TracebackType
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from telltree.grammar import Grammar
from telltree.panel import Panel, Schema
from telltree.search import Auto, Search, SearchResult
from telltree.search.search import Remember
from telltree.search.state import State
from telltree.tree.criterion import MDL, Criterion, sized_for
from telltree.tree.growth import LookAhead, Optimal
from telltree.tree.out_of_core import local_backend
from telltree.tree.split_search import Backend, Limits, NodeProgress, NodeTask, SplitResult, SplitSearch
from telltree.tree.target import Labels
from telltree.tree.tree import Leaf, Node, Tree

# ---- Ctrl-C while learning: noted at once, acted on where nothing is half done.

T = TypeVar("T")


class Interruption:
    """While it is open, a first Ctrl-C is only noted in `asked`; a second one interrupts as usual.

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
        """What comes of work that can be left at any moment, with nothing done; None if Ctrl-C came, now or before."""
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


# ---- The ledger of a tree: what came of its nodes so far, and how far the search of the node at hand is.
#
# Induction asks it before it asks a node, and tells it afterwards. This one remembers nothing; `scale/checkpoint.py`
# has one that does, in a file.


class CheckpointStore:
    """Remembers nothing."""

    def answer(self, task: NodeTask, split_search: SplitSearch) -> SplitResult | None:
        """What came of a node before; None if it must be asked."""
        return None

    def under_way(self, task: NodeTask, cuts: NDArray[np.int64]) -> tuple[State | None, Remember | None]:
        """The state from which the search of a node goes on, and who is told its later ones.

        A state has hashes of splits, so it is of use only where the records are cut into shards alike.
        """
        return None, None

    def finished(self, task: NodeTask, answer: SplitResult) -> None:
        """Told what came of a node, unless that was cut short."""


NO_CHECKPOINT = CheckpointStore()


# ---- Induction: the paper's Algorithm 1, top-down, one search per node, as a queue of nodes still to be asked.

logger = logging.getLogger("telltree")
DEFAULT_SEARCH, DEFAULT_CRITERION = Auto(), MDL()
MakeBackend = Callable[[Panel, Grammar], Backend]


@dataclass(frozen=True)
class Induction:
    """How to learn a tree."""

    grammar: Grammar
    search: Search
    fitness: Criterion
    limits: Limits
    seed: int
    threads: int = 1
    """Threads for evaluating the formulas of one node."""
    centre: Collection[str] = ()
    """Columns whose constants a chosen formula may move to the middle of their gaps."""
    progress: Callable[[NodeProgress], None] | None = None
    backend: MakeBackend | None = None
    """What evaluates formulas, for a panel and a grammar; None: in this process, with `threads`."""
    nodes_at_once: int = 1
    """Nodes that are searched side by side, each with planes of its own. The tree is the same for any number."""
    checkpoint_store: CheckpointStore = NO_CHECKPOINT
    """What was found out about nodes before, and where to keep what is found out now."""
    growth: Optimal | LookAhead | None = None
    """How the tree is grown; None: greedily, one question at a time."""
    unknown: bool = False
    """Whether an atom on a missing value is unknown, not false."""
    exact: bool = False
    """Whether constants of a chosen formula move to where it is fittest."""
    as_derived: bool = False
    """Whether chosen formulas stay as the search derived them."""

    def run(self, panel: Panel, labels: Labels) -> "GrowthResult":
        """The tree for these records, and what the searches of its nodes found."""
        grammar = sized_for(self.fitness, self.grammar)
        with Interruption() as interruption:
            split_search = SplitSearch(
                panel, labels, grammar, self._search(), self.fitness, self.limits, self.seed, self.centre,
                self.progress, lambda: interruption.asked, self.search.keep,
                self.growth if isinstance(self.growth, LookAhead) else None, self.unknown, self.exact,
                self.as_derived,
            )  # fmt: skip
            backends = [backend for _ in range(self.nodes_at_once) for backend in self._backends(panel, grammar)]

            def ask(task: NodeTask, backend: Backend) -> SplitResult:
                answer = self.checkpoint_store.answer(task, split_search)
                if answer is None:
                    answer = split_search.ask(task, backend, *self.checkpoint_store.under_way(task, backend.cuts))
                    interruption.asked |= answer.interrupted  # by an exception; the other nodes stay leaves
                    if not interruption.asked:
                        self.checkpoint_store.finished(task, answer)
                return answer

            answers = _all_answers(NodeTask(1, np.arange(len(panel))), ask, backends)
            grown, optimum = answers, None
            if isinstance(self.growth, Optimal) and not interruption.asked:
                from telltree.tree.optimal import regrown  # few trees are grown so

                grown, optimum = regrown(answers, self.growth, split_search, backends[0])
        questions = sum(answer.question is not None for answer in grown.values())
        if interruption.asked:
            logger.warning("telltree: interrupted; the tree keeps the best splits found so far, %d of them", questions)
        schema = Schema(replace(column, static=column.name in split_search.static) for column in panel.schema.values())
        tree = Tree(_grown(grown, split_search), schema, split_search.missing, panel.step, panel.how_read, optimum)
        searches = {number: answer.search for number, answer in sorted(answers.items()) if answer.search is not None}
        useful = {number: found for number, found in searches.items() if found.best is not None}
        return GrowthResult(tree, useful, interruption.asked)

    def _search(self) -> Search:
        """The search, which also keeps what a pool of questions takes."""
        if self.growth is None:
            return self.search
        return replace(self.search, keep=max(self.search.keep, self.growth.pool))

    def _backends(self, panel: Panel, grammar: Grammar) -> list[Backend]:
        """A bench, as often as nodes are asked about side by side: one, where each has some seconds for itself."""
        make = self.backend or (lambda panel, grammar: local_backend(panel, grammar, self.threads))
        backend = make(panel, grammar)
        return [backend] * (backend.nodes_at_once if self.search.seconds is None else 1)


class GrowthResult(NamedTuple):
    """What induction returns: the whole tree, which may be pruned; `searches` by node number."""

    tree: Tree
    searches: dict[int, SearchResult]
    interrupted: bool


Ask = Callable[[NodeTask, Backend], SplitResult]


def _all_answers(first: NodeTask, ask: Ask, backends: Sequence[Backend]) -> dict[int, SplitResult]:
    """The results of a node and all below it, by node number; as many at once as there are benches."""
    if len(backends) == 1:
        answers, pending = dict[int, SplitResult](), [first]
        while pending:
            task = pending.pop()
            answers[task.number] = ask(task, backends[0])
            pending += reversed(task.below(answers[task.number]))
        return answers
    return _answers_side_by_side(first, ask, backends)


def _answers_side_by_side(first: NodeTask, ask: Ask, backends: Sequence[Backend]) -> dict[int, SplitResult]:
    """The same with a thread pool, one thread per bench; of one that serves several nodes there are as many."""
    answers, pending, free = dict[int, SplitResult](), [first], list(backends)
    running: dict[Future[SplitResult], tuple[NodeTask, Backend]] = {}
    with ThreadPoolExecutor(len(backends)) as pool:
        while pending or running:
            while pending and free:
                task, backend = pending.pop(), free.pop()
                running[pool.submit(ask, task, backend)] = task, backend
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                task, backend = running.pop(done)
                free.append(backend)
                answers[task.number] = done.result()
                pending += reversed(task.below(answers[task.number]))
    return answers


def _grown(answers: dict[int, SplitResult], split_search: SplitSearch) -> Node | Leaf:
    """Build the tree from all answers, from the leaves upwards."""
    made: dict[int, Node | Leaf] = {}
    for number, answer in sorted(answers.items(), reverse=True):
        if answer.question is None:
            made[number] = answer.leaf
        else:
            made[number] = split_search.node(answer, made.pop(2 * number), made.pop(2 * number + 1))
    return made[1]
