"""Counts behind the sentences of categories: occurrences of their conditions, reach of headlines, unknown answers.

"Whenever A, B" says nothing of a record in which A never holds. And with `missing="unknown"`, a record whose answer to
a question is unknown goes to one of its sides, so that what is true of the other records there may not be true of it.
"""

from collections.abc import Callable, Container, Iterator, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from telltree.engine import Answers
from telltree.english.styles import conditions_of
from telltree.explain.sentence import open_claim
from telltree.logic import Expression
from telltree.panel.dates import StepLength
from telltree.text import counted, percent
from telltree.tree.tree import Branch, Leaf, Node, Tree, UnsureBranch

# ---- Occurrence of conditions.


class Occurrence(NamedTuple):
    """Number of records in which each condition of a sentence occurs; a sentence without conditions has no counts."""

    counts: tuple[int, ...]
    records: int

    def __add__(self, other: object) -> "Occurrence":
        """Return the occurrence of the same conditions in the records of both."""
        assert isinstance(other, Occurrence)
        return Occurrence(
            tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)), self.records + other.records
        )

    def text(self, owner: str = "its") -> str:
        """Return "the condition occurs in 3 of its 25 members"; "" without conditions or records."""
        if not self.counts or not self.records:
            return ""
        conditions = "the condition occurs" if len(self.counts) == 1 else "the conditions occur"
        if set(self.counts) == {self.records}:
            return f"{conditions} in all of {owner} members"
        numbers = [f"{count:,}" if count else "none" for count in self.counts]
        listed = " and ".join(filter(None, [", ".join(numbers[:-1]), numbers[-1]]))
        return f"{conditions} in {listed} of {owner} {counted(self.records, 'member')}"

    def note(self, owner: str = "its") -> str:
        """Return the text in brackets, to follow the sentence; "" if each condition occurs in every record."""
        return f" ({self.text(owner)})" if set(self.counts) - {self.records} and self.records else ""


OccurrenceOf: TypeAlias = Callable[[Sequence[Expression], int], Occurrence | None]
"""Function from the claims that a sentence joins, and the number of a category, to the occurrence of the sentence's
conditions among the members of the category; None if it is unknown."""


def occurrences_in(
    tree: Tree,
    clusters: NDArray[np.int64],
    answers: Answers,
    missing: Container[str] | None,
    step: StepLength | None,
) -> OccurrenceOf:
    """Return the function that counts occurrences among records, given the category of each and their answers."""
    support = np.bincount(clusters, minlength=len(tree.leaves) + 1)

    @cache
    def counts(claims: tuple[Expression, ...]) -> tuple[NDArray[np.int64], ...]:
        conditions = conditions_of(claims, tree.schema, missing, step)
        truth = answers.truth(conditions) if conditions else ()
        return tuple(np.bincount(clusters[holds], minlength=len(tree.leaves) + 1) for holds in truth)

    def occurrence(claims: Sequence[Expression], number: int) -> Occurrence:
        return Occurrence(tuple(int(each[number]) for each in counts(tuple(claims))), int(support[number]))

    return occurrence


def training_occurrences(tree: Tree) -> OccurrenceOf:
    """Return the function that looks up occurrences among the training records, which the leaves of the tree keep."""

    def occurrence(claims: Sequence[Expression], number: int) -> Occurrence | None:
        leaf: Leaf = tree.leaves[number - 1][0]
        members = {str(condition.formula): condition.members for condition in leaf.conditions}
        counts = [members.get(str(condition)) for condition in tree.conditions(*claims)]
        return Occurrence(tuple(n for n in counts if n is not None), leaf.support) if None not in counts else None

    return occurrence


# ---- Headlines, with the records of which they are true.


class Reach(NamedTuple):
    """Number of records of which a headline is true."""

    inside: int
    members: int
    """Number of records of its category, true or not."""
    others: int
    elsewhere: int
    """Number of other records, true or not."""

    def __str__(self) -> str:
        """Return the shares: "all of its members, 1 % of the others"."""
        own = f"{_share(self.inside, self.members)} of its members" if self.members else "no members here"
        return f"{own}, {_share(self.others, self.elsewhere)} of the others" if self.elsewhere else own


def _share(some: int, whole: int) -> str:
    return "none" if not some else "all" if some == whole else percent(some / whole, 0)


def with_reach(headline: str, reach: Reach, occurrence: Occurrence) -> str:
    """Return a headline with its reach and the occurrence of its condition in brackets."""
    return f"{headline} ({'; '.join(filter(None, [str(reach), occurrence.text()]))})"


def headline_text(tree: Tree, number: int) -> str | None:
    """Return the headline of a leaf with its reach among the training records.

    None if it has none, or if the occurrence of its condition is unknown: it may be true because that never occurs.
    """
    leaf, _ = tree.leaves[number - 1]
    if leaf.headline is None:
        return None
    headline, claim = leaf.headline, leaf.headline.formula.expression
    occurrence = training_occurrences(tree)([claim], number)
    if occurrence is None:
        return None
    reach = Reach(leaf.support - headline.missed, leaf.support, headline.others, headline.elsewhere)
    return with_reach(tree.sentence(claim), reach, occurrence)


# ---- Unknown answers on the path to a leaf.


class UnknownCount(NamedTuple):
    """Number of records on one side of a question whose answer to it is unknown."""

    unknown: int
    records: int

    def __str__(self) -> str:
        some = f"{self.unknown:,}" if self.unknown else "none"
        return f"open for {some} of {counted(self.records, 'record')}"


class LeafUnknowns(NamedTuple):
    """Unknown answers of the records of a leaf."""

    branches: tuple[UnknownCount | None, ...]
    """For each branch of the path, the count among all records that took it; None if none can be unknown."""
    unknown: NDArray[np.bool_]
    """Mask of the leaf's records with an unknown answer anywhere on the path."""


def leaf_unknowns(tree: Tree, answers: Answers, missing: Container[str] | None) -> list[LeafUnknowns]:
    """Return the unknown answers on the path to each leaf, in order."""
    truth = answers.truth([node.formula.expression for node in tree.nodes])
    passes, unknown = tree.passes_truth(truth), tree.unknown_truth(answers.truth)
    columns = iter(range(passes.shape[1]))

    def below(
        node: Node | Leaf, column: int, path: tuple[UnknownCount | None, ...], unsure: NDArray[np.bool_]
    ) -> Iterator[LeafUnknowns]:
        if isinstance(node, Leaf):
            yield LeafUnknowns(path, passes[:, column] & unsure)
            return
        for side, truth in ((node.true, True), (node.false, False)):
            branch, taken = UnsureBranch(node, truth), next(columns)
            count = UnknownCount(int((unknown[:, column] & passes[:, taken]).sum()), int(passes[:, taken].sum()))
            longer = (*path, None if open_claim(branch, missing) is None else count)
            yield from below(side, taken, longer, unsure | unknown[:, column])

    return list(below(tree.root, next(columns), (), np.zeros(len(passes), np.bool_)))


def training_unknowns(branches: Sequence[Branch], missing: Container[str] | None) -> list[UnknownCount | None]:
    """Return the count for each branch of a path among the training records."""
    counts: list[UnknownCount | None] = []
    for branch in branches:
        count = None
        if isinstance(branch, UnsureBranch) and open_claim(branch, missing) is not None:
            side = branch.node.true if branch[1] else branch.node.false
            assert branch.node.unknown is not None
            count = UnknownCount(branch.node.unknown.records, side.summary.support)
        counts.append(count)
    return counts
