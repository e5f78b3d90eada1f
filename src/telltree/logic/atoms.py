"""Atoms: the smallest Boolean vectors, each brought to the form `signal compared with a constant`."""

from typing import NamedTuple

from telltree.data import Schema
from telltree.logic.instructions import EQUAL, GREATER, LESS
from telltree.operators import Attribute, Expression, Level, Number, Operator, operator_named
from telltree.operators.table import COMPARISONS, MIRRORED

NO_LEVEL = -9.0
"""A code that no category has, not even a missing or an unseen one."""


class Atom(NamedTuple):
    """`signal` compared with `constant`; the atom is true for the outcomes set in `outcomes`."""

    signal: Expression
    outcomes: int
    constant: float
    graded: bool
    """Whether the distance to the constant means something: real signals, not Booleans or categories."""

    @classmethod
    def of(cls, e: Expression, schema: Schema, last: Expression | None = None) -> "Atom":
        """The atom that a Boolean vector without connectives says; `last` may stand in for its last operand."""
        args = e.args if last is None else (*e.args[:-1], last)
        if isinstance(e.head, Operator) and e.head in COMPARISONS:
            left, right = args
            operator = e.head
            if isinstance(left.head, Number) and not isinstance(right.head, Number):
                left, right, operator = right, left, operator_named(MIRRORED[operator.name])
            if isinstance(right.head, Number):
                return cls(left, operator.traits.outcomes, right.head.value, True)
            if isinstance(right.head, Level) and isinstance(left.head, Attribute):
                return cls(left, EQUAL, _code(schema, left.head.name, right.head.name), False)
        return cls(e if last is None else Expression(e.head, args), EQUAL, 1.0, False)

    @property
    def complement(self) -> "Atom":
        """The atom that is true where this one is false, if nothing is missing."""
        return Atom(self.signal, self.outcomes ^ (LESS | EQUAL | GREATER), self.constant, self.graded)


def _code(schema: Schema, column: str, level: str) -> float:
    levels = schema[column].levels
    return float(levels.index(level)) if level in levels else NO_LEVEL
