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
    lesser,
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
    number = lesser(LINE, len(starts) - place)
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
def fill_tile(column, starts, lengths, block, steps, tile):
    """Copy the records of a block, NaN after their ends."""
    for t in range(steps):
        for lane in range(LANES):
            tile[at(t), at(lane)] = np.nan
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
def _compare(tile, outcome, constant, planes, slot, first, steps, valid, reduced, block):
    """Make a plane of the steps of a block, and note for which records it, and its negation, ever hold."""
    ever, ever_not = np.uint64(0), np.uint64(0)
    for t in range(steps):
        word = _compared(tile, t, outcome, constant)
        planes[at(slot), at(first + t)] = word
        ever |= word
        ever_not |= ~word & valid[at(first + t)]
    reduced[at(2 * slot), at(block)], reduced[at(2 * slot + 1), at(block)] = ever, ever_not


@small
def _take_away(one, other, planes, slot, first, steps, valid, reduced, block):
    """The same for what one plane has, and another has not."""
    ever, ever_not = np.uint64(0), np.uint64(0)
    for t in range(steps):
        word = planes[at(one), at(first + t)] & ~planes[at(other), at(first + t)]
        planes[at(slot), at(first + t)] = word
        ever |= word
        ever_not |= ~word & valid[at(first + t)]
    reduced[at(2 * slot), at(block)], reduced[at(2 * slot + 1), at(block)] = ever, ever_not


@small
def _partners(outcomes, constants, partners):
    """For each x = c where x ≤ c and x < c are made too: which these are, else −1."""
    for k in range(len(constants)):
        upto = below = -1
        for other in range(len(constants) if outcomes[k] == EQUAL else 0):
            if constants[other] == constants[k]:
                upto = other if outcomes[other] == LESS | EQUAL else upto
                below = other if outcomes[other] == LESS else below
        partners[k, 0], partners[k, 1] = upto if below >= 0 else -1, below


@kernel
def pack(column, starts, lengths, blocks, valid, outcomes, constants, slots, tile, partners, planes, reduced):
    """Make a plane for each constant: planes[slots[k]] gets the bits where `column` compares as outcomes[k] says. Rows
    2 * slots[k] and 2 * slots[k] + 1 of `reduced` get, block by block, where the plane, and its negation, ever hold.

    A missing value (NaN) is neither less, equal nor greater. Steps after a record's end are false. x = c is made of
    x ≤ c and x < c where it can be: to look at 64 numbers takes ten times as long as to look at two words. `tile` and
    `partners` are room to work in.
    """
    column, starts, lengths, planes = borrowed(column), borrowed(starts), borrowed(lengths), borrowed(planes)
    valid, reduced, tile, partners = borrowed(valid), borrowed(reduced), borrowed(tile), borrowed(partners)
    _partners(outcomes, constants, partners)
    for block in range(len(blocks) - 1):
        first, steps = blocks[block], blocks[block + 1] - blocks[block]
        fill_tile(column, starts, lengths, block, steps, tile)
        for k in range(len(constants)):
            if partners[k, 0] < 0:
                _compare(tile, outcomes[k], constants[k], planes, slots[k], first, steps, valid, reduced, block)
        for k in range(len(constants)):
            if partners[k, 0] >= 0:
                one, other = slots[partners[k, 0]], slots[partners[k, 1]]
                _take_away(one, other, planes, slots[k], first, steps, valid, reduced, block)
