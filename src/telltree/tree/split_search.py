"""One node of a tree: a search for its formula, and what is kept of the formula that is found."""

import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from telltree.engine import Formula
from telltree.engine.aligned import Room, aligned_words
from telltree.engine.evaluator import OfFormulas, OfPopulations
from telltree.engine.formulas import FormulaEvaluator
from telltree.engine.population import PopulationEvaluator
from telltree.engine.signals import Signals
from telltree.engine.three_valued import settled
from telltree.engine.trace import signals_of
from telltree.english import question
from telltree.grammar import Derivation, Grammar
from telltree.grammar.derivation import Population
from telltree.logic import Expression
from telltree.logic.operators import AND, IMPLIES, NOT, OR
from telltree.panel import Panel
from telltree.panel.usable import may_be_missing, unchanging
from telltree.search import Progress, Search, SearchResult
from telltree.search.archive import Candidate
from telltree.search.search import Objective, Remember
from telltree.search.state import State
from telltree.tree.criterion import LARGEST, Criterion, criterion_at, gain_of, prepared
from telltree.tree.growth import LookAhead
from telltree.tree.midpoints import Splits, best_thresholds, centred
from telltree.tree.objective import SplitObjective, budget_weight_of
from telltree.tree.routing import RoutedFormulas, RoutedObjective, RoutedPopulations
from telltree.tree.target import Labels
from telltree.tree.tree import Leaf, Node, RunnerUp, Unknown

# ---- Chooses the question among formulas that a search found equally good.

_SHORT = 0.05  # seconds; after a shorter part, four times as many are done before the next look at the clock


class Ties(NamedTuple):
    """What decides between formulas that tie: a criterion, how many levels are below, and whether time is up."""

    criterion: Criterion
    levels: int
    late: Callable[[], bool]

    @property
    def shorter_first(self) -> bool:
        """Whether a shorter formula takes precedence over one with a wider margin."""
        return getattr(self.criterion, "shorter_first", False)


def chosen(
    found: SearchResult, evaluator: OfPopulations, grammar: Grammar, labels: Labels, by: Ties
) -> tuple[Derivation, float]:
    """Of the formulas that tie for the best, one that leaves the other levels of the tree enough room to tell kinds of
    records apart, if there is one; of those the shortest, if that comes first; then the one with the widest margin;
    then the smallest; then by text. Or the first that was found, if the criterion says so.
    """
    assert found.ties is not None
    assert found.best is not None
    if getattr(by.criterion, "ties", None) == "first":
        first = Population.of([found.best.derivation], grammar.has_random_constants)
        return found.best.derivation, float(evaluator.robustness(first)[0])
    ties, size = _rivals(found.ties, evaluator, labels, by)
    brief = _brief(found, labels, by.criterion, size)
    if brief is not None:
        ties, _ = _rivals(brief, evaluator, labels, by)
    robustness = _robustness(evaluator, ties, by.late)
    widest = np.flatnonzero(robustness == robustness.max())
    derivations = [ties.derivation(int(i), grammar) for i in widest]
    return min(derivations, key=lambda d: (len(d), str(d))), float(robustness.max())


def _rivals(tied: Population, evaluator: OfPopulations, labels: Labels, by: Ties) -> tuple[Population, int]:
    """Those of some formulas between which margins decide, and the size of the smallest."""
    kinds = labels.kinds()
    tally = evaluator.evaluate(tied, np.arange(len(tied.lengths)), evaluator.masks(kinds))
    rivals = _with_room(tally.counts, np.array([np.count_nonzero(kind) for kind in kinds], np.int64), by.levels)
    least = int(tally.size[rivals].min())
    if by.shorter_first:
        rivals = rivals[tally.size[rivals] == least]
    return tied.take(rivals), least


