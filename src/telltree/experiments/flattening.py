"""Records as rows of numbers, the way the paper prepares them for classifiers that know nothing of time."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.data import ColumnType, Panel

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Flattening:
    """Learned from training records, used on all.

    Real attributes are z-scored with the mean and the standard deviation of all training steps, Booleans become ±1. The
    paper does not say how to encode categories; here they are one-hot: a column of 1 and 0 for each. A missing or
    infinite value is 0, the mean. Records are padded with zeros to `steps` steps, and their time slices put one after
    another.
    """

    steps: int
    scales: dict[str, tuple[float, float]]
    """Mean and standard deviation of each real attribute; a constant one is divided by 1."""

    @classmethod
    def learn(cls, train: Panel, steps: int) -> "Flattening":
        """Take means and standard deviations from these records."""
        scales = {}
        for column in train.schema.of_type(ColumnType.REAL):
            values = train.stacked(column.name)
            finite = values[np.isfinite(values)]
            mean, deviation = (float(finite.mean()), float(finite.std())) if len(finite) else (0.0, 0.0)
            scales[column.name] = mean, deviation or 1.0
        return cls(steps, scales)

    def __call__(self, panel: Panel, dtype: type[np.floating[Any]] = np.float64) -> Floats:
        """Records × (steps · width): all columns of the first step, then all of the second, and so on."""
        width = sum(1 for _ in _names(panel))
        flat = np.zeros((len(panel) * self.steps, width), dtype)
        starts = np.cumsum(panel.lengths) - panel.lengths
        within = np.arange(panel.steps) - np.repeat(starts, panel.lengths)
        rows = np.repeat(np.arange(len(panel)) * self.steps, panel.lengths) + within
        for place, values in enumerate(self._numbers(panel)):
            flat[rows, place] = values
        return flat.reshape(len(panel), self.steps * width)

    def _numbers(self, panel: Panel) -> Iterator[NDArray[Any]]:
        """The columns of a step, each for all steps of all records."""
        for name, column in panel.schema.items():
            values = panel.stacked(name)
            if column.type is ColumnType.REAL:
                mean, deviation = self.scales[name]
                yield np.where(np.isfinite(values), (values - mean) / deviation, 0.0)
            elif column.type is ColumnType.BOOLEAN:
                yield np.where(values < 0, 0, 2 * values - 1)
            else:
                yield from (values == code for code in range(len(column.levels)))


def _names(panel: Panel) -> Iterator[str]:
    for name, column in panel.schema.items():
        yield from [name] if column.type is not ColumnType.CATEGORICAL else column.levels
