"""Of how many records the sentence of a category says anything, and for how many missing values leave it open."""

from collections.abc import Callable, Container, Iterator, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from telltree.engine import Answers
from telltree.english.styles import conditions_of
from telltree.explain.sentence import left_open
from telltree.logic import Expression
from telltree.panel.how_read import StepLength
from telltree.text import counted
from telltree.tree.tree import Branch, Leaf, Node, Tree, UnsureBranch

# ---- How often the condition of a sentence occurs: "whenever A, B" says nothing of a record in which A never holds.


class Occurrence(NamedTuple):
    """In how many of some records each condition of a sentence occurs; no conditions: it says something of all."""

    times: tuple[int, ...]
    records: int

    def __add__(self, other: object) -> "Occurrence":
        """The same sentence, for the records of both."""
        assert isinstance(other, Occurrence)
        return Occurrence(
            tuple(a + b for a, b in zip(self.times, other.times, strict=True)), self.records + other.records
        )

    def told(self, whose: str = "its") -> str:
        """In words: "the condition occurs in 3 of its 25 members"; "" if there is none, or there are no records."""
        if not self.times or not self.records:
            return ""
        conditions = "the condition occurs" if len(self.times) == 1 else "the conditions occur"
        if set(self.times) == {self.records}:
            return f"{conditions} in all of {whose} members"
        each = [f"{times:,}" if times else "none" for times in self.times]
        listed = " and ".join(filter(None, [", ".join(each[:-1]), each[-1]]))
        return f"{conditions} in {listed} of {whose} {counted(self.records, 'member')}"

    def beside(self, whose: str = "its") -> str:
        """What to add to an exact sentence: nothing where each condition occurs in every record."""
        return f" ({self.told(whose)})" if set(self.times) - {self.records} and self.records else ""


Occurs: TypeAlias = Callable[[Sequence[Expression], int], Occurrence | None]
"""How often the conditions of the sentence that says some claims occur among the members of a category, by its number;
None if that is not known."""


def occurs_in(
    tree: Tree,
    clusters: NDArray[np.int64],
    answers: Answers,
    missing: Container[str] | None,
    step: StepLength | None,
) -> Occurs:
    """How often conditions occur among records, given the category of each and their answers."""
    support = np.bincount(clusters, minlength=len(tree.leaves) + 1)

    @cache
    def times(claims: tuple[Expression, ...]) -> tuple[NDArray[np.int64], ...]:
        found = conditions_of(claims, tree.schema, missing, step)
        truth = answers.truth(found) if found else ()
        return tuple(np.bincount(clusters[holds], minlength=len(tree.leaves) + 1) for holds in truth)

    def occurs(claims: Sequence[Expression], number: int) -> Occurrence:
        return Occurrence(tuple(int(each[number]) for each in times(tuple(claims))), int(support[number]))

    return occurs


def occurred_in_training(tree: Tree) -> Occurs:
    """The same, of the training records, as the leaves of the tree keep it."""

    def occurs(claims: Sequence[Expression], number: int) -> Occurrence | None:
        leaf: Leaf = tree.leaves[number - 1][0]
        known = {str(condition.formula): condition.members for condition in leaf.conditions}
        found = [known.get(str(condition)) for condition in tree.conditions(*claims)]
        return Occurrence(tuple(n for n in found if n is not None), leaf.support) if None not in found else None

    return occurs


# ---- What missing values leave open: claims about a category that are unknown of some of its records, and of how
# many.
#
# With `missing="unknown"`, records whose answer to a question is unknown go one of its ways. What is told of those
# that went it is so "unless missing values leave it open", with the number of records of which they do.


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
