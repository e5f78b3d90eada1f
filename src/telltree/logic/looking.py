"""What looks at windows of steps, back, or on until something happens: 64 records at a time, in a pass or a few.

Where a grammar has none of this, the machine is compiled without it.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, small
from telltree.logic.aligned import aligned_words

_ZERO = np.uint64(0)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


class Looking(NamedTuple):
    """Additional memory for programs that look along time. Without it, kernels get None."""

    spare: NDArray[np.uint64]  # one vector of a tile
    runs: NDArray[np.float64]  # for each lane, how many steps in a row
    opened: NDArray[np.uint64]  # for each block, the records of which more must be known

    @classmethod
    def empty(cls, words: int, blocks: int) -> "Looking":
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
def _widen(source, seen, width, sign, target):
    """A window four times as long, but no longer than `width`: at each step whether a vector, which sees as many steps
    as `seen`, holds there or once, twice or three times as many steps later, or earlier."""
    one, two, three = (
        sign * min(seen, width - seen),
        sign * min(2 * seen, width - seen),
        sign * min(3 * seen, width - seen),
    )
    words = len(target)
    for t in range(min(max(0, -three), words), max(0, min(words, words - three))):
        near, far = source[at(t)] | source[at(t + one)], source[at(t + two)] | source[at(t + three)]
        target[at(t)] = near | far


@small
def _mend(x, negate, valid, near, further, sign, blocks, out):
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
    seen, odd = np.int64(1), False
    while seen < width:
        seen, odd = 4 * seen, not odd
    if odd:
        _shift(x, negate, valid, sign * near, spare)
    elif width:
        _shift(x, negate, valid, sign * near, out)
    seen = np.int64(1)
    while seen < width:
        if odd:
            _widen(spare, seen, width, sign, out)
        else:
            _widen(out, seen, width, sign, spare)
        seen, odd = 4 * seen, not odd
    _mend(x, negate, valid, near, further, sign, blocks, out)


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
            now = valid[at(t)]
            found |= is_open & (((b[at(t)] ^ not_b) & now) | (ended & ~now))
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
