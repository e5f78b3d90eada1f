"""What a language takes its constants from: a column, or what is made of one, some records at a time."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.data.statistics import Statistics
from telltree.operators import Shape
from telltree.operators.shape import distances

Rows = Callable[[Panel], NDArray[Any]]  # the values of some records, one after another
Change = Callable[[NDArray[Any]], NDArray[Any]]  # what becomes of values, step by step


class Signal:
    """One value a step of all records; where these come in parts, only one of them is looked at a time."""

    def __init__(self, parts: Sequence[Panel], rows: Rows) -> None:
        """Take parts of a panel, and what to make of each; of a single one that is made once."""
        self._parts = parts
        self._rows = rows
        if len(parts) == 1:
            made = rows(parts[0])
            self._rows = lambda _: made
        self.statistics = Statistics([partial(self._rows, part) for part in parts])

    def where(self, change: Change) -> "Signal":
        """Give what becomes of the values step by step."""
        return Signal(self._parts, lambda part: change(self._rows(part)))

    def change(self, span: int) -> "Signal":
        """Give how far the values are from those so many steps earlier, or near the start from a record's first."""
        return Signal(self._parts, lambda part: _changes(self._rows(part), part, span))

    def distances(self, shape: Shape) -> "Signal":
        """Give how far the values are from a shape."""
        return Signal(self._parts, lambda part: distances(self._rows(part), _numbers(part), shape))

    def extremes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Give the least and the greatest finite value of each record."""
        found = [_extremes(self._rows(part), part) for part in self._parts]
        least, most = zip(*found, strict=True)
        return np.concatenate(least), np.concatenate(most)

    def counts(self) -> NDArray[np.int64]:
        """Give the number of steps of each record at which the values, which are truth values, are true."""
        each = [np.add.reduceat(self._rows(part).astype(np.int64), _starts(part)) for part in self._parts]
        return np.concatenate(each)


def column_signal(panel: Panel, name: str) -> Signal:
    """Give a column as it is encoded."""
    return Signal(panel.parts(), lambda part: part.stacked(name))


def elapsed_signal(panel: Panel) -> Signal:
    """Give the time since the first step of each record; in steps, if no times are known."""
    return Signal(panel.parts(), _elapsed)


def _starts(part: Panel) -> NDArray[np.int64]:
    starts: NDArray[np.int64] = np.cumsum(part.lengths) - part.lengths
    return starts


def _numbers(part: Panel) -> NDArray[np.int64]:
    """The number of each step in its record."""
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
