"""The tree that was learned: small, frozen, and all that prediction needs."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.engine import Formula, truth_of
from telltree.engine.formula import check_clock
from telltree.engine.three_valued import asked_missing, bounds
from telltree.logic import Expression
from telltree.panel import Panel, Schema
from telltree.panel.how_read import AS_USUAL, HowRead
from telltree.panel.panel import escaped
from telltree.panel.usable import unchanging
from telltree.search.search import Proof
from telltree.text import counted, percent, visible
from telltree.tree.target import Summary, Target

# ---- What became of a floor for the recall of a class.


class ClassRecall(NamedTuple):
    """The recall of a class, and its price in precision."""

    recall: float
    """The share of its records that are predicted so."""
    precision: float | None
    """The share of the records predicted so that are of it; None if there are none."""


@dataclass(frozen=True)
class Floor:
    """The effect of the least recall of one class, on the training records."""

    label: Any
    floor: float
    """The least share of its records that shall be found."""
    factor: float
    """How many times as much its records weigh in the leaves as they did."""
    before: ClassRecall
    """Without it."""
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


# ---- What was proved of a tree as a whole.


@dataclass(frozen=True)
class Optimum:
    """The proof that no tree over a pool of questions costs less than this one, on the training records.

    levels: how many questions trees may ask one after the other.
    pool: between how many questions that answer differently there was to choose.
    leaves: how many leaves the tree has that is proved; one that was pruned has fewer.
    compared: how many splits of a node were compared to cover all trees.
    left_out: how many questions of a node were left out with all trees below them, because they would cost more even if
        every leaf was of one class.
    cost: what the tree costs, leaves and questions together.
    greedy: what the tree costs that was grown one question at a time.
    told_in: what that is counted in.
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
        """The number of trees of these questions that the proof covers, a single leaf included."""
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


# ---- The tree that was learned: small, frozen, and all that prediction needs.

_BAR = "│   "


@dataclass(frozen=True)
class Headline:
    """A short formula that is true of all or most training records of a leaf, and of few others."""

    formula: Formula
    others: int
    """How many training records of other leaves it is also true of."""
    elsewhere: int
    """How many training records other leaves have."""
    missed: int = 0
    """How many training records of the leaf it is not true of."""


@dataclass(frozen=True)
class Condition:
    """The condition under which a sentence about a leaf says anything of a record: the A of "whenever A, B"."""

    formula: Formula
    members: int
    """In how many training records of the leaf it does."""


@dataclass(frozen=True)
class Leaf:
    """A category: what it says of the records that come here, and what is predicted for them."""

    summary: Summary
    """Of the training records that came here."""
    headline: Headline | None = None
    """None if no short formula qualifies, or the tree is a single leaf."""
    short: Formula | None = None
    """A formula that is true of exactly the training records that reached this leaf, and shorter than the whole path;
    for other records it may differ. None if there is none that is much shorter.
    """
    conditions: tuple[Condition, ...] = ()
    """Those of the sentences about it: its headline, its short formula, its path, and each branch on it."""

    @property
    def support(self) -> int:
        """Training records that came here."""
        return self.summary.support


@dataclass(frozen=True)
class RunnerUp:
    """A formula that would have split the records differently, and nearly as well."""

    formula: Formula
    fitness: float


@dataclass(frozen=True)
class Unknown:
    """A node's formula where answers may be unknown, and the routing of records with an unknown answer."""

    said: Formula
    """The question. The node's own formula answers alike where this one's answer is known."""
    goes: bool
    """The answer of more training records of the node, by weight, of those whose answer is known; no if both are as
    many. Where it is unknown, it counts as this."""
    records: int
    """Training records of the node whose answer is unknown."""

    @property
    def side(self) -> str:
        """The answer that an unknown one counts as."""
        return "yes" if self.goes else "no"


