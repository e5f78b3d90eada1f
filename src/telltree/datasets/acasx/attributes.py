"""The 77 attributes of an encounter: the English for each, what it measures, and useful thresholds.

The one-bit codes are those that a collision avoidance system sends to its display and to the other aircraft; which bit
means what was read off the data: `cc` counts 1 clear of conflict, 4 corrective upwards, 5 corrective downwards, 6
preventive; `vc` 1 crossing, 2 reversal, 3 increase, 4 maintain; `ua` and `da` 1 climb or descend, 2 do not descend or
do not climb; the first of three bits counts 4. `vrc` has one bit for each of its three values.
"""

from telltree.data import Column, ColumnType, Schema

KINDS: dict[str, tuple[str | None, tuple[float, ...]]] = {  # unit, and the constants of the authors' grammar
    "vertical rate": ("ft/s", (-50, -40, -30, -20, -10, -1, 0, 1, 10, 20, 30, 40, 50)),
    "vertical distance": (
        "ft",
        (-2000, -1500, -1000, -500, -250, -100, -50, -25, -10, -5, -1, 0, 1, 5, 10, 25, 50, 100, 250, 500, 1000, 1500,
         2000),
    ),
    "vertical separation": ("ft", (0, 1, 5, 10, 25, 50, 100, 250, 500, 1000, 1500, 2000)),
    "heading": ("°", (-180, -135, -90, -45, 0, 45, 90, 135, 180)),
    "bearing": ("°", (-180, -135, -90, -45, 0, 45, 90, 135, 180)),
    "range": ("ft", (0, 1, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 7500, 10000, 15000, 20000, 25000, 30000)),
    "time": ("s", (0, 1, 2, 3, 4, 5)),
    "turn rate": ("°/s", tuple(range(-10, 11))),
    "airspeed": ("ft/s", (50, 75, 100, 150, 200, 250, 300, 350, 400, 450, 500)),
    "altitude": ("ft", (1000, 2000, 3000, 5000, 10000, 15000, 18000, 20000, 25000, 29000)),
    "threat score": (None, (100, 200, 300, 400, 500, 800, 1200)),
}  # fmt: skip

_OF_AIRCRAFT: tuple[tuple[str, str, str], ...] = (
    # In the order of the data. Numbers: kind and phrase. Truths: phrase, and the phrase for when it is false. {0} is
    # the aircraft, {1} the other one.
    ("RA", "advisory {0} is active", "advisory {0} is not active"),
    ("vert_rate", "vertical rate", "vertical rate of aircraft {0}"),
    ("alt_diff", "vertical distance", "height of aircraft {1} over aircraft {0}"),
    ("psi", "heading", "heading of aircraft {0}"),
    ("intr_sr", "range", "slant range seen from aircraft {0}"),
    ("intr_chi", "bearing", "bearing of aircraft {1} from aircraft {0}"),
    ("intr_vrc0", "aircraft {0} is told nothing by aircraft {1}", "aircraft {0} is told something by aircraft {1}"),
    ("intr_vrc1", "aircraft {0} is told not to pass below", "aircraft {0} is not told not to pass below"),
    ("intr_vrc2", "aircraft {0} is told not to pass above", "aircraft {0} is not told not to pass above"),
    ("cc0", "advisory {0} is corrective/preventive", "advisory {0} is not corrective/preventive"),
    ("cc1", "advisory {0} is preventive", "advisory {0} is not preventive"),
    ("cc2", "advisory {0} is clear of conflict or downwards and corrective",
     "advisory {0} is neither clear of conflict nor downwards and corrective"),
    ("vc0", "advisory {0} is to maintain the rate", "advisory {0} does not ask to maintain the rate"),
    ("vc1", "advisory {0} is to reverse/increase", "advisory {0} does not ask to reverse/increase"),
    ("vc2", "advisory {0} is to cross/increase", "advisory {0} does not ask to cross/increase"),
    ("ua0", "advisory {0} is to limit the descent", "advisory {0} does not ask to limit the descent"),
    ("ua1", "advisory {0} is against descending", "advisory {0} allows descending"),
    ("ua2", "advisory {0} is to climb", "advisory {0} does not ask to climb"),
    ("da0", "advisory {0} is to limit the climb", "advisory {0} does not ask to limit the climb"),
    ("da1", "advisory {0} is against climbing", "advisory {0} allows climbing"),
    ("da2", "advisory {0} is to descend", "advisory {0} does not ask to descend"),
    ("target_rate", "vertical rate", "rate advised to aircraft {0}"),
    ("crossing", "advisory {0} is crossing", "advisory {0} is not crossing"),
    ("alarm", "alarm {0} sounds", "alarm {0} is silent"),
    ("alert", "aircraft {0} has a traffic alert", "aircraft {0} has no traffic alert"),
    ("intr_out_vrc0", "aircraft {0} tells aircraft {1} nothing", "aircraft {0} tells aircraft {1} something"),
    ("intr_out_vrc1", "aircraft {0} tells the other not to pass below",
     "aircraft {0} does not tell the other not to pass below"),
    ("intr_out_vrc2", "aircraft {0} tells the other not to pass above",
     "aircraft {0} does not tell the other not to pass above"),
    ("intr_out_tds", "threat score", "threat score aboard aircraft {0}"),
    # true while there is no advisory, and during the delay before the response to the first one
    ("response_none", "pilot {0} flies as planned", "pilot {0} responds to an advisory"),
    ("response_stay", "pilot {0} stays with the earlier advisory", "pilot {0} does not stay with the earlier advisory"),
    ("response_follow", "pilot {0} follows the advisory", "pilot {0} does not follow the advisory"),
    ("response_timer", "time", "response time left to pilot {0}"),
    ("response_h_d", "vertical rate", "rate commanded by pilot {0}"),
    ("response_psi_d", "turn rate", "turn rate commanded by pilot {0}"),
    ("v", "airspeed", "airspeed of aircraft {0}"),
    ("h", "altitude", "altitude of aircraft {0}"),
)  # fmt: skip
_OF_BOTH: tuple[tuple[str, str, str], ...] = (
    ("converging", "the aircraft are converging", "the aircraft are not converging"),
    ("abs_alt_diff", "vertical separation", "vertical separation"),
    ("horizontal_range", "range", "horizontal range"),
)


def schema() -> Schema:
    """What the columns are: those of aircraft 1, those of aircraft 2, and those of both."""
    ours = [_column(f"{row[0]}_1", row, 1, 2) for row in _OF_AIRCRAFT]
    theirs = [_column(f"{row[0]}_2", row, 2, 1) for row in _OF_AIRCRAFT]
    return Schema([*ours, *theirs, *(_column(row[0], row, 1, 2) for row in _OF_BOTH)])


def _column(name: str, row: tuple[str, str, str], own: int, other: int) -> Column:
    _, first, second = row
    if first in KINDS:
        unit, thresholds = KINDS[first]
        phrase = second.format(own, other)
        return Column(name, ColumnType.REAL, kind=first, unit=unit, phrase=phrase, thresholds=thresholds)
    phrase, negated = first.format(own, other), second.format(own, other)
    return Column(name, ColumnType.BOOLEAN, phrase=phrase, negated=negated)
