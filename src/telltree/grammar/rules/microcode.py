"""What each rule means to the engine: its template as a list of opcodes in prefix order.

An atom is the smallest Boolean vector: a comparison of vectors, a Boolean attribute, a user function. The parts of an
atom are never executed, only hashed (`ident`): the engine looks up the whole atom by its hash.
"""

import enum
import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.errors import OperatorError
from telltree.operators import Attribute, Expression, Hole, Number, Operator, Type
from telltree.operators.expression import RandomNumber


class MicroOp(enum.IntEnum):
    """The opcodes; compiled code sees their numbers."""

    HOLE = 0
    NAME = 1  # part of an atom: numbers, real and categorical vectors
    ATOM = 2
    AND = 3
    OR = 4
    NOT = 5
    IMPLIES = 6
    EVENTUALLY = 7
    GLOBALLY = 8
    COUNT = 9  # from here on, one number per record
    SUBTRACT = 10
    ABS = 11
    SIGN = 12
    LESS = 13
    LESS_EQUAL = 14
    GREATER = 15
    GREATER_EQUAL = 16
    EQUAL = 17


class Mode(enum.IntEnum):
    """How a part of a formula is read.

    F asks whether its operand holds at some step. F(a ∨ b) is F a ∨ F b, so ∨ passes the question on to its operands;
    likewise G and ∧.
    """

    RECORD = 0  # is the record true?
    STEPS = 1  # is it true at each step? (one bit per step)
    SOME = 2  # is it true at some step?
    EVERY = 3  # is it true at all steps?


def _operand_modes() -> NDArray[np.int32]:
    """opcode × how the whole is read × operand: how the operand is read."""
    modes = np.full((len(MicroOp), len(Mode), 2), Mode.STEPS, np.int32)
    modes[[MicroOp.AND, MicroOp.OR, MicroOp.NOT, MicroOp.IMPLIES], Mode.RECORD] = Mode.RECORD
    modes[MicroOp.EVENTUALLY, [Mode.RECORD, Mode.SOME]] = Mode.SOME
    modes[MicroOp.GLOBALLY, [Mode.RECORD, Mode.EVERY]] = Mode.EVERY
    modes[MicroOp.AND, Mode.EVERY] = Mode.EVERY
    modes[MicroOp.OR, Mode.SOME] = Mode.SOME
    modes[MicroOp.NOT, Mode.SOME], modes[MicroOp.NOT, Mode.EVERY] = Mode.EVERY, Mode.SOME
    modes[MicroOp.IMPLIES, Mode.SOME] = Mode.EVERY, Mode.SOME
    return modes


OPERAND_MODES = _operand_modes()

_OF_CONNECTIVE = {
    "and": MicroOp.AND, "or": MicroOp.OR, "not": MicroOp.NOT, "implies": MicroOp.IMPLIES,
    "F": MicroOp.EVENTUALLY, "G": MicroOp.GLOBALLY, "count": MicroOp.COUNT,
}  # fmt: skip
_OF_COUNTS = {
    "-": MicroOp.SUBTRACT, "abs": MicroOp.ABS, "sign": MicroOp.SIGN, "<": MicroOp.LESS, "<=": MicroOp.LESS_EQUAL,
    ">": MicroOp.GREATER, ">=": MicroOp.GREATER_EQUAL, "=": MicroOp.EQUAL,
}  # fmt: skip


_IN_ATOMS = frozenset({"<", "<=", ">", ">=", "=", "abs", "-", "sign", "missing", "elapsed", "gone", "change"})
"""Operators that make signals and compare them (`logic/signals.py`); the engine sees only the resulting atoms."""


class Microcode(NamedTuple):
    """A table, column by column; the opcodes of rule r are `start[r]` … `start[r + 1] − 1`."""

    start: NDArray[np.int32]
    code: NDArray[np.int32]
    arity: NDArray[np.int32]
    ident: NDArray[np.uint64]  # a hash of the node
    value: NDArray[np.float64]  # if it is a number
    mode: NDArray[np.int32]  # how it is read, for each way to read the whole template

    @classmethod
    def of(cls, templates: Iterable[Expression]) -> "Microcode":
        """The opcodes of all templates, one after the other."""
        idents: dict[str, int] = {}
        nodes = [list(_nodes(template, tuple(Mode), idents)) for template in templates]
        start = np.cumsum([0, *map(len, nodes)])
        code, arity, ident, value, mode = zip(*(node for rule in nodes for node in rule), strict=True)
        ints = np.int32
        return cls(
            start.astype(ints),
            np.array(code, ints),
            np.array(arity, ints),
            np.array(ident, np.uint64),
            np.array(value, np.float64),
            np.array(mode, ints),
        )


_Node = tuple[int, int, int, float, tuple[int, ...]]


def _nodes(e: Expression, modes: tuple[int, ...], idents: dict[str, int]) -> Iterator[_Node]:
    value = e.head.value if isinstance(e.head, Number) else np.nan
    code = code_of(e)
    yield code, len(e.args), _ident(e, idents), value, modes
    for k, arg in enumerate(e.args):
        yield from _nodes(arg, tuple(int(OPERAND_MODES[code, mode, min(k, 1)]) for mode in modes), idents)


def code_of(e: Expression) -> MicroOp:
    """The opcode of one node of a template."""
    if isinstance(e.head, Hole):
        return MicroOp.HOLE
    if isinstance(e.head, Operator):
        if e.head.name in _OF_CONNECTIVE:
            return _OF_CONNECTIVE[e.head.name]
        on_counts = any(arg.type is Type.COUNT for arg in e.args)
        if on_counts:
            return _OF_COUNTS[e.head.name]
        if e.head.name not in _IN_ATOMS:
            raise OperatorError(e.head.name, "grammar/rules/microcode.py")
    return MicroOp.ATOM if e.type is Type.BOOLEAN_VECTOR else MicroOp.NAME


def _ident(e: Expression, known: dict[str, int]) -> int:
    match e.head:
        case Hole() | RandomNumber():
            return 0
        case Attribute():
            word = f"attribute {e.head.name}"
        case Number():
            word = f"number {e.head.value.hex()}"
        case Operator():
            word = f"operator {e.head.name}"
        case _:
            word = f"{type(e.head).__name__} {e.head.name}"
    if word not in known:
        digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        known[word] = int.from_bytes(digest, "little")
    return known[word]
