"""Signals: the numbers that atoms compare, one float per row of the panel's columns.

`Signals` computes and caches them. `SIGNALS`, at the end, has a cell for each operator that makes signals.
"""

import sys
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.engine.atoms import Atom
from telltree.errors import DataError, FunctionError
from telltree.grammar.resolve import attribute
from telltree.logic import Attribute, Expression, Number, Type, UserFunction
from telltree.logic.expression import Level
from telltree.logic.meaning import Makes, Scope
from telltree.logic.operators import (
    ABS,
    CHANGE,
    DIFFERENCE,
    DISTANCE,
    ELAPSED,
    EQUAL,
    FIRST,
    GONE,
    GREATER,
    GREATER_EQUAL,
    LAST,
    LATEST,
    LEFT,
    LENGTH,
    LESS,
    LESS_EQUAL,
    MAX,
    MIN,
    MISSING,
    SIGN,
    SLOPE,
    TOTAL,
    WHEN_MAX,
    WHEN_MIN,
    Cells,
    Operator,
)
from telltree.logic.shapelet import distances
from telltree.panel import Panel, disk_arrays
from telltree.panel.statistics import Statistics

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# ---- The cache of signals.
#
# Arithmetic on a missing value is missing. Boolean signals are 1 and 0, categorical ones are codes; both are NaN where
# the data are missing.

Grid = dict[float, int]
"""The rank of each constant, in ascending order."""
TraceFunction = Callable[[Panel, "Signals", Expression], list[NDArray[np.bool_]]]


