"""Flights -> records: what the systems on board knew, with noise, bias and quantisation."""

import numpy as np
from numpy.typing import NDArray

from telltree.data.store import Array, Code, Flag
from telltree.datasets.encounters import flight
from telltree.datasets.encounters.advisories import CL1500, COC, DES1500, DNC, DND, TARGET
from telltree.datasets.encounters.attributes import CROSSING, LEVEL_OFF
from telltree.datasets.encounters.chance import Chance
from telltree.datasets.encounters.flight import STEPS
from telltree.datasets.encounters.plans import HEADING, SPEED, TURN, Floats, Plans, Whole, positions
from telltree.datasets.encounters.table import SECONDS

NOT_YET = 50.0  # s; stands for the time since something that has not happened yet
STEADY_RANGE = 100.0  # ft/s; a range that changes more slowly is steady
LEVEL_RATE = 5.0  # ft/s; a slower rate is level
LEVEL_ALTITUDE = 50.0  # ft; a smaller difference is level with each other
NEARLY = 2.0  # ft/s; a rate short of its target by less than this complies
FARTHEST_MISS = 8000.0

Columns = dict[str, Array]


def record(plans: Plans, trace: Floats, chance: Chance) -> Columns:
    """The columns of these flights, each encounter × step, those of aircraft as name_1 and name_2."""
    motion = _motion(plans, trace, chance)
    near = _encounter_geometry(plans, trace, motion, chance)
    shown = trace[..., flight.SHOWN].astype(np.int64)
    told = _advisories(shown, trace[..., flight.MARGIN], motion, near)
    crew = _crew(shown, trace, motion, near)
    columns: Columns = {}
    for group in (motion, near, told, crew):
        for name, values in group.items():
            columns[f"{name}_1"], columns[f"{name}_2"] = values[..., 0], values[..., 1]
    return columns | _shared(plans, motion, near, shown)


def _motion(plans: Plans, trace: Floats, chance: Chance) -> dict[str, Floats]:
    """What each aircraft knows of its own motion: encounter, step, aircraft."""
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
    """What each aircraft knows of the other: it receives the other's altitude, and measures its range and bearing."""
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
    """The true position of aircraft 2 relative to aircraft 1 at each step, and its rate of change."""
    seconds = np.arange(STEPS, dtype=np.float64)
    here = positions(plans.paths, seconds[None])
    heading = plans.paths[..., HEADING, None] + plans.paths[..., TURN, None] * seconds
    velocity = plans.paths[..., SPEED, None, None] * np.stack([np.sin(heading), np.cos(heading)], axis=-1)
    return here[:, 1] - here[:, 0], velocity[:, 1] - velocity[:, 0]


def _advisories(shown: Whole, margin: Floats, motion: dict[str, Floats], near: dict[str, Floats]) -> Columns:
    """What the logic on board shows, and how that came about; what was true at a change holds until the next."""
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
    """What the pilots do about it, and the consequences."""
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
    """The attributes of both aircraft together."""
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
    """Whether a measured rate complies with the advisory, or nearly."""
    enough: NDArray[np.bool_] = _sense(shown) * (rate - TARGET[shown]) >= -NEARLY
    return enough


def _since(events: NDArray[np.bool_]) -> Floats:
    """Seconds since the last event; NOT_YET where there was none."""
    steps = np.arange(STEPS, dtype=np.float64)[:, None]
    return np.minimum(steps - np.maximum.accumulate(np.where(events, steps, -np.inf), axis=1), NOT_YET)


def _turned(degrees: Floats) -> Floats:
    """The same direction, between −180° and 180°."""
    turned: Floats = np.round((degrees + 180) % 360 - 180, 1)
    return turned


def encoded(values: Array) -> Array:
    """A column as panels store it: flags as small integers, and one value after another."""
    return np.ascontiguousarray(values.astype(Flag) if values.dtype == np.bool_ else values).reshape(-1)
