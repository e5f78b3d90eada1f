"""Margins: how far the data would have to move before a formula changes its answer for a record. The literature on
temporal logic calls this robustness.

A comparison's margin is the distance to its threshold in standard deviations of that signal over the training panel;
Boolean, categorical and missing atoms, and comparisons of counts, have ±1; a true equality has 0. ∧ is the minimum, ∨
the maximum, F the maximum over time and G the minimum. The margin is positive where the formula is true.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numba import carray  # type: ignore[attr-defined]
from numpy.typing import NDArray

from telltree.compiled import at, borrowed, greater, inline, kernel, lesser, pointer, small
from telltree.engine.atoms import Atom
from telltree.engine.bitset_layout import LANES
from telltree.engine.instructions import (
    ABS,
    BACK,
    COMPARE,
    CONSTANT,
    EQUAL,
    FROM,
    GREATER,
    IS_TEMPORAL,
    LESS,
    LONGEST,
    ON_LANES,
    REDUCE,
    REDUCE_AND,
    SUBTRACT,
    SUFFIX_OR,
    UNTIL,
    VECTOR_AND,
    WEAK,
    WINDOW_OR,
    WORD_AND,
)
from telltree.engine.signals import Signals

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


_TINY = 5e-324
"""The margin of what is true, but only just; it is as good as 0 and keeps the sign."""
_DECISIVE_RECORDS = 16
"""Records that are kept in mind because they decided."""


class AtomDistances(NamedTuple):
    """How to measure each plane's atom: its signal, its constant, and the unit of distance."""

    address: NDArray[np.int64]
    rows: NDArray[np.int64]
    outcomes: NDArray[np.int64]
    constant: NDArray[np.float64]
    unit: NDArray[np.float64]  # 0 if distance is meaningless, and the bits of the plane are enough
    boolean: NDArray[np.float64]  # one number: the margin if distance is meaningless

    @classmethod
    def of(
        cls, bitsets: int, atoms: Mapping[int, Atom], signals: Signals, arrays: list[NDArray[np.float64]]
    ) -> "AtomDistances":
        """Gauges for so many planes; those that are used are given with their atoms.

        The arrays that they point to are appended to `arrays`, to keep them alive as long as the gauges.
        """
        distances = cls.empty(bitsets, 1.0)
        for bitset, atom in atoms.items():
            if atom.graded:
                values, unit = signals.values(atom.signal), signals.deviation(atom.signal)
                arrays.append(values)
                distances.set_atom(bitset, values, atom.outcomes, atom.constant, unit)
        return distances

    @classmethod
    def empty(cls, bitsets: int, boolean: float) -> "AtomDistances":
        """Gauges by which the bits of every plane are enough."""
        (address, rows, outcomes), (constant, unit) = np.zeros((3, bitsets), np.int64), np.zeros((2, bitsets))
        return cls(address, rows, outcomes, constant, unit, np.array([boolean]))

    def set_atom(self, bitset: int, values: NDArray[np.float64], outcomes: int, constant: float, unit: float) -> None:
        """Measure a plane's atom, whose signal has these values; the caller must keep these alive."""
        self.address[bitset], self.rows[bitset] = values.ctypes.data, len(values)
        self.outcomes[bitset], self.constant[bitset], self.unit[bitset] = outcomes, constant, unit


class RobustnessRegisters(NamedTuple):
    """Registers for the current record."""

    vectors: NDArray[np.float64]
    words: NDArray[np.float64]
    operands: NDArray[np.float64]

    @classmethod
    def of(cls, registers: int, steps: int) -> "RobustnessRegisters":
        """This many registers for records of at most this many steps."""
        return cls(np.empty((registers, steps)), np.empty(registers), np.empty((2, steps)))


@small
def _atom_robustness(address, rows, outcomes, constant, unit, boolean, start, steps, out):
    """The margin of an atom at every step of a record; without branches, so that several steps are done at once."""
    signal = carray(pointer(address), (rows,))
    less, equal, greater = outcomes & LESS != 0, outcomes & EQUAL != 0, outcomes & GREATER != 0
    for t in range(steps):
        x = signal[at(start + t)]
        holds = (less & (x < constant)) | (equal & (x == constant)) | (greater & (x > constant))
        size = abs(x - constant) / unit
        size = size if size > _TINY else _TINY
        size = size if x == x else boolean  # noqa: PLR0124  whether it is missing
        out[at(t)] = size if holds else -size