class Signals:
    """The signals of one panel, computed on demand and cached while they fit into `memory` bytes."""

    def __init__(self, panel: Panel, trace: TraceFunction, memory: int, *, part_of: "Signals | None" = None) -> None:
        """`part_of`: the signals of a panel with all these records; only standard deviations differ."""
        self.panel = panel
        self._trace = trace
        self._parent = part_of
        self._memory = memory
        self._cache: OrderedDict[Expression, Floats] = OrderedDict()
        self._cached_bytes = 0  # as `_cost` counts
        self.deviations: dict[Expression, float] = {}
        """Known standard deviations; in a shard, those over the records of all shards."""
        self._misses: dict[Expression, bool] = {}
        self.atoms: dict[int, Atom] = {} if part_of is None else part_of.atoms
        """Known atoms, by name; they do not depend on the records."""
        self.grids: dict[Expression, Grid] = {} if part_of is None else part_of.grids
        """The constants that a grammar compares a signal with, where known."""

    def values(self, signal: Expression) -> Floats:
        """Return one number per row of the shared columns; rows of records outside the panel are undefined."""
        if self._parent is not None:
            return self._parent.values(signal)
        if signal in self._cache:
            self._cache.move_to_end(signal)
            return self._cache[signal]
        if isinstance(signal.head, Attribute):
            column = self._column(signal.head)
            if column.dtype == np.float64 and column.flags.c_contiguous:
                return column  # the panel's own array costs no memory
        large = self.panel.on_disk and 8 * self._height > self._memory
        values = self._in_parts(signal) if large else np.ascontiguousarray(self._make(signal), dtype=np.float64)
        values.flags.writeable = False
        self._cache[signal] = values
        self._cached_bytes += _cost(values)
        while self._cached_bytes > self._memory and len(self._cache) > 1:
            self._cached_bytes -= _cost(self._cache.popitem(last=False)[1])
        return values

    def deviation(self, signal: Expression) -> float:
        """Return the standard deviation of a signal over the panel; 1 if it does not vary, or is not finite."""
        if signal not in self.deviations:
            with np.errstate(over="ignore", invalid="ignore"):  # an overflow counts as 1
                deviation = Statistics(self._pieces(signal)).standard_deviation()
            self.deviations[signal] = deviation if deviation > 0 and np.isfinite(deviation) else 1.0
        return self.deviations[signal]

    def _in_parts(self, signal: Expression) -> Floats:
        """Compute a signal of a panel on disk part by part, and store it on disk."""
        found, first = disk_arrays.empty(self._height, np.float64), 0
        for part in self.panel.parts():
            last = first + len(part)
            found[self.panel[first:last].rows()] = Signals(part.alone(), self._trace, sys.maxsize).values(signal)
            first = last
        return found

    def _pieces(self, signal: Expression) -> list[Callable[[], Floats]]:
        """Return functions that return the values of the panel's records piece by piece; one piece if in memory."""
        values, rows = self.values(signal), self.panel.rows()
        if not disk_arrays.on_disk(values):
            return [lambda: values[rows]]
        steps = self.panel.steps
        bounds = pairwise([*range(0, steps, disk_arrays.PIECE), steps])
        if isinstance(rows, slice):
            taken: list[Any] = [slice(rows.start + low, rows.start + high) for low, high in bounds]
        else:
            taken = [rows[low:high] for low, high in bounds]
        return [partial(_read_and_unload, values, some) for some in taken]

    def release(self) -> None:
        """Free the memory of data on disk until they are read again."""
        if self.panel.on_disk:
            self._cache.clear()
            self._cached_bytes = 0
        self.panel.unload()

    def may_be_missing(self, signal: Expression) -> bool:
        """Return True if any value of the signal may be missing."""
        if signal not in self._misses:
            values = self.values(signal)
            self._misses[signal] = any(bool(np.isnan(values[some].min())) for some in disk_arrays.pieces(values))
        return self._misses[signal]

    def _column(self, read: Attribute) -> NDArray[Any]:
        name, schema = read.name, self.panel.schema
        if name not in schema:
            raise DataError(f"the panel has no column {name!r}, which a formula mentions; it has {list(schema)[:9]}")
        if attribute(schema[name]).type is not read.type:
            raise DataError(
                f"column {name!r} is {schema[name].type} in this panel, but a formula reads it as a {read.type}; "
                "give the schema when you read the data"
            )
        return self.panel.column(name)

    def _make(self, e: Expression) -> Any:
        head = e.head
        if isinstance(head, Attribute):
            codes = self._column(head)
            if codes.dtype == np.float64:
                return codes.copy()
            return np.where(codes == -1, np.nan, codes)
        if isinstance(head, Number):
            return np.full(self._height, head.value)
        if isinstance(head, UserFunction):
            return self._call(head, e.args)
        if e.type is Type.BOOLEAN or (isinstance(head, Operator) and head.joins):
            return self._truth(e)
        assert isinstance(head, Operator)
        return SIGNALS[head](self, e)

    def map_records(self, e: Expression, compute: Callable[[Floats, NDArray[np.int64]], Floats]) -> Floats:
        """Return a signal computed from another, and the number of each step in its record, on concatenated records."""
        return self.by_row(compute(self.values(e)[self.panel.rows()], self.numbers()))

    @cached_property
    def _height(self) -> int:
        names = self.panel.schema.names
        return len(self.panel.column(names[0])) if names else int((self.panel.starts + self.panel.lengths).max())

    def by_row(self, stacked: Floats) -> Floats:
        """Move the values of concatenated records to the rows of the records."""
        found = np.zeros(self._height)
        found[self.panel.rows()] = stacked
        return found

    def numbers(self) -> NDArray[np.int64]:
        """Return the number of each step in its record, from 0, for concatenated records."""
        lengths = self.panel.lengths
        return np.arange(self.panel.steps) - np.repeat(np.cumsum(lengths) - lengths, lengths)

    def comparable_operands(self, args: tuple[Expression, ...]) -> tuple[Any, Any]:
        """Return two comparable vectors; categories of different columns are compared by name."""
        if args[0].type is not Type.CATEGORICAL_VECTOR:
            return self.values(args[0]), self.values(args[1])
        names: dict[str, int] = {}
        operands = []
        for side, arg in enumerate(args):
            assert isinstance(arg.head, Attribute | Level)
            levels = (arg.head.name,) if isinstance(arg.head, Level) else self.panel.schema[arg.head.name].levels
            number = np.array([*(names.setdefault(level, len(names)) for level in levels), -1.0], np.float64)
            codes = np.zeros(self._height) if isinstance(arg.head, Level) else self.values(arg)
            known = np.isfinite(codes) & (codes >= 0)
            # a missing or unseen value equals nothing, not even itself
            operands.append(np.where(known, number[np.where(known, codes, 0).astype(np.int64)], -1.0 - side))
        return operands[0], operands[1]

    def missing(self, e: Expression) -> Any:
        """Return the rows where a signal is missing."""
        if e.type in (Type.BOOLEAN, Type.BOOLEAN_VECTOR) and not isinstance(e.head, Attribute):
            return np.zeros(self._height)  # a formula is never missing
        return np.isnan(self.values(e))

    def _truth(self, e: Expression) -> Floats:
        """Return a Boolean vector with connectives or temporal operators inside an atom, as 1 and 0."""
        found = np.zeros(self._height)
        for start, truth in zip(self.panel.starts, self._trace(self.panel, self, e), strict=True):
            found[start : start + len(truth)] = truth
        return found

    def _call(self, function: UserFunction, args: tuple[Expression, ...]) -> Floats:
        rows = self.panel.rows()
        operands = [self._operand(arg, rows) for arg in args]
        found = np.full(self._height, np.nan)
        if function.elementwise and len(self.panel):
            found[rows] = _checked(function, operands, None)
            return found
        first = 0
        for name, start, length in zip(self.panel.ids.tolist(), self.panel.starts, self.panel.lengths, strict=True):
            record = [operand[first : first + length] for operand in operands]
            found[start : start + length] = _checked(function, record, name)
            first += length
        return found

    def _operand(self, e: Expression, rows: slice | NDArray[Any]) -> NDArray[Any]:
        values = self.values(e)[rows]
        if e.type in (Type.BOOLEAN_VECTOR, Type.BOOLEAN):
            return np.equal(values, 1.0)
        if e.type is Type.CATEGORICAL_VECTOR:
            assert isinstance(e.head, Attribute)
            names = np.array([*self.panel.schema[e.head.name].levels, None], dtype=object)
            found: NDArray[Any] = names[np.where(values >= 0, values, len(names) - 1).astype(np.int64)]
            return found
        values.flags.writeable = False
        return values


