"""How often the condition of a sentence occurs: "whenever A, B" says nothing of a record in which A never holds."""

from collections.abc import Callable, Container, Sequence
from functools import cache, reduce
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from telltree.amounts import counted
from telltree.data import Schema
from telltree.data.how_read import StepLength
from telltree.explain.english import static_columns
from telltree.logic import Answers
from telltree.operators import Expression
from telltree.operators.table import AND
from telltree.speech import conditions, term_of
from telltree.tree.tree import Leaf, Tree


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


def conditions_of(
    claims: Sequence[Expression], schema: Schema, missing: Container[str] | None, step: StepLength | None
) -> tuple[Expression, ...]:
    """Formulas that are true of the records in which the conditions of a sentence occur."""
    if not claims:
        return ()
    whole = reduce(lambda left, right: Expression(AND, (left, right)), claims)
    return conditions(term_of(whole, missing, static=static_columns(schema)), schema, step=step, missing=missing)


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
