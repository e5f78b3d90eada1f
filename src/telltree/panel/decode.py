"""The records of a panel -> ordinary frames and arrays."""

from typing import TYPE_CHECKING, Any

import numpy as np

from telltree.errors import DataError, MissingLibraryError
from telltree.panel.arrays import CUBE_LAYOUTS, LIST_LAYOUTS
from telltree.panel.dates import Dates, offset_text
from telltree.panel.encode import object_array
from telltree.panel.schema import Column, ColumnType, listed, require_known, unique_names
from telltree.panel.store import MISSING, Array, Real, is_missing

if TYPE_CHECKING:
    from telltree.panel.panel import Panel


BACKENDS = ("pandas", "polars", "pyarrow")


def decoded(column: Column, values: Array) -> Array:
    """Return floats; Booleans, None if missing; or level names, None if missing or not a level."""
    if column.type is ColumnType.REAL:
        return values
    names: list[object] = [False, True] if column.type is ColumnType.BOOLEAN else list(column.levels)
    return object_array([*names, None, None])[values]  # the last two are for the codes -2 and -1


def frame_of(panel: "Panel", backend: str, id: str | None, time: str) -> Any:  # noqa: A002 - as in Panel.to_frame
    """Return one long frame; without ids if `id` is None."""
    require_known(backend, BACKENDS, "backend")
    library = _library(backend)
    times = panel.stacked_times()
    before = [] if id is None else [id]
    before += [] if times is None else [time]
    try:
        unique_names([*before, *panel.schema.names])
    except DataError as error:
        raise DataError(f"{error}; say other names for the ids and times: id=..., time=...") from None
    table: dict[str, Any] = {}
    if id is not None:
        table[id] = _ids(panel, backend, library)
    if times is not None:
        dates = panel._own_dates()
        table[time] = times if dates is None else _DATES[backend](library, dates, panel.lengths, times)
    for name, column in panel.schema.items():
        table[name] = _SERIES[backend](library, column, panel.stacked(name))
    return library.table(table) if backend == "pyarrow" else library.DataFrame(table)


def frames_of(panel: "Panel", backend: str, time: str) -> dict[Any, Any]:
    """Return one frame per record."""
    whole = frame_of(panel, backend, None, time)
    ends = np.cumsum(panel.lengths).tolist()
    starts = [0, *ends][:-1]
    pieces = [
        whole.iloc[start:end].reset_index(drop=True) if backend == "pandas" else whole.slice(start, end - start)
        for start, end in zip(starts, ends, strict=True)
    ]
    return dict(zip(panel.ids.tolist(), pieces, strict=True))


def arrays_of(panel: "Panel", layout: str) -> list[Array] | Array:
    """Return one array of numbers per record, or one for all."""
    require_known(layout, (*LIST_LAYOUTS, *CUBE_LAYOUTS), "layout")
    named = [column.name for column in panel.schema.of_type(ColumnType.CATEGORICAL)]
    if named:
        raise DataError(f"arrays hold numbers, but {listed(named)} are categorical; leave them out with panel.select")
    if layout in CUBE_LAYOUTS and len(set(panel.lengths.tolist())) > 1:
        shortest, longest = panel.lengths.min(), panel.lengths.max()
        raise DataError(
            f"records have {shortest} to {longest} steps, and one array needs as many in each; "
            f"ask for a list: layout={LIST_LAYOUTS[0]!r}"
        )
    whole = np.empty((panel.steps, len(panel.schema)), Real)
    for place, name in enumerate(panel.schema):
        values = panel.stacked(name)
        whole[:, place] = np.where(is_missing(values), np.nan, values)
    if layout in CUBE_LAYOUTS:
        steps = int(panel.lengths[0]) if len(panel) else 0
        cube = whole.reshape(len(panel), steps, len(panel.schema))
        return cube if layout == CUBE_LAYOUTS[0] else cube.transpose(0, 2, 1)
    records = np.split(whole, np.cumsum(panel.lengths)[:-1]) if len(panel) else []
    return records if layout == LIST_LAYOUTS[0] else [record.T for record in records]