@small
def _boolean_robustness(words, lane, boolean, out):
    """The margin of an atom without distance, at every step of a record."""
    for t in range(len(words)):
        out[t] = boolean if (words[t] >> np.uint64(lane)) & np.uint64(1) else -boolean


@inline
def _fetch(ref, bitset, negated, distances, bitsets, first, lane, start, steps, vectors, out):
    """Load a vector operand with its sign, from a plane's atom or a register."""
    if ref < 0:
        for t in range(steps):  # assigning a slice would take 30 s to compile, for its error message
            out[at(t)] = vectors[-1 - ref, at(t)]
    elif distances.unit[bitset] == 0.0:
        _boolean_robustness(bitsets[bitset, first : first + steps], lane, distances.boolean[0], out)
    else:
        _atom_robustness(distances.address[bitset], distances.rows[bitset], distances.outcomes[bitset], distances.constant[bitset],
                 distances.unit[bitset], distances.boolean[0], start, steps, out)  # fmt: skip
    if negated:
        for t in range(steps):
            out[at(t)] = -out[at(t)]


@small
def _greatest(x):
    """The greatest of some numbers, none of which is missing: by four comparisons that do not wait for each other."""
    steps, a, b, c, d = len(x), -np.inf, -np.inf, -np.inf, -np.inf
    for t in range(0, steps - 3, 4):
        a = x[at(t)] if x[at(t)] > a else a
        b = x[at(t + 1)] if x[at(t + 1)] > b else b
        c = x[at(t + 2)] if x[at(t + 2)] > c else c
        d = x[at(t + 3)] if x[at(t + 3)] > d else d
    for t in range(steps - steps % 4, steps):
        a = x[at(t)] if x[at(t)] > a else a
    return greater(greater(a, b), greater(c, d))


@small
def _number(step, a, b, value):
    if step == CONSTANT:
        return value
    if step == SUBTRACT:
        return a - b
    if step == ABS:
        return abs(a)
    return np.sign(a)


@small
def _window_maximum(x, value, back, boolean, out):
    """The greatest margin over the steps of a window, from each step; the window is twice as long after each pass."""
    steps, sign, covered = len(out), -1 if back else 1, np.int64(1)
    near, further = np.int64(value) // FROM, np.int64(value) % FROM
    further = further if further < steps else np.int64(steps - 1)
    for t in range(steps):
        there = t + sign * near
        out[t] = x[there] if 0 <= there < steps else -np.inf
    while covered <= further:
        more = covered if 2 * covered <= further + 1 else further + 1 - covered
        for k in range(steps - more):
            t = steps - 1 - k if back else k  # those that are read were not written yet
            out[t] = greater(out[t], out[t + sign * more])
        covered = covered + more
    for t in range(steps):
        if not 0 <= t + sign * near < steps:  # the window is empty
            out[t] = -boolean


@small
def _until_robustness(a, b, back, weak, out):
    """The margin of b, or of a and so of what comes after it; at the end b alone, or both if it is weak."""
    steps = len(out)
    for k in range(steps):
        t, then = (k, k - 1) if back else (steps - 1 - k, steps - k)
        after = out[then] if k else np.inf if weak else -np.inf
        out[t] = greater(b[t], lesser(a[t], after))


@small
def _temporal_robustness(step, one, two, value, flags, boolean, out):
    """The instructions that look along time; returns what they find at the first step."""
    if step == WINDOW_OR:
        _window_maximum(one, value, flags & BACK, boolean, out)
    elif step == UNTIL:
        _until_robustness(one, two, flags & BACK, flags & WEAK, out)
    else:
        for t in range(len(out)):
            before = -one[t - 1] if t else np.inf if flags & WEAK else -boolean
            out[t] = lesser(one[t], before)
    return out[0]


@small
def _count_true(values):
    """At how many steps something is true."""
    true = 0
    for value in values:
        true += value > 0
    return true


@small
def _longest_run(values):
    """At how many steps in a row something is true, at most."""
    longest = run = 0
    for value in values:
        run = run + 1 if value > 0 else 0
        longest = greater(longest, run)
    return longest


@small
def _compare(a, b, outcomes):
    holds = (outcomes & LESS and a < b) or (outcomes & EQUAL and a == b) or (outcomes & GREATER and a > b)
    return 1.0 if holds else -1.0


