"""The collision avoidance logic on board, which advises once a second from its cached table."""

import hashlib
import logging
import math
from pathlib import Path
from types import ModuleType

import numpy as np
import platformdirs
from numpy.typing import ArrayLike, NDArray

from telltree.compiled import kernel, small
from telltree.datasets.encounters import advisories, logic_table
from telltree.datasets.encounters.advisories import COC, NUMBER, reverses, reward, sense
from telltree.datasets.encounters.logic_table import (
    HEIGHTS,
    RATES,
    SECONDS,
    Table,
    locate,
    response_chance,
    solve_table,
    usable_cores,
)
from telltree.errors import SettingsError
from telltree.files import write_whole

# ---- The logic on board, once a second: the time left, the best permitted advisory, and coordination.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


LOST = 500.0  # ft; horizontal separation is lost below it
MISS_TO_ALERT, MISS_TO_STAY = 2000.0, 3000.0  # ft; a projected miss beyond these needs no advisory
SAME_SENSE_WAIT, OTHER_WAIT = 30, 50  # ticks of 0.1 s between changes; clear of conflict counts as "other"
NOBODY = -1

ADVISORY, CHANGED, FOLLOWS, AWAITS, DUE, SHARP, SHARP_NEXT = range(7)
"""The state of an aircraft's crew, all integers: advisory shown and the tick it changed at, advisory followed,
advisory awaited (NOTHING if none) and the tick it is due at, and flags that these call for the larger acceleration.
"""
CREW = 7
NOTHING = -1


@small
def time_left(x, y, vx, vy, alerted):
    """Return the seconds until the range is under LOST, at least 1; SECONDS if they diverge or pass far apart."""
    speed = vx * vx + vy * vy
    closing = -(x * vx + y * vy)
    if closing <= 0.0:
        return 1.0 * SECONDS
    miss = abs(x * vy - y * vx) / math.sqrt(speed)
    if miss > (MISS_TO_STAY if alerted else MISS_TO_ALERT):
        return 1.0 * SECONDS
    inside = math.sqrt(max(LOST * LOST - miss * miss, 0.0) / speed)
    return min(max(closing / speed - inside, 1.0), 1.0 * SECONDS)


@small
def appraise(table, h, own, intruder, seconds, before, responds, worth):
    """Write the value of each advisory in this state into `worth`."""
    layer = table[int(seconds + 0.5) - 1]
    h_cell, h_share = locate(HEIGHTS, h)
    own_cell, own_share = locate(RATES, own)
    cell, share = locate(RATES, intruder)
    for advisory in range(NUMBER):
        worth[advisory] = reward(h, own, intruder, before, advisory)
    for corner in range(8):
        a, b, c = corner & 1, (corner >> 1) & 1, corner >> 2
        weight = h_share if a else 1.0 - h_share
        weight *= own_share if b else 1.0 - own_share
        weight *= share if c else 1.0 - share
        promise = layer[h_cell + a, own_cell + b, cell + c]
        for advisory in range(NUMBER):
            chance = response_chance(before, responds, advisory)
            worth[advisory] += weight * (chance * promise[1, advisory] + (1.0 - chance) * promise[0, advisory])


@small
def may_follow(advisory, before, wait, banned, leads):
    """Return True if an advisory may be shown `wait` ticks after the last change.

    `banned` is the sense of the other aircraft's advisory if that came first, else 0; only the aircraft that `leads`
    may reverse.
    """
    if banned != 0 and sense(before) == banned:  # the other has reversed, so this one must follow
        return sense(advisory) == -banned
    if banned != 0 and sense(advisory) == banned:
        return False
    if before in (advisory, COC):
        return True
    if reverses(advisory, before):
        return leads and wait >= OTHER_WAIT
    return wait >= (OTHER_WAIT if advisory == COC else SAME_SENSE_WAIT)


@small
def best(worth, before, wait, banned, leads, threat):
    """Return the best permitted advisory; without a threat, clear of conflict as soon as it is permitted."""
    found = NOTHING
    for advisory in range(NUMBER):
        if may_follow(advisory, before, wait, banned, leads) and (found == NOTHING or worth[advisory] > worth[found]):
            found = advisory
    if not threat and may_follow(COC, before, wait, banned, leads):
        return COC
    return found if threat or not may_follow(before, before, wait, banned, leads) else before


