"""Flights with named advisories, for figures of single encounters."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.panel import Panel

CLEAR = "Clear of Conflict"
_AIRCRAFT = (1, 2)
_COLUMNS = (
    ("altitude", {"type": "real", "unit": "ft"}, "altitude of aircraft {}"),
    ("vertical_rate", {"type": "real", "unit": "ft/s"}, "vertical rate of aircraft {}"),
    ("advisory", {"type": "categorical"}, "advisory {}"),
    ("pilot_phase", {"type": "categorical"}, "pilot {}"),
)
_VARIANTS = {0: "{}", 1: "Crossing {}", 2: "{} Now", 3: "Increase {}", 4: "Maintain {}"}
"""The forms of names, by vertical control: none of these, crossing, reversal, increase, maintain."""


def advised_flights(panel: Panel) -> Panel:
    """Return for each aircraft altitude, vertical rate, advisory by name and the pilot's response; for both, `nmac`.

    The columns are called as in `make_encounters`, so that `telltree.report.plot_encounter` draws both. Advisories are
    named as in the paper: "Level-off, Do Not Climb" is one that must be acted on, "Do Not Climb" one that is kept to by
    flying on. A pilot is in the response delay while the response timer runs.
    """
    columns: dict[str, dict[str, str]] = {}
    flown: list[NDArray[Any]] = []
    for number in _AIRCRAFT:
        columns |= {f"{name}_{number}": {**column, "phrase": words.format(number)} for name, column, words in _COLUMNS}
        flown += [panel.stacked(f"h_{number}"), panel.stacked(f"vert_rate_{number}")]
        flown += [_advisories(panel, number), _phases(panel, number)]
    columns["nmac"] = {"type": "Boolean", "phrase": "the aircraft are within 500 ft and vertically within 100 ft"}
    flown.append((panel.stacked("horizontal_range") < 500) & (panel.stacked("abs_alt_diff") < 100))
    steps = np.empty((panel.steps, len(flown)), dtype=object)
    for place, values in enumerate(flown):
        steps[:, place] = values
    records = np.split(steps, np.cumsum(panel.lengths)[:-1])
    return Panel.from_arrays(
        records, columns=list(columns), ids=panel.ids.tolist(), schema=columns, period=1.0, time_unit="s"
    )


def _advisories(panel: Panel, number: int) -> NDArray[np.object_]:
    """Return the advisory at each step; before the first and after the last it is "clear of conflict"."""
    up, down, control, combined = (_code(panel, name, number) for name in ("ua", "da", "vc", "cc"))
    preventive = combined == 6
    names = np.full(panel.steps, CLEAR, dtype=object)
    for code, act, hold in ((up, "Climb", "Do Not Descend"), (down, "Descend", "Do Not Climb")):
        for value, name in _VARIANTS.items():
            names[(code == 1) & (control == value)] = name.format(act)
        names[(code == 2) & preventive] = hold
        names[(code == 2) & ~preventive] = f"Level-off, {hold}"
    return names


def _code(panel: Panel, name: str, number: int) -> NDArray[np.int64]:
    """Return the number made of three bits, of which the first counts 4."""
    bits = [panel.stacked(f"{name}{bit}_{number}") == 1 for bit in range(3)]
    found: NDArray[np.int64] = 4 * bits[0].astype(np.int64) + 2 * bits[1] + bits[2]
    return found


def _phases(panel: Panel, number: int) -> NDArray[np.object_]:
    following = panel.stacked(f"response_follow_{number}") == 1
    waiting = ~following & (panel.stacked(f"response_timer_{number}") > 0)
    return np.where(following, "following", np.where(waiting, "delay", "none")).astype(object)
