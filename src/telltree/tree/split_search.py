"""The split of one node: a search for a formula, the choice among ties, and its simplification."""

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.engine import Formula
from telltree.engine.evaluator import FormulaEvaluatorProtocol, PopulationEvaluatorProtocol
from telltree.engine.three_valued import resolve_unknown
from telltree.english import simpler_side
from telltree.grammar import Derivation, Grammar
from telltree.grammar.derivation import Population
from telltree.logic import Expression
from telltree.logic.operators import AND, IMPLIES, NOT, OR
from telltree.panel import Panel
from telltree.panel.column_checks import may_be_missing, unchanging
from telltree.search import Progress, Search, SearchResult
from telltree.search.archive import Candidate
from telltree.search.search import Objective, Remember
from telltree.search.state import State
from telltree.tree.backend import Backend
from telltree.tree.criterion import LARGEST, Criterion, criterion_at, gain_of, prepared
from telltree.tree.objective import SplitObjective, total_impurity
from telltree.tree.routing import RoutedFormulas, RoutedObjective, RoutedPopulations
from telltree.tree.settings import Greedy, LookAhead, TreeSettings
from telltree.tree.target import Labels
from telltree.tree.thresholds import Splits, best_thresholds, midpoint_thresholds
from telltree.tree.tree import Leaf, Node, RunnerUp, Unknown

# ---- The search for the split of a node.
#
# The result depends only on the number of the node and its records, not on the time, the place or the order of nodes.


class NodeProgress(NamedTuple):
    """The progress of the search at a node, as callbacks get it."""

    node: int
    """Nodes are numbered as in a heap: the root is 1, the children of n are 2n (true) and 2n + 1."""
    depth: int
    records: int
    search: Progress
    fold: tuple[int, int] | None = None
    """In cross-validation, the number of the fold and the number of folds."""


class NodeTask(NamedTuple):
    """A node to split: its number, and its records by their positions, in ascending order."""

    number: int
    members: NDArray[np.int64]

    @property
    def depth(self) -> int:
        """The number of branches from the root."""
        return self.number.bit_length() - 1

    def children(self, result: "SplitResult") -> "list[NodeTask]":
        """Return the nodes below, the true side first; none for a leaf."""
        if result.split is None:
            return []
        return [NodeTask(2 * self.number, result.split.true), NodeTask(2 * self.number + 1, result.split.false)]


class ShownFormula(NamedTuple):
    """The formula of a split, or its negation, as it is shown where answers may be unknown."""

    formula: Formula
    negated: bool
    unknown: int
    """The number of records with an unknown answer."""
    unknown_is_true: bool
    """True if these records go to the true side of the shown formula."""


class Split(NamedTuple):
    """The split of a node: a formula, and the records for which it is true and false."""

    formula: Formula
    derivation: Derivation
    """The formula as the search found it, before simplification."""
    true: NDArray[np.int64]
    false: NDArray[np.int64]
    fitness: float
    gain: float
    robustness: float
    shown: ShownFormula | None = None
    """The shown formula, if answers may be unknown."""


class SplitResult(NamedTuple):
    """The result at a node: the leaf it is without a split, the search, and the split if it is worth its formula."""

    leaf: Leaf
    search: SearchResult | None = None
    split: Split | None = None

    @property
    def interrupted(self) -> bool:
        """True if Ctrl-C cut the search short."""
        return self.search is not None and self.search.interrupted


class _NodeContext(NamedTuple):
    """The evaluator, objective and clock of one node."""

    evaluator: PopulationEvaluatorProtocol
    objective: SplitObjective
    search_objective: Objective
    """The objective for the search, which may use all of its bounds."""
    criterion: Criterion
    is_late: Callable[[], bool]
    """Returns True once the rest of the work at the node must be cut short."""


