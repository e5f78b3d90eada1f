"""Records as what to read, for a process that sees the same files: some bytes a record, whatever their length."""

import warnings
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from telltree.errors import DataError, DataWarning
from telltree.panel.assemble import Options, Origin, Stored
from telltree.panel.how_read import HowRead
from telltree.panel.open_files import File
from telltree.panel.panel import Panel
from telltree.panel.parquet import read_parquet, stored
from telltree.panel.read import declared_types
from telltree.panel.resample import How
from telltree.panel.rows import Roles, Rows, gather
from telltree.panel.schema import ColumnType
from telltree.panel.store import Array


class Piece(NamedTuple):
    """Some rows of a file: `starts` and `counts` of runs, in ascending order."""

    file: Stored
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
    how_read: HowRead
    period: float | None
    """The length of a step, if all records have the same, not only these."""

    def read(self) -> Panel:
        """The records; a DataError if a file is not there, or is not as it was when it was first read."""
        files = [File.at(piece.file.path) for piece in self.pieces]
        for file, piece in zip(files, self.pieces, strict=True):
            if stored(file) != piece.file:
                raise DataError(f"{file.name} has changed since it was read; fit again")
        wanted = [(piece.starts, piece.counts) for piece in self.pieces]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # what is to be said was said when they were first read
            values, _ = read_parquet(files, self.roles.plan, self._types, wanted=wanted)
            parts, _ = gather(Rows(values, self.ids, self.counts.tolist()), self.roles, self.options)
            panel, every = Panel._whole(parts), self.how_read.every
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
