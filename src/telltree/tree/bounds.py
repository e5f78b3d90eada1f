"""Above or below a constant, at some point or always: decided by the largest and the smallest value of each record."""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.operators import Expression
from telltree.speech.possible import Possible
from telltree.speech.terms import Always, Says, Sometime, Term
from telltree.speech.values import Reals
from telltree.tree.seen import Sample

DIGITS = 3  # for constants that nobody chose with care
_STEPS = 16  # steps between the constants to try for one signal
Compared = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.bool_]]


class Bound(NamedTuple):
    """One way to compare values with a constant."""

    over_time: type[Sometime] | type[Always]
    relation: str
    compared: Compared
    greatest: bool
    """Whether the largest value decides, or the smallest."""


_BOUNDS = (
    Bound(Sometime, ">", np.greater, True),
    Bound(Sometime, "<", np.less, False),
    Bound(Always, "<=", np.less_equal, True),
    Bound(Always, ">=", np.greater_equal, False),
)
_EXTREMES = {True: np.fmax, False: np.fmin}


class Bounds:
    """Makes such terms for the records of a sample."""

    def __init__(self, sample: Sample, possible: Possible) -> None:
        self._signals, self._possible = sample.signals, possible
        self._rows, lengths = sample.panel.rows(), sample.panel.lengths
        self._starts = np.cumsum(lengths) - lengths

    def of(self, signal: Expression) -> Iterator[tuple[list[Term], NDArray[np.bool_]]]:
        """Terms about a signal that differ only in the constant, with their answers: terms × records.

        If values lie on both sides of 0, there are also terms about their distance from 0. Of constants with the same
        answers only one is taken, and none whose answer is the same for all records.
        """
        values = self._signals.values(signal)[self._rows]
        yield from self._ways(signal, values, Reals.compared, -math.inf)
        if np.nanmin(values, initial=0.0) < 0 < np.nanmax(values, initial=0.0):
            yield from self._ways(signal, np.abs(values), _from_zero, 0.0)

    def _ways(
        self, signal: Expression, values: NDArray[np.float64], made: Callable[[str, float], Reals], above: float
    ) -> Iterator[tuple[list[Term], NDArray[np.bool_]]]:
        ends = {greatest: extreme.reduceat(values, self._starts) for greatest, extreme in _EXTREMES.items()}
        constants = np.array([c for c in _constants(ends[True], ends[False]) if c > above])
        gaps = np.logical_or.reduceat(np.isnan(values), self._starts)
        static = self._possible.lasts(Says(signal, Reals((), True)))
        for bound in _BOUNDS:
            if static and bound.over_time is Always:
                continue
            truth = bound.compared(ends[bound.greatest], constants[:, None])
            if bound.over_time is Always:
                truth &= ~gaps
            often, first = np.unique(np.count_nonzero(truth, axis=1), return_index=True)
            kept = np.sort(first[(often > 0) & (often < truth.shape[1])])
            found = (Says(signal, made(bound.relation, c)) for c in constants[kept].tolist())
            yield [bound.over_time(literal) for literal in found], truth[kept]


def _from_zero(relation: str, distance: float) -> Reals:
    """The numbers whose distance from 0 is in this relation to a constant."""
    return Reals.compared(relation, distance).under_abs


def _constants(*ends: NDArray[np.float64]) -> list[float]:
    """Constants with few digits that separate records by their largest and smallest values."""
    found: dict[float, None] = {}
    for values in ends:
        finite = values[np.isfinite(values)]
        quantiles = np.quantile(finite, np.linspace(0, 1, _STEPS + 1)) if len(finite) else ()
        found |= dict.fromkeys(float(f"{c:.{DIGITS}g}") for c in quantiles)
    return [c for c in found if math.isfinite(c)]
