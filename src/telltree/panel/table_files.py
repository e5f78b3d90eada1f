"""Table files of any format -> rows; and records as rows of files, for processes that see the same files."""

import io
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from telltree.errors import DataError, DataWarning
from telltree.panel.csv import TextFormat, read_blocks, read_delimited
from telltree.panel.disk_arrays import Empty
from telltree.panel.input_files import File, files_of, is_path, record_ids, refuse_foreign, require_one_kind, without
from telltree.panel.input_options import FileState, Options, Origin, Plan, ReadArguments, Roles
from telltree.panel.panel import Panel
from telltree.panel.panel_data import Rows, declared_type, gather
from telltree.panel.parquet import file_state, parquet_files, read_parquet
from telltree.panel.resample import How
from telltree.panel.schema import Column, ColumnType, checked_fields
from telltree.panel.store import Array
from telltree.panel.type_inference import Values


def read_tables(
    files: Sequence[File], plan: Plan, types: Mapping[str, ColumnType], text_format: TextFormat, empty: Empty = np.empty
) -> tuple[dict[str, Values], list[int]]:
    """Read files and stack their rows in arrays made by `empty`; return columns, and the number of rows of each file.

    Files that do not begin as Parquet does are CSV or similar.
    """
    if len(files) == 1 and files[0].is_path:
        with files[0].bytes() as stream:  # opened once: a pipe cannot be opened again
            opened = File(files[0].name, stream)
            if not opened.is_parquet() or not stream.seekable():
                return _read([opened], plan, types, text_format, empty)
    return _read(files, plan, types, text_format, empty)


def _read(
    files: Sequence[File], plan: Plan, types: Mapping[str, ColumnType], text_format: TextFormat, empty: Empty
) -> tuple[dict[str, Values], list[int]]:
    for file in files:
        refuse_foreign(file)
    if not require_one_kind(files, [file.is_parquet() for file in files]):
        return read_blocks(files, plan, types, text_format, empty) or read_delimited(
            files, plan, types, text_format, empty
        )
    # Parquet is read from its end, more than once: a stream is read into memory first.
    return read_parquet([file if file.is_path else _in_memory(file) for file in files], plan, types, empty)


def _in_memory(file: File) -> File:
    with file.bytes() as stream:
        return File(file.name, io.BytesIO(stream.read()))


def rows_of(
    files: Sequence[File],
    roles: Roles,
    options: Options,
    encoding: str | None,
    *,
    many: bool,
    empty: Empty = np.empty,
) -> tuple[Rows, list[int]]:
    """Read files as one long table; or as one record each, if there may be `many` and no id is named.

    Returns their rows in arrays made by `empty`, and the number of rows of each file.
    """
    types = declared_types({**options.like, **(options.schema or {})})
    one_each, states = many and roles.id is None, parquet_files(files)
    plan = roles.plan if one_each else roles.long_plan
    values, lengths = read_tables(files, plan, types, TextFormat(encoding, options.date_format), empty)
    if one_each:
        return Rows(values, record_ids(files), lengths, states, lengths), lengths
    return Rows(values, files=states, file_rows=lengths), lengths


def table_files(source: Any, labels: Any) -> list[File]:
    """Return the table files of a source, without the file of labels."""
    files = without([File.at(source)] if hasattr(source, "read") else files_of(source)[0], labels)
    if not files:
        raise DataError("there are no records: the only file is that of the labels")
    if any(is_ts_file(file.target) for file in files):
        raise DataError("a .ts file holds many records: read one at a time, by its path")
    return files


def is_ts_file(path: Any) -> bool:
    """Return True for the path of a .ts file."""
    return is_path(path) and os.fsdecode(path).lower().endswith((".ts", ".ts.gz"))


def declared_types(schema: Mapping[str, Any]) -> dict[str, ColumnType]:
    """Return the types that the user declared, which readers of text must know in advance."""
    types = {}
    for name, change in schema.items():
        fields = {"type": change.type} if isinstance(change, Column) else checked_fields(name, change)
        kind = declared_type(name, fields)
        if kind is not None:
            types[name] = kind
    return types


# ---- Records as rows of files: a few bytes per record, for processes that read the rows themselves.


class FileRows(NamedTuple):
    """Some rows of a file: the first rows and the lengths of runs, in ascending order."""

    file: FileState
    starts: Array
    counts: Array


@dataclass(frozen=True, eq=False)
class StoredRecords:
    """Some records of Parquet files that are not read yet."""

    files: list[FileRows]
    roles: Roles
    options: Options
    ids: Array
    counts: Array
    how_read: ReadArguments
    period: float | None
    """The length of a step, if all records have the same, not only these."""

    def read(self) -> Panel:
        """Read the records; a DataError if a file is absent, or has changed since it was first read."""
        files = [File.at(rows.file.path) for rows in self.files]
        for file, rows in zip(files, self.files, strict=True):
            if file_state(file) != rows.file:
                raise DataError(f"{file.name} has changed since it was read; fit again")
        wanted = [(rows.starts, rows.counts) for rows in self.files]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # all warnings were issued when they were first read
            values, _ = read_parquet(files, self.roles.plan, declared_types(self.options.schema or {}), wanted=wanted)
            data, _ = gather(Rows(values, self.ids, self.counts.tolist()), self.roles, self.options)
            panel, every = Panel._of(data), self.how_read.every
            panel = panel if every is None else panel.resample(every, self._how())
            return replace(panel, how_read=self.how_read, period=self.period)

    def _how(self) -> How:
        """Return how to resample the columns that are read."""
        how, names = self.how_read.how, self.roles.columns or ()
        return how if isinstance(how, str) else {name: way for name, way in how if name in names}

    def __str__(self) -> str:
        """Name the rows, counted from 0, and the files."""
        first, last = self.files[0], self.files[-1]
        begin, end = int(first.starts[0]), int(last.starts[-1] + last.counts[-1]) - 1
        if first is last:
            return f"rows {begin:,} to {end:,} of {first.file.path!r}"
        return f"row {begin:,} of {first.file.path!r} to row {end:,} of {last.file.path!r}"


def stored_records(panel: Panel) -> StoredRecords | None:
    """Return the rows of files that hold the records; None if not all came from Parquet files, or not in this order."""
    if panel.origin is None or not len(panel) or (np.diff(panel._positions) <= 0).any():
        return None
    origin = panel.origin.of(panel._positions)
    roles = replace(origin.roles, id=None, label=None, columns=panel.schema.names, static=(), hidden=frozenset())
    options = replace(origin.options, schema=panel.schema, like={}, known={}, missing="allow")
    return StoredRecords(_file_rows(origin), roles, options, panel.ids, origin.counts, panel.how_read, panel.period)


def _file_rows(origin: Origin) -> list[FileRows]:
    """Return the rows of each file; contiguous records are one run, which ends with its file at the latest."""
    ends = np.cumsum(origin.rows)
    begins = ends - origin.rows
    joined = origin.starts[1:] == (origin.starts + origin.counts)[:-1]
    firsts = np.concatenate(([True], ~joined))
    starts = origin.starts[firsts]
    stops = (origin.starts + origin.counts)[np.concatenate((firsts[1:], [True]))]
    found = []
    for file, begin, end in zip(origin.files, begins.tolist(), ends.tolist(), strict=True):
        here = slice(int(np.searchsorted(stops, begin, "right")), int(np.searchsorted(starts, end, "left")))
        low, high = np.maximum(starts[here], begin), np.minimum(stops[here], end)
        if len(low):
            found.append(FileRows(file, low - begin, high - low))
    return found
