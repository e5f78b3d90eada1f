"""The trace of a formula: the truth and robustness of each of its parts at every step of a record."""

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

# ---- Tracing one record, part by part and step by step.
#
# Each part of a formula has a robustness at each step: the distance from the other answer, positive where it is true.
# From these come the truth of the whole, the step that decided, and the distance of the record from the other answer.
#
# These functions are plain Python, compiled by `_compiled` for many records: what formulas mean is written once.

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
"""The margin of what is true, but only just: as good as 0, and it keeps the sign."""
NO_UNIT, DEVIATIONS, STEPS = 0, 1, 2
"""What a distance from the other answer is measured in."""


class TraceProgram(NamedTuple):
    """The parts of one or more formulas: operands come before their users, and equal parts stand only once."""

    codes: NDArray[np.int64]
    first: NDArray[np.int64]  # the first operand; of an atom the row of its signal
    second: NDArray[np.int64]
    sign: NDArray[np.int64]  # of what looks along time: 1 if one step proves it, −1 if one breaks it; else 0
    near: NDArray[np.int64]  # of that: the first and the last step it looks at, from where it is asked for; back if < 0
    far: NDArray[np.int64]
    outcomes: NDArray[np.int64]  # for which of a comparison's outcomes it is true
    constants: NDArray[np.float64]  # of numbers and atoms; of a comparison of counts, the sum of the numbers in it
    units: NDArray[np.float64]  # the unit of distances, 0 if they have no sense; of a comparison of counts, a step
    timeless: NDArray[np.bool_]  # whether it has the same answer at every step
    numbers_start: NDArray[np.int64]  # of a comparison of counts: where in `numbers` its parts begin
    numbers_stop: NDArray[np.int64]
    numbers: NDArray[np.int64]  # counts, and what is made of them
    roots: NDArray[np.int64]  # which parts are whole formulas

    @classmethod
    def empty(cls, parts: int, roots: Sequence[int]) -> "TraceProgram":
        """A program of this many parts, still without content."""
        codes, first, second, sign, near, far, outcomes, numbers_start, numbers_stop = np.zeros((9, parts), np.int64)
        constants, units = np.zeros((2, parts))
        timeless, numbers = np.zeros(parts, np.bool_), np.zeros(0, np.int64)
        return cls(
            codes, first, second, sign, near, far, outcomes, constants, units, timeless, numbers_start, numbers_stop, numbers,
            np.array(roots, np.int64),
        )  # fmt: skip


class TraceMemory(NamedTuple):
    """The values of all parts in the record at hand."""

    robustness: NDArray[np.float64]  # parts × steps
    numbers: NDArray[np.float64]  # of those that are one number a record
    totals: NDArray[np.float64]  # of counts

    @classmethod
    def empty(cls, parts: int, steps: int) -> "TraceMemory":
        """Memory for this many parts, in records of at most this many steps."""
        return cls(np.zeros((parts, steps)), np.zeros(parts), np.zeros(parts))


class TraceResult(NamedTuple):
    """The results for all records."""

    robustness: NDArray[np.float64]  # formulas × records
    part_truth: NDArray[np.bool_]  # parts that are followed × steps of all records, one after the other
    counts: NDArray[np.int64]  # parts that are followed × records: at how many steps they hold


class Decisions(NamedTuple):
    """How each record came to the answer of the first formula."""

    steps: NDArray[np.int64]  # the decisive step
    distances: NDArray[np.float64]  # the distance from the other answer, positive where the answer is yes
    units: NDArray[np.int64]

    @classmethod
    def empty(cls, records: int) -> "Decisions":
        """Memory for this many records."""
        return cls(np.zeros(records, np.int64), np.zeros(records), np.zeros(records, np.int64))


def comparison_holds(x, y, outcomes):
    """Whether a comparison comes out as one of the outcomes; with a missing value none does."""
    return bool((outcomes & LESS and x < y) or (outcomes & EQUAL and x == y) or (outcomes & GREATER and x > y))


