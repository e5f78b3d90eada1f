"""Atoms: Boolean vectors without connectives, each in the form `signal compared with a constant`."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from telltree.engine.instructions import EQUAL, GREATER, LESS
from telltree.logic import Attribute, Expression, Level, Number, operator_named
from telltree.logic.operators import COMPARISONS, MIRRORED, Operator
from telltree.panel import Schema

NO_LEVEL = -9.0
"""The code of a level that the column does not have; no category has it, not even a missing or new one."""


class Atom(NamedTuple):
    """`signal` compared with `constant`; the atom is true for the outcomes set in `outcomes`."""

    signal: Expression
    outcomes: int
    constant: float
    graded: bool
    """True if the distance to the constant is meaningful: for real signals, not for Booleans or categories."""

    @classmethod
    def of(cls, e: Expression, schema: Schema, last: Expression | None = None) -> "Atom":
        """Return the atom for a Boolean vector without connectives; `last` may replace its last operand."""
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


class AtomFamily(NamedTuple):
    """Atoms of one signal that differ in their constants alone."""

    signal: Expression
    outcomes: int
    graded: bool
    constants: Sequence[float]

    @classmethod
    def several(cls, atoms: Iterable[Atom]) -> "list[AtomFamily]":
        """Group consecutive atoms into families, in their order: those of a signal often come together."""
        groups = groupby(atoms, lambda atom: (atom.signal, atom.outcomes, atom.graded))
        return [cls(*common, [atom.constant for atom in group]) for common, group in groups]

    @property
    def complement(self) -> "AtomFamily":
        """The atoms that are true where these are false, if nothing is missing."""
        return self._replace(outcomes=self.outcomes ^ (LESS | EQUAL | GREATER))


def _code(schema: Schema, column: str, level: str) -> float:
    levels = schema[column].levels
    return float(levels.index(level)) if level in levels else NO_LEVEL
