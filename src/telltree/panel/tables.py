"""Files that hold tables, of any format -> columns."""

import io
from collections.abc import Mapping, Sequence

import numpy as np

from telltree.panel.csv import read_blocks, read_delimited
from telltree.panel.disk_arrays import Empty
from telltree.panel.encode import Values
from telltree.panel.open_files import File, refuse_foreign, require_one_kind
from telltree.panel.rows import Plan
from telltree.panel.schema import ColumnType
from telltree.panel.text_columns import Writing


def read_tables(
    files: Sequence[File], plan: Plan, types: Mapping[str, ColumnType], writing: Writing, empty: Empty = np.empty
) -> tuple[dict[str, Values], list[int]]:
    """Read files and stack their rows, where `empty` makes room.

    The first bytes tell Parquet; anything else is CSV or similar.
    """
    if len(files) == 1 and files[0].is_path:
        with files[0].bytes() as stream:  # opened once: a pipe cannot be opened again
            opened = File(files[0].name, stream)
            if not opened.is_parquet() or not stream.seekable():
                return _read([opened], plan, types, writing, empty)
    return _read(files, plan, types, writing, empty)


def _read(
    files: Sequence[File], plan: Plan, types: Mapping[str, ColumnType], writing: Writing, empty: Empty
) -> tuple[dict[str, Values], list[int]]:
    for file in files:
        refuse_foreign(file)
    if not require_one_kind(files, [file.is_parquet() for file in files]):
        return read_blocks(files, plan, types, writing, empty) or read_delimited(files, plan, types, writing, empty)
    from telltree.panel.parquet import read_parquet

    # Parquet is read from its end, more than once: a stream is read into memory first.
    return read_parquet([file if file.is_path else _copied(file) for file in files], plan, types, empty)


def _copied(file: File) -> File:
    with file.bytes() as stream:
        return File(file.name, io.BytesIO(stream.read()))
