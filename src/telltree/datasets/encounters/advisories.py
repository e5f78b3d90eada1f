"""Advisories: the rates they ask for, the order in which they may follow each other, and their costs.

Heights are in feet, rates in feet per second. A relative height is the intruder's minus own.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy as np

from telltree.compiled import small

COC, DNC, DND, DES1500, CL1500, SDES1500, SCL1500, SDES2500, SCL2500 = range(9)
"""Clear of conflict; do not climb, do not descend; descend, climb at 1,500 ft/min; strengthened to 1,500, to 2,500."""

NUMBER = 9
TARGET = np.array([0.0, 0.0, 0.0, -25.0, 25.0, -25.0, 25.0, -41.67, 41.67])
"""The rate that an advisory asks for; a rate beyond it complies too."""
PUSH = np.array([0.0, -8.33, 8.33, -8.33, 8.33, -10.7, 10.7, -10.7, 10.7])
"""The acceleration of a responding aircraft, ft/s², until its rate complies."""
SPREAD = np.array([3.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
"""The acceleration is PUSH with probability 1/2, and SPREAD more or less with probability 1/4 each."""
LAST_NEXT = np.array([4, 4, 4, 6, 6, 8, 8, 8, 8])
"""The last advisory that may follow each: strengthened ones only after those they strengthen."""

FASTEST = 100.0
NEAR_AT_END = 175.0  # closer than this when horizontal separation is lost counts as a collision
COLLISION = 1.0
NOT_ALLOWED = 1.0
CROSSING_PREVENTIVE, CROSSING_FAR = 1.0, 0.01
CORRECTIVE, CORRECTIVE_SLOW, CORRECTIVE_FAR, PREVENTIVE_SLOW = 1e-5, 0.1, 0.03, 0.01
REVERSAL, STRENGTHENING, WEAKENING = 8e-3, 5e-3, 1e-3
LEVEL, LEVEL_FAST, OTHER_FAST = 1e-4, 5e-4, 1.5e-3
ALERT_SLOW, ALERT_FAST, ALERT_CHANGE = 2.3e-3, 1.5e-3, 3e-5
CLEAR = 1e-9  # the reward of clear of conflict
FAST, SLOW, MIDDLING = 50.0, 100 / 3, 200 / 3  # vertical closure


@small
def sense(advisory):
    """Return 1 for up, −1 for down, 0 for clear of conflict."""
    return 0 if advisory == COC else 1 - 2 * (advisory & 1)


@small
def complies(advisory, rate):
    """Return True if the rate complies with the advisory."""
    direction = sense(advisory)
    return direction * rate >= direction * TARGET[advisory]


@small
def reverses(advisory, before):
    """Return True if an advisory has the opposite sense of the one before."""
    return sense(advisory) * sense(before) < 0


@small
def _cost_of_sense(h, closure, direction, corrective):
    """Return the cost of crossing the intruder's height, and of an alert that is not urgent."""
    far, crossing = abs(h), h * direction > 0
    cost = 0.0
    if crossing and not corrective:
        cost += CROSSING_PREVENTIVE
    if crossing and far > 500:
        cost += CROSSING_FAR
    if corrective:
        cost += CORRECTIVE
        if far > 650 and closure < SLOW:
            cost += CORRECTIVE_SLOW
        if far > 1000 and closure < MIDDLING:
            cost += CORRECTIVE_FAR
    elif far > 650 and closure < SLOW:
        cost += PREVENTIVE_SLOW
    return cost


@small
def reward(h, own, intruder, before, advisory):
    """Return the immediate reward of `advisory` after `before`; all but clear of conflict cost something."""
    cost = NOT_ALLOWED if advisory > LAST_NEXT[before] else 0.0
    if advisory == COC:
        return CLEAR - cost
    closure = abs(own - intruder)
    corrective = not complies(advisory, own)
    cost += _cost_of_sense(h, closure, sense(advisory), corrective)
    if reverses(advisory, before):
        cost += REVERSAL
    elif advisory > before:  # as published: every first advisory counts as a strengthening
        cost += STRENGTHENING
    elif advisory < before:
        cost += WEAKENING
    if advisory <= DND:
        cost += LEVEL
    if closure > FAST:
        cost += ALERT_FAST + (LEVEL_FAST if advisory <= DND else OTHER_FAST)
    if closure < FAST:
        cost += ALERT_SLOW
    if corrective:
        cost += ALERT_CHANGE * abs(TARGET[advisory] - own)
    return -cost
