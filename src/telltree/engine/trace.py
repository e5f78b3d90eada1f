"""Traces: the truth and robustness of each part of a formula, step by step, one record at a time.

`Tracer` traces formulas over the records of a panel and returns a `Trace`. `FormulaParts` compiles formulas to a
`TraceProgram`, which `trace_records` runs, in plain Python for a few records and compiled for many.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.engine.atoms import Atom
from telltree.engine.evaluator_choice import chosen_evaluator
from telltree.engine.signals import Signals
from telltree.grammar.tables import code_of, outcomes_of
from telltree.logic import Expression, Number
from telltree.logic.expression import spelt_out
from telltree.logic.meaning import (
    AHEAD,
    BEHIND,
    COUNTED,
    DUAL,
    EQUAL,
    GREATER,
    JOINING,
    LESS,
    LOOKING,
    WINDOWED,
    MicroOp,
)
from telltree.panel import Panel, Schema
from telltree.panel.disk_arrays import unload

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


# Compiled code takes enum members as constants only through plain numbers.
_NAME, _ATOM, _AND, _OR, _NOT = (int(c) for c in (MicroOp.NAME, MicroOp.ATOM, MicroOp.AND, MicroOp.OR, MicroOp.NOT))
_COUNT, _SUBTRACT, _ABS, _SIGN, _COMPARE = (
    int(c) for c in (MicroOp.COUNT, MicroOp.SUBTRACT, MicroOp.ABS, MicroOp.SIGN, MicroOp.COMPARE)
)
_IMPLIES = int(MicroOp.IMPLIES)
_UNTIL, _UNLESS, _SINCE, _LONGEST = (int(c) for c in (MicroOp.UNTIL, MicroOp.UNLESS, MicroOp.SINCE, MicroOp.LONGEST))

_INFINITE = np.inf
TINY = 5e-324
"""The least absolute robustness: it stands for 0 and keeps the sign."""
NO_UNIT, DEVIATIONS, STEPS = 0, 1, 2
"""Units of the distance from the other answer."""


class TraceProgram(NamedTuple):
    """The parts of one or more formulas: operands come before the parts that use them, and equal parts occur once."""

    codes: NDArray[np.int64]
    first: NDArray[np.int64]  # the first operand; for atoms the row of the signal
    second: NDArray[np.int64]
    sign: NDArray[np.int64]  # of F, G and windows: 1 if one step makes it true, −1 if one makes it false; else 0
    near: NDArray[np.int64]  # the first and the last step of its window, relative to the current step
    far: NDArray[np.int64]
    outcomes: NDArray[np.int64]  # of comparisons: the outcomes for which they are true
    constants: NDArray[np.float64]  # of numbers and atoms; of a comparison of counts, the sum of the numbers in it
    units: NDArray[np.float64]  # the unit of distances, 0 if they have no sense; of a comparison of counts, a step
    timeless: NDArray[np.bool_]  # True if the answer is the same at every step
    numbers_start: NDArray[np.int64]  # of a comparison of counts: where in `numbers` its parts begin
    numbers_stop: NDArray[np.int64]
    numbers: NDArray[np.int64]  # counts, and arithmetic on them
    roots: NDArray[np.int64]  # the parts that are whole formulas

    @classmethod
    def empty(cls, parts: int, roots: Sequence[int]) -> "TraceProgram":
        """Allocate a program of this many parts."""
        codes, first, second, sign, near, far, outcomes, numbers_start, numbers_stop = np.zeros((9, parts), np.int64)
        constants, units = np.zeros((2, parts))
        timeless, numbers = np.zeros(parts, np.bool_), np.zeros(0, np.int64)
        return cls(
            codes, first, second, sign, near, far, outcomes, constants, units, timeless, numbers_start, numbers_stop,
            numbers, np.array(roots, np.int64),
        )  # fmt: skip


class TraceMemory(NamedTuple):
    """The values of all parts for the current record."""

    robustness: NDArray[np.float64]  # parts × steps
    numbers: NDArray[np.float64]  # of parts that are one number per record
    totals: NDArray[np.float64]  # of counts

    @classmethod
    def empty(cls, parts: int, steps: int) -> "TraceMemory":
        """Allocate memory for records of at most this many steps."""
        return cls(np.zeros((parts, steps)), np.zeros(parts), np.zeros(parts))


class TraceResult(NamedTuple):
    """The results for all records."""

    robustness: NDArray[np.float64]  # formulas × records
    part_truth: NDArray[np.bool_]  # followed parts × steps of all records, concatenated
    counts: NDArray[np.int64]  # followed parts × records: the number of true steps


class Decisions(NamedTuple):
    """The decisive step and distance of the first formula, for each record."""

    steps: NDArray[np.int64]  # the decisive step
    distances: NDArray[np.float64]  # from the other answer, positive where the formula is true
    units: NDArray[np.int64]

    @classmethod
    def empty(cls, records: int) -> "Decisions":
        """Allocate memory for this many records."""
        return cls(np.zeros(records, np.int64), np.zeros(records), np.zeros(records, np.int64))


# ---- Compiling formulas for tracing.

_FARTHEST = 1 << 20
"""Larger constants are out of reach of counts."""
_MOST_STEPS = 1 << 26
"""More steps than any record has."""
Deviation = Callable[[Expression], float]


@dataclass(eq=False)
class FormulaParts:
    """The parts of formulas: operands come before the parts that use them, and equal parts occur once."""

    schema: Schema
    roots: list[int] = field(default_factory=list)
    """The places of the formulas."""
    places: dict[Expression, int] = field(default_factory=dict)
    """The place of every part."""
    codes: list[MicroOp] = field(default_factory=list)
    operands: list[tuple[int, int]] = field(default_factory=list)
    atoms: dict[int, Atom] = field(default_factory=dict)
    """The parts that are atoms, by their places."""
    signals: dict[Expression, int] = field(default_factory=dict)
    """The signals of atoms, numbered."""

    @classmethod
    def of(cls, formulas: Iterable[Expression], schema: Schema) -> "FormulaParts":
        """Return the parts of formulas, or of any Boolean vectors."""
        parts = cls(schema)
        parts.roots += [parts._add(formula) for formula in formulas]
        return parts

    @cached_property
    def truth_program(self) -> tuple[TraceProgram, TraceProgram]:
        """The program without units of distance, as arrays and as lists, which plain Python reads faster."""
        program = self.program(None)
        return program, _listed(program)

    def _add(self, e: Expression) -> int:
        """Add a part behind its operands, and return its place."""
        if e in self.places:
            return self.places[e]
        simpler = spelt_out(e)
        if simpler is not e:
            self.places[e] = place = self._add(simpler)
            return place
        code, operands = code_of(e), (0, 0)
        atom = Atom.of(e, self.schema) if code is MicroOp.ATOM else None
        if atom is not None:
            operands = self.signals.setdefault(atom.signal, len(self.signals)), 0
        elif code is not MicroOp.NAME:
            places = [self._add(operand) for operand in e.operands]
            operands = places[0], places[-1]
        self.places[e] = place = len(self.codes)
        self.codes.append(code)
        self.operands.append(operands)
        if atom is not None:
            self.atoms[place] = atom
        return place

    def program(self, deviation: Deviation | None) -> TraceProgram:
        """Return the program. `deviation` has the unit of a signal's distances; without it, robustness is ±1."""
        program = TraceProgram.empty(len(self.codes), self.roots)
        program.codes[:] = self.codes
        program.first[:], program.second[:] = np.array(self.operands, np.int64).T
        for place, atom in self.atoms.items():
            program.outcomes[place], program.constants[place] = atom.outcomes, atom.constant
            program.units[place] = deviation(atom.signal) if deviation is not None and atom.graded else 0.0
        numbers: list[int] = []
        for e, place in self.places.items():
            code = code_of(e)  # a part that is spelt out has the place of its expansion
            if code is MicroOp.NAME:
                assert isinstance(e.head, Number)
                program.constants[place] = e.head.value
            elif code in AHEAD | WINDOWED:
                program.sign[place] = -1 if code in DUAL else 1
                near, far = (int(min(bound, _MOST_STEPS)) for bound in e.window)
                program.near[place], program.far[place] = (-far, -near) if code in BEHIND else (near, far)
            elif code is MicroOp.COMPARE:
                numeric = list(_numbers(e))
                reach = sum(abs(part.head.value) for part in numeric if isinstance(part.head, Number))
                program.outcomes[place], program.constants[place] = outcomes_of(e), int(min(reach, _FARTHEST))
                # one more true step may join two runs or begin another: only plain counts change by one
                runs = {MicroOp.EPISODES, MicroOp.LONGEST}
                program.units[place] = float(runs.isdisjoint(map(code_of, numeric)))
                program.numbers_start[place] = len(numbers)
                numbers += sorted({self.places[part] for part in numeric})
                program.numbers_stop[place] = len(numbers)
            if code in JOINING - LOOKING:
                program.timeless[place] = all(program.timeless[list(self.operands[place])])
            elif code is MicroOp.COMPARE:
                program.timeless[place] = True
        return program._replace(numbers=np.array(numbers, np.int64))


