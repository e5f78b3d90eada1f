"""Facts about the training data of a tree, which explanations and model files need later."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from telltree.engine.atoms import Atom
from telltree.engine.trace import signals_of
from telltree.logic import Expression, Type
from telltree.logic.operators import COMPARISONS, Operator
from telltree.panel import ColumnType, Panel, Schema
from telltree.panel.column_checks import may_be_missing
from telltree.tree.target import Labels
from telltree.tree.tree import Tree

_AT_A_TIME = 1 << 16  # values hashed at a time: few enough to stay in the cache


@dataclass(frozen=True)
class TrainingFacts:
    """Facts about the records that a model was learned from."""

    schema: Schema
    """The schema of all columns of the panel, in its order."""
    seed: int
    """The seed of the tree."""
    fingerprint: str
    """A hash of values and labels; the same for the same data on any machine."""
    missing: tuple[str, ...]
    """The columns that had missing or infinite values."""
    deviations: dict[str, float]
    """The standard deviation of each signal that the tree compares with constants, by its text: the unit of robustness.
    """

    @classmethod
    def of(cls, panel: Panel, labels: Labels, tree: Tree, seed: int) -> "TrainingFacts":
        """Return the facts about these records."""
        missing = tuple(sorted(may_be_missing(panel) if tree.missing is None else tree.missing))
        hashed = fingerprint(panel, labels)
        return cls(panel.schema, seed, hashed, missing, _deviations(panel, tree))


def fingerprint(panel: Panel, labels: Labels) -> str:
    """Return a hash of the columns, the values of all records in order, and their labels.

    All missing values count as equal, and so do 0 and −0.
    """
    digest = hashlib.sha256()
    columns = [[column.name, column.type.value, column.levels] for column in panel.schema.values()]
    head = {"columns": columns, **labels.target.hashed(), "records": len(panel), "steps": panel.steps}
    digest.update(json.dumps(head, sort_keys=True).encode())
    digest.update(np.asarray(panel.lengths, "<i8").tobytes())
    digest.update(labels.hashed())
    for column in panel.schema.values():
        real = column.type is ColumnType.REAL
        room = np.empty(_AT_A_TIME, "<f8" if real else "<i4")
        for part in panel.parts():
            values = part.stacked(column.name)
            for start in range(0, len(values), _AT_A_TIME):
                some = values[start : start + _AT_A_TIME]
                copy = np.add(some, 0, out=room[: len(some)])  # 0 for −0
                if real and np.isnan(copy.min()):
                    copy[np.isnan(copy)] = np.nan
                digest.update(copy.data)
    return "sha256:" + digest.hexdigest()


def _deviations(panel: Panel, tree: Tree) -> dict[str, float]:
    signals = signals_of(panel)
    graded = {signal for node in tree.nodes for signal in _graded(node.formula.expression, panel.schema)}
    return {str(signal): signals.deviation(signal) for signal in sorted(graded, key=str)}


def _graded(e: Expression, schema: Schema) -> Iterator[Expression]:
    """Yield the signals whose distance to a constant counts in the robustness of a Boolean expression."""
    if isinstance(e.head, Operator) and e.head.joins:
        for operand in e.operands:
            yield from _graded(operand, schema)
    elif not (isinstance(e.head, Operator) and e.head in COMPARISONS and e.type is Type.BOOLEAN):  # not of counts
        atom = Atom.of(e, schema)
        if atom.graded:
            yield atom.signal
