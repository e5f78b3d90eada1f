"""Headlines in words: a short sentence for each category, and how far it reaches."""

import numpy as np
from numpy.typing import NDArray

from telltree.amounts import percent
from telltree.data import Panel
from telltree.logic import truth_of
from telltree.tree.tree import Headline, Tree


def headline_text(headline: Headline, tree: Tree) -> str:
    """The sentence of a headline, with the share of other records that it is true of too."""
    said = tree.says(headline.formula.expression)
    return f"{said} ({reach_text(headline.others, headline.elsewhere)})"


def reach_text(others: int, elsewhere: int) -> str:
    """Of which records a headline is true: `all of its members, 1 % of the others`."""
    if not elsewhere:
        return "all records"
    share = "none" if not others else percent(others / elsewhere, 0)
    return f"all of its members, {share} of the others"


def headlines_of(tree: Tree, panel: Panel, clusters: NDArray[np.int64]) -> list[str | None]:
    """The headline of each leaf, in order, with its reach among the records of a panel; None where there is none."""
    shown = [leaf.headline for leaf, _ in tree.leaves]
    formulas = [headline.formula.expression for headline in shown if headline is not None]
    truth = iter(truth_of(formulas, panel.aligned(tree.schema) if formulas else panel))
    found: list[str | None] = []
    for number, headline in enumerate(shown, 1):
        if headline is None:
            found.append(None)
            continue
        elsewhere = clusters != number
        others = int(np.count_nonzero(next(truth) & elsewhere))
        found.append(headline_text(Headline(headline.formula, others, int(np.count_nonzero(elsewhere))), tree))
    return found
