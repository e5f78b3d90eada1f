"""Compiled making of planes: compare a column with constants, 64 records at a time."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy as np

from telltree.compiled import kernel
from telltree.logic.instructions import EQUAL, GREATER, LESS
from telltree.logic.machine import LANES


@kernel
def pack(column, starts, lengths, blocks, valid, outcomes, constants, slots, planes, reduced):
    """For each constant a plane: planes[slots[k]] has the bits where `column` compares as outcomes[k] asks, and
    reduced[2 * slots[k]] and the row after it have, block by block, where that, or its negation, ever holds.

    A missing value (NaN) is neither less, equal nor greater. Steps after a record's end are false.
    """
    longest = 0
    for block in range(len(blocks) - 1):
        longest = max(longest, blocks[block + 1] - blocks[block])
    tile = np.empty((longest, LANES))
    for block in range(len(blocks) - 1):
        first, steps = blocks[block], blocks[block + 1] - blocks[block]
        tile[:steps, :] = np.nan
        for lane in range(min(LANES, len(starts) - block * LANES)):
            place = block * LANES + lane
            start = starts[place]
            for t in range(lengths[place]):
                tile[t, lane] = column[start + t]
        for k in range(len(constants)):
            constant, slot = constants[k], slots[k]
            less, equal, greater = outcomes[k] & LESS != 0, outcomes[k] & EQUAL != 0, outcomes[k] & GREATER != 0
            ever, ever_not = np.uint64(0), np.uint64(0)
            for t in range(steps):
                word = np.uint64(0)
                for lane in range(LANES):
                    x = tile[t, lane]
                    bit = (less & (x < constant)) | (equal & (x == constant)) | (greater & (x > constant))
                    word |= np.uint64(bit) << np.uint64(lane)
                planes[slot, first + t] = word
                ever |= word
                ever_not |= ~word & valid[first + t]
            reduced[2 * slot, block], reduced[2 * slot + 1, block] = ever, ever_not
