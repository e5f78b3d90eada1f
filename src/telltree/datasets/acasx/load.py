"""The paper's encounters: from a Parquet file, the public repository's folder, or the sample in the package."""

import gzip
import io
import lzma
import os
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.datasets.data_folders import data_folders
from telltree.errors import DataError
from telltree.panel import Column, ColumnType, Panel, Schema, read
from telltree.panel.panel_data import PanelData
from telltree.panel.schema import listed
from telltree.panel.store import Store
from telltree.text import counted

# ---- The 77 attributes of an encounter: the English for each, what it measures, and useful thresholds.
#
# The one-bit codes are those that a collision avoidance system sends to its display and to the other aircraft; which
# bit means what was read off the data: `cc` counts 1 clear of conflict, 4 corrective upwards, 5 corrective downwards,
# 6 preventive; `vc` 1 crossing, 2 reversal, 3 increase, 4 maintain; `ua` and `da` 1 climb or descend, 2 do not descend
# or do not climb; the first of three bits counts 4. `vrc` has one bit for each of its three values.

KINDS: dict[str, tuple[str | None, tuple[float, ...]]] = {  # unit, and the constants of the authors' grammar
    "vertical rate": ("ft/s", (-50, -40, -30, -20, -10, -1, 0, 1, 10, 20, 30, 40, 50)),
    "vertical distance": (
        "ft",
        (-2000, -1500, -1000, -500, -250, -100, -50, -25, -10, -5, -1, 0, 1, 5, 10, 25, 50, 100, 250, 500, 1000, 1500,
         2000),
    ),
    "vertical separation": ("ft", (0, 1, 5, 10, 25, 50, 100, 250, 500, 1000, 1500, 2000)),
    "heading": ("°", (-180, -135, -90, -45, 0, 45, 90, 135, 180)),
    "bearing": ("°", (-180, -135, -90, -45, 0, 45, 90, 135, 180)),
    "range": ("ft", (0, 1, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 7500, 10000, 15000, 20000, 25000, 30000)),
    "time": ("s", (0, 1, 2, 3, 4, 5)),
    "turn rate": ("°/s", tuple(range(-10, 11))),
    "airspeed": ("ft/s", (50, 75, 100, 150, 200, 250, 300, 350, 400, 450, 500)),
    "altitude": ("ft", (1000, 2000, 3000, 5000, 10000, 15000, 18000, 20000, 25000, 29000)),
    "threat score": (None, (100, 200, 300, 400, 500, 800, 1200)),
}  # fmt: skip

