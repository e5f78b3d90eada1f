"""Where the encounters come from: a Parquet file, the public repository's folder, or the sample in the package."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.data import ColumnType, Panel, read
from telltree.data.records.assemble import Parts
from telltree.data.store import Store
from telltree.datasets.acasx.attributes import schema
from telltree.datasets.acasx.folder import META, read_folder
from telltree.datasets.acasx.sample import read_sample
from telltree.datasets.homes import homes
from telltree.errors import DataError

SOURCE = "https://github.com/sisl/GrammarExpts.jl, folder data/datasets/libcas098small_10K"
PARQUET = "encounters.parquet"
BEFORE = 5
"""Seconds before the closest approach at which a cut record ends."""


class Acasx(NamedTuple):
    """Encounters: one record each, and how it ended, "NMAC" or "safe". Unpacks as `panel, y`."""

    panel: Panel
    y: NDArray[np.str_]


class Whole(NamedTuple):
    """Encounters as they were read: every column over all steps, one record after another."""

    columns: Mapping[str, NDArray[Any]]
    """Reals as floats, Booleans as 0 and 1."""
    lengths: NDArray[np.int64]
    ids: NDArray[np.int64]
    nmac: NDArray[np.bool_]


def load_acasx(path: str | os.PathLike[str] | None = None, cut: bool = True) -> Acasx:
    """Read encounters of two aircraft, 77 attributes once a second; 863 of the 10,000 end in a near mid-air collision.

    path: the file `encounters.parquet` (columns encounter, t, nmac and the attributes), the folder of the public
        repository with one `N.csv.gz` an encounter and `_META.csv.gz`, or a folder that contains either. Without a
        path, a sample of 2,000 that comes with telltree: stratified, numbers rounded to thousandths.
    cut: end each record more than five seconds before the closest approach, as for the paper's table: what comes later
        gives the end away. False: all 50 seconds.

    Ids are the numbers of the encounters. DataError if there are no such data.
    """
    whole = _sample() if path is None else _read(Path(path))
    lengths = _cut_lengths(whole) if cut else whole.lengths
    kept = _first_steps(whole.lengths, lengths)
    known = schema()
    columns = {
        name: np.asarray(whole.columns[name][kept], np.float64 if column.type is ColumnType.REAL else np.int8)
        for name, column in known.items()
    }
    panel = Panel._whole(Parts(known, Store(lengths, columns, {}), whole.ids, 1.0, "s", ()))
    return Acasx(panel, np.where(whole.nmac, "NMAC", "safe"))


def find_acasx() -> Path | None:
    """The whole data, where the user keeps data sets ($TELLTREE_DATA, or the user's data folder); None if not there."""
    return next((home for home in homes() if any(place.is_file() for place in _files(home))), None)


def _sample() -> Whole:
    columns, ids, nmac = read_sample()
    steps = len(next(iter(columns.values()))) // len(ids)
    return Whole(columns, np.full(len(ids), steps), ids, nmac)


def _read(path: Path) -> Whole:
    for place in _files(path):
        if place.is_file() and place.name == META:
            return Whole(*read_folder(place.parent, tuple(schema())))
        if place.is_file():
            return _read_parquet(place)
    told = "" if path.exists() else ", which does not exist"
    raise DataError(
        f"no aircraft encounters in {path}{told}: expected {PARQUET}, or a folder with {META} and files such as "
        f"1.csv.gz; they are public: {SOURCE}. Without a path, a sample is read that comes with telltree"
    )


def _files(path: Path) -> list[Path]:
    """The files that may hold the encounters, given a path: the file itself, or the first file to read in a folder."""
    names = (PARQUET, META, f"acasx/{PARQUET}", f"libcas098small_10K/{META}")
    return [path, *(path / name for name in names)]


def _read_parquet(path: Path) -> Whole:
    names = list(schema())
    panel, y = read(path, id="encounter", time="t", label="nmac", columns=names)
    if y is None or not set(np.unique(y).tolist()) <= {True, False}:
        raise DataError(f"{path}: the column nmac must be true or false")
    columns = {name: panel.stacked(name) for name in names}
    return Whole(columns, np.asarray(panel.lengths), np.asarray(panel.ids, np.int64), np.asarray(y, np.bool_))


def _cut_lengths(whole: Whole) -> NDArray[np.int64]:
    """How many steps lie more than BEFORE seconds before the closest approach; all of a record that was already cut.

    The closest approach is where vertical separation plus a fifth of the horizontal range is smallest, the authors'
    measure.
    """
    apart = whole.columns["abs_alt_diff"] + whole.columns["horizontal_range"] / 5
    starts = np.cumsum(whole.lengths) - whole.lengths
    records = (apart[start : start + length] for start, length in zip(starts, whole.lengths, strict=True))
    closest = np.array([int(np.argmin(steps)) for steps in records], np.int64)
    passed = closest < whole.lengths - 1  # otherwise the record ends while the two still approach
    return np.where(passed, np.maximum(closest - BEFORE, 1), whole.lengths)


def _first_steps(lengths: NDArray[np.int64], kept: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which rows are among the first `kept` of their record."""
    step = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    among: NDArray[np.bool_] = step < np.repeat(kept, lengths)
    return among
