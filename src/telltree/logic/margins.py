"""Margins: by how much a formula is true or false of a record, before the data would have to change its answer.

A comparison's margin is the distance to its threshold in standard deviations of that signal over the training panel;
Boolean, categorical and missing atoms, and comparisons of counts, have ±1; a true equality has 0. ∧ is the minimum, ∨
the maximum, F the maximum over time and G the minimum. The margin is positive where the formula is true.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import carray
from numpy.typing import NDArray

from telltree.compiled import borrowed, inline, kernel, pointer
from telltree.logic.atoms import Atom
from telltree.logic.instructions import (
    ABS,
    COMPARE,
    CONSTANT,
    COUNT,
    EQUAL,
    GREATER,
    LESS,
    REDUCE,
    SUBTRACT,
    SUFFIX_OR,
    VECTOR_AND,
    WORD_AND,
)
from telltree.logic.signals import Signals

_TINY = 5e-324
"""The margin of what is true, but only just; it is as good as 0 and keeps the sign."""


class Gauges(NamedTuple):
    """How to measure each plane's atom: its signal, what it is compared with, and in which unit."""

    address: NDArray[np.int64]
    rows: NDArray[np.int64]
    outcomes: NDArray[np.int64]
    constant: NDArray[np.float64]
    spread: NDArray[np.float64]  # 0 where distance means nothing

    @classmethod
    def of(
        cls, atoms: Sequence[Atom], used: NDArray[np.int64], signals: Signals, held: list[NDArray[np.float64]]
    ) -> "Gauges":
        """Gauges for planes 0, 1, … of which some are `used`.

        Arrays that they point to are put into `held`, to be kept alive while the gauges are.
        """
        gauges = cls(*np.zeros((3, len(atoms)), np.int64), *np.zeros((2, len(atoms))))
        for plane in used:
            atom = atoms[plane]
            values = signals.values(atom.signal)
            held.append(values)
            gauges.address[plane], gauges.rows[plane] = values.ctypes.data, len(values)
            gauges.outcomes[plane], gauges.constant[plane] = atom.outcomes, atom.constant
            gauges.spread[plane] = signals.spread(atom.signal) if atom.graded else 0.0
        return gauges


class Room(NamedTuple):
    """Registers for the record at hand."""

    vectors: NDArray[np.float64]
    words: NDArray[np.float64]
    numbers: NDArray[np.float64]
    operands: NDArray[np.float64]

    @classmethod
    def of(cls, registers: int, steps: int) -> "Room":
        """Room for so many registers over records of at most so many steps."""
        return cls(np.empty((registers, steps)), np.empty(registers), np.empty(registers), np.empty((2, steps)))


@inline
def _measure(gauges, plane, start, steps, out):
    """The margin of an atom at every step of a record."""
    signal = carray(pointer(gauges.address[plane]), (gauges.rows[plane],))
    outcomes, constant, spread = gauges.outcomes[plane], gauges.constant[plane], gauges.spread[plane]
    for t in range(steps):
        x = signal[start + t]
        holds = (outcomes & LESS and x < constant) or (outcomes & EQUAL and x == constant)
        holds = holds or (outcomes & GREATER and x > constant)
        if spread == 0.0 or np.isnan(x):
            size = 1.0
        elif x == constant:
            size = _TINY
        else:
            size = max(abs(x - constant) / spread, _TINY)
        out[t] = size if holds else -size


@inline
def _fetch(ref, negated, gauges, start, steps, room, out):
    """An operand, a plane or a register, with its sign."""
    if ref >= 0:
        _measure(gauges, ref, start, steps, out)
    else:
        for t in range(steps):
            out[t] = room.vectors[-1 - ref, t]
    if negated:
        for t in range(steps):
            out[t] = -out[t]


@inline
def _word(ref, gauges, start, steps, room, scratch):
    """A word operand: a register, or the greatest margin of an atom or its negation over time."""
    if ref < 0:
        return room.words[-1 - ref]
    _measure(gauges, ref >> 1, start, steps, scratch)
    most = -np.inf
    for t in range(steps):
        most = max(most, -scratch[t] if ref & 1 else scratch[t])
    return most


@inline
def _number(step, a, b, value):
    if step == CONSTANT:
        return value
    if step == SUBTRACT:
        return a - b
    if step == ABS:
        return abs(a)
    return np.sign(a)


@inline
def _of_record(programs, i, gauges, start, steps, room):
    """The margin of one formula for one record."""
    words, numbers, one, two = room.words, room.numbers, room.operands[0], room.operands[1]
    for k in range(programs.bounds[i, 0], programs.bounds[i, 1]):
        step, to, flags = programs.steps[k, 0], -1 - programs.steps[k, 1], programs.steps[k, 4]
        a, b = programs.steps[k, 2], programs.steps[k, 3]
        if step == WORD_AND:
            least = np.inf
            for side in range(2):
                word = _word(b if side else a, gauges, start, steps, room, one)
                least = min(least, -word if flags & (2 if side else 1) else word)
            words[to] = least
            continue
        if step == COMPARE:
            x, y = numbers[-1 - a], numbers[-1 - b]
            holds = (flags & LESS and x < y) or (flags & EQUAL and x == y) or (flags & GREATER and x > y)
            words[to] = 1.0 if holds else -1.0
            room.vectors[to, :steps] = words[to]
            continue
        if step > COUNT:
            numbers[to] = _number(step, numbers[-1 - a], numbers[-1 - b], programs.values[k])
            continue
        paired = step != REDUCE and step != SUFFIX_OR and step != COUNT
        for side in range(2 if paired else 1):
            _fetch(b if side else a, flags & (2 if side else 1), gauges, start, steps, room, room.operands[side])
        if paired:
            for t in range(steps):
                one[t] = min(one[t], two[t])
        if step == VECTOR_AND:
            room.vectors[to, :steps] = one[:steps]
            continue
        most, true = -np.inf, 0
        for t in range(steps - 1, -1, -1):
            x = -one[t] if flags & 4 else one[t]
            most = max(most, x)
            true += x > 0
            if step == SUFFIX_OR:
                room.vectors[to, t] = most
        words[to], numbers[to] = most, true
    margin = _word(programs.result[i, 0], gauges, start, steps, room, one)
    return -margin if programs.result[i, 1] else margin


@kernel
def narrowest(programs, wanted, starts, lengths, gauges, room, cutoff, out):
    """For each formula the smallest absolute margin over the records; with `cutoff`, formulas that fall behind the
    widest so far are given up, and get a number below it.
    """
    programs, gauges, room = borrowed(programs), borrowed(gauges), borrowed(room)
    widest = 0.0
    for i in wanted:
        out[i] = np.inf
        for record in range(len(starts)):
            margin = abs(_of_record(programs, i, gauges, starts[record], lengths[record], room))
            if margin < out[i]:
                out[i] = margin
                if cutoff and margin < widest:
                    break
        widest = max(widest, out[i])


