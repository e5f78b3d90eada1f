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


@small
def _compare(tile, outcome, constant, valid, plane, ends, block):
    """Make a plane of the steps of a block, and note for which records it, and its negation, ever hold."""
    ever, ever_not = np.uint64(0), np.uint64(0)
    for t in range(len(plane)):
        word = _compared(tile, t, outcome, constant)
        plane[t] = word
        ever |= word
        ever_not |= ~word & valid[t]
    ends[0, block], ends[1, block] = ever, ever_not


@small
def _take_away(one, other, valid, plane, ends, block):
    """The same for what one plane has, and another has not."""
    ever, ever_not = np.uint64(0), np.uint64(0)
    for t in range(len(plane)):
        word = one[t] & ~other[t]
        plane[t] = word
        ever |= word
        ever_not |= ~word & valid[t]
    ends[0, block], ends[1, block] = ever, ever_not


@small
def _partners(outcomes, constants, upto, below):
    """For each x = c where x ≤ c and x < c are made too: which these are, else −1."""
    for k in range(len(constants)):
        upto[k], below[k] = -1, -1
        for other in range(len(constants) if outcomes[k] == EQUAL else 0):
            if constants[other] == constants[k]:
                upto[k] = other if outcomes[other] == LESS | EQUAL else upto[k]
                below[k] = other if outcomes[other] == LESS else below[k]
        if below[k] < 0:
            upto[k] = -1


@kernel
def pack(column, starts, lengths, blocks, valid, outcomes, constants, slots, planes, reduced):
    """Make a plane for each constant: planes[slots[k]] gets the bits where `column` compares as outcomes[k] says. Rows
    2 * slots[k] and 2 * slots[k] + 1 of `reduced` get, block by block, where the plane, and its negation, ever hold.

    A missing value (NaN) is neither less, equal nor greater. Steps after a record's end are false. x = c is made of
    x ≤ c and x < c where it can be: to look at 64 numbers takes ten times as long as to look at two words.
    """
    column, starts, lengths, planes = borrowed(column), borrowed(starts), borrowed(lengths), borrowed(planes)
    valid, reduced = borrowed(valid), borrowed(reduced)
    tile, (upto, below) = np.empty((longest_block(blocks), LANES)), np.empty((2, len(constants)), np.int64)
    _partners(outcomes, constants, upto, below)
    for block in range(len(blocks) - 1):
        first, steps = blocks[block], blocks[block + 1] - blocks[block]
        fill_tile(column, starts, lengths, block, steps, tile)
        for k in range(len(constants)):
            if upto[k] < 0:
                plane, ends = planes[slots[k], first : first + steps], reduced[2 * slots[k] : 2 * slots[k] + 2]
                _compare(tile, outcomes[k], constants[k], valid[first : first + steps], plane, ends, block)
        for k in range(len(constants)):
            if upto[k] >= 0:
                one, other = slots[upto[k]], slots[below[k]]
                plane, ends = planes[slots[k], first : first + steps], reduced[2 * slots[k] : 2 * slots[k] + 2]
                _take_away(planes[one, first : first + steps], planes[other, first : first + steps],
                           valid[first : first + steps], plane, ends, block)  # fmt: skip
