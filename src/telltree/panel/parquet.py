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
from telltree.panel.dates import stamped
from telltree.panel.disk_arrays import Empty, piecewise, rest
from telltree.panel.grouping import id_array, plain_number
from telltree.panel.input_files import File
from telltree.panel.input_options import Plan, Stored, Use
from telltree.panel.names_and_missing import is_nothing, level_name
from telltree.panel.schema import ColumnType, unique_names
from telltree.panel.store import MISSING, Array, Code, Flag, Real, align_codes
from telltree.panel.type_inference import EXACT, Encoded, Values, count_rounded, holds_dates, object_array, unsupported
from telltree.text import counted

INDEX = re.compile(r"__index_level_\d+__")  # pandas' row numbers, not a column of the user's
CELLS = 1 << 20  # cells per batch: about 8 MB of numbers
BUFFER = 1 << 16  # bytes to read at once from each column
Runs = tuple[Array, Array]  # the first row of each run of rows of a file, and how many there are; in ascending order


def stored(file: File) -> Stored:
    """Say what a file looks like now."""
    with file.bytes() as stream:
        found = os.fstat(stream.fileno())
    return Stored(os.path.abspath(file.target), found.st_size, found.st_mtime_ns)


def parquet_files(files: Sequence[File]) -> tuple[Stored, ...]:
    """Say what Parquet files look like, if each can be read by itself, and alike.

    That is not so if others are among them, or streams, which nobody reads again, or if they differ in types.
    """
    if not all(file.is_path and file.left() is not None for file in files) or not all(f.is_parquet() for f in files):
        return ()
    found = tuple(map(stored, files))
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

    `wanted` are the rows to read of each file; all if it is None.
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
    """Copy rows of a file to their places."""
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
            rest()
    if count != length:
        raise DataError(f"cannot read {file.name}: it does not hold the {counted(length, 'row')} that it says it has")


def _rows_of(parquet: Any, at_once: int, columns: list[str], runs: Runs) -> Iterator[Any]:
    """Give the rows of some runs, in batches; row groups that have none of them are not read."""
    begin, pa = 0, import_module("pyarrow")  # a row of the file
    for group in range(parquet.num_row_groups):
        rows = parquet.metadata.row_group(group).num_rows
        if not len(_between(runs, begin, begin + rows)):
            begin += rows
            continue
        for batch in parquet.iter_batches(at_once, row_groups=[group], columns=columns, use_threads=False):
            wanted = _between(runs, begin, begin + batch.num_rows) - begin
            yield batch if len(wanted) == batch.num_rows else batch.take(pa.array(wanted))
            begin += batch.num_rows


def _between(runs: Runs, begin: int, end: int) -> Array:
    """Which rows from `begin` to before `end` are in a run."""
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
    with file.bytes():  # so that a file that cannot be opened has the same message in every format
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
    """A column whose values come in batches."""

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
    """Text, or numbers that are names: encoded at once, so that no text is stored twice."""

    def __init__(self, name: str, text: bool) -> None:
        super().__init__(name)
        self.text = text
        self.codes: dict[str, int] = {}

    def make_room(self, count: int, empty: Empty) -> None:
        self.array = empty(count, Code)

    def put(self, start: int, batch: Any) -> None:
        if not hasattr(batch, "indices"):  # not a dictionary yet
            batch = batch.dictionary_encode()
        # The last entry is for the index -1 of missing values.
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
    """The values of a dictionary; 32-bit floats stay 32-bit, for their names."""
    types = import_module("pyarrow").types
    kept = types.is_float16(dictionary.type) or types.is_float32(dictionary.type)
    return list(dictionary.to_numpy(zero_copy_only=False)) if kept else list(dictionary.to_pylist())


class _AsIs(_Column):
    """Integers and dates that tell records and steps apart: kept exactly."""

    def __init__(self, name: str, dtype: "np.dtype[Any]") -> None:
        super().__init__(name)
        self.dtype = dtype

    def make_room(self, count: int, empty: Empty) -> None:
        self.array = empty(count, self.dtype)

    def put(self, start: int, batch: Any) -> None:
        if batch.null_count and self.array.dtype.kind in "iu":
            self.array = piecewise(
                lambda some: some.astype(Real), self.array, Real
            )  # a NaN marks missing values; grouping the rows finds it
        self.array[start : start + len(batch)] = batch.to_numpy(zero_copy_only=False)


class _Keys(_Column):
    """Numbers of several types, or decimals, that tell records or classes apart: kept exactly."""

    def make_room(self, count: int, empty: Empty) -> None:
        self.array = empty(count, object)

    def put(self, start: int, batch: Any) -> None:
        self.array[start : start + len(batch)] = object_array(map(_whole, batch.to_pylist()))

    def finish(self) -> Values:
        kinds = set(map(type, self.array))
        if kinds == {int}:
            return id_array(self.array.tolist())
        return self.array.astype(Real) if kinds <= {int, float} and not count_rounded(self.array) else self.array


def _whole(value: Any) -> Any:
    """An integer if the number is whole."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    return plain_number(value)


class _Stamped(_AsIs):
    """Dates with the UTC offset of their clock."""

    def make_room(self, count: int, empty: Empty) -> None:
        self.array = empty(count, stamped(np.datetime_data(self.dtype)[0]))

    def put(self, start: int, batch: Any) -> None:
        here = self.array[start : start + len(batch)]
        here["utc"] = batch.to_numpy(zero_copy_only=False)
        shown = batch
        if getattr(batch.type, "tz", None):
            shown = import_module("pyarrow.compute").local_timestamp(batch)
        ahead = shown.to_numpy(zero_copy_only=False).astype(here["utc"].dtype) - here["utc"]
        here["offset"] = np.where(np.isnat(ahead), 0, ahead.astype("m8[s]").view(np.int64))


def _column(name: str, use: Use, schemas: Sequence[Any], files: Sequence[File], wanted: ColumnType | None) -> _Column:
    """Choose how to store a column by its type in all files."""
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
        raise holds_dates(name) if family == "dates" else unsupported(name, kind)
    if family == "text" or (family == "numbers" and wanted is ColumnType.CATEGORICAL and use is Use.ATTRIBUTE):
        return _Names(name, text=not any(map(_is_dictionary, kinds)))
    if family == "Booleans":
        return _Boolean(name)
    dtypes = [_dtype(kind) for kind in kinds if _family(kind) != "nothing"]
    decimal = any(import_module("pyarrow").types.is_decimal(kind) for kind in kinds)
    exact = bool(dtypes) and all(dtype.kind in "iumM" for dtype in dtypes)
    if family == "dates" and any(getattr(kind, "tz", None) for kind in kinds):
        return _Stamped(name, np.result_type(*dtypes))
    if use is not Use.ATTRIBUTE:
        common = np.result_type(*dtypes) if dtypes else np.dtype(Real)
        if exact and common.kind != "f":
            return _AsIs(name, common)
        if use in (Use.ID, Use.LABEL) and (decimal or any(dtype.kind in "iu" for dtype in dtypes)):
            return _Keys(name)
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
