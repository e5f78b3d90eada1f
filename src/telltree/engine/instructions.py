"""The machine's instructions, and programs made of them.

Everything Boolean becomes AND with optional negation of both operands and of the result, so that one loop serves ∧ ∨ ¬
⇒, and F and G share another: a ∨ b = ¬(¬a ∧ ¬b), G a = ¬F ¬a.

A vector has one word per step, a word one bit per record, lanes one number per record. A negative operand is register
−1 − operand. Otherwise a vector operand is a plane, and a word operand is 2 · plane + n: whether the plane (n = 0) or
its negation (n = 1) holds at some step, which is computed once, when the plane is made.
"""

import enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.logic import meaning
from telltree.logic.meaning import MicroOp


class Opcode(enum.IntEnum):
    """The instructions. They are numbers for compiled code; their order means nothing."""

    VECTOR_AND = 0
    SUFFIX_OR = 1  # vector: at each step, whether the operand holds there or later
    REDUCE = 2  # word: whether it holds at some step
    REDUCE_AND = 3  # VECTOR_AND and REDUCE in one
    WORD_AND = 4
    COUNT = 5  # vector to lanes
    CONSTANT = 6
    SUBTRACT = 7
    ABS = 8
    SIGN = 9
    COMPARE = 10  # lanes to word, and to a vector that says the same at every step
    WINDOW_OR = 11  # vector: whether it holds at one of the steps of the window `value`; word: at the first step
    UNTIL = 12  # vector: whether the second comes, the first holding up to then; word: the same at the first step
    LONGEST = 14  # vector to lanes: at how many steps in a row it holds, at most
    BEGINS = 13  # vector: whether it holds at a step and not at the one before


# Compiled code takes enum members as constants only through plain numbers.
VECTOR_AND, SUFFIX_OR, REDUCE = int(Opcode.VECTOR_AND), int(Opcode.SUFFIX_OR), int(Opcode.REDUCE)
REDUCE_AND, WORD_AND, COUNT = int(Opcode.REDUCE_AND), int(Opcode.WORD_AND), int(Opcode.COUNT)
CONSTANT, SUBTRACT, ABS = int(Opcode.CONSTANT), int(Opcode.SUBTRACT), int(Opcode.ABS)
SIGN, COMPARE = int(Opcode.SIGN), int(Opcode.COMPARE)
WINDOW_OR, UNTIL, BEGINS = int(Opcode.WINDOW_OR), int(Opcode.UNTIL), int(Opcode.BEGINS)
LONGEST = int(Opcode.LONGEST)


def _marked(codes: set[Opcode]) -> NDArray[np.bool_]:
    """For each instruction whether it is one of these."""
    marks = np.zeros(max(Opcode) + 1, np.bool_)
    marks[list(codes)] = True
    return marks


ON_LANES = _marked({Opcode.CONSTANT, Opcode.SUBTRACT, Opcode.ABS, Opcode.SIGN, Opcode.COMPARE})
"""What reads nothing but lanes."""
READS_BITSETS = ~ON_LANES
"""What may read planes, or whether they ever hold."""

IS_TEMPORAL = _marked({Opcode.WINDOW_OR, Opcode.UNTIL, Opcode.BEGINS})
"""What the machine is compiled without where no formula has it."""

MOST_STEPS = 2**26 - 1
"""A window that begins or ends farther away is beyond the end of any record."""
FROM = 2**26
"""The value of WINDOW_OR is so many times its first step, and how many more there are."""

ON_NUMBERS = np.full(max(MicroOp) + 1, -1, np.int64)
"""The instruction for each code that works with numbers."""
ON_NUMBERS[MicroOp.COUNT], ON_NUMBERS[MicroOp.COMPARE] = COUNT, COMPARE
ON_NUMBERS[MicroOp.LONGEST] = LONGEST
ON_NUMBERS[MicroOp.SUBTRACT], ON_NUMBERS[MicroOp.ABS], ON_NUMBERS[MicroOp.SIGN] = SUBTRACT, ABS, SIGN

# Flags: 1 negates operand a, 2 operand b. Those of COMPARE are the outcomes for which it is true.
ONLY_FIRST = 4
"""Of what looks along time: only the word is asked for."""
BACK = 8
"""Of windows and UNTIL: towards the start of the record."""
WEAK = 16
"""Of UNTIL: also where the first operand holds to the end; of BEGINS: also at the first step."""
LESS, EQUAL, GREATER = meaning.LESS, meaning.EQUAL, meaning.GREATER


class Programs(NamedTuple):
    """The programs of a population: instructions one after the other."""

    steps: NDArray[np.int32]  # instruction, destination, operand a, operand b, flags
    values: NDArray[np.float64]  # of CONSTANT and WINDOW_OR
    bounds: NDArray[np.int64]  # first instruction of each individual, and one past its last
    result: NDArray[np.int32]  # of each individual: the operand that holds the answer, and whether it is negated
    size: NDArray[np.int64]  # of each individual: terminals
    registers: NDArray[np.int64]  # the most registers that any program uses

    @classmethod
    def empty(cls, individuals: int, instructions: int) -> "Programs":
        """Empty programs."""
        return cls(
            np.empty((instructions, 5), np.int32),
            np.empty(instructions, np.float64),
            np.zeros((individuals, 2), np.int64),
            np.zeros((individuals, 2), np.int32),
            np.zeros(individuals, np.int64),
            np.zeros(1, np.int64),
        )
