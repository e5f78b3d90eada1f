"""Planes: the truth of atoms as bits, made on demand and kept within a memory budget."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from telltree.logic.atoms import Atom
from telltree.logic.instructions import EQUAL, GREATER
from telltree.logic.layout import Layout
from telltree.logic.lowering import ALWAYS, NEVER
from telltree.logic.packing import pack
from telltree.logic.signals import Signals

_LEAST_PLANES = 64
"""However small the budget, so many planes are kept."""


class Planes:
    """The planes of one layout, and a table from an atom's name to its plane."""

    def __init__(self, layout: Layout, signals: Signals, memory: int, numbered: int) -> None:
        self._layout = layout
        self._signals = signals
        self.capacity = max(_LEAST_PLANES, memory // (8 * max(1, layout.words)))
        self.bits = np.zeros((1, layout.words), np.uint64)
        """Plane 0 is never true."""
        self.reduced = np.zeros((2, len(layout.blocks) - 1), np.uint64)
        """Rows 2p and 2p + 1: for which records plane p, and its negation, hold at some step."""
        self.settled = np.zeros(1, np.int8)
        """Which planes are NEVER or ALWAYS true: formulas get simpler by it, and many thresholds lie at the edge."""
        self.direct = np.empty(numbered, np.int32)
        """For atoms that the grammar numbers: twice the plane, plus one if it is the negation; −1 if not known."""
        self.forget()

    def forget(self) -> None:
        """Drop all planes."""
        self.used = 1
        self.direct[:] = -1
        self._slot: dict[Atom, int] = {}
        self.keys = np.zeros(1024, np.uint64)
        self.slots = np.zeros(1024, np.int32)
        self._names = 0

    def lacks(self, named: Iterable[tuple[int, Atom]]) -> int:
        """How many planes would have to be made for these atoms."""
        return sum(atom not in self._slot for atom in {self._canonical(atom)[0] for _, atom in named})

    def add(self, named: Iterable[tuple[int, Atom]]) -> None:
        """Make planes for atoms, known from now on by these names."""
        wanted: dict[Atom, int] = {}
        for name, atom in named:
            kept, negated = self._canonical(atom)
            if kept not in self._slot:
                self._slot[kept] = wanted[kept] = self.used
                self.used += 1
            self._enter(name, 2 * self._slot[kept] + negated)
        self._make_room()
        by_signal: dict[object, list[Atom]] = {}
        for atom in wanted:
            by_signal.setdefault(atom.signal, []).append(atom)
        for atoms in by_signal.values():
            pack(
                self._signals.values(atoms[0].signal),
                self._layout.starts,
                self._layout.lengths,
                self._layout.blocks,
                self._layout.valid,
                np.array([atom.outcomes for atom in atoms]),
                np.array([atom.constant for atom in atoms]),
                np.array([wanted[atom] for atom in atoms]),
                self.bits,
                self.reduced,
            )
        made = np.fromiter(wanted.values(), np.int64)
        self.settled[made] = np.where(self.reduced[2 * made].any(axis=1), 0, NEVER)
        self.settled[made[~self.reduced[2 * made + 1].any(axis=1)]] = ALWAYS

    def atoms(self) -> list[Atom]:
        """The atoms of planes 1, 2, …"""
        return list(self._slot)

    def _canonical(self, atom: Atom) -> tuple[Atom, int]:
        """x ≥ c is ¬(x < c) and needs no plane of its own, unless something is missing."""
        if atom.outcomes in (GREATER, GREATER | EQUAL) and not self._signals.misses(atom.signal):
            return atom.complement, 1
        return atom, 0

    def _make_room(self) -> None:
        if self.used > len(self.bits):
            rows = min(self.capacity, max(64, 2 * self.used))
            self.bits, self.reduced = _grown(self.bits, rows), _grown(self.reduced, 2 * rows)
            self.settled = np.concatenate([self.settled, np.zeros(rows - len(self.settled), np.int8)])

    def _enter(self, name: int, slot: int) -> None:
        if 2 * self._names >= len(self.keys):
            keys, slots = self.keys, self.slots
            self.keys = np.zeros(4 * len(keys), np.uint64)
            self.slots = np.zeros(4 * len(keys), np.int32)
            self._names = 0
            for held in np.flatnonzero(keys):
                self._enter(int(keys[held]), int(slots[held]))
        mask = len(self.keys) - 1
        place = (name >> 1) & mask  # as `grammar.naming.place_of` looks for it
        while self.keys[place]:
            place = (place + 1) & mask
        self.keys[place] = name
        self.slots[place] = slot
        self._names += 1


def _grown(array: NDArray[np.uint64], rows: int) -> NDArray[np.uint64]:
    grown = np.empty((rows, array.shape[1]), np.uint64)
    grown[: len(array)] = array
    return grown
