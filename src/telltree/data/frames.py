"""Dataframes of any library -> the parts of a panel."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from telltree.data.assemble import Options, Parts, Source, assemble
from telltree.data.encode import Values, encode, is_object, object_array
from telltree.data.grouping import MICRO, NANO, Times, by_id, given_ids, in_order
from telltree.data.schema import ColumnType, listed, require_known
from telltree.data.store import is_missing
from telltree.errors import DataError

Frame = nw.DataFrame[Any]


def is_frame(value: object) -> bool:
    """Tell whether a value is a dataframe of some library."""
    return nw.dependencies.is_into_dataframe(value)


def open_frame(native: Any, *, index: Iterable[str | None] = ()) -> Frame:
    """Give the dataframe with text for names; levels of a pandas index named in `index` become columns."""
    levels = [level for level in getattr(getattr(native, "index", None), "names", ()) if level is not None]
    if any(name in levels and name not in native.columns for name in index):
        native = native.reset_index()
    try:
        frame: Frame = nw.from_native(native, eager_only=True)
        names = list(frame.columns)
    except DuplicateError as error:
        raise DataError(f"two columns have the same name; column names must be unique. {error}") from None
    except TypeError:
        remedy = "call .collect() on it" if hasattr(native, "collect") else "give a pandas, polars or pyarrow table"
        raise DataError(f"expected a dataframe, got {type(native).__name__}; {remedy}") from None
    texts = unique_names(names)
    return frame if texts == names else frame.rename(dict(zip(names, texts, strict=True)))


def unique_names(names: Iterable[object]) -> list[str]:
    """Give column names as text; two that are then alike are a DataError."""
    texts = [names] if isinstance(names, str) else [str(name) for name in names]
    if len(set(texts)) < len(texts):
        twice = [text for text, times in Counter(texts).items() if times > 1]
        raise DataError(f"two columns have the same name: {listed(twice)}; column names must be unique")
    return texts


def read_frame(
    native: Any,
    options: Options,
    *,
    id: str,  # noqa: A002 - the word users look for
    time: str | None,
    columns: Iterable[str] | None,
    static: Iterable[str],
) -> Parts:
    """Read a long table: one row per step."""
    frame = open_frame(native, index=(id, time))
    require_known(str(id), frame.columns, "id column")
    values = {name: frame[name] for name in frame.columns}
    times = _times(values, time)
    grouping = by_id(values[str(id)], str(id), times)
    source = _source(values, (str(id), time), columns, static)
    return assemble(source, grouping, _with_unit(options, times))


def read_frames(
    frames: Mapping[Any, Any] | Iterable[Any],
    options: Options,
    *,
    time: str | None,
    ids: Sequence[Any] | None,
    columns: Iterable[str] | None,
    static: Iterable[str],
) -> Parts:
    """Read one frame per record."""
    if is_frame(frames):
        raise DataError("got one frame where a list or a dict of frames was expected; use Panel.from_frame")
    if isinstance(frames, Mapping):
        if ids is not None:
            raise DataError("the keys of the dict are the ids; give ids only with a list of frames")
        ids, frames = list(frames), frames.values()
    opened = [open_frame(frame, index=(time,)) for frame in frames]
    keys = given_ids(ids, len(opened))
    lengths = [len(frame) for frame in opened]
    in_order(keys, lengths, None)  # no records, or records without steps, are found before anything else
    joined = _joined(opened, keys.tolist())
    times = _times(joined, time)
    source = _source(joined, (time,), columns, static)
    return assemble(source, in_order(keys, lengths, times), _with_unit(options, times))


def _joined(frames: list[Frame], ids: list[Any]) -> dict[str, Values]:
    """Put frames below each other, column by column; dtypes may differ from frame to frame where the values agree."""
    names = frames[0].columns
    for frame, key in zip(frames, ids, strict=True):
        if frame.columns != names and set(frame.columns) != set(names):
            differ = sorted(set(frame.columns) ^ set(names))
            raise DataError(f"records {ids[0]!r} and {key!r} have different columns: only one has {listed(differ)}")
    alike = [] if len({frame.implementation for frame in frames}) > 1 else _alike(frames)
    whole = nw.concat([frame.select(alike) for frame in frames]) if alike else None
    joined: dict[str, Values] = {}
    for name in names:
        if whole is not None and name in whole.columns:
            joined[name] = whole[name]
        else:
            cells = [value for frame in frames for value in frame[name].to_list()]
            joined[name] = object_array(cells)
    return joined


def _alike(frames: list[Frame]) -> list[str]:
    """List the columns whose dtype is the same in all frames, and means the same."""
    schemas = [frame.schema for frame in frames]
    same = [name for name, dtype in schemas[0].items() if all(schema[name] == dtype for schema in schemas)]
    coded = [name for name in same if schemas[0][name] == nw.Categorical or isinstance(schemas[0][name], nw.Enum)]
    unsure = [name for name in same if schemas[0][name] in (nw.String, nw.Object)]
    objects = [name for name in unsure if any(is_object(frame[name]) for frame in frames)]
    return [name for name in same if name not in coded and name not in objects]


def _source(
    values: Mapping[str, Values],
    reserved: tuple[str | None, ...],
    columns: Iterable[str] | None,
    static: Iterable[str],
) -> Source:
    taken = {str(name) for name in reserved if name is not None}
    constant = unique_names(static)
    chosen = [name for name in values if name not in taken] if columns is None else unique_names(columns)
    chosen += [name for name in constant if name not in chosen]
    for name in chosen:
        if name not in values:
            require_known(name, [name for name in values if name not in taken], "column")
        if name in taken:
            raise DataError(f"column {name!r} is the id or the time, and cannot be an attribute too; copy it first")
    return Source({name: values[name] for name in chosen}, {}, frozenset(constant))


def _times(values: Mapping[str, Values], name: str | None) -> Times | None:
    """Give the time of every row: numbers as they are, dates and durations as ticks."""
    if name is None:
        return None
    require_known(str(name), values, "time column")
    column = values[str(name)]
    if not isinstance(column, np.ndarray) and column.dtype.is_temporal():
        times = _ticks(column, str(name))
    else:
        encoded = encode(str(name), column, lambda row: f"of row {row}")
        if encoded.type is not ColumnType.REAL:
            raise DataError(f"the time column {name!r} is {encoded.type}; turn it into numbers or dates first")
        if isinstance(column, np.ndarray) or not column.dtype.is_integer() or column.is_null().any():
            times = Times(encoded.array)
        else:
            times = Times(column.to_numpy())  # large integers are not exact as floats
    absent = is_missing(times.values) if times.values.dtype.kind == "f" else np.zeros(1, np.bool_)
    if absent.any():
        rows = np.flatnonzero(absent).tolist()
        raise DataError(f"the time column {name!r} is missing in {len(rows)} rows: {listed(rows)} (counted from 0)")
    return times


def _ticks(column: nw.Series[Any], name: str) -> Times:
    if column.is_null().any():
        rows = np.flatnonzero(column.is_null().to_numpy()).tolist()
        raise DataError(f"the time column {name!r} is missing in {len(rows)} rows: {listed(rows)} (counted from 0)")
    if column.dtype == nw.Time:
        raise DataError(f"the time column {name!r} holds times of day; give dates with times, or numbers")
    if isinstance(column.dtype, nw.Duration):
        return Times(column.dt.total_nanoseconds().to_numpy(), NANO)
    dates = column.cast(nw.Datetime("us")) if column.dtype == nw.Date else column
    nanoseconds = isinstance(dates.dtype, nw.Datetime) and dates.dtype.time_unit == "ns"
    ticks = dates.dt.timestamp("ns" if nanoseconds else "us").to_numpy()
    return Times(ticks, NANO if nanoseconds else MICRO, from_start=True)


def _with_unit(options: Options, times: Times | None) -> Options:
    """Say that dates and durations have become seconds."""
    if times is None or times.per_second is None or options.time_unit is not None:
        return options
    return dataclasses.replace(options, time_unit="s")
