"""What each rule means to the engine: its template as a list of opcodes in prefix order.

An atom is the smallest Boolean vector: a comparison of vectors, a Boolean attribute, a user function. The parts of an
atom are never executed, only hashed (`ident`): the engine looks up the whole atom by its hash.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.operators import Attribute, Expression, Hole, Number, Operator, Shape, Type, UserFunction
from telltree.operators.expression import RandomNumber
from telltree.operators.meaning import OPERAND_MODES, WINDOWED, Joins, MicroOp, Mode
from telltree.operators.simpler import once_each

BY_ARGUMENT = -1
"""A bound of a window below 0 is a parameter: −1 the first argument of the operator, −2 the second …"""


class Microcode(NamedTuple):
    """A table, column by column; the opcodes of rule r are `start[r]` … `start[r + 1] − 1`."""

    start: NDArray[np.int32]
    code: NDArray[np.int32]
    arity: NDArray[np.int32]
    outcomes: NDArray[np.int32]  # of a comparison of counts: for which it is true
    window: NDArray[np.int32]  # of what looks at a window: its first and last step, or by which argument they are given
    ident: NDArray[np.uint64]  # what the node says, hashed
    value: NDArray[np.float64]  # of a number
    mode: NDArray[np.int32]  # how it is read, for each way to read the whole template

    @classmethod
    def of(cls, templates: Iterable[Expression]) -> "Microcode":
        """The opcodes of all templates, one after the other."""
        idents: dict[str, int] = {}
        nodes = [list(_nodes(template, tuple(sorted(Mode)), idents)) for template in templates]
        start = np.cumsum([0, *map(len, nodes)])
        columns = zip(*(node for rule in nodes for node in rule), strict=True)
        code, arity, outcomes, window, ident, value, mode = columns
        ints = np.int32
        return cls(
            start.astype(ints),
            np.array(code, ints),
            np.array(arity, ints),
            np.array(outcomes, ints),
            np.array(window, ints),
            np.array(ident, np.uint64),
            np.array(value, np.float64),
            np.array(mode, ints),
        )


_Node = tuple[int, int, int, tuple[int, int], int, float, tuple[int, ...]]


def _nodes(e: Expression, modes: tuple[int, ...], idents: dict[str, int]) -> Iterator[_Node]:
    e = once_each(e)
    value = e.head.value if isinstance(e.head, Number) else np.nan
    code = code_of(e)
    yield code, len(e.args), outcomes_of(e), _window(e), _ident(e, idents), value, modes
    for k, arg in enumerate(e.args):
        yield from _nodes(arg, tuple(int(OPERAND_MODES[code, mode, min(k, 1)]) for mode in modes), idents)


def code_of(e: Expression) -> MicroOp:
    """The opcode of one node of a template."""
    if isinstance(e.head, Hole):
        return MicroOp.HOLE
    if isinstance(e.head, Operator):
        means = e.head.means
        if isinstance(means, Joins):
            return means.code
        if means.on_counts is not None and any(arg.type is Type.COUNT for arg in e.args):
            return means.on_counts
    if isinstance(e.head, UserFunction) and e.type is Type.BOOLEAN:
        return MicroOp.ATOM  # which is the same at every step
    return MicroOp.ATOM if e.type is Type.BOOLEAN_VECTOR else MicroOp.NAME


def outcomes_of(e: Expression) -> int:
    """For which outcomes a comparison is true; 0 for all else."""
    return e.head.traits.outcomes if isinstance(e.head, Operator) else 0


def _window(e: Expression) -> tuple[int, int]:
    """The bounds of a window: numbers of steps, or of the arguments that say them; (0, 0) of all else."""
    if code_of(e) not in WINDOWED:
        return 0, 0
    assert isinstance(e.head, Operator)
    places = {row.name: BY_ARGUMENT - place for place, row in enumerate(e.head.parameters, e.head.takes)}
    first, last = (
        places[bound] if isinstance(bound, str) else int(min(bound, 1 << 30)) for bound in e.head.window or ()
    )
    return first, last


def _ident(e: Expression, known: dict[str, int]) -> int:
    match e.head:
        case Hole() | RandomNumber():
            return 0
        case Attribute():
            word = f"attribute {e.head.name}"
        case Number():
            word = f"number {e.head.value.hex()}"
        case Shape():
            word = " ".join(["shape", *(value.hex() for value in e.head.values)])
        case Operator():
            word = f"operator {e.head.name}"
        case _:
            word = f"{type(e.head).__name__} {e.head.name}"
    if word not in known:
        digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        known[word] = int.from_bytes(digest, "little")
    return known[word]
