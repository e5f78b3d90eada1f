"""Dataframes of any library -> rows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
from narwhals.exceptions import DuplicateError

from telltree.data.columns.encode import Values, is_object, object_array
from telltree.data.records.grouping import given_ids, in_order
from telltree.data.records.rows import Rows
from telltree.data.schema import listed, unique_names
from telltree.errors import DataError

Frame = nw.DataFrame[Any]


def is_frame(value: object) -> bool:
    """Whether a value is a dataframe of some library."""
    return nw.dependencies.is_into_dataframe(value)


def open_frame(native: Any, *, index: Iterable[str | None] = ()) -> Frame:
    """Return the dataframe with text as column names; levels of a pandas index named in `index` become columns."""
    levels = [level for level in getattr(getattr(native, "index", None), "names", ()) if level is not None]
    if any(name in levels and name not in native.columns for name in index):
        unique_names([*levels, *native.columns])
        native = native.reset_index()
    try:
        frame: Frame = nw.from_native(native, eager_only=True)
        names: list[Any] = list(frame.columns)
    except DuplicateError:
        unique_names(getattr(native, "column_names", native.columns))  # an error that names the duplicates
        raise
    except TypeError:
        remedy = "call .collect() on it" if hasattr(native, "collect") else "give a pandas, polars or pyarrow table"
        raise DataError(f"expected a dataframe, got {type(native).__name__}; {remedy}") from None
    if any(isinstance(name, tuple) for name in names):
        raise DataError(f"column names have several levels: {listed(names, 3)}; join them into one")
    texts = unique_names(names)
    return frame if texts == names else frame.rename(dict(zip(names, texts, strict=True)))


def long_frame(native: Any, *, id: str | None, time: str | None) -> Rows:  # noqa: A002 - the word users look for
    """Open a long table: one row per step."""
    frame = open_frame(native, index=(id, time))
    return Rows({name: frame[name] for name in frame.columns})


def frame_per_record(frames: Mapping[Any, Any] | Iterable[Any], *, time: str | None, ids: Sequence[Any] | None) -> Rows:
    """Open one frame per record, and stack them."""
    if is_frame(frames):
        raise DataError("got one frame where a list or a dict of frames was expected; use Panel.from_frame")
    if isinstance(frames, Mapping):
        if ids is not None:
            raise DataError("the keys of the dict are the ids; give ids only with a list of frames")
        ids, frames = list(frames), frames.values()
    opened = [open_frame(frame, index=(time,)) for frame in frames]
    keys = given_ids(ids, len(opened))
    lengths = [len(frame) for frame in opened]
    in_order(keys, lengths, None)  # refuse no records, and records without steps, first
    return Rows(_joined(opened, keys.tolist()), keys, lengths)


def _joined(frames: list[Frame], ids: list[Any]) -> dict[str, Values]:
    """Stack frames, column by column; dtypes may differ between frames if the values agree."""
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
    """List the columns whose dtype is the same, with the same meaning, in all frames."""
    schemas = [frame.schema for frame in frames]
    same = [name for name, dtype in schemas[0].items() if all(schema[name] == dtype for schema in schemas)]
    coded = [name for name in same if schemas[0][name] == nw.Categorical or isinstance(schemas[0][name], nw.Enum)]
    unsure = [name for name in same if schemas[0][name] in (nw.String, nw.Object)]
    objects = [name for name in unsure if any(is_object(frame[name]) for frame in frames)]
    return [name for name in same if name not in coded and name not in objects]
