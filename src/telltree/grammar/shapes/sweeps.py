"""What to fill the slots of shapes with, given which conditions hold at the same steps of the records at hand."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.grammar.derivations.population import Population
from telltree.grammar.shapes.filling import Sweep, Texts
from telltree.grammar.shapes.shapes import Shape, Shapes

Marks = Callable[[Population], "list[tuple[bytes, bytes]] | None"]
"""For each condition what it and its negation are known by, zeros for what holds at no step; None if not known."""
Ints = NDArray[np.int64]
_MOST_KNOWN = 64  # bits in a mark


class Swept(NamedTuple):
    """All that slots may be filled with, and for each shape how to fill it."""

    texts: Texts
    sweeps: list[Sweep]
    telling: dict[Hashable, Ints]
    """Of each group, one of the texts that hold at the same steps; none that holds at all steps or at none."""


def swept(shapes: Shapes, marks: Marks | None) -> Swept:
    """What to fill the slots of all shapes with."""
    groups, first = shapes.groups, dict[Hashable, int]()
    choices = [choice for group in groups.values() for choice in group.choices]
    for key in groups:
        first[key] = sum(len(groups[before].choices) for before in first)
    texts = Texts.of(choices)
    literals = np.full(len(choices), -1, np.int64)
    for key, group in groups.items():
        if group.is_condition:
            own = first[key] + np.arange(len(group.choices))
            literals[own] = own
    settled = _tell_apart(literals, texts, marks)
    rows = {key: first[key] + np.arange(len(group.choices)) for key, group in groups.items()}
    sweeps = _Sweeps(literals, rows, shapes.every_size)
    telling = {key: own[~np.isin(literals[own] >> 1, settled)] for key, own in sweeps.distinct.items()}
    return Swept(texts, sweeps.all(shapes.all), telling)


def _tell_apart(literals: Ints, texts: Texts, marks: Marks | None) -> list[int]:
    """Number the conditions: those that hold at the same steps have the same number, a negation the next one to it.

    Returns half the numbers of those that hold at all steps or at none, as far as that is known.
    """
    conditions = np.flatnonzero(literals >= 0)
    found = marks(texts.rows(conditions)) if marks is not None and len(conditions) else None
    if found is None:
        literals[conditions] = 2 * np.arange(len(conditions))
        return []
    numbers: dict[bytes, int] = {}
    for row, (true, false) in zip(conditions.tolist(), found, strict=True):
        number = numbers.setdefault(min(true, false), len(numbers))
        literals[row] = 2 * number + (true > false)
    return [number for mark, number in numbers.items() if not any(mark)]


class _Sweeps:
    """Makes sweeps of shapes, and keeps in mind what the simple ones of them have tried."""

    def __init__(self, literals: Ints, rows: dict[Hashable, Ints], every_size: bool) -> None:
        self._literals, self._rows, self._every_size = literals, rows, every_size
        self.distinct = {key: self._one_each(own) for key, own in rows.items()}
        self._tried: dict[Hashable, list[list[Ints]]] = defaultdict(list)

    def _one_each(self, rows: Ints) -> Ints:
        """One of the conditions that hold at the same steps: that in the middle, whose constant is likely to be far
        from where it would tell records apart."""
        if len(rows) and self._literals[rows[0]] < 0:
            return rows
        alike = defaultdict(list)
        for row, literal in zip(rows.tolist(), self._literals[rows].tolist(), strict=True):
            alike[literal].append(row)
        return np.array(sorted(own[len(own) // 2] for own in alike.values()), np.int64)

    def all(self, shapes: Sequence[Shape]) -> list[Sweep]:
        """The sweeps, in the order of the shapes."""
        return [self._of(shape) for shape in shapes]

    def _of(self, shape: Shape) -> Sweep:
        rows = self._rows if len(shape.slots) == 1 else self.distinct  # a few more that tie, where that costs little
        chosen = [rows[key] for key in shape.slots]
        known = [np.zeros(len(own), np.uint64) for own in chosen]
        if shape.simple is not None and all(self._literals[own].min(initial=0) >= 0 for own in chosen):
            self._mark_known(shape, chosen, known)
        return Sweep.of(shape, chosen, known)

    def _mark_known(self, shape: Shape, chosen: Sequence[Ints], known: Sequence[NDArray[np.uint64]]) -> None:
        """Mark which fillings an earlier shape has tried, no longer, that differs only in which atoms it negates."""
        assert shape.simple is not None
        name, kind, slots, negated = shape.simple
        tried = self._tried[name, kind, shape.size if self._every_size else 0]
        own = [self._literals[chosen[slot]] ^ turned for slot, turned in zip(slots, negated, strict=True)]
        bit = 0
        for earlier in tried:
            for order in permutations(range(len(slots))):
                if bit < _MOST_KNOWN and all(kind[k] == kind[order[k]] for k in range(len(slots))):
                    for k, slot in enumerate(slots):
                        met = np.isin(own[k], earlier[order[k]])
                        known[slot][met] |= np.uint64(1) << np.uint64(bit)
                    bit += 1
        tried.append(own)
