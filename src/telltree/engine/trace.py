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
    one: NDArray[np.int64]  # the first operand; of an atom the row of its signal
    two: NDArray[np.int64]
    sign: NDArray[np.int64]  # of what looks along time: 1 if one step proves it, −1 if one breaks it; else 0
    near: NDArray[np.int64]  # of that: the first and the last step it looks at, from where it is asked for; back if < 0
    far: NDArray[np.int64]
    outcomes: NDArray[np.int64]  # for which of a comparison's outcomes it is true
    constants: NDArray[np.float64]  # of numbers and atoms; of a comparison of counts, the sum of the numbers in it
    spreads: NDArray[np.float64]  # the unit of distances, 0 if they have no sense; of a comparison of counts, a step
    timeless: NDArray[np.bool_]  # whether it has the same answer at every step
    first: NDArray[np.int64]  # of a comparison of counts: where in `numbers` its parts begin
    last: NDArray[np.int64]
    numbers: NDArray[np.int64]  # counts, and what is made of them
    roots: NDArray[np.int64]  # which parts are whole formulas

    @classmethod
    def empty(cls, parts: int, roots: Sequence[int]) -> "TraceProgram":
        """A program of this many parts, still without content."""
        codes, one, two, sign, near, far, outcomes, first, last = np.zeros((9, parts), np.int64)
        constants, spreads = np.zeros((2, parts))
        timeless, numbers = np.zeros(parts, np.bool_), np.zeros(0, np.int64)
        return cls(
            codes, one, two, sign, near, far, outcomes, constants, spreads, timeless, first, last, numbers,
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
    held: NDArray[np.bool_]  # parts that are followed × steps of all records, one after the other
    counts: NDArray[np.int64]  # parts that are followed × records: at how many steps they hold


class Decided(NamedTuple):
    """How each record came to the answer of the first formula."""

    steps: NDArray[np.int64]  # the decisive step
    sizes: NDArray[np.float64]  # the distance from the other answer, positive where the answer is yes
    units: NDArray[np.int64]

    @classmethod
    def empty(cls, records: int) -> "Decided":
        """Memory for this many records."""
        return cls(np.zeros(records, np.int64), np.zeros(records), np.zeros(records, np.int64))


def compared(x, y, outcomes):
    """Whether a comparison comes out as one of the outcomes; with a missing value none does."""
    return bool((outcomes & LESS and x < y) or (outcomes & EQUAL and x == y) or (outcomes & GREATER and x > y))


def measure(signal, begin, steps, outcomes, constant, spread, out):
    """An atom's margins: the distance to its constant, or 1 where distance has no sense or a value is missing."""
    less, equal, greater = outcomes & LESS != 0, outcomes & EQUAL != 0, outcomes & GREATER != 0
    for t in range(steps):
        x = signal[begin + t]
        holds = (less & (x < constant)) | (equal & (x == constant)) | (greater & (x > constant))
        out[t] = 1.0 if holds else -1.0
    for t in range(steps if spread != 0.0 else 0):
        x = signal[begin + t]
        size = abs(x - constant) / spread
        size = size if size > TINY else TINY
        if x == x:  # noqa: PLR0124  what is missing is not itself
            out[t] = size if out[t] > 0 else -size


def join(code, one, two, steps, out):
    """The margins of ¬ ∧ ∨ ⇒, given those of the operands."""
    if code == _NOT:
        for t in range(steps):
            out[t] = -one[t]
    elif code == _AND:
        for t in range(steps):
            out[t] = one[t] if one[t] < two[t] else two[t]
    elif code == _OR:
        for t in range(steps):
            out[t] = one[t] if one[t] > two[t] else two[t]
    else:  # ⇒
        for t in range(steps):
            out[t] = -one[t] if -one[t] > two[t] else two[t]


def look(one, sign, near, far, steps, out):
    """The margins of what looks along time from each step, given those of the operand.

    Where there is no step to look at, nothing proves it (`sign` 1), and nothing breaks it (−1).
    """
    if near == 0 and far >= steps:  # to the end of the record
        best = -_INFINITE
        for t in range(steps - 1, -1, -1):
            best = sign * one[t] if sign * one[t] > best else best
            out[t] = sign * best
    elif far == 0 and near <= -steps:  # from its start
        best = -_INFINITE
        for t in range(steps):
            best = sign * one[t] if sign * one[t] > best else best
            out[t] = sign * best
    else:
        for t in range(steps):
            best = -1.0 if t + near >= steps or t + far < 0 else -_INFINITE
            for seen in range(max(t + near, 0), min(t + far + 1, steps)):
                best = sign * one[seen] if sign * one[seen] > best else best
            out[t] = sign * best


def hold(code, one, two, steps, out):
    """The margins of until, unless and since, given those of the operands."""
    after = _INFINITE if code == _UNLESS else -_INFINITE
    for k in range(steps):
        t = k if code == _SINCE else steps - 1 - k
        stays = one[t] if one[t] < after else after
        after = out[t] = two[t] if two[t] > stays else stays


def answer(program, part, numbers):
    """Whether a comparison of counts is true for the counts that stand in `numbers`."""
    for place in range(program.first[part], program.last[part]):
        k = program.numbers[place]
        code, x, y = program.codes[k], numbers[program.one[k]], numbers[program.two[k]]
        if code == _SUBTRACT:
            numbers[k] = x - y
        elif code == _ABS:
            numbers[k] = abs(x)
        elif code == _SIGN:
            numbers[k] = 1.0 if x > 0 else -1.0 if x < 0 else 0.0
    return compared(numbers[program.one[part]], numbers[program.two[part]], program.outcomes[part])


def is_connective(code):
    """Whether it is one of ¬ ∧ ∨ ⇒."""
    return code == _NOT or code == _AND or code == _OR or code == _IMPLIES


def is_pair(code):
    """Whether it looks along time at two operands."""
    return code == _UNTIL or code == _UNLESS or code == _SINCE


def is_counted(code):
    """Whether it makes a number of what is true at every step."""
    return code == _COUNT or code == _LONGEST


def count_from_start(room, k):
    """Let a count be what it is before the first step."""
    room.numbers[k] = 0.0
    room.robustness[k][0] = 0.0  # of a longest run, the one at hand stands where its margin would


def count_step(code, room, k, holds):
    """Go on with a count by one step."""
    if code == _COUNT:
        room.numbers[k] += 1 if holds else 0
    else:
        here = room.robustness[k][0] + 1 if holds else 0.0
        room.robustness[k][0] = here
        room.numbers[k] = here if here > room.numbers[k] else room.numbers[k]


def run(program, signals, begin, steps, room):
    """Work out every part of a formula in the record whose steps begin there."""
    for k in range(len(program.codes)):
        code, one, two, out = program.codes[k], program.one[k], program.two[k], room.robustness[k]
        if code == _ATOM:
            measure(signals[one], begin, steps, program.outcomes[k], program.constants[k], program.spreads[k], out)
        elif is_counted(code):
            count_from_start(room, k)
            for t in range(steps):
                count_step(code, room, k, room.robustness[one][t] > 0)
            room.totals[k] = room.numbers[k]
        elif code == _COMPARE:
            holds = answer(program, k, room.numbers)
            for t in range(steps):
                out[t] = 1.0 if holds else -1.0
        elif code == _NAME:
            room.numbers[k] = program.constants[k]
        elif program.sign[k] != 0:
            look(room.robustness[one], program.sign[k], program.near[k], program.far[k], steps, out)
        elif is_pair(code):
            hold(code, room.robustness[one], room.robustness[two], steps, out)
        elif is_connective(code):
            join(code, room.robustness[one], room.robustness[two], steps, out)


def sees_any(program, part, step, steps):
    """Whether what looks along time from a step has any step to look at."""
    return step + program.near[part] < steps and step + program.far[part] >= 0


def witness(program, part, step, steps, robustness):
    """The first step that proves, or breaks, what looks along time from a step; if there is none, the nearest to it.

    Where it has no step to look at, the step itself.
    """
    sign, robustness = program.sign[part], robustness[program.one[part]]
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


def extreme(program, part, step, steps, robustness):
    """The first step whose margin is that of what looks along time from a step, which has a step to look at."""
    t, last = max(step + program.near[part], 0), min(step + program.far[part], steps - 1)
    while t < last and robustness[program.one[part]][t] != robustness[part][step]:
        t += 1
    return t


def weightier(program, part, step, robustness):
    """The operand of ∧, ∨ or ⇒ whose margin is that of the whole, and so has its truth; the first of equals."""
    one, two = robustness[program.one[part]][step], robustness[program.two[part]][step]
    code = program.codes[part]
    one = -one if code == _IMPLIES else one
    return program.one[part] if (one <= two if code == _AND else one >= two) else program.two[part]


def settling(program, part, step, steps, robustness):
    """The operand of until, unless or since that decides it, and at which step.

    It is true by b at some step after a at those on the way, and false by neither of them at some step after no b on
    the way. The first such step at which that comes to the margin of the whole decides: by b if it is true, by a if it
    is false, or else by the other operand on the way there.
    """
    holds = robustness[part][step] > 0
    sign = 1.0 if holds else -1.0
    whole = sign * robustness[part][step]
    last, way = (program.two[part], program.one[part]) if holds else (program.one[part], program.two[part])
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


def decisive(program, room, steps):
    """The step that decides a formula; see `explain.evidence.decisive_step`."""
    part, step = program.roots[0], 0
    while program.codes[part] != _COMPARE:
        code, looks = program.codes[part], program.sign[part] != 0
        if code == _NOT or (looks and program.timeless[part]):
            part = program.one[part]
        elif looks:
            to = step + program.near[part]
            if program.near[part] != program.far[part] or not 0 <= to < steps:
                return witness(program, part, step, steps, room.robustness)
            part, step = program.one[part], to  # what looks at a single step is decided by what is there
        elif is_pair(code):
            return settling(program, part, step, steps, room.robustness)[1]
        elif code == _ATOM:
            return step
        else:
            part = weightier(program, part, step, room.robustness)
    return turned(program, part, room, steps)


def deciding(program, room, steps):
    """The atom, or comparison of counts, that a formula has its margin of, and the step that it looks at; or what looks
    along time and has no step to look at, which no value would change."""
    part, step = program.roots[0], 0
    while program.codes[part] != _ATOM and program.codes[part] != _COMPARE:
        code, looks = program.codes[part], program.sign[part] != 0
        if looks and not sees_any(program, part, step, steps):
            return part, step
        if looks:
            step = extreme(program, part, step, steps, room.robustness)
        elif is_pair(code):
            part, step = settling(program, part, step, steps, room.robustness)
            continue
        part = program.one[part] if code == _NOT or looks else weightier(program, part, step, room.robustness)
    return part, step


def count_from(program, part, room, whole):
    """Let a comparison's counts be what they are in the `whole` record, or before its first step."""
    for place in range(program.first[part], program.last[part]):
        k = program.numbers[place]
        if is_counted(program.codes[k]):
            count_from_start(room, k)
            room.numbers[k] = room.totals[k] if whole else 0.0


def count_on(program, part, room, step):
    """Add a step to a comparison's counts; returns the largest margin of what they count."""
    largest = -_INFINITE
    for place in range(program.first[part], program.last[part]):
        k = program.numbers[place]
        if is_counted(program.codes[k]):
            robustness = room.robustness[program.one[k]][step]
            largest = robustness if robustness > largest else largest
            count_step(program.codes[k], room, k, robustness > 0)
    return largest


def turned(program, part, room, steps):
    """The step at which a comparison of counts came to the answer that it kept, as counting went on.

    If its answer was the same all along, the first step that brought it nearest to the other one, which for one count
    and a constant is the last true step; if nothing that it counts is ever true, the step nearest to that.
    """
    holds, outcomes = room.robustness[part][0] > 0, program.outcomes[part]
    change, near, likely = -1, 0, 0
    nearest, likeliest = -_INFINITE, -_INFINITE
    count_from(program, part, room, False)
    for t in range(steps):
        if answer(program, part, room.numbers) != holds:
            change = t
        robustness = count_on(program, part, room, t)
        if robustness > likeliest:
            likely, likeliest = t, robustness
        answer(program, part, room.numbers)
        ahead = room.numbers[program.one[part]] - room.numbers[program.two[part]]
        if not outcomes & GREATER:
            ahead = -abs(ahead) if outcomes == EQUAL else -ahead
        ahead = -ahead if holds else ahead
        if ahead > nearest:
            near, nearest = t, ahead
    count_from(program, part, room, True)
    if change >= 0:
        return change
    return near if likeliest > 0 else likely


def steps_away(program, part, room):
    """How many true steps more or fewer, of one of the counts, would change the answer of a comparison of counts.

    Infinite if no number of steps would, or none that records have: a count moves a side by one a step or more, or not
    at all, so that beyond all numbers at hand nothing changes.
    """
    holds, least, reach = room.robustness[part][0] > 0, _INFINITE, int(program.constants[part]) + 2
    for place in range(program.first[part], program.last[part]):
        k = program.numbers[place]
        reach += int(room.totals[k]) if is_counted(program.codes[k]) else 0
    for place in range(program.first[part], program.last[part]):
        k = program.numbers[place]
        steps = 1 if is_counted(program.codes[k]) else reach
        while steps < reach and steps < least:
            for changed in (room.totals[k] - steps, room.totals[k] + steps):
                room.numbers[k] = changed
                if changed >= 0 and answer(program, part, room.numbers) != holds:
                    least = float(steps)
            steps += 1
        if is_counted(program.codes[k]):
            room.numbers[k] = room.totals[k]
    return least


def explain(program, signals, begin, steps, room, record, decided):
    """Say how a record came to its answer, and how far it is from the other, in the unit that has sense."""
    robustness = room.robustness[program.roots[0]][0]
    part, step = deciding(program, room, steps)
    size, unit = robustness, NO_UNIT
    if program.codes[part] != _ATOM:
        if program.spreads[part] != 0.0:
            away = steps_away(program, part, room)
            size, unit = away if robustness > 0 else -away, STEPS
    elif program.spreads[part] != 0.0:
        value = signals[program.one[part]][begin + step]
        unit = DEVIATIONS if value == value else NO_UNIT  # noqa: PLR0124  a missing value is at no distance
    decided.steps[record], decided.sizes[record], decided.units[record] = decisive(program, room, steps), size, unit


def trace_records(program, signals, begins, lengths, low, high, room, followed, found, decided):
    """Trace formulas over the records `low` … `high` − 1, whose signals these are, and write down the results.

    `begins` says where each record begins if all lie one after the other; the signals begin with the first of these.
    `followed` are the parts whose truth is recorded step by step. `decided` is None if nobody asks for it.
    """
    for record in range(low, high):
        begin, steps = begins[record], lengths[record]
        run(program, signals, begin - begins[low], steps, room)
        for row in range(len(program.roots)):
            found.robustness[row, record] = room.robustness[program.roots[row]][0]
        for row in range(len(followed)):
            robustness, total = room.robustness[followed[row]], 0
            for t in range(steps):
                found.held[row, begin + t] = robustness[t] > 0
                total += 1 if robustness[t] > 0 else 0
            found.counts[row, record] = total
        if decided is not None:
            explain(program, signals, begin - begins[low], steps, room, record, decided)


INNER = (
    compared, measure, join, look, hold, answer, is_connective, is_pair, is_counted, count_from_start, count_step, run,
    sees_any, witness, extreme, settling, weightier, count_from, count_on, turned, decisive, deciding, steps_away,
    explain,
)  # fmt: skip
"""The functions that `trace_records` calls, each before its callers."""


# ---- The parts of formulas, in the order in which they are computed.

_FARTHEST = 1 << 20
"""Steps; a constant beyond that is as good as out of reach."""
_MOST_STEPS = 1 << 26
"""Steps; no record is longer."""
Spread = Callable[[Expression], float]


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
        found = cls(schema)
        found.roots += [found._add(formula) for formula in formulas]
        return found

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

    def program(self, spread: Spread | None) -> TraceProgram:
        """The program. `spread` is the unit of a signal's distances; without it, robustness is ±1."""
        found = TraceProgram.empty(len(self.codes), self.roots)
        found.codes[:] = self.codes
        found.one[:], found.two[:] = np.array(self.operands, np.int64).T
        for place, atom in self.atoms.items():
            found.outcomes[place], found.constants[place] = atom.outcomes, atom.constant
            found.spreads[place] = spread(atom.signal) if spread is not None and atom.graded else 0.0
        numbers: list[int] = []
        for e, place in self.places.items():
            code = code_of(e)  # what is spelt out has none that is done here, and its place is another's
            if code is MicroOp.NAME:
                assert isinstance(e.head, Number)
                found.constants[place] = e.head.value
            elif code in AHEAD | WINDOWED:
                found.sign[place] = -1 if code in DUAL else 1
                near, far = (int(min(bound, _MOST_STEPS)) for bound in e.window)
                found.near[place], found.far[place] = (-far, -near) if code in BEHIND else (near, far)
            elif code is MicroOp.COMPARE:
                below = list(_numbers(e))
                reach = sum(abs(part.head.value) for part in below if isinstance(part.head, Number))
                found.outcomes[place], found.constants[place] = outcomes_of(e), int(min(reach, _FARTHEST))
                # a true step more may join two stretches, or begin another: only of plain counts is it one more
                stretches = {MicroOp.EPISODES, MicroOp.LONGEST}
                found.spreads[place] = float(stretches.isdisjoint(map(code_of, below)))
                found.first[place] = len(numbers)
                numbers += sorted({self.places[part] for part in below})
                found.last[place] = len(numbers)
            if code in JOINING - LOOKING:
                found.timeless[place] = all(found.timeless[list(self.operands[place])])
            elif code is MicroOp.COMPARE:
                found.timeless[place] = True
        return found._replace(numbers=np.array(numbers, np.int64))


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

_AT_A_TIME = 1 << 13
"""Steps of records that are walked together: their signals stay in the cache, and are not so long that where memory is
given back at once, as by the workers of Dask, each takes fresh pages."""
RECORDS_LOOKED_AT = 1 << 14
"""Records on disk after which the memory that they took is let go."""
_FEW = 1 << 18
"""Steps, one for each part of a formula, that plain Python walks in less time than a compiler takes to load."""
_LITTLE = 1 << 11
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
    found: TraceResult
    decided: Decided | None
    followed: Mapping[Expression, int]  # the rows of the parts that were followed

    @property
    def truth(self) -> Bools:
        """The truth of each formula for each record."""
        holds: Bools = self.found.robustness > 0
        return holds

    def held(self, part: Expression, place: int) -> Bools:
        """The truth of a part that was followed, step by step of the record at a place."""
        begin = self.begins[place]
        steps: Bools = self.found.held[self.followed[part], begin : begin + self.lengths[place]]
        return steps

    def count(self, part: Expression, place: int) -> int:
        """The number of steps of that record at which the part holds."""
        return int(self.found.counts[self.followed[part], place])


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
        spread: Spread | None = None,
        follow: Sequence[Expression] = (),
        decide: bool = False,
    ) -> Trace:
        """Trace a formula, or any Boolean vector, over records given by their positions, by default all.

        spread: the unit of the distances of a signal; without it robustness is ±1 and only says what is true.
        follow: parts of the formula whose truth is recorded. decide: find out what decided the answer.
        """
        parts = FormulaParts.of([e], self.panel.schema)
        return self._trace(parts, parts.program(spread), None, records, follow=follow, decide=decide)[0]

    def is_faster(self, parts: FormulaParts) -> bool:
        """Return True if tracing takes less time than evaluating 64 records at a time, if only truth is asked for.

        That takes longer to prepare, and much longer if no compiled code was loaded.
        """
        choice = chosen_evaluator()
        if choice != "auto" or self.panel.on_disk:  # tracing reads little at a time
            return choice != "bitsets"
        work = self.panel.steps * len(parts.codes)
        return work <= _LITTLE or ("numba" not in sys.modules and work <= _Patience.left)

    def over_time(self, e: Expression, record: int, spread: Spread) -> Floats:
        """The robustness of a formula, or any Boolean vector, at every step of the record at this position."""
        parts = FormulaParts.of([e], self.panel.schema)
        trace, room = self._trace(parts, parts.program(spread), None, np.array([record]))
        return np.array(room.robustness[parts.roots[0]][: trace.lengths[0]], np.float64)

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
        found = TraceResult(
            np.empty((len(parts.roots), len(lengths))),
            np.empty((len(rows), steps), np.bool_),
            np.empty((len(rows), len(lengths)), np.int64),
        )
        decided = Decided.empty(len(lengths)) if decide else None
        followed = np.array([parts.places[part] for part in rows], np.int64)
        values = [self.signals.values(signal) for signal in parts.signals]
        room = TraceMemory.empty(len(parts.codes), int(lengths.max(initial=0)))
        few = _is_worth_no_compiler(len(parts.codes) * steps)
        run: Any = trace_records if few else _compiled()
        if few:
            program = _listed(program) if listed is None else listed
            room = TraceMemory._make(x.tolist() for x in room)
        for low, high in _shares(lengths):
            taken = _rows(starts[low:high], lengths[low:high])
            signals = np.empty((len(values), begins[high - 1] + lengths[high - 1] - begins[low]))
            for row, column in enumerate(values):
                signals[row] = column[taken]
            read = signals.tolist() if few else signals
            run(program, read, begins, lengths, low, high, room, followed, found, decided)
            if self.panel.on_disk and low // RECORDS_LOOKED_AT != high // RECORDS_LOOKED_AT:
                unload()
        return Trace(begins, lengths, found, decided, rows), room


def _listed(program: TraceProgram) -> TraceProgram:
    return TraceProgram._make(x.tolist() for x in program)


def _shares(lengths: Ints) -> Iterator[tuple[int, int]]:
    """Records to be walked together: the first, and one past the last."""
    ends = np.cumsum(lengths)
    if len(lengths) and ends[-1] < _AT_A_TIME:
        return iter([(0, len(lengths))])
    share = ends // _AT_A_TIME
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


class _Patience:
    """How much plain Python may still walk before it has taken as long as a compiler."""

    left = _FEW


def _is_worth_no_compiler(work: int) -> bool:
    """Return True if plain Python does this much before compiled code is loaded, or compiled."""
    choice = chosen_evaluator()
    if choice in ("interpreted", "compiled"):
        return choice == "interpreted"
    if _compiled.cache_info().currsize or work > _Patience.left:
        return False
    _Patience.left -= work
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
    return [trace.held(formula, place) for place in range(len(panel))]
