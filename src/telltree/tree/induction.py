"""Induction: the paper's Algorithm 1, top-down, one search a node."""

import logging
import math
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel, Schema
from telltree.data.usable import doubtful, unchanging
from telltree.grammar import Derivation, Grammar
from telltree.grammar.population import Population
from telltree.logic import Formula
from telltree.logic.engine import Engine
from telltree.logic.formulas import Formulas, signals_of
from telltree.operators import Expression
from telltree.search import Found, GeneticProgramming, Progress, Search
from telltree.speech import question
from telltree.tree.bits import LARGEST, Bits
from telltree.tree.centring import centred
from telltree.tree.fitness import Fitness, fitness_at, gain_of, prepared
from telltree.tree.interruption import Interruption
from telltree.tree.labels import ONE, Labels
from telltree.tree.objective import SplitObjective
from telltree.tree.tree import Leaf, Node, RunnerUp, Tree
from telltree.tree.trimming import trimmed

logger = logging.getLogger("telltree")
_SHORT = 0.05  # seconds; what takes less is followed by four times as much before anybody looks at the clock
DEFAULT_SEARCH, DEFAULT_FITNESS = GeneticProgramming(), Bits()


@dataclass(frozen=True)
class Limits:
    """When a node stays a leaf, beside when all its records have one class.

    max_depth: branches from the root. min_members: records that each side of a split must have. min_gain: by how much
    a split must lower the fitness (None: any split will do). prevent_same_label: refuse splits whose sides predict
    the same.
    """

    max_depth: int = 6
    min_members: int = 1
    min_gain: float | None = None
    prevent_same_label: bool = False


class NodeProgress(NamedTuple):
    """What induction reports while a node is searched."""

    node: int
    """Nodes are numbered as in a heap: the root is 1, the children of n are 2n (true) and 2n + 1."""
    depth: int
    records: int
    search: Progress
    fold: tuple[int, int] | None = None
    """Which fold of how many, in cross-validation."""


@dataclass(frozen=True)
class Induction:
    """How to learn a tree."""

    grammar: Grammar
    search: Search
    fitness: Fitness
    limits: Limits
    seed: int
    threads: int = 1
    centre: Collection[str] = ()
    """Columns whose constants a chosen formula may move to the middle of their gaps."""
    progress: Callable[[NodeProgress], None] | None = None

    def run(self, panel: Panel, labels: Labels, classes: tuple[Any, ...]) -> "Learned":
        """The tree for these records, and what the searches of its nodes found."""
        with Interruption() as interruption:
            growth = _Growth(self, panel, labels, interruption)
            root = growth.split(np.arange(len(panel)), 1)
        if growth.interrupted:
            logger.warning(
                "telltree: interrupted; the tree keeps the best splits found so far, %d of them", len(growth.chosen)
            )
        tree = Tree(root, classes, growth.schema, doubtful(panel), panel.step)
        return Learned(tree, growth.found, growth.interrupted)


class Learned(NamedTuple):
    """What induction returns: the whole tree, which may be pruned; `searches` by node number."""

    tree: Tree
    searches: dict[int, Found]
    interrupted: bool


