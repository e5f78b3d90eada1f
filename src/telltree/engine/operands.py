"""How parts of formulas become operands of the machine, and connectives its instructions; used by both lowerings."""

import numpy as np

from telltree.compiled import at, small
from telltree.engine.instructions import REDUCE, REDUCE_AND, VECTOR_AND, WORD_AND
from telltree.logic.meaning import OPERAND_MODES, MicroOp, Mode

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


# Compiled code takes enum members as constants only through plain numbers.
_AND, _OR = int(MicroOp.AND), int(MicroOp.OR)
RECORD, STEPS, EVERY = int(Mode.RECORD), int(Mode.STEPS), int(Mode.EVERY)
NOTHING = -1
"""In place of an opcode, if no instruction is needed."""
FIRST_MODE, SECOND_MODE = OPERAND_MODES[:, :, 0].astype(np.int64), OPERAND_MODES[:, :, 1].astype(np.int64)
"""opcode × how the whole is read: how its first, and its second operand, is read."""


@small
def read_bitset(slot, mode):
    """The operand for a plane or its negation, read in a mode, and whether it is negated.

    Operand 0 is never true, in any mode.
    """
    every = 1 if mode == EVERY else 0
    whole = mode == STEPS or slot <= 1
    return slot >> 1 if whole else slot ^ every, slot & 1 if whole else every


@small
def connect(code, mode, ref_a, not_a, ref_b, not_b, fresh):
    """∧ ∨ ⇒ of two operands: the opcode, its destination, first operand and flags, and whether the result is negated.

    a ∨ b = ¬(¬a ∧ ¬b), a ⇒ b = ¬(a ∧ ¬b). Operand 0 is never true.
    """
    every, negated = 1 if mode == EVERY else 0, 0 if code == _AND else 1
    not_a, not_b = not_a ^ (code == _OR), not_b ^ negated
    reduces = mode != STEPS and FIRST_MODE[at(code), at(mode)] == STEPS
    if (ref_a == 0 and not not_a) or (ref_b == 0 and not not_b):  # false ∧ x is false
        return NOTHING, 0, 0, 0, negated
    if ref_a == 0 or ref_b == 0:  # true ∧ x is x
        kept = ref_b if ref_a == 0 else ref_a
        negated ^= not_b if ref_a == 0 else not_a
        if reduces and kept > 0:
            return NOTHING, 2 * kept + (negated ^ every), 0, 0, every
        if reduces and kept < 0:
            return REDUCE, kept, kept, negated ^ every, every
        return NOTHING, kept, 0, 0, negated
    register = ref_a if ref_a < 0 else (ref_b if ref_b < 0 else -1 - fresh)
    if mode == STEPS:  # writing is much faster to a vector that is not also read
        register = -1 - fresh
    flags = not_a | not_b << 1
    if reduces:
        return REDUCE_AND, register, ref_a, flags, every  # the negations of the result and of G cancel
    return VECTOR_AND if mode == STEPS else WORD_AND, register, ref_a, flags, negated


@small
def write(steps, end, step, register, a, b, flags):
    """Write an instruction; returns where the next one goes."""
    written = steps[at(end)]
    written[0], written[1], written[2], written[3], written[4] = step, register, a, b, flags
    return end + 1
