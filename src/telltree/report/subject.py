"""The subject of a report: a tree, the records it is shown with, and their categories."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.engine import Answers
from telltree.errors import DataError, SettingsError
from telltree.explain import Category, Robustness, categorize
from telltree.explain.evidence import Evidence, compares_counts, counted_conditions, timeless
from telltree.logic import Expression
from telltree.logic.operators import AND, IMPLIES, NOT, OR
from telltree.panel import Column, Panel, Schema
from telltree.text import counted, visible
from telltree.tree.target import Labels, Target
from telltree.tree.training import Training
from telltree.tree.tree import Tree

# ---- Text and numbers from data, as they go into the page.


def words(value: Any) -> str:
    """Any name, class or id as text for a page in UTF-8: halves of surrogate pairs become U+FFFD, controls escapes."""
    return visible(str(value).encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def clipped(text: str, most: int) -> str:
    """The text, or its beginning with a note of how much was left out."""
    return text if len(text) <= most else f"{text[:most]} … ({counted(len(text) - most, 'more character')})"


def number(value: float | None, digits: int = 6) -> float | None:
    """Six digits are more than a page shows of most numbers; JSON has neither infinity nor NaN."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if value == int(value) and abs(value) < 1e15 else float(f"{value:.{digits}g}")


def moment(time: float) -> float | None:
    """A time. It may count from long ago, so more digits matter."""
    return number(time, 12)


# ---- What formulas look for step by step, for the page to show where it is so.

_JOINING = {NOT, AND, OR, IMPLIES}
"""What joins whole sentences; operators below these look at steps."""


class Look(NamedTuple):
    """What a formula looks for step by step."""

    what: Expression
    counts: Expression | None = None
    """The comparison that counts it, if it is counted."""


def looked_at(e: Expression) -> Iterator[Look]:
    """What a formula looks for step by step: the operands of F, G and count, wherever they stand in it."""
    if compares_counts(e):
        yield from (Look(operand, e) for operand in counted_conditions(e))
    elif e.head in _JOINING or timeless(e):
        for arg in e.args:
            yield from looked_at(arg)
    else:
        yield from (Look(arg) for arg in e.args)


# ---- The subject of a report: a tree, the records it is shown with, and their categories.

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Subject:
    """A tree and labelled records, computed once for all parts of the page."""

    tree: Tree
    fitted: Any
    """The classifier that learned the tree, or None if only the tree was given."""
    panel: Panel
    """The records with all their columns."""
    known: Panel
    """The same with the columns of the tree, as the tree knows them."""
    labels: Labels | None
    """What the records are labelled; None if no labels were given."""
    evidence: tuple[Evidence, ...]
    """On every node's formula, for every record, nodes in preorder."""
    categories: tuple[Category, ...]
    clusters: Ints
    """The category of every record, from 1."""

    @property
    def target(self) -> Target:
        """What the tree tells, and what it has never seen but is among the labels."""
        return self.tree.target if self.labels is None else self.labels.target

    @cached_property
    def wrong(self) -> NDArray[np.bool_]:
        """Which records have another label than the tree predicts; none if there are no labels."""
        if self.labels is None:
            return np.zeros(len(self.panel), np.bool_)
        return self.labels.exceptions(self.tree.summaries, self.clusters - 1)

    @cached_property
    def schema(self) -> Schema:
        """All columns of the panel, with the phrases and units of training."""
        told = self.tree.schema if self.training is None else self.training.schema
        return Schema(_told(column, told.get(name)) for name, column in self.panel.schema.items())

    @property
    def training(self) -> Training | None:
        """What a classifier kept of the records it was learned from."""
        return _training(self.fitted)

    @cached_property
    def truth(self) -> NDArray[np.bool_]:
        """Of every node's formula for every record."""
        return _truth(self.evidence, len(self.panel))

    @cached_property
    def unknown(self) -> NDArray[np.bool_]:
        """Where each record comes to a node at which its answer is unknown: records × nodes, leaves included."""
        known = dict(zip((node.formula.expression for node in self.tree.nodes), self.truth, strict=True))
        return self.tree.unknown_truth(Answers(self.known, known).truth)


def subject_of(model: Any, panel: Panel, y: Any) -> Subject:
    """Check the arguments, and find the category of each record."""
    tree = tree_of(model)
    if not isinstance(panel, Panel):
        raise DataError(f"a report shows the records of a Panel, got {type(panel).__name__}: use Panel.from_...")
    if not len(panel):
        raise DataError("there are no records to report on")
    known = tree.aligned(panel)
    labels = None if y is None else known_labels(tree, panel, y)
    evidence = _evidence(tree, known, _training(model))
    answers = {node.formula.expression: found.truth for node, found in zip(tree.nodes, evidence, strict=True)}
    return Subject(
        tree=tree,
        fitted=None if model is tree else model,
        panel=panel,
        known=known,
        labels=labels,
        evidence=evidence,
        categories=categorize(tree, known, y, answers=Answers(known, answers)),
        clusters=tree.apply_truth(_truth(evidence, len(panel))),
    )


def _training(fitted: Any) -> Training | None:
    kept = getattr(fitted, "training_", None)
    return kept if isinstance(kept, Training) else None


def _evidence(tree: Tree, panel: Panel, training: Training | None) -> tuple[Evidence, ...]:
    """All that the page tells of the nodes' formulas, in the standard deviations of training where they are known.

    A formula is walked once, whatever the page shows of it, and though several nodes ask for it.
    """
    robustness = Robustness(panel, None if training is None else training.spread)
    asked = [node.formula.expression for node in tree.nodes]
    found = {e: robustness.evidence(e, follow=[look.what for look in looked_at(e)]) for e in dict.fromkeys(asked)}
    return tuple(found[e] for e in asked)


def _truth(evidence: Sequence[Evidence], records: int) -> NDArray[np.bool_]:
    return np.array([found.truth for found in evidence], np.bool_).reshape(len(evidence), records)


def _told(column: Column, told: Column | None) -> Column:
    if told is None:
        return column
    words = {name: said for name in ("unit", "phrase", "negated", "high", "low") if (said := getattr(told, name))}
    return replace(column, **words)


def tree_of(model: Any) -> Tree:
    """The tree itself, or that of a fitted classifier."""
    tree = model if isinstance(model, Tree) else getattr(model, "tree_", None)
    if not isinstance(tree, Tree):
        raise SettingsError(
            f"a report needs a Tree or a fitted classifier, got {type(model).__name__} without a tree: call fit first"
        )
    return tree


def known_labels(tree: Tree, panel: Panel, y: Any) -> Labels:
    """The labels of records; DataError if the tree could be right about none of them."""
    labels = tree.target.read(y, panel)
    labels.check_known(tree.target)
    return labels
