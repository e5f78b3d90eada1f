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
from telltree.tree.training_facts import TrainingFacts
from telltree.tree.tree import Tree


def words(value: Any) -> str:
    """Return any value as text for a page in UTF-8, with U+FFFD for halves of surrogate pairs, and controls escaped."""
    return visible(str(value).encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def clipped(text: str, most: int) -> str:
    """Return the text, or its beginning with the number of characters left out."""
    return text if len(text) <= most else f"{text[:most]} … ({counted(len(text) - most, 'more character')})"


def number(value: float | None, digits: int = 6) -> float | None:
    """Return the number with six digits, enough for a page; None if it is infinite or NaN, which JSON has not."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if value == int(value) and abs(value) < 1e15 else float(f"{value:.{digits}g}")


def moment(time: float) -> float | None:
    """Return a time, with more digits: it may count from long ago."""
    return number(time, 12)


# ---- Operands of formulas whose truth the page shows step by step.

_JOINING = {NOT, AND, OR, IMPLIES}
"""The connectives of whole formulas; operators below these apply to steps."""


class StepwiseOperand(NamedTuple):
    """An operand of a formula whose truth is shown step by step."""

    expression: Expression
    comparison: Expression | None = None
    """The comparison that counts it, if it is counted."""


def stepwise_operands(e: Expression) -> Iterator[StepwiseOperand]:
    """Yield the operands of F, G and count, wherever they stand in a formula."""
    if compares_counts(e):
        yield from (StepwiseOperand(operand, e) for operand in counted_conditions(e))
    elif e.head in _JOINING or timeless(e):
        for arg in e.args:
            yield from stepwise_operands(arg)
    else:
        yield from (StepwiseOperand(arg) for arg in e.args)


# ---- The subject.

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Subject:
    """A tree and labelled records, with everything that several parts of the page need, computed once."""

    tree: Tree
    fitted: Any
    """The classifier that learned the tree, or None if only the tree was given."""
    panel: Panel
    """The records with all their columns."""
    known: Panel
    """The records as the tree reads them: with its columns."""
    labels: Labels | None
    """The labels of the records; None if none were given."""
    evidence: tuple[Evidence, ...]
    """The evidence on every node's formula, for every record, nodes in preorder."""
    categories: tuple[Category, ...]
    clusters: Ints
    """The category of every record, from 1."""

    @property
    def target(self) -> Target:
        """The target of the tree; with the labels it has never seen, if labels are given."""
        return self.tree.target if self.labels is None else self.labels.target

    @cached_property
    def wrong(self) -> NDArray[np.bool_]:
        """True for records with another label than predicted; for none without labels."""
        if self.labels is None:
            return np.zeros(len(self.panel), np.bool_)
        return self.labels.exceptions(self.tree.summaries, self.clusters - 1)

    @cached_property
    def schema(self) -> Schema:
        """All columns of the panel, with the phrases and units of training."""
        known = self.tree.schema if self.training is None else self.training.schema
        return Schema(_worded(column, known.get(name)) for name, column in self.panel.schema.items())

    @property
    def training(self) -> TrainingFacts | None:
        """The training facts that a classifier kept."""
        return _training(self.fitted)

    @cached_property
    def truth(self) -> NDArray[np.bool_]:
        """The truth of every node's formula for every record."""
        return _truth(self.evidence, len(self.panel))

    @cached_property
    def unknown(self) -> NDArray[np.bool_]:
        """True where a record reaches a node and its answer there is unknown: records × nodes, leaves included."""
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


def _training(fitted: Any) -> TrainingFacts | None:
    kept = getattr(fitted, "training_", None)
    return kept if isinstance(kept, TrainingFacts) else None


def _evidence(tree: Tree, panel: Panel, training: TrainingFacts | None) -> tuple[Evidence, ...]:
    """Return the evidence on the nodes' formulas, in the standard deviations of training where they are known.

    Each formula is evaluated once, even if several nodes have it.
    """
    robustness = Robustness(panel, None if training is None else training.deviations)
    formulas = [node.formula.expression for node in tree.nodes]
    found = {
        e: robustness.evidence(e, follow=[operand.expression for operand in stepwise_operands(e)])
        for e in dict.fromkeys(formulas)
    }
    return tuple(found[e] for e in formulas)


def _truth(evidence: Sequence[Evidence], records: int) -> NDArray[np.bool_]:
    return np.array([found.truth for found in evidence], np.bool_).reshape(len(evidence), records)


def _worded(column: Column, known: Column | None) -> Column:
    if known is None:
        return column
    words = {name: text for name in ("unit", "phrase", "negated", "high", "low") if (text := getattr(known, name))}
    return replace(column, **words)


def tree_of(model: Any) -> Tree:
    """Return the tree itself, or that of a fitted classifier."""
    tree = model if isinstance(model, Tree) else getattr(model, "tree_", None)
    if not isinstance(tree, Tree):
        raise SettingsError(
            f"a report needs a Tree or a fitted classifier, got {type(model).__name__} without a tree: call fit first"
        )
    return tree


def known_labels(tree: Tree, panel: Panel, y: Any) -> Labels:
    """Return the labels of records; DataError if the tree could be right about none of them."""
    labels = tree.target.read(y, panel)
    labels.check_known(tree.target)
    return labels
