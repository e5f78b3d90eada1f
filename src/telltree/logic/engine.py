"""The engine: populations of derivations in, counts and answers out."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.grammar.derivation import expression_at
from telltree.grammar.microcode import Code, code_of
from telltree.grammar.population import Population
from telltree.grammar.rules import Rule
from telltree.grammar.tables import Tables
from telltree.logic.atoms import Atom
from telltree.logic.instructions import COUNT, WORD_AND, Programs
from telltree.logic.layout import TILE, Layout
from telltree.logic.lowering import Absent, Desk, lower
from telltree.logic.machine import Counting, Registers, Tally, evaluate
from telltree.logic.margins import Gauges, Room, each, narrowest
from telltree.logic.operands import RECORD, STEPS
from telltree.logic.plain import UNKNOWN, lower_plain
from telltree.logic.planes import Planes
from telltree.logic.signals import Signals
from telltree.logic.subset import Subset
from telltree.operators import Expression, Hole

MEMORY = 1 << 29
"""Bytes that the planes of one engine may take, or half of what the panel's columns take if that is more: planes that
do not fit are made again and again."""
WORTH_THREADS = 1 << 18
"""Words of work below which starting threads takes longer than they save."""
_FORMULA = "Formula"
LEAST_MARGIN = 1e-300
"""Anything smaller only says on which side of an equality a record lies."""


class Engine:
    """Evaluates derivations of one grammar on the records of one panel."""

    def __init__(
        self,
        panel: Panel,
        rules: Sequence[Rule],
        tables: Tables,
        signals: Signals | None = None,
        *,
        memory: int | None = None,
        threads: int = 1,
        part_of: "tuple[Engine, NDArray[np.int64]] | None" = None,
    ) -> None:
        """`part_of`: an engine for the same rules and signals, and which of its records these are, in ascending order:
        what it knows of atoms need not be found out again.
        """
        self.panel = panel
        self.layout = Layout.of(panel)
        self.signals = signals or signals_of(panel)
        self._rules = rules
        self._tables, self._reading = tables, tables.reading
        budget = max(MEMORY, 4 * panel.steps * len(panel.schema)) if memory is None else memory
        source = None
        if part_of is not None:
            whole, members = part_of
            budget = whole._budget // 2
            whole._planes.share(budget)
            source = whole._planes, Subset.of(whole.layout, self.layout, members)
        self._budget = budget
        self._planes = Planes(self.layout, self.signals, budget, int(tables.atoms[0]), source)
        self._absent, self._lacking = Absent.room(4096), np.empty((4096, 3), np.int64)
        self._programs = Programs.room(0, 0)
        self._desk, self._frames = Desk.room(0), np.empty((0, 5), np.int64)
        self._room = 0, 0
        self._threads = max(1, threads)
        self._counts = bool((tables.micro["code"] >= Code.COUNT).any())
        self._scratch = self._scratch_for(8)
        self._codes_per_rule = int(np.diff(tables.rule["code_start"]).max()) + 2
        self._known = self.signals.atoms

    def evaluate(self, population: Population, wanted: NDArray[np.int64], masks: NDArray[np.uint64]) -> Tally:
        """Count, mask by mask, the records for which each of the individuals `wanted` is true, in that order."""
        tally = Tally.room(len(wanted), masks.shape[1])
        self._run(population, wanted, masks, tally)
        return tally

    def truth(self, population: Population) -> NDArray[np.bool_]:
        """The truth of every formula for every record, in the panel's order."""
        tally = Tally.room(len(population.lengths), 0, blocks=len(self.layout.blocks) - 1)
        self._run(population, np.arange(len(population.lengths)), self.layout.masks([]), tally)
        return self.layout.unpack(tally.truth)

    def trace(self, population: Population, individual: int) -> list[NDArray[np.bool_]]:
        """The truth of one formula at every step of every record."""
        tally = Tally.room(0, 0, words=self.layout.words)
        self._run(population, np.array([individual]), self.layout.masks([]), tally, mode=STEPS)
        return self.layout.unpack_steps(tally.steps)

    def margins(self, population: Population, cutoff: bool = False) -> NDArray[np.float64]:
        """The smallest absolute margin of each formula over the records.

        With `cutoff` only the widest is exact: formulas that fall behind it are not followed to the end.
        """
        found = np.zeros(len(population.lengths))
        held: list[NDArray[np.float64]] = []
        # what is settled for these records still has a margin, so nothing may be simplified away
        for part in self._lowered(population, np.arange(len(population.lengths)), RECORD, simplify=False):
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

    def turning_points(self, population: Population, atom: Atom) -> NDArray[np.float64]:
        """For the first formula, and one of its atoms, the value of the atom's signal that decides each record, in the
        panel's order: where the atom's constant passes it, the answer turns. ±∞ where no constant would turn it.

        The formula must not count, and have the atom only once.
        """
        found = np.empty(self.layout.records)
        for part in self._lowered(population, np.arange(1), RECORD, simplify=False):
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
        population: Population,
        wanted: NDArray[np.int64],
        masks: NDArray[np.uint64],
        tally: Tally,
        mode: int = RECORD,
    ) -> None:
        if not self.layout.records:
            tally.clear()
            return
        done = 0
        for part in self._lowered(population, wanted, mode):
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
        self, population: Population, wanted: NDArray[np.int64], mode: int, simplify: bool = True
    ) -> Iterator[NDArray[np.int64]]:
        """Lower `wanted` and yield it; in several parts if its planes do not fit into memory at once."""
        if not len(wanted):
            return
        self._make_room(population)
        if self._lower(population, wanted, mode, simplify):
            yield wanted
        elif len(wanted) == 1:
            self._planes.capacity *= 2  # one formula must always fit
            yield from self._lowered(population, wanted, mode, simplify)
        else:
            half = len(wanted) // 2
            yield from self._lowered(population, wanted[:half], mode, simplify)
            yield from self._lowered(population, wanted[half:], mode, simplify)

    def _make_room(self, population: Population) -> None:
        individuals, width = population.rules.shape
        if individuals > self._room[0] or width > self._room[1]:
            individuals, width = self._room = max(individuals, self._room[0]), max(width, self._room[1])
            codes = width * self._codes_per_rule  # far too many, but what is not used costs nothing
            self._programs = Programs.room(individuals, individuals * codes)
            self._desk, self._frames = Desk.room(codes), np.empty((codes, 5), np.int64)

    def _lower(self, population: Population, wanted: NDArray[np.int64], mode: int, simplify: bool) -> bool:
        """Programs for `wanted`, with planes made for all they need; False if that needs too many planes."""
        planes, forgot = self._planes, False
        while True:
            absent, numbers = self._attempt(population, wanted, mode, simplify)
            if not absent:
                break
            if planes.add(absent, numbers):
                continue
            if forgot:
                return False
            planes.forget()
            forgot = True
        if self._programs.registers[0] > len(self._scratch[0][0].words):
            self._scratch = self._scratch_for(2 * int(self._programs.registers[0]))
        return True

    def _attempt(
        self, population: Population, wanted: NDArray[np.int64], mode: int, simplify: bool
    ) -> tuple[list[tuple[int, Atom]], bool]:
        """Programs for `wanted`, unless atoms lack planes; returns these, and whether they are known by numbers."""
        rules, constants, lengths, _ = population
        planes, row, others = self._planes, 0 if simplify else 1, np.empty(len(wanted), np.int64)
        self._programs.registers[0] = 1
        end, lacking, odd = lower_plain(
            self._tables.rule, self._tables.micro, rules, lengths, wanted, mode, planes.numbered[row], self._programs,
            self._frames, self._lacking, others,
        )  # fmt: skip
        if lacking:
            planes.numbered[row, self._lacking[:lacking, 0]] = UNKNOWN
            return self._numbered_atoms(population, self._lacking[:lacking].tolist()), True
        if not odd:
            return [], False
        self._absent.found[0] = 0
        self._absent.keys[:] = 0
        lower(
            self._reading, rules, constants, lengths, others[:odd], mode, planes.keys, planes.slots[row],
            self._programs, end, self._desk, self._absent,
        )  # fmt: skip
        return self._atoms(population, int(self._absent.found[0])), False

    def _scratch_for(self, number: int) -> list[tuple[Registers, Counting | None]]:
        """For each thread, so many registers, and of those that counts need as many, if there are any."""
        words = max(TILE, int(np.diff(self.layout.blocks).max(initial=0)))
        words += 24  # registers whole pages apart would get in each other's way
        blocks = min(words, len(self.layout.blocks) - 1)
        return [
            (Registers.room(number, words, blocks), Counting.room(number, blocks) if self._counts else None)
            for _ in range(self._threads)
        ]

    def _numbered_atoms(self, population: Population, lacking: list[list[int]]) -> list[tuple[int, Atom]]:
        found, takes = [], self._tables.rule["takes"]
        for number, individual, node in lacking:
            rule = population.rules.item(individual, node)
            template, constant = self._rules[rule].template, None
            if takes.item(rule):
                constant = self._rules[population.rules.item(individual, node + 1)].template
            atom = self._known.get((template, constant))
            if atom is None:
                atom = self._known[template, constant] = Atom.of(template, self.panel.schema, constant)
            found.append((number, atom))
        return found

    def _atoms(self, population: Population, absent: int) -> list[tuple[int, Atom]]:
        found = []
        for name, (individual, node, micro) in zip(
            self._absent.name[:absent].tolist(), self._absent.where[:absent].tolist(), strict=True
        ):
            if name not in self._known:
                constants = population.constants[individual]
                drawn = constants if len(constants) else np.full(population.rules.shape[1], np.nan)
                whole, _ = expression_at(self._rules, population.rules[individual], drawn, node)
                rule = population.rules[individual, node]
                template = self._rules[rule].template
                e = _counterpart(template, whole, micro - int(self._tables.rule["code_start"][rule]))
                self._known[name] = Atom.of(e, self.panel.schema)
            found.append((name, self._known[name]))
        return found


