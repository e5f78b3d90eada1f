"""Resampling: irregular times -> steps of equal length."""

import dataclasses
import math
import re
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from telltree.errors import DataError
from telltree.panel.dates import SECONDS, UNITS, Dates
from telltree.panel.panel_data import PanelData
from telltree.panel.schema import ColumnType, Schema, require_known
from telltree.panel.store import Array, Index, Real, Store, first_rows, frozen, is_missing, steps_within
from telltree.panel.type_inference import all_missing
from telltree.text import counted

How = str | Mapping[str, str]
WAYS = {"last": tuple(ColumnType), "mean": (ColumnType.REAL,), "any": (ColumnType.BOOLEAN,)}
MOST_VALUES = 1 << 25  # 256 MB of numbers, and several times that while they are computed
MOST_TIMES = 16  # this many times as many values as before; more than both limits means a mistake in `every`
TOLERANCE = 1e-9  # share of a step: a time this close to a grid point lies on it


def resampled(data: PanelData, every: float | str, how: How) -> PanelData:
    """Return the data at the points of a grid; see `Panel.resample`."""
    period = _period(every, data.time_unit)
    ways = _ways(data.schema, how)
    grid = _Grid(data, period)
    rows, static = {}, {}
    for name, column in data.schema.items():
        if column.static:
            static[name] = data.store.static[name]
        else:
            rows[name] = frozen(grid.aggregate(data.column(name), column.type, ways[name]))
    store = Store(grid.lengths, rows, static, grid.times(), _dates(data.store.dates, grid))
    return dataclasses.replace(data, store=store, period=period)


def _dates(known: Dates | None, grid: "_Grid") -> Dates | None:
    """Return the dates of the grid points, each with the offset of the last row before it."""
    if known is None:
        return None
    offsets = None
    if known.offsets is not None:
        offsets = grid.aggregate(known.offsets.astype(Real), ColumnType.REAL, "last").astype(SECONDS)
    return Dates.of(known.starts, offsets, known.zone, times=grid.times(), lengths=grid.lengths)


def _period(every: float | str, unit: str | None) -> float:
    """Read a number, or text such as "0.5" or "500 ms", in the panel's unit."""
    match = re.fullmatch(r"\s*([-+.0-9eE]*[.0-9])\s*([^\s\d]*)\s*", str(every))
    try:
        number, given = (float(match[1]), match[2]) if match else (math.nan, "")
    except ValueError:
        number, given = math.nan, ""
    if isinstance(every, bool) or not (math.isfinite(number) and number > 0):
        raise DataError(f"every must be a positive number, or text such as '1s'; got {every!r:.80}")
    if given in ("", unit):
        return number
    if unit is None:
        raise DataError(
            f"every {every!r:.80}: the times have no unit; say the time unit when you read them, or give a number alone"
        )
    if given not in UNITS or unit not in UNITS:
        raise DataError(f"every={every!r:.80} cannot be turned into {unit!r:.80}; units are {', '.join(UNITS)}")
    return number * UNITS[given] / UNITS[unit]


def _ways(schema: Schema, how: How) -> dict[str, str]:
    """Return the aggregation of each column; one that is named for it must fit its type, a common one need not."""
    named = {} if isinstance(how, str) else dict(how)
    for name, way in named.items():
        require_known(name, schema.names, "column in how")
        require_known(way, WAYS, "way to resample")
        if schema[name].type not in WAYS[way]:
            raise DataError(f"column {name!r} is {schema[name].type}, and cannot be resampled by {way!r}")
    common = how if isinstance(how, str) else "last"
    require_known(common, WAYS, "way to resample")
    return {name: named.get(name, common if column.type in WAYS[common] else "last") for name, column in schema.items()}


class _Grid:
    """The grid points of all records, one record after another, and the point of each row."""

    def __init__(self, data: PanelData, period: float) -> None:
        times, lengths = data.times(), data.store.lengths
        if times is None:
            raise DataError("the panel has no times: name their column, or give a period, when you read it")
        if not np.isfinite(times).all():
            raise DataError("the panel has infinite times, which no grid can hold")
        before = first_rows(lengths)
        self.period = period
        self.begins = times[before]
        places = (times - np.repeat(self.begins, lengths)) / period
        ends = places[before + lengths - 1]
        total = float(np.ceil(ends).sum()) + len(lengths)
        width = max(1, len(data.schema))
        if total * width > max(MOST_VALUES, MOST_TIMES * len(times) * width):
            raise DataError(
                f"a step every {period:g} makes {total:.2g} steps of {counted(width, 'column')}, too many for records "
                f"of {len(times):,} in all; is the unit of `every` right?"
            )
        places = np.ceil(places - TOLERANCE * np.maximum(1, places)).astype(Index)
        self.lengths: npt.NDArray[np.int64] = places[before + lengths - 1] + 1
        self.starts = first_rows(self.lengths)
        self.slots = places + np.repeat(self.starts, lengths)

    def times(self) -> npt.NDArray[np.float64]:
        """Return the time of each grid point."""
        return np.asarray(np.repeat(self.begins, self.lengths) + steps_within(self.lengths) * self.period, Real)

    def aggregate(self, values: Array, kind: ColumnType, way: str) -> Array:
        """Return one value per grid point."""
        present = ~is_missing(values)
        slots, known = self.slots[present], values[present]
        total = int(self.lengths.sum())
        result = all_missing(kind, total).array
        if way == "last":
            result[slots] = known  # the last of several values for one point wins
            return self._carry_forward(result)
        counts = np.bincount(slots, minlength=total)
        sums = np.bincount(slots, weights=known, minlength=total)
        some = counts > 0
        result[some] = sums[some] / counts[some] if way == "mean" else sums[some] > 0
        return result

    def _carry_forward(self, values: Array) -> Array:
        """Fill each missing value with the last one before it in its record."""
        points = np.arange(len(values))
        last = np.maximum.accumulate(np.where(is_missing(values), -1, points))
        known = last >= np.repeat(self.starts, self.lengths)
        return np.where(known, values[last], values)