@dataclass(frozen=True)
class SplitSearch:
    """Finds the splits of one tree."""

    panel: Panel
    labels: Labels
    grammar: Grammar
    settings: TreeSettings
    callback: Callable[[NodeProgress], None] | None = None
    stop: Callable[[], bool] = bool
    """Returns True once Ctrl-C was pressed."""

    @cached_property
    def missing(self) -> frozenset[str]:
        """The columns with missing or infinite values."""
        return may_be_missing(self.panel)

    @cached_property
    def static(self) -> frozenset[str]:
        """The columns with one value in each record."""
        return unchanging(self.panel)

    @cached_property
    def _search(self) -> Search:
        """The search, which also returns as many formulas as the growth's pool takes."""
        search, pool = self.settings.search, self.settings.pool
        return replace(search, keep=max(search.keep, pool)) if pool else search

    @cached_property
    def _criterion(self) -> Criterion:
        return prepared(self.settings.criterion, self.grammar, self.labels)

    @cached_property
    def _impurity(self) -> float:
        return total_impurity(self.labels)

    @cached_property
    def _code_lengths(self) -> list[float]:
        """The bits that encode a formula of the grammar, by its number of terminals."""
        return self.grammar.bits(LARGEST)

    def find(
        self, task: NodeTask, backend: Backend, state: State | None = None, remember: Remember | None = None
    ) -> SplitResult:
        """Return the result at a node; `state` and `remember` are passed to its search."""
        settings, members, labels = self.settings, task.members, self.labels[task.members]
        leaf, too_few = Leaf(labels.summary()), len(members) < 2 * max(1, settings.min_samples_leaf)
        if self.stop() or labels.is_pure or task.depth >= settings.max_depth or too_few:
            return SplitResult(leaf)
        here = self._context(task, backend)
        found = self._search.run(
            self.grammar,
            here.search_objective,
            _seed(settings.seed, task.number),
            self._callback_at(task),
            tolerance=getattr(here.criterion, "tolerance", 0.0),
            budget_weight=total_impurity(labels) / self._impurity,
            stop=self.stop,
            state=state,
            remember=remember,
        )
        if here.search_objective is not here.objective:
            found = replace(found, proof=None)  # it would hold only without unknown answers
        if found.best is None:
            return SplitResult(leaf, found)
        ties = TieBreaker(here.criterion, settings.max_depth - task.depth - 1, here.is_late)
        best, robustness = ties.choose(found, here.evaluator, self.grammar, labels)
        found = replace(found, runners_up=_with_chosen(best, found.runners_up, here.objective))
        if isinstance(settings.growth, LookAhead) and ties.levels:
            ahead = self._look_ahead(best, found, settings.growth.pool, task, here)
            return SplitResult(leaf, found, None if ahead is None else self.split(ahead, task, backend))
        split = self._split(best, robustness, task, here)
        if not self._is_worth(here.criterion, split):
            return SplitResult(leaf, found)
        return SplitResult(leaf, found, self._simplified(split, task, backend, here))

    def split(self, derivation: Derivation, task: NodeTask, backend: Backend) -> Split:
        """Return the split of a node by this formula, whatever it is worth."""
        here = self._context(task, backend)
        alone = Population.of([derivation], self.grammar.has_random_constants)
        split = self._split(derivation, float(here.evaluator.robustness(alone)[0]), task, here)
        return self._simplified(split, task, backend, here)

    def node(self, result: SplitResult, true: Node | Leaf, false: Node | Leaf) -> Node:
        """Return the node of a split, with these subtrees.

        It shows the formula or its negation, whichever reads better, in normal form, unless the formula stays as it
        was derived. This is decided after the subtrees are learned, so it does not affect what a seed finds.
        """
        split, search = result.split, result.search
        assert split is not None
        node = Node(
            split.formula, true, false, split.fitness, split.gain, split.robustness,
            naming=self._code_lengths[min(split.derivation.expression.terminals, LARGEST)],
        )  # fmt: skip
        if search is not None:
            others = [candidate for candidate in search.runners_up if candidate.derivation != split.derivation]
            by_size = _runners_up([best for best, _ in search.by_size])
            runners_up = _runners_up(others[: self.settings.search.keep])
            node = replace(node, runners_up=runners_up, by_size=by_size, proof=search.proof)
        expression, found = split.formula.expression, Formula(split.derivation.expression)
        if split.shown is not None:
            shown, negated, unknown, unknown_is_true = split.shown
            sides = (false, true) if negated else (true, false)
            resolved = Formula(resolve_unknown(shown.expression, unknown_is_true))
            node = replace(node, formula=resolved, true=sides[0], false=sides[1])
            return replace(
                node, unknown=Unknown(shown, unknown_is_true, unknown), found=None if shown == found else found
            )
        if not self.settings.growth.simplify or _has_own_english(expression):
            return node if split.formula == found else replace(node, found=found)
        better, negated = simpler_side(expression, self.missing, static=self.static)
        sides = (false, true) if negated else (true, false)
        formula = Formula(better)
        return replace(node, formula=formula, true=sides[0], false=sides[1], found=None if formula == found else found)

    def _context(self, task: NodeTask, backend: Backend) -> _NodeContext:
        is_late, labels = self._deadline(), self.labels[task.members]
        criterion = criterion_at(self._criterion, len(task.members))
        evaluator: PopulationEvaluatorProtocol = backend.evaluator(task.members)
        may_be_unknown = self.settings.three_valued and bool(self.missing or self.grammar.functions)
        if may_be_unknown:
            formulas = RoutedFormulas(backend.formulas(task.members), labels)
            evaluator = RoutedPopulations(evaluator, formulas, self.grammar, self.missing)
        objective = SplitObjective(
            evaluator, labels, criterion, self.settings.min_samples_leaf,
            part=lambda some: backend.evaluator(task.members[some]),
        )  # fmt: skip
        search_objective = RoutedObjective(objective) if may_be_unknown else objective
        return _NodeContext(evaluator, objective, search_objective, criterion, is_late)

    def _deadline(self) -> Callable[[], bool]:
        """Return a function that is true once the rest of the work at the node that begins now must be cut short.

        That is after Ctrl-C, or when time is up: a node may take a second, or a twenty-fifth, longer than its search.
        """
        given, begun = self.settings.search.seconds, time.monotonic()
        end = math.inf if given is None else begun + given + max(1.0, 0.04 * given)
        return lambda: self.stop() or time.monotonic() >= end

    def _callback_at(self, task: NodeTask) -> Callable[[Progress], None] | None:
        callback = self.callback
        if callback is None:
            return None
        return lambda progress: callback(NodeProgress(task.number, task.depth, len(task.members), progress))

    def _look_ahead(
        self, best: Derivation, found: SearchResult, pool: int, task: NodeTask, here: _NodeContext
    ) -> Derivation | None:
        """Return the formula of the split that is best together with those below it."""
        from telltree.tree.branch_and_bound import best_ahead  # few trees are grown so
        from telltree.tree.criterion import tree_cost

        labels = self.labels[task.members]
        cost = tree_cost(self.settings.criterion, self.grammar, self.labels, labels)
        least = self.settings.min_samples_leaf
        return best_ahead(best, found, pool, here.evaluator, labels, cost=cost, least=least)

    def _split(self, found: Derivation, robustness: float, task: NodeTask, here: _NodeContext) -> Split:
        """Return the split by a formula as the search found it."""
        alone = Population.of([found], self.grammar.has_random_constants)
        truth, fitness = here.evaluator.truth(alone)[0], float(here.objective(alone, np.arange(1)).fitness[0])
        gain = gain_of(here.criterion, self.labels[task.members].totals(), len(found), fitness)
        sides = task.members[truth], task.members[~truth]
        return Split(Formula(found.expression), found, *sides, fitness, gain, robustness)

    def _is_worth(self, criterion: Criterion, split: Split) -> bool:
        growth = self.settings.growth
        greedy = growth if isinstance(growth, Greedy) else Greedy()
        least = getattr(criterion, "least_gain", None) if greedy.min_gain is None else greedy.min_gain
        if least is not None and not split.gain >= least:
            return False
        true, false = (self.labels[side].summary().predicted for side in (split.true, split.false))
        return not greedy.prevent_same_label or true != false

    def _simplified(self, split: Split, task: NodeTask, backend: Backend, here: _NodeContext) -> Split:
        """Return the split with its final formula.

        Parts that decide nothing for these records are dropped, and constants move to the best gap, or to the middle of
        theirs, as the settings say.
        """
        settings = self.settings
        if not settings.growth.simplify and not settings.three_valued:
            return split
        formulas, found, is_late = backend.formulas(task.members), split.derivation.expression, here.is_late
        if settings.three_valued:
            formulas = RoutedFormulas(formulas, self.labels[task.members])
            if not settings.growth.simplify:
                return split._replace(shown=self._shown(found, formulas))
        final = without_idle_parts(found, formulas, is_late)
        if settings.growth.thresholds == "best":
            split, final = self._with_best_thresholds(split, final, task, formulas, here)
        final = midpoint_thresholds(final, formulas, settings.movable, is_late)
        if final != found:
            split = split._replace(formula=Formula(final), robustness=float(formulas.robustness([final])[0]))
        return split._replace(shown=self._shown(final, formulas)) if isinstance(formulas, RoutedFormulas) else split

    def _with_best_thresholds(
        self, split: Split, formula: Expression, task: NodeTask, formulas: FormulaEvaluatorProtocol, here: _NodeContext
    ) -> tuple[Split, Expression]:
        """Return the split with its fittest constants, and the formula; unchanged if it would not be worth its
        formula."""
        labels = self.labels[task.members]
        splits = Splits(labels, here.criterion, len(split.derivation), self.settings.min_samples_leaf)
        moved = best_thresholds(formula, formulas, self.settings.movable, splits, here.is_late)
        if moved == formula:
            return split, formula
        truth = formulas.truth([moved])[0]
        fitness = splits.of(truth)
        gain = gain_of(here.criterion, labels.totals(), len(split.derivation), fitness)
        better = split._replace(true=task.members[truth], false=task.members[~truth], fitness=fitness, gain=gain)
        return (better, moved) if self._is_worth(here.criterion, better) else (split, formula)

    def _shown(self, final: Expression, formulas: RoutedFormulas) -> ShownFormula:
        """Return the formula or its negation, whichever reads better, in normal form.

        It stays as it is if showing it otherwise would send some records elsewhere: with equally many records on both
        sides, the side of unknown answers depends on which side is called true.
        """
        stays = not self.settings.growth.simplify or _has_own_english(final)
        better, negated = (final, False) if stays else simpler_side(final, frozenset(), static=self.static)
        own, shown = formulas.routed([final, better])
        if not np.array_equal(own.truth ^ negated, shown.truth):
            better, negated, shown = final, False, own
        return ShownFormula(Formula(better), negated, shown.unknown, shown.unknown_is_true)