_OF_AIRCRAFT: tuple[tuple[str, str, str], ...] = (
    # In the order of the data. Numbers: kind and phrase. Truths: phrase, and the phrase for when it is false. {0} is
    # the aircraft, {1} the other one.
    ("RA", "advisory {0} is active", "advisory {0} is not active"),
    ("vert_rate", "vertical rate", "vertical rate of aircraft {0}"),
    ("alt_diff", "vertical distance", "height of aircraft {1} over aircraft {0}"),
    ("psi", "heading", "heading of aircraft {0}"),
    ("intr_sr", "range", "slant range seen from aircraft {0}"),
    ("intr_chi", "bearing", "bearing of aircraft {1} from aircraft {0}"),
    ("intr_vrc0", "aircraft {0} is told nothing by aircraft {1}", "aircraft {0} is told something by aircraft {1}"),
    ("intr_vrc1", "aircraft {0} is told not to pass below", "aircraft {0} is not told not to pass below"),
    ("intr_vrc2", "aircraft {0} is told not to pass above", "aircraft {0} is not told not to pass above"),
    ("cc0", "advisory {0} is corrective/preventive", "advisory {0} is not corrective/preventive"),
    ("cc1", "advisory {0} is preventive", "advisory {0} is not preventive"),
    ("cc2", "advisory {0} is clear of conflict or downwards and corrective",
     "advisory {0} is neither clear of conflict nor downwards and corrective"),
    ("vc0", "advisory {0} is to maintain the rate", "advisory {0} does not ask to maintain the rate"),
    ("vc1", "advisory {0} is to reverse/increase", "advisory {0} does not ask to reverse/increase"),
    ("vc2", "advisory {0} is to cross/increase", "advisory {0} does not ask to cross/increase"),
    ("ua0", "advisory {0} is to limit the descent", "advisory {0} does not ask to limit the descent"),
    ("ua1", "advisory {0} is against descending", "advisory {0} allows descending"),
    ("ua2", "advisory {0} is to climb", "advisory {0} does not ask to climb"),
    ("da0", "advisory {0} is to limit the climb", "advisory {0} does not ask to limit the climb"),
    ("da1", "advisory {0} is against climbing", "advisory {0} allows climbing"),
    ("da2", "advisory {0} is to descend", "advisory {0} does not ask to descend"),
    ("target_rate", "vertical rate", "rate advised to aircraft {0}"),
    ("crossing", "advisory {0} is crossing", "advisory {0} is not crossing"),
    ("alarm", "alarm {0} sounds", "alarm {0} is silent"),
    ("alert", "aircraft {0} has a traffic alert", "aircraft {0} has no traffic alert"),
    ("intr_out_vrc0", "aircraft {0} tells aircraft {1} nothing", "aircraft {0} tells aircraft {1} something"),
    ("intr_out_vrc1", "aircraft {0} tells the other not to pass below",
     "aircraft {0} does not tell the other not to pass below"),
    ("intr_out_vrc2", "aircraft {0} tells the other not to pass above",
     "aircraft {0} does not tell the other not to pass above"),
    ("intr_out_tds", "threat score", "threat score aboard aircraft {0}"),
    # true while there is no advisory, and during the delay before the response to the first one
    ("response_none", "pilot {0} flies as planned", "pilot {0} responds to an advisory"),
    ("response_stay", "pilot {0} stays with the earlier advisory", "pilot {0} does not stay with the earlier advisory"),
    ("response_follow", "pilot {0} follows the advisory", "pilot {0} does not follow the advisory"),
    ("response_timer", "time", "response time left to pilot {0}"),
    ("response_h_d", "vertical rate", "rate commanded by pilot {0}"),
    ("response_psi_d", "turn rate", "turn rate commanded by pilot {0}"),
    ("v", "airspeed", "airspeed of aircraft {0}"),
    ("h", "altitude", "altitude of aircraft {0}"),
)  # fmt: skip
_OF_BOTH: tuple[tuple[str, str, str], ...] = (
    ("converging", "the aircraft are converging", "the aircraft are not converging"),
    ("abs_alt_diff", "vertical separation", "vertical separation"),
    ("horizontal_range", "range", "horizontal range"),
)


def schema() -> Schema:
    """Return the columns: those of aircraft 1, of aircraft 2, and of both."""
    ours = [_column(f"{row[0]}_1", row, 1, 2) for row in _OF_AIRCRAFT]
    theirs = [_column(f"{row[0]}_2", row, 2, 1) for row in _OF_AIRCRAFT]
    return Schema([*ours, *theirs, *(_column(row[0], row, 1, 2) for row in _OF_BOTH)])


def _column(name: str, row: tuple[str, str, str], own: int, other: int) -> Column:
    _, first, second = row
    if first in KINDS:
        unit, thresholds = KINDS[first]
        phrase = second.format(own, other)
        return Column(name, ColumnType.REAL, kind=first, unit=unit, phrase=phrase, thresholds=thresholds)
    phrase, negated = first.format(own, other), second.format(own, other)
    return Column(name, ColumnType.BOOLEAN, phrase=phrase, negated=negated)


# ---- The public repository's form of the encounters: one gzipped CSV file each, and one with their labels.

META = "_META.csv.gz"
_TRUTHS = {"true": "1", "false": "0", "True": "1", "False": "0"}

Table = tuple[list[str], list[list[str]]]
"""The header, and the cells of each row."""