@inline
def _record_robustness(programs, i, distances, bitsets, first, lane, start, steps, registers, numbers, temporal):
    """The margin of one formula for one record. The last iteration only loads the result."""
    vectors, words, operands = registers.vectors, registers.words, registers.operands
    one, two = operands[0], operands[1]
    begin, end = programs.bounds[i]
    robustness = 0.0
    for k in range(begin, end + 1):
        step, to, flags, a, b = WORD_AND, 0, programs.result[i, 1], programs.result[i, 0], programs.result[i, 0]
        if k < end:
            step, to, flags = programs.steps[k, 0], -1 - programs.steps[k, 1], programs.steps[k, 4]
            a, b = programs.steps[k, 2], programs.steps[k, 3]
        if numbers is not None and ON_LANES[step]:
            numbers[to] = _number(step, numbers[-1 - a], numbers[-1 - b], programs.values[k])
            if step == COMPARE:
                words[to] = _compare(numbers[-1 - a], numbers[-1 - b], flags)
                for t in range(steps):
                    vectors[to, t] = words[to]
            continue
        on_words = step == WORD_AND
        paired = on_words or step == VECTOR_AND or step == REDUCE_AND or step == UNTIL
        least = np.inf
        for side in range(2 if paired else 1):
            ref, negated = (b, flags & 2) if side else (a, flags & 1)
            if on_words and ref < 0:
                most = words[-1 - ref]
            else:  # a word operand from a plane: whether the plane, or its negation, ever holds
                bitset, flipped = (ref >> 1, ref & 1) if on_words else (ref, negated)
                _fetch(ref, bitset, flipped, distances, bitsets, first, lane, start, steps, vectors, operands[side])
                if paired and not on_words:
                    continue
                most = _greatest(operands[side, :steps])
            least = lesser(least, -most if on_words and negated else most)
        robustness = least
        if on_words or step == REDUCE:
            words[to] = least
            if k == end:
                robustness = -most if flags else most
            continue
        found = vectors[to, :steps]
        for t in range(steps):
            found[at(t)] = two[at(t)] if paired and two[at(t)] < one[at(t)] else one[at(t)]
        words[to] = _greatest(found)
        if step == SUFFIX_OR:
            for t in range(steps - 2, -1, -1):
                found[t] = greater(found[t], found[t + 1])
        if temporal is not None:  # noqa: SIM102  the compiler leaves out what stands under it
            if IS_TEMPORAL[step]:
                words[to] = _temporal_robustness(
                    step, one[:steps], two[:steps], programs.values[k], flags, distances.boolean[0], found
                )
        if numbers is not None:
            numbers[to] = _count_true(one[:steps])
            if temporal is not None:  # noqa: SIM102  as above
                if step == LONGEST:
                    numbers[to] = _longest_run(one[:steps])
    return robustness


@kernel
def smallest_robustness(
    programs,
    wanted,
    places,
    starts,
    lengths,
    blocks,
    bitsets,
    distances,
    registers,
    numbers,
    temporal,
    cutoff,
    raise_cutoff,
    out,
    per_record,
):
    """For each formula the smallest absolute margin over the records at these places. Formulas that fall behind
    `cutoff` are given up, and get a number below it; with a negative one, none is. A `raise_cutoff` one is the widest so far.

    If `per_record` has room, it gets the margins of the last formula for all records, with their signs.

    Formulas between which margins decide are alike, so that the records that decided about others are looked at first.
    `numbers` are registers for programs that count, None where there are none (see `machine.Counting`); `temporal` is
    None where none looks at windows, back, or until something.
    """
    programs, distances, registers, bitsets = (
        borrowed(programs),
        borrowed(distances),
        borrowed(registers),
        borrowed(bitsets),
    )
    decisive, decisive_count = np.zeros(_DECISIVE_RECORDS, np.int64), 0
    cutoff_now = cutoff
    for i in wanted:
        out[i] = np.inf
        first = lesser(decisive_count, _DECISIVE_RECORDS) if cutoff >= 0 else 0
        for index in range(-first, len(places)):
            place = decisive[first + index] if index < 0 else places[index]
            robustness = _record_robustness(
                programs, i, distances, bitsets, blocks[place // LANES], place % LANES, starts[place], lengths[place],
                registers, numbers, temporal,
            )  # fmt: skip
            if len(per_record):
                per_record[index] = robustness
                continue
            robustness = abs(robustness)
            out[i] = lesser(out[i], robustness)
            if robustness <= _TINY or robustness < cutoff_now:
                if index >= 0:
                    decisive[decisive_count % _DECISIVE_RECORDS] = place
                    decisive_count += 1
                break
        if cutoff >= 0 and raise_cutoff:
            cutoff_now = greater(cutoff_now, out[i])