def _checked(function: UserFunction, operands: list[NDArray[Any]], record: object) -> NDArray[Any]:
    """Call a user's function, and raise a clear error if its result is not as declared."""
    where = f"function {function.name!r}" + ("" if record is None else f", record {record!r}")
    try:
        found = np.asarray(function(*operands))
    except Exception as error:
        raise FunctionError(f"{where}: it raised {type(error).__name__}: {error}") from error
    wanted = () if function.gives == "truth" else operands[0].shape
    if found.shape != wanted:
        expected = f"one value a step, shape {wanted}" if wanted else "one truth value for the record"
        raise FunctionError(f"{where}: it must return {expected}, but returned shape {found.shape}")
    if function.gives in ("Boolean", "truth") and found.dtype != np.bool_:
        raise FunctionError(f"{where}: it must return Booleans, but returned {found.dtype}; end it with a comparison")
    if function.gives == "real" and found.dtype.kind not in "fiu":
        raise FunctionError(f"{where}: it must return numbers, but returned {found.dtype}")
    return found


def _cost(signal: Floats) -> int:
    """Return the bytes that a cached signal counts; those on disk count less."""
    return signal.nbytes // 16 if disk_arrays.on_disk(signal) else signal.nbytes


def _read_and_unload(values: Floats, rows: Any) -> Floats:
    """Copy some values from disk, and free the memory that reading took."""
    found = np.array(values[rows])
    disk_arrays.unload()
    return found


# ---- Aggregates of the values of a signal at several steps of a record.
#
# Records are concatenated, and `numbers` has the number of each step in its record, from 0. Missing values are left
# out; an aggregate of none is missing (NaN). Windows become twice as long with each pass. Sums are exact up to one
# final rounding, in whatever order they are added.


def earlier(values: Floats, numbers: Ints, steps: int, default: float = np.nan) -> Floats:
    """Return the values so many steps earlier; `default` before the start of the record."""
    if steps == 0:
        return values
    found = np.full_like(values, default)
    found[steps:] = values[:-steps]
    found[numbers < steps] = default
    return found


class Window(NamedTuple):
    """The steps from `far` to `near` steps back, as far as the record goes."""

    near: int
    far: int

    @classmethod
    def of(cls, near: float, far: float, numbers: Ints) -> "Window":
        """Return a window no longer than the longest record."""
        longest = int(numbers.max(initial=0)) + 1
        return cls(int(min(near, longest)), int(min(far, longest)))

    @property
    def steps(self) -> int:
        return self.far - self.near + 1

    @classmethod
    def so_far(cls, numbers: Ints) -> "Window":
        """Return the window of all steps up to the current one."""
        return cls.of(0, np.inf, numbers)


