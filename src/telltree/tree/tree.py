"""The learned tree: small, frozen, and all that prediction needs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.engine import CompiledFormulas, Formula, truth_of
from telltree.engine.three_valued import bounds, columns_tested_for_missing
from telltree.logic import Expression
from telltree.panel import Panel, Schema
from telltree.panel.column_checks import unchanging
from telltree.panel.input_options import DEFAULT_ARGUMENTS, ReadArguments
from telltree.search.proof import Proof
from telltree.text import counted, escaped, percent, visible
from telltree.tree.target import Summary, Target

# ---- Minimum recalls of classes, and their effects.


class ClassRecall(NamedTuple):
    """The recall of a class, and its price in precision."""

    recall: float
    """The share of its records that are predicted so."""
    precision: float | None
    """Its share of the records predicted so; None if there are none."""


@dataclass(frozen=True)
class Floor:
    """A minimum recall of one class, and its effect on the training records."""

    label: Any
    floor: float
    """The minimum share of its records to be predicted so."""
    factor: float
    """The factor by which its records weigh more in the leaves."""
    before: ClassRecall
    """Without the minimum."""
    after: ClassRecall
    """With it."""

    def __str__(self) -> str:
        recall, was = percent(self.after.recall), percent(self.before.recall)
        precision, had = percent(self.after.precision), percent(self.before.precision)
        least = percent(self.floor)
        if self.factor == 1:
            return f"recall of {self.label} on the training records is {recall}, at least {least} as it was to be"
        return (
            f"recall of {self.label} on the training records is {recall} instead of {was}, at least {least} as it was "
            f"to be, and precision {precision} instead of {had}: in the leaves, its records weigh {self.factor:.3g} "
            "times as much"
        )


# ---- The proof of an optimal tree.


@dataclass(frozen=True)
class Optimum:
    """The proof that no tree over a pool of questions costs less than this one on the training records.

    levels: the most questions on a path.
    pool: the number of questions to choose from, which all answer differently.
    leaves: the number of leaves of the proved tree; a pruned one has fewer.
    compared: the number of splits of a node that were compared to cover all trees.
    left_out: the number of questions of a node that were left out with all trees below them, because they would cost
        more even if every leaf had one class.
    cost: the cost of the tree, leaves and questions together.
    greedy: the cost of the tree that was grown one question at a time.
    told_in: the unit of costs, in words.
    """

    levels: int
    pool: int
    leaves: int
    compared: int
    left_out: int
    cost: float
    greedy: float
    told_in: str

    @property
    def trees(self) -> int:
        """The number of trees over these questions that the proof covers, a single leaf included."""
        found = 1
        for _ in range(self.levels):
            found = 1 + self.pool * found**2
        return found

    def __str__(self) -> str:
        answer = ("question that answers", "questions that answer")
        bounds = f", and {counted(self.left_out, 'question')} left out by what leaves of one class each would cost"
        return (
            f"no tree of up to {counted(self.levels, 'level')} over {counted(self.pool, *answer)} "
            f"differently costs less than {self.cost:,.2f} {self.told_in}; the tree that was grown greedily costs "
            f"{self.greedy:,.2f}: {counted(self.trees, 'tree')}, covered by comparing {counted(self.compared, 'split')}"
            f"{bounds if self.left_out else ''}"
        )


# ---- The tree.

INDENT = "│   "


@dataclass(frozen=True)
class Headline:
    """A short formula that is true of all or most training records of a leaf, and of few others."""

    formula: Formula
    others: int
    """The training records of other leaves that it is also true of."""
    elsewhere: int
    """The training records of all other leaves."""
    missed: int = 0
    """The training records of the leaf that it is not true of."""


@dataclass(frozen=True)
class Condition:
    """The condition under which a sentence about a leaf applies to a record: the A of "whenever A, B"."""

    formula: Formula
    members: int
    """The training records of the leaf to which it applies."""


@dataclass(frozen=True)
class Leaf:
    """A category: the summary of its training records, which predicts, and short descriptions."""

    summary: Summary
    """The summary of the training records that came here."""
    headline: Headline | None = None
    """None if no short formula qualifies, or the tree is a single leaf."""
    short: Formula | None = None
    """A formula that is true of exactly the training records that reached this leaf, and shorter than the whole path;
    for other records it may differ. None if there is none that is much shorter.
    """
    conditions: tuple[Condition, ...] = ()
    """The conditions of its headline, its short formula, its path, and each branch on it."""

    @property
    def support(self) -> int:
        """The number of training records that came here."""
        return self.summary.support


@dataclass(frozen=True)
class RunnerUp:
    """A formula that would have split the records differently, and nearly as well."""

    formula: Formula
    fitness: float


@dataclass(frozen=True)
class Unknown:
    """The shown formula of a node where answers may be unknown, and the routing of records with an unknown answer."""

    shown: Formula
    """The shown formula. The node's own formula has the same answer where this one's is known."""
    is_true: bool
    """The more frequent known answer among the node's training records, by weight; False if both are equally frequent.
    An unknown answer counts as this.
    """
    records: int
    """The number of training records of the node with an unknown answer."""

    @property
    def side(self) -> str:
        """The answer that an unknown one counts as."""
        return "yes" if self.is_true else "no"


@dataclass(frozen=True)
class Node:
    """A branch: records for which the formula is true go one way, the others the other."""

    formula: Formula
    true: "Node | Leaf"
    false: "Node | Leaf"
    fitness: float = 0.0
    gain: float = 0.0
    """The decrease of fitness by the split."""
    robustness: float = 0.0
    """The distance of the nearest training record from the other side, in standard deviations."""
    runners_up: tuple[RunnerUp, ...] = ()
    found: Formula | None = None
    """The formula as the search found it, if it was shortened, moved to midpoints or negated since."""
    naming: float = 0.0
    """The bits that name the formula among those of the grammar that are no larger; see `telltree.tree.MDL`."""
    by_size: tuple[RunnerUp, ...] = ()
    """The best formula of each size that is fitter than all smaller ones, the smallest first."""
    proof: Proof | None = None
    """The formulas that are certain not to be fitter than the best one found, if the search proves that."""
    unknown: Unknown | None = None
    """If answers may be unknown: the shown formula, and the routing of unknown answers."""

    @property
    def shown(self) -> Formula:
        """The shown formula; the routing of unknown answers is shown beside it."""
        return self.formula if self.unknown is None else self.unknown.shown

    @property
    def unknown_note(self) -> str | None:
        """The number of training records with an unknown answer and where they went; None if there were none."""
        if self.unknown is None or not self.unknown.records:
            return None
        number, all_of_them = self.unknown.records, counted(self.summary.support, "record")
        went = "goes" if number == 1 else "go"
        return f"unknown for {number:,} of {all_of_them}, which {went} with '{self.unknown.side}'"

    @cached_property
    def summary(self) -> Summary:
        """The summary of the training records of both sides."""
        return self.true.summary + self.false.summary


Branch = tuple[Formula, bool]


class UnsureBranch(tuple[Formula, bool]):
    """A branch of a node whose answer may be unknown; it unpacks like any other."""

    node: Node

    def __new__(cls, node: Node, truth: bool) -> "UnsureBranch":
        branch = super().__new__(cls, (node.formula, truth))
        branch.node = node
        return branch

    def __getnewargs__(self) -> tuple[Node, bool]:  # made of a node, not of its own items
        return self.node, self[1]

    @property
    def takes_unknown(self) -> bool:
        """True if records with an unknown answer take this branch."""
        return self.node.unknown is not None and self.node.unknown.is_true == self[1]


@dataclass(frozen=True)
class Tree:
    """A binary tree of formulas over the columns of `schema`, with a summary of a target in each leaf."""

    root: Node | Leaf
    schema: Schema
    missing: frozenset[str] | None = None
    """The columns that had missing or infinite values in training, which English must allow for; None: any may."""
    step: tuple[float | None, str] | None = None
    """The length of a step in training (None if steps differed) and the unit of times; None if times were not known.

    Steps are worded as durations by it, and `elapsed()` means times in this unit, or else steps.
    """
    how_read: ReadArguments = DEFAULT_ARGUMENTS
    """The way in which the training records were read."""
    optimum: Optimum | None = None
    """The proof for the whole tree, if it was grown so that there is one."""
    floors: tuple[Floor, ...] = ()
    """The minimum recalls of classes, and their effects."""

    @cached_property
    def leaves(self) -> tuple[tuple[Leaf, tuple[Branch, ...]], ...]:
        """The leaves from left to right, the true branch first, each with its path."""
        return tuple(_leaves(self.root, ()))

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The branching nodes in preorder, the true child first."""
        return tuple(_nodes(self.root))

    @property
    def summary(self) -> Summary:
        """The summary of all training records."""
        return self.root.summary

    @property
    def target(self) -> Target:
        """The target of its predictions."""
        return self.summary.target

    @property
    def records(self) -> int:
        """The number of training records."""
        return self.summary.support

    @property
    def unit(self) -> float:
        """The number of records that a weight of 1 counts for."""
        return self.records / self.summary.weight if self.summary.weight else 1.0

    @property
    def depth(self) -> int:
        """The number of branches on the longest path from the root to a leaf."""
        return max(len(path) for _, path in self.leaves)

    @cached_property
    def weighted(self) -> bool:
        """True if some training records counted more than others."""
        return any(leaf.summary.is_weighted(self.unit) for leaf, _ in self.leaves)

    @property
    def terminals(self) -> float:
        """The mean number of terminals of the formulas, the paper's measure of how hard they are to read."""
        return float(np.mean([node.shown.terminals for node in self.nodes])) if self.nodes else 0.0

    def truth(self, panel: Panel) -> NDArray[np.bool_]:
        """Return the truth of every node's formula for every record: nodes × records."""
        return self._compiled.truth(self.aligned(panel))

    @cached_property
    def _compiled(self) -> CompiledFormulas:
        return CompiledFormulas([node.formula.expression for node in self.nodes], self.schema)

    def aligned(self, panel: Panel) -> Panel:
        """Return the records with the columns of the tree.

        DataError if it needs times that they do not have, or if its own records were resampled to steps of another
        length.
        """
        self.how_read.check(self.step, panel.step)
        self._compiled.check_time(self.step, panel)
        return panel.aligned(self.schema) if self.nodes else panel

    def apply(self, panel: Panel) -> NDArray[np.int64]:
        """Return the cluster number of every record: leaves from left to right, from 1."""
        return self.apply_truth(self.truth(panel))

    def apply_truth(self, truth: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the cluster numbers of records, given the truth of the nodes' formulas."""
        clusters = np.zeros(truth.shape[1], np.int64)
        rows, numbers = iter(truth), iter(range(1, len(self.leaves) + 1))

        def descend(node: Node | Leaf, here: NDArray[np.bool_]) -> None:
            if isinstance(node, Leaf):
                clusters[here] = next(numbers)
            else:
                holds = next(rows)  # nodes are visited in preorder, as the rows are
                descend(node.true, here & holds)
                descend(node.false, here & ~holds)

        descend(self.root, np.ones(truth.shape[1], np.bool_))
        return clusters

    def passes(self, panel: Panel) -> NDArray[np.bool_]:
        """Return True where a record passes a node: records × nodes, in preorder, leaves included."""
        return self.passes_truth(self.truth(panel))

    def passes_truth(self, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the same, given the truth of the nodes' formulas."""
        rows, found = iter(truth), []

        def descend(node: Node | Leaf, here: NDArray[np.bool_]) -> None:
            found.append(here)
            if isinstance(node, Node):
                holds = next(rows)
                descend(node.true, here & holds)
                descend(node.false, here & ~holds)

        descend(self.root, np.ones(truth.shape[1], np.bool_))
        return np.array(found).T

    def unknown(self, panel: Panel) -> NDArray[np.bool_]:
        """Return True where a record passes a node at which its answer is unknown: records × nodes, as in `passes`.

        Nothing is unknown where an atom on a missing value is false.
        """
        aligned = self.aligned(panel)
        return self.unknown_truth(lambda expressions: truth_of(expressions, aligned))

    def unknown_truth(self, truth_of: Callable[[Sequence[Expression]], NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """Return the same, given a function for the truth of formulas: formulas × records."""
        truth = truth_of([node.formula.expression for node in self.nodes])
        pairs = [bounds(node.shown.expression) for node in self.nodes if node.unknown]
        known = truth_of([bound for pair in pairs for bound in pair])
        rows, none = iter(known[::2] != known[1::2]), np.zeros(truth.shape[1], np.bool_)
        found: list[NDArray[np.bool_]] = []

        def descend(node: Node | Leaf) -> None:
            found.append(next(rows) if isinstance(node, Node) and node.unknown else none)
            if isinstance(node, Node):
                descend(node.true)
                descend(node.false)

        descend(self.root)
        return self.passes_truth(truth) & np.array(found).T

    def predict(self, panel: Panel) -> NDArray[Any]:
        """Return the prediction for every record."""
        found: NDArray[Any] = self.target.predictions(self.summaries)[self.apply(panel) - 1]
        return found

    @property
    def summaries(self) -> list[Summary]:
        """The summaries of the leaves, from left to right."""
        return [leaf.summary for leaf, _ in self.leaves]

    def narrowed(self) -> "Tree":
        """Return the tree with only the columns that it mentions; with all if it mentions none."""
        used = {name for node in self.nodes for name in node.formula.expression.attributes()}
        if not used:
            return self
        schema = Schema(column for column in self.schema.values() if column.name in used)
        return replace(self, schema=schema, how_read=self.how_read.of(used))

    def worded_for(self, panel: Panel) -> "Tree":
        """Return the tree worded for these records: a column that changes in one of them is not called static.

        A column with one value in each training record is mentioned without "at some point", until it changes.
        """
        changing = self.static - unchanging(panel.select([name for name in panel.schema if name in self.static]))
        if not changing:
            return self
        columns = (replace(c, static=c.static and c.name not in changing) for c in self.schema.values())
        return replace(self, schema=Schema(columns))

    def plain(self) -> "Tree":
        """Return the tree with formulas in their simplest form.

        They answer alike on every possible record in which only the columns of `missing` miss values.
        """

        from telltree.english import plain  # prediction needs no English

        def below(node: Node | Leaf) -> Node | Leaf:
            if isinstance(node, Leaf):
                return node
            formula = node.formula
            if node.unknown is None:  # else it is in its simplest form, and answers for all columns
                formula = Formula(plain(formula.expression, self.missing, static=self.static))
            return replace(node, formula=formula, true=below(node.true), false=below(node.false))

        return replace(self, root=below(self.root))

    @property
    def three_valued(self) -> bool:
        """True if answers may be unknown."""
        return any(node.unknown is not None for node in self.nodes)

    @property
    def static(self) -> frozenset[str]:
        """The columns with one value per record."""
        return frozenset(column.name for column in self.schema.values() if column.static)

    def sentence(self, *claims: Expression) -> str:
        """Return the plain English for the conjunction of these formulas; "every record" for none."""
        if not claims:
            return "every record"
        from telltree.english.styles import all_of, english  # prediction needs no English

        return english(all_of(claims), self.schema, self.missing, style="plain", step=self.step)

    def question(self, node: Node) -> str:
        """Return the question of a node, in plain English without a question mark."""
        from telltree.english.styles import english  # prediction needs no English

        return english(node.shown, self.schema, self.missed_by(node), style="plain", step=self.step)

    def missed_by(self, node: Node) -> frozenset[str] | None:
        """Return the columns whose missing values must be mentioned in the question of a node.

        Unknown answers are described beside the question, which itself is about values that are there, unless it asks
        whether they are.
        """
        return self.missing if node.unknown is None else columns_tested_for_missing(node.shown.expression)

    def conditions(self, *claims: Expression) -> tuple[Expression, ...]:
        """Return the conditions under which the sentence for these claims applies to a record."""
        from telltree.english.styles import conditions_of  # prediction needs no English

        return conditions_of(claims, self.schema, self.missing, self.step)

    def __str__(self) -> str:
        def question_lines(node: Node) -> list[str]:
            return [str(node.shown), *([] if node.unknown_note is None else [f"{INDENT}{node.unknown_note}"])]

        return "\n".join(tree_lines(self, question_lines, _mixed))

    def _repr_html_(self) -> str:
        """Return the printed tree for notebooks; a fitted classifier shows it with English."""
        return "<pre>" + "\n".join(map(escaped, str(self).splitlines())) + "</pre>"


def are_siblings(one: Sequence[Branch], other: Sequence[Branch]) -> bool:
    """Return True if two leaves of one tree belong to the same last question."""
    return len(one) == len(other) > 0 and one[:-1] == other[:-1] and one[-1][1] != other[-1][1]


def _leaves(node: Node | Leaf, path: tuple[Branch, ...]) -> Iterator[tuple[Leaf, tuple[Branch, ...]]]:
    if isinstance(node, Leaf):
        yield node, path
    else:
        for side, truth in ((node.true, True), (node.false, False)):
            branch = (node.formula, truth) if node.unknown is None else UnsureBranch(node, truth)
            yield from _leaves(side, (*path, branch))


def _nodes(node: Node | Leaf) -> Iterator[Node]:
    if isinstance(node, Node):
        yield node
        yield from _nodes(node.true)
        yield from _nodes(node.false)


def _mixed(summary: Summary) -> str:
    return f"{summary.title}  ({'; '.join(filter(None, [summary.mixed, summary.remark]))})"


def tree_lines(
    tree: Tree, question_lines: Callable[[Node], Sequence[str]], outcome: Callable[[Summary], str]
) -> Iterator[str]:
    """Yield the lines of a tree: the question of each node, in one line or more, and the outcome at each leaf."""
    numbers = iter(range(1, len(tree.leaves) + 1))

    def lines(node: Node | Leaf, first: str, rest: str) -> Iterator[str]:
        if isinstance(node, Leaf):
            yield f"{first}[{next(numbers)}] {outcome(node.summary)}"
            return
        question, *more = question_lines(node)
        yield first + question
        yield from (rest + line for line in more)
        yield from lines(node.true, rest + "├─ yes: ", rest + INDENT)
        yield from lines(node.false, rest + "└─ no:  ", rest + "    ")

    return map(visible, lines(tree.root, "", ""))