class _Growth:
    def __init__(self, settings: Induction, panel: Panel, labels: Labels, interruption: Interruption) -> None:
        self._settings, self._panel, self._labels, self._interruption = settings, panel, labels, interruption
        self._fitness = prepared(settings.fitness, settings.grammar, labels)
        self._naming = settings.grammar.bits(LARGEST)
        self._signals = signals_of(panel)
        self._whole: Engine | None = None
        self._missing = doubtful(panel)
        self._static = unchanging(panel)
        self.schema = Schema(replace(c, static=c.name in self._static) for c in panel.schema.values())
        self.found: dict[int, Found] = {}
        self.chosen: list[Formula] = []
        self.interrupted = False

    def split(self, members: NDArray[np.int64], number: int) -> Node | Leaf:
        """The subtree for some of the records."""
        settings, limits, labels = self._settings, self._settings.limits, self._labels[members]
        depth = number.bit_length() - 1
        leaf = leaf_of(labels)
        pure = np.count_nonzero(leaf.counts) <= 1
        self.interrupted |= self._interruption.asked
        if self.interrupted or pure or depth >= limits.max_depth or len(members) < 2 * max(1, limits.min_members):
            return leaf
        grammar, late = settings.grammar, self._lateness()
        engine = self._engine(members)
        criterion = fitness_at(self._fitness, len(members))
        objective = SplitObjective(engine, labels, criterion, limits.min_members)
        found = settings.search.run(
            grammar,
            objective,
            _seed(settings.seed, number),
            self._report(number, len(members)),
            tolerance=getattr(criterion, "tolerance", 0.0),
            stop=lambda: self._interruption.asked,
        )
        self.interrupted |= found.interrupted
        if found.best is None:
            return leaf
        self.found[number] = found
        best, margin = _chosen(found, engine, grammar, labels, _Ties(criterion, limits.max_depth - depth - 1, late))
        alone = Population.of([best], grammar.has_random_constants)
        truth, fitness = engine.truth(alone)[0], float(objective(alone, np.arange(1)).fitness[0])
        gain = gain_of(criterion, labels.totals(), len(best), fitness)
        least = getattr(criterion, "least_gain", None) if limits.min_gain is None else limits.min_gain
        sides = members[truth], members[~truth]
        same = len({leaf_of(self._labels[side]).label for side in sides}) == 1
        if (least is not None and not gain >= least) or (limits.prevent_same_label and same):
            return leaf
        formula, margin = self._kept(best.expression, margin, members, late)
        self.chosen.append(formula)
        del engine, objective  # the children need the memory
        true, false = self.split(sides[0], 2 * number), self.split(sides[1], 2 * number + 1)
        others = tuple(
            RunnerUp(Formula(c.derivation.expression), c.fitness) for c in found.runners_up if c.derivation != best
        )
        naming = self._naming[min(len(best), LARGEST)]
        by_size = tuple(RunnerUp(Formula(one.derivation.expression), one.fitness) for one, _ in found.by_size)
        node = Node(
            formula, true, false, leaf.counts, fitness, gain, margin, others, naming=naming, by_size=by_size
        )  # fmt: skip
        return self._asked(node, Formula(best.expression))

    def _engine(self, members: NDArray[np.int64]) -> Engine:
        """What evaluates formulas for these records; that for all of them is kept, for the others to learn from."""
        grammar, threads = self._settings.grammar, self._settings.threads
        if self._whole is None:
            self._whole = Engine(self._panel, grammar.rules, grammar.tables, self._signals, threads=threads)
        if len(members) == len(self._panel):
            return self._whole
        part_of = self._whole, members
        return Engine(
            self._panel[members], grammar.rules, grammar.tables, self._signals, threads=threads, part_of=part_of
        )

    def _lateness(self) -> Callable[[], bool]:
        """Whether what is left to do at the node that begins now must be cut short: Ctrl-C came, or time is up.

        A node may take a second, or a twenty-fifth, longer than its search was given.
        """
        given, begun = self._settings.search.seconds, time.monotonic()
        end = math.inf if given is None else begun + given + max(1.0, 0.04 * given)
        return lambda: self._interruption.asked or time.monotonic() >= end

    def _kept(
        self, found: Expression, margin: float, members: NDArray[np.int64], late: Callable[[], bool]
    ) -> tuple[Formula, float]:
        """What is kept of the formula that was found, and its margin.

        Parts that decide nothing for these records go, and constants move to the middle of their gaps where that is
        asked for.
        """
        records = self._panel[members]
        kept = trimmed(found, records, self._signals, late)
        kept = centred(kept, records, self._signals, self._settings.centre, late)
        if kept == found:
            return Formula(found), margin
        return Formula(kept), float(Formulas(records, self._signals).margins([kept])[0])

    def _asked(self, node: Node, found: Formula) -> Node:
        """The node with the question that reads better, in normal form: whether its formula holds, or does not.

        This comes after the sides were learned, so that what a seed finds does not depend on it.
        """
        expression = node.formula.expression
        if any(e.english is not None for e in expression.walk()):  # it is said as its grammar has it
            return node if node.formula == found else replace(node, found=found)
        asked, opposite = question(expression, self._missing, static=self._static)
        sides = (node.false, node.true) if opposite else (node.true, node.false)
        formula = Formula(asked)
        return replace(node, formula=formula, true=sides[0], false=sides[1], found=None if formula == found else found)

    def _report(self, number: int, records: int) -> Callable[[Progress], None] | None:
        tell = self._settings.progress
        if tell is None:
            return None
        return lambda progress: tell(NodeProgress(number, number.bit_length() - 1, records, progress))