def window_extreme(values: Floats, numbers: Ints, window: Window, better: Callable[[Floats, Floats], Any]) -> Floats:
    """Return the least (np.fmin) or the greatest (np.fmax) value in the window of each step."""
    found, reach = values, 1
    while 2 * reach <= window.steps:
        found, reach = better(found, earlier(found, numbers, reach)), 2 * reach
    if reach < window.steps:
        found = better(found, earlier(found, numbers, window.steps - reach))
    return earlier(found, numbers, window.near)


def count(values: Floats, numbers: Ints, window: Window) -> Ints:
    """Return the number of values in the window of each step."""
    known = np.concatenate([[0], np.cumsum(~np.isnan(values))])
    place = np.arange(len(values))
    last = place - np.minimum(numbers + 1, window.near) + 1
    first = place - np.minimum(numbers, window.far)
    return np.asarray(known[np.maximum(last, first)] - known[first], np.int64)


def total(values: Floats, numbers: Ints, window: Window) -> Floats:
    """Return the sum of the values in the window of each step."""
    return np.where(count(values, numbers, window) > 0, _summed(values, numbers, window), np.nan)


def _summed(values: Floats, numbers: Ints, window: Window) -> Floats:
    """Return the same, but 0 for an empty window."""
    block = _Sum.of(np.where(np.isnan(values), 0.0, values))
    found, taken, reach, left = _Sum.of(np.zeros_like(values)), 0, 1, window.steps
    while left:
        if left % 2:
            found, taken = found.plus(block.earlier(numbers, taken)), taken + reach
        left //= 2
        if left:
            block, reach = block.plus(block.earlier(numbers, reach)), 2 * reach
    return earlier(found.rounded, numbers, window.near, 0.0)


def mean(values: Floats, numbers: Ints, window: Window) -> Floats:
    """Return the mean of the values in the window of each step."""
    known = count(values, numbers, window)
    return np.where(known > 0, _summed(values, numbers, window) / np.maximum(known, 1), np.nan)


def value_range(values: Floats, numbers: Ints, window: Window) -> Floats:
    """Return the greatest less the least value in the window of each step."""
    with np.errstate(invalid="ignore", over="ignore"):  # inf − inf is missing
        return window_extreme(values, numbers, window, np.fmax) - window_extreme(values, numbers, window, np.fmin)


def at_last(values: Floats, numbers: Ints, holds: NDArray[np.bool_]) -> Floats:
    """Return the value at the last step, up to the current one, where `holds`; missing if there is none."""
    place = np.arange(len(values))
    last = np.maximum.accumulate(np.where(holds, place, -1))
    return np.where(last >= place - numbers, values[np.maximum(last, 0)], np.nan)


def at_every_step(so_far: Floats, lengths: Ints) -> Floats:
    """Return the value at the last step of each record, at all of its steps."""
    return np.repeat(so_far[np.cumsum(lengths) - 1], lengths)


def at_first(values: Floats, lengths: Ints, holds: NDArray[np.bool_]) -> Floats:
    """Return the value at the first step of each record where `holds`, at all of its steps; missing if there is
    none."""
    ends = np.cumsum(lengths)
    place = np.where(holds, np.arange(len(values)), len(values))
    following = np.append(np.minimum.accumulate(place[::-1])[::-1], len(values))[ends - lengths]
    found = np.append(values, np.nan)[np.where(following < ends, following, len(values))]
    return np.repeat(found, lengths)


def slope(values: Floats, numbers: Ints, lengths: Ints) -> Floats:
    """Return the slope, per step, of the least-squares line through the values of each record; 0 for a single value.

    n t − Σ t in place of t − mean(t) keeps all numbers integral except the values.
    """
    so_far, known = Window.so_far(numbers), ~np.isnan(values)

    def of_record(terms: Floats) -> Floats:
        return at_every_step(total(np.where(known, terms, np.nan), numbers, so_far), lengths)

    steps = numbers.astype(np.float64)
    n, sum_of_steps = of_record(np.ones_like(values)), of_record(steps)
    width = n * of_record(steps * steps) - sum_of_steps**2
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        rise = of_record((n * steps - sum_of_steps) * values) / width
        bounded = at_every_step(window_extreme(np.abs(values), numbers, so_far, np.fmax), lengths) < np.inf
    return np.where(bounded, np.where(width > 0, rise, 0.0), np.nan)