def _numbers(comparison: Expression) -> Iterator[Expression]:
    """Yield the parts of the two sides of a comparison of counts, down to the counts, repeatedly if they recur."""
    for arg in comparison.args:
        yield arg
        if code_of(arg) not in COUNTED:
            yield from _numbers(arg)


# ---- Tracing formulas over the records of a panel: a few in plain Python, since loading compiled code takes longer.

_STEPS_PER_BATCH = 1 << 13
"""Steps of records that are traced together: their signals stay in the cache, and are small enough for the allocator
to reuse their memory, also where it returns large blocks to the system, as in Dask's workers."""
RECORDS_PER_UNLOAD = 1 << 14
"""Records on disk after which their memory is freed."""
_COMPILER_COST = 1 << 18
"""Steps × parts that plain Python traces in the time that compiled code takes to load."""
_SMALL = 1 << 11
"""Steps × parts that plain Python traces in less time than bitsets take to prepare."""
SIGNALS = 1 << 28
"""Bytes of signals that are cached by default."""

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Trace:
    """The trace of formulas, in the order of the records that were given."""

    begins: Ints  # the first step of each record, if all are concatenated
    lengths: Ints
    result: TraceResult
    decisions: Decisions | None
    followed: Mapping[Expression, int]  # the rows of the followed parts

    @property
    def robustness(self) -> Floats:
        """The robustness of each formula for each record."""
        return self.result.robustness

    @property
    def truth(self) -> Bools:
        """The truth of each formula for each record."""
        true: Bools = self.robustness > 0
        return true

    def part_truth(self, part: Expression, place: int) -> Bools:
        """Return the truth of a followed part at every step of one record."""
        begin = self.begins[place]
        steps: Bools = self.result.part_truth[self.followed[part], begin : begin + self.lengths[place]]
        return steps

    def count(self, part: Expression, place: int) -> int:
        """Return the number of true steps of a followed part in one record."""
        return int(self.result.counts[self.followed[part], place])