def atom_robustness(signal, begin, steps, outcomes, constant, unit, out):
    """An atom's margins: the distance to its constant, or 1 where distance has no sense or a value is missing."""
    less, equal, greater = outcomes & LESS != 0, outcomes & EQUAL != 0, outcomes & GREATER != 0
    for t in range(steps):
        x = signal[begin + t]
        holds = (less & (x < constant)) | (equal & (x == constant)) | (greater & (x > constant))
        out[t] = 1.0 if holds else -1.0
    for t in range(steps if unit != 0.0 else 0):
        x = signal[begin + t]
        distance = abs(x - constant) / unit
        distance = distance if distance > TINY else TINY
        if x == x:  # noqa: PLR0124  what is missing is not itself
            out[t] = distance if out[t] > 0 else -distance


def connective_robustness(code, first, second, steps, out):
    """The margins of ¬ ∧ ∨ ⇒, given those of the operands."""
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
    """The margins of what looks along time from each step, given those of the operand.

    Where there is no step to look at, nothing proves it (`sign` 1), and nothing breaks it (−1).
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
    """The margins of until, unless and since, given those of the operands."""
    after = _INFINITE if code == _UNLESS else -_INFINITE
    for k in range(steps):
        t = k if code == _SINCE else steps - 1 - k
        stays = first[t] if first[t] < after else after
        after = out[t] = second[t] if second[t] > stays else stays


def compare_counts(program, part, numbers):
    """Whether a comparison of counts is true for the counts that stand in `numbers`."""
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
    """Whether it is one of ¬ ∧ ∨ ⇒."""
    return code == _NOT or code == _AND or code == _OR or code == _IMPLIES


def is_until(code):
    """Whether it looks along time at two operands."""
    return code == _UNTIL or code == _UNLESS or code == _SINCE


def is_count(code):
    """Whether it makes a number of what is true at every step."""
    return code == _COUNT or code == _LONGEST


def reset_count(memory, k):
    """Let a count be what it is before the first step."""
    memory.numbers[k] = 0.0
    memory.robustness[k][0] = 0.0  # of a longest run, the one at hand stands where its margin would


def update_count(code, memory, k, holds):
    """Go on with a count by one step."""
    if code == _COUNT:
        memory.numbers[k] += 1 if holds else 0
    else:
        here = memory.robustness[k][0] + 1 if holds else 0.0
        memory.robustness[k][0] = here
        memory.numbers[k] = here if here > memory.numbers[k] else memory.numbers[k]


def evaluate_parts(program, signals, begin, steps, memory):
    """Work out every part of a formula in the record whose steps begin there."""
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
    """Whether what looks along time from a step has any step to look at."""
    return step + program.near[part] < steps and step + program.far[part] >= 0


def witness_step(program, part, step, steps, robustness):
    """The first step that proves, or breaks, what looks along time from a step; if there is none, the nearest to it.

    Where it has no step to look at, the step itself.
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
    """The first step whose margin is that of what looks along time from a step, which has a step to look at."""
    t, last = max(step + program.near[part], 0), min(step + program.far[part], steps - 1)
    while t < last and robustness[program.first[part]][t] != robustness[part][step]:
        t += 1
    return t


def decisive_operand(program, part, step, robustness):
    """The operand of ∧, ∨ or ⇒ whose margin is that of the whole, and so has its truth; the first of equals."""
    first, second = robustness[program.first[part]][step], robustness[program.second[part]][step]
    code = program.codes[part]
    first = -first if code == _IMPLIES else first
    return program.first[part] if (first <= second if code == _AND else first >= second) else program.second[part]


