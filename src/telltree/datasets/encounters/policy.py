"""What the logic would advise in given situations, for figures and checks."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy as np
from numpy.typing import ArrayLike, NDArray

from telltree.compiled import kernel
from telltree.datasets.encounters.advisories import COC, NUMBER
from telltree.datasets.encounters.avoidance import appraise
from telltree.datasets.encounters.cache import load_table
from telltree.datasets.encounters.table import SECONDS, usable_cores
from telltree.errors import SettingsError

CODES = ("COC", "DNC", "DND", "DES1500", "CL1500", "SDES1500", "SCL1500", "SDES2500", "SCL2500")
"""Short names of the advisories, as returned by `advised`."""


def advised(
    height: ArrayLike,
    seconds: ArrayLike,
    own_rate: ArrayLike = 0.0,
    intruder_rate: ArrayLike = 0.0,
    *,
    before: str = "COC",
    responds: bool = False,
) -> NDArray[np.str_]:
    """The advisory of a single aircraft, without coordination, as one of `CODES`.

    height: of the intruder over own aircraft, ft. seconds: until horizontal separation is lost, from 1 to 40. The rates
    are vertical, ft/s. The arrays are broadcast against each other. before: the advisory shown so far; responds:
    whether the pilot follows it.
    """
    if before not in CODES:
        raise SettingsError(f"before must be one of {', '.join(CODES)}, got {before!r}")
    states = np.broadcast_arrays(*(np.asarray(part, np.float64) for part in (height, seconds, own_rate, intruder_rate)))
    left = states[1]
    if not np.all((left >= 1) & (left <= SECONDS)):
        raise SettingsError(f"seconds must be between 1 and {SECONDS}, got {left.min():g} to {left.max():g}")
    flat = [state.reshape(-1) for state in states]
    found = np.empty(left.size, np.int64)
    _advise(load_table(usable_cores()), np.stack(flat), CODES.index(before), int(responds), found)
    return np.array(CODES)[found].reshape(left.shape)


@kernel
def _advise(table, states, before, responds, found):
    worth = np.empty(NUMBER)
    for i in range(len(found)):
        h, seconds, own, intruder = states[0, i], states[1, i], states[2, i], states[3, i]
        appraise(table, h, own, intruder, seconds, before, responds, worth)
        found[i] = COC
        for advisory in range(NUMBER):
            if worth[advisory] > worth[found[i]]:
                found[i] = advisory
