"""Evaluation: formulas in, whatever their form, counts and answers out."""

import abc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.logic.atoms import Atom
from telltree.logic.instructions import COUNT, WORD_AND, Programs
from telltree.logic.layout import TILE, Layout
from telltree.logic.machine import Counting, Registers, Tally, evaluate
from telltree.logic.margins import Gauges, Room, each, narrowest
from telltree.logic.operands import RECORD, STEPS
from telltree.logic.planes import Planes
from telltree.logic.signals import Signals
from telltree.logic.subset import Subset

MEMORY = 1 << 29
"""Bytes that the planes of one evaluator may take, or half of what the panel's columns take if that is more: planes
that do not fit are made again and again."""
WORTH_THREADS = 1 << 18
"""Words of work below which starting threads takes longer than they save."""
LEAST_MARGIN = 1e-300
"""Anything smaller only says on which side of an equality a record lies."""

F = TypeVar("F")
"""The form in which formulas are given."""


class Evaluator(abc.ABC, Generic[F]):
    """Evaluates formulas on the records of one panel. What forms of formulas differ in is how programs are made."""

    def __init__(
        self,
        panel: Panel,
        signals: Signals,
        *,
        numbered: int = 0,
        counts: bool = False,
        memory: int | None = None,
        threads: int = 1,
        part_of: "tuple[Evaluator[F], NDArray[np.int64]] | None" = None,
    ) -> None:
        """`numbered`: atoms that are known by numbers. `counts`: whether formulas count.

        `part_of`: an evaluator with the same signals, and which of its records these are, in ascending order: what it
        knows of atoms need not be found out again.
        """
        self.panel, self.signals = panel, signals
        self.layout = Layout.of(panel)
        self._budget = max(MEMORY, 4 * panel.steps * len(panel.schema)) if memory is None else memory
        source: tuple[Planes, Subset] | None = None
        if part_of is not None:
            whole, members = part_of
            self._budget = whole._budget // 2
            whole._planes.share(self._budget)
            source = whole._planes, Subset.of(whole.layout, self.layout, members)
        self._planes: Planes = Planes(self.layout, signals, self._budget, numbered, source)
        self._programs = Programs.room(0, 0)
        self._threads, self._counts = max(1, threads), counts
        self._scratch = self._scratch_for(8)

    @staticmethod
    @abc.abstractmethod
    def _how_many(formulas: F) -> int: ...

    @abc.abstractmethod
    def _lower(self, formulas: F, wanted: NDArray[np.int64], mode: int, simplify: bool) -> bool:
        """Programs for those formulas that are `wanted`, with planes for all they need; False if that needs too many.

        With `simplify`, what is settled for all records may be left out.
        """

    def evaluate(self, formulas: F, wanted: NDArray[np.int64], masks: NDArray[np.uint64]) -> Tally:
        """Count, mask by mask, the records for which each of the formulas `wanted` is true, in that order."""
        tally = Tally.room(len(wanted), masks.shape[1])
        self._run(formulas, wanted, masks, tally)
        return tally

    def truth(self, formulas: F) -> NDArray[np.bool_]:
        """The truth of every formula for every record, in the panel's order."""
        tally = Tally.room(self._how_many(formulas), 0, blocks=len(self.layout.blocks) - 1)
        self._run(formulas, np.arange(self._how_many(formulas)), self.layout.masks([]), tally)
        return self.layout.unpack(tally.truth)

    def trace(self, formulas: F, which: int) -> list[NDArray[np.bool_]]:
        """The truth of one formula at every step of every record."""
        tally = Tally.room(0, 0, words=self.layout.words)
        self._run(formulas, np.array([which]), self.layout.masks([]), tally, mode=STEPS)
        return self.layout.unpack_steps(tally.steps)

    def margins(self, formulas: F, cutoff: bool = False) -> NDArray[np.float64]:
        """The smallest absolute margin of each formula over the records.

        With `cutoff` only the widest is exact: formulas that fall behind it are not followed to the end.
        """
        found = np.zeros(self._how_many(formulas))
        held: list[NDArray[np.float64]] = []
        # what is settled for these records still has a margin, so nothing may be simplified away
        for part in self._lowered(formulas, np.arange(self._how_many(formulas)), RECORD, simplify=False):
            used = np.unique(self._operands(part)[0])
            gauges = Gauges.of(self._planes.atoms(), used[used > 0], self.signals, held)
            registers = len(self._scratch[0][0].words)
            room, numbers = Room.of(registers, self.layout.longest), np.empty(registers) if self._counts else None
            graded = part[self._reads(part, gauges.spread > 0)]
            found[part] = 1.0  # where nothing is graded
            narrowest(
                self._programs, graded, self.layout.starts, self.layout.lengths, self.layout.blocks,
                self._planes.bits, gauges, room, numbers, cutoff, found,
            )  # fmt: skip
        found[found < LEAST_MARGIN] = 0.0
        return found

    def turning_points(self, formulas: F, atom: Atom) -> NDArray[np.float64]:
        """For the first formula, and one of its atoms, the value of the atom's signal that decides each record, in the
        panel's order: where the atom's constant passes it, the answer turns. ±∞ where no constant would turn it.

        The formula must not count, and have the atom only once.
        """
        found = np.empty(self.layout.records)
        for part in self._lowered(formulas, np.arange(1), RECORD, simplify=False):
            plane, outcomes = self._planes.place(atom)
            values = self.signals.values(atom.signal)
            gauges = Gauges.room(self._planes.used, np.inf)
            gauges.measure(plane, values, outcomes, 0.0, 1.0)  # the distance to 0 is the value itself
            room = Room.of(len(self._scratch[0][0].words), self.layout.longest)
            margins, layout = np.empty(self.layout.records), self.layout
            each(
                self._programs, part[0], layout.starts, layout.lengths, layout.blocks, self._planes.bits, gauges, room,
                margins,
            )  # fmt: skip
            found[layout.order] = margins
        found[np.abs(found) < LEAST_MARGIN] = 0.0
        return found

    def _operands(self, part: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The planes that programs read, and beside each the place in `part` of the program that reads it."""
        bounds, results = self._programs.bounds[part], self._programs.result[part, 0].astype(np.int64)
        lengths = bounds[:, 1] - bounds[:, 0]
        owner = np.repeat(np.arange(len(part)), lengths)
        steps = self._programs.steps[
            np.repeat(bounds[:, 0] - (np.cumsum(lengths) - lengths), lengths) + np.arange(len(owner))
        ]
        on_words = steps[:, 0] == WORD_AND
        reads = on_words | (steps[:, 0] <= COUNT)
        planes = np.where(on_words[:, None], steps[:, 2:4] >> 1, steps[:, 2:4])[reads].ravel()
        planes = np.concatenate([planes, results >> 1]).astype(np.int64)
        owner = np.concatenate([np.repeat(owner[reads], 2), np.arange(len(part))])
        return planes[planes >= 0], owner[planes >= 0]

    def _reads(self, part: NDArray[np.int64], chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether each program reads one of the chosen planes."""
        planes, owner = self._operands(part)
        found = np.zeros(len(part), np.bool_)
        found[owner[chosen[planes]]] = True
        return found

    def _run(
        self,
        formulas: F,
        wanted: NDArray[np.int64],
        masks: NDArray[np.uint64],
        tally: Tally,
        mode: int = RECORD,
    ) -> None:
        if not self.layout.records:
            tally.clear()
            return
        done = 0
        for part in self._lowered(formulas, wanted, mode):
            threads = self._threads if len(part) * self.layout.words >= WORTH_THREADS else 1
            tiles = self.layout.tiles(self._planes.used)
            own = tally if len(part) == len(wanted) else tally.part(done, done + len(part))
            if threads == 1:
                self._share((part, tiles, masks, *self._scratch[0], own))
            else:
                bounds = [len(part) * share // threads for share in range(threads + 1)]
                jobs = [
                    (part[low:high], tiles, masks, *scratch, own.part(low, high))
                    for (low, high), scratch in zip(pairwise(bounds), self._scratch, strict=True)
                ]
                with ThreadPoolExecutor(threads) as pool:
                    list(pool.map(self._share, jobs))
            done += len(part)

    def _share(self, job: tuple[Any, ...]) -> None:
        """Evaluate a part: which, by which tiles and masks, with a set of registers, and where the tally goes."""
        part, *rest = job
        layout, planes = self.layout, self._planes
        evaluate(self._programs, part, planes.bits, planes.reduced, layout.valid, layout.blocks, layout.occupied, *rest)

    def _lowered(
        self, formulas: F, wanted: NDArray[np.int64], mode: int, simplify: bool = True
    ) -> Iterator[NDArray[np.int64]]:
        """Lower `wanted` and yield it; in several parts if its planes do not fit into memory at once."""
        if not len(wanted):
            return
        if self._lower(formulas, wanted, mode, simplify):
            if self._programs.registers[0] > len(self._scratch[0][0].words):
                self._scratch = self._scratch_for(2 * int(self._programs.registers[0]))
            yield wanted
        elif len(wanted) == 1:
            self._planes.capacity *= 2  # one formula must always fit
            yield from self._lowered(formulas, wanted, mode, simplify)
        else:
            half = len(wanted) // 2
            yield from self._lowered(formulas, wanted[:half], mode, simplify)
            yield from self._lowered(formulas, wanted[half:], mode, simplify)

    def _scratch_for(self, number: int) -> list[tuple[Registers, Counting | None]]:
        """For each thread, so many registers, and of those that counts need as many, if there are any."""
        words = max(TILE, int(np.diff(self.layout.blocks).max(initial=0)))
        words += 24  # registers whole pages apart would get in each other's way
        blocks = min(words, len(self.layout.blocks) - 1)
        return [
            (Registers.room(number, words, blocks), Counting.room(number, blocks) if self._counts else None)
            for _ in range(self._threads)
        ]