def _brief(found: SearchResult, labels: Labels, criterion: Criterion, size: int) -> Population | None:
    """The formulas of the smallest size that are nearly as good as the best, if the criterion has a leniency; None if
    they are not smaller than `size`. Formulas below the criterion's `brief` size are not considered.
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


def _robustness(evaluator: OfPopulations, ties: Population, late: Callable[[], bool]) -> NDArray[np.float64]:
    """The margins of formulas, of which only the widest need be exact; −1 for those not computed when it gets late."""
    robustness, done, at_a_time = np.full(len(ties.lengths), -1.0), 0, 1
    while done < len(robustness) and not (done and late()):
        part, began = np.arange(done, min(done + at_a_time, len(robustness))), time.monotonic()
        robustness[part] = evaluator.robustness(ties.take(part), cutoff=max(0.0, robustness.max()))
        done += len(part)
        at_a_time *= 4 if time.monotonic() - began < _SHORT else 1
    return robustness


def _with_room(true: NDArray[np.int64], total: NDArray[np.int64], levels: int) -> NDArray[np.int64]:
    """Those splits of which neither side has more kinds than the levels below can tell apart if each sets one apart; if
    there is none, those for which halving at each level would do; and all if there is none of these either.

    Gini impurity does not see this: of eight classes, splitting off one is as good as splitting four from four.
    """
    most = np.maximum(np.count_nonzero(true, axis=1), np.count_nonzero(total - true, axis=1))
    for enough in (levels + 1, 1 << min(levels, 62)):
        if (most <= enough).any():
            return np.flatnonzero(most <= enough)
    return np.arange(len(true))


# ---- Trimming: drops the parts of a chosen formula that decide nothing for the records at hand.
#
# A search keeps what does no harm, such as `F(a ∧ b)` where b holds whenever a does. A reader must take in b, and
# believes that it matters.


def trimmed(formula: Expression, formulas: OfFormulas, late: Callable[[], bool] = bool) -> Expression:
    """The formula without parts whose removal changes no answer for the records that `formulas` evaluates on.

    Of several parts that could be dropped, the longest goes first. A formula with English of its own from a grammar is
    not changed: the English may mention every part. When it is `late`, the rest stays.
    """
    if any(e.english is not None for e in formula.walk()):
        return formula
    while not late() and (shorter := list(dict.fromkeys(_shorter(formula)))):
        truth = formulas.truth([formula, *shorter])
        alike = [e for e, answers in zip(shorter, truth[1:], strict=True) if np.array_equal(answers, truth[0])]
        if not alike:
            break
        formula = min(alike, key=lambda e: (e.terminals, str(e)))
    return formula


def _shorter(e: Expression) -> Iterator[Expression]:
    """The expression with one connective replaced by one of its sides."""
    if e.head is AND or e.head is OR:
        yield from e.args
    elif e.head is IMPLIES:
        yield e.args[1]
        yield Expression(NOT, (e.args[0],))
    elif e.head is NOT and e.args[0].head is NOT:
        yield e.args[0].args[0]
    for place, arg in enumerate(e.args):
        for other in _shorter(arg):
            yield Expression(e.head, (*e.args[:place], other, *e.args[place + 1 :]))


# ---- One node of a tree: a search for its question, and what is kept of the formula that is found.
#
# The answer depends only on the node's place and its records, not on when, where or after which other nodes it is
# asked.


@dataclass(frozen=True)
class Limits:
    """When a node stays a leaf, beside when its records leave nothing to tell apart.

    max_depth: branches from the root. min_samples_leaf: records that each side of a split must have. min_gain: by how
    much a split must lower the fitness (None: any split will do). prevent_same_label: refuse splits whose sides predict
    the same.
    """

    max_depth: int = 6
    min_samples_leaf: int = 1
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
    """In cross-validation, the number of the fold and how many there are."""


class NodeTask(NamedTuple):
    """A node to ask about: its number, and its records by their positions, in ascending order."""

    number: int
    members: NDArray[np.int64]

    @property
    def depth(self) -> int:
        """Branches from the root."""
        return self.number.bit_length() - 1

    def below(self, answer: "SplitResult") -> "list[NodeTask]":
        """The nodes that a question leads to, the true side first."""
        if answer.question is None:
            return []
        return [NodeTask(2 * self.number, answer.question.true), NodeTask(2 * self.number + 1, answer.question.false)]


class ShownFormula(NamedTuple):
    """The formula of a question as it is said, or its opposite, and what becomes of records whose answer is unknown."""

    formula: Formula
    opposite: bool
    unknown: int
    """How many records that is."""
    goes: bool
    """On which side they are, of what is said."""


class Question(NamedTuple):
    """How a node splits its records: the formula, and what the search knows of it."""

    formula: Formula
    found: Derivation
    """The formula before trimming and centring."""
    true: NDArray[np.int64]
    false: NDArray[np.int64]
    fitness: float
    gain: float
    robustness: float
    said: ShownFormula | None = None
    """How it is said, if answers may be unknown."""


class SplitResult(NamedTuple):
    """The result for a node: the leaf that it is without a question, and the question, if one is worth asking."""

    leaf: Leaf
    search: SearchResult | None = None
    question: Question | None = None

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C cut the search short."""
        return self.search is not None and self.search.interrupted


