"""Headlines in words: a short sentence for each category, and which records it is true of."""

from collections.abc import Container

import numpy as np
from numpy.typing import NDArray

from telltree.amounts import percent
from telltree.data import Panel
from telltree.explain.english import english
from telltree.explain.occurrence import Occurs, occurred_in_training
from telltree.logic import Answers
from telltree.tree.headlines import APART
from telltree.tree.tree import Tree


def headline_text(tree: Tree, number: int) -> str | None:
    """The headline of a leaf, with the shares of its training records and of others that it is true of.

    None if it has none, or if its condition has not been counted: it may be true because that never occurs.
    """
    leaf, _ = tree.leaves[number - 1]
    if leaf.headline is None:
        return None
    headline, claim = leaf.headline, leaf.headline.formula.expression
    occurrence = occurred_in_training(tree)([claim], number)
    if occurrence is None:
        return None
    reach = _reach(leaf.support - headline.missed, leaf.support, headline.others, headline.elsewhere)
    return f"{tree.says(claim)} ({'; '.join(filter(None, [reach, occurrence.told()]))})"


def headlines_of(
    tree: Tree, panel: Panel, clusters: NDArray[np.int64], missing: Container[str], answers: Answers, *, occurs: Occurs
) -> list[str | None]:
    """The headline of each leaf, in order, with its reach among the records of a panel; None where there is none.

    A headline that is true of less than half of the leaf's records in this panel is none here, nor is one whose
    condition occurs in less than half of them. `missing` names the columns that may miss values in the panel; `answers`
    are those of its records.
    """
    shown = [leaf.headline for leaf, _ in tree.leaves]
    formulas = [headline.formula.expression for headline in shown if headline is not None]
    truth = iter(answers.truth(formulas))
    found: list[str | None] = []
    for number, headline in enumerate(shown, 1):
        if headline is None:
            found.append(None)
            continue
        holds, here = next(truth), clusters == number
        inside, members, others, elsewhere = (
            int(np.count_nonzero(w)) for w in (holds & here, here, holds & ~here, ~here)
        )
        occurrence = occurs([headline.formula.expression], number)
        if occurrence is None or min((inside, *occurrence.times)) < APART * members:
            found.append(None)
            continue
        said = english(headline.formula, tree.schema, missing, step=panel.step)
        reach = _reach(inside, members, others, elsewhere)
        found.append(f"{said} ({'; '.join(filter(None, [reach, occurrence.told()]))})")
    return found


def _reach(inside: int, members: int, others: int, elsewhere: int) -> str:
    """How many records a headline is true of: `all of its members, 1 % of the others`."""
    own = f"{_share(inside, members)} of its members" if members else "no members here"
    return f"{own}, {_share(others, elsewhere)} of the others" if elsewhere else own


def _share(some: int, whole: int) -> str:
    return "none" if not some else "all" if some == whole else percent(some / whole, 0)