def until_witness(program, part, step, steps, robustness):
    """The operand of until, unless or since that decides it, and at which step.

    It is true by b at some step after a at those on the way, and false by neither of them at some step after no b on
    the way. The first such step at which that comes to the margin of the whole decides: by b if it is true, by a if it
    is false, or else by the other operand on the way there.
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
    """The step that decides a formula; see `explain_record.evidence.decisive_step`."""
    part, step = program.roots[0], 0
    while program.codes[part] != _COMPARE:
        code, looks = program.codes[part], program.sign[part] != 0
        if code == _NOT or (looks and program.timeless[part]):
            part = program.first[part]
        elif looks:
            to = step + program.near[part]
            if program.near[part] != program.far[part] or not 0 <= to < steps:
                return witness_step(program, part, step, steps, memory.robustness)
            part, step = program.first[part], to  # what looks at a single step is decided by what is there
        elif is_until(code):
            return until_witness(program, part, step, steps, memory.robustness)[1]
        elif code == _ATOM:
            return step
        else:
            part = decisive_operand(program, part, step, memory.robustness)
    return counts_witness(program, part, memory, steps)


def decisive_atom(program, memory, steps):
    """The atom, or comparison of counts, that a formula has its margin of, and the step that it looks at; or what looks
    along time and has no step to look at, which no value would change."""
    part, step = program.roots[0], 0
    while program.codes[part] != _ATOM and program.codes[part] != _COMPARE:
        code, looks = program.codes[part], program.sign[part] != 0
        if looks and not window_has_steps(program, part, step, steps):
            return part, step
        if looks:
            step = extreme_step(program, part, step, steps, memory.robustness)
        elif is_until(code):
            part, step = until_witness(program, part, step, steps, memory.robustness)
            continue
        part = (
            program.first[part] if code == _NOT or looks else decisive_operand(program, part, step, memory.robustness)
        )
    return part, step


def set_counts(program, part, memory, complete):
    """Let a comparison's counts be what they are in the `whole` record, or before its first step."""
    for place in range(program.numbers_start[part], program.numbers_stop[part]):
        k = program.numbers[place]
        if is_count(program.codes[k]):
            reset_count(memory, k)
            memory.numbers[k] = memory.totals[k] if complete else 0.0


def advance_counts(program, part, memory, step):
    """Add a step to a comparison's counts; returns the largest margin of what they count."""
    largest = -_INFINITE
    for place in range(program.numbers_start[part], program.numbers_stop[part]):
        k = program.numbers[place]
        if is_count(program.codes[k]):
            robustness = memory.robustness[program.first[k]][step]
            largest = robustness if robustness > largest else largest
            update_count(program.codes[k], memory, k, robustness > 0)
    return largest


def counts_witness(program, part, memory, steps):
    """The step at which a comparison of counts came to the answer that it kept, as counting went on.

    If its answer was the same all along, the first step that brought it nearest to the other one, which for one count
    and a constant is the last true step; if nothing that it counts is ever true, the step nearest to that.
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
    """How many true steps more or fewer, of one of the counts, would change the answer of a comparison of counts.

    Infinite if no number of steps would, or none that records have: a count moves a side by one a step or more, or not
    at all, so that beyond all numbers at hand nothing changes.
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
    """Say how a record came to its answer, and how far it is from the other, in the unit that has sense."""
    robustness = memory.robustness[program.roots[0]][0]
    part, step = decisive_atom(program, memory, steps)
    distance, unit = robustness, NO_UNIT
    if program.codes[part] != _ATOM:
        if program.units[part] != 0.0:
            steps_needed = count_distance(program, part, memory)
            distance, unit = steps_needed if robustness > 0 else -steps_needed, STEPS
    elif program.units[part] != 0.0:
        value = signals[program.first[part]][begin + step]
        unit = DEVIATIONS if value == value else NO_UNIT  # noqa: PLR0124  a missing value is at no distance
    decisions.steps[record], decisions.distances[record], decisions.units[record] = (
        decisive_step(program, memory, steps),
        distance,
        unit,
    )