def _library(backend: str) -> Any:
    from importlib import import_module

    try:
        return import_module(backend)
    except ImportError:
        raise MissingLibraryError(f"backend={backend!r} needs {backend}: pip install {backend}") from None


def _ids(panel: "Panel", backend: str, library: Any) -> Any:
    repeated = np.repeat(panel.ids, panel.lengths)
    if repeated.dtype.kind != "O" or backend == "pandas":
        return repeated
    return library.array(repeated.tolist()) if backend == "pyarrow" else library.Series(repeated.tolist())


def _pandas(library: Any, column: Column, values: Array) -> Any:
    if column.type is ColumnType.REAL:
        return values
    if column.type is ColumnType.BOOLEAN:
        return library.arrays.BooleanArray(values == 1, is_missing(values))
    return library.Categorical.from_codes(np.maximum(values, MISSING), categories=list(column.levels))


def _polars(library: Any, column: Column, values: Array) -> Any:
    series = library.Series(column.name, values)
    if column.type is ColumnType.REAL:
        return series.fill_nan(None)
    present = library.Series(values >= 0)
    if column.type is ColumnType.BOOLEAN:
        return library.select(library.when(present).then(series == 1)).to_series()
    levels = library.Series(column.levels, dtype=library.Enum(list(column.levels)))
    return levels.gather(library.select(library.when(present).then(series)).to_series())


def _pyarrow(library: Any, column: Column, values: Array) -> Any:
    if column.type is ColumnType.REAL:
        return library.array(values, mask=np.isnan(values))
    if column.type is ColumnType.BOOLEAN:
        return library.array(values == 1, mask=is_missing(values))
    codes = library.array(values, mask=values < 0)
    return library.DictionaryArray.from_arrays(codes, library.array(list(column.levels), library.string()))


def _pandas_dates(library: Any, dates: Dates, lengths: Array, times: Array) -> Any:
    index, zone = library.DatetimeIndex(_instants(dates, lengths, times)), _zone(dates)
    return index if zone is None else index.tz_localize("UTC").tz_convert(zone)


def _polars_dates(library: Any, dates: Dates, lengths: Array, times: Array) -> Any:
    series, zone = library.Series(_instants(dates, lengths, times)), _zone(dates)
    if zone is None:
        return series
    named = "UTC" if zone.startswith(("+", "-")) else zone  # polars knows zones only by name
    return series.dt.replace_time_zone("UTC").dt.convert_time_zone(named)


def _pyarrow_dates(library: Any, dates: Dates, lengths: Array, times: Array) -> Any:
    instants = _instants(dates, lengths, times)
    return library.array(instants, library.timestamp(np.datetime_data(instants.dtype)[0], _zone(dates)))


def _instants(dates: Dates, lengths: Array, times: Array) -> Array:
    return dates.instants(np.repeat(dates.starts, lengths), times)


def _zone(dates: Dates) -> str | None:
    """The time zone for dates: their own, or an offset that all share, or else UTC; None if they had neither."""
    if dates.offsets is None:
        return None
    if dates.zone is not None and _is_zone(dates.zone):
        return dates.zone
    if len(dates.offsets) == 0 or (dates.offsets != dates.offsets[0]).any() or dates.offsets[0] % 60:
        return "UTC"
    return offset_text(int(dates.offsets[0]))


def _is_zone(name: str) -> bool:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return bool(ZoneInfo(name).key)
    except (ZoneInfoNotFoundError, ValueError):
        return False


_DATES = {"pandas": _pandas_dates, "polars": _polars_dates, "pyarrow": _pyarrow_dates}
_SERIES = {"pandas": _pandas, "polars": _polars, "pyarrow": _pyarrow}