class _Sum(NamedTuple):
    """Sums with their rounding errors."""

    high: Floats
    low: Floats

    @classmethod
    def of(cls, values: Floats) -> "_Sum":
        return cls(values, np.zeros_like(values))

    def earlier(self, numbers: Ints, steps: int) -> "_Sum":
        return _Sum(earlier(self.high, numbers, steps, 0.0), earlier(self.low, numbers, steps, 0.0))

    def plus(self, other: "_Sum") -> "_Sum":
        with np.errstate(invalid="ignore", over="ignore"):
            high = self.high + other.high
            part = high - self.high
            lost = (self.high - (high - part)) + (other.high - part)
            return _Sum(high, np.where(np.isfinite(high), lost + self.low + other.low, 0.0))

    @property
    def rounded(self) -> Floats:
        with np.errstate(over="ignore"):
            return self.high + self.low


# ---- The signals of operators.


def _elapsed(signals: Signals, e: Expression) -> Floats:
    """Return the time since the first step of the record, in steps if there are no times.

    Even steps are counted and multiplied, so that the result does not depend on the time of the first step.
    """
    panel, numbers = signals.panel, signals.numbers()
    times = panel.stacked_times()
    if times is None or panel.period is not None:
        return signals.by_row(np.asarray(numbers * (panel.period or 1.0), np.float64))
    return signals.by_row(times - times[np.arange(len(times)) - numbers])


def _left(signals: Signals, e: Expression) -> Floats:
    """Return the time until the last step of the record, in steps if there are no times."""
    panel, numbers, lengths = signals.panel, signals.numbers(), signals.panel.lengths
    times, to_go = panel.stacked_times(), np.repeat(lengths - 1, lengths) - numbers
    if times is None or panel.period is not None:
        return signals.by_row(np.asarray(to_go * (panel.period or 1.0), np.float64))
    return signals.by_row(times[np.arange(len(times)) + to_go] - times)


def _gone(signals: Signals, e: Expression) -> Floats:
    """Return the share of the record that has passed: of its steps after the first, or of its time if steps differ in
    length. It is 1 at the last step, even if that is the only one."""
    panel, numbers = signals.panel, signals.numbers()
    times, last = panel.stacked_times(), np.repeat(panel.lengths - 1, panel.lengths)
    if times is None or panel.period is not None:
        return signals.by_row(np.where(last > 0, numbers / np.maximum(last, 1), 1.0))
    first = np.arange(len(times)) - numbers
    with np.errstate(invalid="ignore"):  # infinite times have no shares, except at the last step
        shares = (times - times[first]) / np.where(last > 0, times[first + last] - times[first], 1.0)
    return signals.by_row(np.where(numbers == last, 1.0, np.nan_to_num(shares, nan=0.0)))


def _length(signals: Signals, e: Expression) -> Floats:
    lengths = signals.panel.lengths
    return signals.by_row(np.repeat(lengths, lengths).astype(np.float64))


def _change(signals: Signals, e: Expression) -> Floats:
    """Return a signal less its value so many steps back, or at the first step if there are fewer."""

    def compute(values: Floats, numbers: NDArray[np.int64]) -> Floats:
        back = np.minimum(numbers, int(min(e.parameter("k"), len(values))))
        with np.errstate(invalid="ignore", over="ignore"):
            return np.asarray(values - values[np.arange(len(values)) - back])

    return signals.map_records(e.args[0], compute)


def _of_window(
    compute: Callable[[Floats, NDArray[np.int64], Window], Floats],
) -> Callable[[Signals, Expression], Floats]:
    """Return the cell of an aggregate over windows."""

    def signal(signals: Signals, e: Expression) -> Floats:
        return signals.map_records(e.args[0], lambda x, numbers: compute(x, numbers, Window.of(*e.window, numbers)))

    return signal


