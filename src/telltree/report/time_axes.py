"""Axes of time: lines with gaps at missing values, bands of Boolean and categorical values, and thresholds."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.figure import Figure
from numpy.typing import NDArray

from telltree.engine.trace import signals_of
from telltree.logic import Attribute, Expression, Number, Type, operator_named
from telltree.logic.operators import COMPARISONS, MIRRORED, Operator
from telltree.panel import MISSING, UNSEEN, ColumnType, Panel, Schema
from telltree.panel.dates import axis_unit, offset_text
from telltree.report.style import (
    BODY,
    COLOURS,
    FAINT,
    INK,
    LEADING,
    PAPER,
    POINTS,
    QUIET,
    SMALL,
    Looks,
    add_axes,
    area,
    clipped,
    inches_of,
    name_axis,
    spread,
    wrapped,
    write,
)

Floats = NDArray[np.float64]
Fill = Mapping[int, Mapping[str, Any]]
GAP = 0.1  # inches from one pane to the next
_HUGE = 1e250  # larger numbers are drawn like infinities: arithmetic on axes would overflow
_LONG = 300  # steps; from here on, dots of the usual size would merge
_MOST_HATCHED = 600
_BLANK = {"facecolor": "#F4F4F4", "edgecolor": "#B5B5B5", "hatch": "xxxx", "linewidth": 0.0}


class Threshold(NamedTuple):
    """A constant that a signal is compared with, such as `< 5`."""

    symbol: str
    value: float


class Pane(NamedTuple):
    """A signal to draw: a column, or an expression over several."""

    signal: Expression
    thresholds: tuple[Threshold, ...]

    @property
    def column(self) -> str | None:
        """The name of the column, if it is one."""
        return self.signal.head.name if isinstance(self.signal.head, Attribute) else None


def panes(formulas: Iterable[Expression]) -> list[Pane]:
    """Return the columns that formulas mention, in order of appearance, then the expressions that they compare."""
    columns: dict[Expression, dict[Threshold, None]] = {}
    others: dict[Expression, dict[Threshold, None]] = {}
    for e in (part for formula in formulas for part in formula.walk()):
        if isinstance(e.head, Attribute):
            columns.setdefault(e, {})
        compared = _compared(e)
        if compared is not None:
            signal, threshold = compared
            home = columns if isinstance(signal.head, Attribute) else others
            home.setdefault(signal, {})[threshold] = None
    return [Pane(signal, tuple(sorted(found, key=lambda t: t.value))) for signal, found in (columns | others).items()]


def _compared(e: Expression) -> tuple[Expression, Threshold] | None:
    """Return the real signal and the constant, if the expression is a stepwise comparison."""
    if not isinstance(e.head, Operator) or e.head not in COMPARISONS or e.type is not Type.BOOLEAN_VECTOR:
        return None
    left, right = e.args
    if isinstance(right.head, Number):
        return left, Threshold(e.head.symbol, right.head.value)
    if isinstance(left.head, Number):
        return right, Threshold(operator_named(MIRRORED[e.head.name]).symbol, left.head.value)
    return None


def clock(panel: Panel, record: int) -> Floats:
    """Return the times of a record's steps, or else their numbers from 0."""
    times = panel.times(record)
    return np.arange(int(panel.lengths[record]), dtype=np.float64) if times is None else np.asarray(times)


CALENDAR = (-719_162.0, 2_932_896.0)  # the first and the last day, counted from 1970


class Clocks(NamedTuple):
    """The times of several records' steps on one axis, and the name of the axis."""

    times: list[Floats]
    """Steps, times, or days as matplotlib counts them if `dated`."""
    name: str
    dated: bool = False

    @property
    def limits(self) -> tuple[float, float]:
        """From the first step to the last, with half a step on either side."""
        ends = [edges(at) for at in self.times]
        return min(float(at[0]) for at in ends), max(float(at[-1]) for at in ends)

    @property
    def in_calendar(self) -> bool:
        """True if days are dates that matplotlib can draw: in the years 1 to 9999, with some room on either side."""
        first, last = self.limits
        return first - (last - first) / 10 > CALENDAR[0] and last + (last - first) / 10 < CALENDAR[1]

    def name_axis(self, ax: Axes) -> None:
        """Label the horizontal axis, and show dates as dates."""
        if self.dated:
            locator = AutoDateLocator(minticks=3, maxticks=8)  # type: ignore[no-untyped-call]
            ax.xaxis.set_major_locator(locator)
            ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
        name_axis(ax, x=self.name)


def clocks(panel: Panel, records: Sequence[int]) -> Clocks:
    """Return times as read, or in a larger unit; but records with no moment in common are counted from their starts."""
    if len(panel) == 0 or panel.times(0) is None:
        return Clocks([clock(panel, record) for record in records], "step")
    days = _days(panel, records)
    if days and not _apart(days):
        dated = Clocks(days, _named("time", _set_to(panel, records[0])), dated=True)
        if dated.in_calendar:
            return dated
    times = [clock(panel, record) for record in records]
    apart = bool(days) or _apart(times)
    times = [at - at[0] for at in times] if apart else times
    factor, unit = axis_unit(_longest(times), panel.time_unit)
    return Clocks([at / factor for at in times], _named("time since the start" if apart else "time", unit))


