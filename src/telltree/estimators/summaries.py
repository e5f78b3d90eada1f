"""Summaries: each record as one row of numbers, for classifiers without a notion of time."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from telltree.data import ColumnType, Panel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEVELS = 10
"""How many levels of a categorical column are summarised: the most common in the training records."""
_LARGEST = 3e38  # scikit-learn's trees convert to single precision, and refuse values that are infinite there


@dataclass(frozen=True)
class Summaries:
    """Learned from training records, used on all.

    Of a real column: least, greatest, mean, first and last value, standard deviation, and the share of steps that miss
    it. Of a Boolean one: the shares of steps where it is true, and where it is missing. Of a categorical one: the share
    of each of the ten levels that most training steps have, and of missing ones. An infinite value counts as missing;
    a summary is NaN if all values are missing.
    """

    levels: dict[str, tuple[int, ...]]
    """The codes of the summarised levels, by categorical column."""

    @classmethod
    def learn(cls, train: Panel) -> "Summaries":
        """Take the most common levels from these records."""
        found = {}
        for column in train.schema.of_type(ColumnType.CATEGORICAL):
            steps = np.zeros(len(column.levels), np.int64)
            for part in train.parts():
                codes = part.stacked(column.name)
                steps += np.bincount(codes[codes >= 0], minlength=len(column.levels))
            commonest = np.argsort(-steps, kind="stable")[:LEVELS]
            found[column.name] = tuple(int(code) for code in commonest if steps[code])
        return cls(found)

    def __call__(self, panel: Panel) -> Floats:
        """Records × summaries, one column of the panel after another."""
        return np.concatenate([self._of_part(part) for part in panel.parts()])

    def _of_part(self, panel: Panel) -> Floats:
        columns = list(self._columns(panel))
        return np.clip(np.column_stack(columns), -_LARGEST, _LARGEST) if columns else np.zeros((len(panel), 1))

    def _columns(self, panel: Panel) -> Iterator[Floats]:
        starts = np.cumsum(panel.lengths) - panel.lengths
        for name, column in panel.schema.items():
            values = panel.stacked(name)
            if column.type is ColumnType.REAL:
                yield from _of_numbers(values, starts, panel.lengths)
                continue
            known = values >= 0
            counted = np.maximum(np.add.reduceat(known.astype(np.int64), starts), 1)
            for code in (1,) if column.type is ColumnType.BOOLEAN else self.levels[name]:
                yield np.add.reduceat((values == code).astype(np.int64), starts) / counted
            yield np.add.reduceat((~known).astype(np.int64), starts) / panel.lengths


def _of_numbers(values: NDArray[np.float64], starts: Ints, lengths: Ints) -> Iterator[Floats]:
    known = np.isfinite(values)
    number = np.add.reduceat(known.astype(np.int64), starts)
    places = np.arange(len(values))
    first = np.minimum.reduceat(np.where(known, places, len(values)), starts)
    last = np.maximum.reduceat(np.where(known, places, -1), starts)
    none = number == 0

    def per_record(found: Floats) -> Floats:
        return np.where(none, np.nan, found)

    with np.errstate(over="ignore", invalid="ignore"):  # for values near the largest float
        mean = np.add.reduceat(np.where(known, values, 0.0), starts) / np.maximum(number, 1)
        squares = np.where(known, (values - np.repeat(mean, lengths)) ** 2, 0.0)
        deviation = np.sqrt(np.add.reduceat(squares, starts) / np.maximum(number, 1))
        yield per_record(np.minimum.reduceat(np.where(known, values, np.inf), starts))
        yield per_record(np.maximum.reduceat(np.where(known, values, -np.inf), starts))
        yield per_record(mean)
        yield per_record(values[np.where(none, 0, first)])
        yield per_record(values[np.where(none, 0, last)])
        yield per_record(deviation)
        yield 1 - number / lengths
