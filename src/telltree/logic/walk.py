"""The walk: what a formula says of a record, part by part and step by step.

Each part of a formula has a margin at each step: how far it is from being otherwise, positive where it is true. From
these come the truth of the whole, the step that decided, and how far the record is from the other answer.

The functions here are plain Python. A few records are walked by them as they stand, many after `logic.walking` has
compiled them: what a formula means is written once.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.operators.meaning import EQUAL, GREATER, LESS, MicroOp

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


class Program(NamedTuple):
    """The parts of a formula, operands before what is made of them and each once; the last one is the whole."""

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

    @classmethod
    def empty(cls, parts: int) -> "Program":
        """A program of so many parts that says nothing yet."""
        codes, one, two, sign, near, far, outcomes, first, last = np.zeros((9, parts), np.int64)
        constants, spreads = np.zeros((2, parts))
        timeless, numbers = np.zeros(parts, np.bool_), np.zeros(0, np.int64)
        return cls(codes, one, two, sign, near, far, outcomes, constants, spreads, timeless, first, last, numbers)


class Room(NamedTuple):
    """What is known of the parts in the record at hand."""

    margins: NDArray[np.float64]  # parts × steps
    numbers: NDArray[np.float64]  # of those that are one number a record
    totals: NDArray[np.float64]  # of counts

    @classmethod
    def empty(cls, parts: int, steps: int) -> "Room":
        """Room for so many parts in records of at most so many steps."""
        return cls(np.zeros((parts, steps)), np.zeros(parts), np.zeros(parts))


class Found(NamedTuple):
    """What a walk finds out of each record."""

    margins: NDArray[np.float64]  # of the whole formula
    held: NDArray[np.bool_]  # parts that are followed × steps of all records, one after the other
    counts: NDArray[np.int64]  # parts that are followed × records: at how many steps they hold


class Decided(NamedTuple):
    """How each record came to its answer. The walk is given None where nobody asks, and then leaves it out."""

    steps: NDArray[np.int64]  # the decisive step
    sizes: NDArray[np.float64]  # the distance from the other answer, positive where the answer is yes
    units: NDArray[np.int64]

    @classmethod
    def empty(cls, records: int) -> "Decided":
        """Room for so many records."""
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
    room.margins[k][0] = 0.0  # of a longest run, the one at hand stands where its margin would


def count_step(code, room, k, holds):
    """Go on with a count by one step."""
    if code == _COUNT:
        room.numbers[k] += 1 if holds else 0
    else:
        here = room.margins[k][0] + 1 if holds else 0.0
        room.margins[k][0] = here
        room.numbers[k] = here if here > room.numbers[k] else room.numbers[k]


def run(program, signals, begin, steps, room):
    """Work out every part of a formula in the record whose steps begin there."""
    for k in range(len(program.codes)):
        code, one, two, out = program.codes[k], program.one[k], program.two[k], room.margins[k]
        if code == _ATOM:
            measure(signals[one], begin, steps, program.outcomes[k], program.constants[k], program.spreads[k], out)
        elif is_counted(code):
            count_from_start(room, k)
            for t in range(steps):
                count_step(code, room, k, room.margins[one][t] > 0)
            room.totals[k] = room.numbers[k]
        elif code == _COMPARE:
            holds = answer(program, k, room.numbers)
            for t in range(steps):
                out[t] = 1.0 if holds else -1.0
        elif code == _NAME:
            room.numbers[k] = program.constants[k]
        elif program.sign[k] != 0:
            look(room.margins[one], program.sign[k], program.near[k], program.far[k], steps, out)
        elif is_pair(code):
            hold(code, room.margins[one], room.margins[two], steps, out)
        elif is_connective(code):
            join(code, room.margins[one], room.margins[two], steps, out)


def sees_any(program, part, step, steps):
    """Whether what looks along time from a step has any step to look at."""
    return step + program.near[part] < steps and step + program.far[part] >= 0


def witness(program, part, step, steps, margins):
    """The first step that proves, or breaks, what looks along time from a step; if there is none, the nearest to it.

    Where it has no step to look at, the step itself.
    """
    sign, margins = program.sign[part], margins[program.one[part]]
    start, stop = max(step + program.near[part], 0), min(step + program.far[part] + 1, steps)
    if start >= stop:
        return step
    nearest = start
    for t in range(start, stop):
        if sign * margins[t] > 0:
            return t
        if sign * margins[t] > sign * margins[nearest]:
            nearest = t
    return nearest


def extreme(program, part, step, steps, margins):
    """The first step whose margin is that of what looks along time from a step, which has a step to look at."""
    t = max(step + program.near[part], 0)
    while margins[program.one[part]][t] != margins[part][step]:
        t += 1
    return t


def weightier(program, part, step, margins):
    """The operand of ∧, ∨ or ⇒ whose margin is that of the whole, and so has its truth; the first of equals."""
    one, two = margins[program.one[part]][step], margins[program.two[part]][step]
    code = program.codes[part]
    one = -one if code == _IMPLIES else one
    return program.one[part] if (one <= two if code == _AND else one >= two) else program.two[part]


def settling(program, part, step, steps, margins):
    """The operand of until, unless or since that decides it, and at which step.

    It is true by b at some step after a at those on the way, and false by neither of them at some step after no b on
    the way. The first such step at which that comes to the margin of the whole decides: by b if it is true, by a if it
    is false, or else by the other operand on the way there.
    """
    holds = margins[part][step] > 0
    sign = 1.0 if holds else -1.0
    whole = sign * margins[part][step]
    last, way = (program.two[part], program.one[part]) if holds else (program.one[part], program.two[part])
    since = program.codes[part] == _SINCE
    weakest, weakest_at = _INFINITE, step
    for k in range(step + 1 if since else steps - step):
        t = step - k if since else step + k
        here, on_the_way = sign * margins[last][t], sign * margins[way][t]
        if not holds and on_the_way < weakest:
            weakest, weakest_at = on_the_way, t
        if (here if here < weakest else weakest) == whole:
            return (last, t) if here == whole else (way, weakest_at)
        if holds and on_the_way < weakest:
            weakest, weakest_at = on_the_way, t
    return way, weakest_at


def decisive(program, room, steps):
    """The step that decides a formula; see `explain.evidence.decisive_step`."""
    part, step = len(program.codes) - 1, 0
    while program.codes[part] != _COMPARE:
        code, looks = program.codes[part], program.sign[part] != 0
        if code == _NOT or (looks and program.timeless[part]):
            part = program.one[part]
        elif looks:
            to = step + program.near[part]
            if program.near[part] != program.far[part] or not 0 <= to < steps:
                return witness(program, part, step, steps, room.margins)
            part, step = program.one[part], to  # what looks at a single step is decided by what is there
        elif is_pair(code):
            return settling(program, part, step, steps, room.margins)[1]
        elif code == _ATOM:
            return step
        else:
            part = weightier(program, part, step, room.margins)
    return turned(program, part, room, steps)


def deciding(program, room, steps):
    """The atom, or comparison of counts, that a formula has its margin of, and the step that it looks at; or what looks
    along time and has no step to look at, which no value would change."""
    part, step = len(program.codes) - 1, 0
    while program.codes[part] != _ATOM and program.codes[part] != _COMPARE:
        code, looks = program.codes[part], program.sign[part] != 0
        if looks and not sees_any(program, part, step, steps):
            return part, step
        if looks:
            step = extreme(program, part, step, steps, room.margins)
        elif is_pair(code):
            part, step = settling(program, part, step, steps, room.margins)
            continue
        part = program.one[part] if code == _NOT or looks else weightier(program, part, step, room.margins)
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
            margin = room.margins[program.one[k]][step]
            largest = margin if margin > largest else largest
            count_step(program.codes[k], room, k, margin > 0)
    return largest


def turned(program, part, room, steps):
    """The step at which a comparison of counts came to the answer that it kept, as counting went on.

    If its answer was the same all along, the first step that brought it nearest to the other one, which for one count
    and a constant is the last true step; if nothing that it counts is ever true, the step nearest to that.
    """
    holds, outcomes = room.margins[part][0] > 0, program.outcomes[part]
    change, near, likely = -1, 0, 0
    nearest, likeliest = -_INFINITE, -_INFINITE
    count_from(program, part, room, False)
    for t in range(steps):
        if answer(program, part, room.numbers) != holds:
            change = t
        margin = count_on(program, part, room, t)
        if margin > likeliest:
            likely, likeliest = t, margin
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
    holds, least, reach = room.margins[part][0] > 0, _INFINITE, int(program.constants[part]) + 2
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
    margin = room.margins[len(program.codes) - 1][0]
    part, step = deciding(program, room, steps)
    size, unit = margin, NO_UNIT
    if program.codes[part] != _ATOM:
        if program.spreads[part] != 0.0:
            away = steps_away(program, part, room)
            size, unit = away if margin > 0 else -away, STEPS
    elif program.spreads[part] != 0.0:
        value = signals[program.one[part]][begin + step]
        unit = DEVIATIONS if value == value else NO_UNIT  # noqa: PLR0124  a missing value is at no distance
    decided.steps[record], decided.sizes[record], decided.units[record] = decisive(program, room, steps), size, unit


def walk(program, signals, begins, lengths, low, high, room, followed, found, decided):
    """Walk a formula over the records `low` … `high` − 1, whose signals these are, and write down what is found.

    `begins` says where each record begins if all lie one after the other; the signals begin with the first of these.
    `followed` are the parts of which it is told where they hold.
    """
    for record in range(low, high):
        begin, steps = begins[record], lengths[record]
        run(program, signals, begin - begins[low], steps, room)
        found.margins[record] = room.margins[len(program.codes) - 1][0]
        for row in range(len(followed)):
            margins, total = room.margins[followed[row]], 0
            for t in range(steps):
                found.held[row, begin + t] = margins[t] > 0
                total += 1 if margins[t] > 0 else 0
            found.counts[row, record] = total
        if decided is not None:
            explain(program, signals, begin - begins[low], steps, room, record, decided)


INNER = (
    compared, measure, join, look, hold, answer, is_connective, is_pair, is_counted, count_from_start, count_step, run,
    sees_any, witness, extreme, settling, weightier, count_from, count_on, turned, decisive, deciding, steps_away,
    explain,
)  # fmt: skip
"""What `walk` calls, each before those that call it."""
