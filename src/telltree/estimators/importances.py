"""Importances: how much of what a tree learnt each column has done."""

import numpy as np
from numpy.typing import NDArray

from telltree.data import Schema
from telltree.tree import Leaf, Node, Tree
from telltree.tree.target import ClassSummary

Floats = NDArray[np.float64]


def importances(tree: Tree, schema: Schema) -> Floats:
    """The share of each column of the schema in the gain of the tree; they add up to 1, or are 0 for a leaf.

    The gain of a node is by how much it lowers the Gini impurity, times the weight of its records: so gains compare
    whatever the fitness was. The columns that its formula mentions share it alike.
    """
    found = dict.fromkeys(schema, 0.0)

    def below(node: Node | Leaf) -> Floats:
        """The weight of each class that comes here, once the gains of this node and those below are shared out."""
        if isinstance(node, Leaf):
            assert isinstance(node.summary, ClassSummary)
            return np.array(node.summary.weights)
        true, false = below(node.true), below(node.false)
        gain = _impure(true + false) - _impure(true) - _impure(false)
        mentioned = [name for name in sorted(node.formula.expression.attributes()) if name in found]
        for name in mentioned:
            found[name] += max(gain, 0.0) / len(mentioned)
        return true + false

    below(tree.root)
    gains = np.array(list(found.values()))
    return gains / gains.sum() if gains.sum() > 0 else gains


def _impure(weights: Floats) -> float:
    """The Gini impurity of records of these classes, times their weight."""
    total = float(weights.sum())
    return total - float(weights @ weights) / total if total else 0.0