class Tracer:
    """Traces formulas over the records of one panel."""

    def __init__(self, panel: Panel, signals: Signals | None = None) -> None:
        self.panel = panel
        self.signals = signals_of(panel) if signals is None else signals

    def truth(self, parts: FormulaParts) -> Bools:
        """Return the truth of formulas: formulas × records."""
        return self._trace(parts, *parts.truth_program)[0].truth

    def trace(
        self,
        e: Expression,
        records: Ints | None = None,
        *,
        deviation: Deviation | None = None,
        follow: Sequence[Expression] = (),
        decide: bool = False,
    ) -> Trace:
        """Trace a formula, or any Boolean vector, over records given by their positions, by default all.

        deviation: the unit of the distances of a signal; without it robustness is ±1.
        follow: parts of the formula whose truth is recorded. decide: find the decisive step and the distance.
        """
        parts = FormulaParts.of([e], self.panel.schema)
        return self._trace(parts, parts.program(deviation), None, records, follow=follow, decide=decide)[0]

    def is_faster(self, parts: FormulaParts) -> bool:
        """Return True if tracing takes less time than bitsets, if only truth is wanted.

        Bitsets take longer to prepare, and much longer if no compiled code was loaded.
        """
        choice = chosen_evaluator()
        if choice != "auto" or self.panel.on_disk:  # tracing reads little at a time
            return choice != "bitsets"
        work = self.panel.steps * len(parts.codes)
        return work <= _SMALL or ("numba" not in sys.modules and work <= _InterpreterBudget.left)

    def over_time(self, e: Expression, record: int, deviation: Deviation) -> Floats:
        """Return the robustness of a formula, or any Boolean vector, at every step of the record at this position."""
        parts = FormulaParts.of([e], self.panel.schema)
        trace, memory = self._trace(parts, parts.program(deviation), None, np.array([record]))
        return np.array(memory.robustness[parts.roots[0]][: trace.lengths[0]], np.float64)

    def _trace(
        self,
        parts: FormulaParts,
        program: TraceProgram,
        listed: TraceProgram | None,
        records: Ints | None = None,
        *,
        follow: Sequence[Expression] = (),
        decide: bool = False,
    ) -> tuple[Trace, TraceMemory]:
        chosen = slice(None) if records is None else records
        starts, lengths = self.panel.starts[chosen], np.array(self.panel.lengths[chosen], np.int64)
        begins = np.cumsum(lengths) - lengths
        steps, rows = int(lengths.sum()), {part: row for row, part in enumerate(dict.fromkeys(follow))}
        result = TraceResult(
            np.empty((len(parts.roots), len(lengths))),
            np.empty((len(rows), steps), np.bool_),
            np.empty((len(rows), len(lengths)), np.int64),
        )
        decisions = Decisions.empty(len(lengths)) if decide else None
        followed = np.array([parts.places[part] for part in rows], np.int64)
        values = [self.signals.values(signal) for signal in parts.signals]
        memory = TraceMemory.empty(len(parts.codes), int(lengths.max(initial=0)))
        interpreted = _use_interpreter(len(parts.codes) * steps)
        trace: Any = trace_records if interpreted else _compiled()
        if interpreted:
            program = _listed(program) if listed is None else listed
            memory = TraceMemory._make(x.tolist() for x in memory)
        for low, high in _batches(lengths):
            rows_read = _rows(starts[low:high], lengths[low:high])
            signals = np.empty((len(values), begins[high - 1] + lengths[high - 1] - begins[low]))
            for row, column in enumerate(values):
                signals[row] = column[rows_read]
            values_read = signals.tolist() if interpreted else signals
            trace(program, values_read, begins, lengths, low, high, memory, followed, result, decisions)
            if self.panel.on_disk and low // RECORDS_PER_UNLOAD != high // RECORDS_PER_UNLOAD:
                unload()
        return Trace(begins, lengths, result, decisions, rows), memory


