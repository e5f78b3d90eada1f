"""Categories: the leaves of a tree as clusters of records, each with the sentence that selects it."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from telltree.data import Panel, Schema
from telltree.errors import DataError
from telltree.explain.english import english
from telltree.explain.implication import shown
from telltree.operators import Expression
from telltree.operators.expression import conjunction
from telltree.operators.table import AND, NOT
from telltree.plural import counted
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
    """The same in English, without what follows from the rest."""
    positions: NDArray[np.int64]
    """Of the records in the panel, in its order."""
    members: NDArray[Any]
    """Their ids."""
    counts: dict[Any, int]
    """How many of them have each label; empty if labels were not given."""
    coverage: float
    """Their share of the panel's records."""

    @property
    def purity(self) -> float | None:
        """The share of the commonest label among the members; None if there are no members or labels."""
        return max(self.counts.values()) / len(self.positions) if self.counts else None

    @property
    def formula(self) -> Expression | None:
        """The conjunction as one expression; None for a tree that is a single leaf, which says nothing."""
        parts = signed(self.branches)
        return reduce(lambda left, right: Expression(AND, (left, right)), parts) if parts else None

    def __str__(self) -> str:
        size = f"{counted(len(self.positions), 'record')}, {self.coverage:.1%}"
        mixed = "; " + ", ".join(f"{label}: {n}" for label, n in self.counts.items()) if self.counts else ""
        return f"[{self.number}] {self.label}  ({size}{mixed})\n    {self.description}\n    {self.english}"


def categorize(
    tree: Tree, panel: Panel, y: ArrayLike | None = None, *, missing: Container[str] | None = None
) -> tuple[Category, ...]:
    """The categories of a panel's records: one for each leaf, in order, empty ones too.

    `y` are the records' labels, for `counts` and `purity`. `missing` names the columns of which English must allow that
    values are missing: by default those that do miss values in this panel.
    """
    labels = None if y is None else _labels(y, panel)
    clusters = tree.apply(panel)
    doubtful = missing_columns(tree, panel) if missing is None else missing
    found = []
    for number, (leaf, branches) in enumerate(tree.leaves, 1):
        positions = np.flatnonzero(clusters == number)
        found.append(
            Category(
                number=number,
                label=tree.classes[leaf.label],
                branches=branches,
                description=conjunction(signed(branches)),
                english=sentence(branches, tree.schema, doubtful),
                positions=positions,
                members=panel.ids[positions],
                counts={} if labels is None else _counts([labels[i] for i in positions], tree.classes),
                coverage=len(positions) / len(panel) if len(panel) else 0.0,
            )
        )
    return tuple(found)


def categories_text(categories: Iterable[Category]) -> str:
    """The categories as blocks of text, with an empty line between them."""
    return "\n\n".join(map(str, categories))


def signed(branches: Iterable[Branch]) -> list[Expression]:
    """The formulas of branches as expressions that are true, negated where the formula is false."""
    return [f.expression if truth else Expression(NOT, (f.expression,)) for f, truth in branches]


def sentence(branches: Sequence[Branch], schema: Schema, missing: Container[str] | None = None) -> str:
    """A conjunction of branches in English, without what follows from the rest."""
    said = [english(e, schema, missing) for e in signed(shown(branches))]
    return "; and ".join(said) or "every record"


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


def missing_columns(tree: Tree, panel: Panel) -> set[str]:
    """The columns that the tree speaks of and that miss values in the panel."""
    used = dict.fromkeys(name for node in tree.nodes for name in node.formula.expression.attributes())
    return {name for name, count in panel.select(used).missing().items() if count}
