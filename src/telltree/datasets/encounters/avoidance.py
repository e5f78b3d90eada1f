"""The logic on board, once a second: the time left, the best permitted advisory, and coordination."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import math

import numpy as np

from telltree.compiled import small
from telltree.datasets.encounters.advisories import COC, NUMBER, reverses, reward, sense
from telltree.datasets.encounters.table import HEIGHTS, RATES, SECONDS, locate, response_chance

LOST = 500.0  # ft; horizontal separation is lost below it
MISS_TO_ALERT, MISS_TO_STAY = 2000.0, 3000.0  # ft; a projected miss beyond these needs no advisory
SAME_SENSE_WAIT, OTHER_WAIT = 30, 50  # ticks of 0.1 s between changes; clear of conflict counts as "other"
NOBODY = -1

ADVISORY, CHANGED, FOLLOWS, AWAITS, DUE, SHARP, SHARP_NEXT = range(7)
"""What is known of an aircraft's crew, all integers: advisory shown and the tick it changed at, advisory followed,
advisory awaited (NOTHING if none) and the tick it is due at, and whether these call for the larger acceleration.
"""
CREW = 7
NOTHING = -1


@small
def time_left(x, y, vx, vy, alerted):
    """Seconds until the projected range is under LOST, at least 1; SECONDS if they diverge or would pass far apart."""
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
    """Write the value of each advisory here into `worth`."""
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
    """Whether an advisory may be shown `wait` ticks after the last change.

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
    """The best permitted advisory; without a threat, clear of conflict as soon as it is permitted."""
    found = NOTHING
    for advisory in range(NUMBER):
        if may_follow(advisory, before, wait, banned, leads) and (found == NOTHING or worth[advisory] > worth[found]):
            found = advisory
    if not threat and may_follow(COC, before, wait, banned, leads):
        return COC
    return found if threat or not may_follow(before, before, wait, banned, leads) else before


@small
def margin(worth, chosen, before, wait, banned, leads):
    """How much more the chosen advisory is worth than the best permitted alternative; 0 if there is none."""
    other = -np.inf
    for advisory in range(NUMBER):
        if advisory != chosen and may_follow(advisory, before, wait, banned, leads):
            other = max(other, worth[advisory])
    return 0.0 if other == -np.inf else worth[chosen] - other


@small
def decide(table, seen, seconds, threat, tick, crew, leader, worth, margins):
    """Show both crews their advisories, the leader first; returns who leads afterwards.

    `seen` has a row for each aircraft: height and vertical rate. Crews learn of changes in `cockpit.hear`; here only
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
