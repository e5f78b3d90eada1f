"""A fitted tree: the probabilities it gives, the importance of its columns, and its headlines on demand."""

import logging
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from telltree.errors import warn
from telltree.explain.headlines import with_headlines
from telltree.panel import Panel, Schema
from telltree.tree import Leaf, Node
from telltree.tree.class_target import ClassSummary
from telltree.tree.interruption import Interruption
from telltree.tree.target import Labels
from telltree.tree.training_facts import fingerprint
from telltree.tree.tree import Tree

logger = logging.getLogger("telltree")
Floats = NDArray[np.float64]


def probabilities(tree: Tree, panel: Panel) -> Floats:
    """Return the probability of each class for every record, by the leaf that it reaches: records × classes."""
    by_leaf = np.array([summary.probabilities for summary in tree.summaries if isinstance(summary, ClassSummary)])
    found: Floats = by_leaf[tree.apply(panel) - 1]
    return found


def importances(tree: Tree, schema: Schema) -> Floats:
    """Return the share of each column of the schema in the gain of the tree; they add up to 1, or are 0 for a leaf.

    The gain of a node is its decrease in Gini impurity, times the weight of its records, so gains are comparable
    whatever the fitness was. It is divided equally among the columns of the node's formula.
    """
    found = dict.fromkeys(schema, 0.0)

    def below(node: Node | Leaf) -> Floats:
        """Return the weight of each class here; add the gains of this node and those below to their columns."""
        if isinstance(node, Leaf):
            assert isinstance(node.summary, ClassSummary)
            return np.array(node.summary.weights)
        true, false = below(node.true), below(node.false)
        gain = _impurity(true + false) - _impurity(true) - _impurity(false)
        mentioned = [name for name in sorted(node.formula.expression.attributes()) if name in found]
        for name in mentioned:
            found[name] += max(gain, 0.0) / len(mentioned)
        return true + false

    below(tree.root)
    gains = np.array(list(found.values()))
    return gains / gains.sum() if gains.sum() > 0 else gains


def _impurity(weights: Floats) -> float:
    """Return the Gini impurity of records with these class weights, times their weight."""
    total = float(weights.sum())
    return total - float(weights @ weights) / total if total else 0.0


# ---- Headlines. Learning and predicting need none, and finding good ones takes as long as learning.


@dataclass(frozen=True)
class TrainingSample:
    """The records that a tree was learned from, by which its headlines are chosen."""

    panel: Panel
    labels: Labels
    fingerprint: str

    def add_headlines(self, tree: Tree) -> Tree:
        """Return the tree with its headlines; without any after Ctrl-C, or if the records have changed since."""
        if fingerprint(self.panel, self.labels) != self.fingerprint:
            warn(
                "the records were changed since the tree was learned from them: its categories have no headlines; fit "
                "anew, or ask for `tree_` before you change them"
            )
            return tree
        with Interruption() as interruption:
            found = interruption.unless_asked(lambda: with_headlines(tree, self.panel))
        if found is None:
            logger.warning("telltree: interrupted; the tree is whole, but its categories have no headlines")
        return found or tree


class WordedTree:
    """A tree and its headlines, which are found once, when they are first needed."""

    def __init__(self, plain: Tree, sample: TrainingSample | None = None) -> None:
        """`sample`: None if the headlines are there already, or cannot be found."""
        self.plain, self._sample, self._lock = plain, sample, Lock()

    @property
    def tree(self) -> Tree:
        """The tree with its headlines; the training records are released."""
        with self._lock:
            if self._sample is not None:
                self.plain, self._sample = self._sample.add_headlines(self.plain), None
        return self.plain

    def __reduce__(self) -> tuple[type["WordedTree"], tuple[Tree]]:
        """Return a copy with headlines and without records."""
        return WordedTree, (self.tree,)
