"""Parquet files -> columns, batch by batch into arrays of their final size."""

import abc
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from telltree.errors import DataError
from telltree.extras import extras
from telltree.panel.csv import MOST_COLUMNS, require_same, too_wide
from telltree.panel.dates import date_with_offset
from telltree.panel.disk_arrays import Empty, piecewise, unload
from telltree.panel.grouping import id_array, plain_number
from telltree.panel.input_files import File
from telltree.panel.input_options import FileState, Plan, Use
from telltree.panel.names_and_missing import is_nothing, level_name
from telltree.panel.schema import ColumnType, unique_names
from telltree.panel.store import MISSING, Array, Code, Flag, Real, align_codes
from telltree.panel.type_inference import (
    EXACT,
    Encoded,
    Values,
    count_rounded,
    dates_error,
    object_array,
    unsupported_error,
)
from telltree.text import counted

INDEX = re.compile(r"__index_level_\d+__")  # pandas' row numbers, not a column of the user's
CELLS = 1 << 20  # cells per batch: about 8 MB of numbers
BUFFER = 1 << 16  # bytes to read at once from each column
Runs = tuple[Array, Array]  # runs of rows of a file in ascending order: their first rows, and their lengths


def file_state(file: File) -> FileState:
    """Return the path, size and modification time of a file."""
    with file.bytes() as stream:
        found = os.fstat(stream.fileno())
    return FileState(os.path.abspath(file.target), found.st_size, found.st_mtime_ns)


def parquet_files(files: Sequence[File]) -> tuple[FileState, ...]:
    """Return the state of Parquet files that can be read again in parts, each by itself.

    Empty if any is a stream or of another format, or if the files differ in types.
    """
    if not all(file.is_path and file.unread_bytes() is not None for file in files) or not all(
        f.is_parquet() for f in files
    ):
        return ()
    found = tuple(map(file_state, files))
    first, *others = (_footer(file)[0] for file in files)
    return found if all(first.equals(other) for other in others) else ()


def read_parquet(
    files: Sequence[File],
    plan: Plan,
    types: Mapping[str, ColumnType],
    empty: Empty = np.empty,
    wanted: Sequence[Runs] | None = None,
) -> tuple[dict[str, Values], list[int]]:
    """Read files with the same columns, and stack their rows; returns the columns of the plan, and rows per file.

    `wanted` are the rows to read of each file, by default all.
    """
    footers = [_footer(file) for file in files]
    lengths = [count for _, count in footers] if wanted is None else [int(counts.sum()) for _, counts in wanted]
    first, _ = footers[0]
    uses = plan(_names(first, files[0]))
    for (schema, _), file in zip(footers, files, strict=True):
        require_same(_names(first, files[0]), _names(schema, file), files[0], file)
    schemas = [schema for schema, _ in footers]
    columns = {name: _column(name, use, schemas, files, types.get(name)) for name, use in uses.items()}
    try:
        for column in columns.values():
            column.make_room(sum(lengths), empty)
    except DataError:  # the disk is full
        raise
    except (MemoryError, ValueError):
        raise DataError(
            f"{counted(sum(lengths), 'row')} of {counted(len(columns), 'column')}: too many for the memory"
        ) from None
    start = 0
    for number, (file, length) in enumerate(zip(files, lengths, strict=True)):
        _fill(columns, start, length, file, None if wanted is None else wanted[number])
        start += length
    return {name: column.finish() for name, column in columns.items()}, lengths


