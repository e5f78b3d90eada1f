"""The evaluator of expressions, without a grammar: for trees, users and reports."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.engine.atoms import Atom, AtomFamily
from telltree.engine.bitset_layout import Allocator, aligned_words
from telltree.engine.evaluator import LEAST_ROBUSTNESS, Evaluator, Source, compiled_capabilities
from telltree.engine.robustness import AtomDistances
from telltree.engine.signals import Signals
from telltree.engine.trace import RECORDS_PER_UNLOAD, signals_of
from telltree.grammar.tables import CodeTables, Idents, code_of, node_at
from telltree.logic import Expression
from telltree.logic.meaning import LOOKING, OF_NUMBERS, MicroOp
from telltree.panel import Panel, Schema
from telltree.panel.disk_arrays import unload


class FormulaEvaluator(Evaluator[Sequence[Expression]]):
    """Evaluates expressions on the records of one panel."""

    def __init__(
        self,
        panel: Panel,
        signals: Signals | None = None,
        *,
        threads: int = 1,
        memory: int | None = None,
        before: int = 0,
        allocate: Allocator = aligned_words,
        like: Evaluator[Any] | None = None,
    ) -> None:
        """`before`, `allocate`: see `Evaluator`. `like`: an evaluator whose compiled variant of the machine this one
        uses, even if its formulas need less."""
        counts, temporal = compiled_capabilities(False, False) if like is None else (like.counts, like.temporal)
        super().__init__(
            panel, signals or signals_of(panel), counts=counts, temporal=temporal, threads=threads, memory=memory,
            before=before, allocate=allocate,
        )  # fmt: skip
        self._idents = Idents()
        self._formulas: Sequence[Expression] = ()  # being compiled

    @staticmethod
    def _formula_count(formulas: Sequence[Expression]) -> int:
        return len(formulas)

    def _for_part(self, panel: Panel, before: int) -> "FormulaEvaluator":
        memory, allocate = self._budget, self._allocate
        return FormulaEvaluator(
            panel, self.signals, threads=self._threads, memory=memory, before=before, allocate=allocate, like=self
        )

    def _source(self, formulas: Sequence[Expression]) -> Source:
        tables, n = CodeTables.of_formulas(formulas, self._idents), len(formulas)
        codes, nodes = set(tables.codes["code"].tolist()), np.diff(tables.rule["code_start"])
        counts, temporal = not codes.isdisjoint(OF_NUMBERS), not codes.isdisjoint(LOOKING)
        if (counts and not self.counts) or (temporal and not self.temporal):
            self.counts, self.temporal = compiled_capabilities(self.counts or counts, self.temporal or temporal)
            self._scratch = self._scratch_for(8)
        self._formulas = formulas
        return Source(
            tables, np.arange(n, dtype=np.int32)[:, None], np.empty((n, 0)), np.ones(n, np.int64),
            2 * len(tables.codes), 2 * int(nodes.max(initial=0)),
        )  # fmt: skip

    def _named_atoms(self, source: Source, positions: list[int]) -> list[tuple[int, Atom]]:
        found, starts = [], source.tables.rule["code_start"]
        names, places = self._missing.name[positions].tolist(), self._missing.named[positions].tolist()
        for name, (individual, _, code) in zip(names, places, strict=True):
            formula = self._formulas[individual]
            _, atom = node_at(formula, formula, code - int(starts[individual]))
            found.append((name, Atom.of(atom, self.panel.schema)))
        return found

    def _numbered_atoms(self, source: Source, positions: list[int]) -> dict[int, AtomFamily]:
        return {}  # expressions have named atoms only

    def turning_points(self, formulas: Sequence[Expression], atom: Atom) -> NDArray[np.float64]:
        """Return, for the first formula and one of its atoms, the turning point of each record: its answer changes
        where the atom's constant passes this value of the signal. ±∞ if no constant would change it.

        The formula must not count, and must have the atom only once.
        """
        first, places = np.zeros(1, np.int64), self.layout.places
        found = np.empty(len(places))
        if not len(places):
            return found
        self._prepare(formulas[:1], first, simplify=False)
        slots = self._bitsets.slots_of(AtomFamily.several([atom]))
        assert slots is not None, "the formula was just compiled"
        bitset = int(slots[0]) >> 1
        # with constant 0 the distance is the value; all other atoms are infinitely far from turning
        distances, values = AtomDistances.empty(self._bitsets.used, np.inf), self.signals.values(atom.signal)
        distances.set_atom(bitset, values, self._bitsets.atom(bitset).outcomes, 0.0, 1.0)
        for low in range(0, len(places), RECORDS_PER_UNLOAD):
            part = slice(low, low + RECORDS_PER_UNLOAD)
            self._measure(first, places[part], distances, np.empty(1), per_record=found[part])
            if self.panel.on_disk:
                unload()
        found[np.abs(found) < LEAST_ROBUSTNESS] = 0.0
        return found


def _atoms(e: Expression) -> Iterator[Expression]:
    if code_of(e) is MicroOp.ATOM:
        yield e
        return
    for arg in e.args:
        yield from _atoms(arg)


def graded_signals(e: Expression, schema: Schema) -> Iterator[Expression]:
    """Yield the signals whose distance to a constant counts in the robustness of a formula."""
    for atom in _atoms(e):
        made = Atom.of(atom, schema)
        if made.graded:
            yield made.signal
