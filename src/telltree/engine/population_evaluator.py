"""The evaluator of populations: derivations of one grammar, for searches."""

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, borrowed, kernel
from telltree.engine.atoms import Atom, AtomFamily
from telltree.engine.bitset_layout import Allocator, aligned_words
from telltree.engine.compile import STEPS
from telltree.engine.evaluator import CountRequest, Evaluator, Source
from telltree.engine.signals import Signals
from telltree.engine.trace import signals_of
from telltree.grammar.derivation import Population, expression_at
from telltree.grammar.normal_form import Rule
from telltree.grammar.random_streams import GOLDEN, mix
from telltree.grammar.tables import Tables, node_at
from telltree.logic import Expression, Hole, Number
from telltree.logic.meaning import LOOKING, OF_NUMBERS, Mode
from telltree.panel import Panel

# ---- Signatures: hashes of the steps at which conditions are true.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


_NEVER = bytes(16)
"""The signature of a condition that is never true. All have one length: those of shards are concatenated."""


@kernel
def _hash_sides(steps, valid, sides):
    """Compute two hashes of 64 bits for a bitset and for its negation, and the disjunction of its words."""
    steps, valid = borrowed(steps), borrowed(valid)
    true, other_true, false, other_false = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
    ever, ever_not = np.uint64(0), np.uint64(0)
    for t in range(len(steps)):
        place, true_bits = GOLDEN * at(t + 1), steps[at(t)] & valid[at(t)]
        false_bits = true_bits ^ valid[at(t)]
        true, false = true + mix(true_bits + place), false + mix(false_bits + place)
        other_true, other_false = other_true + mix(true_bits ^ ~place), other_false + mix(false_bits ^ ~place)
        ever, ever_not = ever | true_bits, ever_not | false_bits
    sides[0, 0], sides[0, 1], sides[0, 2] = true, other_true, ever
    sides[1, 0], sides[1, 1], sides[1, 2] = false, other_false, ever_not


def signatures_of(steps: NDArray[np.uint64], valid: NDArray[np.uint64]) -> tuple[bytes, bytes]:
    """Return the signatures of a condition, given its bitset, and of its negation."""
    sides = np.empty((2, 3), np.uint64)
    _hash_sides(steps, valid, sides)
    true, false = (side[:2].tobytes() if side[2] else _NEVER for side in sides)
    return true, false


# ---- The evaluator.

_FEW_ATOMS = 4_096
"""Numbered atoms of a grammar up to which the bitsets of all are made at once."""


