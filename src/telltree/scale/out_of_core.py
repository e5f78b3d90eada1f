"""Out-of-core shards: shards of one process that take turns if the bitsets of all records do not fit in memory.

One shard is active; the bitsets of the others are on disk. The number of shards follows from the memory that the
process may take. The tree does not depend on it.
"""

import logging
import math
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from shutil import disk_usage
from typing import Any

import numpy as np

from telltree.engine.bitset_layout import LANES, VECTOR, words_on_disk
from telltree.engine.evaluator import default_memory
from telltree.engine.trace import SIGNALS, signals_of
from telltree.errors import SettingsError
from telltree.grammar import Grammar
from telltree.panel import Panel
from telltree.panel.disk_arrays import allow_files, unload
from telltree.scale.shards import Message, Shard, ShardedBackend, ShardPlaces, answered, even_bounds
from telltree.text import counted, size_text
from telltree.tree.backend import Backend, LocalBackend

logger = logging.getLogger("telltree")
_ATOMS = 2048  # bitsets to expect if a grammar does not number its atoms
_SEARCH = 192 << 20  # bytes for populations, formulas already tried, and compiled code
_SIGNALS_A_COLUMN = 6  # that a shard keeps, if a column occurs in as many ways as in the default language
_A_RECORD = 300  # bytes for each record at the open nodes
_FILES = 12  # that a shard may have open: for bitsets of all records, and of the open nodes
_FEWEST = 4096  # steps of a shard


def local_backend(
    panel: Panel,
    grammar: Grammar,
    threads: int = 1,
    max_memory: int | None = None,
    *,
    firm: bool = True,
    quiet: bool = False,
) -> Backend:
    """Return the backend in this process: for all records at once if their bitsets fit in memory, else in shards.

    `max_memory`: bytes that the process may take, or a little more if that is not `firm`; None for half of the
    machine's if the panel is on disk, else for the default beside a panel in memory. The estimate is logged unless
    `quiet`.
    """
    atoms = int(grammar.tables.atoms[0])
    if max_memory is None and not panel.on_disk:
        bitset = panel.steps / LANES * 8
        if atoms * bitset <= default_memory(panel):  # of two atoms, one is often the complement of the other
            return LocalBackend(panel, grammar, threads)
        most = _memory_now() + _beside_bitsets(panel) + default_memory(panel)
    else:
        most = _physical_memory() // 2 if max_memory is None else max_memory
    plan = ShardPlan.of(panel, grammar, most, firm=firm and max_memory is not None)
    if not quiet and (max_memory is not None or panel.on_disk):
        logger.warning("telltree: learning takes %s", plan)
    if len(plan.bounds) == 2 and not panel.on_disk:  # a single shard takes no turns
        return LocalBackend(panel, grammar, threads, memory=plan.bitsets)
    places = OutOfCoreShards(panel, grammar, plan.bounds, threads=threads, memory=plan.bitsets)
    return ShardedBackend(places, panel.schema, grammar, signals_of(panel).deviation)


@dataclass(frozen=True)
class ShardPlan:
    """The division of records into shards, and its memory and disk use in bytes."""

    bounds: list[int]
    """The first record of each shard, and one past the last."""
    bitsets: int
    """The most bytes for the bitsets of a shard."""
    memory: int
    """The estimated most memory that the process takes."""
    disk: int
    """The most room on disk."""

    @classmethod
    def of(cls, panel: Panel, grammar: Grammar, most: int, *, firm: bool) -> "ShardPlan":
        """Divide the records into as many shards as are needed for the process to take `most` bytes of memory.

        If that is not `firm`, it may take a little more.
        """
        taken = _memory_now() + _beside_bitsets(panel)
        atoms = int(grammar.tables.atoms[0]) or _ATOMS
        longest = np.sort(panel.lengths)[::-1][::LANES]  # of each block
        bitset = 8 * int((-(-longest // VECTOR) * VECTOR).sum())
        whole = 2 * atoms * bitset + 8 * panel.steps * len(
            panel.schema
        )  # bitsets of all records and of a node, and numbers
        fewest = whole * min(1.0, _FEWEST / max(1, panel.steps))
        if firm and most < taken + fewest:
            raise SettingsError(
                f"max_memory of {size_text(most)} is too little: at least {size_text(taken + fewest)} are needed; give "
                "more, or a grammar with fewer constants"
            )
        bounds = even_bounds(panel, math.ceil(whole / max(fewest, most - taken)))
        largest = np.add.reduceat(panel.lengths, bounds[:-1]).max() / panel.steps  # the share of all steps
        return cls(bounds, int(4 * atoms * bitset * largest) + 1, int(taken + whole * largest), 2 * atoms * bitset)

    def __str__(self) -> str:
        folder, shards = tempfile.gettempdir(), len(self.bounds) - 1
        places = f"{counted(shards, 'shard')}{' that take turns' if shards > 1 else ''}"
        return (
            f"about {size_text(self.memory)} of memory, with records in {places}, and at most {size_text(self.disk)} "
            f"on disk; {folder} has {size_text(disk_usage(folder).free)}"
        )


class OutOfCoreShards(ShardPlaces):
    """Shards in this process, one after the other."""

    def __init__(self, panel: Panel, grammar: Grammar, bounds: Sequence[int], *, threads: int, memory: int) -> None:
        """`memory`: the most bytes for the bitsets of a shard."""
        super().__init__(bounds)
        allow_files(_FILES * (len(bounds) - 1))
        signals = None if panel.on_disk else SIGNALS // (len(bounds) - 1)  # those in memory are kept by all shards
        self._backends = [
            LocalBackend(
                panel[low:high].alone(), grammar, threads, memory=memory, signals=signals, allocate=words_on_disk
            )
            for low, high in pairwise(bounds)
        ]
        self._shards = [Shard(backend) for backend in self._backends]
        self._at_work = 0
        self._backwards = False

    def ask(self, messages: Sequence[Message]) -> list[Any]:
        """Return the answers, in the order of the messages.

        The order of shards is reversed each time, so that the last one begins the next time.
        """
        answers = [None] * len(messages)
        places = range(len(messages))
        for place in reversed(places) if self._backwards else places:
            number = messages[place].shard
            if number != self._at_work:
                self._backends[self._at_work].rest()
                self._at_work = number
            answers[place] = answered(self._shards[number], messages[place])
        self._backwards = not self._backwards
        return answers


def _beside_bitsets(panel: Panel) -> int:
    """Return the bytes that learning takes beside the bitsets and numbers of its records."""
    signals = min(SIGNALS, 8 * _SIGNALS_A_COLUMN * len(panel.schema) * panel.steps)
    return _SEARCH + signals + _A_RECORD * len(panel)


def _memory_now() -> int:
    """Return the bytes that this process takes, without what is on disk."""
    unload()
    pages = Path("/proc/self/statm")
    if not pages.exists():
        return 300 << 20
    return int(pages.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _physical_memory() -> int:
    """Return the bytes of memory that this machine has."""
    if not hasattr(os, "sysconf"):
        return 8 << 30
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
