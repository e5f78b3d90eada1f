"""Families of encounters: the plans of their aircraft, drawn with keyed random numbers."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from telltree.datasets.encounters.avoidance import NOTHING
from telltree.datasets.encounters.flight_and_pilots import (
    ALTITUDE,
    END,
    GENTLE,
    MANOEUVRES,
    MOST_MANOEUVRES,
    PLAN,
    RATE,
    TICK,
)

# ---- Random numbers that depend only on a key, so that the order and grouping of draws change nothing.

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def _mix(words: Words) -> Words:
    """Scramble 64 bits (the finaliser of splitmix64)."""
    words = (words ^ (words >> np.uint64(30))) * _FIRST
    words = (words ^ (words >> np.uint64(27))) * _SECOND
    return words ^ (words >> np.uint64(31))


class Chance:
    """One stream for each item: its draws depend only on seed, stream and item.

    Each method draws one number per item, or an array of the given `shape` per item.
    """

    def __init__(self, seed: int, stream: int, items: NDArray[np.int64]) -> None:
        """Open the streams of these items."""
        root = _mix(np.array([seed % 2**64], np.uint64))
        root = _mix(root + _GOLDEN * np.array([stream + 1], np.uint64))
        self._keys = _mix(root + _GOLDEN * (items.astype(np.uint64) + np.uint64(1)))
        self._drawn = 0

    def _unit(self, shape: tuple[int, ...]) -> Floats:
        """Draw from the open interval between 0 and 1."""
        count = int(np.prod(shape))
        counters = np.arange(self._drawn + 1, self._drawn + count + 1, dtype=np.uint64)
        self._drawn += count
        words = _mix(self._keys[:, None] + _GOLDEN * counters)
        return (((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52).reshape(-1, *shape)

    def uniform(self, low: float, high: float, shape: tuple[int, ...] = ()) -> Floats:
        """Draw uniformly between two numbers."""
        return low + (high - low) * self._unit(shape)

    def normal(self, mean: float, deviation: float, shape: tuple[int, ...] = ()) -> Floats:
        """Draw from a normal distribution (Box and Muller)."""
        radius, angle = np.sqrt(-2 * np.log(self._unit(shape))), 2 * np.pi * self._unit(shape)
        found: Floats = mean + deviation * radius * np.cos(angle)
        return found

    def laplace(self, scale: float, shape: tuple[int, ...] = ()) -> Floats:
        """Draw from a Laplace distribution about 0."""
        unit = self._unit(shape) - 0.5
        found: Floats = -scale * np.sign(unit) * np.log1p(-2 * np.abs(unit))
        return found

    def happens(self, probability: float, shape: tuple[int, ...] = ()) -> NDArray[np.bool_]:
        """Draw True with this probability."""
        return self._unit(shape) < probability

    def sign(self, shape: tuple[int, ...] = ()) -> Floats:
        """Draw 1 or −1."""
        return np.where(self.happens(0.5, shape), 1.0, -1.0)


# ---- What two aircraft intend: where they meet and how they climb, for many encounters at once.

Whole = NDArray[np.int64]

X, Y, SPEED, HEADING, TURN = range(5)  # of a path at the start; headings in radians from north, clockwise
NEVER = 1e9  # the start of a manoeuvre that is not flown
G = 32.2  # ft/s²


@dataclass(frozen=True)
class Plans:
    """Encounters to fly; `meeting` is the time when the aircraft are closest horizontally."""

    meeting: Floats
    paths: Floats  # encounter, aircraft, X … TURN
    climbs: Floats  # encounter, aircraft, as `flight.wanted` reads them
    biases: Floats  # of the altimeters, ft: encounter, aircraft

    def __len__(self) -> int:
        """Count the encounters."""
        return len(self.meeting)

    def take(self, chosen: NDArray[np.int64] | slice) -> "Plans":
        """Return some of them."""
        return Plans(self.meeting[chosen], self.paths[chosen], self.climbs[chosen], self.biases[chosen])

    @classmethod
    def joined(cls, parts: "list[Plans]") -> "Plans":
        """Concatenate several."""
        fields = ("meeting", "paths", "climbs", "biases")
        return cls(*(np.concatenate([getattr(part, field) for part in parts]) for field in fields))


def draw_meeting(chance: Chance) -> tuple[Floats, Floats, Floats]:
    """Draw the times when the aircraft meet, the paths that lead there, and the errors of their altimeters."""
    meeting = np.clip(chance.normal(40, 1.8), 36, 44)
    miss = np.abs(chance.normal(0, 300)) * chance.sign()
    speed = chance.uniform(250, 700, (2,))
    heading = np.stack([chance.uniform(-np.pi, np.pi)] * 2, axis=1)
    heading[:, 1] += np.radians(chance.uniform(75, 285))
    turn = np.radians(chance.normal(0, 0.15, (2,)))
    place = np.stack([chance.uniform(-20_000, 20_000, (2,))] * 2, axis=1)
    velocity = speed[..., None] * np.stack([np.sin(heading), np.cos(heading)], axis=-1)
    apart = velocity[:, 1] - velocity[:, 0]
    apart /= np.linalg.norm(apart, axis=1, keepdims=True)
    place[:, 1] += miss[:, None] * np.stack([apart[:, 1], -apart[:, 0]], axis=1)  # closest: at right angles
    there = np.concatenate([place, speed[..., None], heading[..., None], turn[..., None]], axis=-1)
    paths = there.copy()
    paths[..., HEADING] -= turn * meeting[:, None]
    paths[..., : Y + 1] = 0
    paths[..., : Y + 1] = place - positions(paths, meeting[:, None])[:, :, 0]
    return meeting, paths, chance.laplace(10, (2,))


def positions(paths: Floats, times: Floats) -> Floats:
    """Return positions of steadily turning aircraft: encounter, aircraft, time, x and y. `times` may have one row."""
    half = paths[..., TURN, None] * times[:, None] / 2
    chord = paths[..., SPEED, None] * times[:, None] * np.sinc(half / np.pi)
    along = paths[..., HEADING, None] + half
    steps = np.stack([chord * np.sin(along), chord * np.cos(along)], axis=-1)
    return paths[:, :, None, : Y + 1] + steps


def offsets(paths: Floats) -> Floats:
    """Return the offset of aircraft 2 from aircraft 1, at each tick and one more: encounter, tick, x and y."""
    found = positions(paths, TICK * np.arange(END + 2, dtype=np.float64)[None])
    return np.ascontiguousarray(found[:, 1] - found[:, 0])


def climbing(rates: Floats) -> Floats:
    """Return vertical plans with constant rates: encounter, aircraft."""
    climbs = np.zeros((*rates.shape, PLAN))
    climbs[..., RATE] = rates
    climbs[..., MANOEUVRES::3] = NEVER
    climbs[..., MANOEUVRES + 2 :: 3] = GENTLE
    return climbs


def manoeuvre(climbs: Floats, who: Whole, start: Floats, rate: Floats, push: Floats, *, number: int = 0) -> None:
    """Add a manoeuvre to the plan of one aircraft of each encounter; later manoeuvres have higher numbers."""
    place = MANOEUVRES + 3 * number
    climbs[np.arange(len(who)), who, place : place + 3] = np.stack([start, rate, push], axis=1)


def set_heights(climbs: Floats, when: Floats, level: Floats, miss: Floats) -> None:
    """Set the initial heights so that aircraft 1 is at `level` at a given time, and aircraft 2 is higher by `miss`."""
    climbs[..., ALTITUDE] = np.stack([level, level + miss], axis=1) - _climbed(climbs, when)


def _climbed(climbs: Floats, when: Floats) -> Floats:
    """Return how far each aircraft climbs until then, flown as in `flight.fly` without advisories."""
    rate, push = climbs[..., RATE].copy(), np.full(climbs.shape[:2], GENTLE)
    command, height = rate.copy(), np.zeros_like(rate)
    for tick in range(END):
        for number in range(MOST_MANOEUVRES):
            start, towards, with_push = np.moveaxis(climbs[..., MANOEUVRES + 3 * number :][..., :3], -1, 0)
            begun = tick * TICK >= start
            command, push = np.where(begun, towards, command), np.where(begun, with_push, push)
        change = np.clip(command - rate, -push * TICK, push * TICK)
        part = np.clip((when - tick * TICK) / TICK, 0, 1)[:, None]  # the share of this tick before then
        height += (rate + 0.5 * change * part) * part * TICK
        rate += change
    return height


# ---- Five families of encounters: how the aircraft of each intend to climb and descend.


def straight(chance: Chance, meeting: Floats) -> Floats:
    """Plan flights that are level, or climb or descend steadily."""
    climbs = climbing(_gentle(chance, 8, 40))
    set_heights(climbs, meeting, _level(chance), chance.normal(0, 350))
    return climbs


def level_off(chance: Chance, meeting: Floats) -> Floats:
    """Plan flights of which one or both climb or descend towards the other, and level off short of it."""
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
    """Plan flights that are apart until one climbs or descends steeply, shortly before the meeting."""
    who, way = _who(chance), chance.sign()
    climbs = climbing(_gentle(chance, 5, 20))
    start, push = meeting - chance.uniform(6.5, 12.5), G * chance.uniform(0.28, 0.5)
    manoeuvre(climbs, who, start, way * chance.uniform(45, 80), push)
    set_heights(climbs, meeting, _level(chance), chance.normal(0, 100))
    return climbs


def cross_and_return(chance: Chance, meeting: Floats) -> Floats:
    """Plan flights that cross in height early, then both turn back towards each other."""
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
    """Plan flights that would pass close by; `cross_in_delay` lets one cross the other's height."""
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
    """Draw rates of both aircraft: level, or up or down between `least` and `most`."""
    moving = chance.sign((2,)) * chance.uniform(least, most, (2,))
    return np.where(chance.happens(0.55, (2,)), 0, moving)


def _who(chance: Chance) -> Whole:
    return chance.happens(0.5).astype(np.int64)


def _two_over_one(who: Whole) -> Floats:
    """Return 1 where `who` is aircraft 1, −1 where it is aircraft 2: turns "the other over it" into "2 over 1"."""
    return np.where(who == 0, 1.0, -1.0)


def _level(chance: Chance) -> Floats:
    return chance.uniform(5_000, 20_000)


@dataclass(frozen=True)
class Family:
    """A type of encounter, and the numbers to make without and with a near mid-air collision."""

    name: str
    draw: Callable[[Chance, Floats], Floats]
    """Draws vertical plans for meetings at these times."""
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
    """Draw the candidates first … first + count − 1 of a family; return their streams too, for later draws."""
    chance = Chance(seed, number, np.arange(first, first + count))
    meeting, paths, biases = draw_meeting(chance)
    return Plans(meeting, paths, FAMILIES[number].draw(chance, meeting), biases), chance
