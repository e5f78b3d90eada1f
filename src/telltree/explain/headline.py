"""Headlines in words: a short sentence for each category, and how far it reaches."""

from collections.abc import Container

import numpy as np
from numpy.typing import NDArray

from telltree.amounts import percent
from telltree.data import Panel
from telltree.explain.english import english
from telltree.logic import truth_of
from telltree.tree.tree import Headline, Tree


def headline_text(headline: Headline, tree: Tree) -> str:
    """The sentence of a headline, with the share of other training records that it is true of too."""
    return f"{tree.says(headline.formula.expression)} ({_reach(True, headline.others, headline.elsewhere)})"


def headlines_of(tree: Tree, panel: Panel, clusters: NDArray[np.int64], missing: Container[str]) -> list[str | None]:
    """The headline of each leaf, in order, with its reach among the records of a panel; None where there is none.

    Of training records a headline is true of all members. Of others it may not be, if they miss values where training
    records did not; then it is none. `missing` names the columns that may miss values in the panel.
    """
    shown = [leaf.headline for leaf, _ in tree.leaves]
    formulas = [headline.formula.expression for headline in shown if headline is not None]
    truth = iter(truth_of(formulas, panel.aligned(tree.schema) if formulas else panel))
    found: list[str | None] = []
    for number, headline in enumerate(shown, 1):
        holds, here = (None if headline is None else next(truth)), clusters == number
        if headline is None or holds is None or not holds[here].all():
            found.append(None)
            continue
        reach = _reach(bool(here.any()), int(np.count_nonzero(holds & ~here)), int(np.count_nonzero(~here)))
        found.append(f"{english(headline.formula, tree.schema, missing, step=panel.step)} ({reach})")
    return found


def _reach(members: bool, others: int, elsewhere: int) -> str:
    """Of which records a headline is true: `all of its members, 1 % of the others`."""
    own = "all of its members" if members else "no members here"
    if not elsewhere:
        return own
    return f"{own}, {percent(others / elsewhere, 0) if others else 'none'} of the others"
