"""Bitsets of atoms, computed on demand and cached within a memory budget.

A bitset has one bit per record and step, 64 records a word (`bitset_layout`). `pack` compares a signal with constants;
where a signal is compared with many, `encode` first replaces its numbers by bytes, and `pack_codes` compares these.
"""

import weakref
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count, repeat

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import (
    add_one_where,
    at,
    borrowed,
    bytes_above,
    bytes_below,
    bytes_equal,
    kernel,
    lanes_above,
    lanes_at_least,
    lanes_at_most,
    lanes_below,
    lanes_equal,
    lesser,
    small,
    turn_eight,
)
from telltree.engine.atoms import Atom, AtomFamily
from telltree.engine.bitset_layout import LANES, Allocator, Layout, aligned_words
from telltree.engine.compile import UNKNOWN
from telltree.engine.instructions import EQUAL, GREATER, LESS
from telltree.engine.signals import Grid, Signals
from telltree.engine.subset import Subset, extract
from telltree.grammar.random_streams import place_of
from telltree.logic import Expression
from telltree.panel.disk_arrays import reserve, unload

# ---- Signals as bytes: the rank of each number among a few constants, so that it is fetched only once.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


MOST_CONSTANTS = 120
"""Most constants that bytes can encode: each, and the intervals between them, needs a code, and so do missing
values."""
_MISSING = 255


@kernel
def encode(column, starts, lengths, blocks, constants, tile, codes):
    """Write the code of each number, 64 for each word of a bitset.

    It is twice the number of (ascending) constants below it, plus one if it is a constant itself; 255 if it is missing,
    and after a record's end. `tile` is scratch memory.
    """
    column, starts, lengths = borrowed(column), borrowed(starts), borrowed(lengths)
    for block in range(len(blocks) - 1):
        first, steps = blocks[block], blocks[block + 1] - blocks[block]
        fill_tile(column, starts, lengths, block, steps, tile)
        for t in range(steps):
            codes[first + t, :] = np.uint8(_MISSING)
            add_one_where(codes, first + t, lanes_at_least(tile, t, -np.inf))  # 255 and 1 make 0
        for k in range(len(constants)):
            for t in range(steps):
                add_one_where(codes, first + t, lanes_at_least(tile, t, constants[k]))
                add_one_where(codes, first + t, lanes_above(tile, t, constants[k]))


@kernel
def pack_codes(codes, blocks, valid, outcomes, places, targets, bitsets, reduced):
    """Compute bitsets as `pack` does, from codes; `places` are the ranks of the constants in the grid of the codes."""
    codes, bitsets = borrowed(codes), borrowed(bitsets)
    for k in range(len(targets)):
        target, code = targets[k], 2 * places[k] + 1
        for block in range(len(blocks) - 1):
            ever, ever_not = np.uint64(0), np.uint64(0)
            for t in range(blocks[block], blocks[block + 1]):
                word = np.uint64(0)
                if outcomes[k] & LESS:
                    word |= bytes_below(codes, t, code)
                if outcomes[k] & EQUAL:
                    word |= bytes_equal(codes, t, code)
                if outcomes[k] & GREATER:
                    word |= bytes_above(codes, t, code) & bytes_below(codes, t, _MISSING)
                bitsets[target, t] = word
                ever |= word
                ever_not |= ~word & valid[t]
            reduced[2 * target, block], reduced[2 * target + 1, block] = ever, ever_not


# ---- Bitsets from numbers: compare a column with constants, 64 records at a time.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


LINE = 8
"""Numbers in a cache line: as many records are copied together, so that each line is written once."""


@small
def _fill(column, starts, lengths, place, tile, lane):
    """Copy the records from `place` on, longest first, into the columns of the tile from `lane` on: a line of them."""
    number = lesser(LINE, len(starts) - place)
    shared = lengths[place + LINE - 1] if number == LINE else 0
    for t in range(0, shared - LINE + 1, LINE):
        turn_eight(column, starts, place, t, tile, lane)
    for t in range(shared - shared % LINE, shared):
        for k in range(LINE):
            tile[at(t), at(lane + k)] = column[at(starts[at(place + k)] + t)]
    for k in range(number):
        for t in range(shared, lengths[place + k]):
            tile[t, lane + k] = column[starts[place + k] + t]


