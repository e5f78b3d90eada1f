"""The records that the page shows: their traces and their decision paths."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.explain.evidence import Evidence, count_text, distance_text, why_unknown_at
from telltree.panel import ColumnType, Panel, unusable
from telltree.report.examples import Members, drawn
from telltree.report.subject import StepwiseOperand, Subject, moment, number, stepwise_operands, words
from telltree.report.traces import band, clock, lines, reduced_levels
from telltree.report.tree_view import spots
from telltree.tree.tree import Node

Floats = NDArray[np.float64]
DecisionPath = list[dict[str, Any]]
MOST_RECORDS = 600
MOST_BYTES = 900_000
MOST_LISTED = 560_000  # bytes, for the list of all records
AT_A_TIME = 64  # records that are encoded together
MOST_COLUMNS = 16  # of a record, beside those that its own path mentions


@dataclass(frozen=True)
class ShownColumn:
    """A column as the page encodes it."""

    name: str
    type: ColumnType
    static: bool
    levels: list[str]
    places: NDArray[np.int64] | None


class Gallery:
    """Encodes records; columns are numbered in the order of their first use."""

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
        """Return the number of a column in the page."""
        return self._number.setdefault(name, len(self._number))

    def _column(self, name: str) -> ShownColumn:
        if name not in self._columns:
            column = self._panel.schema[name]
            categorical = column.type is ColumnType.CATEGORICAL
            levels, places = reduced_levels(self._panel, name) if categorical else ([], None)
            self._columns[name] = ShownColumn(name, column.type, column.static, levels, places)
        return self._columns[name]

    def columns(self) -> list[dict[str, Any]]:
        """Return the facts that the page needs about the columns so far."""
        return [
            {
                "name": words(name),
                "words": words(self._schema[name].words),
                "unit": words(self._schema[name].unit or ""),
                "type": self._column(name).type.value,
                "levels": [words(level) for level in self._column(name).levels],
            }
            for name in self._number
        ]

    def encoded(
        self, records: Sequence[int], paths: Mapping[int, DecisionPath], mentioned: Sequence[Sequence[str]]
    ) -> Iterator[dict[str, Any]]:
        """Yield each record: its place in the panel, its category and label, its clock, its columns and its path.

        `mentioned` are the columns of each category.
        """
        clusters, labels, wrong = self._subject.clusters, self._named, self._subject.wrong
        names = {record: dict.fromkeys([*mentioned[clusters[record] - 1], *self._always]) for record in records}
        traces = {name: self._traces(name, records) for name in dict.fromkeys(chain.from_iterable(names.values()))}
        for place, record in enumerate(records):
            yield {
                "at": record,
                "id": words(self._panel.ids[record]),
                "category": int(clusters[record]),
                "label": None if labels is None else int(labels[record]),
                "wrong": bool(wrong[record]),
                **clock(self._panel, record),
                "x": {str(self.column(name)): traces[name][place] for name in names[record]},
                "way": paths[record],
            }

    def _traces(self, name: str, records: Sequence[int]) -> list[Any]:
        column, values = self._column(name), [self._panel.values(name, record) for record in records]
        if column.static:
            values = [value[:1] for value in values]
        if column.type is ColumnType.REAL:
            return lines(values)
        return [band(value if column.places is None else column.places[value]) for value in values]


def _worth_showing(subject: Subject) -> list[str]:
    """Return the columns of the tree, then others that vary, in the panel's order."""
    used = dict.fromkeys(name for node in subject.tree.nodes for name in node.formula.expression.attributes())
    dull = unusable(subject.panel)
    others = [name for name in subject.panel.schema if name not in used and name not in dull]
    return [*used, *others][:MOST_COLUMNS]


def chosen_records(subject: Subject, members: Sequence[Members], seed: int) -> list[int]:
    """Return the positions of records in the order in which they are shown, as long as there is room.

    First examples, taken in turn from all categories, so that each has some; then a random choice of the others.
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
    """Return as many chosen records, encoded, as fit into `room` bytes.

    `mentioned` are the columns of each category.
    """
    paths = paths_of(subject, chosen)
    found: list[dict[str, Any]] = []
    batches = (chosen[first : first + AT_A_TIME] for first in range(0, len(chosen), AT_A_TIME))
    for entry in chain.from_iterable(gallery.encoded(batch, paths, mentioned) for batch in batches):
        room -= len(json.dumps(entry))
        if room < 0 and found:
            break
        found.append(entry)
    return found


def listing(subject: Subject, seed: int) -> dict[str, Any]:
    """Return all records with category and label, or a random choice of as many as fit into `MOST_LISTED` bytes."""
    sizes = [len(json.dumps(words(name))) + 8 for name in subject.panel.ids.tolist()]
    order = np.random.default_rng([seed, 0, 5]).permutation(len(sizes))
    fitting = np.cumsum(np.array(sizes)[order]) <= MOST_LISTED
    kept = np.sort(order[fitting])
    return {
        "ids": [words(name) for name in subject.panel.ids[kept].tolist()],
        "category": subject.clusters[kept].tolist(),
        "label": None if subject.labels is None else subject.labels.named()[1][kept].tolist(),
    }


# ---- The decision paths of the records.


def paths_of(subject: Subject, records: Iterable[int]) -> dict[int, DecisionPath]:
    """Return the branches of each record from the root to its leaf.

    A branch has the `node` (its index in the tree), `holds` (its truth), the decisive `step` and its `time` (and `date`
    if times were dates), the absolute `margin` (None if infinite; `distance` words it if it is meaningful), and
    `looks`: the steps at which each operand of F, G or count is true, with `counts` for those that are counted. If the
    answer is `unknown`, that is the reason and the routing.
    """
    chosen = np.array(list(records), np.int64)
    found: dict[int, DecisionPath] = {int(record): [] for record in chosen}
    passes = subject.tree.passes_truth(subject.truth[:, chosen])
    for spot, here in zip(spots(subject.tree), passes.T, strict=True):
        if not isinstance(spot.node, Node):
            continue
        evidence, operands = subject.evidence[spot.row], list(stepwise_operands(spot.node.formula.expression))
        for record in chosen[here].tolist():
            step = int(evidence.steps[record])
            turn = {"node": spot.place, "holds": bool(evidence.truth[record]), "step": step}
            entry = _measured(subject.known, evidence, operands, record)
            if subject.unknown[record, spot.place]:
                entry["unknown"] = words(why_unknown_at(spot.node, subject.known[[record]]))
            found[record].append(turn | _when(subject.known, record, step) | entry)
    return found


def _when(panel: Panel, record: int, step: int) -> dict[str, Any]:
    times, date = panel.times(record), panel.date_text(record, step)
    entry = {"time": None if times is None else moment(float(times[step]))}
    return entry if date is None else {**entry, "date": date}


def _measured(panel: Panel, evidence: Evidence, operands: Sequence[StepwiseOperand], record: int) -> dict[str, Any]:
    distance = evidence.distance(record)
    entry: dict[str, Any] = {
        "margin": number(abs(distance.size)),
        "looks": [band(evidence.held(operand.expression, record)) for operand in operands],
    }
    if distance.unit is not None:
        size = distance_text(distance, panel).lstrip("+-")
        entry["distance"] = words(size if distance.unit == "steps" else f"{size} {distance.unit}")
    if any(operand.comparison for operand in operands):
        counts = (
            operand.comparison and count_text(operand.comparison, evidence.count(operand.expression, record))
            for operand in operands
        )
        entry["counts"] = list(counts)
    return entry
