"""The tree as the page draws it: nodes and leaves in preorder, each with its text and the records that visit it."""

from collections.abc import Container
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.engine.three_valued import columns_tested_for_missing
from telltree.explain import english
from telltree.explain.categories import missing_columns
from telltree.logic import Attribute, Expression, Number
from telltree.logic.expression import rounded
from telltree.logic.operators import ABS, COMPARISONS, DISTANCE, NOT, Operator
from telltree.report.subject import Subject, number, stepwise_operands, words
from telltree.tree.tree import Leaf, Node, RunnerUp, Tree

DIGITS = 4  # of the constants of runners-up


@dataclass(frozen=True, eq=False)
class Spot:
    """A node or leaf of the tree, with its position."""

    place: int
    """The index among all nodes and leaves, in preorder, from 0."""
    node: Node | Leaf
    parent: int
    side: bool | None
    """The answer of the parent that leads here; None for the root."""
    row: int
    """The row of its truth among the nodes, or the number of its category."""


def spots(tree: Tree) -> list[Spot]:
    """Return all nodes and leaves in preorder, the true child first."""
    found: list[Spot] = []
    rows, numbers = iter(range(len(tree.nodes))), iter(range(1, len(tree.leaves) + 1))

    def descend(node: Node | Leaf, parent: int, side: bool | None) -> None:
        place = len(found)
        found.append(Spot(place, node, parent, side, next(numbers if isinstance(node, Leaf) else rows)))
        if isinstance(node, Node):
            descend(node.true, place, True)
            descend(node.false, place, False)

    descend(tree.root, -1, None)
    return found


def tree_view(subject: Subject) -> list[dict[str, Any]]:
    """Return one entry per spot, for the page."""
    passes = subject.tree.passes_truth(subject.truth)
    missing = missing_columns(subject.tree, subject.known)
    entries = []
    for spot, here in zip(spots(subject.tree), passes.T, strict=True):
        entry: dict[str, Any] = {
            "parent": spot.parent,
            "side": spot.side,
            "records": int(here.sum()),
            "counts": _counts(subject, here),
            "trained": list(spot.node.summary.parts),
            "learned": spot.node.summary.support,
        }
        if isinstance(spot.node, Leaf):
            entry["category"] = spot.row
        else:
            entry |= _branch(spot.node, subject, missing)
        entries.append(entry)
    return entries


def _counts(subject: Subject, here: NDArray[np.bool_]) -> list[int] | None:
    return None if subject.labels is None else list(subject.labels[here].summary().parts)


def _branch(node: Node, subject: Subject, missing: Container[str]) -> dict[str, Any]:
    e, shown = node.formula.expression, node.shown.expression
    if node.unknown is not None:  # unknown answers are described beside the question
        missing = columns_tested_for_missing(shown)
    opposite = _in_both_styles(Expression(NOT, (shown,)), subject, missing)
    return {
        "formula": words(node.shown),
        "found": None if node.found is None else words(node.found),
        "unknown": None if node.unknown_note is None else words(node.unknown_note),
        **_in_both_styles(shown, subject, missing),
        "negated": opposite["english"],
        "negated_paper": opposite["paper"],
        "fitness": number(node.fitness),
        "gain": number(node.gain),
        "margin": number(node.robustness),
        "others": [_other(other, subject, missing) for other in node.runners_up],
        "looks": [words(operand.expression) for operand in stepwise_operands(e)],
        "marks": [[words(name), number(value)] for name, value in marks(e)],
        "pieces": [[words(name), steps] for name, steps in pieces(e)],
    }


def _in_both_styles(e: Expression, subject: Subject, missing: Container[str]) -> dict[str, str | None]:
    """Return a formula in plain English and in the paper's."""
    return {
        "english": words(english(e, subject.schema, missing, step=subject.known.step)),
        "paper": words(english(e, subject.schema, missing, style="paper")),
    }


def _other(other: RunnerUp, subject: Subject, missing: Container[str]) -> dict[str, Any]:
    """Return a runner-up with few digits; without English if it has columns that these records do not have."""
    e = rounded(other.formula.expression, DIGITS)
    known = all(name in subject.schema for name in e.attributes())
    texts = _in_both_styles(e, subject, missing) if known else {"english": None, "paper": None}
    return {"formula": words(e), **texts, "fitness": number(other.fitness)}


def pieces(e: Expression) -> list[tuple[str, int]]:
    """Return the columns that a formula compares with a single length of shapelets, and that length in steps."""
    found: dict[str, set[int]] = {}
    for part in e.walk():
        if part.head is DISTANCE and isinstance(part.args[0].head, Attribute):
            found.setdefault(part.args[0].head.name, set()).add(len(part.shape.values))
    return [(name, min(steps)) for name, steps in found.items() if len(steps) == 1]


def marks(e: Expression) -> list[tuple[str, float]]:
    """Return the columns that a formula compares with constants, and the constants; both signs for absolute values."""
    found = []
    for part in e.walk():
        if not isinstance(part.head, Operator) or part.head not in COMPARISONS:
            continue
        values = [arg.head.value for arg in part.args if isinstance(arg.head, Number)]
        for arg in part.args:
            within = arg.args[0] if arg.head is ABS else arg
            if isinstance(within.head, Attribute):
                signs = (1, -1) if arg.head is ABS else (1,)
                found += [(within.head.name, sign * value) for value in values for sign in signs]
    return list(dict.fromkeys(found))
