"""The default language: a grammar whose words and constants suit the records."""

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.checks import require_whole
from telltree.errors import SettingsError
from telltree.grammar.parser import parse_grammar
from telltree.grammar.resolve import left_out_text
from telltree.grammar.syntax_tree import (
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
from telltree.logic import Shape
from telltree.logic.operators import (
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
    Operator,
)
from telltree.logic.shapelet import distances
from telltree.panel import Column, ColumnType, Panel, unusable
from telltree.panel.dates import UNITS
from telltree.panel.statistics import Statistics
from telltree.panel.store import is_missing
from telltree.text import counted

# ---- Groups of levels that one sentence lists, for columns with many levels

_MOST_IN_GROUP = 8
"""The most levels that one sentence lists, the most common ones. This many fit within three nested operators."""


def together(panel: Panel, name: str, labels: NDArray[Any] | None, single: int) -> list[tuple[str, ...]]:
    """Return the most common levels, each by itself, and for each class the levels that occur more often with it.

    A level occurs in a record if it is the value of some step. Without labels there are no classes, so no groups.
    """
    levels = panel.schema[name].levels
    met = _met(panel, name, len(levels))
    often = met.sum(axis=0)
    common = [int(code) for code in np.argsort(-often, kind="stable") if often[code]]
    groups: list[tuple[int, ...]] = [(code,) for code in common[:single]]
    for own in [] if labels is None else [labels == label for label in np.unique(labels)]:
        if not own.all():
            with_class = [code for code in common if met[own, code].mean() > met[~own, code].mean()]
            groups.append(tuple(with_class[:_MOST_IN_GROUP]))
    kept = dict.fromkeys(group for group in groups if 0 < len(group) < len(common))
    return [tuple(levels[code] for code in group) for group in kept]


def _met(panel: Panel, name: str, levels: int) -> NDArray[np.bool_]:
    """Return which levels occur in each record: records × levels."""
    return np.concatenate([_met_in(part, name, levels) for part in panel.parts()])


def _met_in(part: Panel, name: str, levels: int) -> NDArray[np.bool_]:
    codes = part.stacked(name)
    records = np.repeat(np.arange(len(part)), part.lengths)
    known = codes >= 0
    met = np.zeros((len(part), levels), np.bool_)
    met[records[known], codes[known]] = True
    return met


# ---- How well sentences tell the classes apart, so that kinds of sentences can be left out

Floats = NDArray[np.float64]


class SentenceGain:
    """The information gain of the best sentence of one kind, for each class.

    `most` has for each class the bits by which its best sentence shortens the code of which records belong to it. A
    tree of many classes asks many questions, so each class is looked at by itself.
    """

    def __init__(self, labels: NDArray[Any] | None) -> None:
        """Take the label of each record, if there are labels."""
        codes = np.zeros(0, np.intp) if labels is None else np.unique(labels, return_inverse=True)[1]
        self._own = np.eye(codes.max(initial=0) + 1)[codes]  # records × classes
        self._total = self._own.sum(axis=0)
        self.most: Floats = np.zeros(len(self._total))

    def note(self, truth: NDArray[np.bool_]) -> None:
        """Add sentences, given as their truth values: records × sentences."""
        true, records = truth.T.astype(np.float64) @ self._own, np.float64(len(truth))
        side = truth.sum(axis=0)[:, None].astype(np.float64)
        left = _bits(true, side) + _bits(self._total - true, records - side)
        gain = _bits(self._total, records) - left
        self.most = np.maximum(self.most, gain.max(axis=0, initial=0.0))

    def exceeds(self, other: "SentenceGain") -> bool:
        """Return True if some class gains more than by the best of other sentences."""
        return bool(np.any(self.most > other.most))


def _bits(own: Floats, records: Floats | np.float64) -> Floats:
    """Return the bits that name `own` records among all."""
    bits: Floats = _spread(own, records) + _spread(records - own, records)
    return bits


def _spread(part: Floats, whole: Floats | np.float64) -> Floats:
    some = np.maximum(part, 1.0)  # 0 × log 0 is 0
    spread: Floats = part * np.log2(np.maximum(whole, 1.0) / some)
    return spread


# ---- Signals from which constants are taken: a column, or what is computed from one, some records at a time

Rows = Callable[[Panel], NDArray[Any]]  # the values of some records, one after another
Change = Callable[[NDArray[Any]], NDArray[Any]]  # the new values, step by step


class Signal:
    """One value a step of all records; where these come in parts, only one part is in memory at a time."""

    def __init__(self, parts: Sequence[Panel], rows: Rows) -> None:
        """Take parts of a panel, and a function that computes the signal of each, once if there is only one part."""
        self._parts = parts
        self._rows = rows
        if len(parts) == 1:
            made = rows(parts[0])
            self._rows = lambda _: made
        self.statistics = Statistics([partial(self._rows, part) for part in parts])

    def where(self, change: Change) -> "Signal":
        """Return the signal whose values are computed from these, step by step."""
        return Signal(self._parts, lambda part: change(self._rows(part)))

    def change(self, span: int) -> "Signal":
        """Return the changes over a span of steps; near the start of a record, since its first step."""
        return Signal(self._parts, lambda part: _changes(self._rows(part), part, span))

    def distances(self, shape: Shape) -> "Signal":
        """Return the distances from a shape."""
        return Signal(self._parts, lambda part: distances(self._rows(part), _numbers(part), shape))

    def extremes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the least and the greatest finite value of each record."""
        found = [_extremes(self._rows(part), part) for part in self._parts]
        least, most = zip(*found, strict=True)
        return np.concatenate(least), np.concatenate(most)

    def counts(self) -> NDArray[np.int64]:
        """Return the number of steps of each record at which the signal, which must be Boolean, is true."""
        each = [np.add.reduceat(self._rows(part).astype(np.int64), _starts(part)) for part in self._parts]
        return np.concatenate(each)


def column_signal(panel: Panel, name: str) -> Signal:
    """Return a column as it is encoded."""
    return Signal(panel.parts(), lambda part: part.stacked(name))


def elapsed_signal(panel: Panel) -> Signal:
    """Return the time since the first step of each record; in steps, if no times are known."""
    return Signal(panel.parts(), _elapsed)


def _starts(part: Panel) -> NDArray[np.int64]:
    starts: NDArray[np.int64] = np.cumsum(part.lengths) - part.lengths
    return starts


def _numbers(part: Panel) -> NDArray[np.int64]:
    """Return the number of each step in its record."""
    return np.arange(part.steps) - np.repeat(_starts(part), part.lengths)


def _elapsed(part: Panel) -> NDArray[np.float64]:
    times = part.stacked_times()
    if times is None or part.period is not None:  # as the operator counts it
        return np.asarray(_numbers(part) * (part.period or 1.0), np.float64)
    elapsed: NDArray[np.float64] = times - np.repeat(times[_starts(part)], part.lengths)
    return elapsed


def _extremes(values: NDArray[Any], part: Panel) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    finite, starts = np.isfinite(values), _starts(part)
    least = np.minimum.reduceat(np.where(finite, values, np.inf), starts)
    return least, np.maximum.reduceat(np.where(finite, values, -np.inf), starts)


def _changes(values: NDArray[np.float64], part: Panel, span: int) -> NDArray[np.float64]:
    before = np.maximum(np.arange(len(values)) - span, np.repeat(_starts(part), part.lengths))
    with np.errstate(invalid="ignore"):  # ∞ − ∞ is missing
        changes: NDArray[np.float64] = values - values[before]
    return changes


# ---- Cuts: constants that split the values of a signal in two, chosen without labels

_BAND = 0.05  # how far from the middle, as a share of the gap, a cut with fewer digits may be
_FEW_DIGITS = 4  # the same for a time that is worded as it is
_HUMAN = ("d", "h", "min", "s", "ms")
_NOISE = 1e-9  # gaps below this share of the range are left by arithmetic between equal values


def cuts(values: NDArray[Any] | Statistics, most: int) -> list[float]:
    """Return at most this many cuts: the values are split into parts of equal number, and each is cut in its widest
    gap.

    Parts are equal in number, not in width, so that an outlier moves only its own cut, and a value that repeats is
    separated from the others. In the widest gap, the fewest unseen records should fall on the wrong side.
    """
    numbers = values if isinstance(values, Statistics) else Statistics.of(np.asarray(values, np.float64))
    count = numbers.extent.finite
    if most < 1 or not count:
        return []
    aside = count // (4 * most)  # the widest gaps of all are those beside outliers
    low, high = _chosen(numbers, most, aside)
    if not len(low):
        low, high = _chosen(numbers, most, 0)
    return list(dict.fromkeys(map(roundest, low.tolist(), high.tolist())))


def _chosen(numbers: Statistics, most: int, aside: int) -> tuple[Floats, Floats]:
    """Return the values below and above the gaps to cut in: all if they are few, else the widest of each part.

    Gaps with fewer than `aside` values on one side are passed over.
    """
    count, met = numbers.extent.finite, 0
    low, high, rank = np.empty(0), np.empty(0), np.empty(0, np.int64)
    for gaps in _gaps(numbers):
        inner = slice(np.searchsorted(gaps[2], aside), np.searchsorted(gaps[2], count - aside, side="right"))
        met += len(gaps[2][inner])
        low, high, rank = (_after(kept, more[inner]) for kept, more in zip((low, high, rank), gaps, strict=True))
        if met > most:
            share, place = np.divmod(rank * most, count)
            with np.errstate(over="ignore"):
                widest = _widest(share, high - low, np.abs(place / count - 0.5))
            low, high, rank = low[widest], high[widest], rank[widest]
    return low, high


def _gaps(numbers: Statistics) -> Iterator[tuple[Floats, Floats, NDArray[np.int64]]]:
    """Yield the values below and above each gap, in order, and the number of values below it; some at a time."""
    least = 2 * _NOISE * (numbers.extent.high / 2 - numbers.extent.low / 2)
    below, last = 0, np.empty(0)  # from the previous block
    for values, counts in numbers.in_order():
        ordered = _after(last, values)
        with np.errstate(over="ignore"):
            at = np.flatnonzero(ordered[1:] - ordered[:-1] > least)
        ranks = below + _after(np.zeros(len(last), np.int64), np.cumsum(counts))
        yield ordered[at], ordered[at + 1], ranks[at]
        below, last = int(ranks[-1]), ordered[-1:]


def _after(some: NDArray[Any], more: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate((some, more)) if len(some) else more


def _widest(share: NDArray[Any], width: Floats, off_centre: Floats) -> NDArray[np.intp]:
    """Return the widest gap of each part; among equals the most central, and of those the first."""
    begins = np.empty(len(share), np.bool_)
    begins[0] = True
    np.not_equal(share[1:], share[:-1], out=begins[1:])
    first = np.flatnonzero(begins)
    widest = np.flatnonzero(width == np.maximum.reduceat(width, first)[np.cumsum(begins) - 1])
    if len(widest) == len(first):
        return widest
    ranked = widest[np.lexsort((off_centre[widest], share[widest]))]
    return np.sort(ranked[np.unique(share[ranked], return_index=True)[1]])


def roundest(low: float, high: float) -> float:
    """Return the number with the fewest decimals near the middle of an open interval; the middle itself if there is
    none.
    """
    middle, band = low + (high - low) / 2, (high - low) * _BAND
    if not math.isfinite(high - low):  # the width of the interval overflows a float
        return low / 2 + high / 2
    if not (math.isfinite(middle) and band > 0):
        return middle
    for decimals in range(-math.ceil(math.log10(abs(middle) + band)) - 1, 17):
        try:
            found = round(middle, decimals)
        except OverflowError:  # no larger numbers to round to
            continue
        if abs(found - middle) <= band and low < found < high:
            return found
    return middle


def roundest_time(low: float, high: float, unit: str) -> float:
    """Return a time above `low`, at most `high`, that is easy to read: `high` itself, unless it has many digits."""
    clean = float(f"{high:.12g}")  # without rounding errors
    if _digits(clean) <= _FEW_DIGITS and low < clean <= high:
        return clean
    sizes = [UNITS[larger] / UNITS[unit] for larger in _HUMAN] if unit in UNITS else []
    size = next((size for size in sizes if high >= 2 * size), 1.0)
    time = float(f"{_shortest(low / size, high / size) * size:.12g}")
    return time if low < time <= high else high


def _shortest(low: float, high: float) -> float:
    """Return the greatest number up to `high` with the fewest decimals that is above `low`."""
    for decimals in range(-15, 17):
        found = math.floor(high * 10.0**decimals) / 10.0**decimals if abs(high) < 1e15 else high
        if low < found <= high:
            return found
    return high


def _digits(number: float) -> int:
    return len(f"{abs(number):.15g}".partition("e")[0].replace(".", "").strip("0"))


# ---- Shapes: pieces of the records themselves, drawn at random

SHARES = (0.1, 0.2, 0.4)
"""The lengths of pieces, as shares of a typical record."""
LEAST_STEPS, MOST_STEPS = 4, 64
SHAPES, MANY_SHAPES = "shapes", 200
"""The name of the default language with shapes, and its number of shapes."""
_SEED = 0  # the same records always give the same language
_MOST_WORK = 4_000_000_000  # numbers that are compared with shapes: some 20 s


def drawn_shapes(panel: Panel, name: str, labels: NDArray[Any] | None, number: int) -> list[Shape]:
    """Return at most this many shapes of a column, of several lengths, from records of all classes in turn.

    Pieces with missing values, and flat ones, are left out.
    """
    lengths, rng = _lengths(panel), np.random.default_rng(_SEED)
    order = _in_turn(len(panel), labels, rng)
    found: dict[Shape, None] = {}
    for i in range(number if lengths else 0):
        piece = _piece(panel, name, int(order[i % len(order)]), lengths[i % len(lengths)], rng)
        shape = None if piece is None else Shape.of(piece)
        if shape is not None:
            found[shape] = None
    return list(found)


def affordable(panel: Panel, number: int) -> int:
    """Return this number of shapes, or as many as can be searched for in a short time; none where records are too
    short.
    """
    work = panel.steps * sum(_lengths(panel)) / len(SHARES)
    return min(number, int(_MOST_WORK / work)) if work else 0


def _lengths(panel: Panel) -> list[int]:
    """Return the lengths of pieces in steps; none where records are too short for them."""
    typical = int(np.median(panel.lengths)) if len(panel) else 0
    wanted = [min(max(round(share * typical), LEAST_STEPS), MOST_STEPS) for share in SHARES]
    return [steps for steps in dict.fromkeys(wanted) if steps < typical]


def _in_turn(records: int, labels: NDArray[Any] | None, rng: np.random.Generator) -> NDArray[np.intp]:
    """Yield the records in a random order, in which the classes take turns."""
    order = rng.permutation(records)
    turn = np.zeros(records)
    for label in () if labels is None else np.unique(labels):
        own = labels[order] == label  # type: ignore[index]  # there are labels, or no loop
        turn[own] = np.arange(own.sum())
    found: NDArray[np.intp] = order[np.argsort(turn, kind="stable")]
    return found


def _piece(panel: Panel, name: str, record: int, steps: int, rng: np.random.Generator) -> NDArray[np.float64] | None:
    """Return consecutive steps of a record, from a random place; None if it has fewer."""
    beyond = int(panel.lengths[record]) - steps
    if beyond < 0:
        return None
    first = int(rng.integers(beyond + 1))
    return panel[record : record + 1].stacked(name)[first : first + steps]


# ---- The language itself
#
# `F(x > c)` depends on the largest value of a record, so its constants lie among the records' largest values.
# Conditions that must hold at once, and those whose steps are counted, have constants among all values. Besides the
# columns themselves, the language can say when something happened, how long it lasted, and how much a value changed.
# Where records are few, it says how long only if that tells more of some class than all plain sentences do.

_LESS, _GREATER = (LESS,), (GREATER,)
_EITHER = (LESS, GREATER_EQUAL)  # complements: both come from one bitset where nothing is missing
_EACH_WAY = 0.1  # share of values that must lie on each side of 0 for absolute values to be of interest
MOST_SHAPES = 10_000
FEW_RECORDS = 100
"""With fewer records, chance finds durations that tell them apart, so these must gain more than plain sentences do."""
_SINGLE_LEVELS = 8  # levels of one column that get an atom each
_UNEVEN = 1.1  # ratio of longest to shortest record from which shares of a record say more than times


@dataclass(frozen=True)
class Richness:
    """The number of constants that a column gets for each use, and of time spans for its changes."""

    peaks: int
    values: int
    counted: int
    counts: int
    spans: int
    changes: int

    @classmethod
    def of(cls, columns: int) -> "Richness":
        """Return fewer for each column where there are many: the search space grows with both."""
        if columns <= 12:
            return cls(16, 8, 4, 4, 3, 8)
        if columns <= 100:
            return cls(16, 8, 3, 3, 2, 4)
        return cls(8, 4, 2, 2, 1, 2) if columns <= 400 else cls(4, 3, 0, 0, 0, 0)


def fitting_definitions(
    panel: Panel, labels: NDArray[Any] | None, columns: Sequence[str] | None, shapes: int = 0
) -> tuple[list[Definition], dict[str, str], str]:
    """Return the language, the columns that it leaves out with the reasons, and a remark on what else it leaves out."""
    require_whole("shapes", shapes, 0, MOST_SHAPES)
    if isinstance(columns, str):
        raise SettingsError(f"columns must be a list of names, got the text {columns!r}; write [{columns!r}]")
    left_out = {} if columns is not None else dict(unusable(panel))
    for name in columns or ():
        if name not in panel.schema:
            raise SettingsError(f"columns: the panel has no column {name!r}")
    used = [panel.schema[name] for name in columns or panel.schema if name not in left_out]
    words = _Alternatives(panel, labels, Richness.of(len(used)))
    for column in used:
        if not words.add(column):
            left_out[column.name] = "its values do not differ"
    if not words.own:
        raise SettingsError(f"no column is left to make sentences of; left out: {left_out_text(left_out)}")
    words.add_when()
    unsaid = words.weigh_durations()
    words.add_looks([column for column in used if column.name not in left_out], shapes)
    return words.definitions(), left_out, unsaid


class _Alternatives:
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
        self._plain, self._durations = (SentenceGain(labels if self._weighed else None) for _ in range(2))

    def add(self, column: Column) -> bool:
        """Add the sentences about a column; return False if there are none."""
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
        """Return each level by itself, or the commonest of many, and groups of levels that go with a class; and their
        codes.
        """
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
        """Add comparisons of the greatest or least value of a record."""
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
        """Add comparisons of the number of steps at which a condition holds, above 0 and below all: F and G cover
        these.
        """
        if column.static or not self._lasting or not self._rich.counts:
            return
        steps = holds.counts()
        bounds = sorted({int(np.floor(bound)) for bound in cuts(steps, self._rich.counts)} - {0})
        self.long += _compared(Call(COUNT.name, (condition,)), _GREATER, bounds)
        if self._weighed:
            self._durations.note(np.greater.outer(steps, bounds))

    def weigh_durations(self) -> str:
        """Leave out durations where records are few, and plain sentences gain as much for every class.

        Returns a remark on that.
        """
        if not self.long or not self._weighed or self._durations.exceeds(self._plain):
            return ""
        self.long = []
        records = counted(len(self._panel), "record")
        return f"how long something lasts (of {records}, it tells no more than whether it happens)"

    def add_when(self) -> None:
        """Add the time that has passed, and the share of the record if records differ in length."""
        if not self._lasting:
            return
        elapsed = elapsed_signal(self._panel).statistics
        steps = elapsed.beside_each(cuts(elapsed, self._rich.values))
        begun = {roundest_time(low, high, self._panel.time_unit or "") for low, high in steps}
        self.when += _compared(Call(ELAPSED.name, ()), _EITHER, sorted(begun))
        if self._panel.lengths.max() > _UNEVEN * self._panel.lengths.min():
            self.when += _compared(Call(GONE.name, ()), _EITHER, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])

    @property
    def _uneven_steps(self) -> bool:
        return self._panel.step is not None and self._panel.step[0] is None

    def add_looks(self, columns: Sequence[Column], shapes: int) -> None:
        """Add distances from shapes of columns, the same number for each; constants cut between the records' least
        distances.
        """
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
        """Return the grammar. Its weights make simple sentences as common as all others together.

        With steps of one length, conditions on clocks alone are written as the length of the record. If lengths differ,
        there are no words for that, so such conditions are always joined with one on the data.
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
    """Return at most `most` of them, evenly spread."""
    return [constants[round(i)] for i in np.linspace(0, len(constants) - 1, min(most, len(constants)))]


def _both_ways(values: Statistics) -> bool:
    """Return True if a column has many values on either side of 0, so that its size may matter more than its sign."""
    below, above = values.beside(0.0)
    return min(below, above) >= _EACH_WAY * max(values.extent.finite, 1)


def _is(name: Name, level: str) -> Source:
    return Comparison((EQUAL,), name, Constant(level))


def _joined(facts: Sequence[Source]) -> Source:
    """Return a disjunction, nested as a balanced tree: searches limit the depth."""
    if len(facts) == 1:
        return facts[0]
    half = len(facts) // 2
    return Apply(OR, (_joined(facts[:half]), _joined(facts[half:])))


def _compared(signal: Source, operators: tuple[Operator, ...], constants: Sequence[float]) -> list[Source]:
    return [Comparison(operators, signal, Supply("list", tuple(map(float, constants))))] if constants else []