def trace_records(program, signals, begins, lengths, low, high, memory, followed, result, decisions):
    """Trace formulas over the records `low` … `high` − 1, whose signals these are, and write down the results.

    `begins` says where each record begins if all lie one after the other; the signals begin with the first of these.
    `followed` are the parts whose truth is recorded step by step. `decisions` is None if nobody asks for it.
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
    comparison_holds, atom_robustness, connective_robustness, window_robustness, until_robustness, compare_counts, is_connective, is_until, is_count, reset_count, update_count, evaluate_parts,
    window_has_steps, witness_step, extreme_step, until_witness, decisive_operand, set_counts, advance_counts, counts_witness, decisive_step, decisive_atom, count_distance,
    explain_record,
)  # fmt: skip
"""The functions that `trace_records` calls, each before its callers."""


# ---- The parts of formulas, in the order in which they are computed.

_FARTHEST = 1 << 20
"""Steps; a constant beyond that is as good as out of reach."""
_MOST_STEPS = 1 << 26
"""Steps; no record is longer."""
Deviation = Callable[[Expression], float]


@dataclass(eq=False)
class FormulaParts:
    """The parts of formulas: operands come before their users, and equal parts stand only once."""

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
        """The parts of formulas, or of any Boolean vectors."""
        result = cls(schema)
        result.roots += [result._add(formula) for formula in formulas]
        return result

    @cached_property
    def truth_program(self) -> tuple[TraceProgram, TraceProgram]:
        """The program that only tells what is true, as arrays and as lists, which plain Python reads faster."""
        program = self.program(None)
        return program, _listed(program)

    def _add(self, e: Expression) -> int:
        """The place of a part, behind those of its operands."""
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
        """The program. `deviation` is the unit of a signal's distances; without it, robustness is ±1."""
        result = TraceProgram.empty(len(self.codes), self.roots)
        result.codes[:] = self.codes
        result.first[:], result.second[:] = np.array(self.operands, np.int64).T
        for place, atom in self.atoms.items():
            result.outcomes[place], result.constants[place] = atom.outcomes, atom.constant
            result.units[place] = deviation(atom.signal) if deviation is not None and atom.graded else 0.0
        numbers: list[int] = []
        for e, place in self.places.items():
            code = code_of(e)  # what is spelt out has none that is done here, and its place is another's
            if code is MicroOp.NAME:
                assert isinstance(e.head, Number)
                result.constants[place] = e.head.value
            elif code in AHEAD | WINDOWED:
                result.sign[place] = -1 if code in DUAL else 1
                near, far = (int(min(bound, _MOST_STEPS)) for bound in e.window)
                result.near[place], result.far[place] = (-far, -near) if code in BEHIND else (near, far)
            elif code is MicroOp.COMPARE:
                below = list(_numbers(e))
                reach = sum(abs(part.head.value) for part in below if isinstance(part.head, Number))
                result.outcomes[place], result.constants[place] = outcomes_of(e), int(min(reach, _FARTHEST))
                # a true step more may join two stretches, or begin another: only of plain counts is it one more
                stretches = {MicroOp.EPISODES, MicroOp.LONGEST}
                result.units[place] = float(stretches.isdisjoint(map(code_of, below)))
                result.numbers_start[place] = len(numbers)
                numbers += sorted({self.places[part] for part in below})
                result.numbers_stop[place] = len(numbers)
            if code in JOINING - LOOKING:
                result.timeless[place] = all(result.timeless[list(self.operands[place])])
            elif code is MicroOp.COMPARE:
                result.timeless[place] = True
        return result._replace(numbers=np.array(numbers, np.int64))


def _numbers(comparison: Expression) -> Iterator[Expression]:
    """What a comparison of counts makes its two numbers of, down to the counts, as often as it occurs."""
    for arg in comparison.args:
        yield arg
        if code_of(arg) not in COUNTED:
            yield from _numbers(arg)


# ---- Tracing formulas over the records of a panel.
#
# A few records are traced by plain Python, because a compiler takes longer to load than that; many are traced by the
# same functions, compiled.

_STEPS_PER_BATCH = 1 << 13
"""Steps of records that are walked together: their signals stay in the cache, and are not so long that where memory is
given back at once, as by the workers of Dask, each takes fresh pages."""
RECORDS_PER_UNLOAD = 1 << 14
"""Records on disk after which the memory that they took is let go."""
_COMPILER_COST = 1 << 18
"""Steps, one for each part of a formula, that plain Python walks in less time than a compiler takes to load."""
_SMALL = 1 << 11
"""Steps, counted so, that are walked in less time than is needed to prepare anything faster."""
SIGNALS = 1 << 28
"""Bytes of signals that are usually kept."""

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Trace:
    """The trace of formulas, record by record in the order of the request."""

    begins: Ints  # where the steps of each record begin, if all lie one after the other
    lengths: Ints
    result: TraceResult
    decisions: Decisions | None
    followed: Mapping[Expression, int]  # the rows of the parts that were followed

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
        """The truth of a part that was followed, step by step of the record at a place."""
        begin = self.begins[place]
        steps: Bools = self.result.part_truth[self.followed[part], begin : begin + self.lengths[place]]
        return steps

    def count(self, part: Expression, place: int) -> int:
        """The number of steps of that record at which the part holds."""
        return int(self.result.counts[self.followed[part], place])