@small
def margin(worth, chosen, before, wait, banned, leads):
    """Return the margin of the chosen advisory over the best permitted alternative; 0 if there is none."""
    other = -np.inf
    for advisory in range(NUMBER):
        if advisory != chosen and may_follow(advisory, before, wait, banned, leads):
            other = max(other, worth[advisory])
    return 0.0 if other == -np.inf else worth[chosen] - other


@small
def decide(table, seen, seconds, threat, tick, crew, leader, worth, margins):
    """Show both crews their advisories, the leader first; return who leads afterwards.

    `seen` has a row for each aircraft: height and vertical rate. Crews learn of changes in `flight.hear`; here only
    ADVISORY and CHANGED are set.
    """
    head = max(leader, 0)
    for turn in range(2):
        i = head if turn == 0 else 1 - head
        before, other = crew[i, ADVISORY], crew[1 - i, ADVISORY]
        h, own, intruder = seen[1 - i, 0] - seen[i, 0], seen[i, 1], seen[1 - i, 1]
        responds = 1 if crew[i, FOLLOWS] == before else 0
        appraise(table, h, own, intruder, seconds, before, responds, worth)
        banned = sense(other) if turn == 1 else 0
        wait = tick - crew[i, CHANGED]
        chosen = best(worth, before, wait, banned, leader == i, threat)
        margins[i] = margin(worth, chosen, before, wait, banned, leader == i) if threat else 0.0
        if chosen != before:
            crew[i, ADVISORY], crew[i, CHANGED] = chosen, tick
    if leader != NOBODY and crew[leader, ADVISORY] != COC:
        return leader
    if crew[head, ADVISORY] != COC:
        return head
    return 1 - head if crew[1 - head, ADVISORY] != COC else NOBODY


# ---- The table is solved once and stored in the user's cache folder, under a name derived from its parameters.

logger = logging.getLogger("telltree")

_SHAPE = SECONDS, len(HEIGHTS), len(RATES), len(RATES), 2, advisories.NUMBER
_DIGEST = 32  # bytes of the checksum before the numbers
_STORED = np.dtype("<f4")


def load_table(threads: int) -> Table:
    """Return the table from the cache; if it is missing or damaged, solve it and store it there.

    If nothing can be written, it is solved each time.
    """
    place = cache_path()
    found = _read(place)
    if found is not None:
        return found
    solved = solve_table(threads=threads)
    numbers = solved.astype(_STORED).tobytes()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, hashlib.sha256(numbers).digest() + numbers)
    except OSError as error:
        logger.info("the table of the avoidance logic is not kept: %s", error)
    return solved


def cache_path() -> Path:
    """Return the path of the table for these parameters."""
    parameters = "\n".join(_constants(advisories) + _constants(logic_table))
    name = hashlib.sha256(parameters.encode()).hexdigest()[:16]
    return platformdirs.user_cache_path("telltree", appauthor=False) / f"avoidance-{name}.table"


def _constants(module: ModuleType) -> list[str]:
    """Return all constants of a module, defined or imported: the names in capitals."""
    values = {name: value for name, value in vars(module).items() if name.isupper()}
    return [f"{name} = {np.asarray(value).tolist()!r}" for name, value in sorted(values.items())]


def _read(place: Path) -> Table | None:
    """Return the table in a file, or None if the file is missing or damaged."""
    try:
        content = place.read_bytes()
    except OSError:
        return None
    checksum, numbers = content[:_DIGEST], content[_DIGEST:]
    if hashlib.sha256(numbers).digest() != checksum or len(numbers) != np.prod(_SHAPE) * _STORED.itemsize:
        return None
    return np.frombuffer(numbers, _STORED).reshape(_SHAPE).astype(np.float32)


# ---- The advisories of the logic in given situations, for figures and checks.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


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
    """Return the advisory of a single aircraft, without coordination, as one of `CODES`.

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
