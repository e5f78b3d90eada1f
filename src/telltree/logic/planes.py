"""Planes: the truth of atoms as bits, made on demand and kept within a memory budget."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from telltree.logic.aligned import aligned_words
from telltree.logic.atoms import Atom
from telltree.logic.instructions import EQUAL, GREATER
from telltree.logic.layout import Layout
from telltree.logic.packing import pack
from telltree.logic.plain import UNKNOWN
from telltree.logic.signals import Signals
from telltree.logic.subset import Subset, pick

_LEAST_PLANES = 64
"""However small the budget, so many planes are kept."""


class Planes:
    """The planes of one layout, and a table from an atom's name to its plane.

    Those of some records of a panel are picked from `source`, the planes of all of them and how to pick, while these
    fit into their memory.
    """

    def __init__(
        self, layout: Layout, signals: Signals, memory: int, numbered: int, source: "tuple[Planes, Subset] | None"
    ) -> None:
        self._layout = layout
        self._signals = signals
        self._source = source
        self.capacity = max(_LEAST_PLANES, memory // (8 * max(1, layout.words)))
        self.bits = np.zeros((1, layout.words), np.uint64)
        """Plane 0 is never true."""
        self.reduced = np.zeros((2, len(layout.blocks) - 1), np.uint64)
        """Rows 2p and 2p + 1: for which records plane p, and its negation, hold at some step."""
        self.numbered = np.empty((2, max(1, numbered)), np.int32)
        """The planes of atoms that the grammar numbers: twice the plane, plus one if it is the negation. In the first
        row, those that are the same for all records and steps are plane 0 or its negation: formulas get simpler by
        it, and many thresholds lie at the edge."""
        self.forget()

    def forget(self) -> None:
        """Drop all planes."""
        self.used = 1
        self.numbered[:] = UNKNOWN
        self._slot: dict[Atom, int] = {}
        self.keys = np.zeros(1024, np.uint64)
        """The names of all other atoms, where `slots` has their planes in the same two rows."""
        self.slots = np.zeros((2, 1024), np.int32)
        self._names = 0

    def add(self, named: Sequence[tuple[int, Atom]], numbers: bool) -> bool:
        """Make planes for atoms, known from now on by these names, or numbers; False if they do not fit into memory."""
        slots = self.held([atom for _, atom in named])
        if slots is None:
            return False
        both = np.array([self._simplest(np.array(slots)), slots])
        if numbers:
            self.numbered[:, [number for number, _ in named]] = both
        else:
            for (name, _), pair in zip(named, both.T, strict=True):
                self._enter(name, pair)
        return True

    def held(self, atoms: Sequence[Atom]) -> list[int] | None:
        """For each atom twice its plane, plus one if it is the negation; None if they do not fit into memory."""
        wanted: dict[Atom, int] = {}
        found = []
        for atom in atoms:
            kept, negated = self._canonical(atom)
            plane = self._slot.get(kept)
            if plane is None:
                plane = wanted.setdefault(kept, self.used + len(wanted))
            found.append(2 * plane + negated)
        return found if self._hold(wanted) else None

    def share(self, memory: int) -> None:
        """Leave room for the planes of some of the records: take no more than so many bytes from now on."""
        self.capacity = max(_LEAST_PLANES, memory // (8 * max(1, self._layout.words)))
        if self.used > self.capacity:
            self.forget()
            self.bits, self.reduced = self.bits[:1].copy(), self.reduced[:2].copy()

    def _hold(self, wanted: dict[Atom, int]) -> bool:
        """Make planes for new atoms, which get the next places; False if they do not fit into memory."""
        if self.used + len(wanted) > self.capacity:
            return False
        self._slot |= wanted
        self.used += len(wanted)
        self._make_room()
        self._make(self._picked(wanted))
        return True

    def _picked(self, wanted: dict[Atom, int]) -> dict[Atom, int]:
        """Take what planes the source can give; what is left must be made."""
        if self._source is None:
            return wanted
        whole, subset = self._source
        new = [atom for atom in wanted if atom not in whole._slot]
        had = whole._hold({atom: whole.used + k for k, atom in enumerate(new)})
        known = wanted if had else {atom: slot for atom, slot in wanted.items() if atom in whole._slot}
        if known:
            chosen, slots = np.array([whole._slot[atom] for atom in known]), np.array(list(known.values()))
            layout = self._layout
            pick(whole.bits, chosen, subset, layout.blocks, layout.valid, slots, self.bits, self.reduced)
        return {} if had else {atom: slot for atom, slot in wanted.items() if atom not in known}

    def _make(self, wanted: dict[Atom, int]) -> None:
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

    def _simplest(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Planes or their negations, or plane 0, which is never true, or its negation, where that says the same."""
        ever, ever_not = self.reduced[slots].any(axis=1), self.reduced[slots ^ 1].any(axis=1)
        return np.where(ever_not, np.where(ever, slots, 0), 1)

    def atoms(self) -> list[Atom]:
        """The atoms of planes 1, 2, …"""
        return list(self._slot)

    def place(self, atom: Atom) -> tuple[int, int]:
        """The plane that tells of an atom, and for which outcomes it is true."""
        kept, _ = self._canonical(atom)
        return self._slot[kept], kept.outcomes

    def _canonical(self, atom: Atom) -> tuple[Atom, int]:
        """x ≥ c is ¬(x < c) and needs no plane of its own, unless something is missing."""
        if atom.outcomes in (GREATER, GREATER | EQUAL) and not self._signals.misses(atom.signal):
            return atom.complement, 1
        return atom, 0

    def _make_room(self) -> None:
        if self.used > len(self.bits):
            expected = 2 * self.used if self._source is None else max(2 * self.used, self._source[0].used)
            rows = min(self.capacity, max(64, expected))
            self.bits, self.reduced = _grown(self.bits, rows), _grown(self.reduced, 2 * rows)

    def _enter(self, name: int, slots: NDArray[np.signedinteger]) -> None:
        if 2 * self._names >= len(self.keys):
            keys, kept = self.keys, self.slots
            self.keys = np.zeros(4 * len(keys), np.uint64)
            self.slots = np.zeros((2, 4 * len(keys)), np.int32)
            self._names = 0
            for held in np.flatnonzero(keys):
                self._enter(int(keys[held]), kept[:, held])
        mask = len(self.keys) - 1
        place = (name >> 1) & mask  # as `grammar.naming.place_of` looks for it
        while self.keys[place]:
            place = (place + 1) & mask
        self.keys[place] = name
        self.slots[:, place] = slots
        self._names += 1


def _grown(array: NDArray[np.uint64], rows: int) -> NDArray[np.uint64]:
    grown = aligned_words(rows, array.shape[1])
    grown[: len(array)] = array
    return grown
