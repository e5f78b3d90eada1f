"""The machine's instructions, and programs made of them.

Everything Boolean becomes AND with optional negation of both operands and of the result, so that one loop serves ∧ ∨ ¬
⇒, and F and G share another: a ∨ b = ¬(¬a ∧ ¬b), G a = ¬F ¬a.

A vector has one word per step, a word one bit per record, lanes one number per record. A negative operand is register
−1 − operand. Otherwise a vector operand is a bitset, and a word operand is 2 · bitset + n: the records for which the
bitset (n = 0) or its negation (n = 1) is true at some step, computed once, when the bitset is made.
"""

import enum
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.logic import meaning
from telltree.logic.meaning import MicroOp


class Opcode(enum.IntEnum):
    """The instructions. They are numbers for compiled code; their order means nothing."""

    VECTOR_AND = 0
    SUFFIX_OR = 1  # vector: at each step, the operand is true there or later
    REDUCE = 2  # word: the operand is true at some step
    REDUCE_AND = 3  # VECTOR_AND and REDUCE in one
    WORD_AND = 4
    COUNT = 5  # vector to lanes
    CONSTANT = 6
    SUBTRACT = 7
    ABS = 8
    SIGN = 9
    COMPARE = 10  # lanes to word, and to a vector with that word at every step
    WINDOW_OR = 11  # vector: true at a step of the window `value`; word: the same at the first step
    UNTIL = 12  # vector: the second is true later, the first until then; word: the same at the first step
    LONGEST = 14  # vector to lanes: the longest run of true steps
    BEGINS = 13  # vector: true at a step and not at the one before


# Compiled code takes enum members as constants only through plain numbers.
VECTOR_AND, SUFFIX_OR, REDUCE = int(Opcode.VECTOR_AND), int(Opcode.SUFFIX_OR), int(Opcode.REDUCE)
REDUCE_AND, WORD_AND, COUNT = int(Opcode.REDUCE_AND), int(Opcode.WORD_AND), int(Opcode.COUNT)
CONSTANT, SUBTRACT, ABS = int(Opcode.CONSTANT), int(Opcode.SUBTRACT), int(Opcode.ABS)
SIGN, COMPARE = int(Opcode.SIGN), int(Opcode.COMPARE)
WINDOW_OR, UNTIL, BEGINS = int(Opcode.WINDOW_OR), int(Opcode.UNTIL), int(Opcode.BEGINS)
LONGEST = int(Opcode.LONGEST)


def membership(codes: Collection[int], numbers: type[enum.IntEnum]) -> NDArray[np.bool_]:
    """Return a table by number that is True for these codes."""
    table = np.zeros(max(numbers) + 1, np.bool_)
    table[list(codes)] = True
    return table


ON_LANES = membership({Opcode.CONSTANT, Opcode.SUBTRACT, Opcode.ABS, Opcode.SIGN, Opcode.COMPARE}, Opcode)
"""Instructions that read nothing but lanes."""
READS_BITSETS = ~ON_LANES
"""Instructions that may read bitsets, or the records for which these are ever true."""

IS_TEMPORAL = membership({Opcode.WINDOW_OR, Opcode.UNTIL, Opcode.BEGINS}, Opcode)
"""Temporal instructions other than F and G; the machine is compiled without them where no formula has any."""

MOST_STEPS = 2**26 - 1
"""A window that begins or ends farther away is beyond the end of any record."""
FROM = 2**26
"""The value of WINDOW_OR is FROM × the first step of the window + the number of further steps."""

ON_NUMBERS = np.full(max(MicroOp) + 1, -1, np.int64)
"""The instruction for each operator code on numbers, else −1."""
ON_NUMBERS[MicroOp.COUNT], ON_NUMBERS[MicroOp.COMPARE] = COUNT, COMPARE
ON_NUMBERS[MicroOp.LONGEST] = LONGEST
ON_NUMBERS[MicroOp.SUBTRACT], ON_NUMBERS[MicroOp.ABS], ON_NUMBERS[MicroOp.SIGN] = SUBTRACT, ABS, SIGN

# Flags: 1 negates operand a, 2 operand b. Those of COMPARE are the outcomes for which it is true.
ONLY_FIRST = 4
"""Flag of WINDOW_OR and UNTIL: only the word is needed."""
BACK = 8
"""Flag of WINDOW_OR and UNTIL: towards the start of the record."""
WEAK = 16
"""Flag of UNTIL: also true where the first operand is true to the end; of BEGINS: also at the first step."""
LESS, EQUAL, GREATER = meaning.LESS, meaning.EQUAL, meaning.GREATER


class Programs(NamedTuple):
    """The programs of a population: instructions one after the other."""

    steps: NDArray[np.int32]  # instruction, destination, operand a, operand b, flags
    values: NDArray[np.float64]  # of CONSTANT and WINDOW_OR
    bounds: NDArray[np.int64]  # first instruction of each individual, and one past its last
    result: NDArray[np.int32]  # of each individual: the operand with the answer, and 1 if it is negated
    size: NDArray[np.int64]  # of each individual: terminals
    registers: NDArray[np.int64]  # the largest number of registers that a program uses

    @classmethod
    def empty(cls, individuals: int, instructions: int) -> "Programs":
        """Allocate programs."""
        return cls(
            np.empty((instructions, 5), np.int32),
            np.empty(instructions, np.float64),
            np.zeros((individuals, 2), np.int64),
            np.zeros((individuals, 2), np.int32),
            np.zeros(individuals, np.int64),
            np.zeros(1, np.int64),
        )