def _listed(program: TraceProgram) -> TraceProgram:
    return TraceProgram._make(x.tolist() for x in program)


def _batches(lengths: Ints) -> Iterator[tuple[int, int]]:
    """Yield batches of records that are traced together: the first, and one past the last."""
    ends = np.cumsum(lengths)
    if len(lengths) and ends[-1] < _STEPS_PER_BATCH:
        return iter([(0, len(lengths))])
    share = ends // _STEPS_PER_BATCH
    bounds = [0, *(np.flatnonzero(np.diff(share)) + 1).tolist(), len(lengths)]
    return ((low, high) for low, high in pairwise(bounds) if low < high)


def _rows(starts: Ints, lengths: Ints) -> slice | Ints:
    """Return the rows of records, as a slice if they are consecutive."""
    ends = starts + lengths
    if np.array_equal(starts[1:], ends[:-1]):
        return slice(int(starts[0]), int(ends[-1]))
    before = np.cumsum(lengths) - lengths
    rows: Ints = np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
    return rows


class _InterpreterBudget:
    """The work that plain Python may still do before it has taken as long as loading compiled code."""

    left = _COMPILER_COST


def _use_interpreter(work: int) -> bool:
    """Return True if plain Python does this work in less time than compiled code takes to load."""
    choice = chosen_evaluator()
    if choice in ("interpreted", "compiled"):
        return choice == "interpreted"
    if _compiled.cache_info().currsize or work > _InterpreterBudget.left:
        return False
    _InterpreterBudget.left -= work
    return True


