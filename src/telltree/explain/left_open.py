"""What missing values leave open: claims about a category that are unknown of some of its records, and of how many.

With `missing="unknown"`, records whose answer to a question is unknown go one of its ways. What is told of those that
went it is so "unless missing values leave it open", with the number of records of which they do.
"""

from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.amounts import counted
from telltree.logic import Answers
from telltree.operators import Expression, UserFunction
from telltree.operators.table import NOT
from telltree.tree.tree import Branch, Leaf, Node, Tree, UnsureBranch


def left_open(branch: Branch, missing: Container[str] | None) -> Expression | None:
    """What is claimed of the records that went this way, if it is unknown of some; None if it is known of all.

    `missing` names the columns that may miss values (None: any may).
    """
    if not isinstance(branch, UnsureBranch) or not branch.takes_unknown:
        return None
    said = branch.node.said.expression
    gaps = missing is None or any(name in missing for name in said.attributes())
    if not gaps and not any(isinstance(part.head, UserFunction) for part in said.walk()):
        return None
    return said if branch[1] else Expression(NOT, (said,))


class Open(NamedTuple):
    """Of how many of the records that went one way the answer is unknown."""

    unknown: int
    records: int

    def __str__(self) -> str:
        some = f"{self.unknown:,}" if self.unknown else "none"
        return f"open for {some} of {counted(self.records, 'record')}"


class LeftOpen(NamedTuple):
    """What missing values leave open about the records of a leaf."""

    branches: tuple[Open | None, ...]
    """For each branch on the way, counted where it parts from the other; None if nothing is unknown there."""
    unknown: NDArray[np.bool_]
    """Which records come to this leaf, and have an unknown answer on the way."""


def left_open_of(tree: Tree, answers: Answers, missing: Container[str] | None) -> list[LeftOpen]:
    """What missing values leave open about the records of each leaf, in order."""
    truth = answers.truth([node.formula.expression for node in tree.nodes])
    passes, met = tree.passes_truth(truth), tree.unknown_truth(answers.truth)
    places = iter(range(passes.shape[1]))

    def below(
        node: Node | Leaf, place: int, above: tuple[Open | None, ...], unsure: NDArray[np.bool_]
    ) -> Iterator[LeftOpen]:
        if isinstance(node, Leaf):
            yield LeftOpen(above, passes[:, place] & unsure)
            return
        for side, truth in ((node.true, True), (node.false, False)):
            branch, here = UnsureBranch(node, truth), next(places)
            told = Open(int((met[:, place] & passes[:, here]).sum()), int(passes[:, here].sum()))
            ways = (*above, None if left_open(branch, missing) is None else told)
            yield from below(side, here, ways, unsure | met[:, place])

    return list(below(tree.root, next(places), (), np.zeros(len(passes), np.bool_)))


def open_in_training(branches: Sequence[Branch], missing: Container[str] | None) -> list[Open | None]:
    """The same of the training records that went each of these ways."""
    found: list[Open | None] = []
    for branch in branches:
        told = None
        if isinstance(branch, UnsureBranch) and left_open(branch, missing) is not None:
            side = branch.node.true if branch[1] else branch.node.false
            assert branch.node.unknown is not None
            told = Open(branch.node.unknown.records, side.summary.support)
        found.append(told)
    return found
