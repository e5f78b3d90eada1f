"""Formulas evaluated without a grammar, for trees, users and reports."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.engine import compile_derivations, operands
from telltree.engine.aligned import Room, aligned_words
from telltree.engine.atoms import Atom, AtomFamily
from telltree.engine.evaluator import LEAST_ROBUSTNESS, Evaluator, ready_for
from telltree.engine.instructions import CONSTANT, UNTIL, Programs
from telltree.engine.operands import NOTHING
from telltree.engine.robustness import Gauges
from telltree.engine.signals import Signals
from telltree.engine.trace import RECORDS_LOOKED_AT, signals_of
from telltree.grammar.tables import code_of, outcomes_of
from telltree.logic import Expression, Number
from telltree.logic.expression import spelt_out
from telltree.logic.meaning import AHEAD, CONNECTIVES, LOOKING, OF_NUMBERS, OPERAND_MODES, PAIRED, WINDOWED, MicroOp
from telltree.panel import Panel, Schema
from telltree.panel.disk_arrays import rest

# the functions that lower populations, but not compiled: few formulas are not worth the compile time
_connect, _read_bitset = operands.connect.py_func, operands.read_bitset.py_func
_over_time, _on_numbers = compile_derivations.over_time.py_func, compile_derivations.on_numbers.py_func
_until_of, _look_at, _window_value = (
    function.py_func
    for function in (compile_derivations.until_of, compile_derivations.look_at, compile_derivations.window_value)
)

Operand = tuple[int, int]
"""An operand of the machine, and whether it is negated."""


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
        room: Room = aligned_words,
        like: Evaluator[Any] | None = None,
    ) -> None:
        """`before`, `room`: see `Evaluator`. `like`: one that may count or look along time; if this one may as well,
        whether or not its formulas do, the same compiled code serves both."""
        counts, looks = ready_for(False, False) if like is None else (like.counts, like.looks)
        super().__init__(
            panel, signals or signals_of(panel), counts=counts, looks=looks, threads=threads, memory=memory,
            before=before, room=room,
        )  # fmt: skip

    @staticmethod
    def _how_many(formulas: Sequence[Expression]) -> int:
        return len(formulas)

    def _for_part(self, panel: Panel, before: int) -> "FormulaEvaluator":
        memory, room = self._budget, self._room_for_bitsets
        return FormulaEvaluator(
            panel, self.signals, threads=self._threads, memory=memory, before=before, room=room, like=self
        )

    def _lower(self, formulas: Sequence[Expression], wanted: NDArray[np.int64], mode: int, simplify: bool) -> bool:
        chosen = [formulas[k] for k in wanted]
        atoms = list(dict.fromkeys(e for formula in chosen for e in _atoms(formula)))
        slots = self._slots([Atom.of(e, self.panel.schema) for e in atoms])
        if slots is None:
            return False
        writer = _ProgramWriter(dict(zip(atoms, slots, strict=True)))
        self._programs = Programs.empty(len(formulas), 0)
        for k, formula in zip(wanted, chosen, strict=True):
            begin = len(writer.steps)
            writer.registers = 0
            self._programs.result[k] = writer.lower(formula, mode)
            self._programs.bounds[k] = begin, len(writer.steps)
            self._programs.size[k] = formula.terminals
            self._programs.registers[0] = max(self._programs.registers[0], writer.registers)
        steps = np.array(writer.steps, np.int32).reshape(-1, 5)
        self._programs = self._programs._replace(steps=steps, values=np.array(writer.values, np.float64))
        codes = {code_of(e) for formula in chosen for e in formula.walk()}
        counts, looks = not codes.isdisjoint(OF_NUMBERS), not codes.isdisjoint(LOOKING)
        if (counts and not self.counts) or (looks and not self.looks):
            self.counts, self.looks = ready_for(self.counts or counts, self.looks or looks)
            self._scratch = self._scratch_for(8)
        return True

    def turning_points(self, formulas: Sequence[Expression], atom: Atom) -> NDArray[np.float64]:
        """For the first formula and one of its atoms, the value of the atom's signal that decides each record: where
        the atom's constant passes it, the answer turns. ±∞ where no constant would turn it.

        The formula must not count, and have the atom only once.
        """
        first, places = np.zeros(1, np.int64), self.layout.places
        found = np.empty(len(places))
        if not len(places):
            return found
        self._fits(formulas[:1], first, simplify=False)
        slots = self._bitsets.held(AtomFamily.several([atom]))
        assert slots is not None, "the formula was just lowered"
        bitset = int(slots[0]) >> 1
        # the distance to 0 is the value, and all other atoms are as far from turning as can be
        gauges, values = Gauges.empty(self._bitsets.used, np.inf), self.signals.values(atom.signal)
        gauges.measure(bitset, values, self._bitsets.atom(bitset).outcomes, 0.0, 1.0)
        for low in range(0, len(places), RECORDS_LOOKED_AT):
            part = slice(low, low + RECORDS_LOOKED_AT)
            self._measure(first, places[part], gauges, np.empty(1), each=found[part])
            if self.panel.on_disk:
                rest()
        found[np.abs(found) < LEAST_ROBUSTNESS] = 0.0
        return found

    def _slots(self, atoms: Sequence[Atom]) -> list[int] | None:
        families = AtomFamily.several(atoms)
        slots = self._bitsets.held(families)
        if slots is None:
            self._bitsets.forget()  # those of earlier formulas
            slots = self._bitsets.held(families)
        return None if slots is None else slots.tolist()


class _ProgramWriter:
    """Writes programs: a part of a formula becomes an operand, and the instructions that compute it."""

    def __init__(self, slots: dict[Expression, int]) -> None:
        self._slots = slots
        self.steps: list[tuple[int, ...]] = []
        self.values: list[float] = []
        self.registers = 0

    def lower(self, e: Expression, mode: int) -> Operand:
        """The operand for a part of a formula, read in a mode, and whether it is negated."""
        e = spelt_out(e)
        code = code_of(e)
        if code is MicroOp.ATOM:
            ref, negated = _read_bitset(self._slots[e], mode)
            return int(ref), int(negated)
        if code is MicroOp.NAME:
            assert isinstance(e.head, Number)
            return self._write((CONSTANT, self._fresh, 0, 0, 0), e.head.value), 0
        modes = OPERAND_MODES[code, mode].tolist()
        (a, not_a), (b, not_b) = [*map(self.lower, e.operands, modes), (0, 0)][:2]
        if code is MicroOp.NOT:
            return a, not_a ^ 1
        if code in CONNECTIVES:
            step, register, a, flags, negated = _connect(code, mode, a, not_a, b, not_b, self.registers)
        elif code in PAIRED:
            scan, step, register, flags, negated = _until_of(code, mode, not_a, not_b, self.registers)
            a = b = self._write((UNTIL, register, a, b, scan))
        elif code in AHEAD | WINDOWED:
            near, far = e.window
            operand = a
            scan, step, register, a, flags, negated = _over_time(code, mode, a, not_a, near, self.registers)
            if scan != NOTHING:
                self._write((_look_at(code), register, operand, 0, scan), _window_value(near, far))
        else:
            step, flags = _on_numbers(code, not_a, outcomes_of(e))
            register, negated = self._fresh, 0
        return self._write((step, register, a, b, flags)), int(negated)

    @property
    def _fresh(self) -> int:
        """A register that is not in use."""
        return -1 - self.registers

    def _write(self, instruction: tuple[int, ...], value: float = np.nan) -> int:
        """Write an instruction, if there is one; returns where its result will be."""
        step, register, *_ = instruction
        if step != NOTHING:
            self.steps.append(instruction)
            self.values.append(value)
        self.registers = max(self.registers, -int(register))
        return int(register)


def _atoms(e: Expression) -> Iterator[Expression]:
    if code_of(e) is MicroOp.ATOM:
        yield e
        return
    for arg in e.args:
        yield from _atoms(arg)


def graded_signals(e: Expression, schema: Schema) -> Iterator[Expression]:
    """The signals whose distance to a constant counts in the margin of a formula."""
    for atom in _atoms(e):
        made = Atom.of(atom, schema)
        if made.graded:
            yield made.signal