class PopulationEvaluator(Evaluator[Population]):
    """Evaluates derivations of one grammar on the records of one panel."""

    def __init__(
        self,
        panel: Panel,
        rules: Sequence[Rule],
        tables: Tables,
        signals: Signals | None = None,
        *,
        memory: int | None = None,
        threads: int = 1,
        part_of: "tuple[PopulationEvaluator, NDArray[np.int64]] | None" = None,
        before: int = 0,
        allocate: Allocator = aligned_words,
    ) -> None:
        """`part_of`, `before`, `allocate`: see `Evaluator`; that of `part_of` must have the same rules."""
        codes = set(tables.codes["code"].tolist())
        super().__init__(
            panel, signals or signals_of(panel), numbered=int(tables.atoms[0]), counts=not OF_NUMBERS.isdisjoint(codes),
            temporal=not LOOKING.isdisjoint(codes), memory=memory, threads=threads, part_of=part_of, before=before,
            allocate=allocate,
        )  # fmt: skip
        self._rules = rules
        self._tables, self._code_tables = tables, tables.code_tables
        self._codes_per_rule = int(np.diff(tables.rule["code_start"]).max()) + 2
        self._known = self.signals.atoms
        self._signatures: tuple[int, dict[int, tuple[bytes, bytes]]] = (0, {})
        self._families: dict[int, list[tuple[int, AtomFamily]]] = {} if part_of is None else part_of[0]._families
        self._numbers: dict[str, list[float]] = {} if part_of is None else part_of[0]._numbers

    @staticmethod
    def _formula_count(formulas: Population) -> int:
        return len(formulas.lengths)

    def _for_part(self, panel: Panel, before: int) -> "PopulationEvaluator":
        return PopulationEvaluator(
            panel, self._rules, self._tables, self.signals, memory=self._budget, threads=self._threads,
            before=before, allocate=self._allocate,
        )  # fmt: skip

    def signatures(self, conditions: Population) -> list[tuple[bytes, bytes]] | None:
        """Return, for each condition, a hash of the steps of all records at which it is true, and of those at which it
        is false; None if the bitsets do not fit into memory at once.

        Conditions with the same signatures can replace each other in every formula.
        """
        everything = np.arange(len(conditions.lengths))
        if not len(everything) or not self._compile(conditions, everything, STEPS, True):
            return None
        self._make_registers()
        bitsets, negated = (self._programs.result[everything, k].tolist() for k in (0, 1))
        known = self._signatures_of_bitsets(self._bitsets.generation)
        found = []
        for i, (bitset, opposite) in enumerate(zip(bitsets, negated, strict=True)):
            if bitset >= 0 and bitset in known:
                signatures = known[bitset]
            else:
                individual = everything[i : i + 1]
                steps = self._bitsets.bits[bitset] if bitset >= 0 else self._steps(individual, opposite)
                signatures = signatures_of(steps, self.layout.steps)
                known |= {bitset: signatures} if bitset >= 0 else {}
            found.append(signatures[::-1] if opposite else signatures)
        return found

    def reach(self, conditions: Population, masks: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Count the records of each mask in which each condition is true at some step, and at all steps."""
        everything = np.arange(len(conditions.lengths))
        some, every = (
            self._findings(conditions, everything, masks, CountRequest(mode=int(mode))).tally.counts
            for mode in (Mode.SOME, Mode.EVERY)
        )
        return some, every

    def _steps(self, positions: NDArray[np.int64], negated: int) -> NDArray[np.uint64]:
        """Return the truth at every step of a compiled formula, before its final negation."""
        steps = self._run(positions, self.layout.masks([]), CountRequest(steps=True)).tally.steps
        return ~steps if negated else steps

    def _signatures_of_bitsets(self, generation: int) -> dict[int, tuple[bytes, bytes]]:
        """Return the cache of signatures by bitset: they are needed again when a search allows more atoms."""
        if self._signatures[0] != generation:
            self._signatures = generation, {}
        return self._signatures[1]

    def _source(self, formulas: Population) -> Source:
        rules, constants, lengths, _ = formulas
        per_rule = self._codes_per_rule
        return Source(
            self._code_tables, rules, constants, lengths, int(lengths.sum()) * per_rule, rules.shape[1] * per_rule
        )

    def _numbered_atoms(self, source: Source, positions: list[int]) -> dict[int, AtomFamily]:
        """Return the families of missing atoms, or all families of the grammar if its atoms are few: a search needs
        most of them in the end, and it is fastest to read each column once."""
        if self._tables.atoms[0] <= _FEW_ATOMS:
            rules = [rule for rule, first in enumerate(self._first_atoms[:-1]) if first >= 0]
        else:
            rules = [source.rules.item(*place) for place in self._missing.numbered[positions, 1:].tolist()]
        return {number: family for rule in dict.fromkeys(rules) for number, family in self._family(rule)}

    def _family(self, rule: int) -> list[tuple[int, AtomFamily]]:
        """Return the numbered atoms of a rule: one, or one for each constant; with the number of the first of each
        family."""
        if rule not in self._families:
            template, holes = self._rules[rule].template, self._rules[rule].holes
            constants: Sequence[Expression | None] = self._written[holes[0]] if holes else [None]
            atom, begin = Atom.of(template, self.panel.schema, constants[0]), self._first_atoms[rule]
            numbers = self._numbers_of(holes[0]) if holes and atom.graded else [atom.constant]
            if len(numbers) == len(constants):  # the atoms differ in their constants only
                self._families[rule] = [(begin, AtomFamily(atom.signal, atom.outcomes, atom.graded, numbers))]
            else:
                several = AtomFamily.several(Atom.of(template, self.panel.schema, constant) for constant in constants)
                begins = accumulate((len(family.constants) for family in several), initial=begin)
                self._families[rule] = list(zip(begins, several, strict=False))
        return self._families[rule]

    @cached_property
    def _first_atoms(self) -> list[int]:
        """The number of the first atom of each rule, −1 if it has none."""
        numbers: list[int] = self._tables.rule["first_atom"].tolist()
        return numbers

    def _numbers_of(self, symbol: str) -> list[float]:
        """Return the numbers that a symbol derives."""
        if symbol not in self._numbers:
            self._numbers[symbol] = [e.head.value for e in self._written[symbol] if isinstance(e.head, Number)]
        return self._numbers[symbol]

    @cached_property
    def _written(self) -> dict[str, list[Expression]]:
        """The templates of each symbol's rules, in their order."""
        found: dict[str, list[Expression]] = {}
        for rule in self._rules:
            found.setdefault(rule.symbol, []).append(rule.template)
        return found

    def _named_atoms(self, source: Source, positions: list[int]) -> list[tuple[int, Atom]]:
        found = []
        names, places = self._missing.name[positions].tolist(), self._missing.named[positions].tolist()
        for name, (individual, node, code) in zip(names, places, strict=True):
            if name not in self._known:
                constants = source.constants[individual]
                drawn = constants if len(constants) else np.full(source.rules.shape[1], np.nan)
                whole, _ = expression_at(self._rules, source.rules[individual], drawn, node)
                rule = source.rules[individual, node]
                position = code - int(self._tables.rule["code_start"][rule])
                template, atom = node_at(self._rules[rule].template, whole, position)
                self._known[name] = Atom.of(atom, self.panel.schema)
                self._note_grid(self._known[name], template)
            found.append((name, self._known[name]))
        return found

    def _note_grid(self, atom: Atom, written: Expression) -> None:
        """Remember the constants that the grammar compares a signal with, if the last operand is a hole for them."""
        last = written.args[-1].head if written.args else None
        if atom.signal not in self.signals.grids and isinstance(last, Hole):
            numbers = sorted(set(self._numbers_of(last.symbol)))
            self.signals.grids[atom.signal] = {number: place for place, number in enumerate(numbers)}
