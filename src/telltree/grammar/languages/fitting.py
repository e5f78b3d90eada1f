"""The default language: a grammar whose words and constants suit the records at hand.

`F(x > c)` depends on the largest value of a record, so its constants lie among the records' largest values. Conditions
that must hold at once, and those whose steps are counted, have constants among all values. Besides the columns
themselves, the language can say when something happened, how long it lasted, and how much a value changed. Where
records are few, it says how long only if that tells more of some class than all plain sentences do.
"""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.amounts import counted
from telltree.data import Column, ColumnType, Panel, unusable
from telltree.data.statistics import Statistics
from telltree.data.store import is_missing
from telltree.errors import SettingsError
from telltree.grammar.languages.cuts import cuts, said_time
from telltree.grammar.languages.level_groups import together
from telltree.grammar.languages.pieces import affordable, drawn_shapes
from telltree.grammar.languages.signals import Change, Signal, column_signal, elapsed_signal
from telltree.grammar.languages.telling import Telling
from telltree.grammar.text.source import (
    Alternative,
    Apply,
    Call,
    Comparison,
    Constant,
    Definition,
    Name,
    Source,
    Supply,
)
from telltree.grammar.text.syntax import parse_grammar
from telltree.operators import Operator
from telltree.operators.table import (
    ABS,
    CHANGE,
    COUNT,
    DISTANCE,
    ELAPSED,
    EQUAL,
    GONE,
    GREATER,
    GREATER_EQUAL,
    LESS,
    MISSING,
    NOT,
    OR,
)
from telltree.whole import require_whole

_LESS, _GREATER = (LESS,), (GREATER,)
_EITHER = (LESS, GREATER_EQUAL)  # complements: both come from one plane where nothing is missing
_EACH_WAY = 0.1  # share of values that must lie on each side of 0 for absolute values to be of interest
MOST_SHAPES = 10_000
FEW_RECORDS = 100
"""With fewer, chance finds durations that tell them apart, so these must tell more than plain sentences do."""
_SINGLE_LEVELS = 8  # levels of one column that get an atom each
_UNEVEN = 1.1  # ratio of longest to shortest record from which shares of a record say more than times


@dataclass(frozen=True)
class Richness:
    """How many constants a column gets for each use, and over how many time spans its changes are taken."""

    peaks: int
    values: int
    counted: int
    counts: int
    spans: int
    changes: int

    @classmethod
    def of(cls, columns: int) -> "Richness":
        """Fewer per column where there are many columns: the search space grows with both."""
        if columns <= 12:
            return cls(16, 8, 4, 4, 3, 8)
        if columns <= 100:
            return cls(16, 8, 3, 3, 2, 4)
        return cls(8, 4, 2, 2, 1, 2) if columns <= 400 else cls(4, 3, 0, 0, 0, 0)


def fitting_definitions(
    panel: Panel, labels: NDArray[Any] | None, columns: Sequence[str] | None, shapes: int = 0
) -> tuple[list[Definition], dict[str, str], str]:
    """The language, with about so many shapes; the columns that it leaves out, and why; and what else it leaves out."""
    require_whole("shapes", shapes, 0, MOST_SHAPES)
    if isinstance(columns, str):
        raise SettingsError(f"columns must be a list of names, got the text {columns!r}; write [{columns!r}]")
    left_out = {} if columns is not None else dict(unusable(panel))
    for name in columns or ():
        if name not in panel.schema:
            raise SettingsError(f"columns: the panel has no column {name!r}")
    used = [panel.schema[name] for name in columns or panel.schema if name not in left_out]
    words = _Words(panel, labels, Richness.of(len(used)))
    for column in used:
        if not words.add(column):
            left_out[column.name] = "its values do not differ"
    if not words.own:
        raise SettingsError(f"no column is left to make sentences of; left out: {_some(left_out)}")
    words.add_when()
    unsaid = words.weigh_durations()
    words.add_looks([column for column in used if column.name not in left_out], shapes)
    return words.definitions(), left_out, unsaid


