"""The subject of a report: a tree, the records it is shown with, and their categories."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.data import Column, Panel, Schema, check_labels
from telltree.data.schema import listed
from telltree.errors import DataError, SettingsError
from telltree.explain import Category, Margins, categorize
from telltree.report.page.text import words
from telltree.tree.training import Training
from telltree.tree.tree import Tree

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
    """The same records with only the columns of the tree, as the tree reads them."""
    labels: Ints | None
    """The records' classes, as indices into `names`; None if no labels were given."""
    names: tuple[str, ...]
    """The classes of the tree, then unknown labels, as text."""
    truth: NDArray[np.bool_]
    """The truth of every node's formula for every record, nodes in preorder."""
    categories: tuple[Category, ...]
    clusters: Ints
    """The category of every record, from 1."""

    @property
    def predicted(self) -> Ints:
        """The class that the tree predicts for each record."""
        return np.array([leaf.label for leaf, _ in self.tree.leaves])[self.clusters - 1]

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Which records have a prediction other than their label; none if there are no labels."""
        return np.zeros(len(self.panel), np.bool_) if self.labels is None else self.predicted != self.labels

    @cached_property
    def schema(self) -> Schema:
        """All columns of the panel, with the phrases and units of training."""
        told = self.tree.schema if self.training is None else self.training.schema
        return Schema(_told(column, told.get(name)) for name, column in self.panel.schema.items())

    @property
    def training(self) -> Training | None:
        """What a classifier kept of its training records."""
        kept = getattr(self.fitted, "training_", None)
        return kept if isinstance(kept, Training) else None

    @cached_property
    def margins(self) -> Margins:
        """Margins of the records, in standard deviations of training if known."""
        return Margins(self.known, self.reference)

    @property
    def reference(self) -> dict[str, float] | None:
        """The standard deviations of training; None if the panel's own must serve."""
        return None if self.training is None else self.training.spread


def subject_of(model: Any, panel: Panel, y: Any) -> Subject:
    """Check the arguments, and find the category of each record."""
    tree = tree_of(model)
    if not isinstance(panel, Panel):
        raise DataError(f"a report shows the records of a Panel, got {type(panel).__name__}: use Panel.from_...")
    if not len(panel):
        raise DataError("there are no records to report on")
    known = tree.aligned(panel)
    labels = None if y is None else check_labels(y, panel)
    codes, strangers = (None, []) if labels is None else coded(labels.tolist(), tree.classes)
    truth = tree.truth(known)
    return Subject(
        tree=tree,
        fitted=None if model is tree else model,
        panel=panel,
        known=known,
        labels=codes,
        names=tuple(words(name) for name in (*tree.classes, *strangers)),
        truth=truth,
        categories=categorize(tree, known, labels),
        clusters=tree.apply_truth(truth),
    )


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


def coded(labels: Sequence[Any], classes: Sequence[Any]) -> tuple[Ints, list[Any]]:
    """Labels as indices into the classes followed by unknown labels; returns those too."""
    place = {name: k for k, name in enumerate(classes)}
    if not any(label in place for label in labels):
        raise DataError(
            f"none of the labels is a class of the tree: they are {listed(dict.fromkeys(labels))}, the tree's are "
            f"{listed(classes)}; give the labels as they were when the tree was learned"
        )
    codes = np.array([place.setdefault(label, len(place)) for label in labels], np.int64)
    return codes, list(place)[len(classes) :]
