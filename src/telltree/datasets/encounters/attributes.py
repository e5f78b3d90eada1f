"""The 77 attributes of an encounter: 36 of each aircraft, 5 of both."""

from typing import NamedTuple

from telltree.data import Column, ColumnType, Schema

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


class Kind(NamedTuple):
    """A physical quantity: its unit, and the constants worth asking about."""

    unit: str | None
    thresholds: tuple[float, ...]


def _both_ways(*values: float) -> tuple[float, ...]:
    return (*(-value for value in reversed(values)), 0.0, *values)


KINDS = {
    "altitude": Kind("ft", tuple(range(4_000, 22_001, 1_000))),
    "vertical rate": Kind("ft/s", _both_ways(5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80)),
    "vertical acceleration": Kind("ft/s²", _both_ways(2, 4, 6, 8, 10, 12, 14)),
    "vertical distance": Kind("ft", _both_ways(50, 100, 150, 200, 300, 400, 500, 750, 1_000, 1_500)),
    "heading": Kind("°", tuple(range(-180, 181, 30))),
    "turn rate": Kind("°/s", _both_ways(0.1, 0.2, 0.3, 0.4)),
    "ground speed": Kind("ft/s", tuple(range(250, 701, 50))),
    "position": Kind("ft", _both_ways(5_000, 10_000, 15_000, 20_000, 30_000, 40_000)),
    "range": Kind("ft", (250, 500, 750, 1_000, 1_500, 2_000, 3_000, 5_000, 10_000, 15_000, 20_000, 30_000)),
    "range rate": Kind("ft/s", _both_ways(50, 100, 200, 400, 600, 800, 1_000, 1_200)),
    "bearing": Kind("°", tuple(range(-180, 181, 30))),
    "time": Kind("s", (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 35, 40)),
    "number of advisories": Kind(None, (1, 2, 3, 4, 5, 6)),
    "worth": Kind(None, _both_ways(0.001, 0.003, 0.01, 0.03, 0.1, 0.3)),
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
"""Attributes that tell when the aircraft are close, which nearly is the label: a grammar may leave them out."""


def schema() -> Schema:
    """What the columns of the panel are: those of aircraft 1, those of aircraft 2, and those of both."""
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
