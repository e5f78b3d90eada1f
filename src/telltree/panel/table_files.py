"""Table files of any format -> rows; and records as row ranges of files, for processes that see the same files."""

import dataclasses
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
from telltree.panel.panel_data import Rows, gather, wanted_type
from telltree.panel.parquet import file_state, parquet_files, read_parquet
from telltree.panel.resample import How
from telltree.panel.schema import Column, ColumnType, Schema, checked_fields
from telltree.panel.store import Array
from telltree.panel.type_inference import Values


def read_tables(
    files: Sequence[File], plan: Plan, types: Mapping[str, ColumnType], text_format: TextFormat, empty: Empty = np.empty
) -> tuple[dict[str, Values], list[int]]:
    """Read files and stack their rows, where `empty` makes room.

    The first bytes tell Parquet; anything else is CSV or similar.
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
    from telltree.panel.parquet import read_parquet

    # Parquet is read from its end, more than once: a stream is read into memory first.
    return read_parquet([file if file.is_path else _copied(file) for file in files], plan, types, empty)


def _copied(file: File) -> File:
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
    """Read files as one long table, or where there may be many, and no id is named, as one record each.

    Returns their rows, where `empty` makes room, and how many each file has.
    """
    types, text_format = (
        declared_types({**options.like, **(options.schema or {})}),
        TextFormat(encoding, options.date_format),
    )
    alone, kept = many and roles.id is None, parquet_files(files)
    values, lengths = read_tables(files, roles.plan if alone else roles.long_plan, types, text_format, empty)
    if alone:
        return Rows(values, record_ids(files), lengths, kept, lengths), lengths
    return Rows(values, files=kept, file_rows=lengths), lengths


def table_files(source: Any, labels: Any) -> list[File]:
    """The table files of a source, without the labels file."""
    files = without([File.at(source)] if hasattr(source, "read") else files_of(source)[0], labels)
    if not files:
        raise DataError("there are no records: the only file is that of the labels")
    if any(_is_ts(file.target) for file in files):
        raise DataError("a .ts file holds many records: read one at a time, by its path")
    return files


def _is_ts(path: Any) -> bool:
    return is_path(path) and os.fsdecode(path).lower().endswith((".ts", ".ts.gz"))


def as_elsewhere(options: Options, like: Schema | None) -> Options:
    """Take the columns that are categorical in another schema for such."""
    known = {} if like is None else {column.name: column.levels for column in like.of_type("categorical")}
    return dataclasses.replace(options, like=_names(like), known=known)


def _names(schema: Schema | None) -> dict[str, dict[str, Any]]:
    """Return overrides that make columns categorical here if they are in another schema."""
    return {} if schema is None else {column.name: {"type": column.type} for column in schema.of_type("categorical")}


def declared_types(schema: Mapping[str, Any]) -> dict[str, ColumnType]:
    """Return the types that the user declared, which text readers must know in advance."""
    types = {}
    for name, change in schema.items():
        fields = {"type": change.type} if isinstance(change, Column) else checked_fields(name, change)
        kind = wanted_type(name, fields)
        if kind is not None:
            types[name] = kind
    return types


# ---- Records as what to read, for a process that sees the same files: some bytes a record, whatever their length.


class Piece(NamedTuple):
    """Some rows of a file: `starts` and `counts` of runs, in ascending order."""

    file: FileState
    starts: Array
    counts: Array


@dataclass(frozen=True, eq=False)
class Part:
    """Some records of Parquet files, which are not read yet."""

    pieces: list[Piece]
    roles: Roles
    options: Options
    ids: Array
    counts: Array
    how_read: ReadArguments
    period: float | None
    """The length of a step, if all records have the same, not only these."""

    def read(self) -> Panel:
        """The records; a DataError if a file is not there, or is not as it was when it was first read."""
        files = [File.at(piece.file.path) for piece in self.pieces]
        for file, piece in zip(files, self.pieces, strict=True):
            if file_state(file) != piece.file:
                raise DataError(f"{file.name} has changed since it was read; fit again")
        wanted = [(piece.starts, piece.counts) for piece in self.pieces]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # what is to be said was said when they were first read
            values, _ = read_parquet(files, self.roles.plan, self._types, wanted=wanted)
            parts, _ = gather(Rows(values, self.ids, self.counts.tolist()), self.roles, self.options)
            panel, every = Panel._of(parts), self.how_read.every
            panel = panel if every is None else panel.resample(every, self._how())
            return replace(panel, how_read=self.how_read, period=self.period)

    def _how(self) -> How:
        """How to resample the columns that are there."""
        how, names = self.how_read.how, self.roles.columns or ()
        return how if isinstance(how, str) else {name: way for name, way in how if name in names}

    @property
    def _types(self) -> dict[str, ColumnType]:
        return declared_types(self.options.schema or {})

    def __str__(self) -> str:
        """Name the rows, counted from 0, and the files."""
        first, last = self.pieces[0], self.pieces[-1]
        begin, end = int(first.starts[0]), int(last.starts[-1] + last.counts[-1]) - 1
        if first is last:
            return f"rows {begin:,} to {end:,} of {first.file.path!r}"
        return f"row {begin:,} of {first.file.path!r} to row {end:,} of {last.file.path!r}"


def part_of(panel: Panel) -> Part | None:
    """What to read for the records of a panel; None if they did not come from Parquet files, or in another order."""
    if panel.origin is None or not len(panel) or (np.diff(panel._positions) <= 0).any():
        return None
    origin = panel.origin.of(panel._positions)
    roles = replace(origin.roles, id=None, label=None, columns=panel.schema.names, static=(), hidden=frozenset())
    options = replace(origin.options, schema=panel.schema, like={}, known={}, missing="allow")
    return Part(_pieces(origin), roles, options, panel.ids, origin.counts, panel.how_read, panel.period)


def _pieces(origin: Origin) -> list[Piece]:
    """The rows of each file: records that lie one after another are one run, which ends with the file at the latest."""
    ends = np.cumsum(origin.rows)
    begins = ends - origin.rows
    joined = origin.starts[1:] == (origin.starts + origin.counts)[:-1]
    firsts = np.concatenate(([True], ~joined))
    starts = origin.starts[firsts]
    stops = (origin.starts + origin.counts)[np.concatenate((firsts[1:], [True]))]
    pieces = []
    for file, begin, end in zip(origin.files, begins.tolist(), ends.tolist(), strict=True):
        here = slice(int(np.searchsorted(stops, begin, "right")), int(np.searchsorted(starts, end, "left")))
        low, high = np.maximum(starts[here], begin), np.minimum(stops[here], end)
        if len(low):
            pieces.append(Piece(file, low - begin, high - low))
    return pieces