@cache
def _compiled() -> Any:
    """Return `trace_records` as a kernel. The functions it calls stay plain Python for other callers."""
    from numba.extending import register_jitable

    from telltree.compiled import kernel

    for function in INNER:
        register_jitable(error_model="numpy")(function)
    return kernel(trace_records)


def signals_of(panel: Panel, part_of: Signals | None = None, *, memory: int | None = None) -> Signals:
    """Return the signals of a panel, or of a part of one with signals, with a tracer for formulas inside atoms.

    They are cached while they fit into `memory` bytes, by default SIGNALS.
    """
    return Signals(panel, _trace_closed, SIGNALS if memory is None else memory, part_of=part_of)


def _trace_closed(panel: Panel, signals: Signals, formula: Expression) -> list[Bools]:
    trace = Tracer(panel, signals).trace(formula, follow=[formula])
    return [trace.part_truth(formula, place) for place in range(len(panel))]


# ---- Tracing one record, part by part and step by step.
#
# Each part of a formula has a robustness at each step: the distance from the other answer, positive where it is true.
# From these follow the truth of the formula, its decisive step, and the distance of the record from the other answer.
#
# These functions are plain Python; `_compiled` compiles the same functions for many records.


def comparison_holds(x, y, outcomes):
    """Return True if the comparison has one of the outcomes; it has none if a value is missing."""
    return bool((outcomes & LESS and x < y) or (outcomes & EQUAL and x == y) or (outcomes & GREATER and x > y))


def atom_robustness(signal, begin, steps, outcomes, constant, unit, out):
    """Compute an atom's robustness at each step: the distance to its constant, or ±1 if that is meaningless or
    missing."""
    less, equal, greater = outcomes & LESS != 0, outcomes & EQUAL != 0, outcomes & GREATER != 0
    for t in range(steps):
        x = signal[begin + t]
        holds = (less & (x < constant)) | (equal & (x == constant)) | (greater & (x > constant))
        out[t] = 1.0 if holds else -1.0
    for t in range(steps if unit != 0.0 else 0):
        x = signal[begin + t]
        distance = abs(x - constant) / unit
        distance = distance if distance > TINY else TINY
        if x == x:  # noqa: PLR0124  NaN is not itself
            out[t] = distance if out[t] > 0 else -distance


def connective_robustness(code, first, second, steps, out):
    """Compute the robustness of ¬, ∧, ∨ or ⇒ from that of the operands."""
    if code == _NOT:
        for t in range(steps):
            out[t] = -first[t]
    elif code == _AND:
        for t in range(steps):
            out[t] = first[t] if first[t] < second[t] else second[t]
    elif code == _OR:
        for t in range(steps):
            out[t] = first[t] if first[t] > second[t] else second[t]
    else:  # ⇒
        for t in range(steps):
            out[t] = -first[t] if -first[t] > second[t] else second[t]


def window_robustness(first, sign, near, far, steps, out):
    """Compute the robustness of F, G and their relatives (`sign` 1 or −1) over the window from `near` to `far` of each
    step.

    Over an empty window it is −1 for F and 1 for G.
    """
    if near == 0 and far >= steps:  # to the end of the record
        best = -_INFINITE
        for t in range(steps - 1, -1, -1):
            best = sign * first[t] if sign * first[t] > best else best
            out[t] = sign * best
    elif far == 0 and near <= -steps:  # from its start
        best = -_INFINITE
        for t in range(steps):
            best = sign * first[t] if sign * first[t] > best else best
            out[t] = sign * best
    else:
        for t in range(steps):
            best = -1.0 if t + near >= steps or t + far < 0 else -_INFINITE
            for k in range(max(t + near, 0), min(t + far + 1, steps)):
                best = sign * first[k] if sign * first[k] > best else best
            out[t] = sign * best


def until_robustness(code, first, second, steps, out):
    """Compute the robustness of until, unless or since from that of the operands."""
    after = _INFINITE if code == _UNLESS else -_INFINITE
    for k in range(steps):
        t = k if code == _SINCE else steps - 1 - k
        stays = first[t] if first[t] < after else after
        after = out[t] = second[t] if second[t] > stays else stays


