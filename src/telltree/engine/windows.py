"""Windowed and temporal operators on bitsets: 64 records at a time, evaluated lazily where possible."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, borrowed, small
from telltree.engine.bitset_layout import aligned_words
from telltree.engine.instructions import BACK, BEGINS, FROM, ONLY_FIRST, REDUCE, REDUCE_AND, UNTIL, WEAK, WINDOW_OR

# ---- What looks at windows of steps, back, or on until something happens: 64 records at a time, in a pass or a few.
#
# Where a grammar has none of this, the machine is compiled without it.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


_ZERO = np.uint64(0)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


class WindowMemory(NamedTuple):
    """Additional memory for programs that look along time. Without it, kernels get None."""

    spare: NDArray[np.uint64]  # one vector of a tile
    runs: NDArray[np.float64]  # for each lane, how many steps in a row
    undecided: NDArray[np.uint64]  # for each block, the records of which more must be known

    @classmethod
    def empty(cls, words: int, blocks: int) -> "WindowMemory":
        """For tiles of at most this many words and blocks."""
        return cls(aligned_words(1, words)[0], np.empty(64), np.empty(blocks, np.uint64))


# Vectors are those of a tile; `blocks` are where its blocks begin, and one past the last, and count from the first.
# Loops go over the whole tile where they can, for those over a block are too short to be fast. Operands are read from
# first to last, and only what is at hand by then from last to first.


@small
def _masked(x, negate, valid, t):
    return (x[at(t)] ^ negate) & valid[at(t)]


@small
def _shift(x, negate, valid, by, target):
    """At each step whether the operand holds so many steps later, or earlier if that is negative; what is beyond the
    tile is left as it is."""
    words = len(target)
    for t in range(min(max(0, -by), words), max(0, min(words, words - by))):
        target[at(t)] = _masked(x, negate, valid, t + by)


@small
def _widen(source, covered, width, sign, target):
    """A window four times as long, but no longer than `width`: at each step whether a vector, which sees as many steps
    as `covered`, holds there or once, twice or three times as many steps later, or earlier."""
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
    """What a window sees from the last steps of each block, where it reaches the end: whatever is still to come."""
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
    """At each step whether the operand holds at one of the steps from `near` to `near + further` later, or earlier.

    The window is four times as long after each pass: a vector, and itself some steps later. What these see beyond the
    end of a block is mended at last. A window as long as a block takes no pass.
    """
    longest, sign = np.int64(0), -1 if back else 1
    for block in range(len(blocks) - 1):
        longest = max(longest, blocks[at(block + 1)] - blocks[at(block)])
    if further + 1 >= longest:  # to the end of every block, which the last pass finds by itself, at all of its steps
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
    """The same at the first step of each block alone."""
    for block in range(len(blocks) - 1):
        start, stop = blocks[at(block)] - blocks[0], blocks[at(block + 1)] - blocks[0]
        found = _ZERO
        for t in range(min(start + near, stop), min(start + near + further + 1, stop)):
            found |= (x[at(t)] ^ negate) & valid[at(t)]
        words[at(block)] = found


@small
def until(a, not_a, b, not_b, valid, weak, blocks, out, spare):
    """At each step whether b comes, there or later, and a holds up to then; if `weak`, or to the end."""
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
    """The same at the first step of each block alone; a has held so far in the records that are open."""
    ended = _ALL if weak else _ZERO
    for block in range(len(blocks) - 1):
        start, stop = blocks[at(block)] - blocks[0], blocks[at(block + 1)] - blocks[0]
        found, is_open = _ZERO, _ALL
        for t in range(start, stop):
            reduction = valid[at(t)]
            found |= is_open & (((b[at(t)] ^ not_b) & reduction) | (ended & ~reduction))
            is_open &= a[at(t)] ^ not_a
            if is_open & ~found == _ZERO:
                break
        words[at(block)] = found | (is_open & ended)


@small
def until_fails(a, not_a, b, not_b, valid, weak, back, blocks, words):
    """For which records until, or since if `back`, is false at some step; added to those that are in `words`.

    It is where neither a nor b holds. If there is no such step, it is true wherever it is true one step further on: so
    at all steps if b holds at the last one, or if it need not.
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
    """At each step whether b came, there or before, and a has held from the step after it on."""
    for block in range(len(blocks) - 1):
        start, stop = blocks[at(block)] - blocks[0], blocks[at(block + 1)] - blocks[0]
        found = _ZERO
        for t in range(start, stop):
            found = (b[at(t)] ^ not_b) | ((a[at(t)] ^ not_a) & found)
            out[at(t)] = found


