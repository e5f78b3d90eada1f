"""NumPy arrays: read as the data of a panel, and written from records."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from telltree.errors import DataError
from telltree.panel.frames import is_frame, open_frame
from telltree.panel.grouping import given_ids, in_order
from telltree.panel.input_options import Options
from telltree.panel.panel_data import InputColumns, PanelData, assemble
from telltree.panel.schema import ColumnType, listed, require_known, unique_names
from telltree.panel.store import Array, Real, is_missing
from telltree.panel.type_inference import Values, count_rounded, object_array
from telltree.text import counted

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
) -> PanelData:
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
    return assemble(InputColumns(rows, statics), grouping, options)


def read_table(table: Any, options: Options, *, columns: Iterable[str] | None, ids: Sequence[Any] | None) -> PanelData:
    """Read a table of records x static attributes; every record has one step."""
    values: dict[str, Values]
    if is_frame(table):
        frame = open_frame(table)
        chosen = frame.columns if columns is None else unique_names(columns)
        absent = [name for name in chosen if name not in frame.columns]
        if absent:
            raise DataError(f"the table has no columns {listed(absent)}; there are {listed(frame.columns)}")
        values, count = {name: frame[name] for name in chosen}, len(frame)
    else:
        array = _without_mask(table)
        if array.ndim != 2:
            raise DataError(f"a table has 2 dimensions, records and attributes; got an array of shape {array.shape}")
        values, count = dict(zip(_names(columns, array.shape[1]), array.T, strict=True)), len(array)
    grouping = in_order(given_ids(ids, count), np.ones(count, np.int64), None)
    return assemble(InputColumns({}, values), grouping, options)


def _without_mask(values: Any) -> Array:
    """Return an array, with masked values as missing."""
    if isinstance(values, np.ma.MaskedArray):
        numeric = values.dtype.kind in "iuf"
        array = np.asarray(values.data).astype(float if numeric else object)
        array[np.ma.getmaskarray(values)] = np.nan if numeric else None
        return array
    if isinstance(values, np.ndarray):
        return np.asarray(values)
    try:
        array = np.asarray(values)
        return (
            np.asarray(values, dtype=object) if array.dtype.kind in "US" else array
        )  # NumPy turns 1 and "a" into text
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
    array = _without_mask(cube)
    if layout == "records, columns, steps":
        array = array.transpose(0, 2, 1)
    records, steps, columns = array.shape
    # The columns of a C-contiguous (records, steps, columns) array are strided views of it.
    return [array[:, :, column].reshape(-1) for column in range(columns)], [steps] * records


def _from_list(records: Iterable[Any], layout: str | None, ids: Sequence[Any] | None) -> tuple[list[Array], list[int]]:
    if layout not in (None, *LIST_LAYOUTS):
        raise DataError(f"the layout of a list of arrays is {' or '.join(map(repr, LIST_LAYOUTS))}, got {layout!r}")
    if is_frame(records) or isinstance(records, str | Mapping) or not isinstance(records, Iterable):
        raise DataError(f"expected a list of 2-D arrays or a 3-D array, got {type(records).__name__}")
    arrays = [_without_mask(record) for record in records]
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
    joined = np.empty((widths.pop() if widths else 0, sum(lengths)), _common_dtype(arrays))
    start = 0
    for array in arrays:
        joined[:, start : start + len(array)] = array.T
        start += len(array)
    return list(joined), lengths


def _common_dtype(arrays: list[Array]) -> np.dtype[Any]:
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
        return _without_mask(cells)
    return object_array(cells)


# ---- The records of a panel -> arrays.


def arrays_of(data: PanelData, layout: str) -> list[Array] | Array:
    """Return one array of numbers per record, or one for all."""
    lengths = data.store.lengths
    require_known(layout, (*LIST_LAYOUTS, *CUBE_LAYOUTS), "layout")
    named = [column.name for column in data.schema.of_type(ColumnType.CATEGORICAL)]
    if named:
        raise DataError(f"arrays hold numbers, but {listed(named)} are categorical; leave them out with panel.select")
    if layout in CUBE_LAYOUTS and len(set(lengths.tolist())) > 1:
        shortest, longest = lengths.min(), lengths.max()
        raise DataError(
            f"records have {shortest} to {longest} steps, and one array needs as many in each; "
            f"ask for a list: layout={LIST_LAYOUTS[0]!r}"
        )
    whole = np.empty((int(lengths.sum()), len(data.schema)), Real)
    for place, name in enumerate(data.schema):
        values = data.column(name)
        whole[:, place] = np.where(is_missing(values), np.nan, values)
    if layout in CUBE_LAYOUTS:
        steps = int(lengths[0]) if len(lengths) else 0
        cube = whole.reshape(len(lengths), steps, len(data.schema))
        return cube if layout == CUBE_LAYOUTS[0] else cube.transpose(0, 2, 1)
    records = np.split(whole, np.cumsum(lengths)[:-1]) if len(lengths) else []
    return records if layout == LIST_LAYOUTS[0] else [record.T for record in records]