def compare_counts(program, part, numbers):
    """Return the answer of a comparison of counts for the counts in `numbers`."""
    for place in range(program.numbers_start[part], program.numbers_stop[part]):
        k = program.numbers[place]
        code, x, y = program.codes[k], numbers[program.first[k]], numbers[program.second[k]]
        if code == _SUBTRACT:
            numbers[k] = x - y
        elif code == _ABS:
            numbers[k] = abs(x)
        elif code == _SIGN:
            numbers[k] = 1.0 if x > 0 else -1.0 if x < 0 else 0.0
    return comparison_holds(numbers[program.first[part]], numbers[program.second[part]], program.outcomes[part])


def is_connective(code):
    """Return True for ¬, ∧, ∨ and ⇒."""
    return code == _NOT or code == _AND or code == _OR or code == _IMPLIES


def is_until(code):
    """Return True for until, unless and since."""
    return code == _UNTIL or code == _UNLESS or code == _SINCE


def is_count(code):
    """Return True for operators that count true steps."""
    return code == _COUNT or code == _LONGEST


def reset_count(memory, k):
    """Set a count to its value before the first step."""
    memory.numbers[k] = 0.0
    memory.robustness[k][0] = 0.0  # of LONGEST: the length of the current run


def update_count(code, memory, k, holds):
    """Add one step to a count."""
    if code == _COUNT:
        memory.numbers[k] += 1 if holds else 0
    else:
        here = memory.robustness[k][0] + 1 if holds else 0.0
        memory.robustness[k][0] = here
        memory.numbers[k] = here if here > memory.numbers[k] else memory.numbers[k]


def evaluate_parts(program, signals, begin, steps, memory):
    """Evaluate every part on the record whose steps begin at `begin`."""
    for k in range(len(program.codes)):
        code, first, second, out = program.codes[k], program.first[k], program.second[k], memory.robustness[k]
        if code == _ATOM:
            atom_robustness(
                signals[first], begin, steps, program.outcomes[k], program.constants[k], program.units[k], out
            )
        elif is_count(code):
            reset_count(memory, k)
            for t in range(steps):
                update_count(code, memory, k, memory.robustness[first][t] > 0)
            memory.totals[k] = memory.numbers[k]
        elif code == _COMPARE:
            holds = compare_counts(program, k, memory.numbers)
            for t in range(steps):
                out[t] = 1.0 if holds else -1.0
        elif code == _NAME:
            memory.numbers[k] = program.constants[k]
        elif program.sign[k] != 0:
            window_robustness(memory.robustness[first], program.sign[k], program.near[k], program.far[k], steps, out)
        elif is_until(code):
            until_robustness(code, memory.robustness[first], memory.robustness[second], steps, out)
        elif is_connective(code):
            connective_robustness(code, memory.robustness[first], memory.robustness[second], steps, out)


def window_has_steps(program, part, step, steps):
    """Return True if the window of a step is not empty."""
    return step + program.near[part] < steps and step + program.far[part] >= 0


def witness_step(program, part, step, steps, robustness):
    """Return the witness of F (or G) at a step: the first step of its window where the operand is true (or false), else
    the step nearest to that; the step itself if the window is empty.
    """
    sign, robustness = program.sign[part], robustness[program.first[part]]
    start, stop = max(step + program.near[part], 0), min(step + program.far[part] + 1, steps)
    if start >= stop:
        return step
    nearest = start
    for t in range(start, stop):
        if sign * robustness[t] > 0:
            return t
        if sign * robustness[t] > sign * robustness[nearest]:
            nearest = t
    return nearest


def extreme_step(program, part, step, steps, robustness):
    """Return the first step of a non-empty window whose robustness is that of the operator."""
    t, last = max(step + program.near[part], 0), min(step + program.far[part], steps - 1)
    while t < last and robustness[program.first[part]][t] != robustness[part][step]:
        t += 1
    return t


def decisive_operand(program, part, step, robustness):
    """Return the operand of ∧, ∨ or ⇒ whose robustness is that of the operator; the first if both are."""
    first, second = robustness[program.first[part]][step], robustness[program.second[part]][step]
    code = program.codes[part]
    first = -first if code == _IMPLIES else first
    return program.first[part] if (first <= second if code == _AND else first >= second) else program.second[part]