@small
def begins(x, negate, first, blocks, out):
    """At each step whether the vector holds there and not at the step before; at the first step if `first` says so."""
    for t in range(1, len(out)):
        out[at(t)] = (x[at(t)] ^ negate) & ~(x[at(t - 1)] ^ negate)
    for block in range(len(blocks) - 1):
        start = at(blocks[at(block)] - blocks[0])
        out[start] = (x[start] ^ negate) if first else _ZERO


@small
def longest_run(x, negate, valid, runs, lanes):
    """For each record at how many steps in a row the vector of a block holds, at most."""
    runs[:] = 0.0
    lanes[:] = 0.0
    for t in range(len(x)):
        word = _masked(x, negate, valid, t)
        for lane in range(64):
            run = (runs[at(lane)] + 1.0) * np.float64((word >> at(lane)) & np.uint64(1))
            runs[at(lane)] = run
            lanes[at(lane)] = max(lanes[at(lane)], run)


# ---- Looking along time as late as can be: F of what is found is often known before, from where the operands ever
# hold.
#
# Fetching words takes longer than all that is done with them, so blocks of which the answer is known are not looked
# at.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


@small
def run_temporal(step, one, not_a, two, not_b, valid, value, flags, blocks, out, words, spare):
    """The instructions that look along time, on a tile; words are what they find at the first step of each block."""
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
    """Whether an instruction that looks along time finds what it seeks at the very step where it is, so that much is
    known without looking, and the next is F of what it finds, or of that and something else."""
    at_once = steps[at(k), 0] == UNTIL or (steps[at(k), 0] == WINDOW_OR and value < FROM)
    if not at_once or k + 1 == end or steps[at(k), 4] & ONLY_FIRST:
        return False
    found, step, a, b = steps[at(k), 1], steps[at(k + 1), 0], steps[at(k + 1), 2], steps[at(k + 1), 3]
    return (step == REDUCE and a == found) or (step == REDUCE_AND and (a == found or b == found))


@small
def _known_of_deferred(deferred, negate, reduced, block):
    """What is known of the instruction `deferred`, which looks along time, without looking: the records of a block in
    which it, or its negation, finds something at all steps, at none, and at one at least."""
    flags = deferred[4]
    target_ref, negated = (deferred[3], flags >> 1 & 1) if deferred[0] == UNTIL else (deferred[2], flags & 1)
    if target_ref <= 0:
        return _ZERO, _ZERO, _ZERO
    ever, ever_not = (
        reduced[at(2 * target_ref + negated), at(block)],
        reduced[at(2 * target_ref + 1 - negated), at(block)],
    )
    never = _ZERO if flags & WEAK else ~ever
    return (never, ~ever_not, never) if negate else (~ever_not, never, ever)


@small
def _decide_early(reduction, deferred, reduced, valid, blocks, low, high, words, undecided):
    """The records of each block that have F of what `deferred` looks for, or of that and something else, as far as that
    is known without looking, and those of which it is not known."""
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
    """F of what the instruction `deferred` looks for along time, or of that and something else: it looks only in blocks
    of which the answer is not known without."""
    reduction, deferred, bitsets, vectors = (
        borrowed(reduction),
        borrowed(deferred),
        borrowed(bitsets),
        borrowed(vectors),
    )
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
        some, found, covered = blocks[begin : end + 1], words[begin - low : end - low], valid[start:stop]
        if reduction[0] == REDUCE and negate and deferred[0] == UNTIL:
            until_fails(one, not_a, two, not_b, covered, flags & WEAK, flags & BACK, some, found)
        else:
            run_temporal(deferred[0], one, not_a, two, not_b, covered, value, flags, some, out, undecided[begin - low : end - low],
                  spare[: stop - start])  # fmt: skip
            beside = bitsets[at(other), start:stop] if other >= 0 else vectors[at(-1 - other), here:there]
            for block in range(end - begin):
                both = found[at(block)]
                for t in range(some[at(block)] - start, some[at(block + 1)] - start):
                    both |= (out[at(t)] ^ negate) & (beside[at(t)] ^ negate_other) & covered[at(t)]
                found[at(block)] = both
        begin = end
