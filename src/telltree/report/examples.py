"""Members that represent a category: typical, borderline and exceptional ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from telltree.explain import Category
from telltree.panel import ColumnType, Panel
from telltree.report.subject import Subject

POINTS = 32  # points in time at which records are compared
FARTHEST = 4.0  # standard deviations; values farther apart count as this far
POOL = 120  # members from which typical ones are chosen
MEASURED = 20_000  # records whose margins are computed, divided among the categories

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Members:
    """Positions of records in the panel, the best example first; no record is in two lists."""

    typical: tuple[int, ...]
    """Members that represent the others; none is an exception."""
    borderline: tuple[int, ...]
    """Members that came nearest to another category; none is an exception."""
    exceptions: tuple[int, ...]
    """Members whose label is none of those in the name of the category."""
    pooled: int
    """The number of members that the typical ones were chosen from."""
    measured: int
    """The number of members that the borderline ones were chosen from."""


def all_members(subject: Subject, *, most: int, seed: int) -> list[Members]:
    """Return up to `most` members of each kind for each category; the same seed selects the same."""
    names = {name for category in subject.categories for name in columns_of(category)}
    reals = (name for name in names if subject.known.schema[name].type is ColumnType.REAL)
    spreads = {name: _spread(subject.known, name) for name in reals}
    return [_members(subject, category, spreads, most, seed) for category in subject.categories]


def _members(subject: Subject, category: Category, spreads: Mapping[str, float], most: int, seed: int) -> Members:
    pool = drawn(category.positions, POOL, (seed, category.number, 0))
    measured = drawn(category.positions, max(200, MEASURED // len(subject.categories)), (seed, category.number, 1))
    wrong = category.positions[subject.wrong[category.positions]]
    margins = smallest_robustness(subject, category, measured)
    nearest = measured[np.argsort(margins, kind="stable")] if category.branches else measured[:0]
    half = (len(category.positions) - len(wrong)) // 2  # where members are few, both sorts get some
    borderline = nearest[~np.isin(nearest, wrong)][: min(most, half)]
    taken = np.isin(pool, np.concatenate((wrong, borderline)))
    chosen = medoids(distances(subject.known, columns_of(category), spreads, pool), most, taken)
    return Members(
        typical=tuple(pool[chosen].tolist()),
        borderline=tuple(borderline.tolist()),
        exceptions=tuple(drawn(wrong, most, (seed, category.number, 2)).tolist()),
        pooled=len(pool),
        measured=len(measured),
    )


def drawn(positions: Ints, most: int, seed: Sequence[int]) -> Ints:
    """Return all positions if there are few, else a random sample, in order."""
    if len(positions) <= most:
        return positions
    return np.sort(np.random.default_rng(list(seed)).choice(positions, most, replace=False))


def columns_of(category: Category) -> tuple[str, ...]:
    """Return the columns on the path to a category, in order, each once."""
    return tuple(dict.fromkeys(name for formula, _ in category.branches for name in formula.expression.attributes()))


def smallest_robustness(subject: Subject, category: Category, positions: Ints) -> Floats:
    """Return the smallest absolute robustness of each record on its path."""
    evidence = {node.formula: found for node, found in zip(subject.tree.nodes, subject.evidence, strict=True)}
    distances_on_path = [np.abs(evidence[formula].robustness[positions]) for formula, _ in category.branches]
    return np.min(distances_on_path, axis=0) if distances_on_path else np.full(len(positions), np.inf)


def medoids(apart: Floats, most: int, taken: NDArray[np.bool_] | None = None) -> Ints:
    """Return representative records, as indices.

    The first is nearest to all others; then, one by one, those follow that most reduce the distance of the records to
    their nearest representative. Those `taken` cannot be chosen.
    """
    chosen: list[int] = []
    free = np.ones(len(apart), np.bool_) if taken is None else ~taken
    nearest = np.full(len(apart), np.inf)
    for _ in range(min(most, int(free.sum()))):
        left = np.minimum(apart, nearest).sum(axis=1)  # if this one were added
        left[~free] = np.inf
        left[chosen] = np.inf
        best = int(np.argmin(left))
        chosen.append(best)
        nearest = np.minimum(nearest, apart[best])
    return np.array(chosen, np.int64)


def distances(panel: Panel, columns: Sequence[str], spreads: Mapping[str, float], positions: Ints) -> Floats:
    """Return the distances of records: the sum over columns of the mean over 32 points spread over each record.

    Reals: the absolute difference in standard deviations (`spreads`), at most 4; others, and where either value is
    missing: 1 if they differ, else 0.
    """
    apart = np.zeros((len(positions), len(positions)))
    for name in columns if len(positions) else ():
        values = np.array([_resampled(panel, name, int(i)) for i in positions])
        if name in spreads:
            apart += _apart_reals(values, spreads[name])
        else:
            apart += np.mean(values[:, None] != values[None], axis=2)
    return apart


def _resampled(panel: Panel, name: str, record: int) -> NDArray[np.float64]:
    values = panel.values(name, record)
    return np.asarray(values[np.round(np.linspace(0, len(values) - 1, POINTS)).astype(np.int64)], np.float64)


def _apart_reals(values: Floats, spread: float) -> Floats:
    absent = np.isnan(values)
    with np.errstate(invalid="ignore", over="ignore"):  # ∞ − ∞ is no distance, and an overflow is far
        apart = np.abs(values[:, None] / spread - values[None] / spread)
    same = values[:, None] == values[None]
    apart = np.where(same, 0.0, np.minimum(apart, FARTHEST))
    apart = np.where(absent[:, None] | absent[None], (absent[:, None] != absent[None]).astype(np.float64), apart)
    found: Floats = apart.mean(axis=2)
    return found


def _spread(panel: Panel, name: str) -> float:
    """Return the standard deviation of a column; 1 if it is 0 or cannot be computed."""
    with np.errstate(over="ignore", invalid="ignore"):
        deviation = panel.statistics(name).standard_deviation()
    return deviation if 0 < deviation < np.inf else 1.0
