"""From derivations to programs, the fast path for plain formulas, which nearly all are.

A formula is plain if it is made of connectives, numbered atoms, and F and G that pass their question on to their
operands. One pass from left to right is enough; `logic.lowering` lowers all others.
"""

import numpy as np

from telltree.compiled import at, borrowed, inline, kernel
from telltree.engine.operands import FIRST_MODE, NOTHING, SECOND_MODE, STEPS, connect, read_bitset, write
from telltree.logic.meaning import MicroOp

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


# Compiled code takes enum members as constants only through plain numbers.
_HOLE, _NOT = int(MicroOp.HOLE), int(MicroOp.NOT)
_EVENTUALLY, _GLOBALLY = int(MicroOp.EVENTUALLY), int(MicroOp.GLOBALLY)
_EMPTY = np.iinfo(np.int64).max
"""In place of an operand that is not known yet."""
UNKNOWN, NOTED = -1, -2
"""In place of the plane of a numbered atom: it has none; it has none, and that is already noted."""


@inline
def _note(number, individual, node, bitsets, lacking, lacks):
    """Note a numbered atom without a plane, once; when there is no more room, it waits for the next attempt."""
    if bitsets[at(number)] == UNKNOWN and lacks < len(lacking):
        lacking[lacks, 0], lacking[lacks, 1], lacking[lacks, 2] = number, individual, node
        bitsets[at(number)] = NOTED
        lacks += 1
    return lacks


@inline
def _lower(rule_table, micro, rules, length, here, bitsets, steps, end, waiting, individual, lacking, lacks):
    """Lower one formula; `here` is how it is read. Returns where its instructions end, or −1 if it is not plain; its
    operand, whether that is negated, its registers and its size; and how many atoms lack a plane so far.
    """
    node, top, fresh, size, flip, ref, negated = 0, 0, 0, 0, 0, 0, 0
    while node < length:
        rule = rule_table[at(rules[at(node)])]
        code, atom = np.int64(rule.simple), rule.first_atom
        size += rule.size
        node += 1
        if code != _HOLE:
            more = rule.lead
            while True:
                operand = FIRST_MODE[at(code), at(here)]
                if code == _NOT:
                    flip ^= 1
                elif code == _EVENTUALLY or code == _GLOBALLY:
                    if operand == STEPS:
                        return -1, 0, 0, 0, 0, lacks
                else:
                    frame = waiting[at(top)]
                    frame[0], frame[1], frame[2], frame[3] = code, here, flip, _EMPTY
                    top, flip = top + 1, 0
                here = operand
                more -= 1
                if not more:
                    break
                code = np.int64(micro[at(rule.code_start + rule.lead - more)].code)
            continue
        if rule.takes:
            constant = rule_table[at(rules[at(node)])]
            atom += constant.constant
            size += constant.size
            node += 1
        if atom < 0:
            return -1, 0, 0, 0, 0, lacks
        slot = np.int64(bitsets[at(atom)])
        if slot < 0:
            lacks = _note(atom, individual, node - 1 - rule.takes, bitsets, lacking, lacks)
            slot = np.int64(0)
        ref, negated = read_bitset(slot, here)
        negated ^= flip
        while top and waiting[at(top - 1), 3] != _EMPTY:  # both operands are known
            top -= 1
            frame = waiting[at(top)]
            step, register, first, flags, turned = connect(frame[0], frame[1], frame[3], frame[4], ref, negated, fresh)
            if step != NOTHING:
                end = write(steps, end, step, register, first, ref, flags)
            fresh += register == -1 - fresh
            ref, negated = register, turned ^ frame[2]
        if top:
            frame = waiting[at(top - 1)]
            frame[3], frame[4] = ref, negated
            here, flip = SECOND_MODE[at(frame[0]), at(frame[1])], 0
    return end, ref, negated, fresh, size, lacks


@kernel
def lower_plain(rule_table, micro, rules, lengths, wanted, mode, bitsets, programs, waiting, lacking, others):
    """Lower those of the `wanted` individuals that are plain; see `logic.lowering.lower`.

    `bitsets` are those of the numbered atoms: twice the plane, plus one for its negation. Atoms without a plane are
    noted in `lacking` (number, individual and node); if there are any, everything must be lowered again. `others` gets
    the individuals that are not plain. Returns where the instructions end, how many atoms lack a plane, and how many
    individuals are not plain.
    """
    rule_table, rules, bitsets, programs = borrowed(rule_table), borrowed(rules), borrowed(bitsets), borrowed(programs)
    waiting, lacking, micro, begin, lacks, odd = borrowed(waiting), borrowed(lacking), borrowed(micro), 0, 0, 0
    for i in wanted:
        end, ref, negated, fresh, size, lacks = _lower(
            rule_table, micro, rules[i], lengths[i], mode, bitsets, programs.steps, begin, waiting, i, lacking, lacks
        )
        if end < 0:
            others[odd] = i
            odd += 1
            continue
        programs.bounds[i, 0], programs.bounds[i, 1] = begin, end
        programs.result[i, 0], programs.result[i, 1] = ref, negated
        programs.size[i] = size
        programs.registers[0] = fresh if fresh > programs.registers[0] else programs.registers[0]
        begin = end
    return begin, lacks, odd