class Backend(Protocol):
    """Evaluators for nodes, wherever the records are."""

    @property
    def nodes_at_once(self) -> int:
        """Nodes that it is worth asking about side by side."""

    def evaluator(self, members: NDArray[np.int64], before: int = 0) -> OfPopulations:
        """An evaluator of populations on these records.

        `before`: of a shard, the blocks of records in the shards that come first.
        """

    def formulas(self, members: NDArray[np.int64], before: int = 0) -> OfFormulas:
        """An evaluator of formulas on these records."""

    @property
    def spreads(self) -> dict[Expression, float]:
        """The standard deviations of signals that are known, the units of margins: of a shard, those of all shards."""

    @property
    def cuts(self) -> NDArray[np.int64]:
        """The records before which all are cut into shards: hashes can be compared only where these are the same."""


class LocalBackend:
    """A bench for records in memory: its nodes share planes, and so do the nodes of its parts."""

    nodes_at_once = 1

    def __init__(
        self,
        panel: Panel,
        grammar: Grammar,
        threads: int = 1,
        part_of: "tuple[LocalBackend, NDArray[np.int64]] | None" = None,
        *,
        memory: int | None = None,
        signals: int | None = None,
        room: Room = aligned_words,
    ) -> None:
        """`memory` and `signals`: what planes and signals may take; `room`: makes room for planes, there or on disk."""
        self._panel, self._grammar, self._threads, self._part_of = panel, grammar, threads, part_of
        self._memory, self._room = memory, room
        known = None if part_of is None else part_of[0]._signals
        self._signals: Signals = signals_of(panel, known, memory=signals)

    def part(self, members: NDArray[np.int64]) -> "LocalBackend":
        """A bench for some of the records, to learn another tree from them."""
        return LocalBackend(self._panel[members], self._grammar, self._threads, (self, members), memory=self._memory)

    @property
    def spreads(self) -> dict[Expression, float]:
        """Of signals that were asked for, or told."""
        return self._signals.spreads

    @property
    def cuts(self) -> NDArray[np.int64]:
        """None, for all are here."""
        return np.empty(0, np.int64)

    def evaluator(self, members: NDArray[np.int64], before: int = 0) -> PopulationEvaluator:
        """What evaluates populations on these records, with the planes of all."""
        whole, own = (self, members) if self._part_of is None else (self._part_of[0], self._part_of[1][members])
        everything = whole is self and len(members) == len(self._panel)
        found = self._whole if everything else self._engine(self._panel[members], (whole._whole, own))
        found.before = before
        return found

    def formulas(self, members: NDArray[np.int64], before: int = 0) -> FormulaEvaluator:
        """What evaluates formulas as they stand on these records."""
        whole = self if self._part_of is None else self._part_of[0]
        return FormulaEvaluator(
            self._panel[members], self._signals, memory=self._memory, before=before, room=self._room, like=whole._whole
        )

    @cached_property
    def _whole(self) -> PopulationEvaluator:
        return self._engine(self._panel)

    def _engine(
        self, panel: Panel, part_of: tuple[PopulationEvaluator, NDArray[np.int64]] | None = None
    ) -> PopulationEvaluator:
        rules, tables = self._grammar.rules, self._grammar.tables
        return PopulationEvaluator(
            panel, rules, tables, self._signals, memory=self._memory, threads=self._threads, part_of=part_of,
            room=self._room,
        )  # fmt: skip

    def rest(self) -> None:
        """Take little memory until the next question."""
        self._signals.rest()