def from_starts(panel: Panel, records: Sequence[int]) -> tuple[float, str]:
    """Return the divisor of times that are counted from the records' starts, and the name of the axis."""
    if len(panel) == 0 or panel.times(0) is None:
        return 1.0, "step"
    factor, unit = axis_unit(_longest([clock(panel, record) for record in records]), panel.time_unit)
    return factor, _named("time", unit)


def time_name(panel: Panel) -> str:
    """Return the name of an axis of times as read."""
    return "step" if len(panel) == 0 or panel.times(0) is None else _named("time", panel.time_unit)


def _named(words: str, unit: str | None) -> str:
    return f"{words} ({unit})" if unit else words


def _longest(times: Sequence[Floats]) -> float:
    return max((float(at[-1] - at[0]) for at in times), default=0.0)


def _apart(times: Sequence[Floats]) -> bool:
    return len(times) > 1 and max(at[0] for at in times) > min(at[-1] for at in times)


def _days(panel: Panel, records: Sequence[int]) -> list[Floats]:
    """Return the dates of records in days since 1970, by the clock of the first record; empty if they have no dates."""
    found = []
    for record in records:
        dates, offsets = panel.dates(record), panel.offsets(record)
        if dates is not None and offsets is not None:  # a clock that is set back would repeat some times
            first = panel.offsets(records[0])
            assert first is not None
            dates = dates - (offsets - first[0]).astype("m8[s]")
        if dates is not None:
            found.append(np.asarray(date2num(dates), np.float64))  # type: ignore[no-untyped-call]
    return found


def _set_to(panel: Panel, record: int) -> str | None:
    """Return the UTC offset of a record's clock at its start, if known."""
    offsets = panel.offsets(record)
    return None if offsets is None else f"UTC{offset_text(int(offsets[0]))}"


def edges(at: Floats) -> Floats:
    """Return the start of each step and the end of the last: half-way between neighbours."""
    if len(at) == 1:
        return np.array([at[0] - 0.5, at[0] + 0.5])
    middles = (at[1:] + at[:-1]) / 2
    return np.concatenate([[at[0] - (middles[0] - at[0])], middles, [at[-1] + (at[-1] - middles[-1])]])


def line(ax: Axes, at: Floats, values: Floats, **looks: Any) -> None:
    """Draw a line with gaps at missing values, dots for isolated values, and arrows to infinities."""
    values = np.where(np.abs(values) > _HUGE, np.copysign(np.inf, values), values)
    finite = np.isfinite(values)
    near = np.concatenate([[False], finite, [False]])
    alone = np.flatnonzero(finite & ~near[:-2] & ~near[2:])
    usual: Looks = {
        "linewidth": 1.3,
        "color": COLOURS[0],
        "markersize": 3.0 if len(at) <= _LONG else 1.3,
        "solid_joinstyle": "round",
    }
    looks = usual | looks
    ax.plot(at, values, marker="o", markevery=alone.tolist(), **looks)
    for sign, height, marker in ((1, 0.97, "^"), (-1, 0.03, "v")):
        beyond = at[values == sign * np.inf]
        if len(beyond):
            where = ax.get_xaxis_transform()
            points: Looks = {"color": looks["color"], "marker": marker, "markersize": 4, "linestyle": "none"}
            ax.plot(beyond, np.full(len(beyond), height), transform=where, clip_on=False, **points)


def fit_height(ax: Axes, values: Sequence[Floats], thresholds: Sequence[Threshold] = ()) -> None:
    """Set the limits so that all finite values and thresholds are visible."""
    everything = np.concatenate([*values, [t.value for t in thresholds]]) if values or thresholds else np.zeros(0)
    usable = everything[np.isfinite(everything) & (np.abs(everything) <= _HUGE)]
    if len(usable) == 0:
        ax.set(ylim=(0, 1), yticks=[])
        write(ax, 0.5, 0.5, "no values", transform=ax.transAxes, ha="center", va="center", color=QUIET, fontsize=SMALL)
        return
    low, high = float(usable.min()), float(usable.max())
    room = 0.08 * (high - low) or max(abs(high) * 0.05, 0.5)
    ax.set_ylim(low - room, high + room)


