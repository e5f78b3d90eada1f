"""Formulas as they stand, walked over the records of a panel: lowered to the parts that `logic.walk` knows, and run.

A few records are walked by plain Python, because a compiler takes longer to load than that; many are walked by the same
functions, compiled.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.data.on_disk import rest
from telltree.logic import walk as plain
from telltree.logic.parts import Parts
from telltree.logic.signals import Signals
from telltree.logic.walk import Decided, Found, Program, Room
from telltree.operators import Expression

_AT_A_TIME = 1 << 13
"""Steps of records that are walked together: their signals stay in the cache, and are not so long that where memory is
given back at once, as by the workers of Dask, each takes fresh pages."""
RECORDS_LOOKED_AT = 1 << 14
"""Records on disk after which the memory that they took is let go."""
_FEW = 1 << 18
"""Steps, one for each part of a formula, that plain Python walks in less time than a compiler takes to load."""
_LITTLE = 1 << 11
"""Steps, counted so, that are walked in less time than is needed to prepare anything faster."""
SIGNALS = 1 << 28
"""Bytes of signals that are usually kept."""

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Spread = Callable[[Expression], float]


@dataclass(frozen=True, eq=False)
class Walked:
    """What a walk found out about a formula, record by record in the order in which they were asked for."""

    begins: Ints  # where the steps of each record begin, if all lie one after the other
    lengths: Ints
    found: Found
    decided: Decided | None
    followed: Mapping[Expression, int]  # the rows of the parts that were followed

    @property
    def truth(self) -> Bools:
        """Whether the formula is true of each record."""
        holds: Bools = self.found.margins > 0
        return holds

    def held(self, part: Expression, place: int) -> Bools:
        """Where a part that was followed holds, step by step of the record at a place."""
        begin = self.begins[place]
        steps: Bools = self.found.held[self.followed[part], begin : begin + self.lengths[place]]
        return steps

    def count(self, part: Expression, place: int) -> int:
        """At how many steps of it that part holds."""
        return int(self.found.counts[self.followed[part], place])


class Walker:
    """Walks formulas over the records of one panel."""

    def __init__(self, panel: Panel, signals: Signals | None = None) -> None:
        self.panel = panel
        self.signals = signals_of(panel) if signals is None else signals

    def walk(
        self,
        e: Expression,
        records: Ints | None = None,
        *,
        spread: Spread | None = None,
        follow: Sequence[Expression] = (),
        decide: bool = False,
    ) -> Walked:
        """Walk a formula, or any Boolean vector, over records given by their positions, by default all.

        spread: the unit of the distances of a signal; without it all margins are ±1 and only say what is true.
        follow: parts of the formula of which it is told where they hold. decide: find out what decided.
        """
        parts = Parts.of(e, self.panel.schema)
        return self._walked(parts, parts.program(spread), records, follow=follow, decide=decide)[0]

    def is_soon_done(self, formulas: Sequence[Expression]) -> bool:
        """Whether to walk formulas of which only the truth is asked, rather than to evaluate them 64 records at a time:
        that takes longer to prepare, and much longer where no compiled code was loaded."""
        if self.panel.on_disk:  # of which the walk takes little at a time
            return True
        work = self.panel.steps * sum(1 for e in formulas for _ in e.walk())
        return work <= _LITTLE or ("numba" not in sys.modules and work <= _Patience.left)

    def over_time(self, e: Expression, record: int, spread: Spread) -> Floats:
        """The margin of a formula, or any Boolean vector, at every step of the record at this position."""
        parts = Parts.of(e, self.panel.schema)
        walked, room = self._walked(parts, parts.program(spread), np.array([record]))
        return np.array(room.margins[-1][: walked.lengths[0]], np.float64)

    def _walked(
        self,
        parts: Parts,
        program: Program,
        records: Ints | None = None,
        *,
        follow: Sequence[Expression] = (),
        decide: bool = False,
    ) -> tuple[Walked, Room]:
        chosen = slice(None) if records is None else records
        starts, lengths = self.panel.starts[chosen], np.array(self.panel.lengths[chosen], np.int64)
        begins = np.cumsum(lengths) - lengths
        steps, rows = int(lengths.sum()), {part: row for row, part in enumerate(dict.fromkeys(follow))}
        found = Found(
            np.empty(len(lengths)),
            np.empty((len(rows), steps), np.bool_),
            np.empty((len(rows), len(lengths)), np.int64),
        )
        decided = Decided.empty(len(lengths)) if decide else None
        followed = np.array([parts.places[part] for part in rows], np.int64)
        values = [self.signals.values(signal) for signal in parts.signals]
        room = Room.empty(len(parts.codes), int(lengths.max(initial=0)))
        few = _worth_no_compiler(len(parts.codes) * steps)
        run: Any = plain.walk if few else _compiled()
        if few:  # plain Python reads lists faster than arrays
            program, room = Program._make(x.tolist() for x in program), Room._make(x.tolist() for x in room)
        for low, high in _shares(lengths):
            taken = _rows(starts[low:high], lengths[low:high])
            signals = np.empty((len(values), begins[high - 1] + lengths[high - 1] - begins[low]))
            for row, column in enumerate(values):
                signals[row] = column[taken]
            read = signals.tolist() if few else signals
            run(program, read, begins, lengths, low, high, room, followed, found, decided)
            if self.panel.on_disk and low // RECORDS_LOOKED_AT != high // RECORDS_LOOKED_AT:
                rest()
        return Walked(begins, lengths, found, decided, rows), room


def _shares(lengths: Ints) -> Iterator[tuple[int, int]]:
    """Records to be walked together: the first, and one past the last."""
    share = np.cumsum(lengths) // _AT_A_TIME
    bounds = [0, *(np.flatnonzero(np.diff(share)) + 1).tolist(), len(lengths)]
    return ((low, high) for low, high in pairwise(bounds) if low < high)


def _rows(starts: Ints, lengths: Ints) -> slice | Ints:
    """The rows of records, a slice where they lie one after the other."""
    ends = starts + lengths
    if np.array_equal(starts[1:], ends[:-1]):
        return slice(int(starts[0]), int(ends[-1]))
    before = np.cumsum(lengths) - lengths
    rows: Ints = np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
    return rows


class _Patience:
    """How much plain Python may still walk before it has taken as long as a compiler."""

    left = _FEW


def _worth_no_compiler(work: int) -> bool:
    """Whether this much is sooner done by plain Python than the compiled walk is loaded, or made."""
    if _compiled.cache_info().currsize or work > _Patience.left:
        return False
    _Patience.left -= work
    return True


@cache
def _compiled() -> Any:
    """The walk as a kernel: functions that it calls are compiled along with it, and stay plain Python for others."""
    from numba.extending import register_jitable

    from telltree.compiled import kernel

    for function in plain.INNER:
        register_jitable(error_model="numpy")(function)
    return kernel(plain.walk)


def signals_of(panel: Panel, part_of: Signals | None = None, *, memory: int | None = None) -> Signals:
    """The signals of a panel, or of a part of one whose signals are known, with a walker to work out formulas inside
    atoms. They are kept while they fit into `memory`, or else the usual."""
    return Signals(panel, _trace_closed, SIGNALS if memory is None else memory, part_of=part_of)


def _trace_closed(panel: Panel, signals: Signals, formula: Expression) -> list[Bools]:
    walked = Walker(panel, signals).walk(formula, follow=[formula])
    return [walked.held(formula, place) for place in range(len(panel))]
