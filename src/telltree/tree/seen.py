"""The training records by which headlines and short descriptions are chosen: all of them, and a sample for speed.

Of thousands of formulas few are reported. The sample decides which; the reported counts are over all records.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.logic.formulas import Formulas
from telltree.logic.signals import Signals
from telltree.logic.walking import signals_of
from telltree.operators import Expression
from telltree.tree.tree import Tree

_MOST_SAMPLED = 1_500  # more if there are small leaves
_LEAST_OF_A_LEAF = 40


class Seen:
    """Records, and the leaf of a tree that each of them reaches."""

    def __init__(self, tree: Tree, panel: Panel) -> None:
        self.records = tree.aligned(panel)
        self._formulas = Formulas(self.records)
        self.answers = self.truth([node.formula.expression for node in tree.nodes])
        """The truth of every node's formula for every record: nodes × records."""
        self.clusters = tree.apply_truth(self.answers)
        self.support = np.bincount(self.clusters, minlength=len(tree.leaves) + 1)[1:]
        """How many records reach each leaf."""

    def truth(self, formulas: Sequence[Expression]) -> NDArray[np.bool_]:
        """The truth of formulas for every record: formulas × records."""
        return self._formulas.truth(formulas)

    def true(self, formula: Expression) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """The truth of one formula for every record, and how many records of each leaf it is true of."""
        truth: NDArray[np.bool_] = self.truth([formula])[0]
        return truth, np.bincount(self.clusters[truth], minlength=len(self.support) + 1)[1:]

    @cached_property
    def sample(self) -> "Sample":
        """Some of the records, all of them if they are few."""
        return Sample(self.records, self._formulas.signals, self.clusters, self.support)


class Sample:
    """The same share of the records of each leaf, evenly spaced; more of small leaves.

    Answers are bits. Those of a leaf start at a byte boundary, so that whole bytes are counted.
    """

    def __init__(
        self, records: Panel, signals: Signals, clusters: NDArray[np.int64], support: NDArray[np.int64]
    ) -> None:
        """`signals` are those of all records; those of records on disk are not made for a few."""
        fair = np.ceil(support * min(1.0, _MOST_SAMPLED / max(1, len(records)))).astype(np.int64)
        sizes = np.minimum(support, np.maximum(fair, _LEAST_OF_A_LEAF))
        leaves = [np.flatnonzero(clusters == number) for number in range(1, len(support) + 1)]
        chosen = [rows[np.arange(n) * len(rows) // max(1, n)] for rows, n in zip(leaves, sizes, strict=True)]
        self.rows: NDArray[np.int64] = np.concatenate(chosen)
        """The records in the sample, leaf by leaf."""
        self.panel, self.signals = records[self.rows], signals
        if records.on_disk:
            self.panel = self.panel.alone()
            self.signals = signals_of(self.panel)
        self._formulas = Formulas(self.panel, self.signals)
        self._stands_for = support / np.maximum(1, sizes)
        widths = np.maximum(1, -(-sizes // 8))
        self._starts = np.cumsum(widths) - widths
        before = np.cumsum(sizes) - sizes
        self._places = np.repeat(8 * self._starts - before, sizes) + np.arange(len(self.rows))
        self.bytes = int(widths.sum())

    def truth(self, formulas: Sequence[Expression]) -> NDArray[np.bool_]:
        """The truth of formulas for its records: formulas × records."""
        return self._formulas.truth(formulas)

    def packed(self, truth: NDArray[np.bool_]) -> NDArray[np.uint8]:
        """Answers for its records as bits."""
        spaced = np.zeros((len(truth), 8 * self.bytes), np.bool_)
        spaced[:, self._places] = truth
        return np.packbits(spaced, axis=1)

    def true(self, answers: NDArray[np.uint8]) -> NDArray[np.float64]:
        """How many records of each leaf packed answers are true of, scaled up from the sample."""
        counted = np.add.reduceat(np.bitwise_count(answers), self._starts, axis=1, dtype=np.int64)
        found: NDArray[np.float64] = counted * self._stands_for
        return found