def until_witness(program, part, step, steps, robustness):
    """Return the operand that decides until, unless or since, and the decisive step.

    a until b is true because of a step with b, with a at all steps before it; it is false because of a step without a,
    with b at none up to it. The first such step that yields the robustness of the whole decides: its b if the formula
    is true, its a if it is false, or else the weakest step of the other operand on the way there. For since, time runs
    backwards.
    """
    holds = robustness[part][step] > 0
    sign = 1.0 if holds else -1.0
    whole = sign * robustness[part][step]
    last, way = (program.second[part], program.first[part]) if holds else (program.first[part], program.second[part])
    since = program.codes[part] == _SINCE
    weakest, weakest_at = _INFINITE, step
    for k in range(step + 1 if since else steps - step):
        t = step - k if since else step + k
        here, on_the_way = sign * robustness[last][t], sign * robustness[way][t]
        if not holds and on_the_way < weakest:
            weakest, weakest_at = on_the_way, t
        if (here if here < weakest else weakest) == whole:
            return (last, t) if here == whole else (way, weakest_at)
        if holds and on_the_way < weakest:
            weakest, weakest_at = on_the_way, t
    return way, weakest_at


def decisive_step(program, memory, steps):
    """Return the decisive step of a formula; see `explain.evidence.decisive_step`."""
    part, step = program.roots[0], 0
    while program.codes[part] != _COMPARE:
        code, is_window = program.codes[part], program.sign[part] != 0
        if code == _NOT or (is_window and program.timeless[part]):
            part = program.first[part]
        elif is_window:
            to = step + program.near[part]
            if program.near[part] != program.far[part] or not 0 <= to < steps:
                return witness_step(program, part, step, steps, memory.robustness)
            part, step = program.first[part], to  # a window of one step is decided by its operand there
        elif is_until(code):
            return until_witness(program, part, step, steps, memory.robustness)[1]
        elif code == _ATOM:
            return step
        else:
            part = decisive_operand(program, part, step, memory.robustness)
    return counts_witness(program, part, memory, steps)


def decisive_atom(program, memory, steps):
    """Return the atom, or comparison of counts, whose robustness is that of the formula, and its step; or the operator
    with an empty window, which no value would change."""
    part, step = program.roots[0], 0
    while program.codes[part] != _ATOM and program.codes[part] != _COMPARE:
        code, is_window = program.codes[part], program.sign[part] != 0
        if is_window and not window_has_steps(program, part, step, steps):
            return part, step
        if is_window:
            step = extreme_step(program, part, step, steps, memory.robustness)
        elif is_until(code):
            part, step = until_witness(program, part, step, steps, memory.robustness)
            continue
        if code == _NOT or is_window:
            part = program.first[part]
        else:
            part = decisive_operand(program, part, step, memory.robustness)
    return part, step


def set_counts(program, part, memory, complete):
    """Set a comparison's counts to their values in the complete record, or before its first step."""
    for place in range(program.numbers_start[part], program.numbers_stop[part]):
        k = program.numbers[place]
        if is_count(program.codes[k]):
            reset_count(memory, k)
            memory.numbers[k] = memory.totals[k] if complete else 0.0


def advance_counts(program, part, memory, step):
    """Add a step to a comparison's counts; return the largest robustness of the counted conditions."""
    largest = -_INFINITE
    for place in range(program.numbers_start[part], program.numbers_stop[part]):
        k = program.numbers[place]
        if is_count(program.codes[k]):
            robustness = memory.robustness[program.first[k]][step]
            largest = robustness if robustness > largest else largest
            update_count(program.codes[k], memory, k, robustness > 0)
    return largest


