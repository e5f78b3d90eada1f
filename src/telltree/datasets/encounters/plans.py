"""What two aircraft intend: where they meet and how they climb, for many encounters at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from telltree.datasets.encounters.chance import Chance
from telltree.datasets.encounters.flight import (
    ALTITUDE,
    END,
    GENTLE,
    MANOEUVRES,
    MOST_MANOEUVRES,
    PLAN,
    RATE,
    TICK,
)

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

X, Y, SPEED, HEADING, TURN = range(5)  # of a path at the start; headings in radians from north, clockwise
NEVER = 1e9  # the start of a manoeuvre that is not flown
G = 32.2  # ft/s²


@dataclass(frozen=True)
class Plans:
    """Encounters that might be flown; `meeting` is when the aircraft are closest horizontally."""

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
    """Draw when the aircraft meet, the paths that lead there, and the errors of their altimeters."""
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
    """Where steadily turning aircraft are: encounter, aircraft, time, x and y. `times`: a row for each, or one."""
    half = paths[..., TURN, None] * times[:, None] / 2
    chord = paths[..., SPEED, None] * times[:, None] * np.sinc(half / np.pi)
    along = paths[..., HEADING, None] + half
    steps = np.stack([chord * np.sin(along), chord * np.cos(along)], axis=-1)
    return paths[:, :, None, : Y + 1] + steps


def offsets(paths: Floats) -> Floats:
    """The offset of aircraft 2 from aircraft 1, at each tick of the flight and one more: encounter, tick, x and y."""
    found = positions(paths, TICK * np.arange(END + 2, dtype=np.float64)[None])
    return np.ascontiguousarray(found[:, 1] - found[:, 0])


def climbing(rates: Floats) -> Floats:
    """Vertical plans with constant rates: encounter, aircraft."""
    climbs = np.zeros((*rates.shape, PLAN))
    climbs[..., RATE] = rates
    climbs[..., MANOEUVRES::3] = NEVER
    climbs[..., MANOEUVRES + 2 :: 3] = GENTLE
    return climbs


def manoeuvre(climbs: Floats, who: Whole, start: Floats, rate: Floats, push: Floats, *, number: int = 0) -> None:
    """Add to the plan of one aircraft of each encounter; a later manoeuvre has a higher number."""
    place = MANOEUVRES + 3 * number
    climbs[np.arange(len(who)), who, place : place + 3] = np.stack([start, rate, push], axis=1)


def set_heights(climbs: Floats, when: Floats, level: Floats, miss: Floats) -> None:
    """Set the initial heights so that aircraft 1 is at `level` at a given time, and aircraft 2 is higher by `miss`."""
    climbs[..., ALTITUDE] = np.stack([level, level + miss], axis=1) - _climbed(climbs, when)


def _climbed(climbs: Floats, when: Floats) -> Floats:
    """How far each aircraft climbs until then, flown as in `flight.fly` without advisories."""
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
