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
from telltree.search import Auto, Found, Search
from telltree.search.search import Remember
from telltree.search.state import State
from telltree.tree.criterion import Bits, Fitness, sized_for
from telltree.tree.growth import LookAhead, Optimal
from telltree.tree.out_of_core import local_bench
from telltree.tree.split_search import Asking, Bench, Limits, NodeProgress, NodeTask, SplitResult
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


class Ledger:
    """Remembers nothing."""

    def answer(self, task: NodeTask, asking: Asking) -> SplitResult | None:
        """What came of a node before; None if it must be asked."""
        return None

    def under_way(self, task: NodeTask, cuts: NDArray[np.int64]) -> tuple[State | None, Remember | None]:
        """The state from which the search of a node goes on, and who is told its later ones.

        A state has hashes of splits, so it is of use only where the records are cut into shards alike.
        """
        return None, None

    def finished(self, task: NodeTask, answer: SplitResult) -> None:
        """Told what came of a node, unless that was cut short."""


NO_LEDGER = Ledger()


# ---- Induction: the paper's Algorithm 1, top-down, one search per node, as a queue of nodes still to be asked.

logger = logging.getLogger("telltree")
DEFAULT_SEARCH, DEFAULT_FITNESS = Auto(), Bits()
MakeBench = Callable[[Panel, Grammar], Bench]


@dataclass(frozen=True)
class Induction:
    """How to learn a tree."""

    grammar: Grammar
    search: Search
    fitness: Fitness
    limits: Limits
    seed: int
    threads: int = 1
    """Threads for evaluating the formulas of one node."""
    centre: Collection[str] = ()
    """Columns whose constants a chosen formula may move to the middle of their gaps."""
    progress: Callable[[NodeProgress], None] | None = None
    bench: MakeBench | None = None
    """What evaluates formulas, for a panel and a grammar; None: in this process, with `threads`."""
    nodes_at_once: int = 1
    """Nodes that are searched side by side, each with planes of its own. The tree is the same for any number."""
    ledger: Ledger = NO_LEDGER
    """What was found out about nodes before, and where to keep what is found out now."""
    growth: Optimal | LookAhead | None = None
    """How the tree is grown; None: greedily, one question at a time."""
    unknown: bool = False
    """Whether an atom on a missing value is unknown, not false."""
    exact: bool = False
    """Whether constants of a chosen formula move to where it is fittest."""
    as_derived: bool = False
    """Whether chosen formulas stay as the search derived them."""

    def run(self, panel: Panel, labels: Labels) -> "Learned":
        """The tree for these records, and what the searches of its nodes found."""
        grammar = sized_for(self.fitness, self.grammar)
        with Interruption() as interruption:
            asking = Asking(
                panel, labels, grammar, self._search(), self.fitness, self.limits, self.seed, self.centre,
                self.progress, lambda: interruption.asked, self.search.keep,
                self.growth if isinstance(self.growth, LookAhead) else None, self.unknown, self.exact,
                self.as_derived,
            )  # fmt: skip
            benches = [bench for _ in range(self.nodes_at_once) for bench in self._benches(panel, grammar)]

            def ask(task: NodeTask, bench: Bench) -> SplitResult:
                answer = self.ledger.answer(task, asking)
                if answer is None:
                    answer = asking.ask(task, bench, *self.ledger.under_way(task, bench.cuts))
                    interruption.asked |= answer.interrupted  # by an exception; the other nodes stay leaves
                    if not interruption.asked:
                        self.ledger.finished(task, answer)
                return answer

            answers = _all_answers(NodeTask(1, np.arange(len(panel))), ask, benches)
            grown, optimum = answers, None
            if isinstance(self.growth, Optimal) and not interruption.asked:
                from telltree.tree.optimal import regrown  # few trees are grown so

                grown, optimum = regrown(answers, self.growth, asking, benches[0])
        questions = sum(answer.question is not None for answer in grown.values())
        if interruption.asked:
            logger.warning("telltree: interrupted; the tree keeps the best splits found so far, %d of them", questions)
        schema = Schema(replace(column, static=column.name in asking.static) for column in panel.schema.values())
        tree = Tree(_grown(grown, asking), schema, asking.missing, panel.step, panel.how_read, optimum)
        searches = {number: answer.search for number, answer in sorted(answers.items()) if answer.search is not None}
        useful = {number: found for number, found in searches.items() if found.best is not None}
        return Learned(tree, useful, interruption.asked)

    def _search(self) -> Search:
        """The search, which also keeps what a pool of questions takes."""
        if self.growth is None:
            return self.search
        return replace(self.search, keep=max(self.search.keep, self.growth.pool))

    def _benches(self, panel: Panel, grammar: Grammar) -> list[Bench]:
        """A bench, as often as nodes are asked about side by side: one, where each has some seconds for itself."""
        make = self.bench or (lambda panel, grammar: local_bench(panel, grammar, self.threads))
        bench = make(panel, grammar)
        return [bench] * (bench.nodes_at_once if self.search.seconds is None else 1)


class Learned(NamedTuple):
    """What induction returns: the whole tree, which may be pruned; `searches` by node number."""

    tree: Tree
    searches: dict[int, Found]
    interrupted: bool


Ask = Callable[[NodeTask, Bench], SplitResult]


def _all_answers(first: NodeTask, ask: Ask, benches: Sequence[Bench]) -> dict[int, SplitResult]:
    """The results of a node and all below it, by node number; as many at once as there are benches."""
    if len(benches) == 1:
        answers, pending = dict[int, SplitResult](), [first]
        while pending:
            task = pending.pop()
            answers[task.number] = ask(task, benches[0])
            pending += reversed(task.below(answers[task.number]))
        return answers
    return _answers_side_by_side(first, ask, benches)


def _answers_side_by_side(first: NodeTask, ask: Ask, benches: Sequence[Bench]) -> dict[int, SplitResult]:
    """The same with a thread pool, one thread per bench; of one that serves several nodes there are as many."""
    answers, pending, free = dict[int, SplitResult](), [first], list(benches)
    running: dict[Future[SplitResult], tuple[NodeTask, Bench]] = {}
    with ThreadPoolExecutor(len(benches)) as pool:
        while pending or running:
            while pending and free:
                task, bench = pending.pop(), free.pop()
                running[pool.submit(ask, task, bench)] = task, bench
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                task, bench = running.pop(done)
                free.append(bench)
                answers[task.number] = done.result()
                pending += reversed(task.below(answers[task.number]))
    return answers


def _grown(answers: dict[int, SplitResult], asking: Asking) -> Node | Leaf:
    """Build the tree from all answers, from the leaves upwards."""
    made: dict[int, Node | Leaf] = {}
    for number, answer in sorted(answers.items(), reverse=True):
        if answer.question is None:
            made[number] = answer.leaf
        else:
            made[number] = asking.node(answer, made.pop(2 * number), made.pop(2 * number + 1))
    return made[1]