def _latest(signals: Signals, e: Expression) -> Floats:
    """Return a signal's value when a condition was last true."""
    holds = np.equal(signals.values(e.args[1])[signals.panel.rows()], 1.0)
    return signals.map_records(e.args[0], lambda x, numbers: at_last(x, numbers, holds))


def _total(signals: Signals, e: Expression) -> Floats:
    return signals.map_records(e.args[0], lambda x, numbers: total(x, numbers, Window.so_far(numbers)))


def _of_record(
    compute: Callable[[Floats, NDArray[np.int64], Window], Floats],
) -> Callable[[Signals, Expression], Floats]:
    """Return the cell of an aggregate over all values of the record."""

    def signal(signals: Signals, e: Expression) -> Floats:
        lengths = signals.panel.lengths
        return signals.map_records(
            e.args[0], lambda x, numbers: at_every_step(compute(x, numbers, Window.so_far(numbers)), lengths)
        )

    return signal


def _slope(signals: Signals, e: Expression) -> Floats:
    return signals.map_records(e.args[0], lambda x, numbers: slope(x, numbers, signals.panel.lengths))


def _first(signals: Signals, e: Expression) -> Floats:
    return signals.map_records(e.args[0], lambda x, _: at_first(x, signals.panel.lengths, ~np.isnan(x)))


def _when(extreme: Operator) -> Callable[[Signals, Expression], Floats]:
    """Return the cell for the time, as `elapsed` has it, of the first step at which a signal has its extreme."""

    def signal(signals: Signals, e: Expression) -> Floats:
        best = signals.values(Expression(extreme, e.args))[signals.panel.rows()]
        times = signals.values(Expression(ELAPSED))[signals.panel.rows()]
        return signals.map_records(e.args[0], lambda x, _: at_first(times, signals.panel.lengths, x == best))

    return signal


def _difference(signals: Signals, e: Expression) -> Any:
    with np.errstate(invalid="ignore"):  # inf − inf is missing
        return signals.values(e.args[0]) - signals.values(e.args[1])


def _comparison(compare: Callable[[Any, Any], Any]) -> Callable[[Signals, Expression], Any]:
    return lambda signals, e: compare(*signals.comparable_operands(e.args))


AGGREGATES: dict[str, Callable[[Floats, Ints, Window], Floats]] = {
    "mean": mean,
    "min": partial(window_extreme, better=np.fmin),
    "max": partial(window_extreme, better=np.fmax),
    "spread": value_range,
}
"""The computation of each aggregate over the window of each step, by name."""


def _aggregated(operator: Operator) -> Callable[[Signals, Expression], Any] | None:
    """Derive the cell of an aggregate from its computation."""
    traits = operator.traits
    compute = None if traits.aggregate is None else AGGREGATES.get(traits.aggregate.name)
    if compute is None:
        return None
    return _of_window(compute) if traits.scope is Scope.WINDOW else _of_record(compute)


SIGNALS: Cells[Callable[[Signals, Expression], Any]] = Cells(
    "the signals of the engine",
    "engine/signals.py",
    {
        LESS: _comparison(np.less),
        LESS_EQUAL: _comparison(np.less_equal),
        GREATER: _comparison(np.greater),
        GREATER_EQUAL: _comparison(np.greater_equal),
        EQUAL: _comparison(np.equal),
        MISSING: lambda signals, e: signals.missing(e.args[0]),
        ABS: lambda signals, e: np.abs(signals.values(e.args[0])),
        SIGN: lambda signals, e: np.sign(signals.values(e.args[0])),
        DIFFERENCE: _difference,
        ELAPSED: _elapsed,
        GONE: _gone,
        LEFT: _left,
        LENGTH: _length,
        CHANGE: _change,
        TOTAL: _total,
        LATEST: _latest,
        SLOPE: _slope,
        FIRST: _first,
        LAST: _of_record(lambda x, numbers, _: at_last(x, numbers, ~np.isnan(x))),
        WHEN_MIN: _when(MIN),
        WHEN_MAX: _when(MAX),
        DISTANCE: lambda signals, e: signals.map_records(e.args[0], lambda x, numbers: distances(x, numbers, e.shape)),
    },
    about=lambda operator: isinstance(operator.means, Makes),
    derived=_aggregated,
)
"""The computation of each operator on signals, one number per row."""
