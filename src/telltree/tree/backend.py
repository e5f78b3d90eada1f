"""Backends evaluate formulas: a backend makes the evaluators of a node, wherever its records are."""

from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from telltree.engine.bitset_layout import Allocator, aligned_words
from telltree.engine.evaluator import FormulaEvaluatorProtocol, PopulationEvaluatorProtocol
from telltree.engine.formula_evaluator import FormulaEvaluator
from telltree.engine.population_evaluator import PopulationEvaluator
from telltree.engine.signals import Signals
from telltree.engine.trace import signals_of
from telltree.grammar import Grammar
from telltree.logic import Expression
from telltree.panel import Panel


class Backend(Protocol):
    """Makes the evaluators of nodes, wherever the records are."""

    @property
    def nodes_at_once(self) -> int:
        """The number of nodes worth searching side by side."""

    def evaluator(self, members: NDArray[np.int64], before: int = 0) -> PopulationEvaluatorProtocol:
        """Return an evaluator of populations on these records.

        before: for a shard, the number of blocks of records in the shards before it.
        """

    def formulas(self, members: NDArray[np.int64], before: int = 0) -> FormulaEvaluatorProtocol:
        """Return an evaluator of single formulas on these records."""

    @property
    def deviations(self) -> dict[Expression, float]:
        """The known standard deviations of signals, the units of robustness: for a shard, those over all shards."""

    @property
    def cuts(self) -> NDArray[np.int64]:
        """The first record of each shard but the first; hashes of splits are comparable only if these are the same."""


class LocalBackend:
    """Evaluates formulas on records in memory. All nodes share bitsets, and so do the backends of parts."""

    nodes_at_once = 1

    def __init__(
        self,
        panel: Panel,
        grammar: Grammar,
        threads: int = 1,
        part_of: "tuple[LocalBackend, NDArray[np.int64]] | None" = None,
        *,
        memory: int | None = None,
        signals: int | None = None,
        allocate: Allocator = aligned_words,
    ) -> None:
        """`memory` and `signals`: the most bytes for bitsets and for signals. `allocate` allocates bitsets."""
        self._panel, self._grammar, self._threads, self._part_of = panel, grammar, threads, part_of
        self._memory, self._allocate = memory, allocate
        known = None if part_of is None else part_of[0]._signals
        self._signals: Signals = signals_of(panel, known, memory=signals)

    def part(self, members: NDArray[np.int64]) -> "LocalBackend":
        """Return a backend for some of the records, to learn another tree from them."""
        return LocalBackend(self._panel[members], self._grammar, self._threads, (self, members), memory=self._memory)

    @property
    def deviations(self) -> dict[Expression, float]:
        """The standard deviations of signals that were computed here or set from outside."""
        return self._signals.deviations

    @property
    def cuts(self) -> NDArray[np.int64]:
        """Empty: all records are in one shard."""
        return np.empty(0, np.int64)

    def evaluator(self, members: NDArray[np.int64], before: int = 0) -> PopulationEvaluator:
        """Return an evaluator of populations on these records, made from the bitsets of all."""
        whole, own = (self, members) if self._part_of is None else (self._part_of[0], self._part_of[1][members])
        everything = whole is self and len(members) == len(self._panel)
        found = self._of_all if everything else self._evaluator(self._panel[members], (whole._of_all, own))
        found.before = before
        return found

    def formulas(self, members: NDArray[np.int64], before: int = 0) -> FormulaEvaluator:
        """Return an evaluator of single formulas on these records."""
        whole = self if self._part_of is None else self._part_of[0]
        return FormulaEvaluator(
            self._panel[members],
            self._signals,
            memory=self._memory,
            before=before,
            allocate=self._allocate,
            like=whole._of_all,
        )

    @cached_property
    def _of_all(self) -> PopulationEvaluator:
        return self._evaluator(self._panel)

    def _evaluator(
        self, panel: Panel, part_of: tuple[PopulationEvaluator, NDArray[np.int64]] | None = None
    ) -> PopulationEvaluator:
        rules, tables = self._grammar.rules, self._grammar.tables
        return PopulationEvaluator(
            panel, rules, tables, self._signals, memory=self._memory, threads=self._threads, part_of=part_of,
            allocate=self._allocate,
        )  # fmt: skip

    def rest(self) -> None:
        """Release memory until the next call."""
        self._signals.release()