@small
def fill_tile(column, starts, lengths, block, steps, tile):
    """Copy the records of a block, NaN after their ends."""
    for t in range(steps):
        for lane in range(LANES):
            tile[at(t), at(lane)] = np.nan
    for lane in range(0, LANES, LINE):
        _fill(column, starts, lengths, block * LANES + lane, tile, lane)


@small
def _compare_lanes(tile, t, outcome, constant):
    """Return the bits of the records with this outcome at a step, mostly by one comparison."""
    if outcome == LESS:
        return lanes_below(tile, t, constant)
    if outcome == LESS | EQUAL:
        return lanes_at_most(tile, t, constant)
    word = np.uint64(0)
    if outcome & LESS:
        word |= lanes_below(tile, t, constant)
    if outcome & EQUAL:
        word |= lanes_equal(tile, t, constant)
    if outcome & GREATER:
        word |= lanes_above(tile, t, constant)
    return word


@small
def _compare_block(tile, outcome, constant, bitsets, target, first, steps, valid, reduced, block):
    """Write the words of one block of a bitset, and the records for which it, and its negation, are ever true."""
    ever, ever_not = np.uint64(0), np.uint64(0)
    for t in range(steps):
        word = _compare_lanes(tile, t, outcome, constant)
        bitsets[at(target), at(first + t)] = word
        ever |= word
        ever_not |= ~word & valid[at(first + t)]
    reduced[at(2 * target), at(block)], reduced[at(2 * target + 1), at(block)] = ever, ever_not


@small
def _subtract(one, other, bitsets, target, first, steps, valid, reduced, block):
    """Write the same for the difference of two bitsets."""
    ever, ever_not = np.uint64(0), np.uint64(0)
    for t in range(steps):
        word = bitsets[at(one), at(first + t)] & ~bitsets[at(other), at(first + t)]
        bitsets[at(target), at(first + t)] = word
        ever |= word
        ever_not |= ~word & valid[at(first + t)]
    reduced[at(2 * target), at(block)], reduced[at(2 * target + 1), at(block)] = ever, ever_not


@small
def _partners(outcomes, constants, partners):
    """Find, for each x = c, the indices of x ≤ c and x < c among the same constants, else −1."""
    for k in range(len(constants)):
        upto = below = -1
        for other in range(len(constants) if outcomes[k] == EQUAL else 0):
            if constants[other] == constants[k]:
                upto = other if outcomes[other] == LESS | EQUAL else upto
                below = other if outcomes[other] == LESS else below
        partners[k, 0], partners[k, 1] = upto if below >= 0 else -1, below


@kernel
def pack(column, starts, lengths, blocks, valid, outcomes, constants, targets, tile, partners, bitsets, reduced):
    """Compute a bitset for each constant: bitsets[targets[k]] is true where `column` and constants[k] have outcomes[k].

    Rows 2 * targets[k] and 2 * targets[k] + 1 of `reduced` get, block by block, the records for which the bitset, and
    its negation, are true at some step. A missing value (NaN) is neither less, equal nor greater. Steps after a
    record's end are false. x = c is derived from x ≤ c and x < c if they are computed too: comparing 64 numbers takes
    ten times as long as combining two words. `tile` and `partners` are scratch memory.
    """
    column, starts, lengths, bitsets = borrowed(column), borrowed(starts), borrowed(lengths), borrowed(bitsets)
    valid, reduced, tile, partners = borrowed(valid), borrowed(reduced), borrowed(tile), borrowed(partners)
    _partners(outcomes, constants, partners)
    for block in range(len(blocks) - 1):
        first, steps = blocks[block], blocks[block + 1] - blocks[block]
        fill_tile(column, starts, lengths, block, steps, tile)
        for k in range(len(constants)):
            if partners[k, 0] < 0:
                _compare_block(
                    tile, outcomes[k], constants[k], bitsets, targets[k], first, steps, valid, reduced, block
                )
        for k in range(len(constants)):
            if partners[k, 0] >= 0:
                one, other = targets[partners[k, 0]], targets[partners[k, 1]]
                _subtract(one, other, bitsets, targets[k], first, steps, valid, reduced, block)


