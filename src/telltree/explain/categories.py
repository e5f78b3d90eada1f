"""Categories: the leaves of a tree as clusters of records, each with the sentence that selects it."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial, reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from telltree.amounts import by_weight, counted, percent
from telltree.data import Panel, Schema
from telltree.data.how_read import StepLength
from telltree.data.usable import doubtful
from telltree.errors import DataError
from telltree.explain.english import Style, english
from telltree.explain.groups import Said, Telling, groups_text
from telltree.explain.headline import headlines_of
from telltree.explain.implication import shown
from telltree.explain.shares import Share, wilson
from telltree.explain.short import shorts_of
from telltree.logic import Answers
from telltree.operators import Expression
from telltree.operators.expression import conjunction
from telltree.operators.table import AND, NOT
from telltree.tree.tree import Branch, Tree


@dataclass(frozen=True, eq=False)
class Category:
    """A leaf: which records come to it, and why."""

    number: int
    """Of the leaf: from left to right, the true branch first, from 1."""
    label: Any
    """The class that the leaf predicts."""
    branches: tuple[Branch, ...]
    """The formulas on the way from the root, and whether they are true."""
    description: str
    """The whole conjunction as text; "true" for a tree that is a single leaf."""
    english: str
    """The same in English, without what follows from the rest: true of the category's records, whatever they are."""
    short: str
    """What tells its members from the other records at hand; of records to come it may be true where `english` is not.
    The same as `english` if nothing much shorter does."""
    headline: str | None
    """A short sentence, with the shares of members and of other records that it is true of; None if there is none."""
    shared: str
    """What is true of this category and of its sibling, in English: all branches but the last."""
    apart: str
    """What sets it apart from its sibling, in English: the last branch."""
    steps: tuple[str, ...]
    """Each branch by itself, in English."""
    positions: NDArray[np.int64]
    """Of the records in the panel, in its order."""
    members: NDArray[Any]
    """Their ids."""
    counts: dict[Any, int]
    """How many of them have each label; empty if labels were not given."""
    among: int
    """How many records there are in the panel."""
    coverage: float
    """Their share of the panel's records."""
    lift: float | None
    """How many times the label's share in the whole panel `share` is; None if labels were not given, or none is it."""
    weighted: float | None
    """The label's share of the training weight here; None if all records weighed the same."""
    decided_by_weights: bool
    """Whether another class had more training records here, and the label only more weight."""

    @property
    def share(self) -> float | None:
        """Of the members, those with the category's label; None if there are no members or labels."""
        return self.counts.get(self.label, 0) / len(self.positions) if self.counts else None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of `share` (Wilson)."""
        return wilson(self.share, len(self.positions))

    @property
    def purity(self) -> float | None:
        """The share of the commonest label among the members; None if there are no members or labels."""
        return max(self.counts.values()) / len(self.positions) if self.counts else None

    @property
    def formula(self) -> Expression | None:
        """The conjunction as one expression; None for a tree that is a single leaf, which says nothing."""
        parts = signed(self.branches)
        return reduce(_both, parts) if parts else None

    def __str__(self) -> str:
        """The category alone, with its short description, or else the whole sentence, and its formula."""
        return self.told.alone()

    @property
    def told(self) -> Telling:
        """The category as text has it."""
        size = f"{counted(len(self.positions), 'record')}, {percent(self.coverage)}"
        mixed = "; " + ", ".join(f"{label}: {n}" for label, n in self.counts.items()) if self.counts else ""
        weighed = f"; {by_weight(self.label, self.weighted)}" if self.decided_by_weights else ""
        claims = zip(self.steps, signed(self.branches), strict=True)
        return Telling(
            number=self.number,
            branches=self.branches,
            head=f"[{self.number}] {self.label}  ({size}{mixed}{weighed})",
            headline=self.headline,
            whole=Said(self.english, self.description),
            short=None if self.short == self.english else self.short,
            among=f"on these {counted(self.among, 'record')}",
            steps=tuple(Said(step, str(claim)) for step, claim in claims),
        )


class Categories(tuple[Category, ...]):
    """The categories of some records, in order; printed in groups, what several share once above them."""

    __slots__ = ()

    def __str__(self) -> str:
        return categories_text(self)

    def _repr_html_(self) -> str:
        """For notebooks: the same groups, with whole sentences and formulas folded away."""
        from telltree.explain.notebook import categories_html

        return categories_html(self)


def categorize(
    tree: Tree,
    panel: Panel,
    y: ArrayLike | None = None,
    *,
    missing: Container[str] | None = None,
    answers: Answers | None = None,
) -> Categories:
    """The categories of a panel's records: one for each leaf, in order, empty ones too.

    `y` are the records' labels, for `counts` and shares. `missing` names the columns of which English must allow that
    values are missing: by default those that do miss values in this panel. `answers` of the records, as the tree reads
    them, need not be worked out again.
    """
    labels = None if y is None else _labels(y, panel)
    tree = tree.spoken_of(panel)
    answers = Answers(tree.aligned(panel)) if answers is None else answers
    clusters = tree.apply_truth(answers.truth([node.formula.expression for node in tree.nodes]))
    unsure = missing_columns(tree, panel) if missing is None else missing
    everyone = _counts(labels or [], tree.classes)
    headlines = headlines_of(tree, panel, clusters, unsure, answers)
    shorts = shorts_of(tree, panel, clusters, unsure, answers)
    said = cache(partial(sentence, schema=tree.schema, missing=unsure, step=panel.step))  # siblings share most of it
    found = []
    for number, (leaf, branches) in enumerate(tree.leaves, 1):
        positions, label = np.flatnonzero(clusters == number), tree.classes[leaf.label]
        counts = {} if labels is None else _counts([labels[i] for i in positions], tree.classes)
        seen = Share(counts.get(label, 0), len(positions), everyone.get(label, 0), len(panel))
        found.append(
            Category(
                number=number,
                label=label,
                branches=branches,
                description=conjunction(signed(branches)),
                english=said(branches),
                short=shorts[number - 1] or said(branches),
                headline=headlines[number - 1],
                shared=said(branches[:-1]),
                apart=said(branches[-1:]),
                steps=tuple(said((branch,)) for branch in branches),
                positions=positions,
                members=panel.ids[positions],
                counts=counts,
                among=len(panel),
                coverage=len(positions) / len(panel) if len(panel) else 0.0,
                lift=seen.lift,
                weighted=leaf.weighted_share if tree.weighted else None,
                decided_by_weights=leaf.decided_by_weights,
            )
        )
    return Categories(found)


def categories_text(categories: Iterable[Category]) -> str:
    """The categories as blocks of text: what some share above them, and of each what sets it apart."""
    return groups_text(category.told for category in categories)


def signed(branches: Iterable[Branch]) -> list[Expression]:
    """The formulas of branches as expressions that are true, negated where the formula is false."""
    return [f.expression if truth else Expression(NOT, (f.expression,)) for f, truth in branches]


def sentence(
    branches: Sequence[Branch],
    schema: Schema,
    missing: Container[str] | None = None,
    *,
    style: Style = "plain",
    step: StepLength | None = None,
) -> str:
    """A conjunction of branches in English, without what follows from the rest; see `english` for the options."""
    if not branches:
        return "every record"
    if style == "paper":
        return "; and ".join(english(e, schema, missing, style="paper") for e in signed(shown(branches)))
    return english(reduce(_both, signed(branches)), schema, missing, style=style, step=step)


def _both(left: Expression, right: Expression) -> Expression:
    return Expression(AND, (left, right))


def _labels(y: ArrayLike, panel: Panel) -> list[Any]:
    labels = np.asarray(y)
    if labels.shape != (len(panel),):
        raise DataError(
            f"expected one label for each of the {counted(len(panel), 'record')}, got an array of shape {labels.shape}"
        )
    found: list[Any] = labels.tolist()
    return found


def _counts(labels: Sequence[Any], classes: Sequence[Any]) -> dict[Any, int]:
    """How often each label occurs: those of the tree in its order, then others as they come."""
    counts = dict.fromkeys(classes, 0)
    for label in labels:
        counts[label] = counts.get(label, 0) + 1
    return {label: n for label, n in counts.items() if n}


def missing_columns(tree: Tree, panel: Panel) -> frozenset[str]:
    """The columns that the tree speaks of in which a value of the panel is missing or infinite."""
    asked = [node.formula for node in tree.nodes]
    told = [leaf.headline.formula for leaf, _ in tree.leaves if leaf.headline is not None]
    return doubtful(panel.select(dict.fromkeys(name for f in (*asked, *told) for name in f.expression.attributes())))
