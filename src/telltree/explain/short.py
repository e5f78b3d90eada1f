"""Short descriptions in words: what tells a category's records from the others at hand, in fewer words."""

from collections.abc import Container

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.explain.english import english
from telltree.logic import truth_of
from telltree.tree.tree import Tree


def shorts_of(tree: Tree, panel: Panel, clusters: NDArray[np.int64], missing: Container[str]) -> list[str | None]:
    """The short description of each leaf, in order, if it is true of exactly its records in this panel.

    None if it is not, or if there is none. `missing` names the columns that may miss values in the panel.
    """
    shown = [leaf.short for leaf, _ in tree.leaves]
    formulas = [short.expression for short in shown if short is not None]
    truth = iter(truth_of(formulas, panel.aligned(tree.schema) if formulas else panel))
    return [
        english(short, tree.schema, missing, step=panel.step)
        if short is not None and np.array_equal(next(truth), clusters == number)
        else None
        for number, short in enumerate(shown, 1)
    ]