def _counterpart(template: Expression, whole: Expression, position: int) -> Expression:
    """What stands in `whole` where `template`, whose holes it fills, has its node number `position`."""
    pairs = [(template, whole)]
    while True:
        node, filled = pairs.pop()
        if position == 0:
            return filled
        position -= 1
        if node.args:
            pairs.extend(reversed(list(zip(node.args, filled.args, strict=True))))


def signals_of(panel: Panel) -> Signals:
    """The signals of a panel, with this engine to work out formulas inside atoms."""
    return Signals(panel, _trace_closed)


def engine_for(
    panel: Panel, formulas: Sequence[Expression], signals: Signals | None = None
) -> tuple[Engine, Population]:
    """An engine for given formulas: a grammar of their connectives, F, G and what these join, and its derivations."""
    number: dict[Expression, int] = {}
    derivations = [
        [number.setdefault(template, len(number)) for template in _templates(formula)] for formula in formulas
    ]
    rules = [Rule(_FORMULA, template, 1.0) for template in number]
    population = Population.room(len(formulas), max(map(len, derivations), default=1), False)
    for i, derivation in enumerate(derivations):
        population.rules[i, : len(derivation)], population.lengths[i] = derivation, len(derivation)
    return Engine(panel, rules, Tables.of(rules, [_FORMULA]), signals), population


def _templates(e: Expression) -> Iterator[Expression]:
    """The rules that write a formula, in prefix order."""
    if not Code.AND <= code_of(e) <= Code.GLOBALLY:
        yield e
        return
    yield Expression(e.head, tuple(Expression(Hole(_FORMULA, arg.type)) for arg in e.args))
    for arg in e.args:
        yield from _templates(arg)


def _trace_closed(panel: Panel, signals: Signals, formula: Expression) -> list[NDArray[np.bool_]]:
    engine, population = engine_for(panel, [formula], signals)
    return engine.trace(population, 0)
