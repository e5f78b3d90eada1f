"""Compiled making of planes: compare a column with constants, 64 records at a time."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy as np

from telltree.compiled import (
    at,
    borrowed,
    kernel,
    lanes_above,
    lanes_at_most,
    lanes_below,
    lanes_equal,
    small,
    turn_eight,
)
from telltree.logic.instructions import EQUAL, GREATER, LESS
from telltree.logic.machine import LANES

LINE = 8
"""Numbers in a line of the cache: as many records are copied together, so that each line is written once."""


@small
def _fill(column, starts, lengths, place, tile, lane):
    """Copy the records from `place` on, longest first, into the columns of the tile from `lane` on: a line of them."""
    number = min(LINE, len(starts) - place)
    shared = lengths[place + LINE - 1] if number == LINE else 0
    for t in range(0, shared - LINE + 1, LINE):
        turn_eight(column, starts, place, t, tile, lane)
    for t in range(shared - shared % LINE, shared):
        for k in range(LINE):
            tile[at(t), at(lane + k)] = column[at(starts[at(place + k)] + t)]
    for k in range(number):
        for t in range(shared, lengths[place + k]):
            tile[t, lane + k] = column[starts[place + k] + t]


@small
def longest_block(blocks):
    """Words of the longest block, which a tile must have room for."""
    longest = 0
    for block in range(len(blocks) - 1):
        longest = max(longest, blocks[block + 1] - blocks[block])
    return longest


@small
def fill_tile(column, starts, lengths, block, steps, tile):
    """Copy the records of a block, NaN after their ends."""
    tile[:steps, :] = np.nan
    for lane in range(0, LANES, LINE):
        _fill(column, starts, lengths, block * LANES + lane, tile, lane)


@small
def _compared(tile, t, outcome, constant):
    """The bits of the records that compare so at a step; mostly in one comparison."""
    if outcome == LESS:
        return lanes_below(tile, t, constant)
    if outcome == LESS | EQUAL:
        return lanes_at_most(tile, t, constant)
    word = np.uint64(0)
    if outcome & LESS:
        word |= lanes_below(tile, t, constant)
    if outcome & EQUAL:
        word |= lanes_equal(tile, t, constant)
    if outcome & GREATER:
        word |= lanes_above(tile, t, constant)
    return word


@kernel
def pack(column, starts, lengths, blocks, valid, outcomes, constants, slots, planes, reduced):
    """Make a plane for each constant: planes[slots[k]] gets the bits where `column` compares as outcomes[k] says. Rows
    2 * slots[k] and 2 * slots[k] + 1 of `reduced` get, block by block, where the plane, and its negation, ever hold.

    A missing value (NaN) is neither less, equal nor greater. Steps after a record's end are false.
    """
    column, starts, lengths, planes = borrowed(column), borrowed(starts), borrowed(lengths), borrowed(planes)
    tile = np.empty((longest_block(blocks), LANES))
    for block in range(len(blocks) - 1):
        first, steps = blocks[block], blocks[block + 1] - blocks[block]
        fill_tile(column, starts, lengths, block, steps, tile)
        for k in range(len(constants)):
            constant, slot, outcome = constants[k], slots[k], outcomes[k]
            ever, ever_not = np.uint64(0), np.uint64(0)
            for t in range(steps):
                word = _compared(tile, t, outcome, constant)
                planes[slot, first + t] = word
                ever |= word
                ever_not |= ~word & valid[first + t]
            reduced[2 * slot, block], reduced[2 * slot + 1, block] = ever, ever_not
