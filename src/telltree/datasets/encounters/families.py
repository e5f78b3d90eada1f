"""Five families of encounters: how the aircraft of each intend to climb and descend."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from telltree.datasets.encounters.avoidance import NOTHING
from telltree.datasets.encounters.chance import Chance
from telltree.datasets.encounters.flight import ALTITUDE, RATE, TICK
from telltree.datasets.encounters.plans import (
    NEVER,
    Floats,
    G,
    Plans,
    Whole,
    climbing,
    draw_meeting,
    manoeuvre,
    set_heights,
)


def straight(chance: Chance, meeting: Floats) -> Floats:
    """Each flies level, or climbs or descends steadily."""
    climbs = climbing(_gentle(chance, 8, 40))
    set_heights(climbs, meeting, _level(chance), chance.normal(0, 350))
    return climbs


def level_off(chance: Chance, meeting: Floats) -> Floats:
    """One or both climb or descend towards the other, and level off short of it."""
    who, way = _who(chance), chance.sign()
    climbs = climbing(np.zeros((len(meeting), 2)))
    both = chance.happens(0.5)
    for aircraft, towards, moves in ((who, way, True), (1 - who, -way, both)):
        rate = np.where(moves, towards * chance.uniform(15, 45), 0)
        climbs[np.arange(len(who)), aircraft, RATE] = rate
        start, push = meeting - chance.uniform(5, 20), G * chance.uniform(0.15, 0.3)
        manoeuvre(climbs, aircraft, start, np.zeros(len(who)), push)
    set_heights(climbs, meeting, _level(chance), _two_over_one(who) * way * chance.uniform(350, 1100))
    return climbs


def late_manoeuvre(chance: Chance, meeting: Floats) -> Floats:
    """They are apart until one climbs or descends steeply, shortly before the meeting."""
    who, way = _who(chance), chance.sign()
    climbs = climbing(_gentle(chance, 5, 20))
    start, push = meeting - chance.uniform(6.5, 12.5), G * chance.uniform(0.28, 0.5)
    manoeuvre(climbs, who, start, way * chance.uniform(45, 80), push)
    set_heights(climbs, meeting, _level(chance), chance.normal(0, 100))
    return climbs


def cross_and_return(chance: Chance, meeting: Floats) -> Floats:
    """They cross in height early, moving towards each other; then both turn back towards each other."""
    who, way, every = _who(chance), chance.sign(), np.arange(len(meeting))
    climbs = climbing(np.zeros((len(meeting), 2)))
    turn, slow = meeting - chance.uniform(7.5, 13), way * chance.uniform(5, 20)
    climbs[every, who, RATE] = way * chance.uniform(18, 42)
    climbs[every, 1 - who, RATE] = -slow
    manoeuvre(climbs, who, turn, -way * chance.uniform(18, 42), G * chance.uniform(0.18, 0.4))
    manoeuvre(climbs, 1 - who, turn, slow, G * chance.uniform(0.18, 0.4))
    set_heights(climbs, turn - chance.uniform(3, 9), _level(chance), np.zeros(len(meeting)))
    return climbs


def close_by(chance: Chance, meeting: Floats) -> Floats:
    """They would pass close by; one of them will cross the other's height while the other waits to respond."""
    climbs = climbing(_gentle(chance, 5, 20))
    set_heights(climbs, meeting, _level(chance), chance.sign() * chance.uniform(90, 270))
    return climbs


def cross_in_delay(chance: Chance, plans: Plans, alerts: Whole) -> Plans:
    """Let the aircraft that is alerted second cross the other's height about when the other is alerted.

    `alerts` are the ticks of the first advisories in a flight without this manoeuvre; without any, nothing is added.
    """
    ticks = np.where(alerts == NOTHING, np.int64(NEVER), alerts)
    who = np.where(ticks[:, 0] == ticks[:, 1], _who(chance), np.argmax(ticks, axis=1))
    start = ticks.min(axis=1) * TICK + chance.uniform(-2.5, 1.5)
    height = plans.climbs[..., ALTITUDE] + plans.climbs[..., RATE] * start[:, None]
    way = np.sign(height[:, 1] - height[:, 0]) * _two_over_one(who)
    climbs, push = plans.climbs.copy(), G * chance.uniform(0.15, 0.35)
    manoeuvre(climbs, who, start, way * chance.uniform(20, 45), push)
    manoeuvre(climbs, who, start + chance.uniform(4, 9), climbs[np.arange(len(who)), who, RATE], push, number=1)
    return replace(plans, climbs=climbs)


def _gentle(chance: Chance, least: float, most: float) -> Floats:
    """Rates of both aircraft: level, or up or down by this much."""
    moving = chance.sign((2,)) * chance.uniform(least, most, (2,))
    return np.where(chance.happens(0.55, (2,)), 0, moving)


def _who(chance: Chance) -> Whole:
    return chance.happens(0.5).astype(np.int64)


def _two_over_one(who: Whole) -> Floats:
    """1 where `who` is aircraft 1, −1 where it is aircraft 2: turns "the other over it" into "2 over 1"."""
    return np.where(who == 0, 1.0, -1.0)


def _level(chance: Chance) -> Floats:
    return chance.uniform(5_000, 20_000)


@dataclass(frozen=True)
class Family:
    """A type of encounter, and how many to make without and with a near mid-air collision."""

    name: str
    draw: Callable[[Chance, Floats], Floats]
    """Vertical plans for meetings at these times."""
    safe: int
    near: int
    complete: Callable[[Chance, Plans, Whole], Plans] | None = None
    """Completes the plans after a first flight, from the ticks of the first advisories."""


FAMILIES = (
    Family("straight", straight, 3300, 0),
    Family("level-off", level_off, 1900, 0),
    Family("late manoeuvre", late_manoeuvre, 1450, 350),
    Family("cross and return", cross_and_return, 1450, 330),
    Family("crossing in the delay", close_by, 1037, 183, cross_in_delay),
)


def draw(number: int, seed: int, first: int, count: int) -> tuple[Plans, Chance]:
    """Draw the candidates first … first + count − 1 of a family; returns their streams too, for later draws."""
    chance = Chance(seed, number, np.arange(first, first + count))
    meeting, paths, biases = draw_meeting(chance)
    return Plans(meeting, paths, FAMILIES[number].draw(chance, meeting), biases), chance
