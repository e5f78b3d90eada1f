"""The layout of records in bitsets, and memory for bitsets.

A bitset is the truth of a condition for all records and steps: one bit per record and step, 64 records a word. Records
are sorted by length, 64 to a block, and a block has one word for each of its steps.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from telltree.panel import Panel
from telltree.panel.disk_arrays import sparse

LANES = 64
"""Records per word."""
VECTOR = 4
"""Words per vector load. Rows whose length is a multiple of this start aligned."""
TILE = 1024
"""Most words that an instruction processes at a time: three vectors of them fit into the L1 cache."""
CACHE = 1 << 24
"""Bytes of bitsets processed together: they fit into the last-level cache of most machines."""


@dataclass(frozen=True)
class Layout:
    """The places of a panel's records in bitsets, or of some of them."""

    order: NDArray[np.int64]  # record number at each place; place p is bit p % 64 of block p // 64
    starts: NDArray[np.int64]  # first row of the record at each place, in the panel's columns
    lengths: NDArray[np.int64]
    blocks: NDArray[np.int64]  # first word of each block, and one past the last
    valid: NDArray[np.uint64]  # the bits of each word that stand for a step of a record
    places: NDArray[np.int64]  # of the selected records, in the panel's order

    @classmethod
    def of(cls, panel: Panel) -> "Layout":
        """Lay out a panel, longest records first, so that blocks waste few words. Blocks are padded to whole
        vectors."""
        order = np.argsort(-panel.lengths, kind="stable")
        starts, lengths = panel.starts[order], panel.lengths[order]
        blocks = np.concatenate([[0], np.cumsum(-(-lengths[::LANES] // VECTOR) * VECTOR)])
        return cls(order, starts, lengths, blocks, _valid(lengths, blocks), np.argsort(order))

    def among(self, members: NDArray[np.int64]) -> "Layout":
        """Return the same places with only some records selected."""
        return replace(self, places=self.places[members])

    @property
    def records(self) -> int:
        """The number of selected records."""
        return len(self.places)

    @cached_property
    def words(self) -> int:
        """Words per bitset."""
        return int(self.blocks[-1])

    @cached_property
    def occupied(self) -> NDArray[np.uint64]:
        """The bits of each block that stand for a selected record."""
        return self.masks([np.ones(self.records, np.bool_)])[:, 0].copy()

    @cached_property
    def steps(self) -> NDArray[np.uint64]:
        """The bits of each word that stand for a step of a selected record."""
        found: NDArray[np.uint64] = self.valid & np.repeat(self.occupied, np.diff(self.blocks))
        return found

    @cached_property
    def longest(self) -> int:
        return int(self.lengths.max(initial=0))

    @property
    def tile(self) -> NDArray[np.float64]:
        """Uninitialised memory for the numbers of a block's records: steps × records."""
        return np.empty((self._tallest, LANES))

    @cached_property
    def _tallest(self) -> int:
        return int(np.diff(self.blocks).max(initial=0))

    @cached_property
    def _one_tile(self) -> NDArray[np.int64]:
        return np.array([self.places.min() // LANES, len(self.blocks) - 1])

    def tiles(self, bitsets: int) -> NDArray[np.int64]:
        """Return the first block of each tile, and one past the last; the first tile begins with the first record.

        A tile is a run of blocks that are processed together: few enough for the words of all bitsets in use to stay
        in the cache, and enough to make each instruction worth its overhead.
        """
        words = min(TILE, max(CACHE // (8 * max(1, bitsets)), 1))
        if words >= self.words:
            return self._one_tile
        if words not in self._tiles:
            self._tiles[words] = self._tiles_of(words)
        return self._tiles[words]

    @cached_property
    def _tiles(self) -> dict[int, NDArray[np.int64]]:
        """Tiles by their size, cached because every generation of a search needs the same."""
        return {}

    def _tiles_of(self, words: int) -> NDArray[np.int64]:
        ends = [int(self._one_tile[0])]
        while ends[-1] < len(self.blocks) - 1:
            reached = int(np.searchsorted(self.blocks, self.blocks[ends[-1]] + words, side="right")) - 1
            ends.append(max(reached, ends[-1] + 1))
        return np.array(ends)

    def unpack(self, truth: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Convert one bit per record (formulas × blocks) to one Boolean per record, in the panel's order."""
        bits = np.unpackbits(truth.view(np.uint8), axis=1, bitorder="little").view(np.bool_)
        found: NDArray[np.bool_] = bits[:, self.places]
        return found

    def unpack_steps(self, bitset: NDArray[np.uint64]) -> list[NDArray[np.bool_]]:
        """Convert a bitset to one Boolean vector per record, in the panel's order."""
        bits = np.unpackbits(bitset.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little").view(np.bool_)
        found: list[NDArray[np.bool_]] = [np.empty(0, np.bool_)] * self.records
        for place, (record, length) in enumerate(zip(self.order, self.lengths, strict=True)):
            first = self.blocks[place // LANES]
            found[record] = bits[first : first + length, place % LANES]
        return found

    def masks(self, groups: Sequence[NDArray[np.bool_]]) -> NDArray[np.uint64]:
        """Convert groups, each one Boolean per record, to masks: blocks × groups, one bit per record."""
        blocks = len(self.blocks) - 1
        member = np.zeros((len(groups), blocks * LANES), np.bool_)
        for k, group in enumerate(groups):
            member[k, self.places] = group
        words = np.packbits(member, axis=1, bitorder="little").view(np.uint64).reshape(len(groups), blocks)
        return np.ascontiguousarray(words.T)


_LINE = 8  # words in a cache line
Allocator = Callable[[int, int], NDArray[np.uint64]]
"""Allocates memory, given the number of rows and of words per row."""


def aligned_words(rows: int, words: int) -> NDArray[np.uint64]:
    """Allocate uninitialised rows of words, aligned to a cache line: vectors that cross one take two loads."""
    memory = np.empty(rows * words + _LINE, np.uint64)
    skipped = -(memory.ctypes.data // memory.itemsize) % _LINE
    return memory[skipped : skipped + rows * words].reshape(rows, words)


def words_on_disk(rows: int, words: int) -> NDArray[np.uint64]:
    """Allocate rows of words on disk; `telltree.panel.disk_arrays.reserve` those that are about to be written."""
    return sparse(rows * words, np.uint64).reshape(rows, words)


def _valid(lengths: NDArray[np.int64], blocks: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the bits of each word that stand for a step of a record.

    Records are sorted by length, so these are its lowest bits, and no more than in the word before.
    """
    steps = np.arange(blocks[-1]) - np.repeat(blocks[:-1], np.diff(blocks))
    block = np.repeat(np.arange(len(blocks) - 1), np.diff(blocks))
    padded = np.zeros((len(blocks) - 1) * LANES, np.int64)
    padded[: len(lengths)] = lengths
    span = np.diff(blocks).max(initial=0) + 1
    # the number of records of the block that are longer than this step
    keys = block * span + steps
    descending = np.repeat(np.arange(len(blocks) - 1), LANES) * span + padded
    ends = np.sort(descending)
    longer = (block + 1) * LANES - np.searchsorted(ends, keys, side="right")
    return np.where(longer >= LANES, ~np.uint64(0), (np.uint64(1) << longer.astype(np.uint64)) - np.uint64(1))