def _has_own_english(e: Expression) -> bool:
    """Return True if the grammar words some part of the expression itself: its English may mention every part."""
    return any(part.english is not None for part in e.walk())


def _with_chosen(best: Derivation, others: tuple[Candidate, ...], objective: SplitObjective) -> tuple[Candidate, ...]:
    """Return the runners-up with the chosen formula in place of the one that splits the records as it does."""
    all_of_them = Population.of([best, *(one.derivation for one in others)], best.grammar.has_random_constants)
    fitness, answer, _ = objective(all_of_them, np.arange(1 + len(others)))
    chosen = Candidate(best, float(fitness[0]))
    return tuple(chosen if answer[k] == answer[0] else one for k, one in enumerate(others, 1))


def _runners_up(candidates: Iterable[Candidate]) -> tuple[RunnerUp, ...]:
    return tuple(RunnerUp(Formula(one.derivation.expression), one.fitness) for one in candidates)


def _seed(seed: int, number: int) -> int:
    """Return the seed of a node, which depends only on the tree's seed and the node's number."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0])


# ---- The choice among formulas that a search found equally good.

_SHORT = 0.05  # seconds; after a shorter batch, the next one is four times as large


class TieBreaker(NamedTuple):
    """The choice between formulas that tie: by a criterion, the number of levels below the node, and a deadline."""

    criterion: Criterion
    levels: int
    is_late: Callable[[], bool]

    def choose(
        self, found: SearchResult, evaluator: PopulationEvaluatorProtocol, grammar: Grammar, labels: Labels
    ) -> tuple[Derivation, float]:
        """Return the chosen formula and its robustness.

        Preferred are, in this order, formulas that leave the levels below enough room to tell the kinds of records
        apart, the shortest if the criterion says so, the most robust, the smallest, and the first by text. A criterion
        may ask for the first that was found instead.
        """
        assert found.ties is not None
        assert found.best is not None
        if getattr(self.criterion, "ties", None) == "first":
            first = Population.of([found.best.derivation], grammar.has_random_constants)
            return found.best.derivation, float(evaluator.robustness(first)[0])
        ties, size = self._rivals(found.ties, evaluator, labels)
        shorter = self._shorter(found, labels, size)
        if shorter is not None:
            ties, _ = self._rivals(shorter, evaluator, labels)
        robustness = self._robustness(evaluator, ties)
        most_robust = np.flatnonzero(robustness == robustness.max())
        derivations = [grammar.derivation(ties, int(i)) for i in most_robust]
        return min(derivations, key=lambda d: (len(d), str(d))), float(robustness.max())

    def _rivals(
        self, tied: Population, evaluator: PopulationEvaluatorProtocol, labels: Labels
    ) -> tuple[Population, int]:
        """Return the formulas between which robustness decides, and the size of the smallest."""
        kinds = labels.kinds()
        tally = evaluator.evaluate(tied, np.arange(len(tied.lengths)), evaluator.masks(kinds))
        rivals = _with_room(tally.counts, np.array([np.count_nonzero(kind) for kind in kinds], np.int64), self.levels)
        least = int(tally.size[rivals].min())
        if getattr(self.criterion, "shorter_first", False):
            rivals = rivals[tally.size[rivals] == least]
        return tied.take(rivals), least

    def _shorter(self, found: SearchResult, labels: Labels, size: int) -> Population | None:
        """Return the formulas of the smallest size that are nearly as good as the best, given a leniency.

        None if they are not smaller than `size`. Formulas below the criterion's `brief` size are not considered.
        """
        leniency = getattr(self.criterion, "leniency", 0.0)
        if not leniency:
            return None
        assert found.best is not None
        best = found.best.fitness
        gain = gain_of(self.criterion, labels.totals(), len(found.best.derivation), best)
        least = getattr(self.criterion, "brief", 0)
        for candidate, ties in found.by_size:
            if least <= len(candidate.derivation) < size and candidate.fitness <= best + leniency * gain:
                return ties
        return None

    def _robustness(self, evaluator: PopulationEvaluatorProtocol, ties: Population) -> NDArray[np.float64]:
        """Return the robustness of formulas, exact for the most robust only; −1 for those after the deadline."""
        found, done, at_a_time = np.full(len(ties.lengths), -1.0), 0, 1
        while done < len(found) and not (done and self.is_late()):
            part, began = np.arange(done, min(done + at_a_time, len(found))), time.monotonic()
            found[part] = evaluator.robustness(ties.take(part), cutoff=max(0.0, found.max()))
            done += len(part)
            at_a_time *= 4 if time.monotonic() - began < _SHORT else 1
        return found


def _with_room(true: NDArray[np.int64], total: NDArray[np.int64], levels: int) -> NDArray[np.int64]:
    """Return the splits whose sides have no more kinds than the levels below can tell apart, one kind per level.

    If there is none, those for which halving the kinds at each level would do; else all. Gini impurity does not see
    this: of eight classes, splitting off one is as good as splitting four from four.
    """
    most = np.maximum(np.count_nonzero(true, axis=1), np.count_nonzero(total - true, axis=1))
    for enough in (levels + 1, 1 << min(levels, 62)):
        if (most <= enough).any():
            return np.flatnonzero(most <= enough)
    return np.arange(len(true))


# ---- Simplification: parts of a chosen formula that decide nothing for the records at hand are dropped.
#
# A search keeps harmless parts, such as b in `F(a ∧ b)` where b holds whenever a does. A reader believes that b
# matters.


def without_idle_parts(
    formula: Expression, formulas: FormulaEvaluatorProtocol, is_late: Callable[[], bool] = bool
) -> Expression:
    """Return the formula without parts whose removal changes no answer for the records of the evaluator.

    Of several parts that could be dropped, the longest goes first. A formula with English of its own from a grammar is
    not changed. When it is late, the rest stays.
    """
    if _has_own_english(formula):
        return formula
    while not is_late() and (shorter := list(dict.fromkeys(_shorter(formula)))):
        truth = formulas.truth([formula, *shorter])
        alike = [e for e, answers in zip(shorter, truth[1:], strict=True) if np.array_equal(answers, truth[0])]
        if not alike:
            break
        formula = min(alike, key=lambda e: (e.terminals, str(e)))
    return formula


def _shorter(e: Expression) -> Iterator[Expression]:
    """Yield the expression with one connective replaced by one of its sides, for each connective and side."""
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
