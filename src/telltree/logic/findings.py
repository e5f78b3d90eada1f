"""What shards find out about formulas, and how it is joined."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.logic.layout import Layout
from telltree.logic.machine import Tally
from telltree.logic.operands import RECORD


class Asked(NamedTuple):
    """What to find out besides counts and hashes."""

    truth: bool = False
    """The truth for every record."""
    steps: bool = False
    """The truth at every step, and nothing else."""
    of_a_shard: bool = False
    """Whether the findings will be joined with those of other shards."""
    mode: int = RECORD
    """How formulas are read."""

    def empty(self, formulas: int, masks: int, layout: Layout) -> Tally:
        """Memory for it."""
        if self.steps:
            return Tally.empty(0, 0, words=layout.words)
        return Tally.empty(formulas, masks, blocks=len(layout.blocks) - 1 if self.truth else 0)


class Findings(NamedTuple):
    """The tally of the records of one shard, or of several that were joined.

    Formulas that make the same split must get the same hash, whichever side they call true. It is the hash of the side
    with the very first record. A shard without that record returns the hash by its own first record, and also the
    `opposite`; its second number of members says whether a formula is true of that record. With a single shard,
    `opposite` is None, and the second number of members is the size of the smaller side.
    """

    tally: Tally
    opposite: NDArray[np.uint64] | None
    records: int

    def part(self, low: int, high: int) -> "Findings":
        """The findings for some of the formulas."""
        return Findings(
            self.tally.part(low, high), None if self.opposite is None else self.opposite[low:high], self.records
        )

    def beside(self, other: "Findings") -> "Findings":
        """The findings for these formulas, and then for others, of the same records."""
        tally = Tally._make(np.concatenate(pair) for pair in zip(self.tally, other.tally, strict=True))
        if self.opposite is None or other.opposite is None:
            return Findings(tally, None, self.records)
        return Findings(tally, np.concatenate((self.opposite, other.opposite)), self.records)

    def of_all(self) -> Tally:
        """The tally, if there are no other shards."""
        if self.opposite is None:
            return self.tally
        true = self.tally.members[:, 0]
        return self.tally._replace(members=np.column_stack([true, np.minimum(true, self.records - true)]))


def joined(parts: Sequence[Findings]) -> Findings:
    """The findings of several shards, in the order of their blocks, as one."""
    tallies = [part.tally for part in parts]
    true_of_first = tallies[0].members[:, 1]
    answers = [np.zeros_like(tallies[0].answer) for _ in range(2)]
    for part in parts:
        assert part.opposite is not None
        same = part.tally.members[:, 1] == true_of_first
        answers[0] += np.where(same, part.tally.answer, part.opposite)
        answers[1] += np.where(same, part.opposite, part.tally.answer)
    true = np.sum([tally.members[:, 0] for tally in tallies], axis=0)
    tally = tallies[0]._replace(
        counts=np.sum([tally.counts for tally in tallies], axis=0),
        members=np.column_stack([true, true_of_first]),
        answer=answers[0],
        truth=np.concatenate([tally.truth for tally in tallies], axis=1),
    )
    return Findings(tally, answers[1], sum(part.records for part in parts))
