"""Baselines to compare a model with on the same records: the commonest class, and trees on summaries of records."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from telltree.estimators.cross_validation import Fold
from telltree.panel import ColumnType, Panel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Sizes = Mapping[str, int | None]
"""The most leaves of decision trees by their names in tables; None for any number."""

COMMONEST, TREE, FREE_TREE = "commonest class", "decision tree", "unlimited tree"
"""The baselines by their names in tables."""


def sizes_beside(leaves: int) -> Sizes:
    """Return the decision trees to compare a tree of so many leaves with: one as large, and an unlimited one."""
    return {TREE: max(2, leaves), FREE_TREE: None}


def commonest_class(train: Panel, codes: Ints, classes: int, test: Panel) -> Floats:
    """Predict the class frequencies of the training records, so the commonest class: records × classes."""
    return np.tile(np.bincount(codes, minlength=classes) / len(codes), (len(test), 1))


def summary_trees(
    train: Panel, codes: Ints, classes: int, test: Panel, sizes: Sizes, *, weights: Floats | None = None
) -> dict[str, Floats]:
    """Return the predictions of each of scikit-learn's trees, learned on summaries of records.

    They are probabilities of each class for the records of `test`: records × classes. The trees are
    DecisionTreeClassifier(max_leaf_nodes=size, random_state=0), and learn from the records of `train`, whose classes
    are `codes`, numbers below `classes`. Columns that only one of the panels has are left out.
    """
    both = [name for name in train.schema if name in test.schema]
    train = train.select(both)
    summaries = Summaries.learn(train)
    train_rows, test_rows = summaries(train), summaries(test.aligned(train.schema))
    found = {}
    for name, size in sizes.items():
        tree = DecisionTreeClassifier(max_leaf_nodes=size, random_state=0).fit(train_rows, codes, weights)
        found[name] = np.zeros((len(test), classes))
        found[name][:, tree.classes_] = tree.predict_proba(test_rows)
    return found


def trees_out_of_fold(
    panel: Panel, codes: Ints, classes: int, folds: Sequence[Fold], sizes: Sizes, *, weights: Floats | None = None
) -> dict[str, Floats]:
    """Return the predictions of `summary_trees` for each record, learned in the fold that holds the record out."""
    found = {name: np.zeros((len(panel), classes)) for name in sizes}
    for train, test in folds:
        own = None if weights is None else weights[train]
        for name, held_out in summary_trees(
            panel[train], codes[train], classes, panel[test], sizes, weights=own
        ).items():
            found[name][test] = held_out
    return found


# ---- Summaries: each record as one row of numbers.

LEVELS = 10
"""The most levels of a categorical column that are summarised: the commonest in the training records."""
_LARGEST = 3e38  # scikit-learn's trees convert to single precision, and refuse values that are infinite there


@dataclass(frozen=True)
class Summaries:
    """Records as rows of numbers, for classifiers without a notion of time. Learned from training records, used on all.

    Of a real column: least, greatest, mean, first and last value, standard deviation, median, lower and upper quartile,
    slope of the straight line through the values by steps, mean absolute difference of consecutive values, and the
    share of steps that miss it. Of a Boolean one: the shares of steps where it is true, and where it is missing. Of a
    categorical one: the share of each of the ten levels that most training steps have, and of missing ones. Last, the
    number of steps. An infinite value counts as missing; a summary is NaN if all values are missing, and a
    slope or difference 0 where there is a single one.
    """

    levels: dict[str, tuple[int, ...]]
    """The codes of the summarised levels, by categorical column."""

    @classmethod
    def learn(cls, train: Panel) -> "Summaries":
        """Take the commonest levels from these records."""
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
        """Return records × summaries, one column of the panel after another, then the number of steps."""
        return np.concatenate([self._of_part(part) for part in panel.parts()])

    def _of_part(self, panel: Panel) -> Floats:
        columns = [*self._columns(panel), panel.lengths.astype(np.float64)]
        return np.clip(np.column_stack(columns), -_LARGEST, _LARGEST)

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
        yield from map(per_record, _quantiles(values, known, starts, lengths, number))
        yield per_record(_slope(values, known, starts, lengths, mean))
        yield per_record(_difference(values, known, lengths))
        yield 1 - number / lengths


def _quantiles(values: Floats, known: NDArray[np.bool_], starts: Ints, lengths: Ints, number: Ints) -> Iterator[Floats]:
    """Yield the median and both quartiles of the known values of each record, between two values in proportion."""
    records = np.repeat(np.arange(len(lengths)), lengths)
    ordered = values[np.lexsort((np.where(known, values, np.inf), records))]  # unknown values come last
    for share in (0.5, 0.25, 0.75):
        place = share * np.maximum(number - 1, 0)
        below = np.floor(place).astype(np.int64)
        above = np.minimum(below + 1, np.maximum(number - 1, 0))
        low, high = ordered[starts + below], ordered[starts + above]
        yield low + (place - below) * (high - low)


def _slope(values: Floats, known: NDArray[np.bool_], starts: Ints, lengths: Ints, mean: Floats) -> Floats:
    """Return the slope of the least-squares line through the known values, per step; 0 for a single value."""
    steps = np.arange(len(values)) - np.repeat(starts, lengths)
    centre = np.add.reduceat(np.where(known, steps, 0), starts) / np.maximum(
        np.add.reduceat(known, starts, dtype=int), 1
    )
    away = np.where(known, steps - np.repeat(centre, lengths), 0.0)
    together = np.add.reduceat(away * np.where(known, values - np.repeat(mean, lengths), 0.0), starts)
    spread = np.add.reduceat(away**2, starts)
    return np.where(spread > 0, together / np.where(spread > 0, spread, 1), 0.0)


def _difference(values: Floats, known: NDArray[np.bool_], lengths: Ints) -> Floats:
    """Return the mean absolute difference of consecutive known values of each record; 0 for a single value."""
    records = np.repeat(np.arange(len(lengths)), lengths)[known]
    same = records[1:] == records[:-1]
    size = np.abs(np.diff(values[known]))[same]
    times = np.bincount(records[1:][same], minlength=len(lengths))
    return np.bincount(records[1:][same], size, minlength=len(lengths)) / np.maximum(times, 1)
