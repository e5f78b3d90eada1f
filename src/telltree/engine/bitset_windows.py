"""Windowed and temporal operators on bitsets: 64 records at a time, evaluated lazily where possible."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, borrowed, small
from telltree.engine.bitset_layout import aligned_words
from telltree.engine.instructions import BACK, BEGINS, FROM, ONLY_FIRST, REDUCE, REDUCE_AND, UNTIL, WEAK, WINDOW_OR

# ---- Windows, until, since and edges: 64 records at a time, in one pass or a few.
#
# Where a grammar has none of these, the machine is compiled without them.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


_ZERO = np.uint64(0)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


class WindowMemory(NamedTuple):
    """Additional memory for windows, until, since and edges; kernels get None instead if no formula has any."""

    spare: NDArray[np.uint64]  # one vector of a tile
    runs: NDArray[np.float64]  # for each lane, the length of the current run
    undecided: NDArray[np.uint64]  # for each block, the records that need their steps

    @classmethod
    def empty(cls, words: int, blocks: int) -> "WindowMemory":
        """Allocate memory for tiles of at most this many words and blocks."""
        return cls(aligned_words(1, words)[0], np.empty(64), np.empty(blocks, np.uint64))


# Vectors are those of a tile; `blocks` has the first word of each of its blocks, and one past the last. Loops go over
# the whole tile where possible, since blocks are too short for fast loops. Operands are read from first to last; only
# words that are in the cache by then are read from last to first.


@small
def _masked(x, negate, valid, t):
    return (x[at(t)] ^ negate) & valid[at(t)]


@small
def _shift(x, negate, valid, by, target):
    """Shift the operand by so many steps: later ones come to each step, earlier ones if `by` is negative. Words without
    a source in the tile are left as they are."""
    words = len(target)
    for t in range(min(max(0, -by), words), max(0, min(words, words - by))):
        target[at(t)] = _masked(x, negate, valid, t + by)


@small
def _widen(source, covered, width, sign, target):
    """Make windows of `covered` steps four times as long, but no longer than `width`: the disjunction of the source at
    each step and once, twice and three times as many steps later, or earlier."""
    one, two, three = (
        sign * min(covered, width - covered),
        sign * min(2 * covered, width - covered),
        sign * min(3 * covered, width - covered),
    )
    words = len(target)
    for t in range(min(max(0, -three), words), max(0, min(words, words - three))):
        near, far = source[at(t)] | source[at(t + one)], source[at(t + two)] | source[at(t + three)]
        target[at(t)] = near | far


@small
def _fill_ends(x, negate, valid, near, further, sign, blocks, out):
    """Compute the windows of the last steps of each block, which reach its end."""
    for block in range(len(blocks) - 1):
        start, stop = blocks[at(block)] - blocks[0], blocks[at(block + 1)] - blocks[0]
        found, end = _ZERO, stop - 1 if sign > 0 else start
        for k in range(min(near + further, stop - start)):
            t = end - sign * k
            if k >= near:
                found |= _masked(x, negate, valid, t + sign * near)
            out[at(t)] = found


@small
def some_within(x, negate, valid, near, further, back, blocks, out, spare):
    """Compute, at each step, if the operand is true at a step from `near` to `near + further` later, or earlier if
    `back`.

    Windows are four times as long after each pass. Those that reach beyond the end of a block are computed again at
    last. A window as long as a block takes no pass.
    """
    longest, sign = np.int64(0), -1 if back else 1
    for block in range(len(blocks) - 1):
        longest = max(longest, blocks[at(block + 1)] - blocks[at(block)])
    if further + 1 >= longest:  # to the end of every block: `_fill_ends` computes all of its steps
        further = longest
    near, width = min(near, longest), further + 1 if further < longest else 0
    covered, odd = np.int64(1), False
    while covered < width:
        covered, odd = 4 * covered, not odd
    if odd:
        _shift(x, negate, valid, sign * near, spare)
    elif width:
        _shift(x, negate, valid, sign * near, out)
    covered = np.int64(1)
    while covered < width:
        if odd:
            _widen(spare, covered, width, sign, out)
        else:
            _widen(out, covered, width, sign, spare)
        covered, odd = 4 * covered, not odd
    _fill_ends(x, negate, valid, near, further, sign, blocks, out)


@small
def some_at_first(x, negate, valid, near, further, blocks, words):
    """Compute the same as `some_within` at the first step of each block only."""
    for block in range(len(blocks) - 1):
        start, stop = blocks[at(block)] - blocks[0], blocks[at(block + 1)] - blocks[0]
        found = _ZERO
        for t in range(min(start + near, stop), min(start + near + further + 1, stop)):
            found |= (x[at(t)] ^ negate) & valid[at(t)]
        words[at(block)] = found


@small
def until(a, not_a, b, not_b, valid, weak, blocks, out, spare):
    """Compute, at each step, if b is true there or later, and a until then; if `weak`, also if a is true to the end."""
    ended = _ALL if weak else _ZERO
    for t in range(len(out)):
        spare[at(t)] = _masked(a, not_a, valid, t)
        out[at(t)] = _masked(b, not_b, valid, t) | (ended & ~valid[at(t)])
    for block in range(len(blocks) - 1):
        start, stop = blocks[at(block)] - blocks[0], blocks[at(block + 1)] - blocks[0]
        found = ended
        for t in range(stop - 1, start - 1, -1):
            found = out[at(t)] | (spare[at(t)] & found)
            out[at(t)] = found


@small
def until_at_first(a, not_a, b, not_b, valid, weak, blocks, words):
    """Compute the same as `until` at the first step of each block only; open records are those where a was true so
    far."""
    ended = _ALL if weak else _ZERO
    for block in range(len(blocks) - 1):
        start, stop = blocks[at(block)] - blocks[0], blocks[at(block + 1)] - blocks[0]
        found, is_open = _ZERO, _ALL
        for t in range(start, stop):
            real = valid[at(t)]
            found |= is_open & (((b[at(t)] ^ not_b) & real) | (ended & ~real))
            is_open &= a[at(t)] ^ not_a
            if is_open & ~found == _ZERO:
                break
        words[at(block)] = found | (is_open & ended)


@small
def until_fails(a, not_a, b, not_b, valid, weak, back, blocks, words):
    """Add to `words` the records for which until, or since if `back`, is false at some step.

    It is false where neither a nor b is true. If there is no such step, it is true wherever it is true at the next
    step: so at all steps if b is true at the last one, or need not be (`weak`).
    """
    needed = _ZERO if weak or back else _ALL
    for block in range(len(blocks) - 1):
        start, last = blocks[at(block)] - blocks[0], blocks[at(block + 1)] - blocks[0] - 1
        found = words[at(block)] | (~(b[at(last)] ^ not_b) & valid[at(last)] & (~(a[at(last)] ^ not_a) | needed))
        for t in range(start, last):
            ends = needed & ~valid[at(t + 1)]
            found |= ~(b[at(t)] ^ not_b) & valid[at(t)] & (~(a[at(t)] ^ not_a) | ends)
        words[at(block)] = found | (~(b[at(start)] ^ not_b) & valid[at(start)]) if back else found


@small
def since(a, not_a, b, not_b, blocks, out):
    """Compute, at each step, if b is true there or before, and a at all steps after that."""
    for block in range(len(blocks) - 1):
        start, stop = blocks[at(block)] - blocks[0], blocks[at(block + 1)] - blocks[0]
        found = _ZERO
        for t in range(start, stop):
            found = (b[at(t)] ^ not_b) | ((a[at(t)] ^ not_a) & found)
            out[at(t)] = found


@small
def begins(x, negate, first, blocks, out):
    """Compute, at each step, if the operand is true there and not at the step before; at the first one only if
    `first`."""
    for t in range(1, len(out)):
        out[at(t)] = (x[at(t)] ^ negate) & ~(x[at(t - 1)] ^ negate)
    for block in range(len(blocks) - 1):
        start = at(blocks[at(block)] - blocks[0])
        out[start] = (x[start] ^ negate) if first else _ZERO


@small
def longest_run(x, negate, valid, runs, lanes):
    """Compute the longest run of true steps of each record of a block."""
    runs[:] = 0.0
    lanes[:] = 0.0
    for t in range(len(x)):
        word = _masked(x, negate, valid, t)
        for lane in range(64):
            run = (runs[at(lane)] + 1.0) * np.float64((word >> at(lane)) & np.uint64(1))
            runs[at(lane)] = run
            lanes[at(lane)] = max(lanes[at(lane)], run)


# ---- Lazy evaluation: F of a temporal operator often follows from the records for which its operands are ever true.
#
# Fetching words takes longer than computing with them, so the steps of blocks that are decided are not read. A temporal
# instruction is deferred if the next one reduces its result: `reduce_deferred` runs both.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


@small
def run_temporal(step, one, not_a, two, not_b, valid, value, flags, blocks, out, words, spare):
    """Run a temporal instruction on a tile; `words` gets its results at the first step of each block."""
    near, further = np.int64(0), np.int64(0)
    if step == WINDOW_OR:
        near, further = np.int64(value) // FROM, np.int64(value) % FROM
    if flags & ONLY_FIRST:
        if step == WINDOW_OR:
            some_at_first(one, not_a, valid, near, further, blocks, words)
        else:
            until_at_first(one, not_a, two, not_b, valid, flags & WEAK, blocks, words)
        return
    if step == WINDOW_OR:
        some_within(one, not_a, valid, near, further, flags & BACK, blocks, out, spare)
    elif step == BEGINS:
        begins(one, not_a, flags & WEAK, blocks, out)
    elif flags & BACK:
        since(one, not_a, two, not_b, blocks, out)
    else:
        until(one, not_a, two, not_b, valid, flags & WEAK, blocks, out, spare)
    for block in range(len(blocks) - 1):
        words[at(block)] = out[at(blocks[at(block)] - blocks[0])]


@small
def may_defer(steps, k, end, value):
    """Return True if a temporal instruction includes the current step, so that bounds of it are known, and the next
    instruction is F of its result, or of its conjunction with something else."""
    at_once = steps[at(k), 0] == UNTIL or (steps[at(k), 0] == WINDOW_OR and value < FROM)
    if not at_once or k + 1 == end or steps[at(k), 4] & ONLY_FIRST:
        return False
    found, step, a, b = steps[at(k), 1], steps[at(k + 1), 0], steps[at(k + 1), 2], steps[at(k + 1), 3]
    return (step == REDUCE and a == found) or (step == REDUCE_AND and (a == found or b == found))


@small
def _known_of_deferred(deferred, negate, reduced, block):
    """Return the records of a block for which the result of a deferred instruction, or its negation, is known to be
    true at all steps, at none, and at one at least."""
    flags = deferred[4]
    ref, negated = (deferred[3], flags >> 1 & 1) if deferred[0] == UNTIL else (deferred[2], flags & 1)
    if ref <= 0:
        return _ZERO, _ZERO, _ZERO
    ever, ever_not = reduced[at(2 * ref + negated), at(block)], reduced[at(2 * ref + 1 - negated), at(block)]
    never = _ZERO if flags & WEAK else ~ever
    return (never, ~ever_not, never) if negate else (~ever_not, never, ever)


@small
def _decide_early(reduction, deferred, reduced, valid, blocks, low, high, words, undecided):
    """Write, for each block, the records for which the reduction of a deferred instruction is known to be true, and
    those for which it is not known."""
    is_left = reduction[2] == deferred[1]
    negate, other = (reduction[4] & 1, reduction[3]) if is_left else (reduction[4] >> 1 & 1, reduction[2])
    other_row = at(2 * other + (reduction[4] >> 1 & 1 if is_left else reduction[4] & 1))
    for block in range(low, high):
        always, never, ever = _known_of_deferred(deferred, negate, reduced, block)
        if reduction[0] == REDUCE_AND:
            others_ever = others_always = _ZERO
            if other > 0:
                others_ever, others_always = reduced[other_row, at(block)], ~reduced[other_row ^ at(1), at(block)]
                never |= ~others_ever
            ever = (always & others_ever) | (ever & others_always)
        exists = valid[at(blocks[at(block)])]
        words[at(block - low)], undecided[at(block - low)] = ever & exists, ~(ever | never) & exists


@small
def reduce_deferred(
    reduction, deferred, value, bitsets, vectors, reduced, valid, blocks, low, high, words, spare, undecided
):
    """Run a deferred temporal instruction and its reduction: F of its result, or of its conjunction with something
    else. Only blocks that are not decided without their steps are read."""
    reduction, deferred = borrowed(reduction), borrowed(deferred)
    bitsets, vectors = borrowed(bitsets), borrowed(vectors)
    reduced, valid, blocks = borrowed(reduced), borrowed(valid), borrowed(blocks)
    words, spare, undecided = borrowed(words), borrowed(spare), borrowed(undecided)
    _decide_early(reduction, deferred, reduced, valid, blocks, low, high, words, undecided)
    is_left, first, begin = reduction[2] == deferred[1], blocks[at(low)], low
    a, b, other, flags = deferred[2], deferred[3], reduction[3] if is_left else reduction[2], deferred[4]
    negate = _ALL if reduction[4] & (1 if is_left else 2) else _ZERO
    negate_other = _ALL if reduction[4] & (2 if is_left else 1) else _ZERO
    if reduction[0] == REDUCE:
        other, negate_other = reduction[2], negate
    while begin < high:
        if undecided[at(begin - low)] == _ZERO:
            begin += 1
            continue
        end = begin + 1
        while end < high and undecided[at(end - low)] != _ZERO:
            end += 1
        start, stop = blocks[at(begin)], blocks[at(end)]
        here, there = start - first, stop - first
        out = vectors[at(-1 - deferred[1]), here:there]
        one = bitsets[at(a), start:stop] if a >= 0 else vectors[at(-1 - a), here:there]
        two = bitsets[at(b), start:stop] if b >= 0 else vectors[at(-1 - b), here:there]
        not_a, not_b = _ALL if flags & 1 else _ZERO, _ALL if flags & 2 else _ZERO
        part, found, real = blocks[begin : end + 1], words[begin - low : end - low], valid[start:stop]
        if reduction[0] == REDUCE and negate and deferred[0] == UNTIL:
            until_fails(one, not_a, two, not_b, real, flags & WEAK, flags & BACK, part, found)
        else:
            run_temporal(deferred[0], one, not_a, two, not_b, real, value, flags, part, out,
                         undecided[begin - low : end - low], spare[: stop - start])  # fmt: skip
            beside = bitsets[at(other), start:stop] if other >= 0 else vectors[at(-1 - other), here:there]
            for block in range(end - begin):
                both = found[at(block)]
                for t in range(part[at(block)] - start, part[at(block + 1)] - start):
                    both |= (out[at(t)] ^ negate) & (beside[at(t)] ^ negate_other) & real[at(t)]
                found[at(block)] = both
        begin = end
