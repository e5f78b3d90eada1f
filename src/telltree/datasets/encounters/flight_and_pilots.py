"""Two aircraft flown in steps of 0.1 s: plans, pilots who respond to advisories, and whether they nearly collide."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import math

import numpy as np

from telltree.compiled import kernel, small
from telltree.datasets.encounters.advisories import COC, NUMBER, SDES1500, TARGET, complies, reverses, sense
from telltree.datasets.encounters.avoidance import (
    ADVISORY,
    AWAITS,
    CHANGED,
    CREW,
    DUE,
    FOLLOWS,
    LOST,
    NOBODY,
    NOTHING,
    OTHER_WAIT,
    SHARP,
    SHARP_NEXT,
    decide,
    time_left,
)
from telltree.datasets.encounters.logic_table import SECONDS

STEPS = 50  # of a record, one per second
TICKS = 10  # a second
TICK = 0.1
END = (STEPS - 1) * TICKS  # the tick of the last step
NEAR = 100.0  # ft; vertical separation is lost below it

FIRST_DELAY, NEXT_DELAY, RETURN_DELAY = 50, 30, 30  # ticks
GENTLE, FIRM = 8.05, 11.27  # ft/s²: 0.25 g, and 0.35 g for strengthened or reversed advisories

ALTITUDE, RATE, MANOEUVRES = 0, 1, 2  # of a vertical plan: where it begins, and then manoeuvres
MOST_MANOEUVRES = 2
PLAN = MANOEUVRES + 3 * MOST_MANOEUVRES  # each has a start, a rate and an acceleration

HEIGHT, SPEED, ACCELERATION, COMMAND, SHOWN, FOLLOWED, AWAITED, RESTRAINED, MARGIN, TIME_LEFT = range(10)
"""The channels of the flight recorder, which stores them for each aircraft once a second."""
CHANNELS = 10


@small
def hear(crew, before, tick):
    """Let a crew see a new advisory, after `before`.

    If it has the same sense as an advisory still awaited, it replaces that one, and the delay goes on: otherwise pilots
    would never respond.
    """
    advisory = crew[ADVISORY]
    sharp = 1 if advisory >= SDES1500 or reverses(advisory, before) else 0
    if advisory == COC:
        crew[AWAITS] = NOTHING if crew[FOLLOWS] == COC else COC
        crew[DUE] = tick + RETURN_DELAY
    elif crew[AWAITS] > COC and sense(crew[AWAITS]) == sense(advisory):
        crew[AWAITS] = advisory
        sharp = max(sharp, crew[SHARP_NEXT])
    else:
        first = before == COC and crew[FOLLOWS] == COC
        crew[AWAITS] = advisory
        crew[DUE] = tick + (FIRST_DELAY if first else NEXT_DELAY)
    crew[SHARP_NEXT] = sharp


@small
def act(crew, tick):
    """Let a crew whose delay is over follow its advisory."""
    if crew[AWAITS] != NOTHING and tick >= crew[DUE]:
        crew[FOLLOWS], crew[SHARP], crew[AWAITS] = crew[AWAITS], crew[SHARP_NEXT], NOTHING


@small
def wanted(plan, crew, rate, tick):
    """Return the rate a pilot steers for, and the acceleration: the plan's if it complies, else the advisory's."""
    command, push = plan[RATE], GENTLE
    for manoeuvre in range(MOST_MANOEUVRES):
        place = MANOEUVRES + 3 * manoeuvre
        if tick * TICK >= plan[place]:
            command, push = plan[place + 1], plan[place + 2]
    follows = crew[FOLLOWS]
    if not complies(follows, rate) or not complies(follows, command):
        push = FIRM if crew[SHARP] else GENTLE
    if not complies(follows, command):
        command = TARGET[follows]
    return command, push


@small
def nearly_collide(x, y, x_next, y_next, z, z_next):
    """Return True if both separations are lost at one instant of a step in which the offset changes linearly."""
    first, last = 0.0, 1.0
    rise = z_next - z
    if rise != 0.0:
        enter, leave = (-NEAR - z) / rise, (NEAR - z) / rise
        first, last = max(first, min(enter, leave)), min(last, max(enter, leave))
    elif abs(z) >= NEAR:
        return False
    dx, dy = x_next - x, y_next - y
    moved, along, outside = dx * dx + dy * dy, x * dx + y * dy, x * x + y * y - LOST * LOST
    if moved == 0.0:
        return outside < 0.0 and first < last
    root = along * along - moved * outside
    if root <= 0.0:
        return False
    root = math.sqrt(root)
    return max(first, (-along - root) / moved) < min(last, (-along + root) / moved)


@small
def _consult(table, offset, state, bias, tick, crew, leader, seen, worth, margins):
    """Run the logic on board both aircraft, and inform the crews; return the seconds left and who leads."""
    here, there = offset[tick], offset[tick + 1]
    alerted = crew[0, ADVISORY] != COC or crew[1, ADVISORY] != COC
    vx, vy = (there[0] - here[0]) / TICK, (there[1] - here[1]) / TICK
    seconds = time_left(here[0], here[1], vx, vy, alerted)
    before = crew[0, ADVISORY], crew[1, ADVISORY]
    for i in range(2):
        seen[i, 0], seen[i, 1] = state[i, 0] + bias[i], state[i, 1]
    leader = decide(table, seen, seconds, seconds < SECONDS, tick, crew, leader, worth, margins)
    for i in range(2):
        if crew[i, ADVISORY] != before[i]:
            hear(crew[i], before[i], tick)
    return seconds, leader


@small
def _keep(row, state, crew, restrained, margin, seconds, command):
    """Write one step of one aircraft to the flight recorder."""
    row[HEIGHT], row[SPEED], row[ACCELERATION] = state[0], state[1], state[2]
    row[COMMAND], row[MARGIN], row[TIME_LEFT], row[RESTRAINED] = command, margin, seconds, restrained
    row[SHOWN], row[FOLLOWED], row[AWAITED] = crew[ADVISORY], crew[FOLLOWS], crew[AWAITS]


@kernel
def fly(table, offsets, plans, biases, logic, first, last, trace, near, alerts):
    """Fly the encounters first … last − 1.

    offsets: where aircraft 2 is from aircraft 1, at each tick and one more. Written: `trace` (encounter, second,
    aircraft, channel), `near` (True for near collisions) and `alerts` (the tick of each first advisory, or NOTHING).
    """
    crew, state = np.empty((2, CREW), np.int64), np.empty((2, 3))
    seen, worth, margins = np.empty((2, 2)), np.empty(NUMBER), np.zeros(2)
    for n in range(first, last):
        offset, plan, leader, seconds = offsets[n], plans[n], NOBODY, 1.0 * SECONDS
        near[n] = False
        for i in range(2):
            state[i, 0], state[i, 1], state[i, 2] = plan[i, ALTITUDE], plan[i, RATE], 0.0
            crew[i], alerts[n, i] = 0, NOTHING
            crew[i, CHANGED], crew[i, AWAITS] = -OTHER_WAIT, NOTHING
        for tick in range(END + 1):
            act(crew[0], tick)
            act(crew[1], tick)
            if tick % TICKS == 0 and logic:
                seconds, leader = _consult(table, offset, state, biases[n], tick, crew, leader, seen, worth, margins)
            z = state[1, 0] - state[0, 0]
            for i in range(2):
                command, push = wanted(plan[i], crew[i], state[i, 1], tick)
                if tick % TICKS == 0:
                    restrained = leader == 1 - i
                    _keep(trace[n, tick // TICKS, i], state[i], crew[i], restrained, margins[i], seconds, command)
                    if alerts[n, i] == NOTHING and crew[i, ADVISORY] != COC:
                        alerts[n, i] = tick
                change = min(max(command - state[i, 1], -push * TICK), push * TICK)
                state[i, 0] += (state[i, 1] + 0.5 * change) * TICK
                state[i, 1] += change
                state[i, 2] = change / TICK
            here, there = offset[tick], offset[tick + 1]
            if tick < END and nearly_collide(here[0], here[1], there[0], there[1], z, state[1, 0] - state[0, 0]):
                near[n] = True