@dataclass(frozen=True)
class Node:
    """A branch: records for which the formula is true go one way, the others the other."""

    formula: Formula
    true: "Node | Leaf"
    false: "Node | Leaf"
    fitness: float = 0.0
    gain: float = 0.0
    """By how much the split lowers the fitness of not splitting at all."""
    robustness: float = 0.0
    """How far the nearest training record is from the other side, in standard deviations."""
    runners_up: tuple[RunnerUp, ...] = ()
    found: Formula | None = None
    """The formula as the search found it, if it was shortened, centred or complemented since."""
    naming: float = 0.0
    """The bits that name the formula among those of the grammar that are no larger; see `telltree.tree.MDL`."""
    by_size: tuple[RunnerUp, ...] = ()
    """The best formula of each size that is fitter than all smaller ones, the smallest first."""
    proof: Proof | None = None
    """Which formulas are certain not to be fitter than the best that was found, if the search proves that."""
    unknown: Unknown | None = None
    """If answers may be unknown: the question as it is said, and where a record goes whose answer is."""

    @property
    def said(self) -> Formula:
        """The formula as it is shown: what is done with unknown answers is told beside it."""
        return self.formula if self.unknown is None else self.unknown.said

    @property
    def doubt(self) -> str | None:
        """The number of training records with an unknown answer and where they went; None if there were none."""
        if self.unknown is None or not self.unknown.records:
            return None
        told, all_of_them = self.unknown.records, counted(self.summary.support, "record")
        return (
            f"unknown for {told:,} of {all_of_them}, which {'goes' if told == 1 else 'go'} with '{self.unknown.side}'"
        )

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
        return self.node.unknown is not None and self.node.unknown.goes == self[1]