def counts_witness(program, part, memory, steps):
    """Return the step at which a comparison of counts reached its final answer, counting from the first step.

    If the answer never changed, it is the first step that brought it nearest to the other one, which for one count and
    a constant is the last true step; if no counted condition is ever true, the step nearest to that.
    """
    holds, outcomes = memory.robustness[part][0] > 0, program.outcomes[part]
    change, near, likely = -1, 0, 0
    nearest, likeliest = -_INFINITE, -_INFINITE
    set_counts(program, part, memory, False)
    for t in range(steps):
        if compare_counts(program, part, memory.numbers) != holds:
            change = t
        robustness = advance_counts(program, part, memory, t)
        if robustness > likeliest:
            likely, likeliest = t, robustness
        compare_counts(program, part, memory.numbers)
        ahead = memory.numbers[program.first[part]] - memory.numbers[program.second[part]]
        if not outcomes & GREATER:
            ahead = -abs(ahead) if outcomes == EQUAL else -ahead
        ahead = -ahead if holds else ahead
        if ahead > nearest:
            near, nearest = t, ahead
    set_counts(program, part, memory, True)
    if change >= 0:
        return change
    return near if likeliest > 0 else likely


def count_distance(program, part, memory):
    """Return the least change of one count that would change the answer of a comparison of counts.

    Infinite if there is none. A step changes a side by at least one, or never, so changes beyond the sum of all
    constants and counts need not be tried.
    """
    holds, least, reach = memory.robustness[part][0] > 0, _INFINITE, int(program.constants[part]) + 2
    for place in range(program.numbers_start[part], program.numbers_stop[part]):
        k = program.numbers[place]
        reach += int(memory.totals[k]) if is_count(program.codes[k]) else 0
    for place in range(program.numbers_start[part], program.numbers_stop[part]):
        k = program.numbers[place]
        steps = 1 if is_count(program.codes[k]) else reach
        while steps < reach and steps < least:
            for changed in (memory.totals[k] - steps, memory.totals[k] + steps):
                memory.numbers[k] = changed
                if changed >= 0 and compare_counts(program, part, memory.numbers) != holds:
                    least = float(steps)
            steps += 1
        if is_count(program.codes[k]):
            memory.numbers[k] = memory.totals[k]
    return least


def explain_record(program, signals, begin, steps, memory, record, decisions):
    """Write the decisive step of a record, and its distance from the other answer with its unit."""
    robustness = memory.robustness[program.roots[0]][0]
    part, step = decisive_atom(program, memory, steps)
    distance, unit = robustness, NO_UNIT
    if program.codes[part] != _ATOM:
        if program.units[part] != 0.0:
            steps_needed = count_distance(program, part, memory)
            distance, unit = steps_needed if robustness > 0 else -steps_needed, STEPS
    elif program.units[part] != 0.0:
        value = signals[program.first[part]][begin + step]
        unit = DEVIATIONS if value == value else NO_UNIT  # noqa: PLR0124  a missing value has no distance
    decisions.steps[record] = decisive_step(program, memory, steps)
    decisions.distances[record], decisions.units[record] = distance, unit


def trace_records(program, signals, begins, lengths, low, high, memory, followed, result, decisions):
    """Trace formulas over the records `low` … `high` − 1, whose signals are given.

    `begins` has the first step of each record if all are concatenated; signals begin with record `low`. `followed` are
    the parts whose truth is recorded at every step. `decisions` is None if they are not wanted.
    """
    for record in range(low, high):
        begin, steps = begins[record], lengths[record]
        evaluate_parts(program, signals, begin - begins[low], steps, memory)
        for row in range(len(program.roots)):
            result.robustness[row, record] = memory.robustness[program.roots[row]][0]
        for row in range(len(followed)):
            robustness, total = memory.robustness[followed[row]], 0
            for t in range(steps):
                result.part_truth[row, begin + t] = robustness[t] > 0
                total += 1 if robustness[t] > 0 else 0
            result.counts[row, record] = total
        if decisions is not None:
            explain_record(program, signals, begin - begins[low], steps, memory, record, decisions)


INNER = (
    comparison_holds, atom_robustness, connective_robustness, window_robustness, until_robustness, compare_counts,
    is_connective, is_until, is_count, reset_count, update_count, evaluate_parts, window_has_steps, witness_step,
    extreme_step, until_witness, decisive_operand, set_counts, advance_counts, counts_witness, decisive_step,
    decisive_atom, count_distance, explain_record,
)  # fmt: skip
"""The functions that `trace_records` calls, each before its callers."""
