"""Probabilities: how likely each class is, by the leaf that a record comes to."""

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.tree import Tree
from telltree.tree.target import ClassSummary


def probabilities(tree: Tree, panel: Panel) -> NDArray[np.float64]:
    """The probability of each class for every record, by a tree that tells classes: records × classes."""
    shares = np.array([said.probabilities for said in tree.summaries if isinstance(said, ClassSummary)])
    found: NDArray[np.float64] = shares[tree.apply(panel) - 1]
    return found