class _Here(NamedTuple):
    """What judges formulas at one node."""

    evaluator: OfPopulations
    objective: SplitObjective
    tried_by: Objective
    """The same, for a search, which may make use of all that it knows."""
    criterion: Criterion
    late: Callable[[], bool]
    """Whether the rest of the work at the node must be cut short."""


@dataclass(frozen=True)
class SplitSearch:
    """How to find the question of a node, for all nodes of one tree."""

    panel: Panel
    labels: Labels
    grammar: Grammar
    search: Search
    fitness: Criterion
    limits: Limits
    seed: int
    centre: Collection[str]
    progress: Callable[[NodeProgress], None] | None
    stop: Callable[[], bool]
    """Whether Ctrl-C was pressed."""
    keep: int
    """How many runners-up a node keeps."""
    look_ahead: LookAhead | None = None
    """Whether a question is judged together with those below it, and how many there are to choose from."""
    unknown: bool = False
    """Whether an atom on a missing value is unknown, and a record whose answer is goes where more records do."""
    exact: bool = False
    """Whether constants of a chosen formula move to where it is fittest, not only within their gaps."""
    as_derived: bool = False
    """Whether a chosen formula stays as the search derived it."""

    @cached_property
    def _criterion(self) -> Criterion:
        return prepared(self.fitness, self.grammar, self.labels)

    @cached_property
    def _budget_weight(self) -> float:
        """How much there is to tell of all records."""
        return budget_weight_of(self.labels)

    @cached_property
    def _naming(self) -> list[float]:
        """The bits that name a formula of the grammar, by its terminals."""
        return self.grammar.bits(LARGEST)

    @cached_property
    def missing(self) -> frozenset[str]:
        """Columns that have missing or infinite values."""
        return may_be_missing(self.panel)

    @cached_property
    def static(self) -> frozenset[str]:
        """Columns that have one value in each record."""
        return unchanging(self.panel)

    def ask(
        self, task: NodeTask, backend: Backend, state: State | None = None, remember: Remember | None = None
    ) -> SplitResult:
        """What comes of a node; `state` and `remember` are handed to its search."""
        limits, members, labels = self.limits, task.members, self.labels[task.members]
        leaf, too_few = Leaf(labels.summary()), len(members) < 2 * max(1, limits.min_samples_leaf)
        if self.stop() or labels.settled or task.depth >= limits.max_depth or too_few:
            return SplitResult(leaf)
        here = self._here(task, backend)
        found = self.search.run(
            self.grammar,
            here.tried_by,
            _seed(self.seed, task.number),
            self._report(task),
            tolerance=getattr(here.criterion, "tolerance", 0.0),
            budget_weight=budget_weight_of(labels) / self._budget_weight,
            stop=self.stop,
            state=state,
            remember=remember,
        )
        if here.tried_by is not here.objective:
            found = replace(found, proof=None)  # which goes by what means the same if nothing is unknown
        if found.best is None:
            return SplitResult(leaf, found)
        ties = Ties(here.criterion, limits.max_depth - task.depth - 1, here.late)
        best, robustness = chosen(found, here.evaluator, self.grammar, labels, ties)
        found = replace(found, runners_up=_with_chosen(best, found.runners_up, here.objective))
        if self.look_ahead is not None and ties.levels:
            ahead = self._ahead(best, found, self.look_ahead.pool, task, here)
            return SplitResult(leaf, found, None if ahead is None else self.question(ahead, task, backend))
        asked = self._asked(best, robustness, task, here)
        if not self._worth(here.criterion, asked):
            return SplitResult(leaf, found)
        return SplitResult(leaf, found, self._kept(asked, task, backend, here))

    def question(self, found: Derivation, task: NodeTask, backend: Backend) -> Question:
        """What a node asks if that is to be this formula, whatever it is worth."""
        here = self._here(task, backend)
        alone = Population.of([found], self.grammar.has_random_constants)
        asked = self._asked(found, float(here.evaluator.robustness(alone)[0]), task, here)
        return self._kept(asked, task, backend, here)

    def _ahead(
        self, best: Derivation, found: SearchResult, pool: int, task: NodeTask, here: _Here
    ) -> Derivation | None:
        """The question that is best together with those below it."""
        from telltree.tree.criterion import whole_of
        from telltree.tree.look_ahead import best_ahead  # few trees are grown so

        labels, least = self.labels[task.members], self.limits.min_samples_leaf
        whole = whole_of(self.fitness, self.grammar, self.labels, labels)
        return best_ahead(best, found, pool, here.evaluator, labels, whole=whole, least=least)

    def _here(self, task: NodeTask, backend: Backend) -> _Here:
        late, labels = self._lateness(), self.labels[task.members]
        criterion = criterion_at(self._criterion, len(task.members))
        evaluator: OfPopulations = backend.evaluator(task.members)
        unsure = self.unknown and bool(self.missing or self.grammar.functions)
        if unsure:
            formulas = RoutedFormulas(backend.formulas(task.members), labels)
            evaluator = RoutedPopulations(evaluator, formulas, self.grammar, self.missing)
        objective = SplitObjective(
            evaluator,
            labels,
            criterion,
            self.limits.min_samples_leaf,
            part=lambda some: backend.evaluator(task.members[some]),
        )
        return _Here(evaluator, objective, RoutedObjective(objective) if unsure else objective, criterion, late)

    def _asked(self, found: Derivation, robustness: float, task: NodeTask, here: _Here) -> Question:
        """The question as it was found."""
        alone = Population.of([found], self.grammar.has_random_constants)
        truth, fitness = here.evaluator.truth(alone)[0], float(here.objective(alone, np.arange(1)).fitness[0])
        gain = gain_of(here.criterion, self.labels[task.members].totals(), len(found), fitness)
        return Question(
            Formula(found.expression), found, task.members[truth], task.members[~truth], fitness, gain, robustness
        )

    def _worth(self, criterion: Criterion, asked: Question) -> bool:
        """Whether a split is made."""
        limits = self.limits
        least = getattr(criterion, "least_gain", None) if limits.min_gain is None else limits.min_gain
        if least is not None and not asked.gain >= least:
            return False
        true, false = (self.labels[side].summary().predicted for side in (asked.true, asked.false))
        return not limits.prevent_same_label or true != false

    def _lateness(self) -> Callable[[], bool]:
        """A function that tells whether the rest of the work at the node that begins now must be cut short: after
        Ctrl-C, or when time is up.

        A node may take a second, or a twenty-fifth, longer than its search was given.
        """
        given, begun = self.search.seconds, time.monotonic()
        end = math.inf if given is None else begun + given + max(1.0, 0.04 * given)
        return lambda: self.stop() or time.monotonic() >= end

    def _kept(self, asked: Question, task: NodeTask, backend: Backend, here: _Here) -> Question:
        """The question with the formula to keep, and its margin.

        Parts that decide nothing for these records are dropped, and constants move to the best gap, and to its middle,
        if requested; unless it is to stay as it was derived.
        """
        if self.as_derived and not self.unknown:
            return asked
        formulas, found, late = backend.formulas(task.members), asked.found.expression, here.late
        if self.unknown:
            formulas = RoutedFormulas(formulas, self.labels[task.members])
            if self.as_derived:
                return asked._replace(said=self._said(found, formulas))
        kept = trimmed(found, formulas, late)
        if self.exact:
            asked, kept = self._exactly(asked, kept, task, formulas, here)
        kept = centred(kept, formulas, self.centre, late)
        if kept != found:
            asked = asked._replace(formula=Formula(kept), robustness=float(formulas.robustness([kept])[0]))
        return asked._replace(said=self._said(kept, formulas)) if isinstance(formulas, RoutedFormulas) else asked

    def _said(self, kept: Expression, formulas: RoutedFormulas) -> ShownFormula:
        """The formula or its complement, whichever reads better, in normal form; as it stands if that would send some
        records elsewhere: where both sides are as many, the side of unknown answers depends on what is called yes.
        """
        as_it_is = self.as_derived or any(e.english is not None for e in kept.walk())
        better, opposite = (kept, False) if as_it_is else question(kept, frozenset(), static=self.static)
        asked, said = formulas.settled([kept, better])
        if not np.array_equal(asked.truth ^ opposite, said.truth):
            better, opposite, said = kept, False, asked
        return ShownFormula(Formula(better), opposite, said.unknown, said.goes)

    def _exactly(
        self, asked: Question, kept: Expression, task: NodeTask, formulas: OfFormulas, here: _Here
    ) -> tuple[Question, Expression]:
        """The question and its formula with constants where it is fittest; as before if it is not worth asking then."""
        labels = self.labels[task.members]
        splits = Splits(labels, here.criterion, len(asked.found), self.limits.min_samples_leaf)
        moved = best_thresholds(kept, formulas, self.centre, splits, here.late)
        if moved == kept:
            return asked, kept
        truth = formulas.truth([moved])[0]
        fitness = splits.of(truth)
        gain = gain_of(here.criterion, labels.totals(), len(asked.found), fitness)
        better = asked._replace(true=task.members[truth], false=task.members[~truth], fitness=fitness, gain=gain)
        return (better, moved) if self._worth(here.criterion, better) else (asked, kept)

    def node(self, answer: SplitResult, true: Node | Leaf, false: Node | Leaf) -> Node:
        """The node for a question, with these subtrees.

        It asks for the formula or its complement, whichever reads better, in normal form, unless it is to stay as it
        was derived. This comes after the subtrees are learned, so that it does not affect what a seed finds.
        """
        asked, search = answer.question, answer.search
        assert asked is not None
        node = Node(
            asked.formula, true, false, asked.fitness, asked.gain, asked.robustness,
            naming=self._naming[min(asked.found.expression.terminals, LARGEST)],
        )  # fmt: skip
        if search is not None:
            others = [candidate for candidate in search.runners_up if candidate.derivation != asked.found]
            by_size = _runners_up([best for best, _ in search.by_size])
            node = replace(node, runners_up=_runners_up(others[: self.keep]), by_size=by_size, proof=search.proof)
        expression, found = asked.formula.expression, Formula(asked.found.expression)
        if asked.said is not None:
            said, opposite, records, goes = asked.said
            sides = (false, true) if opposite else (true, false)
            node = replace(node, formula=Formula(settled(said.expression, goes)), true=sides[0], false=sides[1])
            return replace(node, unknown=Unknown(said, goes, records), found=None if said == found else found)
        if self.as_derived or any(e.english is not None for e in expression.walk()):  # keep the grammar's own wording
            return node if asked.formula == found else replace(node, found=found)
        better, opposite = question(expression, self.missing, static=self.static)
        sides = (false, true) if opposite else (true, false)
        formula = Formula(better)
        return replace(node, formula=formula, true=sides[0], false=sides[1], found=None if formula == found else found)

    def _report(self, task: NodeTask) -> Callable[[Progress], None] | None:
        tell = self.progress
        if tell is None:
            return None
        return lambda progress: tell(NodeProgress(task.number, task.depth, len(task.members), progress))


def _with_chosen(best: Derivation, others: tuple[Candidate, ...], objective: SplitObjective) -> tuple[Candidate, ...]:
    """The best formulas that answer differently, with the chosen one in place of another that answers as it does: to
    whoever asks what else could have been asked, that one says nothing else."""
    all_of_them = Population.of([best, *(one.derivation for one in others)], best.grammar.has_random_constants)
    fitness, answer, _ = objective(all_of_them, np.arange(1 + len(others)))
    chosen_one = Candidate(best, float(fitness[0]))
    return tuple(chosen_one if answer[k] == answer[0] else one for k, one in enumerate(others, 1))


def _runners_up(candidates: Iterable[Candidate]) -> tuple[RunnerUp, ...]:
    return tuple(RunnerUp(Formula(one.derivation.expression), one.fitness) for one in candidates)


def _seed(seed: int, number: int) -> int:
    """A seed for a node that depends only on the tree's seed and the node's place."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0])
