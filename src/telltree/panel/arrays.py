"""NumPy arrays and dataframes of any library -> rows, and the parts of a panel."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from telltree.errors import DataError
from telltree.panel.assemble import Options, Parts, Source, assemble
from telltree.panel.encode import Values, count_rounded, is_object, object_array
from telltree.panel.grouping import given_ids, in_order
from telltree.panel.rows import Rows
from telltree.panel.schema import listed, unique_names
from telltree.panel.store import Array
from telltree.text import counted

# ---- Dataframes of any library -> rows.

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


# ---- NumPy arrays -> the parts of a panel.

LIST_LAYOUTS = ("steps, columns", "columns, steps")
CUBE_LAYOUTS = ("records, steps, columns", "records, columns, steps")


def read_arrays(
    records: Any,
    options: Options,
    *,
    columns: Iterable[str] | None,
    layout: str | None,
    ids: Sequence[Any] | None,
    static: Any,
) -> Parts:
    """Read a list of 2-D arrays, or a 3-D array whose layout is given."""
    if isinstance(records, np.ndarray) and records.dtype.kind != "O":
        cells, lengths = _from_cube(records, layout)
    else:
        cells, lengths = _from_list(records, layout, ids)
    keys = given_ids(ids, len(lengths))
    grouping = in_order(keys, lengths, None)
    rows: dict[str, Values] = dict(zip(_names(columns, len(cells)), cells, strict=True))
    statics = _statics(static, len(lengths))
    unique_names([*rows, *statics])
    return assemble(Source(rows, statics), grouping, options)


def read_table(table: Any, options: Options, *, columns: Iterable[str] | None, ids: Sequence[Any] | None) -> Parts:
    """Read records x static attributes; every record has one step."""
    values: dict[str, Values]
    if is_frame(table):
        frame = open_frame(table)
        chosen = frame.columns if columns is None else unique_names(columns)
        absent = [name for name in chosen if name not in frame.columns]
        if absent:
            raise DataError(f"the table has no columns {listed(absent)}; there are {listed(frame.columns)}")
        values, count = {name: frame[name] for name in chosen}, len(frame)
    else:
        array = _plain(table)
        if array.ndim != 2:
            raise DataError(f"a table has 2 dimensions, records and attributes; got an array of shape {array.shape}")
        values, count = dict(zip(_names(columns, array.shape[1]), array.T, strict=True)), len(array)
    grouping = in_order(given_ids(ids, count), np.ones(count, np.int64), None)
    return assemble(Source({}, values), grouping, options)


def _plain(values: Any) -> Array:
    """Return an array; the masked values of a masked array are missing."""
    if isinstance(values, np.ma.MaskedArray):
        numeric = values.dtype.kind in "iuf"
        array = np.asarray(values.data).astype(float if numeric else object)
        array[np.ma.getmaskarray(values)] = np.nan if numeric else None
        return array
    if isinstance(values, np.ndarray):
        return np.asarray(values)
    try:
        array = np.asarray(values)
        return np.asarray(values, dtype=object) if array.dtype.kind in "US" else array  # NumPy makes 1 and "a" text
    except ValueError:
        raise DataError("the rows of an array have different lengths; give one 2-D array per record") from None


def _names(columns: Iterable[str] | None, count: int) -> list[str]:
    if columns is None:
        return [f"x{number}" for number in range(1, count + 1)]
    names = unique_names(columns)
    if len(names) != count:
        raise DataError(f"got {counted(len(names), 'column name')} for {counted(count, 'column')}")
    return names


def _from_cube(cube: Array, layout: str | None) -> tuple[list[Array], list[int]]:
    if cube.ndim != 3:
        raise DataError(
            f"expected a list of 2-D arrays or a 3-D array, got an array of shape {cube.shape}; "
            "for records x attributes without time use Panel.from_table"
        )
    if layout not in CUBE_LAYOUTS:
        raise DataError(
            f"say how the axes of the array {cube.shape} are laid out: layout={' or '.join(map(repr, CUBE_LAYOUTS))}"
        )
    array = _plain(cube)
    if layout == "records, columns, steps":
        array = array.transpose(0, 2, 1)
    records, steps, columns = array.shape
    # A C-contiguous (records, steps, columns) array is not copied: its columns become strided views.
    return [array[:, :, column].reshape(-1) for column in range(columns)], [steps] * records


def _from_list(records: Iterable[Any], layout: str | None, ids: Sequence[Any] | None) -> tuple[list[Array], list[int]]:
    if layout not in (None, *LIST_LAYOUTS):
        raise DataError(f"the layout of a list of arrays is {' or '.join(map(repr, LIST_LAYOUTS))}, got {layout!r}")
    if is_frame(records) or isinstance(records, str | Mapping) or not isinstance(records, Iterable):
        raise DataError(f"expected a list of 2-D arrays or a 3-D array, got {type(records).__name__}")
    arrays = [_plain(record) for record in records]
    for number, array in enumerate(arrays):
        if array.ndim != 2:
            raise DataError(f"each record is a 2-D array; number {number} has shape {array.shape}")
    if layout == "columns, steps":
        arrays = [array.T for array in arrays]
    widths = {array.shape[1] for array in arrays}
    if len(widths) > 1:
        odd = next(number for number, array in enumerate(arrays) if array.shape[1] != arrays[0].shape[1])
        raise DataError(
            f"records 0 and {odd} have {arrays[0].shape[1]} and {counted(arrays[odd].shape[1], 'column')}; "
            "all must have the same (lengths may differ); is the layout right?"
        )
    lengths = [len(array) for array in arrays]
    joined = np.empty((widths.pop() if widths else 0, sum(lengths)), _common(arrays))
    start = 0
    for array in arrays:
        joined[:, start : start + len(array)] = array.T
        start += len(array)
    return list(joined), lengths


def _common(arrays: list[Array]) -> np.dtype[Any]:
    """Return a dtype that holds the values of all arrays without loss."""
    dtypes = {array.dtype for array in arrays}
    families = {"number" if dtype.kind in "iuf" else dtype.kind for dtype in dtypes}
    common = np.result_type(*dtypes) if len(families) == 1 else np.dtype(object)
    return np.dtype(object) if common.kind == "f" and any(map(count_rounded, arrays)) else common


def _statics(static: Any, count: int) -> dict[str, Values]:
    if static is None:
        return {}
    values: dict[str, Values] = {}
    if is_frame(static):
        frame = open_frame(static)
        values = {name: frame[name] for name in frame.columns}
    elif isinstance(static, Mapping):
        values = {name: _cells(cells) for name, cells in zip(unique_names(static), static.values(), strict=True)}
    else:
        raise DataError(f"static is a frame or a dict name -> one value per record, got {type(static).__name__}")
    for name, cells in values.items():
        if len(cells) != count:
            raise DataError(f"static column {name!r} has {counted(len(cells), 'value')} for {counted(count, 'record')}")
    return values


def _cells(cells: Any) -> Array:
    if isinstance(cells, np.ndarray):
        return _plain(cells)
    return object_array(cells)