class _Words:
    """The alternatives of each symbol, collected column by column."""

    def __init__(self, panel: Panel, labels: NDArray[Any] | None, rich: Richness) -> None:
        self._panel, self._labels, self._rich = panel, labels, rich
        self._lasting = bool(len(panel) and panel.lengths.max() > 1)
        typical = int(np.median(panel.lengths)) if len(panel) else 1
        spans = (1, max(2, round(typical / 20)), max(4, round(typical / 6)))
        self._spans = [span for span in dict.fromkeys(spans[: rich.spans]) if span < typical]
        self.peak: list[Source] = []
        self.own: list[Source] = []
        self.change: list[Source] = []
        self.when: list[Source] = []
        self.look: list[Source] = []
        self.long: list[Source] = []
        self._weighed = labels is not None and self._lasting and rich.counts > 0 and len(panel) < FEW_RECORDS
        self._plain, self._durations = (Telling(labels if self._weighed else None) for _ in range(2))

    def add(self, column: Column) -> bool:
        """Add what can be said of a column; False if there is nothing."""
        before = len(self.own)
        name, signal = Name(column.name, quoted=True), column_signal(self._panel, column.name)
        if column.type is ColumnType.REAL:
            self._add_real(column, name, signal)
        elif column.type is ColumnType.BOOLEAN:
            self._add_fact(name, signal, _is_true)
            self._add_long(column, name, signal.where(_is_true))
        else:
            for fact, codes in self._levels(column, name, signal):
                self._add_fact(fact, signal, functools.partial(np.isin, test_elements=codes))
        extent = signal.statistics.extent
        if extent.missing and (extent.finite or extent.below or extent.above):
            missing = Call(MISSING.name, (name,))
            self._add_fact(missing, signal, is_missing)
            self._add_long(column, missing, signal.where(is_missing))
        return len(self.own) > before

    def _add_fact(self, fact: Source, signal: Signal, holds: Change) -> None:
        both = [fact, Apply(NOT, (fact,))]
        self.peak += both
        self.own += both
        if self._weighed:
            steps = signal.where(holds).counts()
            self._plain.note(np.stack([steps > 0, steps < self._panel.lengths], axis=1))

    def _levels(self, column: Column, name: Name, signal: Signal) -> Iterator[tuple[Source, list[int]]]:
        """Each level by itself, or of many the commonest, and those together that go with a class; and their codes."""
        codes = {column.levels[code]: code for code in signal.statistics.codes() if code >= 0}
        groups: Sequence[tuple[str, ...]] = [(level,) for level in codes]
        if len(groups) > _SINGLE_LEVELS:
            groups = together(self._panel, column.name, self._labels, _SINGLE_LEVELS)
        for group in groups:
            yield _joined([_is(name, level) for level in group]), [codes[level] for level in group]

    def _add_real(self, column: Column, name: Name, signal: Signal) -> None:
        rich, given, values = self._rich, column.thresholds, signal.statistics
        least, most = signal.extremes()
        self._add_peak(name, _GREATER, most, given or cuts(most, rich.peaks))
        if not column.static:
            self._add_peak(name, _LESS, least, given or cuts(least, rich.peaks))
        self.own += _compared(name, _EITHER, given or cuts(values, rich.values))
        if _both_ways(values):
            size = signal.where(np.abs)
            self._add_size(Call(ABS.name, (name,)), size, sorted({abs(bound) for bound in given or ()}))
        if column.static or not self._lasting:
            return
        for bound in _some_of(given, rich.counted) if given else cuts(values, rich.counted):
            above = signal.where(functools.partial(np.less, bound))
            self._add_long(column, Comparison(_GREATER, name, Constant(float(bound))), above)
        for span in self._spans:
            self._add_change(Call(CHANGE.name, (name, Constant(float(span)))), signal.change(span))

    def _add_peak(
        self, name: Source, operators: tuple[Operator, ...], ends: NDArray[np.float64], constants: Sequence[float]
    ) -> None:
        """What the greatest value of a record exceeds, or the least falls below."""
        self.peak += _compared(name, operators, constants)
        if self._weighed:
            compare = np.less if operators is _LESS else np.greater
            self._plain.note(compare.outer(ends, constants))

    def _add_size(self, name: Source, size: Signal, given: Sequence[float]) -> None:
        least, most = size.extremes()
        self._add_peak(name, _GREATER, most, given or cuts(most, self._rich.peaks // 2))
        self._add_peak(name, _LESS, least, given or cuts(least, self._rich.peaks // 2))
        self.own += _compared(name, _EITHER, given or cuts(size.statistics, self._rich.values // 2))

    def _add_change(self, name: Source, change: Signal) -> None:
        least, most = change.extremes()
        self._add_peak(name, _GREATER, most, cuts(most, self._rich.changes))
        self._add_peak(name, _LESS, least, cuts(least, self._rich.changes))
        self.change += _compared(name, _EITHER, cuts(change.statistics, self._rich.changes))

    def _add_long(self, column: Column, condition: Source, holds: Signal) -> None:
        """How many steps a condition holds, between 0 and all, which are asked for by F and G already."""
        if column.static or not self._lasting or not self._rich.counts:
            return
        steps = holds.counts()
        bounds = sorted({int(np.floor(bound)) for bound in cuts(steps, self._rich.counts)} - {0})
        self.long += _compared(Call(COUNT.name, (condition,)), _GREATER, bounds)
        if self._weighed:
            self._durations.note(np.greater.outer(steps, bounds))

    def weigh_durations(self) -> str:
        """Leave out how long things last where records are few, and plain sentences tell as much of every class.

        Returns what is to be told of that.
        """
        if not self.long or not self._weighed or self._durations.exceeds(self._plain):
            return ""
        self.long = []
        records = counted(len(self._panel), "record")
        return f"how long something lasts (of {records}, it tells no more than whether it happens)"

    def add_when(self) -> None:
        """How much time has passed, and, if records differ in length, which share of the record."""
        if not self._lasting:
            return
        elapsed = elapsed_signal(self._panel).statistics
        steps = elapsed.beside_each(cuts(elapsed, self._rich.values))
        begun = {said_time(low, high, self._panel.time_unit or "") for low, high in steps}
        self.when += _compared(Call(ELAPSED.name, ()), _EITHER, sorted(begun))
        if self._panel.lengths.max() > _UNEVEN * self._panel.lengths.min():
            self.when += _compared(Call(GONE.name, ()), _EITHER, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])

    @property
    def _uneven_steps(self) -> bool:
        return self._panel.step is not None and self._panel.step[0] is None

    def add_looks(self, columns: Sequence[Column], shapes: int) -> None:
        """What columns look like, the same number of shapes for each; bounds are cuts between how near records come."""
        moving = [column for column in columns if column.type is ColumnType.REAL and not column.static]
        each = -(-affordable(self._panel, shapes) // max(len(moving), 1))
        for column in moving if each else ():
            signal, name = column_signal(self._panel, column.name), Name(column.name, quoted=True)
            for shape in drawn_shapes(self._panel, column.name, self._labels, each):
                numbers = tuple(map(Constant, shape.values))
                least, _ = signal.distances(shape).extremes()
                distance = Call(DISTANCE.name, (name, *numbers), bounds=len(numbers))
                self.look += _compared(distance, _LESS, cuts(least, self._rich.values))

    def definitions(self) -> list[Definition]:
        """The grammar. Its weights make simple sentences as common as all others together.

        What clocks alone decide is told as how long a record is, if steps are of one length. If they differ, it has no
        plain words, so something seen in the data is always asked for too.
        """
        look = ["Look"] if self.look else []
        starts = [
            *(["F(Peak) @2"] if self.peak else []),
            *(f"F({symbol})" for symbol in look),
            "F(Both) @2",
            *(["Long"] if self.long else []),
        ]
        seen = ["Own @2", *(["Change"] if self.change else []), *look]
        facts = [seen[0], *(["When"] if self.when else []), *seen[1:]]
        first = "Seen" if self.when and self._uneven_steps else "Fact"
        start, both, fact, *seen_alone = parse_grammar(
            f"Start ::= {' | '.join(starts)}\n"
            f"Both ::= {first} and Fact @2 | {first} and Both | {first} or Fact | ({first} or {first}) and Fact\n"
            f"Fact ::= {' | '.join(facts)}\n" + (f"Seen ::= {' | '.join(seen)}\n" if first == "Seen" else "")
        )
        peak, own, when, change, looks, long = (
            Definition(symbol, tuple(map(Alternative, sentences)))
            for symbol, sentences in (
                ("Peak", self.peak),
                ("Own", self.own),
                ("When", self.when),
                ("Change", self.change),
                ("Look", self.look),
                ("Long", self.long),
            )
        )
        return [d for d in (start, peak, both, fact, *seen_alone, own, when, change, looks, long) if d.alternatives]


def _is_true(values: NDArray[Any]) -> NDArray[Any]:
    truth: NDArray[np.bool_] = values == 1
    return truth


def _some_of(constants: Sequence[float], most: int) -> Sequence[float]:
    """At most `most` of them, evenly spread."""
    return [constants[round(i)] for i in np.linspace(0, len(constants) - 1, min(most, len(constants)))]


def _both_ways(values: Statistics) -> bool:
    """Whether a column has many values on either side of 0, so that its size may matter more than its sign."""
    below, above = values.beside(0.0)
    return min(below, above) >= _EACH_WAY * max(values.extent.finite, 1)


def _is(name: Name, level: str) -> Source:
    return Comparison((EQUAL,), name, Constant(level))


def _joined(facts: Sequence[Source]) -> Source:
    """A disjunction of these, nested as a balanced tree: searches limit the depth."""
    if len(facts) == 1:
        return facts[0]
    half = len(facts) // 2
    return Apply(OR, (_joined(facts[:half]), _joined(facts[half:])))


def _compared(signal: Source, operators: tuple[Operator, ...], constants: Sequence[float]) -> list[Source]:
    return [Comparison(operators, signal, Supply("list", tuple(map(float, constants))))] if constants else []


def _some(left_out: dict[str, str]) -> str:
    told = [f"{name!r} ({reason})" for name, reason in list(left_out.items())[:5]]
    return ", ".join(told) + (f" and {len(left_out) - 5} more" if len(left_out) > 5 else "") or "nothing"
