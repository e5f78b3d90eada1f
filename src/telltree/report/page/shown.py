"""The records that the page shows in full: examples of every category, then others, as many as fit."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.data import ColumnType, unusable
from telltree.report.page.members import Members, drawn
from telltree.report.page.subject import Subject
from telltree.report.page.text import words
from telltree.report.page.traces import band, clock, line, reduced_levels
from telltree.report.page.ways import Way, ways_of

MOST_RECORDS = 600
MOST_BYTES = 900_000
MOST_LISTED = 560_000  # bytes, for the list of all records
MOST_COLUMNS = 16  # of a record, beside those that its own way mentions


@dataclass(frozen=True)
class ShownColumn:
    """A column as the page knows it."""

    name: str
    type: ColumnType
    static: bool
    levels: list[str]
    places: NDArray[np.int64] | None


class Gallery:
    """Encodes records one by one; columns are numbered as they are met."""

    def __init__(self, subject: Subject) -> None:
        self._subject, self._schema = subject, subject.schema
        self._panel = subject.panel
        self._named = None if subject.labels is None else subject.labels.named()[1]
        self._columns: dict[str, ShownColumn] = {}
        self._number: dict[str, int] = {}
        self._always = tuple(_worth_showing(subject))
        for name in self._always:
            self.column(name)

    def column(self, name: str) -> int:
        """The number of a column in the page."""
        if name not in self._number:
            column = self._panel.schema[name]
            categorical = column.type is ColumnType.CATEGORICAL
            levels, places = reduced_levels(self._panel, name) if categorical else ([], None)
            self._number[name] = len(self._number)
            self._columns[name] = ShownColumn(name, column.type, column.static, levels, places)
        return self._number[name]

    def columns(self) -> list[dict[str, Any]]:
        """What the page must know of the columns met so far."""
        return [
            {
                "name": words(name),
                "words": words(self._schema[name].words),
                "unit": words(self._schema[name].unit or ""),
                "type": column.type.value,
                "levels": [words(level) for level in column.levels],
            }
            for name, column in self._columns.items()
        ]

    def encoded(self, record: int, way: Way, mentioned: Sequence[str]) -> dict[str, Any]:
        """A record: its place in the panel, its category and label, its clock, its columns and its way."""
        names = dict.fromkeys([*mentioned, *self._always])
        return {
            "at": record,
            "id": words(self._panel.ids[record]),
            "category": int(self._subject.clusters[record]),
            "label": None if self._named is None else int(self._named[record]),
            "wrong": bool(self._subject.wrong[record]),
            **clock(self._panel, record),
            "x": {str(self.column(name)): self._trace(name, record) for name in names},
            "way": way,
        }

    def _trace(self, name: str, record: int) -> Any:
        column, values = self._columns[name], self._panel.values(name, record)
        if column.static:
            values = values[:1]
        if column.type is ColumnType.REAL:
            return line(values)
        return band(values if column.places is None else column.places[values])


def _worth_showing(subject: Subject) -> list[str]:
    """The columns of the tree, then others that vary, in the panel's order."""
    used = dict.fromkeys(name for node in subject.tree.nodes for name in node.formula.expression.attributes())
    dull = unusable(subject.panel)
    others = [name for name in subject.panel.schema if name not in used and name not in dull]
    return [*used, *others][:MOST_COLUMNS]


def chosen_records(subject: Subject, members: Sequence[Members], seed: int) -> list[int]:
    """Positions of records in the order in which they are shown while there is room.

    First examples, in turn of each category, so that none is left without; then a random choice of the others.
    """
    ranks = (chain.from_iterable(zip_longest(some.typical, some.exceptions, some.borderline)) for some in members)
    examples = (record for rank in zip_longest(*ranks) for record in rank if record is not None)
    everyone = np.arange(len(subject.panel))
    others = drawn(everyone, MOST_RECORDS, (seed, 0, 3))
    shuffled = np.random.default_rng([seed, 0, 4]).permutation(others)
    return list(dict.fromkeys([*examples, *shuffled.tolist()]))[:MOST_RECORDS]


def records_view(
    subject: Subject, gallery: Gallery, chosen: Sequence[int], mentioned: Sequence[Sequence[str]], *, room: int
) -> list[dict[str, Any]]:
    """The chosen records, encoded, as many as fit into `room` bytes; `mentioned` are the columns of each category."""
    ways = ways_of(subject, chosen)
    found: list[dict[str, Any]] = []
    for record in chosen:
        entry = gallery.encoded(record, ways[record], mentioned[subject.clusters[record] - 1])
        room -= len(json.dumps(entry))
        if room < 0 and found:
            break
        found.append(entry)
    return found


def listing(subject: Subject, seed: int) -> dict[str, Any]:
    """All records with their category and label, or a random choice of as many as fit into `MOST_LISTED` bytes."""
    sizes = [len(json.dumps(words(name))) + 8 for name in subject.panel.ids.tolist()]
    order = np.random.default_rng([seed, 0, 5]).permutation(len(sizes))
    fitting = np.cumsum(np.array(sizes)[order]) <= MOST_LISTED
    kept = np.sort(order[fitting])
    return {
        "ids": [words(name) for name in subject.panel.ids[kept].tolist()],
        "category": subject.clusters[kept].tolist(),
        "label": None if subject.labels is None else subject.labels.named()[1][kept].tolist(),
    }
