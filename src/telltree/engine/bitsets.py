"""Bitsets: the truth of atoms for 64 records a word, made on demand and kept within a memory budget."""

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

# ---- Signals as bytes: between which of a few constants each number lies, so that none is fetched for a second plane.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


MOST_CONSTANTS = 120
"""Constants that a byte can tell apart, with room for what lies between them and what is missing."""
_MISSING = 255


@kernel
def encode(column, starts, lengths, blocks, constants, tile, codes):
    """The code of each number, 64 to a word of a plane: twice the number of constants, which ascend, that are below it,
    plus one where it is one of them itself; 255 where it is missing, or after a record's end. `tile` is room to
    work in.
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
def pack_codes(codes, blocks, valid, outcomes, places, slots, bitsets, reduced):
    """As `packing.pack`, from codes: `places` are those of the constants among the ones that codes were made with."""
    codes, bitsets = borrowed(codes), borrowed(bitsets)
    for k in range(len(slots)):
        slot, code = slots[k], 2 * places[k] + 1
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
                bitsets[slot, t] = word
                ever |= word
                ever_not |= ~word & valid[t]
            reduced[2 * slot, block], reduced[2 * slot + 1, block] = ever, ever_not


# ---- Compiled making of planes: compare a column with constants, 64 records at a time.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


LINE = 8
"""Numbers in a line of the cache: as many records are copied together, so that each line is written once."""


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
    """The bits of the records that compare so at a step; mostly in one comparison."""
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
def _compare_block(tile, outcome, constant, bitsets, slot, first, steps, valid, reduced, block):
    """Make a plane of the steps of a block, and note for which records it, and its negation, ever hold."""
    ever, ever_not = np.uint64(0), np.uint64(0)
    for t in range(steps):
        word = _compare_lanes(tile, t, outcome, constant)
        bitsets[at(slot), at(first + t)] = word
        ever |= word
        ever_not |= ~word & valid[at(first + t)]
    reduced[at(2 * slot), at(block)], reduced[at(2 * slot + 1), at(block)] = ever, ever_not


@small
def _subtract(one, other, bitsets, slot, first, steps, valid, reduced, block):
    """The same for what one plane has, and another has not."""
    ever, ever_not = np.uint64(0), np.uint64(0)
    for t in range(steps):
        word = bitsets[at(one), at(first + t)] & ~bitsets[at(other), at(first + t)]
        bitsets[at(slot), at(first + t)] = word
        ever |= word
        ever_not |= ~word & valid[at(first + t)]
    reduced[at(2 * slot), at(block)], reduced[at(2 * slot + 1), at(block)] = ever, ever_not


@small
def _partners(outcomes, constants, partners):
    """For each x = c where x ≤ c and x < c are made too: which these are, else −1."""
    for k in range(len(constants)):
        upto = below = -1
        for other in range(len(constants) if outcomes[k] == EQUAL else 0):
            if constants[other] == constants[k]:
                upto = other if outcomes[other] == LESS | EQUAL else upto
                below = other if outcomes[other] == LESS else below
        partners[k, 0], partners[k, 1] = upto if below >= 0 else -1, below


@kernel
def pack(column, starts, lengths, blocks, valid, outcomes, constants, slots, tile, partners, bitsets, reduced):
    """Make a plane for each constant: planes[slots[k]] gets the bits where `column` compares as outcomes[k] says. Rows
    2 * slots[k] and 2 * slots[k] + 1 of `reduced` get, block by block, where the plane, and its negation, ever hold.

    A missing value (NaN) is neither less, equal nor greater. Steps after a record's end are false. x = c is made of
    x ≤ c and x < c where it can be: to look at 64 numbers takes ten times as long as to look at two words. `tile` and
    `partners` are room to work in.
    """
    column, starts, lengths, bitsets = borrowed(column), borrowed(starts), borrowed(lengths), borrowed(bitsets)
    valid, reduced, tile, partners = borrowed(valid), borrowed(reduced), borrowed(tile), borrowed(partners)
    _partners(outcomes, constants, partners)
    for block in range(len(blocks) - 1):
        first, steps = blocks[block], blocks[block + 1] - blocks[block]
        fill_tile(column, starts, lengths, block, steps, tile)
        for k in range(len(constants)):
            if partners[k, 0] < 0:
                _compare_block(tile, outcomes[k], constants[k], bitsets, slots[k], first, steps, valid, reduced, block)
        for k in range(len(constants)):
            if partners[k, 0] >= 0:
                one, other = slots[partners[k, 0]], slots[partners[k, 1]]
                _subtract(one, other, bitsets, slots[k], first, steps, valid, reduced, block)


# ---- Planes: the truth of atoms as bits, made on demand and kept within a memory budget.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


_LEAST_BITSETS = 64
"""The fewest planes to keep, however small the budget."""
_AHEAD = 1 << 14
"""Planes that a search is likely to need: memory for them is reserved at once, and costs nothing until it is used."""

_BITSETS_FOR_CODES = 8
"""Planes that take as much memory as the codes of a signal."""


class Bitsets:
    """The planes of one layout, and tables from an atom's number or name to its plane.

    For a subset of a panel's records they are extracted from `source`, the planes of all records, as long as those fit
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
        """`room`: makes room for planes, in memory or on disk; `memory` is the most that they take there."""
        self._layout = layout
        self._allocate = allocate
        self._signals = signals
        self._source = source
        self.capacity = max(_LEAST_BITSETS, memory // (8 * max(1, layout.words)))
        self.bits = np.zeros((1, layout.words), np.uint64)
        """Plane 0 is never true."""
        self.reduced = np.zeros((2, len(layout.blocks) - 1), np.uint64)
        """Rows 2p and 2p + 1: for which records plane p, and its negation, hold at some step."""
        self.numbered = np.empty((2, max(1, numbered)), np.int32)
        """The planes of atoms that the grammar numbers: twice the plane, plus one if it is the negation. In the first
        row, those that are the same for all records and steps are plane 0 or its negation: formulas get simpler by
        it, and many thresholds lie at the edge."""
        self._codes: dict[Expression, NDArray[np.uint8]] = {}
        self.generation = 0
        """How often all planes were dropped, and their places used anew."""
        self._free_memory: list[NDArray[np.uint64]] = []  # memory of planes of subsets, to be reused
        self._memory = self._borrow_memory() if source is not None else None
        self._for_search = numbered > 0 or source is not None
        self.clear()

    def _borrow_memory(self) -> NDArray[np.uint64]:
        """Memory borrowed from the source, returned when these planes are gone: fresh memory is slow at first."""
        assert self._source is not None
        spare, words = self._source[0]._free_memory, self._layout.words
        needed = words * min(self.capacity, _AHEAD)
        memory = spare.pop() if spare else self._allocate(1, needed)[0]
        if len(memory) < needed:
            memory = self._allocate(1, needed)[0]
        weakref.finalize(self, spare.append, memory)
        return memory

    def clear(self) -> None:
        """Drop all planes."""
        self.used = 1
        self.generation += 1
        self.numbered[:] = UNKNOWN
        self._atoms: list[tuple[Expression, int, float, bool]] = []  # as `Atom` has them
        self._places: dict[tuple[Expression, int], dict[float, int]] = {}
        """For a signal and outcomes, the plane of each constant."""
        self.keys = np.zeros(1024, np.uint64)
        """The names of all other atoms, as a hash table; `slots` has their planes, in the same two rows."""
        self.slots = np.zeros((2, 1024), np.int32)
        self._names = 0
        self._slots_of_source = np.zeros(
            0, np.int64
        )  # for each plane of the source, at its current age, its plane here; 0 if none
        self._source_generation = 0

    def take_from_source(self, names: NDArray[np.uint64], numbers: bool) -> NDArray[np.bool_] | None:
        """Take over the source's planes for these names or numbers; returns which it has, None if memory is short."""
        if self._source is None:
            return np.zeros(len(names), np.bool_)
        whole = self._source[0]
        theirs = whole.numbered[1, names] if numbers else find(whole.keys, whole.slots[1], names)
        present: NDArray[np.bool_] = theirs != UNKNOWN
        bitsets, negated = theirs[present] >> 1, theirs[present] & 1
        if not self._extract(bitsets):
            return None
        self._register(names[present], 2 * self._slots_of_source[bitsets] + negated, numbers)
        self._take_ahead()
        return present

    def _take_ahead(self) -> None:
        """Take as many planes again from the source as there are here, while there is room: a search needs most of them
        in the end, and asks for a few at a time."""
        assert self._source is not None
        whole = self._source[0]
        more = (1 + np.flatnonzero(self._slots_of_source[1 : whole.used] == 0))[: self.used]
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
        """Know by these names, or numbers, what the source knows by them and is here as well, but not yet by them."""
        new = np.flatnonzero((theirs >= 0) & (own < 0) & (self._slots_of_source[theirs >> 1] > 0))
        self._register(names[new], 2 * self._slots_of_source[theirs[new] >> 1] + (theirs[new] & 1), numbers)

    def add(self, named: Sequence[tuple[int, Atom]]) -> bool:
        """Make planes for atoms, known from now on by these names; False if they do not fit into memory."""
        names = np.array([name for name, _ in named], np.uint64)
        if self._source is not None and self._source[0].add(named):
            return self.take_from_source(names, False) is not None
        return self._add_families(names, AtomFamily.several(atom for _, atom in named), False)

    def add_numbered(self, numbers: NDArray[np.uint64], families: Mapping[int, AtomFamily]) -> bool:
        """Make planes for atoms that have these numbers; False if they do not fit into memory.

        `families` has them, by the number of the first of each, and others that are worth making with them while there
        is room: to fetch the numbers of a signal takes many times as long as to compare them once more.
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
        """Know atoms by these names, or numbers; False if their planes do not fit into memory."""
        slots = self.slots_of(families)
        if slots is None:
            return False
        self._register(names, slots, numbers)
        return True

    def slots_of(self, families: Iterable[AtomFamily]) -> NDArray[np.int64] | None:
        """For each atom twice its plane, plus one for the negation; None if they do not fit into memory."""
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
            if len(fresh) == len(base.constants):  # all are new, and follow each other
                found += range(2 * (bitsets - len(fresh)) + negated, 2 * bitsets + negated, 2)
            else:
                found += [2 * places[constant] + negated for constant in base.constants]
        if not self._reserve_slots(bitsets - self.used):
            for family, _ in new:
                places = self._places[family.signal, family.outcomes]
                for constant in family.constants:
                    del places[constant]
            return None
        self._make(new)
        return np.array(found, np.int64)

    def share(self, memory: int) -> None:
        """Use at most this many bytes from now on, to leave room for the planes of a subset."""
        self.capacity = max(_LEAST_BITSETS, memory // (8 * max(1, self._layout.words)))
        if self.used > self.capacity:
            self.release()

    def release(self) -> None:
        """Drop all planes, and free their memory."""
        self.clear()
        self._codes.clear()
        self.bits, self.reduced = self.bits[:1].copy(), self.reduced[:2].copy()

    def _reserve_slots(self, new: int) -> bool:
        """Have room for so many new planes, which get the next places; False if they do not fit into memory."""
        if self.used + new + len(self._codes) * _BITSETS_FOR_CODES > self.capacity:
            self._codes.clear()
        if self.used + new > self.capacity:
            return False
        self.used += new
        self._ensure_rows(new)
        return True

    def _extract(self, bitsets: NDArray[np.signedinteger]) -> bool:
        """Extract planes from the source; False if they do not fit into memory."""
        assert self._source is not None
        whole, subset = self._source
        if self._source_generation != whole.generation:  # its planes have moved; those already extracted stay
            self._slots_of_source, self._source_generation = np.zeros(0, np.int64), whole.generation
        if len(self._slots_of_source) < whole.used:
            self._slots_of_source = np.concatenate(
                [self._slots_of_source, np.zeros(len(whole.bits) - len(self._slots_of_source), np.int64)]
            )
        new = np.unique(bitsets[self._slots_of_source[bitsets] == 0]).astype(
            np.int64
        )  # for which `extract` is compiled
        new = new[new > 0]
        if self.used + len(new) > self.capacity:
            return False
        slots = self.used + np.arange(len(new))
        self._slots_of_source[new] = slots
        self._atoms += [whole._atoms[bitset - 1] for bitset in new.tolist()]
        self.used += len(new)
        self._ensure_rows(len(new))
        layout = self._layout
        extract(whole.bits, new, subset, layout.blocks, layout.valid, slots, self.bits, self.reduced)
        return True

    def _make(self, new: Sequence[tuple[AtomFamily, int]]) -> None:
        """Make the planes of families; each is given with the place of its first."""
        by_signal: dict[Expression, list[tuple[AtomFamily, int]]] = {}
        for family, first in new:
            self._atoms += zip(repeat(family.signal), repeat(family.outcomes), family.constants, repeat(family.graded))
            by_signal.setdefault(family.signal, []).append((family, first))
        together = list(chain.from_iterable(by_signal.values()))  # arrays are made once for all signals
        sizes, firsts = (
            np.array([(len(family.constants), first) for family, first in together], np.int64).reshape(-1, 2).T
        )
        outcomes = np.repeat(np.array([family.outcomes for family, _ in together], np.int64), sizes)
        constants = np.array([constant for family, _ in together for constant in family.constants])
        slots = np.arange(len(constants)) + np.repeat(firsts - (np.cumsum(sizes) - sizes), sizes)
        low = 0
        for signal, members in by_signal.items():
            part = slice(low, low + sum(len(family.constants) for family, _ in members))
            self._fill(signal, outcomes[part], constants[part], slots[part])
            low = part.stop

    def _fill(
        self,
        signal: Expression,
        outcomes: NDArray[np.int64],
        constants: NDArray[np.float64],
        slots: NDArray[np.int64],
    ) -> None:
        """Make the planes at these places, of one signal compared with constants."""
        layout, grid = self._layout, self._signals.grids.get(signal, {})
        codes = self._codes_of(signal, grid) if grid and grid.keys() >= set(constants.tolist()) else None
        if codes is None:
            values, room = self._signals.values(signal), np.empty((len(constants), 2), np.int64)
            pack(values, layout.starts, layout.lengths, layout.blocks, layout.valid, outcomes, constants, slots,
                 layout.tile, room, self.bits, self.reduced)  # fmt: skip
        else:
            places = np.array([grid[constant] for constant in constants.tolist()])
            pack_codes(codes, layout.blocks, layout.valid, outcomes, places, slots, self.bits, self.reduced)
        if self._signals.panel.on_disk:
            unload()  # the numbers are not needed any more

    def _codes_of(self, signal: Expression, grid: Grid) -> NDArray[np.uint8] | None:
        """The codes of a signal; None if they are not worth it, or do not fit into memory beside the planes."""
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
        """The planes or their negations; constant ones as plane 0, which is never true, or its negation."""
        ever, ever_not = self.reduced[slots].any(axis=1), self.reduced[slots ^ 1].any(axis=1)
        return np.where(ever_not, np.where(ever, slots, 0), 1)

    def atom(self, bitset: int) -> Atom:
        """The atom of a plane."""
        return Atom(*self._atoms[bitset - 1])

    def _is_negated(self, family: AtomFamily) -> int:
        """Whether planes are those of the complement: x ≥ c is ¬(x < c) and needs none of its own, unless something is
        missing."""
        return int(family.outcomes in (GREATER, GREATER | EQUAL) and not self._signals.may_be_missing(family.signal))

    def _ensure_rows(self, new: int) -> None:
        """Have room for all planes in use, of which the last are new."""
        if self.used > len(self.bits):
            rows = min(self.capacity, max(64, 2 * self.used, _AHEAD if self._for_search else 0))
            self.bits = _grown(self.bits, self._rows_of_words(rows))
            self.reduced = _grown(self.reduced, aligned_words(2 * rows, self.reduced.shape[1]))
        reserve(self.bits[self.used - new : self.used])

    def _rows_of_words(self, rows: int) -> NDArray[np.uint64]:
        """Memory for this many planes: what was lent, if it suffices."""
        words = self._layout.words
        if self._memory is not None and rows * words <= len(self._memory):
            return self._memory[: rows * words].reshape(rows, words)
        return self._allocate(rows, words)

    def _register(self, names: NDArray[np.uint64], slots: NDArray[np.signedinteger], numbers: bool) -> None:
        """Register planes, or their negations, by these names or numbers."""
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
    """Insert names into a hash table, with a value from each of both rows."""
    for k in range(len(names)):
        place = place_of(keys, names[k])
        keys[place] = names[k]
        slots[0, place], slots[1, place] = both[0, k], both[1, k]


@kernel
def find(keys, slots, names):
    """Look names up in a hash table; UNKNOWN for those it does not have."""
    found = np.empty(len(names), np.int32)
    for k in range(len(names)):
        place = place_of(keys, names[k])
        found[k] = slots[place] if keys[place] == names[k] else UNKNOWN
    return found


def _atoms_numbered(families: Mapping[int, AtomFamily], numbers: Iterable[int]) -> list[AtomFamily]:
    """Of families, by the number of the first of each, the atoms that have these numbers, in their order."""
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
