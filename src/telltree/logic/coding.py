"""Signals as bytes: between which of a few constants each number lies, so that none is fetched for a second plane."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy as np

from telltree.compiled import (
    add_one_where,
    borrowed,
    bytes_above,
    bytes_below,
    bytes_equal,
    kernel,
    lanes_above,
    lanes_at_least,
)
from telltree.logic.instructions import EQUAL, GREATER, LESS
from telltree.logic.packing import fill_tile

MOST = 120
"""Constants that a byte can tell apart, with room for what lies between them and what is missing."""
_MISSING = 255


@kernel
def encode(column, starts, lengths, blocks, constants, tile, codes):  # noqa: PLR0917  a kernel
    """The code of each number, 64 to a word of a plane: twice the number of constants, which ascend, that are below it,
    plus one where it is one of them itself; 255 where it is missing, or after a record's end. `tile` is room to
    work in.
    """
    column, starts, lengths = borrowed(column), borrowed(starts), borrowed(lengths)
    for block in range(len(blocks) - 1):
        first, steps = blocks[block], blocks[block + 1] - blocks[block]
        fill_tile(column, starts, lengths, block, steps, tile)
        for t in range(steps):
            codes[first + t, :] = np.uint8(_MISSING)
            add_one_where(codes, first + t, lanes_at_least(tile, t, -np.inf))  # 255 and 1 make 0
        for k in range(len(constants)):
            for t in range(steps):
                add_one_where(codes, first + t, lanes_at_least(tile, t, constants[k]))
                add_one_where(codes, first + t, lanes_above(tile, t, constants[k]))


@kernel
def pack_codes(codes, blocks, valid, outcomes, places, slots, planes, reduced):  # noqa: PLR0917  a kernel
    """As `packing.pack`, from codes: `places` are those of the constants among the ones that codes were made with."""
    codes, planes = borrowed(codes), borrowed(planes)
    for k in range(len(slots)):
        slot, code = slots[k], 2 * places[k] + 1
        for block in range(len(blocks) - 1):
            ever, ever_not = np.uint64(0), np.uint64(0)
            for t in range(blocks[block], blocks[block + 1]):
                word = np.uint64(0)
                if outcomes[k] & LESS:
                    word |= bytes_below(codes, t, code)
                if outcomes[k] & EQUAL:
                    word |= bytes_equal(codes, t, code)
                if outcomes[k] & GREATER:
                    word |= bytes_above(codes, t, code) & bytes_below(codes, t, _MISSING)
                planes[slot, t] = word
                ever |= word
                ever_not |= ~word & valid[t]
            reduced[2 * slot, block], reduced[2 * slot + 1, block] = ever, ever_not