@dataclass(frozen=True)
class Tree:
    """A binary tree of formulas over the columns of `schema`, whose leaves say something of a target."""

    root: Node | Leaf
    schema: Schema
    missing: frozenset[str] | None = None
    """The columns that had missing or infinite values in training, which English must allow for; None: any may."""
    step: tuple[float | None, str] | None = None
    """The length of a step in training, None if steps differed, and the unit of times; None if times were not known.

    Counts are told as durations by it, and `elapsed()` means times in this unit, or else steps."""
    how_read: HowRead = AS_USUAL
    """How the training records were read."""
    optimum: Optimum | None = None
    """What is proved of the whole tree, if it was grown so that something is."""
    floors: tuple[Floor, ...] = ()
    """What became of the floors for the recall of classes, if there were any."""

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
        return float(np.mean([node.said.terminals for node in self.nodes])) if self.nodes else 0.0

    def truth(self, panel: Panel) -> NDArray[np.bool_]:
        """The truth of every node's formula for every record: nodes × records."""
        return truth_of([node.formula.expression for node in self.nodes], self.aligned(panel))

    def aligned(self, panel: Panel) -> Panel:
        """The records as the tree reads them: with its columns.

        DataError if it needs times that they do not have, or if its own records were resampled to steps of another
        length.
        """
        self.how_read.check(self.step, panel)
        check_clock((node.formula.expression for node in self.nodes), self.step, panel)
        return panel.aligned(self.schema) if self.nodes else panel

    def apply(self, panel: Panel) -> NDArray[np.int64]:
        """The cluster number of every record: leaves from left to right, from 1."""
        return self.apply_truth(self.truth(panel))

    def apply_truth(self, truth: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The cluster numbers of records for which the nodes' formulas are known to be true or false."""
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
        """True where a record passes a node: records × nodes, in preorder, leaves included."""
        return self.passes_truth(self.truth(panel))

    def passes_truth(self, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The passes of records, given the truth of the nodes' formulas."""
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
        """True where a record passes a node and its answer there is unknown: records × nodes, in preorder, leaves
        included, as `passes` has them. Nothing is unknown where an atom on a missing value is false.
        """
        aligned = self.aligned(panel)
        return self.unknown_truth(lambda asked: truth_of(asked, aligned))

    def unknown_truth(self, truth_of: Callable[[Sequence[Expression]], NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """The unknown answers of records, given a function for the truth of formulas: formulas × records."""
        truth = truth_of([node.formula.expression for node in self.nodes])
        pairs = [bounds(node.said.expression) for node in self.nodes if node.unknown]
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
        """The prediction for every record."""
        found: NDArray[Any] = self.target.predictions(self.summaries)[self.apply(panel) - 1]
        return found

    @property
    def summaries(self) -> list[Summary]:
        """The summaries of the leaves, from left to right."""
        return [leaf.summary for leaf, _ in self.leaves]

    def narrowed(self) -> "Tree":
        """The tree with only the columns it asks about; with all if it asks about none."""
        used = {name for node in self.nodes for name in node.formula.expression.attributes()}
        if not used:
            return self
        schema = Schema(column for column in self.schema.values() if column.name in used)
        return replace(self, schema=schema, how_read=self.how_read.of(used))

    def spoken_of(self, panel: Panel) -> "Tree":
        """The tree worded for these records: a column that changes in one of them is not called static.

        A column with one value in each training record is mentioned without "at some point", until it changes.
        """
        changing = self.static - unchanging(panel.select([name for name in panel.schema if name in self.static]))
        if not changing:
            return self
        columns = (replace(c, static=c.static and c.name not in changing) for c in self.schema.values())
        return replace(self, schema=Schema(columns))

    def plain(self) -> "Tree":
        """The tree with formulas in their simplest form.

        They answer alike on every possible record in which only the columns of `missing` miss values.
        """

        from telltree.english import plain  # trees that only predict never speak

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
        """True if its answers may be unknown."""
        return any(node.unknown is not None for node in self.nodes)

    @property
    def static(self) -> frozenset[str]:
        """The columns with one value per record."""
        return frozenset(column.name for column in self.schema.values() if column.static)

    def says(self, *claims: Expression) -> str:
        """Return the plain English for the conjunction of these formulas; "every record" for none."""
        from telltree.english.styles import all_of, english  # trees that only predict never speak

        return (
            english(all_of(claims), self.schema, self.missing, style="plain", step=self.step)
            if claims
            else "every record"
        )

    def asks(self, node: Node) -> str:
        """The question of a node, in plain English without a question mark."""
        from telltree.english.styles import english  # trees that only predict never speak

        return english(node.said, self.schema, self.missed_by(node), style="plain", step=self.step)

    def missed_by(self, node: Node) -> frozenset[str] | None:
        """The columns whose missing values must be mentioned in the question of a node.

        Where their answer is unknown, that is told beside the question, which itself speaks of values that are there,
        unless it asks whether they are.
        """
        return self.missing if node.unknown is None else asked_missing(node.said.expression)

    def conditions(self, *claims: Expression) -> tuple[Expression, ...]:
        """The conditions under which the sentence for these claims says anything of a record."""
        from telltree.english.styles import conditions_of  # trees that only predict never speak

        return conditions_of(claims, self.schema, self.missing, self.step)

    def outline(self, *, formulas: bool = False, style: Literal["plain", "paper"] = "plain") -> str:
        """The tree as questions in English, with what each leaf predicts and how much there is to it.

        formulas: also show the formula of each question, below it.
        style: that of `telltree.explain.english`.
        """
        from telltree.english.styles import check_style, english  # trees that only predict never speak

        check_style(style)

        def asked(node: Node) -> list[str]:
            said = english(node.said, self.schema, self.missed_by(node), style=style, step=self.step)
            below = [str(node.said)] * formulas + [node.doubt] * (node.doubt is not None)
            return [f"{said}?", *(f"{_BAR}{line}" for line in below)]

        return "\n".join(_drawn(self, asked, _outcome))

    def plot(self, **options: Any) -> Any:
        """Draw the tree: the matplotlib Figure of `telltree.report.plot_tree(tree, ...)`, whose options this takes."""
        from telltree.report import plot_tree

        return plot_tree(self, **options)

    def report(self, panel: Panel, y: Any, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write one HTML page about the tree and these records: `telltree.report.write_report(tree, ...)`."""
        from telltree.report import write_report

        return write_report(self, panel, y, path, **options)

    def __str__(self) -> str:
        def asked(node: Node) -> list[str]:
            return [str(node.said), *([] if node.doubt is None else [f"{_BAR}{node.doubt}"])]

        return "\n".join(_drawn(self, asked, _mixed))

    def _repr_html_(self) -> str:
        """For notebooks: the printed tree; a fitted classifier shows it with English."""
        return "<pre>" + "\n".join(map(escaped, str(self).splitlines())) + "</pre>"


def are_siblings(one: Sequence[Branch], other: Sequence[Branch]) -> bool:
    """True if two leaves of one tree belong to the same last question."""
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


def _outcome(said: Summary) -> str:
    return "; ".join(filter(None, [f"{said.title}: {said.hits}", said.remark]))


def _mixed(said: Summary) -> str:
    return f"{said.title}  ({'; '.join(filter(None, [said.mixed, said.remark]))})"


def _drawn(tree: Tree, asked: Callable[[Node], Sequence[str]], outcome: Callable[[Summary], str]) -> Iterator[str]:
    """The lines of a tree: what each node asks, in one line or more, and what comes out at each leaf."""
    numbers = iter(range(1, len(tree.leaves) + 1))

    def lines(node: Node | Leaf, first: str, rest: str) -> Iterator[str]:
        if isinstance(node, Leaf):
            yield f"{first}[{next(numbers)}] {outcome(node.summary)}"
            return
        question, *more = asked(node)
        yield first + question
        yield from (rest + line for line in more)
        yield from lines(node.true, rest + "├─ yes: ", rest + _BAR)
        yield from lines(node.false, rest + "└─ no:  ", rest + "    ")

    return map(visible, lines(tree.root, "", ""))
