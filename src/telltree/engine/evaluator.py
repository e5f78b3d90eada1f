"""Evaluators: they compile formulas, run them on the records of a node, and return counts, hashes, truth or robustness.

`EvaluatorProtocol` is all that growing a tree needs. `Evaluator` implements it for the records of one process or shard;
`merge_shards` adds up the tallies of shards. Subclasses differ in the form of formulas: `PopulationEvaluator` takes
derivations of a grammar, `FormulaEvaluator` expressions.
"""

import abc
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import given
from telltree.engine.atoms import Atom, AtomFamily
from telltree.engine.bitset_layout import LANES, TILE, Allocator, Layout, aligned_words
from telltree.engine.bitset_windows import WindowMemory
from telltree.engine.bitsets import Bitsets
from telltree.engine.compile import RECORD, STEPS, UNKNOWN, CompilerMemory, Missing, compile_formulas
from telltree.engine.instructions import READS_BITSETS, WORD_AND, Programs
from telltree.engine.machine import Counting, Registers, Tally, evaluate
from telltree.engine.robustness import AtomDistances, RobustnessRegisters, smallest_robustness
from telltree.engine.signals import Signals
from telltree.engine.subset import Subset
from telltree.grammar.derivation import Population
from telltree.grammar.tables import CodeTables
from telltree.logic import Expression
from telltree.panel import Panel, Schema

# ---- Tallies of shards, and their sum.


class CountRequest(NamedTuple):
    """The results to compute besides counts and hashes."""

    truth: bool = False
    """The truth for every record."""
    steps: bool = False
    """The truth at every step; nothing else is computed then."""
    is_shard: bool = False
    """True if the tally will be merged with those of other shards."""
    mode: int = RECORD
    """The mode of formulas; see `Mode`."""

    def empty(self, formulas: int, masks: int, layout: Layout) -> Tally:
        """Allocate the results."""
        if self.steps:
            return Tally.empty(0, 0, words=layout.words)
        return Tally.empty(formulas, masks, blocks=len(layout.blocks) - 1 if self.truth else 0)


class ShardTally(NamedTuple):
    """The tally of the records of one shard, or of several that were merged.

    Formulas that make the same split must get the same hash, whichever side they call true. It is the hash of the side
    with the very first record. A shard without that record returns the hash by its own first record, and also the
    `opposite`; `members[:, 1]` is then 1 if a formula is true for that record. With a single shard, `opposite` is
    None, and `members[:, 1]` is the size of the smaller side.
    """

    tally: Tally
    opposite: NDArray[np.uint64] | None
    records: int

    def part(self, low: int, high: int) -> "ShardTally":
        """Return the rows of some formulas, as views."""
        return ShardTally(
            self.tally.part(low, high), None if self.opposite is None else self.opposite[low:high], self.records
        )

    def concatenated(self, other: "ShardTally") -> "ShardTally":
        """Append the rows of other formulas, for the same records."""
        tally = Tally._make(np.concatenate(pair) for pair in zip(self.tally, other.tally, strict=True))
        if self.opposite is None or other.opposite is None:
            return ShardTally(tally, None, self.records)
        return ShardTally(tally, np.concatenate((self.opposite, other.opposite)), self.records)

    def final(self) -> Tally:
        """Return the tally of all records; there must be no other shards."""
        if self.opposite is None:
            return self.tally
        true = self.tally.members[:, 0]
        return self.tally._replace(members=np.column_stack([true, np.minimum(true, self.records - true)]))


