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


class Opcode(enum.IntEnum):
    """The instructions."""

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
    COMPARE = 10  # lanes to word, and to a vector with the same word at every step


# Compiled code takes enum members as constants only through plain numbers.
VECTOR_AND, SUFFIX_OR, REDUCE, REDUCE_AND, WORD_AND = (int(code) for code in list(Opcode)[:5])
COUNT, CONSTANT, SUBTRACT, ABS, SIGN, COMPARE = (int(code) for code in list(Opcode)[5:])

# Flags: 1 negates operand a, 2 operand b.
LESS, EQUAL, GREATER = 1, 2, 4
"""A comparison is true for one or two of the three outcomes; flags of COMPARE."""


class Programs(NamedTuple):
    """The programs of a population: instructions one after the other."""

    steps: NDArray[np.int32]  # opcode, destination, operand a, operand b, flags
    values: NDArray[np.float64]  # of CONSTANT
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
