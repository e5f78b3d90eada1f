"""The machine's instructions, and programs made of them.

Everything Boolean becomes AND with optional negation of both operands and of the result, so that one loop serves
∧ ∨ ¬ ⇒, and F and G share another: a ∨ b = ¬(¬a ∧ ¬b), G a = ¬F ¬a.

Vectors have a word a step, words a bit a record, lanes a number a record. An operand below 0 is register −1 − operand.
From 0 on, a vector operand is a plane, and a word operand is 2 · plane + n: whether the plane (n = 0) or its negation
(n = 1) holds at some step, which is known once and for all.
"""

import enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.operators import meaning
from telltree.operators.meaning import MicroOp


class Opcode(enum.IntEnum):
    """The instructions. They are numbers for compiled code; their order means nothing."""

    VECTOR_AND = 0
    SUFFIX_OR = 1  # vector: at each step, whether the operand holds from there on at some point
    REDUCE = 2  # word: whether it holds at some step
    REDUCE_AND = 3  # VECTOR_AND and REDUCE in one
    WORD_AND = 4
    COUNT = 5  # vector to lanes
    CONSTANT = 6
    SUBTRACT = 7
    ABS = 8
    SIGN = 9
    COMPARE = 10  # lanes to word, and to a vector that says the same at every step
    WINDOW_OR = 11  # vector: whether it holds at a step or one of the next `value`; word: the same at the first step
    SHIFT = 12  # vector: what it is `value` steps later, false beyond the end; word: the same at the first step


# Compiled code takes enum members as constants only through plain numbers.
VECTOR_AND, SUFFIX_OR, REDUCE = int(Opcode.VECTOR_AND), int(Opcode.SUFFIX_OR), int(Opcode.REDUCE)
REDUCE_AND, WORD_AND, COUNT = int(Opcode.REDUCE_AND), int(Opcode.WORD_AND), int(Opcode.COUNT)
CONSTANT, SUBTRACT, ABS = int(Opcode.CONSTANT), int(Opcode.SUBTRACT), int(Opcode.ABS)
SIGN, COMPARE = int(Opcode.SIGN), int(Opcode.COMPARE)
WINDOW_OR, SHIFT = int(Opcode.WINDOW_OR), int(Opcode.SHIFT)


def _marked(codes: set[Opcode]) -> NDArray[np.bool_]:
    """For each instruction whether it is one of these."""
    marks = np.zeros(max(Opcode) + 1, np.bool_)
    marks[list(codes)] = True
    return marks


ON_LANES = _marked({Opcode.CONSTANT, Opcode.SUBTRACT, Opcode.ABS, Opcode.SIGN, Opcode.COMPARE})
"""What reads nothing but lanes."""
READS_PLANES = ~ON_LANES
"""What may read planes, or whether they ever hold."""

ON_NUMBERS = np.full(max(MicroOp) + 1, -1, np.int64)
"""The instruction for each code that works with numbers."""
ON_NUMBERS[MicroOp.COUNT], ON_NUMBERS[MicroOp.COMPARE] = COUNT, COMPARE
ON_NUMBERS[MicroOp.SUBTRACT], ON_NUMBERS[MicroOp.ABS], ON_NUMBERS[MicroOp.SIGN] = SUBTRACT, ABS, SIGN

# Flags: 1 negates operand a, 2 operand b. Those of COMPARE are the outcomes for which it is true.
LESS, EQUAL, GREATER = meaning.LESS, meaning.EQUAL, meaning.GREATER


class Programs(NamedTuple):
    """Room for the programs of a population: instructions one after the other."""

    steps: NDArray[np.int32]  # instruction, destination, operand a, operand b, flags
    values: NDArray[np.float64]  # of CONSTANT, WINDOW_OR and SHIFT
    bounds: NDArray[np.int64]  # first instruction of each individual, and one past its last
    result: NDArray[np.int32]  # of each individual: the operand that holds the answer, and whether it is negated
    size: NDArray[np.int64]  # of each individual: terminals
    registers: NDArray[np.int64]  # the largest number of registers any program uses

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
