"""Dataframes of any library: read as rows, and written from records."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from telltree.errors import DataError, MissingLibraryError
from telltree.panel.dates import Dates, offset_text
from telltree.panel.grouping import given_ids, in_order
from telltree.panel.panel_data import PanelData, Rows
from telltree.panel.schema import Column, ColumnType, listed, require_known, unique_names
from telltree.panel.store import MISSING, Array, is_missing
from telltree.panel.type_inference import Values, is_object, object_array

# ---- Dataframes of any library -> rows.

Frame = nw.DataFrame[Any]


def is_frame(value: object) -> bool:
    """Return True for a dataframe of any library."""
    return nw.dependencies.is_into_dataframe(value)


def open_frame(native: Any, *, index: Iterable[str | None] = ()) -> Frame:
    """Return a dataframe whose column names are text; levels of a pandas index named in `index` become columns."""
    levels = [level for level in getattr(getattr(native, "index", None), "names", ()) if level is not None]
    if any(name in levels and name not in native.columns for name in index):
        unique_names([*levels, *native.columns])
        native = native.reset_index()
    try:
        frame: Frame = nw.from_native(native, eager_only=True)
        names: list[Any] = list(frame.columns)
    except DuplicateError:
        unique_names(getattr(native, "column_names", native.columns))  # raises an error that names the duplicates
        raise
    except TypeError:
        remedy = "call .collect() on it" if hasattr(native, "collect") else "give a pandas, polars or pyarrow table"
        raise DataError(f"expected a dataframe, got {type(native).__name__}; {remedy}") from None
    if any(isinstance(name, tuple) for name in names):
        raise DataError(f"column names have several levels: {listed(names, 3)}; join them into one")
    texts = unique_names(names)
    return frame if texts == names else frame.rename(dict(zip(names, texts, strict=True)))


def long_frame(native: Any, *, id: str | None, time: str | None) -> Rows:  # noqa: A002 - the word users look for
    """Return the rows of a long table: one row per step."""
    frame = open_frame(native, index=(id, time))
    return Rows({name: frame[name] for name in frame.columns})


def frame_per_record(frames: Mapping[Any, Any] | Iterable[Any], *, time: str | None, ids: Sequence[Any] | None) -> Rows:
    """Return the rows of several frames, one per record."""
    if is_frame(frames):
        raise DataError("got one frame where a list or a dict of frames was expected; use Panel.from_frame")
    if isinstance(frames, Mapping):
        if ids is not None:
            raise DataError("the keys of the dict are the ids; give ids only with a list of frames")
        ids, frames = list(frames), frames.values()
    opened = [open_frame(frame, index=(time,)) for frame in frames]
    keys = given_ids(ids, len(opened))
    lengths = [len(frame) for frame in opened]
    in_order(keys, lengths, None)  # first refuse an empty list, and records without steps
    return Rows(_stack(opened, keys.tolist()), keys, lengths)


def _stack(frames: list[Frame], ids: list[Any]) -> dict[str, Values]:
    """Stack frames column by column; dtypes may differ between frames if the types of values agree."""
    names = frames[0].columns
    for frame, key in zip(frames, ids, strict=True):
        if frame.columns != names and set(frame.columns) != set(names):
            differ = sorted(set(frame.columns) ^ set(names))
            raise DataError(f"records {ids[0]!r} and {key!r} have different columns: only one has {listed(differ)}")
    alike = [] if len({frame.implementation for frame in frames}) > 1 else _same_dtypes(frames)
    whole = nw.concat([frame.select(alike) for frame in frames]) if alike else None
    joined: dict[str, Values] = {}
    for name in names:
        if whole is not None and name in whole.columns:
            joined[name] = whole[name]
        else:
            cells = [value for frame in frames for value in frame[name].to_list()]
            joined[name] = object_array(cells)
    return joined


def _same_dtypes(frames: list[Frame]) -> list[str]:
    """List the columns whose dtype is the same in all frames, with the same meaning."""
    schemas = [frame.schema for frame in frames]
    same = [name for name, dtype in schemas[0].items() if all(schema[name] == dtype for schema in schemas)]
    coded = [name for name in same if schemas[0][name] == nw.Categorical or isinstance(schemas[0][name], nw.Enum)]
    unsure = [name for name in same if schemas[0][name] in (nw.String, nw.Object)]
    objects = [name for name in unsure if any(is_object(frame[name]) for frame in frames)]
    return [name for name in same if name not in coded and name not in objects]


# ---- The records of a panel -> dataframes.


BACKENDS = ("pandas", "polars", "pyarrow")


def frame_of(data: PanelData, backend: str, id: str | None, time: str) -> Any:  # noqa: A002 - as in Panel.to_frame
    """Return all records as one long frame, without ids if `id` is None."""
    require_known(backend, BACKENDS, "backend")
    library = _library(backend)
    times = data.times()
    keys = [*([] if id is None else [id]), *([] if times is None else [time])]
    try:
        unique_names([*keys, *data.schema.names])
    except DataError as error:
        raise DataError(f"{error}; say other names for the ids and times: id=..., time=...") from None
    table: dict[str, Any] = {}
    if id is not None:
        table[id] = _repeated_ids(data, backend, library)
    if times is not None:
        dates = data.store.dates
        table[time] = times if dates is None else _DATES[backend](library, dates, data.store.lengths, times)
    for name, column in data.schema.items():
        table[name] = _SERIES[backend](library, column, data.column(name))
    return library.table(table) if backend == "pyarrow" else library.DataFrame(table)


def frames_of(data: PanelData, backend: str, time: str) -> dict[Any, Any]:
    """Return one frame per record."""
    whole = frame_of(data, backend, None, time)
    ends = np.cumsum(data.store.lengths).tolist()
    starts = [0, *ends][:-1]
    pieces = [
        whole.iloc[start:end].reset_index(drop=True) if backend == "pandas" else whole.slice(start, end - start)
        for start, end in zip(starts, ends, strict=True)
    ]
    return dict(zip(data.ids.tolist(), pieces, strict=True))


def _library(backend: str) -> Any:
    from importlib import import_module

    try:
        return import_module(backend)
    except ImportError:
        raise MissingLibraryError(f"backend={backend!r} needs {backend}: pip install {backend}") from None


def _repeated_ids(data: PanelData, backend: str, library: Any) -> Any:
    repeated = np.repeat(data.ids, data.store.lengths)
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
    """Return the time zone of dates: their own, else an offset that all share, else UTC; None without offsets."""
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
