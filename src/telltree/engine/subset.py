"""Bitsets of a subset of records, compacted from the bitsets of all records, so that no atom is evaluated twice."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, borrowed, kernel, lesser, popcount
from telltree.engine.bitset_layout import LANES, Layout

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


_ONE = np.uint64(1)
_ROUNDS = 6  # bits move by 1, 2, 4 … 32 places


class Subset(NamedTuple):
    """The places that bits of the bitsets of all records have in the bitsets of a subset.

    Both layouts have the longest records first, and equal ones in order of number, so records keep their order: the
    bits of a block come from consecutive blocks. A part is the contribution of one source block to one target block.
    """

    bounds: NDArray[np.int64]  # the first part of each block, and one past the last
    first: NDArray[np.int64]  # for each part: the first word of its source block
    steps: NDArray[np.int64]  # words of that block
    mask: NDArray[np.uint64]  # the bits to take
    moves: NDArray[np.uint64]  # the bits that move in each round, until all are contiguous
    shift: NDArray[np.uint64]  # the place of the first of them in the target

    @classmethod
    def of(cls, whole: Layout, part: Layout, members: NDArray[np.int64]) -> "Subset":
        """Return the subset; `members` are the positions of its records in the whole, in ascending order."""
        places = np.empty(whole.records, np.int64)
        places[whole.order] = np.arange(whole.records)
        picked = places[members[part.order]]
        source, target = picked // LANES, np.arange(part.records) // LANES
        begins = np.flatnonzero(np.diff(source, prepend=-1) | np.diff(target, prepend=-1))
        bits = _ONE << (picked % LANES).astype(np.uint64)
        mask = np.bitwise_or.reduceat(bits, begins) if len(begins) else bits
        first = whole.blocks[source[begins]]
        return cls(
            np.searchsorted(target[begins], np.arange(len(part.blocks))),
            first,
            whole.blocks[source[begins] + 1] - first,
            mask,
            _moves(mask),
            (begins % LANES).astype(np.uint64),
        )


def _moves(mask: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return, for each mask and round, the bits to move down by 1, 2, 4 … places (Warren, Hacker's Delight, 7–4)."""
    found = np.empty((len(mask), _ROUNDS), np.uint64)
    zeros = ~mask << _ONE  # bits above gaps that are still to be closed
    for k in range(_ROUNDS):
        odd = zeros.copy()
        for j in range(_ROUNDS):
            odd ^= odd << np.uint64(1 << j)
        found[:, k] = odd & mask
        mask = (mask ^ found[:, k]) | (found[:, k] >> np.uint64(1 << k))
        zeros &= ~odd
    return found


@kernel
def extract(source, chosen, subset, blocks, valid, targets, bitsets, reduced):  # noqa: PLR0917  a kernel
    """Copy the bits of the subset from bitset `chosen[k]` of the source to bitset `targets[k]`.

    Rows 2 * targets[k] and 2 * targets[k] + 1 of `reduced` get, block by block, the records for which the bitset, and
    its negation, are true at some step.
    """
    source, bitsets, subset = borrowed(source), borrowed(bitsets), borrowed(subset)
    for k in range(len(targets)):
        target, picked = bitsets[targets[k]], source[chosen[k]]
        for block in range(len(blocks) - 1):
            start, stop = blocks[block], blocks[block + 1]
            target[start:stop] = np.uint64(0)
            for part in range(subset.bounds[block], subset.bounds[block + 1]):
                mask, shift, moves = subset.mask[part], subset.shift[part], subset.moves[part]
                a, b, c, d, e, f = moves[0], moves[1], moves[2], moves[3], moves[4], moves[5]
                first, steps = subset.first[part], lesser(stop - start, subset.steps[part])
                if mask & (mask - _ONE) == np.uint64(0):  # a single bit, as most are where the subset is small
                    lane = popcount(mask - _ONE)
                    for t in range(steps):
                        target[at(start + t)] |= ((picked[at(first + t)] >> np.uint64(lane)) & _ONE) << shift
                    continue
                for t in range(steps):
                    word = picked[at(first + t)] & mask
                    word = (word & ~a) | ((word & a) >> np.uint64(1))
                    word = (word & ~b) | ((word & b) >> np.uint64(2))
                    word = (word & ~c) | ((word & c) >> np.uint64(4))
                    word = (word & ~d) | ((word & d) >> np.uint64(8))
                    word = (word & ~e) | ((word & e) >> np.uint64(16))
                    word = (word & ~f) | ((word & f) >> np.uint64(32))
                    target[at(start + t)] |= word << shift
            ever, ever_not = np.uint64(0), np.uint64(0)
            for t in range(start, stop):
                ever |= target[at(t)]
                ever_not |= ~target[at(t)] & valid[at(t)]
            reduced[2 * targets[k], block], reduced[2 * targets[k] + 1, block] = ever, ever_not
