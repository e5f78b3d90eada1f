"""Short descriptions in words: what tells a category's records from the others at hand, in fewer words."""

from collections.abc import Container

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.explain.english import english
from telltree.logic import Answers
from telltree.tree.tree import Tree


def shorts_of(
    tree: Tree, panel: Panel, clusters: NDArray[np.int64], missing: Container[str], answers: Answers
) -> list[str | None]:
    """The short description of each leaf, in order, if it is true of its records of this panel and of no others here.

    None where it is not, or where there is none. `missing` names the columns that may miss values in the panel;
    `answers` are those of its records.
    """
    shown = [leaf.short for leaf, _ in tree.leaves]
    formulas = [short.expression for short in shown if short is not None]
    truth = iter(answers.truth(formulas))
    return [
        english(short, tree.schema, missing, step=panel.step)
        if short is not None and np.array_equal(next(truth), clusters == number)
        else None
        for number, short in enumerate(shown, 1)
    ]
