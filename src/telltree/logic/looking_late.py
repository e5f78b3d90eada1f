"""Looking along time as late as can be: F of what is found is often known before, from where the operands ever hold.

Fetching words takes longer than all that is done with them, so blocks of which the answer is known are not looked at.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy as np

from telltree.compiled import at, borrowed, small
from telltree.logic.instructions import BACK, BEGINS, FROM, ONLY_FIRST, REDUCE, REDUCE_AND, UNTIL, WEAK, WINDOW_OR
from telltree.logic.looking import begins, since, some_at_first, some_within, until, until_at_first, until_fails

_ZERO = np.uint64(0)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@small
def look(step, one, not_a, two, not_b, valid, value, flags, blocks, out, words, spare):
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
def may_wait(steps, k, end, value):
    """Whether an instruction that looks along time finds what it seeks at the very step where it is, so that much is
    known without looking, and the next is F of what it finds, or of that and something else."""
    at_once = steps[at(k), 0] == UNTIL or (steps[at(k), 0] == WINDOW_OR and value < FROM)
    if not at_once or k + 1 == end or steps[at(k), 4] & ONLY_FIRST:
        return False
    found, step, a, b = steps[at(k), 1], steps[at(k + 1), 0], steps[at(k + 1), 2], steps[at(k + 1), 3]
    return (step == REDUCE and a == found) or (step == REDUCE_AND and (a == found or b == found))


@small
def _known_before(before, negate, reduced, block):
    """What is known of the instruction `before`, which looks along time, without looking: the records of a block in
    which it, or its negation, finds something at all steps, at none, and at one at least."""
    flags = before[4]
    sought, negated = (before[3], flags >> 1 & 1) if before[0] == UNTIL else (before[2], flags & 1)
    if sought <= 0:
        return _ZERO, _ZERO, _ZERO
    ever, ever_not = reduced[at(2 * sought + negated), at(block)], reduced[at(2 * sought + 1 - negated), at(block)]
    never = _ZERO if flags & WEAK else ~ever
    return (never, ~ever_not, never) if negate else (~ever_not, never, ever)


@small
def _settle(now, before, reduced, valid, blocks, low, high, words, opened):
    """The records of each block that have F of what `before` looks for, or of that and something else, as far as that
    is known without looking, and those of which it is not known."""
    is_left = now[2] == before[1]
    negate, other = (now[4] & 1, now[3]) if is_left else (now[4] >> 1 & 1, now[2])
    other_row = at(2 * other + (now[4] >> 1 & 1 if is_left else now[4] & 1))
    for block in range(low, high):
        always, never, ever = _known_before(before, negate, reduced, block)
        if now[0] == REDUCE_AND:
            others_ever = others_always = _ZERO
            if other > 0:
                others_ever, others_always = reduced[other_row, at(block)], ~reduced[other_row ^ at(1), at(block)]
                never |= ~others_ever
            ever = (always & others_ever) | (ever & others_always)
        exists = valid[at(blocks[at(block)])]
        words[at(block - low)], opened[at(block - low)] = ever & exists, ~(ever | never) & exists


@small
def reduce_looking(now, before, value, planes, vectors, reduced, valid, blocks, low, high, words, spare, opened):
    """F of what the instruction `before` looks for along time, or of that and something else: it looks only in blocks
    of which the answer is not known without."""
    now, before, planes, vectors = borrowed(now), borrowed(before), borrowed(planes), borrowed(vectors)
    reduced, valid, blocks = borrowed(reduced), borrowed(valid), borrowed(blocks)
    words, spare, opened = borrowed(words), borrowed(spare), borrowed(opened)
    _settle(now, before, reduced, valid, blocks, low, high, words, opened)
    is_left, first, begin = now[2] == before[1], blocks[at(low)], low
    a, b, other, flags = before[2], before[3], now[3] if is_left else now[2], before[4]
    negate = _ALL if now[4] & (1 if is_left else 2) else _ZERO
    negate_other = _ALL if now[4] & (2 if is_left else 1) else _ZERO
    if now[0] == REDUCE:
        other, negate_other = now[2], negate
    while begin < high:
        if opened[at(begin - low)] == _ZERO:
            begin += 1
            continue
        end = begin + 1
        while end < high and opened[at(end - low)] != _ZERO:
            end += 1
        start, stop = blocks[at(begin)], blocks[at(end)]
        here, there = start - first, stop - first
        out = vectors[at(-1 - before[1]), here:there]
        one = planes[at(a), start:stop] if a >= 0 else vectors[at(-1 - a), here:there]
        two = planes[at(b), start:stop] if b >= 0 else vectors[at(-1 - b), here:there]
        not_a, not_b = _ALL if flags & 1 else _ZERO, _ALL if flags & 2 else _ZERO
        some, found, seen = blocks[begin : end + 1], words[begin - low : end - low], valid[start:stop]
        if now[0] == REDUCE and negate and before[0] == UNTIL:
            until_fails(one, not_a, two, not_b, seen, flags & WEAK, flags & BACK, some, found)
        else:
            look(before[0], one, not_a, two, not_b, seen, value, flags, some, out, opened[begin - low : end - low],
                  spare[: stop - start])  # fmt: skip
            beside = planes[at(other), start:stop] if other >= 0 else vectors[at(-1 - other), here:there]
            for block in range(end - begin):
                both = found[at(block)]
                for t in range(some[at(block)] - start, some[at(block + 1)] - start):
                    both |= (out[at(t)] ^ negate) & (beside[at(t)] ^ negate_other) & seen[at(t)]
                found[at(block)] = both
        begin = end
