"""Files that hold tables, of any format -> columns."""

import io
from collections.abc import Mapping, Sequence

import numpy as np

from telltree.data.columns.encode import Values
from telltree.data.columns.written import Writing
from telltree.data.files.blocks import read_blocks
from telltree.data.files.delimited import read_delimited
from telltree.data.files.directory import require_one_kind
from telltree.data.files.foreign import refuse_foreign
from telltree.data.files.opening import File
from telltree.data.on_disk import Empty
from telltree.data.records.rows import Plan
from telltree.data.schema import ColumnType


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
    from telltree.data.files.parquet import read_parquet

    # Parquet is read from its end, more than once: a stream is read into memory first.
    return read_parquet([file if file.is_path else _copied(file) for file in files], plan, types, empty)


def _copied(file: File) -> File:
    with file.bytes() as stream:
        return File(file.name, io.BytesIO(stream.read()))
