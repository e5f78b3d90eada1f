"""Traces as short strings: columns of a record over time, small enough for hundreds of records in a page.

A real column becomes two characters per point: 4,093 levels between its smallest and largest finite value, and codes
for ±∞ and missing values. Truth values and categories become one character per step. Records of more than
`
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.panel import MISSING, Panel
from telltree.panel.dates import offset_text
from telltree.report.subject import moment, number

Floats = NDArray[np.float64]
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
    """Return the number of steps of a record that go into one bucket."""
    return 1 if steps <= MOST_POINTS else -(-steps // (MOST_POINTS // 2))


def line(values: Floats) -> Trace:
    """Encode a real column: `v` has two characters per point, between `lo` and `hi` (None: nothing is finite)."""
    return lines([values])[0]


def lines(columns: Sequence[Floats]) -> list[Trace]:
    """Return the same for several records at once, which costs little more than for one."""
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
    """Return two characters for each code."""
    return _text(_PAIRS[codes])


def band(codes: NDArray[Any]) -> str:
    """Encode truth values or indices into at most `MOST_LEVELS` levels: one character per step; negative is missing."""
    width = bucket(len(codes))
    whole = np.asarray(codes, np.int64)
    if width > 1:
        rows = _rows(whole, width, whole[-1])
        whole = np.where((rows == rows[:, :1]).all(axis=1), rows[:, 0], _MIXED)
    return _text(_SINGLES[np.minimum(whole, MOST_LEVELS) - _MIXED])


def _text(characters: NDArray[np.uint8]) -> str:
    return bytes(characters.tobytes()).decode("ascii")


def clock(panel: Panel, record: int) -> Trace:
    """Return the times of a record's points: `t` the first and last, `u` those between if they are not evenly spaced.

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
    """Encode increasing numbers as in `line`, without leaving any out."""
    share = (points - points[0]) / ((points[-1] - points[0]) or 1.0)
    codes = np.round(share * _FINEST).astype(np.int64)
    return _pairs(codes)


def reduced_levels(panel: Panel, name: str) -> tuple[list[str], NDArray[np.int64]]:
    """Return the levels of a categorical column that the page distinguishes, and the index of each level among them.

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
    """Return the smallest and largest value of each bucket, in the order in which they occur."""
    if width == 1:
        return np.asarray(values, np.float64)
    rows = _rows(values, width, np.nan)
    absent = np.isnan(rows)
    least = np.where(absent, np.inf, rows).argmin(axis=1)
    most = np.where(absent, -np.inf, rows).argmax(axis=1)
    places = np.sort(np.stack([least, most], axis=1), axis=1)
    return np.take_along_axis(rows, places, axis=1).ravel()


def _rows(values: NDArray[Any], width: int, fill: Any) -> NDArray[Any]:
    """Return one bucket per row; the last is padded."""
    filled = np.full(-(-len(values) // width) * width, fill, values.dtype)
    filled[: len(values)] = values
    return filled.reshape(-1, width)