def read_folder(
    folder: Path, columns: Sequence[str]
) -> tuple[dict[str, NDArray[Any]], NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Read these columns, one record after another; return them, lengths, ids, and flags of collisions."""
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


# ---- The sample of encounters that comes with telltree, and how it is packed.
#
# Numbers are integer thousandths, stored as second differences, byte by byte: most bytes are 0, which compresses well.
# Truth values are bits.

STEPS = 50
_UNIT = 1000.0  # thousandths
_FILE = "sample.npz.xz"

Columns = dict[str, NDArray[Any]]


def read_sample() -> tuple[Columns, NDArray[np.int64], NDArray[np.bool_]]:
    """Return the columns over all steps, the numbers of the encounters, and flags of collisions."""
    return unpacked((files("telltree.datasets.acasx") / _FILE).read_bytes())


def packed(columns: Columns, ids: NDArray[np.int64], nmac: NDArray[np.bool_]) -> bytes:
    """Pack encounters of 50 steps; columns of type bool or int8 are Boolean, all others numbers."""
    arrays: Columns = {"ids": ids.astype(np.int32), "nmac": nmac}
    for name, values in columns.items():
        if values.dtype in (np.bool_, np.int8):
            arrays[f"truth {name}"] = np.packbits(values.astype(np.bool_))
        else:
            whole = np.rint(values * _UNIT).astype(np.int64).reshape(-1, STEPS)
            change = np.diff(np.diff(whole, axis=1, prepend=0), axis=1, prepend=0).astype("<i4")
            arrays[f"number {name}"] = change.view(np.uint8).reshape(-1, 4).T
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays)
    return lzma.compress(file.getvalue(), preset=9 | lzma.PRESET_EXTREME)


def unpacked(content: bytes) -> tuple[Columns, NDArray[np.int64], NDArray[np.bool_]]:
    """Return the arguments of `packed`, with numbers rounded to thousandths."""
    with np.load(io.BytesIO(lzma.decompress(content)), allow_pickle=False) as arrays:
        ids, nmac = arrays["ids"].astype(np.int64), arrays["nmac"]
        columns: Columns = {}
        for key in arrays.files:
            kind, _, name = key.partition(" ")
            if kind == "truth":
                columns[name] = np.unpackbits(arrays[key], count=len(ids) * STEPS)
            elif kind == "number":
                change = np.ascontiguousarray(arrays[key].T).view("<i4").reshape(-1, STEPS)
                columns[name] = (change.astype(np.int64).cumsum(axis=1).cumsum(axis=1) / _UNIT).reshape(-1)
    return columns, ids, nmac


# ---- Where the encounters come from: a Parquet file, the public repository's folder, or the sample in the package.

SOURCE = "https://github.com/sisl/GrammarExpts.jl, folder data/datasets/libcas098small_10K"
PARQUET = "encounters.parquet"
BEFORE = 5
"""Seconds between the end of a cut record and the closest approach."""


class Acasx(NamedTuple):
    """Encounters: one record each, and how it ended, "NMAC" or "safe". Unpacks as `panel, y`."""

    panel: Panel
    y: NDArray[np.str_]


class EncounterTable(NamedTuple):
    """Encounters as arrays: each column over all steps, one record after another."""

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
    panel = Panel._of(PanelData(known, Store(lengths, columns, {}), whole.ids, 1.0, "s", ()))
    return Acasx(panel, np.where(whole.nmac, "NMAC", "safe"))


def find_acasx() -> Path | None:
    """Return the folder with all encounters, in $TELLTREE_DATA or the user's data folder; None if there is none."""
    return next((folder for folder in data_folders() if any(place.is_file() for place in _files(folder))), None)


def _sample() -> EncounterTable:
    columns, ids, nmac = read_sample()
    steps = len(next(iter(columns.values()))) // len(ids)
    return EncounterTable(columns, np.full(len(ids), steps), ids, nmac)


def _read(path: Path) -> EncounterTable:
    for place in _files(path):
        if place.is_file() and place.name == META:
            return EncounterTable(*read_folder(place.parent, tuple(schema())))
        if place.is_file():
            return _read_parquet(place)
    not_there = "" if path.exists() else ", which does not exist"
    raise DataError(
        f"no aircraft encounters in {path}{not_there}: expected {PARQUET}, or a folder with {META} and files such as "
        f"1.csv.gz; they are public: {SOURCE}. Without a path, a sample is read that comes with telltree"
    )


def _files(path: Path) -> list[Path]:
    """Return the files that may hold the encounters: the given path itself, or the usual names in it."""
    names = (PARQUET, META, f"acasx/{PARQUET}", f"libcas098small_10K/{META}")
    return [path, *(path / name for name in names)]


def _read_parquet(path: Path) -> EncounterTable:
    names = list(schema())
    panel, y = read(path, id="encounter", time="t", label="nmac", columns=names)
    if y is None or not set(np.unique(y).tolist()) <= {True, False}:
        raise DataError(f"{path}: the column nmac must be true or false")
    columns = {name: panel.stacked(name) for name in names}
    return EncounterTable(columns, np.asarray(panel.lengths), np.asarray(panel.ids, np.int64), np.asarray(y, np.bool_))


def _cut_lengths(whole: EncounterTable) -> NDArray[np.int64]:
    """Return the number of steps more than BEFORE seconds before the closest approach; all steps of cut records.

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
    """Return a mask of the first `kept` rows of each record."""
    step = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    among: NDArray[np.bool_] = step < np.repeat(kept, lengths)
    return among