def mark_thresholds(ax: Axes, thresholds: Sequence[Threshold], inches: float, digits: int | None) -> None:
    """Draw dashed lines across, with the comparison at their right ends: `> 50`. Call it after setting the limits."""
    inside = [t for t in thresholds if abs(t.value) <= _HUGE]
    low, high = ax.get_ylim()
    heights = [(t.value - low) / (high - low) for t in inside]
    _, tall = inches_of(ax)
    for threshold, place in zip(inside, spread(heights, SMALL * LEADING / POINTS / tall), strict=True):
        ax.axhline(threshold.value, color=INK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
        words = f"{threshold.symbol} {threshold.value:.{digits or 17}g}"
        looks = {"transform": ax.transAxes, "ha": "left", "va": "center", "fontsize": SMALL}
        write(ax, 1.008, place, clipped(words, inches, SMALL), **looks)


def bands(ax: Axes, rows: Sequence[tuple[Floats, NDArray[Any]]], fill: Fill, thick: float = 0.84) -> None:
    """Draw one band per row, the first at the top, filled by code as in `fill`; codes it does not have stay empty."""
    shapes: dict[int, list[list[tuple[float, float]]]] = {}
    for number, (at, codes) in enumerate(rows):
        low, high = len(rows) - 1 - number - thick / 2, len(rows) - 1 - number + thick / 2
        sides = edges(at)
        for start, stop, code in runs(codes):
            left, right = float(sides[start]), float(sides[stop])
            shapes.setdefault(code, []).append([(left, low), (left, high), (right, high), (right, low)])
    plain = sum(map(len, shapes.values())) > _MOST_HATCHED  # too narrow for hatches, which are slow to draw
    for code in sorted(shapes.keys() & fill.keys()):
        looks = {**fill[code], "hatch": None} if plain else dict(fill[code])
        ax.add_collection(PolyCollection(shapes[code], zorder=2, **looks), autolim=False)
    ax.set(ylim=(-0.5, len(rows) - 0.5), yticks=[])
    for spine in ax.spines.values():
        spine.set_visible(False)


def runs(codes: NDArray[Any]) -> list[tuple[int, int, int]]:
    """Return steps in a row with one code: the first, the one after the last, and the code."""
    starts = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
    stops = np.concatenate([starts[1:], [len(codes)]])
    return [(int(a), int(b), int(codes[a])) for a, b in zip(starts, stops, strict=True)]


def fill_of(schema: Schema, name: str) -> dict[int, Mapping[str, Any]]:
    """Return the fills of the codes of a Boolean or categorical column."""
    if schema[name].type is ColumnType.BOOLEAN:
        return {**truth_fill(COLOURS[0]), MISSING: _BLANK}
    levels = {code: area(code) | {"linewidth": 0.0} for code in range(len(schema[name].levels))}
    return {
        **levels,
        MISSING: _BLANK,
        UNSEEN: {"facecolor": FAINT, "edgecolor": QUIET, "hatch": "oo", "linewidth": 0.0},
    }


def truth_fill(colour: str) -> dict[int, Mapping[str, Any]]:
    """Return the fills of true and false."""
    return {0: {"facecolor": "#EFEFEF", "linewidth": 0.0}, 1: {"facecolor": colour, "linewidth": 0.0}}


def code_names(schema: Schema, name: str) -> dict[int, str]:
    """Return the names of the codes of a Boolean or categorical column."""
    named = {0: "false", 1: "true"} if schema[name].type is ColumnType.BOOLEAN else dict(enumerate(schema[name].levels))
    return {**named, MISSING: "missing", UNSEEN: "another"}


def name_pane(ax: Axes, words: str, inches: float, away: float = 0.12) -> None:
    """Label the axes at their left, this many inches `away`, in as many lines as fit their height."""
    across, tall = inches_of(ax)
    lines = wrapped(words, inches, BODY, lines=max(1, int(tall * POINTS / (BODY * LEADING) + 0.01)))
    looks = {"transform": ax.transAxes, "ha": "right", "va": "center", "linespacing": LEADING * 0.85}
    write(ax, -away / across, 0.5, "\n".join(lines), **looks)


def stack(figure: Figure, left: float, top: float, width: float, heights: Sequence[float]) -> list[Axes]:
    """Return axes one below the other, GAP apart, with a shared time axis; ticks are labelled below the last."""
    made = []
    for height in heights:
        made.append(add_axes(figure, left, top, width, height))
        top += height + GAP
    for ax in made[:-1]:
        ax.tick_params(bottom=False, labelbottom=False)
    return made


def signal_values(panel: Panel, pane: Pane, record: int) -> NDArray[Any]:
    """Return the values of a pane's signal, step by step; Booleans and categories coded as in the panel."""
    if pane.column is not None:
        return panel.values(pane.column, record)
    start = int(panel.starts[record])
    return signals_of(panel).values(pane.signal)[start : start + int(panel.lengths[record])]


def is_real(schema: Schema, pane: Pane) -> bool:
    """Return True if a pane shows numbers, to be drawn as lines."""
    return pane.column is None or schema[pane.column].type is ColumnType.REAL


def hollow(colour: str) -> Looks:
    """Return the looks of markers that are visible on lines and bands of any colour."""
    return {"markerfacecolor": PAPER, "markeredgecolor": colour, "markeredgewidth": 1.2, "linestyle": "none"}
