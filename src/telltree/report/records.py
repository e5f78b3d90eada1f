"""The records that the page shows: their traces, their paths, and why each was chosen."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.explain import Category
from telltree.explain.evidence import Evidence, count_text, distance_text, why_unknown_at
from telltree.panel import MISSING, ColumnType, Panel, unusable
from telltree.panel.dates import date_text, offset_text
from telltree.report.subject import Look, Subject, looked_at, moment, number, words
from telltree.report.tree_view import spots
from telltree.tree.tree import Node

# ---- Which members represent a category: typical, borderline and exceptional ones.

POINTS = 32  # points in time at which records are compared
FARTHEST = 4.0  # standard deviations; values farther apart count as this far
POOL = 120  # members among which typical ones are sought
MEASURED = 20_000  # records whose margins are computed, divided among the categories

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Members:
    """Positions of records in the panel, the best example first; no record is in two lists."""

    typical: tuple[int, ...]
    """Members that represent the others; none is an exception."""
    borderline: tuple[int, ...]
    """Members that came nearest to another category; none is an exception."""
    exceptions: tuple[int, ...]
    """Members whose label is none of those that the category is called by."""
    pooled: int
    """How many members the typical ones were chosen from."""
    measured: int
    """How many members the borderline ones were chosen from."""


def all_members(subject: Subject, *, most: int, seed: int) -> list[Members]:
    """For each category up to `most` members of each sort, fewer of small ones; the same seed selects the same."""
    names = {name for category in subject.categories for name in columns_of(category)}
    reals = (name for name in names if subject.known.schema[name].type is ColumnType.REAL)
    spreads = {name: _spread(subject.known, name) for name in reals}
    return [_members(subject, category, spreads, most, seed) for category in subject.categories]


def _members(subject: Subject, category: Category, spreads: Mapping[str, float], most: int, seed: int) -> Members:
    pool = drawn(category.positions, POOL, (seed, category.number, 0))
    measured = drawn(category.positions, max(200, MEASURED // len(subject.categories)), (seed, category.number, 1))
    wrong = category.positions[subject.wrong[category.positions]]
    margins = narrowest(subject, category, measured)
    nearest = measured[np.argsort(margins, kind="stable")] if category.branches else measured[:0]
    half = (len(category.positions) - len(wrong)) // 2  # where members are few, both sorts get some
    borderline = nearest[~np.isin(nearest, wrong)][: min(most, half)]
    taken = np.isin(pool, np.concatenate((wrong, borderline)))
    chosen = medoids(distances(subject.known, columns_of(category), spreads, pool), most, taken)
    return Members(
        typical=tuple(pool[chosen].tolist()),
        borderline=tuple(borderline.tolist()),
        exceptions=tuple(drawn(wrong, most, (seed, category.number, 2)).tolist()),
        pooled=len(pool),
        measured=len(measured),
    )


def drawn(positions: Ints, most: int, seed: Sequence[int]) -> Ints:
    """All positions if there are few, else a random sample, in order."""
    if len(positions) <= most:
        return positions
    return np.sort(np.random.default_rng(list(seed)).choice(positions, most, replace=False))


def columns_of(category: Category) -> tuple[str, ...]:
    """The columns on the path to a category, in order, each once."""
    return tuple(dict.fromkeys(name for formula, _ in category.branches for name in formula.expression.attributes()))


def narrowest(subject: Subject, category: Category, positions: Ints) -> Floats:
    """The smallest absolute margin of each record on the way to its category."""
    evidence = {node.formula: found for node, found in zip(subject.tree.nodes, subject.evidence, strict=True)}
    asked = [np.abs(evidence[formula].robustness[positions]) for formula, _ in category.branches]
    return np.min(asked, axis=0) if asked else np.full(len(positions), np.inf)


def medoids(apart: Floats, most: int, taken: NDArray[np.bool_] | None = None) -> Ints:
    """Records (as indices) that represent all: first the one nearest to all others, then, one by one, those that most
    reduce the distance of the records to their nearest representative. Those `taken` already represent none.
    """
    chosen: list[int] = []
    free = np.ones(len(apart), np.bool_) if taken is None else ~taken
    nearest = np.full(len(apart), np.inf)
    for _ in range(min(most, int(free.sum()))):
        left = np.minimum(apart, nearest).sum(axis=1)  # if this one were added
        left[~free] = np.inf
        left[chosen] = np.inf
        best = int(np.argmin(left))
        chosen.append(best)
        nearest = np.minimum(nearest, apart[best])
    return np.array(chosen, np.int64)


def distances(panel: Panel, columns: Sequence[str], spreads: Mapping[str, float], positions: Ints) -> Floats:
    """How far records are from each other: the sum over columns of the mean over 32 points spread over each record.

    Reals: the absolute difference in standard deviations (`spreads`), at most 4; others, and where either value is
    missing: 1 if they differ, else 0.
    """
    apart = np.zeros((len(positions), len(positions)))
    for name in columns if len(positions) else ():
        values = np.array([_resampled(panel, name, int(i)) for i in positions])
        if name in spreads:
            apart += _apart_reals(values, spreads[name])
        else:
            apart += np.mean(values[:, None] != values[None], axis=2)
    return apart


def _resampled(panel: Panel, name: str, record: int) -> NDArray[np.float64]:
    values = panel.values(name, record)
    return np.asarray(values[np.round(np.linspace(0, len(values) - 1, POINTS)).astype(np.int64)], np.float64)


def _apart_reals(values: Floats, spread: float) -> Floats:
    absent = np.isnan(values)
    with np.errstate(invalid="ignore", over="ignore"):  # ∞ − ∞ has no distance, and an overflow is far
        apart = np.abs(values[:, None] / spread - values[None] / spread)
    same = values[:, None] == values[None]
    apart = np.where(same, 0.0, np.minimum(apart, FARTHEST))
    apart = np.where(absent[:, None] | absent[None], (absent[:, None] != absent[None]).astype(np.float64), apart)
    found: Floats = apart.mean(axis=2)
    return found


def _spread(panel: Panel, name: str) -> float:
    """The standard deviation of a column; 1 if it is 0 or cannot be computed."""
    with np.errstate(over="ignore", invalid="ignore"):
        deviation = panel.statistics(name).spread()
    return deviation if 0 < deviation < np.inf else 1.0


# ---- Traces as short strings: a record's columns over time, small enough for hundreds of records in a page.
#
# A real column becomes two characters per point: 4,093 levels between its smallest and largest finite value, and codes
# for ±∞ and missing values. Truth values and categories become one character per step. Records of more than
# `MOST_POINTS` steps are divided into buckets of equally many steps. Of a real column, the smallest and the largest
# value of each bucket remain, in their order, so that every peak is kept; otherwise a bucket with several values is
# marked as mixed.

MOST_POINTS = 400
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
MOST_LEVELS = 60  # distinguished levels of a categorical column, one character each
GAP, MIXED, OTHER = ".", "*", "!"
_FINEST, _LOW, _HIGH, _GAP = 4092, 4093, 4094, 4095
_MIXED = -9  # no code of a column; those above it and below 0 are gaps
_LETTERS = np.frombuffer(ALPHABET.encode(), np.uint8)
_PAIRS = np.stack([np.repeat(_LETTERS, len(_LETTERS)), np.tile(_LETTERS, len(_LETTERS))], axis=1)
_SINGLES = np.frombuffer((MIXED + GAP * (-1 - _MIXED) + ALPHABET[:MOST_LEVELS] + OTHER).encode(), np.uint8)

Trace = dict[str, Any]


def bucket(steps: int) -> int:
    """How many steps of a record go into one bucket."""
    return 1 if steps <= MOST_POINTS else -(-steps // (MOST_POINTS // 2))


def line(values: Floats) -> Trace:
    """A real column: `v` two characters a point, between `lo` and `hi`, which are None where nothing is finite."""
    return lines([values])[0]


def lines(columns: Sequence[Floats]) -> list[Trace]:
    """The same for several records at once, which costs little more than for one."""
    each = [_extremes(values, bucket(len(values))) for values in columns]
    lengths = np.array([len(points) for points in each])
    begins, points = np.cumsum(lengths) - lengths, np.concatenate(each)
    known = np.isfinite(points)
    low = np.minimum.reduceat(np.where(known, points, np.inf), begins)
    high = np.maximum.reduceat(np.where(known, points, -np.inf), begins)
    low, high = np.where(low <= high, [low, high], np.nan)
    codes = np.where(points == np.inf, _HIGH, np.where(points == -np.inf, _LOW, _GAP))
    record = np.repeat(np.arange(len(each)), lengths)[known]
    span = high / 2 - low / 2  # halves: the range itself may overflow
    share = (points[known] / 2 - low[record] / 2) / np.where(span == 0, 1.0, span)[record]
    codes[known] = np.rint(share * _FINEST)
    text = _pairs(codes)
    return [
        {"lo": number(lowest), "hi": number(highest), "v": text[2 * begin : 2 * (begin + length)]}
        for lowest, highest, begin, length in zip(*(x.tolist() for x in (low, high, begins, lengths)), strict=True)
    ]


def _pairs(codes: NDArray[np.int64]) -> str:
    """Two characters a code."""
    return _text(_PAIRS[codes])


def band(codes: NDArray[Any]) -> str:
    """Truth values or indices into at most `MOST_LEVELS` levels: one character per step; negative is missing."""
    width = bucket(len(codes))
    whole = np.asarray(codes, np.int64)
    if width > 1:
        rows = _rows(whole, width, whole[-1])
        whole = np.where((rows == rows[:, :1]).all(axis=1), rows[:, 0], _MIXED)
    return _text(_SINGLES[np.minimum(whole, MOST_LEVELS) - _MIXED])


def _text(characters: NDArray[np.uint8]) -> str:
    return bytes(characters.tobytes()).decode("ascii")


def clock(panel: Panel, record: int) -> Trace:
    """The times of a record's points: `t` the first and last time, `u` the times between if they are not evenly spaced.

    `d` is the date of time 0, if times were dates: milliseconds since 1970 by the clock of the record, which is set as
    at its start, and its offset from UTC. Without times, or with odd ones, steps are counted from 0 and `t` is None.
    """
    times, steps = panel.times(record), int(panel.lengths[record])
    found: Trace = {"s": steps, "t": None}
    width = bucket(steps)
    if width > 1:
        found["w"] = width
    if times is None or not np.isfinite(times).all() or (np.diff(times) < 0).any():
        return found
    found["t"] = [moment(float(times[0])), moment(float(times[-1]))]
    dates, offsets = panel.dates(record), panel.offsets(record)
    if dates is not None:
        begin = int(dates[0].astype("M8[ms]").astype(np.int64))
        found["d"] = [begin, offset_text(None if offsets is None else int(offsets[0]))]
    even = np.linspace(times[0], times[-1], steps)
    if steps > 2 and np.abs(times - even).max() > 1e-3 * (times[-1] - times[0]) / steps:
        places = np.arange(steps) if width == 1 else np.arange(-(-steps // width) * 2) * width // 2 + width // 4
        found["u"] = line_of_points(times[np.minimum(places, steps - 1)])
    return found


def line_of_points(points: Floats) -> str:
    """Increasing numbers as in `line`, without leaving any out."""
    share = (points - points[0]) / ((points[-1] - points[0]) or 1.0)
    codes = np.round(share * _FINEST).astype(np.int64)
    return _pairs(codes)


def reduced_levels(panel: Panel, name: str) -> tuple[list[str], NDArray[np.int64]]:
    """The levels of a categorical column that the page distinguishes, and the index of each level among them.

    All levels if there are not too many, else the most common; others share one index. The last two entries are for the
    codes −2, which is no level, and −1, missing.
    """
    levels = panel.schema[name].levels
    kept = np.arange(len(levels))
    if len(levels) > MOST_LEVELS:
        codes = panel.stacked(name)
        counts = np.bincount(codes[codes >= 0], minlength=len(levels))
        kept = np.sort(np.argsort(-counts, kind="stable")[:MOST_LEVELS])
    place = np.full(len(levels) + 2, MOST_LEVELS, np.int64)
    place[kept] = np.arange(len(kept))
    place[-1] = MISSING
    return [levels[k] for k in kept], place


def _extremes(values: Floats, width: int) -> Floats:
    """The smallest and largest value of each bucket, in the order in which they occur."""
    if width == 1:
        return np.asarray(values, np.float64)
    rows = _rows(values, width, np.nan)
    absent = np.isnan(rows)
    least = np.where(absent, np.inf, rows).argmin(axis=1)
    most = np.where(absent, -np.inf, rows).argmax(axis=1)
    places = np.sort(np.stack([least, most], axis=1), axis=1)
    return np.take_along_axis(rows, places, axis=1).ravel()


def _rows(values: NDArray[Any], width: int, fill: Any) -> NDArray[Any]:
    """One bucket per row; the last is padded."""
    filled = np.full(-(-len(values) // width) * width, fill, values.dtype)
    filled[: len(values)] = values
    return filled.reshape(-1, width)


# ---- The paths of the records shown: which branches they took, when that was decided, and by how much.

DecisionPath = list[dict[str, Any]]


def ways_of(subject: Subject, records: Iterable[int]) -> dict[int, DecisionPath]:
    """For each record the turns from the root to its leaf.

    A turn has the `node` (its index in the tree), whether it `holds`, the decisive `step` and its `time` (and `date` if
    times were dates), the absolute `margin` (None if infinite; `distance` says it in words if it is meaningful), and
    `looks`: the steps at which each operand of F, G or count is true, with `counts` for those that are counted. If the
    answer is `unknown`, that says why, and what it counts as.
    """
    chosen = np.array(list(records), np.int64)
    found: dict[int, DecisionPath] = {int(record): [] for record in chosen}
    passes = subject.tree.passes_truth(subject.truth[:, chosen])
    for spot, here in zip(spots(subject.tree), passes.T, strict=True):
        if not isinstance(spot.node, Node):
            continue
        evidence, looks = subject.evidence[spot.row], list(looked_at(spot.node.formula.expression))
        for record in chosen[here].tolist():
            step = int(evidence.steps[record])
            turn = {"node": spot.place, "holds": bool(evidence.truth[record]), "step": step}
            told = _measured(subject.known, evidence, looks, record)
            if subject.unknown[record, spot.place]:
                told["unknown"] = words(why_unknown_at(spot.node, subject.known[[record]]))
            found[record].append(turn | _when(subject.known, record, step) | told)
    return found


def _when(panel: Panel, record: int, step: int) -> dict[str, Any]:
    times, date = panel.times(record), date_text(panel, record, step)
    told = {"time": None if times is None else moment(float(times[step]))}
    return told if date is None else {**told, "date": date}


def _measured(panel: Panel, evidence: Evidence, looks: Sequence[Look], record: int) -> dict[str, Any]:
    distance = evidence.distance(record)
    told: dict[str, Any] = {
        "margin": number(abs(distance.size)),
        "looks": [band(evidence.held(look.what, record)) for look in looks],
    }
    if distance.unit is not None:
        size = distance_text(distance, panel).lstrip("+-")
        told["distance"] = words(size if distance.unit == "steps" else f"{size} {distance.unit}")
    if any(look.counts for look in looks):
        counts = (look.counts and count_text(look.counts, evidence.count(look.what, record)) for look in looks)
        told["counts"] = list(counts)
    return told


# ---- The records that the page shows in full: examples of every category, then as many others as fit.

MOST_RECORDS = 600
MOST_BYTES = 900_000
MOST_LISTED = 560_000  # bytes, for the list of all records
AT_A_TIME = 64  # records that are encoded together
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
    """Encodes records; columns are numbered as they are met."""

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
        return self._number.setdefault(name, len(self._number))

    def _column(self, name: str) -> ShownColumn:
        if name not in self._columns:
            column = self._panel.schema[name]
            categorical = column.type is ColumnType.CATEGORICAL
            levels, places = reduced_levels(self._panel, name) if categorical else ([], None)
            self._columns[name] = ShownColumn(name, column.type, column.static, levels, places)
        return self._columns[name]

    def columns(self) -> list[dict[str, Any]]:
        """What the page must know of the columns so far."""
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
        self, records: Sequence[int], ways: Mapping[int, DecisionPath], mentioned: Sequence[Sequence[str]]
    ) -> Iterator[dict[str, Any]]:
        """Each record: its place in the panel, its category and label, its clock, its columns and its way.

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
                "way": ways[record],
            }

    def _traces(self, name: str, records: Sequence[int]) -> list[Any]:
        column, values = self._column(name), [self._panel.values(name, record) for record in records]
        if column.static:
            values = [value[:1] for value in values]
        if column.type is ColumnType.REAL:
            return lines(values)
        return [band(value if column.places is None else column.places[value]) for value in values]


def _worth_showing(subject: Subject) -> list[str]:
    """The columns of the tree, then others that vary, in the panel's order."""
    used = dict.fromkeys(name for node in subject.tree.nodes for name in node.formula.expression.attributes())
    dull = unusable(subject.panel)
    others = [name for name in subject.panel.schema if name not in used and name not in dull]
    return [*used, *others][:MOST_COLUMNS]


def chosen_records(subject: Subject, members: Sequence[Members], seed: int) -> list[int]:
    """Positions of records in the order in which they are shown, as long as there is room.

    First examples, one category after the other in turn, so that each has some; then a random choice of the others.
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
    batches = (chosen[first : first + AT_A_TIME] for first in range(0, len(chosen), AT_A_TIME))
    for entry in chain.from_iterable(gallery.encoded(batch, ways, mentioned) for batch in batches):
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
