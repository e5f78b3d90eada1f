"""Robustness: the distance that the data would have to move before a formula changes its answer for a record.

The robustness of a comparison is the distance to its threshold in standard deviations of that signal over the training
panel; Boolean, categorical and missing atoms, and comparisons of counts, have ±1; a true equality has 0. ∧ is the
minimum, ∨ the maximum, F the maximum over time and G the minimum. Robustness is positive where the formula is true.
`smallest_robustness` is the kernel; it runs the programs of the machine on numbers, one record at a time.
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
"""The least absolute robustness: it stands for 0 and keeps the sign."""
_DECISIVE_RECORDS = 16
"""The number of decisive records that are remembered."""


class AtomDistances(NamedTuple):
    """For each bitset the values of its atom's signal, the constant, and the unit of distances."""

    address: NDArray[np.int64]
    rows: NDArray[np.int64]
    outcomes: NDArray[np.int64]
    constant: NDArray[np.float64]
    unit: NDArray[np.float64]  # 0 if distances are meaningless and the bits are used
    boolean: NDArray[np.float64]  # one number: the robustness if distances are meaningless

    @classmethod
    def of(
        cls, bitsets: int, atoms: Mapping[int, Atom], signals: Signals, arrays: list[NDArray[np.float64]]
    ) -> "AtomDistances":
        """Return the distances for this many bitsets; `atoms` has the atoms of those that are used.

        The arrays that they point to are appended to `arrays`, which must live as long as the result.
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
        """Return the distances for this many bitsets without an atom: their bits are used."""
        (address, rows, outcomes), (constant, unit) = np.zeros((3, bitsets), np.int64), np.zeros((2, bitsets))
        return cls(address, rows, outcomes, constant, unit, np.array([boolean]))

    def set_atom(self, bitset: int, values: NDArray[np.float64], outcomes: int, constant: float, unit: float) -> None:
        """Set the atom of a bitset, whose signal has these values; the caller must keep them alive."""
        self.address[bitset], self.rows[bitset] = values.ctypes.data, len(values)
        self.outcomes[bitset], self.constant[bitset], self.unit[bitset] = outcomes, constant, unit


class RobustnessRegisters(NamedTuple):
    """Registers of `smallest_robustness`, for the current record."""

    vectors: NDArray[np.float64]
    words: NDArray[np.float64]
    operands: NDArray[np.float64]

    @classmethod
    def of(cls, registers: int, steps: int) -> "RobustnessRegisters":
        """Allocate registers for records of at most this many steps."""
        return cls(np.empty((registers, steps)), np.empty(registers), np.empty((2, steps)))


@small
def _atom_robustness(address, rows, outcomes, constant, unit, boolean, start, steps, out):
    """Compute an atom's robustness at every step of a record; without branches, so that the loop is vectorised."""
    signal = carray(pointer(address), (rows,))
    less, equal, greater = outcomes & LESS != 0, outcomes & EQUAL != 0, outcomes & GREATER != 0
    for t in range(steps):
        x = signal[at(start + t)]
        holds = (less & (x < constant)) | (equal & (x == constant)) | (greater & (x > constant))
        size = abs(x - constant) / unit
        size = size if size > _TINY else _TINY
        size = size if x == x else boolean  # noqa: PLR0124  NaN if missing
        out[at(t)] = size if holds else -size


@small
def _boolean_robustness(words, lane, boolean, out):
    """Read the robustness of an atom without distances from its bitset, at every step of a record."""
    for t in range(len(words)):
        out[t] = boolean if (words[t] >> np.uint64(lane)) & np.uint64(1) else -boolean


@inline
def _fetch(ref, bitset, negated, distances, bitsets, first, lane, start, steps, vectors, out):
    """Load a vector operand with its sign, from a bitset's atom or a register."""
    if ref < 0:
        for t in range(steps):  # a slice assignment takes 30 s to compile, because of its error message
            out[at(t)] = vectors[-1 - ref, at(t)]
    elif distances.unit[bitset] == 0.0:
        _boolean_robustness(bitsets[bitset, first : first + steps], lane, distances.boolean[0], out)
    else:
        _atom_robustness(
            distances.address[bitset], distances.rows[bitset], distances.outcomes[bitset], distances.constant[bitset],
            distances.unit[bitset], distances.boolean[0], start, steps, out,
        )  # fmt: skip
    if negated:
        for t in range(steps):
            out[at(t)] = -out[at(t)]


@small
def _greatest(x):
    """Return the greatest of some numbers, none missing, by four independent chains of comparisons."""
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
    """Compute the greatest robustness over the window of each step; windows are twice as long after each pass."""
    steps, sign, covered = len(out), -1 if back else 1, np.int64(1)
    near, further = np.int64(value) // FROM, np.int64(value) % FROM
    further = further if further < steps else np.int64(steps - 1)
    for t in range(steps):
        there = t + sign * near
        out[t] = x[there] if 0 <= there < steps else -np.inf
    while covered <= further:
        more = covered if 2 * covered <= further + 1 else further + 1 - covered
        for k in range(steps - more):
            t = steps - 1 - k if back else k  # the steps read here are not written yet
            out[t] = greater(out[t], out[t + sign * more])
        covered = covered + more
    for t in range(steps):
        if not 0 <= t + sign * near < steps:  # the window is empty
            out[t] = -boolean


@small
def _until_robustness(a, b, back, weak, out):
    """Compute the robustness of until at every step, or of since if `back`: b ∨ (a ∧ the same at the next step)."""
    steps = len(out)
    for k in range(steps):
        t, then = (k, k - 1) if back else (steps - 1 - k, steps - k)
        after = out[then] if k else np.inf if weak else -np.inf
        out[t] = greater(b[t], lesser(a[t], after))


@small
def _temporal_robustness(step, one, two, value, flags, boolean, out):
    """Run a temporal instruction at every step; return the robustness at the first."""
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
    """Return the number of true steps."""
    true = 0
    for value in values:
        true += value > 0
    return true


@small
def _longest_run(values):
    """Return the length of the longest run of true steps."""
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
    """Return the robustness of one formula for one record. The last iteration only loads the result."""
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
            else:  # a word operand from a bitset: F of it, or of its negation
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
        if temporal is not None:  # noqa: SIM102  compiled only if not None
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
    """Compute the smallest absolute robustness of each formula over the records at these places.

    Formulas below `cutoff` are abandoned, and get a number below it; a negative cutoff abandons none. With
    `raise_cutoff` it rises to the largest result so far. If `per_record` is not empty, it gets the robustness of the
    last formula for every record, with its sign. Formulas that are compared by robustness are similar, so the records
    that were decisive for others come first. `numbers` are registers for programs that count, else None (see
    `machine.Counting`); `temporal` is None if no formula has windows, until, since or edges.
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
