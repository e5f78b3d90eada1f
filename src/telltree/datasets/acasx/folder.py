"""The public repository's form of the encounters: one gzipped CSV file each, and one with their labels."""

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.amounts import counted
from telltree.data.schema import listed
from telltree.errors import DataError

META = "_META.csv.gz"
_TRUTHS = {"true": "1", "false": "0", "True": "1", "False": "0"}

Table = tuple[list[str], list[list[str]]]
"""The header, and the cells of each row."""


def read_folder(
    folder: Path, columns: Sequence[str]
) -> tuple[dict[str, NDArray[Any]], NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """All steps of these columns, one record after another; lengths, ids, and which ended in a collision."""
    ids, nmac = _labels(folder / META)
    records = [_record(folder / f"{number}.csv.gz", columns) for number in ids]
    steps = np.concatenate(records)
    lengths = np.array([len(record) for record in records], np.int64)
    return {name: steps[:, place] for place, name in enumerate(columns)}, lengths, ids, nmac


def _labels(path: Path) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    header, rows = _table(path)
    if not rows:
        raise DataError(f"{path}: expected a row for each encounter, found none")
    found = {}
    for name in ("id", "nmac"):
        if name not in header:
            raise DataError(f"{path}: there is no column {name!r}; its columns are {listed(header)}")
        found[name] = _numbers(path, [[row[header.index(name)]] for row in rows])[:, 0]
    if not np.isin(found["nmac"], (0, 1)).all():
        raise DataError(f"{path}: nmac must be true or false, found {listed(np.unique(found['nmac']).tolist())}")
    return found["id"].astype(np.int64), found["nmac"] == 1


def _record(path: Path, columns: Sequence[str]) -> NDArray[np.float64]:
    header, rows = _table(path)
    absent = [name for name in columns if name not in header]
    if absent:
        raise DataError(f"{path}: the columns {listed(absent)} are not there; found {listed(header)}")
    if not rows:
        raise DataError(f"{path}: there is no step in it")
    places = [header.index(name) for name in columns]
    return _numbers(path, [[row[place] for place in places] for row in rows])


def _table(path: Path) -> Table:
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            lines = [[cell.strip().strip('"') for cell in line.split(",")] for line in file if line.strip()]
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from None
    if not lines:
        raise DataError(f"{path}: the file is empty")
    for number, cells in enumerate(lines, 1):
        if len(cells) != len(lines[0]):
            raise DataError(
                f"{path}, line {number}: {counted(len(cells), 'cell')} where the header has {len(lines[0])}"
            )
    return lines[0], lines[1:]


def _numbers(path: Path, rows: list[list[str]]) -> NDArray[np.float64]:
    try:
        return np.array([[_TRUTHS.get(cell, cell) for cell in row] for row in rows], np.float64)
    except ValueError as error:
        raise DataError(f"{path}: there is something else than numbers, true and false: {error}") from None