def leaf_of(labels: Labels) -> Leaf:
    """The leaf for records with these labels."""
    counts, weights = labels.counts(), labels.totals()
    if not weights.any():  # records of weight 0 only
        weights = counts * ONE
    unit = 1 if labels.weights is None else ONE
    return Leaf(tuple(counts.tolist()), tuple((weights / unit).tolist()))


def _seed(seed: int, number: int) -> int:
    """A seed for a node that depends on nothing but the tree's seed and the node's place in it."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0])


class _Ties(NamedTuple):
    """What decides between formulas that tie: a criterion, how many levels come below, and whether time is up."""

    criterion: Fitness
    levels: int
    late: Callable[[], bool]

    @property
    def shorter_first(self) -> bool:
        """Whether a shorter formula goes before one with a wider margin."""
        return getattr(self.criterion, "shorter_first", False)


def _chosen(found: Found, engine: Engine, grammar: Grammar, labels: Labels, by: _Ties) -> tuple[Derivation, float]:
    """Of the formulas that tie for the best, one that leaves the other levels of the tree enough room to tell the
    classes apart, if there is one; of those the shortest, if that comes first; then the one with the widest margin;
    then the smallest; then by text.
    """
    assert found.ties is not None
    ties, size = _rivals(found.ties, engine, labels, by)
    brief = _brief(found, labels, by.criterion, size)
    if brief is not None:
        ties, _ = _rivals(brief, engine, labels, by)
    margins = _margins(engine, ties, by.late)
    widest = np.flatnonzero(margins == margins.max())
    derivations = [ties.derivation(int(i), grammar) for i in widest]
    return min(derivations, key=lambda d: (len(d), str(d))), float(margins.max())


def _rivals(tied: Population, engine: Engine, labels: Labels, by: _Ties) -> tuple[Population, int]:
    """Those of some formulas between which margins decide, and the size of the smallest."""
    classes = [labels.codes == k for k in range(labels.classes)]
    tally = engine.evaluate(tied, np.arange(len(tied.lengths)), engine.layout.masks(classes))
    rivals = _with_room(tally.counts, labels.counts(), by.levels)
    least = int(tally.size[rivals].min())
    if by.shorter_first:
        rivals = rivals[tally.size[rivals] == least]
    return tied.take(rivals), least


def _brief(found: Found, labels: Labels, criterion: Fitness, size: int) -> Population | None:
    """Formulas of the least size that are nearly as good as the best, as far as the criterion is lenient; None if they
    are not smaller than `size`. It is not lenient for the sake of fewer terminals than are brief.
    """
    leniency = getattr(criterion, "leniency", 0.0)
    if not leniency:
        return None
    assert found.best is not None
    best = found.best.fitness
    gain = gain_of(criterion, labels.totals(), len(found.best.derivation), best)
    least = getattr(criterion, "brief", 0)
    for candidate, ties in found.by_size:
        if least <= len(candidate.derivation) < size and candidate.fitness <= best + leniency * gain:
            return ties
    return None


def _margins(engine: Engine, ties: Population, late: Callable[[], bool]) -> NDArray[np.float64]:
    """The margins of formulas, of which only the widest need be exact; −1 for those that are left when it is late."""
    margins, done, at_a_time = np.full(len(ties.lengths), -1.0), 0, 1
    while done < len(margins) and not (done and late()):
        part, began = np.arange(done, min(done + at_a_time, len(margins))), time.monotonic()
        margins[part] = engine.margins(ties.take(part), cutoff=True)
        done += len(part)
        at_a_time *= 4 if time.monotonic() - began < _SHORT else 1
    return margins


def _with_room(true: NDArray[np.int64], total: NDArray[np.int64], levels: int) -> NDArray[np.int64]:
    """Those splits of which neither side has more classes than the levels below can tell apart if each sets one apart;
    if there is none, those for which halving at each level would do; and all if there is none of these either.

    Gini is blind to this: of eight classes, setting one apart from seven is as good as four from four.
    """
    most = np.maximum(np.count_nonzero(true, axis=1), np.count_nonzero(total - true, axis=1))
    for enough in (levels + 1, 1 << min(levels, 62)):
        if (most <= enough).any():
            return np.flatnonzero(most <= enough)
    return np.arange(len(true))