# ---- The cache of bitsets.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


_LEAST_BITSETS = 64
"""The smallest capacity, however small the budget."""
_AHEAD = 1 << 14
"""Bitsets that a search is likely to need: memory for them is allocated at once, and costs nothing until it is used."""

_BITSETS_FOR_CODES = 8
"""The number of bitsets that take as much memory as the codes of a signal."""


class Bitsets:
    """The bitsets of one layout, and tables from an atom's number or name to its slot: twice its bitset, plus one if it
    is the negation.

    For a subset of a panel's records bitsets are extracted from `source`, those of all records, as long as these fit
    into their memory.
    """

    def __init__(
        self,
        layout: Layout,
        signals: Signals,
        memory: int,
        numbered: int,
        source: "tuple[Bitsets, Subset] | None",
        *,
        allocate: Allocator = aligned_words,
    ) -> None:
        """`allocate`: allocates bitsets, in memory or on disk, of at most `memory` bytes. `numbered`: the number of
        atoms that the grammar numbers."""
        self._layout = layout
        self._allocate = allocate
        self._signals = signals
        self._source = source
        self.capacity = max(_LEAST_BITSETS, memory // (8 * max(1, layout.words)))
        self.bits = np.zeros((1, layout.words), np.uint64)
        """Bitset 0 is never true."""
        self.reduced = np.zeros((2, len(layout.blocks) - 1), np.uint64)
        """Rows 2b and 2b + 1: the records for which bitset b, and its negation, are true at some step."""
        self.numbered = np.empty((2, max(1, numbered)), np.int32)
        """The slots of the atoms that the grammar numbers. In the first row, atoms that are constant over all records
        and steps have bitset 0 or its negation: that simplifies formulas, and many thresholds are beyond all values."""
        self._codes: dict[Expression, NDArray[np.uint8]] = {}
        self.generation = 0
        """The number of times that all bitsets were dropped."""
        self._free_memory: list[NDArray[np.uint64]] = []  # for bitsets of subsets
        self._memory = self._borrow_memory() if source is not None else None
        self._for_search = numbered > 0 or source is not None
        self.clear()

    def _borrow_memory(self) -> NDArray[np.uint64]:
        """Borrow memory from the source until this object is deleted: first use of fresh memory is slow."""
        assert self._source is not None
        spare, words = self._source[0]._free_memory, self._layout.words
        needed = words * min(self.capacity, _AHEAD)
        memory = spare.pop() if spare else self._allocate(1, needed)[0]
        if len(memory) < needed:
            memory = self._allocate(1, needed)[0]
        weakref.finalize(self, spare.append, memory)
        return memory

    def clear(self) -> None:
        """Drop all bitsets."""
        self.used = 1
        self.generation += 1
        self.numbered[:] = UNKNOWN
        self._atoms: list[tuple[Expression, int, float, bool]] = []  # as `Atom` has them
        self._places: dict[tuple[Expression, int], dict[float, int]] = {}
        """The bitset of each constant, by signal and outcomes."""
        self.keys = np.zeros(1024, np.uint64)
        """A hash table of the names of all other atoms; `slots` has their slots, in the same two rows."""
        self.slots = np.zeros((2, 1024), np.int32)
        self._names = 0
        self._bitset_of_source = np.zeros(0, np.int64)  # the bitset here for each of the source; 0 if none
        self._source_generation = 0

    def take_from_source(self, names: NDArray[np.uint64], numbers: bool) -> NDArray[np.bool_] | None:
        """Extract the source's bitsets for these names or numbers.

        Return which of them the source has; None if memory is short.
        """
        if self._source is None:
            return np.zeros(len(names), np.bool_)
        whole = self._source[0]
        theirs = whole.numbered[1, names] if numbers else find(whole.keys, whole.slots[1], names)
        present: NDArray[np.bool_] = theirs != UNKNOWN
        bitsets, negated = theirs[present] >> 1, theirs[present] & 1
        if not self._extract(bitsets):
            return None
        self._register(names[present], 2 * self._bitset_of_source[bitsets] + negated, numbers)
        self._take_ahead()
        return present

    def _take_ahead(self) -> None:
        """Extract as many further bitsets as there are here, if they fit: a search needs most of them in the end, but
        a few at a time."""
        assert self._source is not None
        whole = self._source[0]
        more = (1 + np.flatnonzero(self._bitset_of_source[1 : whole.used] == 0))[: self.used]
        if not len(more) or 2 * (self.used + len(more)) > self.capacity or not self._extract(more):
            return
        self._register_taken(
            whole.numbered[1], np.arange(len(whole.numbered[1]), dtype=np.uint64), self.numbered[1], True
        )
        occupied = np.flatnonzero(whole.keys)
        names = whole.keys[occupied]
        self._register_taken(whole.slots[1, occupied], names, find(self.keys, self.slots[1], names), False)

    def _register_taken(
        self, theirs: NDArray[np.int32], names: NDArray[np.uint64], own: NDArray[np.int32], numbers: bool
    ) -> None:
        """Register the names, or numbers, that the source has for bitsets that were extracted, if they are new here."""
        new = np.flatnonzero((theirs >= 0) & (own < 0) & (self._bitset_of_source[theirs >> 1] > 0))
        self._register(names[new], 2 * self._bitset_of_source[theirs[new] >> 1] + (theirs[new] & 1), numbers)

    def add(self, named: Sequence[tuple[int, Atom]]) -> bool:
        """Compute bitsets for atoms, and register their names; return False if they do not fit into memory."""
        names = np.array([name for name, _ in named], np.uint64)
        if self._source is not None and self._source[0].add(named):
            return self.take_from_source(names, False) is not None
        return self._add_families(names, AtomFamily.several(atom for _, atom in named), False)

    def add_numbered(self, numbers: NDArray[np.uint64], families: Mapping[int, AtomFamily]) -> bool:
        """Compute bitsets for atoms with these numbers; return False if they do not fit into memory.

        `families`, by the number of the first atom of each, has these atoms and others. The others are computed too if
        they fit: fetching the numbers of a signal takes many times as long as comparing them once more.
        """
        if self._source is not None and self._source[0].add_numbered(numbers, families):
            return self.take_from_source(numbers, True) is not None
        chosen: Iterable[AtomFamily] = families.values()
        if 2 * (self.used + sum(len(family.constants) for family in chosen)) <= self.capacity:
            numbers = np.concatenate([np.arange(first, first + len(one.constants)) for first, one in families.items()])
        else:
            chosen = _atoms_numbered(families, numbers.tolist())
        return self._add_families(numbers, chosen, True)

    def _add_families(self, names: NDArray[np.uint64], families: Iterable[AtomFamily], numbers: bool) -> bool:
        """Compute bitsets for atoms with these names, or numbers; return False if they do not fit into memory."""
        slots = self.slots_of(families)
        if slots is None:
            return False
        self._register(names, slots, numbers)
        return True

    def slots_of(self, families: Iterable[AtomFamily]) -> NDArray[np.int64] | None:
        """Return the slot of each atom, computing bitsets that do not exist; None if they do not fit into memory."""
        found, new, bitsets = list[int](), list[tuple[AtomFamily, int]](), self.used
        for family in families:
            negated = self._is_negated(family)
            base = family.complement if negated else family
            places = self._places.setdefault((base.signal, base.outcomes), {})
            fresh = list(dict.fromkeys(base.constants))
            if places:
                fresh = [constant for constant in fresh if constant not in places]
            if fresh:
                places.update(zip(fresh, count(bitsets), strict=False))
                new.append((AtomFamily(base.signal, base.outcomes, base.graded, fresh), bitsets))
                bitsets += len(fresh)
            if len(fresh) == len(base.constants):  # all are new and consecutive
                found += range(2 * (bitsets - len(fresh)) + negated, 2 * bitsets + negated, 2)
            else:
                found += [2 * places[constant] + negated for constant in base.constants]
        if not self._reserve(bitsets - self.used):
            for family, _ in new:
                places = self._places[family.signal, family.outcomes]
                for constant in family.constants:
                    del places[constant]
            return None
        self._make(new)
        return np.array(found, np.int64)

    def shrink(self, memory: int) -> None:
        """Use at most this many bytes from now on, to leave memory for the bitsets of a subset."""
        self.capacity = max(_LEAST_BITSETS, memory // (8 * max(1, self._layout.words)))
        if self.used > self.capacity:
            self.release()

    def release(self) -> None:
        """Drop all bitsets, and free their memory."""
        self.clear()
        self._codes.clear()
        self.bits, self.reduced = self.bits[:1].copy(), self.reduced[:2].copy()

    def _reserve(self, new: int) -> bool:
        """Reserve memory for new bitsets; return False if they do not fit into memory."""
        if self.used + new + len(self._codes) * _BITSETS_FOR_CODES > self.capacity:
            self._codes.clear()
        if self.used + new > self.capacity:
            return False
        self.used += new
        self._ensure_rows(new)
        return True

    def _extract(self, bitsets: NDArray[np.signedinteger]) -> bool:
        """Extract bitsets from the source; return False if they do not fit into memory."""
        assert self._source is not None
        whole, subset = self._source
        if self._source_generation != whole.generation:  # its bitsets have new numbers; extracted ones stay
            self._bitset_of_source, self._source_generation = np.zeros(0, np.int64), whole.generation
        if len(self._bitset_of_source) < whole.used:
            self._bitset_of_source = np.concatenate(
                [self._bitset_of_source, np.zeros(len(whole.bits) - len(self._bitset_of_source), np.int64)]
            )
        new = np.unique(bitsets[self._bitset_of_source[bitsets] == 0]).astype(np.int64)
        new = new[new > 0]
        if self.used + len(new) > self.capacity:
            return False
        targets = self.used + np.arange(len(new))
        self._bitset_of_source[new] = targets
        self._atoms += [whole._atoms[bitset - 1] for bitset in new.tolist()]
        self.used += len(new)
        self._ensure_rows(len(new))
        layout = self._layout
        extract(whole.bits, new, subset, layout.blocks, layout.valid, targets, self.bits, self.reduced)
        return True

    def _make(self, new: Sequence[tuple[AtomFamily, int]]) -> None:
        """Compute the bitsets of families, each given with its first bitset."""
        by_signal: dict[Expression, list[tuple[AtomFamily, int]]] = {}
        for family, first in new:
            self._atoms += zip(repeat(family.signal), repeat(family.outcomes), family.constants, repeat(family.graded))
            by_signal.setdefault(family.signal, []).append((family, first))
        together = list(chain.from_iterable(by_signal.values()))  # arrays are built once for all signals
        sizes, firsts = (
            np.array([(len(family.constants), first) for family, first in together], np.int64).reshape(-1, 2).T
        )
        outcomes = np.repeat(np.array([family.outcomes for family, _ in together], np.int64), sizes)
        constants = np.array([constant for family, _ in together for constant in family.constants])
        targets = np.arange(len(constants)) + np.repeat(firsts - (np.cumsum(sizes) - sizes), sizes)
        low = 0
        for signal, members in by_signal.items():
            part = slice(low, low + sum(len(family.constants) for family, _ in members))
            self._fill(signal, outcomes[part], constants[part], targets[part])
            low = part.stop

    def _fill(
        self,
        signal: Expression,
        outcomes: NDArray[np.int64],
        constants: NDArray[np.float64],
        targets: NDArray[np.int64],
    ) -> None:
        """Compute these bitsets of one signal compared with constants."""
        layout, grid = self._layout, self._signals.grids.get(signal, {})
        codes = self._codes_of(signal, grid) if grid and grid.keys() >= set(constants.tolist()) else None
        if codes is None:
            values, partners = self._signals.values(signal), np.empty((len(constants), 2), np.int64)
            pack(values, layout.starts, layout.lengths, layout.blocks, layout.valid, outcomes, constants, targets,
                 layout.tile, partners, self.bits, self.reduced)  # fmt: skip
        else:
            places = np.array([grid[constant] for constant in constants.tolist()])
            pack_codes(codes, layout.blocks, layout.valid, outcomes, places, targets, self.bits, self.reduced)
        if self._signals.panel.on_disk:
            unload()  # the numbers are no longer needed

    def _codes_of(self, signal: Expression, grid: Grid) -> NDArray[np.uint8] | None:
        """Return the codes of a signal; None if they do not pay off, or do not fit into memory with the bitsets."""
        if signal not in self._codes:
            if not self._for_search or self._source is not None or len(grid) > MOST_CONSTANTS:
                return None
            if 2 * (len(self._codes) + 1) * _BITSETS_FOR_CODES > self.capacity:
                return None
            layout, codes = self._layout, self._allocate(self._layout.words, LANES // 8).view(np.uint8)
            reserve(codes)
            values, constants = self._signals.values(signal), np.array(list(grid))
            encode(values, layout.starts, layout.lengths, layout.blocks, constants, layout.tile, codes)
            self._codes[signal] = codes
        return self._codes[signal]

    def _simplified(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the slots, with those of constant bitsets replaced by bitset 0, which is never true, or its
        negation."""
        ever, ever_not = self.reduced[slots].any(axis=1), self.reduced[slots ^ 1].any(axis=1)
        return np.where(ever_not, np.where(ever, slots, 0), 1)

    def atom(self, bitset: int) -> Atom:
        """Return the atom of a bitset."""
        return Atom(*self._atoms[bitset - 1])

    def _is_negated(self, family: AtomFamily) -> int:
        """Return 1 if the bitsets of the complement serve, negated: x ≥ c is ¬(x < c) unless values are missing."""
        return int(family.outcomes in (GREATER, GREATER | EQUAL) and not self._signals.may_be_missing(family.signal))

    def _ensure_rows(self, new: int) -> None:
        """Grow the arrays to all bitsets in use; the last `new` of them are about to be written."""
        if self.used > len(self.bits):
            rows = min(self.capacity, max(64, 2 * self.used, _AHEAD if self._for_search else 0))
            self.bits = _grown(self.bits, self._rows_of_words(rows))
            self.reduced = _grown(self.reduced, aligned_words(2 * rows, self.reduced.shape[1]))
        reserve(self.bits[self.used - new : self.used])

    def _rows_of_words(self, rows: int) -> NDArray[np.uint64]:
        """Return memory for this many bitsets: the borrowed memory if it suffices."""
        words = self._layout.words
        if self._memory is not None and rows * words <= len(self._memory):
            return self._memory[: rows * words].reshape(rows, words)
        return self._allocate(rows, words)

    def _register(self, names: NDArray[np.uint64], slots: NDArray[np.signedinteger], numbers: bool) -> None:
        """Register slots under these names or numbers."""
        both = np.array([self._simplified(slots), slots], np.int32)
        if numbers:
            self.numbered[:, names] = both
            return
        if 2 * (self._names + len(names)) >= len(self.keys):
            keys, values = self.keys, self.slots
            size = 4 * len(keys)
            while size <= 2 * (self._names + len(names)):
                size *= 2
            self.keys, self.slots = np.zeros(size, np.uint64), np.zeros((2, size), np.int32)
            occupied = np.flatnonzero(keys)
            insert(self.keys, self.slots, keys[occupied], values[:, occupied])
        insert(self.keys, self.slots, names, both)
        self._names += len(names)


@kernel
def insert(keys, slots, names, both):
    """Insert names into a hash table, with the slots in both rows."""
    for k in range(len(names)):
        place = place_of(keys, names[k])
        keys[place] = names[k]
        slots[0, place], slots[1, place] = both[0, k], both[1, k]


@kernel
def find(keys, slots, names):
    """Look names up in a hash table; UNKNOWN if absent."""
    found = np.empty(len(names), np.int32)
    for k in range(len(names)):
        place = place_of(keys, names[k])
        found[k] = slots[place] if keys[place] == names[k] else UNKNOWN
    return found


def _atoms_numbered(families: Mapping[int, AtomFamily], numbers: Iterable[int]) -> list[AtomFamily]:
    """Return the atoms with these numbers, in their order; families are given by the number of their first atom."""
    constants = {
        number: (family, constant)
        for first, family in families.items()
        for number, constant in enumerate(family.constants, first)
    }
    return [family._replace(constants=[constant]) for family, constant in map(constants.__getitem__, numbers)]


def _grown(array: NDArray[np.uint64], larger: NDArray[np.uint64]) -> NDArray[np.uint64]:
    reserve(larger[: len(array)])
    larger[: len(array)] = array
    return larger