class Tracer:
    """Traces formulas over the records of one panel."""

    def __init__(self, panel: Panel, signals: Signals | None = None) -> None:
        self.panel = panel
        self.signals = signals_of(panel) if signals is None else signals

    def truth(self, parts: FormulaParts) -> Bools:
        """The truth of formulas: formulas × records."""
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

        spread: the unit of the distances of a signal; without it robustness is ±1 and only says what is true.
        follow: parts of the formula whose truth is recorded. decide: find out what decided the answer.
        """
        parts = FormulaParts.of([e], self.panel.schema)
        return self._trace(parts, parts.program(deviation), None, records, follow=follow, decide=decide)[0]

    def is_faster(self, parts: FormulaParts) -> bool:
        """Return True if tracing takes less time than evaluating 64 records at a time, if only truth is asked for.

        That takes longer to prepare, and much longer if no compiled code was loaded.
        """
        choice = chosen_evaluator()
        if choice != "auto" or self.panel.on_disk:  # tracing reads little at a time
            return choice != "bitsets"
        work = self.panel.steps * len(parts.codes)
        return work <= _SMALL or ("numba" not in sys.modules and work <= _InterpreterBudget.left)

    def over_time(self, e: Expression, record: int, deviation: Deviation) -> Floats:
        """The robustness of a formula, or any Boolean vector, at every step of the record at this position."""
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
    """Records to be walked together: the first, and one past the last."""
    ends = np.cumsum(lengths)
    if len(lengths) and ends[-1] < _STEPS_PER_BATCH:
        return iter([(0, len(lengths))])
    share = ends // _STEPS_PER_BATCH
    bounds = [0, *(np.flatnonzero(np.diff(share)) + 1).tolist(), len(lengths)]
    return ((low, high) for low, high in pairwise(bounds) if low < high)


def _rows(starts: Ints, lengths: Ints) -> slice | Ints:
    """The rows of records, a slice where they lie one after the other."""
    ends = starts + lengths
    if np.array_equal(starts[1:], ends[:-1]):
        return slice(int(starts[0]), int(ends[-1]))
    before = np.cumsum(lengths) - lengths
    rows: Ints = np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
    return rows


class _InterpreterBudget:
    """How much plain Python may still walk before it has taken as long as a compiler."""

    left = _COMPILER_COST


def _use_interpreter(work: int) -> bool:
    """Return True if plain Python does this much before compiled code is loaded, or compiled."""
    choice = chosen_evaluator()
    if choice in ("interpreted", "compiled"):
        return choice == "interpreted"
    if _compiled.cache_info().currsize or work > _InterpreterBudget.left:
        return False
    _InterpreterBudget.left -= work
    return True


@cache
def _compiled() -> Any:
    """`trace_records` as a kernel. Its functions are compiled along with it, and stay plain Python for others."""
    from numba.extending import register_jitable

    from telltree.compiled import kernel

    for function in INNER:
        register_jitable(error_model="numpy")(function)
    return kernel(trace_records)


def signals_of(panel: Panel, part_of: Signals | None = None, *, memory: int | None = None) -> Signals:
    """The signals of a panel, or of a part of one whose signals are known, with a tracer for formulas inside atoms.

    They are cached while they fit into `memory`, or else the usual.
    """
    return Signals(panel, _trace_closed, SIGNALS if memory is None else memory, part_of=part_of)


def _trace_closed(panel: Panel, signals: Signals, formula: Expression) -> list[Bools]:
    trace = Tracer(panel, signals).trace(formula, follow=[formula])
    return [trace.part_truth(formula, place) for place in range(len(panel))]
