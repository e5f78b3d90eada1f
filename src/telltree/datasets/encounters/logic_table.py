"""The table of the avoidance logic, solved by dynamic programming backwards from the loss of horizontal separation.

The future after an advisory depends on heights, rates, the advisory and whether the pilot responds, but not on the
advisory before. So the table holds that, and the costs of a change are added at lookup.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import itertools
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import kernel, small
from telltree.datasets.encounters.advisories import (
    COC,
    COLLISION,
    FASTEST,
    NEAR_AT_END,
    NUMBER,
    PUSH,
    SPREAD,
    TARGET,
    complies,
    reward,
    sense,
)

Floats = NDArray[np.float64]
Table = NDArray[np.float32]  # seconds − 1, height, own rate, intruder's rate, responds, advisory

VERSION = 1  # of the equations; constants are compared by value
SECONDS = 40
_ABOVE = (25, 50, 75, 100, 150, 200, 300, 400, 500, 600, 700, 850, 1000, 1500, 2000, 3000, 4500, 6000, 8000)
_CLIMBING = (6.25, 12.5, 18.75, 25.0, 31.25, 41.67, 65.0, FASTEST)
HEIGHTS = np.array([-h for h in reversed(_ABOVE)] + [0, *_ABOVE], np.float64)
RATES = np.array([-v for v in reversed(_CLIMBING)] + [0, *_CLIMBING], np.float64)

FIRST_RESPONSE, NEXT_RESPONSE = 1 / 6, 1 / 4  # probability that a pilot responds within a second
ODDS = np.array([0.5, 0.25, 0.25])


def solve_table(heights: Floats = HEIGHTS, rates: Floats = RATES, seconds: int = SECONDS, threads: int = 2) -> Table:
    """Compute the table, backwards from one second before the loss of separation."""
    shape = len(heights), len(rates), len(rates), 2, NUMBER
    table = np.empty((seconds, *shape), np.float32)
    collides = np.where(np.abs(heights) <= NEAR_AT_END, -COLLISION, 0.0)
    ahead = np.broadcast_to(collides[:, None, None, None, None], shape).copy()
    values = np.empty(shape)
    bounds = [len(heights) * part // threads for part in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        for second in range(seconds):
            tasks = [
                pool.submit(_step_back, heights, rates, ahead, table[second], values, first, last)
                for first, last in itertools.pairwise(bounds)
            ]
            for task in tasks:
                task.result()
            ahead, values = values, ahead
    return table


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@small
def locate(grid, x):
    """Return the cell of a grid that holds x, and the share of it below x; x outside is moved to the edge."""
    low, high = 0, len(grid) - 1
    while high - low > 1:
        middle = (low + high) >> 1
        if grid[middle] <= x:
            low = middle
        else:
            high = middle
    share = (x - grid[low]) / (grid[high] - grid[low])
    return low, min(max(share, 0.0), 1.0)


@small
def response_chance(before, responds, advisory):
    """Return the probability, in the model of the table, that the pilot follows the advisory in the next second."""
    if advisory == COC or (responds and before == advisory):
        return 1.0
    if sense(before) == sense(advisory):
        return NEXT_RESPONSE
    return FIRST_RESPONSE


@small
def _changed(rate, push, advisory):
    """Return the rate after a second of acceleration, which stops at the rate that the advisory asks for."""
    if advisory == COC:
        return min(max(rate + push, -FASTEST), FASTEST)
    if complies(advisory, rate):
        return rate
    return TARGET[advisory] if complies(advisory, rate + push) else rate + push


@small
def _outlook(heights, rates, ahead, h, own, intruder, responds, advisory):
    """Return the expected value one second later, over the accelerations of both aircraft."""
    flown = advisory if responds else COC
    total = 0.0
    for i in range(3):
        push = PUSH[flown] + (0.0 if i == 0 else SPREAD[flown] if i == 1 else -SPREAD[flown])
        own_next = _changed(own, push, flown)
        own_cell, own_share = locate(rates, own_next)
        for j in range(3):
            push = 0.0 if j == 0 else SPREAD[COC] if j == 1 else -SPREAD[COC]
            intruder_next = _changed(intruder, push, COC)
            cell, share = locate(rates, intruder_next)
            h_next = h + 0.5 * (intruder + intruder_next - own - own_next)
            h_cell, h_share = locate(heights, h_next)
            for corner in range(8):
                a, b, c = corner & 1, (corner >> 1) & 1, corner >> 2
                weight = h_share if a else 1.0 - h_share
                weight *= own_share if b else 1.0 - own_share
                weight *= share if c else 1.0 - share
                total += ODDS[i] * ODDS[j] * weight * ahead[h_cell + a, own_cell + b, cell + c, responds, advisory]
    return total


@kernel
def _step_back(heights, rates, ahead, layer, values, first, last):
    """Go back one more second: compute the value of each advisory, and of the best one, from the values ahead."""
    for h in range(first, last):
        for own in range(len(rates)):
            for intruder in range(len(rates)):
                state = heights[h], rates[own], rates[intruder]
                promise = layer[h, own, intruder]
                for advisory in range(NUMBER):
                    for responds in range(2):
                        promise[responds, advisory] = _outlook(
                            heights, rates, ahead, state[0], state[1], state[2], responds, advisory
                        )
                values[h, own, intruder] = -np.inf
                for before in range(NUMBER):
                    for advisory in range(NUMBER):
                        now = reward(state[0], state[1], state[2], before, advisory)
                        for responds in range(2):
                            chance = response_chance(before, responds, advisory)
                            value = now + chance * promise[1, advisory] + (1.0 - chance) * promise[0, advisory]
                            values[h, own, intruder, responds, before] = max(
                                values[h, own, intruder, responds, before], value
                            )
