"""The 77 attributes of simulated encounters: their schema, and how they are recorded from flights."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.datasets.encounters import flight_and_pilots as flight
from telltree.datasets.encounters.advisories import CL1500, COC, DES1500, DNC, DND, TARGET
from telltree.datasets.encounters.families import (
    HEADING,
    SPEED,
    TURN,
    Chance,
    Floats,
    Plans,
    Whole,
    positions,
)
from telltree.datasets.encounters.flight_and_pilots import STEPS
from telltree.datasets.encounters.logic_table import SECONDS
from telltree.panel import Column, ColumnType, Schema
from telltree.panel.store import Array, Code, Flag

# ---- The 77 attributes of an encounter: 36 of each aircraft, 5 of both.

ADVISORIES = (
    "Clear of Conflict",
    "Do Not Climb",
    "Do Not Descend",
    "Descend",
    "Climb",
    "Descend Now",
    "Climb Now",
    "Increase Descent",
    "Increase Climb",
    "Level-off, Do Not Climb",
    "Level-off, Do Not Descend",
    "Crossing Descend",
    "Crossing Climb",
)
"""The displayed names; the first nine in the numbering of the logic. Adding `LEVEL_OFF` or `CROSSING` gives the other
names of two pairs: where they ask for a change of rate, and where they cross the other's altitude.
"""
LEVEL_OFF, CROSSING = 8, 8  # from DNC, DND and from DES1500, CL1500 to their other names

SENSES = ("none", "up", "down")
PILOT_PHASES = ("none", "delay", "following")
FLIGHT_PHASES = ("level", "climb", "descend")
TRENDS = ("closing", "steady", "opening")
FIRSTS = ("none", "1", "2")
ORDERS = ("1 above", "2 above", "level")


class PhysicalKind(NamedTuple):
    """A physical quantity: its unit, and the constants worth asking about."""

    unit: str | None
    thresholds: tuple[float, ...]


def _both_ways(*values: float) -> tuple[float, ...]:
    return (*(-value for value in reversed(values)), 0.0, *values)


KINDS = {
    "altitude": PhysicalKind("ft", tuple(range(4_000, 22_001, 1_000))),
    "vertical rate": PhysicalKind("ft/s", _both_ways(5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80)),
    "vertical acceleration": PhysicalKind("ft/s²", _both_ways(2, 4, 6, 8, 10, 12, 14)),
    "vertical distance": PhysicalKind("ft", _both_ways(50, 100, 150, 200, 300, 400, 500, 750, 1_000, 1_500)),
    "heading": PhysicalKind("°", tuple(range(-180, 181, 30))),
    "turn rate": PhysicalKind("°/s", _both_ways(0.1, 0.2, 0.3, 0.4)),
    "ground speed": PhysicalKind("ft/s", tuple(range(250, 701, 50))),
    "position": PhysicalKind("ft", _both_ways(5_000, 10_000, 15_000, 20_000, 30_000, 40_000)),
    "range": PhysicalKind("ft", (250, 500, 750, 1_000, 1_500, 2_000, 3_000, 5_000, 10_000, 15_000, 20_000, 30_000)),
    "range rate": PhysicalKind("ft/s", _both_ways(50, 100, 200, 400, 600, 800, 1_000, 1_200)),
    "bearing": PhysicalKind("°", tuple(range(-180, 181, 30))),
    "time": PhysicalKind("s", (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 35, 40)),
    "number of advisories": PhysicalKind(None, (1, 2, 3, 4, 5, 6)),
    "worth": PhysicalKind(None, _both_ways(0.001, 0.003, 0.01, 0.03, 0.1, 0.3)),
}
"""Thresholds with a scale and resolution that suit each kind of real attribute."""

_REALS = {  # name: kind, phrase
    "altitude": ("altitude", "altitude of aircraft {}"),
    "vertical_rate": ("vertical rate", "vertical rate of aircraft {}"),
    "vertical_acceleration": ("vertical acceleration", "vertical acceleration of aircraft {}"),
    "commanded_rate": ("vertical rate", "vertical rate that pilot {} steers for"),
    "target_rate": ("vertical rate", "vertical rate that advisory {} asks for"),
    "heading": ("heading", "heading of aircraft {}"),
    "turn_rate": ("turn rate", "turn rate of aircraft {}"),
    "ground_speed": ("ground speed", "ground speed of aircraft {}"),
    "x": ("position", "x position of aircraft {}"),
    "y": ("position", "y position of aircraft {}"),
    "relative_altitude": ("vertical distance", "altitude of the other over aircraft {}"),
    "relative_rate": ("vertical rate", "vertical rate of the other relative to aircraft {}"),
    "vertical_miss": ("vertical distance", "projected vertical miss of aircraft {}"),
    "range": ("range", "range measured by aircraft {}"),
    "range_rate": ("range rate", "range rate measured by aircraft {}"),
    "bearing": ("bearing", "bearing of the other from aircraft {}"),
    "tau": ("time", "time to loss of separation for aircraft {}"),
    "since_alert": ("time", "time since alert {}"),
    "since_change": ("time", "time since advisory {} changed"),
    "advisories": ("number of advisories", "number of advisories to aircraft {}"),
    "cost_margin": ("worth", "margin of advisory {} over the next best"),
}
_BOOLEANS = {
    "active": "advisory {} is active",
    "corrective": "advisory {} is corrective",
    "crossing": "advisory {} crosses the other's altitude",
    "reversal": "advisory {} is a reversal",
    "strengthening": "advisory {} is a strengthening",
    "weakening": "advisory {} is a weakening",
    "responding": "pilot {} is responding",
    "in_delay": "pilot {} is in the response delay",
    "complying": "aircraft {} complies with its advisory",
    "coordinated": "advisory {} is bound by that of the other aircraft",
    "converging_vertically": "aircraft {} converges vertically",
}
_CATEGORIES = {
    "advisory": ("advisory {}", ADVISORIES),
    "sense": ("sense of advisory {}", SENSES),
    "pilot_phase": ("phase of pilot {}", PILOT_PHASES),
    "flight_phase": ("flight phase of aircraft {}", FLIGHT_PHASES),
}
_SHARED = (
    Column("converging", ColumnType.BOOLEAN, phrase="the aircraft converge horizontally"),
    Column("both_active", ColumnType.BOOLEAN, phrase="both advisories are active"),
    Column("separation_trend", ColumnType.CATEGORICAL, phrase="trend of the horizontal separation", levels=TRENDS),
    Column("first_to_alert", ColumnType.CATEGORICAL, phrase="first aircraft to be alerted", levels=FIRSTS),
    Column("altitude_order", ColumnType.CATEGORICAL, phrase="order in altitude", levels=ORDERS),
)

_NEARLY_THE_LABEL = ("range", "range_rate", "x", "y", "bearing", "tau")
PROXIMITY = (*(f"{name}_{number}" for number in (1, 2) for name in _NEARLY_THE_LABEL), "separation_trend")
"""Attributes that show when the aircraft are close, which nearly is the label: grammars may leave them out."""


def schema() -> Schema:
    """Return the columns of the panel: those of aircraft 1, of aircraft 2, and of both."""
    return Schema([*_of_aircraft(1), *_of_aircraft(2), *_SHARED])


def _of_aircraft(number: int) -> list[Column]:
    columns = []
    for name, (kind, phrase) in _REALS.items():
        unit, thresholds = KINDS[kind]
        words = phrase.format(number)
        columns.append(Column(f"{name}_{number}", ColumnType.REAL, kind, unit, words, thresholds))
    for name, phrase in _BOOLEANS.items():
        columns.append(Column(f"{name}_{number}", ColumnType.BOOLEAN, phrase=phrase.format(number)))
    for name, (phrase, levels) in _CATEGORIES.items():
        column = Column(f"{name}_{number}", ColumnType.CATEGORICAL, phrase=phrase.format(number), levels=levels)
        columns.append(column)
    return columns


# ---- Flights -> records: what the systems on board knew, with noise, bias and quantisation.

NOT_YET = 50.0  # s; stands for the time since something that has not happened yet
STEADY_RANGE = 100.0  # ft/s; a range that changes more slowly is steady
LEVEL_RATE = 5.0  # ft/s; a slower rate is level
LEVEL_ALTITUDE = 50.0  # ft; a smaller difference is level with each other
NEARLY = 2.0  # ft/s; a rate short of its target by less than this complies
FARTHEST_MISS = 8000.0

Columns = dict[str, Array]


def record(plans: Plans, trace: Floats, chance: Chance) -> Columns:
    """Return the columns of these flights, each encounter × step, those of aircraft as name_1 and name_2."""
    motion = _motion(plans, trace, chance)
    near = _encounter_geometry(plans, trace, motion, chance)
    shown = trace[..., flight.SHOWN].astype(np.int64)
    logic = _advisories(shown, trace[..., flight.MARGIN], motion, near)
    crew = _crew(shown, trace, motion, near)
    columns: Columns = {}
    for group in (motion, near, logic, crew):
        for name, values in group.items():
            columns[f"{name}_1"], columns[f"{name}_2"] = values[..., 0], values[..., 1]
    return columns | _shared(plans, motion, near, shown)


def _motion(plans: Plans, trace: Floats, chance: Chance) -> dict[str, Floats]:
    """Return the motion of each aircraft as it measures it: encounter, step, aircraft."""
    shape = STEPS, 2
    seconds = np.arange(STEPS, dtype=np.float64)
    place = positions(plans.paths, seconds[None]).swapaxes(1, 2) + chance.normal(0, 30, (*shape, 2))
    heading = plans.paths[:, None, :, HEADING] + plans.paths[:, None, :, TURN] * seconds[:, None]
    turn = np.degrees(plans.paths[:, None, :, TURN]) + chance.normal(0, 0.03, shape)
    altitude = trace[..., flight.HEIGHT] + plans.biases[:, None]
    acceleration = trace[..., flight.ACCELERATION] + chance.normal(0, 0.5, shape)
    return {
        "altitude": np.round(altitude / 25) * 25,
        "vertical_rate": np.round(trace[..., flight.SPEED] + chance.normal(0, 1, shape), 1),
        "vertical_acceleration": np.round(acceleration, 1),
        "commanded_rate": np.round(trace[..., flight.COMMAND], 1),
        "heading": _turned(np.degrees(heading) + chance.normal(0, 0.5, shape)),
        "turn_rate": np.round(turn, 2),
        "ground_speed": np.round(plans.paths[:, None, :, SPEED] + chance.normal(0, 3, shape)),
        "x": np.round(place[..., 0]),
        "y": np.round(place[..., 1]),
    }


def _encounter_geometry(plans: Plans, trace: Floats, motion: dict[str, Floats], chance: Chance) -> dict[str, Floats]:
    """Return the other aircraft as each sees it: its altitude is received, its range and bearing are measured."""
    shape = STEPS, 2
    reported, own = motion["altitude"][..., ::-1], trace[..., flight.HEIGHT] + plans.biases[:, None]
    height = np.round(reported - own + chance.normal(0, 15, shape))
    rate = motion["vertical_rate"][..., ::-1] + chance.normal(0, 1, shape) - motion["vertical_rate"]
    apart, closing = _horizontal(plans)
    distance = np.linalg.norm(apart, axis=-1)
    range_rate = np.sum(apart * closing, axis=-1) / distance
    left = trace[..., flight.TIME_LEFT]
    tau = np.where(left < SECONDS, np.clip(left + chance.normal(0, 0.3, shape), 1, SECONDS), SECONDS)
    bearing = np.degrees(np.arctan2(apart[..., 0], apart[..., 1]))[..., None] + [0, 180] - motion["heading"]
    ahead = np.where(range_rate < 0, 1, 0)[..., None] * tau
    return {
        "relative_altitude": height,
        "relative_rate": np.round(rate, 1),
        "vertical_miss": np.clip(np.round(height + rate * ahead), -FARTHEST_MISS, FARTHEST_MISS),
        "range": np.abs(np.round(distance[..., None] + chance.normal(0, 40, shape))),
        "range_rate": np.round(range_rate[..., None] + chance.normal(0, 10, shape)),
        "bearing": _turned(bearing + chance.normal(0, 3, shape)),
        "tau": np.round(tau, 1),
    }


def _horizontal(plans: Plans) -> tuple[Floats, Floats]:
    """Return the true position of aircraft 2 relative to aircraft 1 at each step, and its rate of change."""
    seconds = np.arange(STEPS, dtype=np.float64)
    here = positions(plans.paths, seconds[None])
    heading = plans.paths[..., HEADING, None] + plans.paths[..., TURN, None] * seconds
    velocity = plans.paths[..., SPEED, None, None] * np.stack([np.sin(heading), np.cos(heading)], axis=-1)
    return here[:, 1] - here[:, 0], velocity[:, 1] - velocity[:, 0]


def _advisories(shown: Whole, margin: Floats, motion: dict[str, Floats], near: dict[str, Floats]) -> Columns:
    """Return the advisories on display, and properties of their last change, which hold until the next."""
    before = np.concatenate([np.zeros_like(shown[:, :1]), shown[:, :-1]], axis=1)
    changed, active = shown != before, shown != COC
    sense = _sense(shown)
    same = sense == _sense(before)
    last = np.maximum.accumulate(np.where(changed, np.arange(STEPS)[:, None], -1), axis=1)

    def held(came: NDArray[np.bool_]) -> NDArray[np.bool_]:
        still: NDArray[np.bool_] = np.take_along_axis(came, np.maximum(last, 0), axis=1) & active
        return still

    corrective = held(~_complies(shown, motion["vertical_rate"]))
    crossing = held(sense * near["relative_altitude"] > 0)
    name = shown + np.where(np.isin(shown, (DNC, DND)) & corrective, LEVEL_OFF, 0)
    name += np.where(np.isin(shown, (DES1500, CL1500)) & crossing, CROSSING, 0)
    return {
        "target_rate": TARGET[shown],
        "since_alert": _since(changed & (before == COC)),
        "since_change": _since(changed),
        "advisories": np.cumsum(changed & active, axis=1, dtype=np.float64),
        "cost_margin": np.round(margin, 6),
        "active": active,
        "corrective": corrective,
        "crossing": crossing,
        "reversal": held(~same & (before != COC)),
        "strengthening": held(same & (shown > before)),
        "weakening": held(same & (shown < before)),
        "advisory": name.astype(Code),
        "sense": np.where(sense < 0, 2, sense).astype(Code),
    }


def _crew(shown: Whole, trace: Floats, motion: dict[str, Floats], near: dict[str, Floats]) -> Columns:
    """Return the responses of the pilots, and their consequences."""
    followed, awaited = trace[..., flight.FOLLOWED], trace[..., flight.AWAITED]
    rate, active = motion["vertical_rate"], shown != COC
    phase = np.where(followed > COC, 2, np.where(awaited > COC, 1, 0))
    return {
        "responding": active & (followed == shown),
        "in_delay": awaited > COC,
        "complying": active & _complies(shown, rate),
        "coordinated": trace[..., flight.RESTRAINED] != 0,
        "converging_vertically": near["relative_altitude"] * near["relative_rate"] < 0,
        "pilot_phase": phase.astype(Code),
        "flight_phase": np.where(rate > LEVEL_RATE, 1, np.where(rate < -LEVEL_RATE, 2, 0)).astype(Code),
    }


def _shared(plans: Plans, motion: dict[str, Floats], near: dict[str, Floats], shown: Whole) -> Columns:
    """Return the attributes of both aircraft together."""
    apart, closing = _horizontal(plans)
    range_rate, active = near["range_rate"].mean(axis=-1), shown != COC
    begun = np.where(active, np.arange(STEPS)[:, None], STEPS).min(axis=1)
    first = np.where(begun[:, 0] <= begun[:, 1], 1, 2)[:, None]
    over = motion["altitude"][..., 0] - motion["altitude"][..., 1]
    return {
        "converging": np.sum(apart * closing, axis=-1) < 0,
        "both_active": active.all(axis=-1),
        "separation_trend": (1 + np.where(np.abs(range_rate) < STEADY_RANGE, 0, np.sign(range_rate))).astype(Code),
        "first_to_alert": np.where(np.maximum.accumulate(active.any(axis=-1), axis=1), first, 0).astype(Code),
        "altitude_order": np.where(np.abs(over) < LEVEL_ALTITUDE, 2, over < 0).astype(Code),
    }


def _sense(shown: Whole) -> Whole:
    return np.where(shown == COC, 0, 1 - 2 * (shown & 1))


def _complies(shown: Whole, rate: Floats) -> NDArray[np.bool_]:
    """Return True where a measured rate complies with the advisory, or nearly."""
    enough: NDArray[np.bool_] = _sense(shown) * (rate - TARGET[shown]) >= -NEARLY
    return enough


def _since(events: NDArray[np.bool_]) -> Floats:
    """Return the seconds since the last event; NOT_YET where there was none."""
    steps = np.arange(STEPS, dtype=np.float64)[:, None]
    return np.minimum(steps - np.maximum.accumulate(np.where(events, steps, -np.inf), axis=1), NOT_YET)


def _turned(degrees: Floats) -> Floats:
    """Return the same direction, between −180° and 180°."""
    turned: Floats = np.round((degrees + 180) % 360 - 180, 1)
    return turned


def encoded(values: Array) -> Array:
    """Return a column as panels store it: flags as small integers, one value after another."""
    return np.ascontiguousarray(values.astype(Flag) if values.dtype == np.bool_ else values).reshape(-1)
