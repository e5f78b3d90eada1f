"""Marks: what tells conditions apart that hold at different steps, a hash of the steps at which they do."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, borrowed, kernel
from telltree.grammar.derivations.streams import GOLDEN, mix

_NOWHERE = bytes(16)
"""The mark of what holds at no step. All marks are of one length: those of shards are joined."""


@kernel
def _hash(steps, valid, sides):
    """For each side of a plane two hashes, of 64 bits each, and whether it holds at any step."""
    steps, valid = borrowed(steps), borrowed(valid)
    true, other_true, false, other_false = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
    ever, ever_not = np.uint64(0), np.uint64(0)
    for t in range(len(steps)):
        place, held = GOLDEN * at(t + 1), steps[at(t)] & valid[at(t)]
        missed = held ^ valid[at(t)]
        true, false = true + mix(held + place), false + mix(missed + place)
        other_true, other_false = other_true + mix(held ^ ~place), other_false + mix(missed ^ ~place)
        ever, ever_not = ever | held, ever_not | missed
    sides[0, 0], sides[0, 1], sides[0, 2] = true, other_true, ever
    sides[1, 0], sides[1, 1], sides[1, 2] = false, other_false, ever_not


def marks_of(steps: NDArray[np.uint64], valid: NDArray[np.uint64]) -> tuple[bytes, bytes]:
    """The marks of a condition, given the words of its plane, and of its negation."""
    sides = np.empty((2, 3), np.uint64)
    _hash(steps, valid, sides)
    true, false = (side[:2].tobytes() if side[2] else _NOWHERE for side in sides)
    return true, false
