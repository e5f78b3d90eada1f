"""How well the tree's answers agree with labels."""

from typing import Any

from telltree.data import Panel
from telltree.errors import DataError
from telltree.report.page.subject import Subject, known_labels
from telltree.tree.target import Scores
from telltree.tree.tree import Tree


def scores_of(subject: Subject) -> Scores | None:
    """The scores on the records of the report; None if they have no labels."""
    return None if subject.labels is None else subject.labels.scores(subject.tree.summaries, subject.clusters - 1)


def held_out_scores(tree: Tree, held_out: Any) -> Scores | None:
    """The scores on records that were kept back, given as (panel, labels)."""
    if held_out is None:
        return None
    if not (isinstance(held_out, tuple) and len(held_out) == 2 and isinstance(held_out[0], Panel)):
        raise DataError(f"held_out must be a pair (panel, labels), got {type(held_out).__name__}")
    panel, y = held_out
    if not len(panel):
        raise DataError("held_out has no records; leave it away if nothing was kept back")
    return known_labels(tree, panel, y).scores(tree.summaries, tree.apply(panel) - 1)