def merge_shards(parts: Sequence[ShardTally]) -> ShardTally:
    """Add up the tallies of several shards, in the order of their blocks."""
    tallies = [part.tally for part in parts]
    true_of_first = tallies[0].members[:, 1]
    answers = [np.zeros_like(tallies[0].answer) for _ in range(2)]
    for part in parts:
        assert part.opposite is not None
        same = part.tally.members[:, 1] == true_of_first
        answers[0] += np.where(same, part.tally.answer, part.opposite)
        answers[1] += np.where(same, part.opposite, part.tally.answer)
    true = np.sum([tally.members[:, 0] for tally in tallies], axis=0)
    tally = tallies[0]._replace(
        counts=np.sum([tally.counts for tally in tallies], axis=0),
        members=np.column_stack([true, true_of_first]),
        answer=answers[0],
        truth=np.concatenate([tally.truth for tally in tallies], axis=1),
    )
    return ShardTally(tally, answers[1], sum(part.records for part in parts))


# ---- The protocol of evaluators for the records of a node, wherever the records are.

F_contra = TypeVar("F_contra", contravariant=True)
"""The form in which formulas are given."""

Masks = Any
"""Groups of records to count, in a form of the evaluator's own."""


class EvaluatorProtocol(Protocol[F_contra]):
    """An evaluator for the records of a node: an `Evaluator`, or several shards of `scale.shards`."""

    @property
    def schema(self) -> Schema: ...

    def masks(self, groups: Sequence[NDArray[np.bool_]]) -> Masks: ...

    def evaluate(self, formulas: F_contra, wanted: NDArray[np.int64], masks: Masks) -> Tally: ...

    def shard_tally(self, formulas: F_contra, wanted: NDArray[np.int64], masks: Masks) -> ShardTally: ...

    def truth(self, formulas: F_contra) -> NDArray[np.bool_]: ...

    def robustness(
        self, formulas: F_contra, cutoff: float | None = None, is_shard: bool = False
    ) -> NDArray[np.float64]: ...

    def distinct(self, signal: Expression) -> NDArray[np.float64]: ...


class FormulaEvaluatorProtocol(EvaluatorProtocol[Sequence[Expression]], Protocol):
    """An evaluator of expressions."""

    def turning_points(self, formulas: Sequence[Expression], atom: Atom) -> NDArray[np.float64]: ...


class PopulationEvaluatorProtocol(EvaluatorProtocol[Population], Protocol):
    """An evaluator of derivations."""

    def signatures(self, conditions: Population) -> list[tuple[bytes, bytes]] | None: ...

    def reach(self, conditions: Population, masks: Masks) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...


# ---- The evaluator of one shard.
#
# An evaluator owns some blocks of records and their bitsets. If the bitsets do not fit into memory at once, it halves
# the records, or the formulas if it shares the bitsets of another evaluator.

MEMORY = 1 << 29
"""The memory budget in bytes for the bitsets of one evaluator, or half the size of the panel's columns if that is more:
bitsets that do not fit must be computed again and again.
"""
MIN_WORDS_FOR_THREADS = 1 << 18
"""Words of work from which threads save more time than they take to start."""
MASKED_SHARE = 0.6
"""The share of another evaluator's records from which evaluating all of them, and masking the others, is faster than
extracting the bits of these records from its bitsets."""
LEAST_ROBUSTNESS = 1e-300
"""Smaller values count as 0: they only say on which side of an equality a record is."""

_MISSING = 4_096
"""Atoms without bitsets that one compilation can note."""
_TEMPORAL = np.ones(1, np.bool_)
"""Stands for WindowMemory in the kernel of robustness, which needs none."""
_NOTHING, _NONE = np.empty(0, np.uint64), np.empty(0)
"""Stand for None, for which the kernels would be compiled once more."""
Scratch: TypeAlias = tuple[Registers, Counting | None, WindowMemory | None]

F = TypeVar("F")
"""The form in which formulas are given."""


def default_memory(panel: Panel) -> int:
    """Return the memory budget for the bitsets of these records, if none is given."""
    return MEMORY if panel.on_disk else max(MEMORY, 4 * panel.steps * len(panel.schema))


def compiled_capabilities(counts: bool, temporal: bool) -> tuple[bool, bool]:
    """Return the compiled variant of the machine to use, given what formulas need: if it counts, and if it runs
    windows, until, since and edges. A variant that was compiled before, perhaps by another process, is preferred.
    """
    compiled = (one for one in given(evaluate, "counting", "temporal") if one[0] >= counts and one[1] >= temporal)
    can_count, can_temporal = min(compiled, default=(counts, temporal))
    return can_count, can_temporal


