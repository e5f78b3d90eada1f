"""The parts of a formula, in the order in which they are worked out."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from telltree.data import Schema
from telltree.grammar.rules.microcode import code_of, outcomes_of
from telltree.logic.atoms import Atom
from telltree.logic.walk import Program
from telltree.operators import Expression, Number
from telltree.operators.meaning import AHEAD, BEHIND, COUNTED, DUAL, JOINING, LOOKING, WINDOWED, MicroOp
from telltree.operators.simpler import spelt_out

_FARTHEST = 1 << 20
"""Steps; a constant beyond that is as good as out of reach."""
_LONGEST = 1 << 26
"""Steps; no record is longer."""
Spread = Callable[[Expression], float]


@dataclass(eq=False)
class Parts:
    """A formula lowered: operands come before what is made of them, and what occurs twice is there once."""

    schema: Schema
    places: dict[Expression, int] = field(default_factory=dict)
    """Of every part."""
    codes: list[MicroOp] = field(default_factory=list)
    operands: list[tuple[int, int]] = field(default_factory=list)
    atoms: dict[int, Atom] = field(default_factory=dict)
    """Those parts that are atoms, by their places."""
    signals: dict[Expression, int] = field(default_factory=dict)
    """What atoms compare, each once."""

    @classmethod
    def of(cls, formula: Expression, schema: Schema) -> "Parts":
        """The parts of a formula, or of any Boolean vector; the last one is the whole."""
        found = cls(schema)
        found._add(formula)
        return found

    def _add(self, e: Expression) -> int:
        """The place of a part, behind those of its operands."""
        if e in self.places:
            return self.places[e]
        simpler = spelt_out(e)
        if simpler is not e:
            self.places[e] = place = self._add(simpler)
            return place
        code, operands = code_of(e), (0, 0)
        atom = Atom.of(e, self.schema) if code is MicroOp.ATOM else None
        if atom is not None:
            operands = self.signals.setdefault(atom.signal, len(self.signals)), 0
        elif code is not MicroOp.NAME:
            places = [self._add(operand) for operand in e.operands]
            operands = places[0], places[-1]
        self.places[e] = place = len(self.codes)
        self.codes.append(code)
        self.operands.append(operands)
        if atom is not None:
            self.atoms[place] = atom
        return place

    def program(self, spread: Spread | None) -> Program:
        """What the walk reads. `spread` is the unit of a signal's distances; without it, distances have no sense."""
        found = Program.empty(len(self.codes))
        found.codes[:] = self.codes
        found.one[:], found.two[:] = np.array(self.operands, np.int64).T
        for place, atom in self.atoms.items():
            found.outcomes[place], found.constants[place] = atom.outcomes, atom.constant
            found.spreads[place] = spread(atom.signal) if spread is not None and atom.graded else 0.0
        numbers: list[int] = []
        for e, place in self.places.items():
            code = code_of(e)  # what is spelt out has none that is done here, and its place is another's
            if code is MicroOp.NAME:
                assert isinstance(e.head, Number)
                found.constants[place] = e.head.value
            elif code in AHEAD | WINDOWED:
                found.sign[place] = -1 if code in DUAL else 1
                near, far = (int(min(bound, _LONGEST)) for bound in e.window)
                found.near[place], found.far[place] = (-far, -near) if code in BEHIND else (near, far)
            elif code is MicroOp.COMPARE:
                below = list(_numbers(e))
                reach = sum(abs(part.head.value) for part in below if isinstance(part.head, Number))
                found.outcomes[place], found.constants[place] = outcomes_of(e), int(min(reach, _FARTHEST))
                # a true step more may join two stretches, or begin another: only of plain counts is it one more
                stretches = {MicroOp.EPISODES, MicroOp.LONGEST}
                found.spreads[place] = float(stretches.isdisjoint(map(code_of, below)))
                found.first[place] = len(numbers)
                numbers += sorted({self.places[part] for part in below})
                found.last[place] = len(numbers)
            if code in JOINING - LOOKING:
                found.timeless[place] = all(found.timeless[list(self.operands[place])])
            elif code is MicroOp.COMPARE:
                found.timeless[place] = True
        return found._replace(numbers=np.array(numbers, np.int64))


def _numbers(comparison: Expression) -> Iterator[Expression]:
    """What a comparison of counts makes its two numbers of, down to the counts, as often as it occurs."""
    for arg in comparison.args:
        yield arg
        if code_of(arg) not in COUNTED:
            yield from _numbers(arg)
