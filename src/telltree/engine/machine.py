"""The machine: it runs programs on bitsets, 64 records at a time, a whole population in one call.

`evaluate` is the kernel. Its `Tally` has, for each formula, the number of records in each mask for which it is true,
and a hash of the split. `Registers`, and `Counting` for programs that count, are its working memory.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import (
    add_where,
    at,
    borrowed,
    greater,
    inline,
    kernel,
    lanes_above,
    lanes_below,
    lanes_equal,
    lesser,
    popcount,
    small,
)
from telltree.engine.bitset_layout import LANES, VECTOR, aligned_words
from telltree.engine.bitset_windows import longest_run, may_defer, reduce_deferred, run_temporal
from telltree.engine.instructions import (
    ABS,
    BEGINS,
    COMPARE,
    CONSTANT,
    COUNT,
    EQUAL,
    GREATER,
    LESS,
    LONGEST,
    REDUCE,
    REDUCE_AND,
    SUBTRACT,
    SUFFIX_OR,
    UNTIL,
    VECTOR_AND,
    WEAK,
    WINDOW_OR,
    WORD_AND,
)
from telltree.grammar.random_streams import GOLDEN, mix

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


Word = np.uint64  # the same step of 64 records
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


class Registers(NamedTuple):
    """Intermediate results of programs for the current tile."""

    vectors: NDArray[np.uint64]
    words: NDArray[np.uint64]

    @classmethod
    def empty(cls, registers: int, words: int, blocks: int) -> "Registers":
        """Allocate registers for tiles of at most this many words and blocks."""
        return cls(aligned_words(registers, words), np.empty((registers, blocks), np.uint64))


class Counting(NamedTuple):
    """Additional registers for programs that count. Kernels get None instead if no formula does, and are compiled
    without the code for it."""

    lanes: NDArray[np.float64]
    counters: NDArray[np.uint64]  # bit k of 64 running counts

    @classmethod
    def empty(cls, registers: int, blocks: int) -> "Counting":
        """Allocate registers for tiles of at most this many blocks."""
        return cls(np.empty((registers, blocks, LANES)), np.empty(64, np.uint64))


@small
def _add_bits(a, b, c):
    """Add three bits in each of 64 lanes; return the ones and the twos."""
    either = a ^ b
    return either ^ c, (a & b) | (either & c)


@small
def _count(vector, negate, valid, counters, lanes):
    """Count the true steps of 64 records, bit-sliced: four steps are added to 64 counters at once.

    Blocks have whole vectors of four words. Ones and twos stay in registers; only fours are carried to the counters.
    """
    bits = 2
    while (1 << bits) <= len(vector):
        bits += 1
    counters[:bits] = _ZERO
    ones, twos = _ZERO, _ZERO
    for t in range(0, len(vector), VECTOR):
        a, b, c, d = at(t), at(t + 1), at(t + 2), at(t + 3)
        ones, some = _add_bits(ones, (vector[a] ^ negate) & valid[a], (vector[b] ^ negate) & valid[b])
        ones, more = _add_bits(ones, (vector[c] ^ negate) & valid[c], (vector[d] ^ negate) & valid[d])
        twos, carry = _add_bits(twos, some, more)
        for k in range(2, bits):  # testing for a remaining carry takes longer
            keep = counters[at(k)]
            counters[at(k)] = keep ^ carry
            carry &= keep
    counters[0], counters[1] = ones, twos
    lanes[:] = 0.0
    for k in range(bits):
        add_where(lanes, counters[at(k)], np.float64(1 << k))


@small
def _on_lanes(step, one, two, out, flags, value, word, vector):
    """Run an instruction on 64 numbers: arithmetic or comparison of counts."""
    if step == COMPARE:
        found = lanes_below(one, 0, two) if flags & LESS else _ZERO
        found |= lanes_equal(one, 0, two) if flags & EQUAL else _ZERO
        found |= lanes_above(one, 0, two) if flags & GREATER else _ZERO
        word[0] = found
        vector[:] = found
    elif step == CONSTANT:
        out[:] = value
    else:
        for lane in range(LANES):
            x = one[lane]
            out[lane] = x - two[lane] if step == SUBTRACT else abs(x) if step == ABS else np.sign(x)


@small
def _never_true(words):
    """Return True if no bit is set."""
    ever = _ZERO
    for word in words:
        ever |= word
    return ever == _ZERO


@small
def _known_without_steps(reduced, a, b, flags, block):
    """Return the value of F(a ∧ b) for records where it follows without their steps, and the records where it does not.

    It is false where a or b is never true, and true where one is true at some step and the other at all steps.
    """
    ever_a, ever_not_a = reduced[2 * a + (flags & 1), block], reduced[2 * a + 1 - (flags & 1), block]
    ever_b, ever_not_b = reduced[2 * b + (flags >> 1 & 1), block], reduced[2 * b + 1 - (flags >> 1 & 1), block]
    ever = ever_a & ever_b
    return ever & ~(ever_not_a & ever_not_b), ever & ever_not_a & ever_not_b


@inline
def _run(programs, individual, bitsets, reduced, valid, blocks, low, high, registers, counting, temporal):
    """Run one program on the blocks `low` … `high` − 1, whose words are contiguous in every bitset."""
    vectors, words = registers.vectors, registers.words
    first, last = blocks[at(low)], blocks[at(high)]
    deferred = False  # the previous instruction is temporal, and is left to this one
    for k in range(programs.bounds[at(individual), 0], programs.bounds[at(individual), 1]):
        now = programs.steps[at(k)]
        step, destination, a, b, flags = now[0], at(-1 - now[1]), now[2], now[3], now[4]
        not_a = _ALL if flags & 1 else _ZERO
        not_b = _ALL if flags & 2 else _ZERO
        if step == WORD_AND:
            left, skip_left = (reduced[at(a)], low) if a >= 0 else (words[at(-1 - a)], 0)
            right, skip_right = (reduced[at(b)], low) if b >= 0 else (words[at(-1 - b)], 0)
            out = words[destination]
            for block in range(high - low):
                out[at(block)] = (left[at(skip_left + block)] ^ not_a) & (right[at(skip_right + block)] ^ not_b)
            continue
        if temporal is not None and deferred:
            deferred = False
            reduce_deferred(
                now, programs.steps[at(k - 1)], programs.values[at(k - 1)], bitsets, vectors, reduced, valid, blocks,
                low, high, words[destination], temporal.spare, temporal.undecided,
            )  # fmt: skip
            continue
        # bitsets cover all blocks, registers start at block `low`
        one, skip_one = (bitsets[at(a)], first) if a >= 0 else (vectors[at(-1 - a)], 0)
        two, skip_two = (bitsets[at(b)], first) if b >= 0 else (vectors[at(-1 - b)], 0)
        out = vectors[destination]
        if step == VECTOR_AND:
            for t in range(last - first):
                out[at(t)] = (one[at(skip_one + t)] ^ not_a) & (two[at(skip_two + t)] ^ not_b)
            continue
        if step == SUFFIX_OR:  # bitsets are read from first to last, which is much faster
            for t in range(last - first):
                out[at(t)] = (one[at(skip_one + t)] ^ not_a) & valid[at(first + t)]
        if step == WINDOW_OR or step == UNTIL or step == BEGINS:
            if temporal is not None:
                deferred = may_defer(programs.steps, k, programs.bounds[at(individual), 1], programs.values[at(k)])
                if deferred:
                    continue
                target_ref, not_target = (b, flags >> 1 & 1) if step == UNTIL else (a, flags & 1)
                if target_ref > 0 and not flags & WEAK and _never_true(reduced[2 * target_ref + not_target, low:high]):
                    out[: last - first] = _ZERO
                    words[destination, : high - low] = _ZERO
                    continue
                here, there, size = skip_one, skip_two, last - first
                run_temporal(
                    step, one[here : here + size], not_a, two[there : there + size], not_b, valid[first:last],
                    programs.values[k], flags, blocks[low : high + 1], out[:size], words[destination],
                    temporal.spare[:size],
                )  # fmt: skip
            continue
        for block in range(low, high):
            start, stop = blocks[at(block)] - first, blocks[at(block + 1)] - first
            found = _ZERO
            if step == REDUCE_AND:
                open_records = _ALL
                if a >= 0 and b >= 0:
                    found, open_records = _known_without_steps(reduced, a, b, flags, block)
                elif a >= 0 or b >= 0:  # where one is never true, the conjunction is not
                    open_records = reduced[2 * a + (flags & 1) if a >= 0 else 2 * b + (flags >> 1 & 1), block]
                if open_records & valid[at(first + start)] != _ZERO:
                    for t in range(start, stop):
                        both = (one[at(skip_one + t)] ^ not_a) & (two[at(skip_two + t)] ^ not_b)
                        found |= both & valid[at(first + t)]
                words[destination, at(block - low)] = found
            elif step == REDUCE:
                for t in range(start, stop):
                    found |= (one[at(skip_one + t)] ^ not_a) & valid[at(first + t)]
                words[destination, at(block - low)] = found
            elif step == SUFFIX_OR:
                for t in range(stop - 1, start - 1, -1):
                    found |= out[at(t)]
                    out[at(t)] = found
            elif counting is not None:
                lanes, here = borrowed(counting.lanes), block - low
                if step == COUNT:
                    _count(one[skip_one + start : skip_one + stop], not_a, valid[first + start : first + stop],
                           counting.counters, lanes[destination, here])  # fmt: skip
                elif step == LONGEST:
                    if temporal is not None:
                        longest_run(one[skip_one + start : skip_one + stop], not_a, valid[first + start : first + stop],
                                    temporal.runs, lanes[destination, here])  # fmt: skip
                else:
                    _on_lanes(
                        step, lanes[greater(0, -1 - a), here], lanes[greater(0, -1 - b), here],
                        lanes[destination, here], flags, programs.values[k], words[destination, here : here + 1],
                        out[start:stop],
                    )  # fmt: skip


class Tally(NamedTuple):
    """The results of evaluation; parts without rows or columns were not requested."""

    counts: NDArray[np.int64]  # individuals × masks: records of the mask for which it is true
    members: NDArray[np.int64]  # individuals × (records for which it is true, records on the smaller side)
    answer: NDArray[np.uint64]  # a hash of the split it makes
    size: NDArray[np.int64]  # terminals
    truth: NDArray[np.uint64]  # individuals × blocks: one bit per record
    steps: NDArray[np.uint64]  # for a single individual: the bitset of its truth at every step

    @classmethod
    def empty(cls, individuals: int, masks: int, blocks: int = 0, words: int = 0) -> "Tally":
        """Allocate results for this many individuals."""
        return cls(
            np.empty((individuals, masks), np.int64),
            np.empty((individuals, 2), np.int64),
            np.empty(individuals, np.uint64),
            np.empty(individuals, np.int64),
            np.empty((individuals, blocks), np.uint64),
            np.empty(words, np.uint64),
        )

    def clear(self) -> None:
        """Set all results to zero, for a panel without records."""
        for rows in self:
            rows[...] = 0

    def part(self, low: int, high: int) -> "Tally":
        """Return the rows of some individuals, as views."""
        return Tally._make([rows[low:high] for rows in self[:-1]] + [self.steps])


@inline
def _count_eight(counts, keep, masks, first, found, skip, negate, low, high):
    """Add to eight counts in parallel the number of records of each mask that are set in `found` (see `_tally`)."""
    c = d = e = f = g = h = i = j = 0
    for block in range(low, high):
        word, mask = found[at(skip + block)] ^ negate, masks[at(block)]
        c += popcount(word & mask[at(first)])
        d += popcount(word & mask[at(first + 1)])
        e += popcount(word & mask[at(first + 2)])
        f += popcount(word & mask[at(first + 3)])
        g += popcount(word & mask[at(first + 4)])
        h += popcount(word & mask[at(first + 5)])
        i += popcount(word & mask[at(first + 6)])
        j += popcount(word & mask[at(first + 7)])
    for k, count in enumerate((c, d, e, f, g, h, i, j)):
        counts[at(first + k)] = (counts[at(first + k)] & keep) + count


@inline
def _tally(tally, opposite, j, found, skip, negate, low, high, begun, records, masks, before):
    """Add the result of a program on the blocks `low` … `high` − 1 to the tally.

    The result is `found` ^ `negate`; block 0 would be at `skip`. `begun` is False for the first tile, which has the
    first record. Two formulas get the same hash if they make the same split, whichever side they call true. Until all
    blocks are added, `members[1]` is 1 if the formula is true for the first record. `before` is the number of blocks in
    the shards before this one.
    """
    members, counts, groups = tally.members[at(j)], tally.counts[at(j)], masks.shape[1]
    keep = -1 if begun else 0  # a mask: the first tile overwrites, later ones add
    if begun:
        true_of_first = members[1]
    else:
        lowest = records[at(low)] & (~records[at(low)] + _ONE)  # the bit of the first record
        true_of_first = np.int64(((found[at(skip + low)] ^ negate) & lowest) != _ZERO)
    true, answer, turn = 0, _ZERO, at(-true_of_first)
    for block in range(low, high):
        word = (found[at(skip + block)] ^ negate) & records[at(block)]
        true += popcount(word)
        answer += mix((word ^ (turn & records[at(block)])) + GOLDEN * at(before + block + 1))
    members[0], members[1] = (members[0] & keep) + true, true_of_first
    tally.answer[at(j)] = (tally.answer[at(j)] & at(keep)) + answer
    if len(opposite):
        answer = _ZERO
        for block in range(low, high):
            word = (found[at(skip + block)] ^ negate) & records[at(block)]
            answer += mix((word ^ (~turn & records[at(block)])) + GOLDEN * at(before + block + 1))
        opposite[at(j)] = (opposite[at(j)] & at(keep)) + answer
    for first in range(0, groups - 7, 8):
        _count_eight(counts, keep, masks, first, found, skip, negate, low, high)
    for group in range(groups & ~7, groups):
        count = 0
        for block in range(low, high):
            count += popcount((found[at(skip + block)] ^ negate) & masks[at(block), at(group)])
        counts[at(group)] = (counts[at(group)] & keep) + count
    for block in range(low, high if tally.truth.shape[1] else low):
        tally.truth[j, block] = (found[at(skip + block)] ^ negate) & records[at(block)]


@kernel
def evaluate(
    programs,
    wanted,
    bitsets,
    reduced,
    valid,
    blocks,
    records,
    before,
    tiles,
    masks,
    registers,
    counting,
    temporal,
    tally,
    opposite,
):
    """Run the programs of the `wanted` individuals on all blocks; row j of the tally is for wanted[j].

    Blocks are processed a tile at a time, for the whole population, so that bitsets stay in the cache and each
    instruction has enough words to work on. In one of several shards, `before` is the number of blocks in the shards
    before it, and `opposite`, else empty, gets the hash with true and false swapped: the very first record, perhaps of
    another shard, decides which is used. Then `members[:, 1]` is 1 if a formula is true for the first record of this
    shard, and not the size of the smaller side.
    """
    programs, registers, tally, masks = borrowed(programs), borrowed(registers), borrowed(tally), borrowed(masks)
    bitsets, reduced, valid, blocks = borrowed(bitsets), borrowed(reduced), borrowed(valid), borrowed(blocks)
    records, total = borrowed(records), 0
    for block in range(len(records)):
        total += popcount(records[block])
    for tile in range(len(tiles) - 1):
        low, high = tiles[tile], tiles[tile + 1]
        first = blocks[low]
        for j in range(len(wanted)):
            i = at(wanted[at(j)])
            _run(programs, i, bitsets, reduced, valid, blocks, low, high, registers, counting, temporal)
            result, negate = programs.result[i, 0], _ALL if programs.result[i, 1] else _ZERO
            if len(tally.steps):
                for t in range(first, blocks[high]):
                    word = bitsets[result, t] if result >= 0 else registers.vectors[-1 - result, t - first]
                    tally.steps[t] = (word ^ negate) & valid[t]
                continue
            tally.size[at(j)] = programs.size[i]
            found, skip = (reduced[at(result)], 0) if result >= 0 else (registers.words[at(-1 - result)], -low)
            _tally(tally, opposite, j, found, skip, negate, low, high, tile > 0, records, masks, before)
    for j in range(0 if len(opposite) else len(tally.answer)):
        tally.members[j, 1] = lesser(tally.members[j, 0], total - tally.members[j, 0])