class Source(NamedTuple):
    """Input of the compiler: derivations, and the tables of their grammar."""

    tables: CodeTables
    rules: NDArray[np.int32]
    constants: NDArray[np.float64]
    lengths: NDArray[np.int64]
    instructions: int
    """An upper bound for all programs."""
    nodes: int
    """An upper bound for one formula."""


class Evaluator(abc.ABC, Generic[F]):
    """Evaluates formulas on the records of one panel. Subclasses differ in the form of the formulas."""

    def __init__(
        self,
        panel: Panel,
        signals: Signals,
        *,
        numbered: int = 0,
        counts: bool = False,
        temporal: bool = False,
        memory: int | None = None,
        threads: int = 1,
        part_of: "tuple[Evaluator[F], NDArray[np.int64]] | None" = None,
        before: int = 0,
        allocate: Allocator = aligned_words,
    ) -> None:
        """`numbered`: the number of atoms that have numbers. `counts`: formulas count. `temporal`: formulas have
        windows, until, since or edges. `before`: the number of blocks in the shards before this one.

        `part_of`: an evaluator with the same signals, and the positions of these records in it, in ascending order. Its
        bitsets are reused: shared, and masked, if these are most of its records, else extracted. `allocate`: allocates
        bitsets, in memory or on disk.
        """
        self.panel, self.signals = panel, signals
        self._allocate = allocate
        self.layout: Layout
        self._masked = part_of is not None and len(panel) >= MASKED_SHARE * part_of[0].layout.records
        if part_of is None:
            self._budget = default_memory(panel) if memory is None else memory
            self.layout = Layout.of(panel)
            self._bitsets = Bitsets(self.layout, signals, self._budget, numbered, None, allocate=allocate)
        elif self._masked:
            whole, members = part_of
            self._budget, self.layout, self._bitsets = whole._budget, whole.layout.among(members), whole._bitsets
        else:
            whole, members = part_of
            self._budget, self.layout = whole._budget // 2, Layout.of(panel)
            whole._bitsets.shrink(self._budget)
            source = whole._bitsets, Subset.of(whole.layout, self.layout, members)
            self._bitsets = Bitsets(self.layout, signals, self._budget, numbered, source, allocate=allocate)
        self._programs, self._memory = Programs.empty(0, 0), CompilerMemory.empty(0)
        self._missing = Missing.empty(_MISSING)
        self._threads, self.counts, self.temporal = max(1, threads), counts, temporal
        self.before = before
        self._too_many = sys.maxsize  # the least number of formulas whose bitsets did not fit into memory
        self._scratch = self._scratch_for(8)

    @staticmethod
    @abc.abstractmethod
    def _formula_count(formulas: F) -> int: ...

    @abc.abstractmethod
    def _source(self, formulas: F) -> Source:
        """Formulas in the form that the compiler reads."""

    @abc.abstractmethod
    def _named_atoms(self, source: Source, positions: list[int]) -> list[tuple[int, Atom]]:
        """Return the names and atoms at these positions of the missing named atoms."""

    @abc.abstractmethod
    def _numbered_atoms(self, source: Source, positions: list[int]) -> dict[int, AtomFamily]:
        """Return the families of the missing numbered atoms at these positions, by the number of their first atom."""

    @property
    def schema(self) -> Schema:
        """The schema of the records."""
        return self.panel.schema

    def masks(self, groups: Sequence[NDArray[np.bool_]]) -> NDArray[np.uint64]:
        """Convert groups of records to count, each given as one Boolean per record, to masks."""
        return self.layout.masks(groups)

    def distinct(self, signal: Expression) -> NDArray[np.float64]:
        """Return the distinct finite values of a signal, sorted."""
        values = self.signals.values(signal)[self.panel.rows()]
        return np.unique(values[np.isfinite(values)])

    def evaluate(self, formulas: F, wanted: NDArray[np.int64], masks: NDArray[np.uint64]) -> Tally:
        """For each of the `wanted` formulas, in that order, count the records of each mask for which it is true."""
        return self._findings(formulas, wanted, masks, CountRequest()).final()

    def truth(self, formulas: F) -> NDArray[np.bool_]:
        """Return the truth of every formula for every record, in the panel's order."""
        everything = np.arange(self._formula_count(formulas))
        found = self._findings(formulas, everything, self.layout.masks([]), CountRequest(truth=True))
        return self.layout.unpack(found.tally.truth)

    def shard_tally(self, formulas: F, wanted: NDArray[np.int64], masks: NDArray[np.uint64]) -> ShardTally:
        """Count as `evaluate` does, for `merge_shards`."""
        return self._findings(formulas, wanted, masks, CountRequest(is_shard=True))

    def _findings(
        self, formulas: F, wanted: NDArray[np.int64], masks: NDArray[np.uint64], request: CountRequest
    ) -> ShardTally:
        if not self.layout.records or self._prepare(formulas, wanted, request.mode):
            return self._run(wanted, masks, request)
        if self._masked:  # its bitsets are shared and cannot be halved by records: halve the formulas
            middle = len(wanted) // 2
            first = self._findings(formulas, wanted[:middle], masks, request)
            return first.concatenated(self._findings(formulas, wanted[middle:], masks, request))
        request, parts = request._replace(is_shard=True), []
        for half, blocks in self._halves():
            parts.append(half._findings(formulas, wanted, masks[blocks], request))
            del half  # free its memory for the other half
        return merge_shards(parts)

    def trace(self, formulas: F, index: int) -> list[NDArray[np.bool_]]:
        """Return the truth of one formula at every step of every record."""
        wanted = np.array([index])
        if not self.layout.records:
            return []
        self._prepare(formulas, wanted, STEPS)
        found = self._run(wanted, self.layout.masks([]), CountRequest(steps=True))
        return self.layout.unpack_steps(found.tally.steps)

    def robustness(self, formulas: F, cutoff: float | None = None, is_shard: bool = False) -> NDArray[np.float64]:
        """Return the smallest absolute robustness of each formula over the records.

        With `cutoff`, only the largest result is exact, and only if it is not below the cutoff: formulas that fall
        behind are abandoned. For a shard, all results that are not below the cutoff are exact.
        """
        everything, arrays = np.arange(self._formula_count(formulas)), list[NDArray[np.float64]]()
        # an atom that is constant over these records still has a robustness, so nothing may be simplified
        if not self._prepare(formulas, everything, simplify=False):
            found = np.full(len(everything), np.inf)
            for half, _ in self._halves():
                np.minimum(found, half.robustness(formulas, cutoff, is_shard=True), out=found)
            return found
        used = {
            bitset: self._bitsets.atom(bitset) for bitset in np.unique(self._operands(everything)[0]).tolist() if bitset
        }
        distances = AtomDistances.of(self._bitsets.used, used, self.signals, arrays)
        graded = everything[self._reads(everything, distances.unit > 0)]
        found = np.ones(len(everything))  # if nothing is graded
        places = np.sort(self.layout.places)
        cutoff = -1.0 if cutoff is None else cutoff
        self._measure(graded, places, distances, found, cutoff=cutoff, raise_cutoff=not is_shard)
        found[found < LEAST_ROBUSTNESS] = 0.0
        return found

    def _measure(
        self,
        wanted: NDArray[np.int64],
        places: NDArray[np.int64],
        distances: AtomDistances,
        out: NDArray[np.float64],
        *,
        per_record: NDArray[np.float64] = _NONE,
        cutoff: float = -1.0,
        raise_cutoff: bool = False,
    ) -> None:
        """Compute the robustness of the programs compiled last, for the records at these places; see
        `smallest_robustness`."""
        layout, registers = self.layout, len(self._scratch[0][0].words)
        scratch = RobustnessRegisters.of(registers, layout.longest)
        numbers = np.empty(registers) if self.counts else None
        temporal = _TEMPORAL if self.temporal else None
        smallest_robustness(
            self._programs, wanted, places, layout.starts, layout.lengths, layout.blocks, self._bitsets.bits, distances,
            scratch, numbers, temporal, cutoff, raise_cutoff, out, per_record,
        )  # fmt: skip

    def _operands(self, part: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the bitsets that programs read, and for each the index in `part` of the program that reads it."""
        bounds, results = self._programs.bounds[part], self._programs.result[part, 0].astype(np.int64)
        lengths = bounds[:, 1] - bounds[:, 0]
        owner = np.repeat(np.arange(len(part)), lengths)
        steps = self._programs.steps[
            np.repeat(bounds[:, 0] - (np.cumsum(lengths) - lengths), lengths) + np.arange(len(owner))
        ]
        on_words = steps[:, 0] == WORD_AND
        reads = READS_BITSETS[steps[:, 0]]
        bitsets = np.where(on_words[:, None], steps[:, 2:4] >> 1, steps[:, 2:4])[reads].ravel()
        bitsets = np.concatenate([bitsets, results >> 1]).astype(np.int64)
        owner = np.concatenate([np.repeat(owner[reads], 2), np.arange(len(part))])
        return bitsets[bitsets >= 0], owner[bitsets >= 0]

    def _reads(self, part: NDArray[np.int64], chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return, for each program, True if it reads one of the chosen bitsets."""
        bitsets, owner = self._operands(part)
        found = np.zeros(len(part), np.bool_)
        found[owner[chosen[bitsets]]] = True
        return found

    def _run(self, wanted: NDArray[np.int64], masks: NDArray[np.uint64], request: CountRequest) -> ShardTally:
        """Run the programs compiled last on the records of this shard."""
        layout = self.layout
        tally = request.empty(len(wanted), masks.shape[1], layout)
        found = ShardTally(tally, np.zeros(len(wanted), np.uint64) if request.is_shard else None, layout.records)
        if not layout.records:
            tally.clear()
            return found
        threads = self._threads if len(wanted) * layout.words >= MIN_WORDS_FOR_THREADS else 1
        tiles = layout.tiles(self._bitsets.used)
        if threads == 1:
            self._run_share(wanted, tiles, masks, self._scratch[0], found)
            return found
        bounds = [len(wanted) * share // threads for share in range(threads + 1)]
        with ThreadPoolExecutor(threads) as pool:
            jobs = [
                pool.submit(self._run_share, wanted[low:high], tiles, masks, scratch, found.part(low, high))
                for (low, high), scratch in zip(pairwise(bounds), self._scratch, strict=True)
            ]
            for job in jobs:
                job.result()
        return found

    def _run_share(
        self,
        part: NDArray[np.int64],
        tiles: NDArray[np.int64],
        masks: NDArray[np.uint64],
        scratch: "Scratch",
        found: ShardTally,
    ) -> None:
        """Run some programs on all tiles, with the registers of one thread."""
        layout, bitsets = self.layout, self._bitsets
        opposite = _NOTHING if found.opposite is None else found.opposite
        evaluate(
            self._programs, part, bitsets.bits, bitsets.reduced, layout.valid, layout.blocks, layout.occupied,
            self.before, tiles, masks, *scratch, found.tally, opposite,
        )  # fmt: skip

    def _prepare(self, formulas: F, wanted: NDArray[np.int64], mode: int = RECORD, simplify: bool = True) -> bool:
        """Compile the `wanted` formulas and make their bitsets; return False if these do not fit into memory at once.

        A single formula or block exceeds the budget if it must.
        """
        if not len(wanted):
            return True
        if len(wanted) < self._too_many and self._compile(formulas, wanted, mode, simplify):
            self._make_registers()
            return True
        if len(wanted) > 1 and len(self.layout.blocks) > 2:
            self._too_many = min(self._too_many, len(wanted))
            return False
        while not self._compile(formulas, wanted, mode, simplify):
            self._bitsets.capacity *= 2
        self._make_registers()
        return True

    def _compile(self, formulas: F, wanted: NDArray[np.int64], mode: int, simplify: bool) -> bool:
        """Compile the `wanted` formulas and make their bitsets; return False if these are too many.

        With `simplify`, atoms that are constant over all records may be left out.
        """
        source, bitsets, missing = self._source(formulas), self._bitsets, self._missing
        self._ensure_memory(source)
        row, cleared = 0 if simplify else 1, False
        while True:
            missing.clear()
            compile_formulas(
                source.tables, source.rules, source.constants, source.lengths, wanted, mode, bitsets.numbered[row],
                bitsets.keys, bitsets.slots[row], self._programs, self._memory, missing,
            )  # fmt: skip
            numbered, named = missing.found.tolist()
            numbers = missing.numbered[:numbered, 0].astype(np.uint64)
            bitsets.numbered[row, numbers] = UNKNOWN
            if not numbered and not named:
                return True
            if self._add(source, numbers, True) and self._add(source, missing.name[:named], False):
                continue
            if cleared:
                return False
            bitsets.clear()
            cleared = True

    def _add(self, source: Source, missing: NDArray[np.uint64], are_numbers: bool) -> bool:
        """Make bitsets for missing atoms, given by numbers or names; return False if they do not fit into memory."""
        if not len(missing):
            return True
        taken = self._bitsets.take_from_source(missing, are_numbers)
        if taken is None:
            return False
        left = np.flatnonzero(~taken)
        if not len(left):
            return True
        if are_numbers:
            return self._bitsets.add_numbered(missing[left], self._numbered_atoms(source, left.tolist()))
        return self._bitsets.add(self._named_atoms(source, left.tolist()))

    def _ensure_memory(self, source: Source) -> None:
        """Grow the memory for programs, to little more than they may need: getting fresh pages from the operating
        system takes longer than filling them."""
        individuals, before, space = len(source.lengths), len(self._programs.size), len(self._programs.values)
        if individuals > before or source.instructions > space:
            instructions = max(source.instructions, min(2 * space, individuals * source.nodes))
            self._programs = Programs.empty(max(individuals, before), instructions)
        if source.nodes > len(self._memory.frames):
            self._memory = CompilerMemory.empty(source.nodes)

    def _make_registers(self) -> None:
        if self._programs.registers[0] > len(self._scratch[0][0].words):
            self._scratch = self._scratch_for(2 * int(self._programs.registers[0]))

    def _halves(self) -> "Iterator[tuple[Evaluator[F], slice]]":
        """Yield evaluators for the two halves of the records, with their blocks; each may use the whole budget."""
        self._bitsets.release()
        blocks, blocks_of_records = len(self.layout.blocks) - 1, self.layout.places // LANES
        for low, high in ((0, blocks // 2), (blocks // 2, blocks)):
            records = np.flatnonzero((blocks_of_records >= low) & (blocks_of_records < high))
            yield self._for_part(self.panel[records], self.before + low), slice(low, high)

    @abc.abstractmethod
    def _for_part(self, panel: Panel, before: int) -> "Evaluator[F]":
        """Return an evaluator for a part of the records, with `before` blocks before it, and the same memory."""

    def _scratch_for(self, number: int) -> list["Scratch"]:
        """Allocate the working memory of each thread, with this many registers."""
        words = max(TILE, int(np.diff(self.layout.blocks).max(initial=0)))
        words += 24  # registers a multiple of a page apart would collide in the cache (4K aliasing)
        blocks = min(words, len(self.layout.blocks) - 1)
        return [
            (
                Registers.empty(number, words, blocks),
                Counting.empty(number, blocks) if self.counts else None,
                WindowMemory.empty(words, blocks) if self.temporal else None,
            )
            for _ in range(self._threads)
        ]
