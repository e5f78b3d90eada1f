"""Paths, directories and globs -> the files to read."""

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from telltree.data.files.opening import File
from telltree.data.schema import listed
from telltree.errors import DataError

TABLES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".pq")


def is_path(source: object) -> bool:
    """Whether a source is a path."""
    return isinstance(source, str | os.PathLike)


def files_of(source: Any) -> tuple[list[File], bool]:
    """Return the files of a path, a directory, a glob or a list of these, and whether there may be many.

    The files of a directory or a glob come in order of their names.
    """
    if not is_path(source):
        return [file for path in source for file in files_of(path)[0]], True
    path = os.fsdecode(source)
    if os.path.isdir(path):
        return _inside(path), True
    if path == "-" or os.path.exists(path) or not glob.has_magic(path):
        return [File.at(path)], False
    matches = sorted(match for match in glob.glob(path, recursive=True) if os.path.isfile(match))
    if not matches:
        raise DataError(f"there are no records: no file matches {path!r}")
    return [File.at(match) for match in matches], True


def _inside(path: str) -> list[File]:
    try:
        found = [entry for entry in sorted(os.listdir(path)) if _suffix(entry) and not entry.startswith(".")]
    except OSError as error:
        raise DataError(f"cannot read the directory {path!r}: {error.strerror}") from None
    if not found:
        raise DataError(f"there are no records: the directory {path!r} has no file ending in {', '.join(TABLES)}")
    return [File.at(os.path.join(path, entry)) for entry in found]


def without(files: list[File], other: Any) -> list[File]:
    """Leave out the file that is `other`: the labels may lie beside the records."""
    if not is_path(other) or not os.path.exists(other):
        return files
    return [file for file in files if not (file.is_path and os.path.samefile(file.target, other))]


def record_ids(files: Sequence[File]) -> list[str]:
    """Return the names of files, without directory and suffix; two alike are a DataError."""
    ids: dict[str, File] = {}
    for file in files:
        name = Path(file.target).name
        name = name[: len(name) - len(_suffix(name) or Path(name).suffix)]
        if name in ids:
            raise DataError(f"two files stand for the record {name!r}: {ids[name].name} and {file.name}; rename one")
        ids[name] = file
    return list(ids)


def require_one_kind(files: Sequence[File], kinds: Sequence[bool]) -> bool:
    """Whether all files are Parquet, given whether each is; a mixture is a DataError."""
    if not all(kinds) and any(kinds):
        shown = listed([file.target for file in (files[list(kinds).index(True)], files[list(kinds).index(False)])])
        raise DataError(f"some files are Parquet and some are not: {shown}; choose one kind by a glob")
    return all(kinds)


def _suffix(name: str) -> str:
    return next((suffix for suffix in sorted(TABLES, key=len, reverse=True) if name.lower().endswith(suffix)), "")