def _fill(columns: Mapping[str, "_Column"], start: int, length: int, file: File, runs: Runs | None) -> None:
    """Copy rows of a file into the columns."""
    at_once = max(1, CELLS // max(1, len(columns)))
    count = 0
    with _opened(file) as parquet:
        names = list(columns)
        for batch in (
            parquet.iter_batches(at_once, columns=names, use_threads=False)
            if runs is None
            else _rows_of(parquet, at_once, names, runs)
        ):
            count += batch.num_rows
            if count > length:
                break
            for name, column in columns.items():
                column.put(start, batch.column(name))
            start += batch.num_rows
            unload()
    if count != length:
        raise DataError(f"cannot read {file.name}: it does not hold the {counted(length, 'row')} that it says it has")


def _rows_of(parquet: Any, at_once: int, columns: list[str], runs: Runs) -> Iterator[Any]:
    """Yield the rows of some runs in batches; row groups without any of them are not read."""
    begin, pa = 0, import_module("pyarrow")  # a row of the file
    for group in range(parquet.num_row_groups):
        rows = parquet.metadata.row_group(group).num_rows
        if not len(_wanted_rows(runs, begin, begin + rows)):
            begin += rows
            continue
        for batch in parquet.iter_batches(at_once, row_groups=[group], columns=columns, use_threads=False):
            wanted = _wanted_rows(runs, begin, begin + batch.num_rows) - begin
            yield batch if len(wanted) == batch.num_rows else batch.take(pa.array(wanted))
            begin += batch.num_rows


def _wanted_rows(runs: Runs, begin: int, end: int) -> Array:
    """Return the rows from `begin` to before `end` that are in a run."""
    starts, stops = runs[0], runs[0] + runs[1]
    here = slice(int(np.searchsorted(stops, begin, "right")), int(np.searchsorted(starts, end, "left")))
    lows, highs = np.maximum(starts[here], begin), np.minimum(stops[here], end)
    counts = highs - lows
    before = np.cumsum(counts) - counts
    return np.asarray(np.repeat(lows - before, counts) + np.arange(counts.sum()))


@contextmanager
def _opened(file: File) -> Iterator[Any]:
    with extras(file.name):
        pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")
    with file.bytes():  # for the same errors as in other formats
        try:
            # Arrow's own file, a buffer and no read-ahead: otherwise a whole row group, or the whole file, stays in
            # memory.
            with pa.OSFile(file.target) if file.is_path else pa.BufferReader(file.target.getvalue()) as source:
                yield pq.ParquetFile(source, buffer_size=BUFFER, pre_buffer=False)
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise DataError(f"cannot read {file.name}: {error}") from None


def _footer(file: File) -> tuple[Any, int]:
    with _opened(file) as parquet:
        return parquet.schema_arrow, parquet.metadata.num_rows


def _names(schema: Any, file: File) -> list[str]:
    try:
        if len(schema.names) > MOST_COLUMNS:
            raise DataError(too_wide(len(schema.names)))
        return [name for name in unique_names(schema.names) if not INDEX.fullmatch(name)]
    except DataError as error:
        raise DataError(f"{file.name}: {error}") from None


class _Column(abc.ABC):
    """A column that is filled batch by batch."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.array: Array = np.empty(0)

    @abc.abstractmethod
    def make_room(self, count: int, empty: Empty) -> None: ...

    @abc.abstractmethod
    def put(self, start: int, batch: Any) -> None: ...

    def finish(self) -> Values:
        return self.array


class _Real(_Column):
    def __init__(self, name: str, whole: bool) -> None:
        super().__init__(name)
        self.whole = whole
        self.rounded = 0

    def make_room(self, count: int, empty: Empty) -> None:
        self.array = empty(count, Real)

    def put(self, start: int, batch: Any) -> None:
        numbers = batch.cast("float64", safe=False).to_numpy(zero_copy_only=False)
        self.array[start : start + len(batch)] = numbers
        large = np.abs(numbers) >= EXACT  # may be rounded; false for NaN
        pa = import_module("pyarrow")
        if large.any() and not pa.types.is_floating(batch.type):
            self.rounded += count_rounded(object_array(batch.filter(pa.array(large)).to_pylist()))

    def finish(self) -> Values:
        return Encoded(ColumnType.REAL, self.array, whole=self.whole, rounded=self.rounded, tabular=True)


class _Boolean(_Column):
    def make_room(self, count: int, empty: Empty) -> None:
        self.array = empty(count, Flag)

    def put(self, start: int, batch: Any) -> None:
        flags = batch.cast("int8").fill_null(MISSING)
        self.array[start : start + len(batch)] = flags.to_numpy(zero_copy_only=False)

    def finish(self) -> Values:
        return Encoded(ColumnType.BOOLEAN, self.array)


class _Names(_Column):
    """Text, or numbers that are names: encoded batch by batch, so that no text is stored twice."""

    def __init__(self, name: str, text: bool) -> None:
        super().__init__(name)
        self.text = text
        self.codes: dict[str, int] = {}

    def make_room(self, count: int, empty: Empty) -> None:
        self.array = empty(count, Code)

    def put(self, start: int, batch: Any) -> None:
        if not hasattr(batch, "indices"):  # not a dictionary yet
            batch = batch.dictionary_encode()
        # Missing values have the index -1, the last entry.
        table = np.array([*map(self._code, _values(batch.dictionary)), MISSING], Code)
        indices = batch.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
        self.array[start : start + len(batch)] = table[indices]

    def _code(self, value: Any) -> int:
        if is_nothing(value):
            return MISSING
        text = value if isinstance(value, str) else level_name(value)
        return self.codes.setdefault(text, len(self.codes))

    def finish(self) -> Values:
        levels = tuple(sorted(self.codes))
        array = align_codes(self.array, tuple(self.codes), levels) if levels else self.array
        return Encoded(ColumnType.CATEGORICAL, array, levels, text=self.text)


def _values(dictionary: Any) -> list[Any]:
    """Return the values of a dictionary; short floats stay so, since names depend on the precision."""
    types = import_module("pyarrow").types
    kept = types.is_float16(dictionary.type) or types.is_float32(dictionary.type)
    return list(dictionary.to_numpy(zero_copy_only=False)) if kept else list(dictionary.to_pylist())


class _Exact(_Column):
    """Integers and dates of ids, labels and times: stored exactly."""

    def __init__(self, name: str, dtype: "np.dtype[Any]") -> None:
        super().__init__(name)
        self.dtype = dtype

    def make_room(self, count: int, empty: Empty) -> None:
        self.array = empty(count, self.dtype)

    def put(self, start: int, batch: Any) -> None:
        if batch.null_count and self.array.dtype.kind in "iu":
            # NaN marks missing values, which grouping the rows reports.
            self.array = piecewise(lambda some: some.astype(Real), self.array, Real)
        self.array[start : start + len(batch)] = batch.to_numpy(zero_copy_only=False)


class _ExactObjects(_Column):
    """Ids and labels that are decimals, or numbers of several types: stored exactly."""

    def make_room(self, count: int, empty: Empty) -> None:
        self.array = empty(count, object)

    def put(self, start: int, batch: Any) -> None:
        self.array[start : start + len(batch)] = object_array(map(_integer_if_whole, batch.to_pylist()))

    def finish(self) -> Values:
        kinds = set(map(type, self.array))
        if kinds == {int}:
            return id_array(self.array.tolist())
        return self.array.astype(Real) if kinds <= {int, float} and not count_rounded(self.array) else self.array


def _integer_if_whole(value: Any) -> Any:
    """Convert a whole number to an integer."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    return plain_number(value)


class _DatesWithOffset(_Exact):
    """Dates with their offsets from UTC."""

    def make_room(self, count: int, empty: Empty) -> None:
        self.array = empty(count, date_with_offset(np.datetime_data(self.dtype)[0]))

    def put(self, start: int, batch: Any) -> None:
        here = self.array[start : start + len(batch)]
        here["utc"] = batch.to_numpy(zero_copy_only=False)
        shown = batch
        if getattr(batch.type, "tz", None):
            shown = import_module("pyarrow.compute").local_timestamp(batch)
        ahead = shown.to_numpy(zero_copy_only=False).astype(here["utc"].dtype) - here["utc"]
        here["offset"] = np.where(np.isnat(ahead), 0, ahead.astype("m8[s]").view(np.int64))


def _column(name: str, use: Use, schemas: Sequence[Any], files: Sequence[File], wanted: ColumnType | None) -> _Column:
    """Return an empty column for a type that fits all files."""
    kinds = [schema.field(name).type for schema in schemas]
    found: dict[str, int] = {}  # type of the values -> the first file that has it
    for number, kind in enumerate(kinds):
        found.setdefault(_family(kind), number)
    found.pop("nothing", None)
    if len(found) > 1:
        shown = ", ".join(f"{family} in {files[number].name}" for family, number in found.items())
        raise DataError(f"column {name!r} has mixed types: {shown}; make all its values one type")
    family = next(iter(found), "nothing")
    if family == "other" or (family == "dates" and use is Use.ATTRIBUTE):
        kind = str(kinds[found[family]])
        raise dates_error(name) if family == "dates" else unsupported_error(name, kind)
    if family == "text" or (family == "numbers" and wanted is ColumnType.CATEGORICAL and use is Use.ATTRIBUTE):
        return _Names(name, text=not any(map(_is_dictionary, kinds)))
    if family == "Booleans":
        return _Boolean(name)
    dtypes = [_dtype(kind) for kind in kinds if _family(kind) != "nothing"]
    decimal = any(import_module("pyarrow").types.is_decimal(kind) for kind in kinds)
    exact = bool(dtypes) and all(dtype.kind in "iumM" for dtype in dtypes)
    if family == "dates" and any(getattr(kind, "tz", None) for kind in kinds):
        return _DatesWithOffset(name, np.result_type(*dtypes))
    if use is not Use.ATTRIBUTE:
        common = np.result_type(*dtypes) if dtypes else np.dtype(Real)
        if exact and common.kind != "f":
            return _Exact(name, common)
        if use in (Use.ID, Use.LABEL) and (decimal or any(dtype.kind in "iu" for dtype in dtypes)):
            return _ExactObjects(name)
    return _Real(name, whole=exact)


def _family(kind: Any) -> str:
    types = import_module("pyarrow").types
    text = (types.is_string, types.is_large_string, types.is_string_view)
    if types.is_null(kind):
        return "nothing"
    if types.is_boolean(kind):
        return "Booleans"
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "numbers"
    if any(fits(kind) for fits in text):
        return "text"
    if types.is_dictionary(kind):
        return "text" if _family(kind.value_type) in ("text", "numbers", "Booleans") else "other"
    return "dates" if types.is_timestamp(kind) or types.is_date(kind) or types.is_duration(kind) else "other"


def _is_dictionary(kind: Any) -> bool:
    return bool(import_module("pyarrow").types.is_dictionary(kind))


def _dtype(kind: Any) -> "np.dtype[Any]":
    types = import_module("pyarrow").types
    if types.is_timestamp(kind):
        return np.dtype(f"M8[{kind.unit}]")
    if types.is_duration(kind):
        return np.dtype(f"m8[{kind.unit}]")
    if types.is_date(kind):
        return np.dtype("M8[D]" if types.is_date32(kind) else "M8[ms]")
    return np.dtype(kind.to_pandas_dtype()) if types.is_integer(kind) else np.dtype(Real)
