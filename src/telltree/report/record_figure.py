"""The figure of one record: its columns against time, and below them where each formula on its path held."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray

from telltree.engine import Formula
from telltree.engine.three_valued import settled
from telltree.engine.trace import signals_of
from telltree.english import name_of
from telltree.english.styles import check_style
from telltree.errors import DataError, SettingsError
from telltree.explain import Category, Robustness, Style, english, sentence, shown
from telltree.explain.evidence import compares_counts, count_text, counted_conditions
from telltree.explain.sentence import claims_of
from telltree.grammar.resolve import attribute
from telltree.logic import Attribute, Expression, Number, Type, operator_named
from telltree.logic.expression import conjunction, rounded
from telltree.logic.operators import COMPARISONS, COUNT, DISTANCE, MIRRORED, Operator
from telltree.panel import MISSING, UNSEEN, ColumnType, Panel, Schema
from telltree.panel.dates import axis_unit, offset_text
from telltree.panel.how_read import StepLength
from telltree.panel.schema import require_known
from telltree.report.style import (
    BODY,
    BOLD,
    COLOURS,
    FAINT,
    INK,
    LEADING,
    PAPER,
    POINTS,
    QUIET,
    SMALL,
    TITLE,
    Looks,
    add_axes,
    area,
    clipped,
    drawable,
    inches_of,
    legend,
    lines_height,
    name_axis,
    new_figure,
    spread,
    width,
    with_small_pictures,
    wrapped,
    write,
    write_lines,
)
from telltree.text import counted
from telltree.tree.tree import Branch, Tree, UnsureBranch

# ---- What formulas mention: the signals that deserve a pane, their thresholds, and the formulas in few digits.

Wording = Literal["formula", "english"]


def at_least(name: str, value: Any, least: int) -> None:
    """Refuse anything but a whole number of at least this much."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise SettingsError(f"{name} must be a whole number of at least {least}, got {value!r}")


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
    """The columns that formulas mention, in order of appearance, then differences and the like that they compare."""
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
    """The real signal and the constant, if the expression is a stepwise comparison."""
    if not isinstance(e.head, Operator) or e.head not in COMPARISONS or e.type is not Type.BOOLEAN_VECTOR:
        return None
    left, right = e.args
    if isinstance(right.head, Number):
        return left, Threshold(e.head.symbol, right.head.value)
    if isinstance(left.head, Number):
        return right, Threshold(operator_named(MIRRORED[e.head.name]).symbol, left.head.value)
    return None


class FormulaVoice(NamedTuple):
    """How a figure words formulas: as they are written, or in English, and with how many digits."""

    schema: Schema
    text: Wording
    digits: int | None
    missing: Container[str] | None
    """The columns that may miss values, which English must mention (None: any may)."""
    step: StepLength | None
    """The length of a step and its unit, if steps have one."""
    style: Style = "plain"

    def formula(self, e: Expression) -> str:
        """One formula."""
        e = rounded(e, self.digits)
        if self.text == "formula":
            return str(e)
        return with_small_pictures(english(e, self.schema, self.missing, style=self.style, step=self.step))

    def branch(self, branch: Branch) -> str:
        """A branch as a formula that is true; negated where the node's formula is false."""
        return self.formula(claims_of([branch])[0])

    def path(self, branches: Sequence[Branch]) -> str:
        """All branches of a path, without those that follow from the rest."""
        told = [self._rounded(branch) for branch in shown(branches)]
        if self.text == "formula":
            return conjunction(claims_of(told))
        return with_small_pictures(sentence(told, self.schema, self.missing, style=self.style, step=self.step))

    def _rounded(self, branch: Branch) -> Branch:
        formula, truth = branch
        if not isinstance(branch, UnsureBranch) or branch.node.unknown is None:
            return Formula(rounded(formula.expression, self.digits)), truth
        said = Formula(rounded(branch.node.said.expression, self.digits))
        asked = Formula(settled(said.expression, branch.node.unknown.goes))
        return UnsureBranch(replace(branch.node, formula=asked, unknown=replace(branch.node.unknown, said=said)), truth)

    def caption(self, category: Category) -> str:
        """What is true of a category: in plain English its headline, if it has one, else all branches on its path."""
        spoken = category.headline if (self.text, self.style) == ("english", "plain") else None
        return self.path(category.branches) if spoken is None else with_small_pictures(spoken)

    def signal(self, pane: Pane) -> str:
        """What a pane shows, with its unit."""
        if pane.column is None:
            if self.text == "formula":
                return self.formula(pane.signal)
            return with_small_pictures(name_of(rounded(pane.signal, self.digits), self.schema, step=self.step))
        column = self.schema[pane.column]
        name = column.name if self.text == "formula" else column.words
        return f"{name} ({column.unit})" if column.unit else name


def voice(known: Schema | Tree, panel: Panel | None, text: str, digits: int | None, style: Style) -> FormulaVoice:
    """How to speak of formulas over the columns of a schema or a tree.

    Missing values are mentioned only for columns that miss some in the panel; without a panel, for those that did when
    the tree was learned.
    """
    if text not in ("formula", "english"):
        raise SettingsError(f'text must be "formula" or "english", got {text!r}')
    check_style(style)
    if digits is not None:
        at_least("digits", digits, 1)
    wording: Wording = "english" if text == "english" else "formula"
    schema = known.schema if isinstance(known, Tree) else known
    if panel is not None:
        missing = {name for name, count in panel.missing().items() if count}
        return FormulaVoice(schema, wording, digits, missing, panel.step, style)
    missed, step = (known.missing, known.step) if isinstance(known, Tree) else (None, None)
    return FormulaVoice(schema, wording, digits, missed, step, style)


def told_size(category: Category) -> str:
    """How many members a category has, and what they are: `43 records, calm: 3, storm: 40`."""
    size = ", ".join(filter(None, [counted(len(category.positions), "record"), category.sureness.mixed]))
    return "; ".join(filter(None, [size, category.sureness.remark]))


def temporal(e: Expression) -> list[Expression]:
    """The parts of a formula that look along time, without the connectives that join them."""
    if isinstance(e.head, Operator) and e.type is Type.BOOLEAN and all(arg.type is Type.BOOLEAN for arg in e.args):
        return list(dict.fromkeys(part for arg in e.args for part in temporal(arg)))
    return [e]


# ---- Where in a record the parts of its path's formulas held, and what decided. Nothing is drawn here.


class Held(NamedTuple):
    """A part of a branch's formula, in one record."""

    branch: int
    """The number of the branch on the path, from 1."""
    part: Expression
    steps: NDArray[np.bool_]
    """The steps at which the operand of F or G, or what is counted, is true."""
    true: bool
    """Whether the part is true of the record."""
    decisive: int
    """The step that decided the branch."""
    told: str = ""
    """At how many steps it is true, and how many are required; empty if nothing is counted."""
    which: Expression | None = None
    """Which count, if the part has several."""


def held(branches: Sequence[Branch], panel: Panel, record: int, reference: Panel | None = None) -> Iterator[Held]:
    """All parts of all branches; a comparison of several counts once for each count."""
    robustness = Robustness(panel, reference)
    for number, (formula, _) in enumerate(branches, 1):
        parts = temporal(formula.expression)
        looks = {part: counted_conditions(part) if compares_counts(part) else part.args for part in parts}
        followed = [*parts, *(look for several in looks.values() for look in several)]
        evidence = robustness.evidence(formula.expression, [record], follow=followed)
        step = int(evidence.steps[0])
        for part in parts:
            true, counts = bool(evidence.held(part, 0)[0]), compares_counts(part)
            for look in looks[part]:
                told = count_text(part, evidence.count(look, 0)) if counts else ""
                which = Expression(COUNT, (look,)) if len(looks[part]) > 1 else None
                yield Held(number, part, evidence.held(look, 0), true, step, told, which)


# ---- Records against time: lines with gaps where values are missing, and bands of Boolean and categorical values.

Floats = NDArray[np.float64]
Fill = Mapping[int, Mapping[str, Any]]
GAP = 0.1  # inches from one pane to the next
_HUGE = 1e250  # larger numbers are drawn like infinities: arithmetic on axes would overflow
_LONG = 300  # steps; from here on, dots of the usual size would merge
_MOST_HATCHED = 600
_BLANK = {"facecolor": "#F4F4F4", "edgecolor": "#B5B5B5", "hatch": "xxxx", "linewidth": 0.0}


def clock(panel: Panel, record: int) -> Floats:
    """The times of a record's steps, or else their numbers from 0."""
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
        """Whether days are dates that matplotlib can draw: in the years 1 to 9999, with some room on either side."""
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
    """Times as read, or in a larger unit; but records with no moment in common are counted from their starts."""
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
    """What to divide times by that are counted from the records' starts, and the name of the axis."""
    if len(panel) == 0 or panel.times(0) is None:
        return 1.0, "step"
    factor, unit = axis_unit(_longest([clock(panel, record) for record in records]), panel.time_unit)
    return factor, _named("time", unit)


def time_name(panel: Panel) -> str:
    """The name of an axis of times as read."""
    return "step" if len(panel) == 0 or panel.times(0) is None else _named("time", panel.time_unit)


def _named(words: str, unit: str | None) -> str:
    return f"{words} ({unit})" if unit else words


def _longest(times: Sequence[Floats]) -> float:
    return max((float(at[-1] - at[0]) for at in times), default=0.0)


def _apart(times: Sequence[Floats]) -> bool:
    return len(times) > 1 and max(at[0] for at in times) > min(at[-1] for at in times)


def _days(panel: Panel, records: Sequence[int]) -> list[Floats]:
    """The dates of records in days since 1970, by the clock of the first record; empty if they have no dates."""
    found = []
    for record in records:
        dates, offsets = panel.dates(record), panel.offsets(record)
        if dates is not None and offsets is not None:  # clocks that are set back would draw some time twice
            first = panel.offsets(records[0])
            assert first is not None
            dates = dates - (offsets - first[0]).astype("m8[s]")
        if dates is not None:
            found.append(np.asarray(date2num(dates), np.float64))  # type: ignore[no-untyped-call]
    return found


def _set_to(panel: Panel, record: int) -> str | None:
    """The UTC offset of a record's clock at its start, if known."""
    offsets = panel.offsets(record)
    return None if offsets is None else f"UTC{offset_text(int(offsets[0]))}"


def edges(at: Floats) -> Floats:
    """Where each step begins and the last one ends: half-way between neighbours."""
    if len(at) == 1:
        return np.array([at[0] - 0.5, at[0] + 0.5])
    middles = (at[1:] + at[:-1]) / 2
    return np.concatenate([[at[0] - (middles[0] - at[0])], middles, [at[-1] + (at[-1] - middles[-1])]])


def line(ax: Axes, at: Floats, values: Floats, **looks: Any) -> None:
    """A line with gaps at missing values, dots for isolated values, and arrows to infinities."""
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
    """Dashed lines across, with the comparison at their right ends: `> 50`. Call it after setting the limits."""
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
    """One band per row, the first at the top: codes are filled as `fill` says; codes it does not have stay empty."""
    shapes: dict[int, list[list[tuple[float, float]]]] = {}
    for number, (at, codes) in enumerate(rows):
        low, high = len(rows) - 1 - number - thick / 2, len(rows) - 1 - number + thick / 2
        sides = edges(at)
        for start, stop, code in runs(codes):
            left, right = float(sides[start]), float(sides[stop])
            shapes.setdefault(code, []).append([(left, low), (left, high), (right, high), (right, low)])
    plain = sum(map(len, shapes.values())) > _MOST_HATCHED  # so narrow that hatches only blur, and are slow to draw
    for code in sorted(shapes.keys() & fill.keys()):
        looks = {**fill[code], "hatch": None} if plain else dict(fill[code])
        ax.add_collection(PolyCollection(shapes[code], zorder=2, **looks), autolim=False)
    ax.set(ylim=(-0.5, len(rows) - 0.5), yticks=[])
    for spine in ax.spines.values():
        spine.set_visible(False)


def runs(codes: NDArray[Any]) -> list[tuple[int, int, int]]:
    """Steps in a row with one code: the first, the one after the last, and the code."""
    starts = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
    stops = np.concatenate([starts[1:], [len(codes)]])
    return [(int(a), int(b), int(codes[a])) for a, b in zip(starts, stops, strict=True)]


def fill_of(schema: Schema, name: str) -> dict[int, Mapping[str, Any]]:
    """How the codes of a Boolean or categorical column are filled."""
    if schema[name].type is ColumnType.BOOLEAN:
        return {**truth_fill(COLOURS[0]), MISSING: _BLANK}
    levels = {code: area(code) | {"linewidth": 0.0} for code in range(len(schema[name].levels))}
    return {
        **levels,
        MISSING: _BLANK,
        UNSEEN: {"facecolor": FAINT, "edgecolor": QUIET, "hatch": "oo", "linewidth": 0.0},
    }


def truth_fill(colour: str) -> dict[int, Mapping[str, Any]]:
    """How true and false are filled."""
    return {0: {"facecolor": "#EFEFEF", "linewidth": 0.0}, 1: {"facecolor": colour, "linewidth": 0.0}}


def code_names(schema: Schema, name: str) -> dict[int, str]:
    """What the codes of a Boolean or categorical column mean."""
    named = {0: "false", 1: "true"} if schema[name].type is ColumnType.BOOLEAN else dict(enumerate(schema[name].levels))
    return {**named, MISSING: "missing", UNSEEN: "another"}


def name_pane(ax: Axes, words: str, inches: float, away: float = 0.12) -> None:
    """Label the axes at their left, this many inches `away`, in as many lines as fit their height."""
    across, tall = inches_of(ax)
    lines = wrapped(words, inches, BODY, lines=max(1, int(tall * POINTS / (BODY * LEADING) + 0.01)))
    looks = {"transform": ax.transAxes, "ha": "right", "va": "center", "linespacing": LEADING * 0.85}
    write(ax, -away / across, 0.5, "\n".join(lines), **looks)


def stack(figure: Figure, left: float, top: float, width: float, heights: Sequence[float]) -> list[Axes]:
    """Axes one below the other, GAP apart, with a shared time axis; ticks are labelled below the last."""
    made = []
    for height in heights:
        made.append(add_axes(figure, left, top, width, height))
        top += height + GAP
    for ax in made[:-1]:
        ax.tick_params(bottom=False, labelbottom=False)
    return made


def signal_values(panel: Panel, pane: Pane, record: int) -> NDArray[Any]:
    """The values of a pane's signal, step by step; Booleans and categories coded as in the panel."""
    if pane.column is not None:
        return panel.values(pane.column, record)
    start = int(panel.starts[record])
    return signals_of(panel).values(pane.signal)[start : start + int(panel.lengths[record])]


def is_real(schema: Schema, pane: Pane) -> bool:
    """Whether a pane shows numbers, to be drawn as lines."""
    return pane.column is None or schema[pane.column].type is ColumnType.REAL


def hollow(colour: str) -> Looks:
    """Markers that are visible on lines and bands of any colour."""
    return {"markerfacecolor": PAPER, "markeredgecolor": colour, "markeredgewidth": 1.2, "linestyle": "none"}


# ---- The figure of one record: its columns against time, and below them where each formula on its path held.

_WIDE, _LEFT, _RIGHT = 9.5, 2.7, 0.9
_ACROSS = _WIDE - _LEFT - _RIGHT
_MOST_PANES, _KEYS_A_LINE = 16, 5


class _NamedRun(NamedTuple):
    """The name of a category, where there is room for it."""

    middle: float
    words: str


class _Shown(NamedTuple):
    """A pane, and all that is drawn in it."""

    pane: Pane
    words: str
    values: NDArray[Any]
    real: bool
    fill: dict[int, Any]
    runs: list[_NamedRun]
    keys: dict[str, int]
    """The codes that no run has room to name, with their names."""


def plot_record(
    tree: Tree,
    panel: Panel,
    record: int,
    *,
    columns: Iterable[str] | None = None,
    text: Wording = "english",
    digits: int | None = 4,
    style: Style = "plain",
    reference: Panel | None = None,
) -> Figure:
    """Draw one record, given by its position in the panel, and why the tree put it where it did.

    Real columns are lines, Boolean and categorical ones bands: those in `columns`, by default those that the formulas
    on the record's way mention. Below, a band for each formula shows the steps at which the operand of F or G, or what
    is counted, is true, and a diamond its decisive step, measured over `reference` as `decisive_step` does; dotted
    lines carry those steps up to the columns. Beside a band stands whether the formula is true, and what was counted of
    how many. `text="formula"` shows formulas and the names of columns instead of English; constants are shown with so
    many significant `digits` (None: all). `style="paper"` is the paper's English.
    """
    if not 0 <= record < len(panel):
        raise DataError(f"there is no record {record}: the panel has {len(panel)}, counted from 0")
    aligned = panel.aligned(tree.schema)
    speaks = voice(tree.schema, aligned[[record]], text, digits, style)
    number = int(tree.apply(aligned[[record]])[0])
    leaf, branches = tree.leaves[number - 1]
    rows = list(held(branches, aligned, record, reference))
    chosen, left_out = _panes(panel, branches, columns)
    clock = clocks(panel, [record])
    at = clock.times[0]
    drawn = [_shown(pane, aligned if _known(pane, tree) else panel, record, at, speaks) for pane in chosen]
    title = f"record {panel.ids[record]}: [{number}] {leaf.summary.title}"
    note = [f"… and {counted(left_out, 'more signal')} that the formulas mention"] if left_out else []
    said = wrapped(speaks.path(branches), _WIDE - 0.4, BODY, lines=6) + note
    labels = [_label(row, speaks) for row in rows]
    figure, axes = _frame(title, said, drawn, labels)
    for ax, one in zip(axes, drawn, strict=False):
        _draw_pane(ax, one, at, digits)
        _mark_pieces(ax, one, rows, at)
    for ax, row, words in zip(axes[len(drawn) :], rows, labels, strict=True):
        _draw_held(ax, row, at, words)
    for ax in axes:
        ax.set_xlim(*clock.limits)
    if axes:
        clock.name_axis(axes[-1])
        _mark_moments(axes, len(drawn), rows, at)
    return figure


def _label(row: Held, speaks: FormulaVoice) -> str:
    which = "" if row.which is None else f", {speaks.formula(row.which)}"
    return f"{row.branch}: {speaks.formula(row.part)}{which}"


def _known(pane: Pane, tree: Tree) -> bool:
    """Whether the tree knows what a pane shows; otherwise it is only a column of the panel."""
    return pane.column is None or pane.column in tree.schema


def _panes(panel: Panel, branches: Sequence[Branch], columns: Iterable[str] | None) -> tuple[list[Pane], int]:
    """What to draw, and how much is left out."""
    mentioned = panes(formula.expression for formula, _ in branches)
    if columns is None:
        return mentioned[:_MOST_PANES], max(0, len(mentioned) - _MOST_PANES)
    by_name = {pane.column: pane for pane in mentioned}
    names = [columns] if isinstance(columns, str) else list(columns)
    for name in names:
        require_known(name, panel.schema.names, "column")
    return [by_name.get(name, Pane(Expression(attribute(panel.schema[name])), ())) for name in names], 0


def _shown(pane: Pane, panel: Panel, record: int, at: NDArray[np.float64], speaks: FormulaVoice) -> _Shown:
    if pane.column is not None and pane.column not in speaks.schema:
        speaks = speaks._replace(schema=panel.schema)
    words, values = speaks.signal(pane), signal_values(panel, pane, record)
    if is_real(panel.schema, pane):
        return _Shown(pane, words, values, True, {}, [], {})
    assert pane.column is not None
    names, sides, written = code_names(panel.schema, pane.column), edges(at), []
    inch = float(sides[-1] - sides[0]) / _ACROSS
    unnamed = dict.fromkeys(code for _, _, code in runs(values))
    for start, stop, code in runs(values):
        if (sides[stop] - sides[start]) / inch > width(drawable(names[code]), SMALL) + 0.12:
            written.append(_NamedRun(float(sides[start] + sides[stop]) / 2, drawable(names[code])))
            unnamed.pop(code, None)
    if panel.schema[pane.column].type is ColumnType.BOOLEAN:  # grey or not: false or true
        unnamed = {code: None for code in unnamed if code < 0}
    keys = {f"{words} = {names[code]}" if code >= 0 else names[code]: code for code in unnamed}
    return _Shown(pane, words, values, False, fill_of(panel.schema, pane.column), written, keys)


def _frame(
    title: str, said: Sequence[str], drawn: Sequence[_Shown], labels: Sequence[str]
) -> tuple[Figure, list[Axes]]:
    """The figure with its heading, empty axes, and a legend for names that do not fit into the bands."""
    held_lines = [min(4, len(wrapped(words, _LEFT - 0.35, BODY))) for words in labels]
    heights = [1.0 if one.real else 0.34 for one in drawn]
    heights += [max(0.3, lines_height(lines, BODY)) for lines in held_lines]
    keys = {name: one.fill[code] for one in drawn for name, code in one.keys.items()}
    head = 0.15 + lines_height(1, TITLE) + lines_height(len(said), BODY) + 0.3
    foot = 0.55 + 0.18 * -(-len(keys) // _KEYS_A_LINE)
    figure = new_figure(_WIDE, head + sum(heights) + GAP * max(0, len(heights) - 1) + foot)
    top = write_lines(
        figure, 0.2, 0.15, [clipped(title, (_WIDE - 0.4) / BOLD, TITLE)], fontsize=TITLE, fontweight="bold"
    )
    write_lines(figure, 0.2, top, said, color=QUIET)
    if keys:
        place = {"loc": "lower left", "bbox_to_anchor": (0.01, 0.0), "ncols": _KEYS_A_LINE, "columnspacing": 1.0}
        legend(figure, [Patch(**fill) for fill in keys.values()], [clipped(name, 1.4, SMALL) for name in keys], **place)
    return figure, stack(figure, _LEFT, head, _ACROSS, heights)


def _draw_pane(ax: Axes, one: _Shown, at: NDArray[np.float64], digits: int | None) -> None:
    if one.real:
        name_pane(ax, one.words, _LEFT - 0.7, 0.55)
        line(ax, at, one.values)
        fit_height(ax, [one.values], one.pane.thresholds)
        mark_thresholds(ax, one.pane.thresholds, _RIGHT - 0.1, digits)
        return
    name_pane(ax, one.words, _LEFT - 0.35)
    bands(ax, [(at, one.values)], one.fill)
    paper = {"facecolor": "white", "edgecolor": "none", "pad": 1.2, "alpha": 0.85}
    looks = {"ha": "center", "va": "center", "fontsize": SMALL, "bbox": paper, "clip_on": True, "zorder": 4}
    for run in one.runs:
        write(ax, run.middle, 0, run.words, **looks)


def _mark_pieces(ax: Axes, one: _Shown, rows: Sequence[Held], at: NDArray[np.float64]) -> None:
    """The steps that were compared with a shape, up to the decisive one; none where there are several of them."""
    looks: Looks = {"color": COLOURS[2], "linewidth": 5, "alpha": 0.4, "solid_capstyle": "round", "zorder": 2}
    for row in rows:
        steps = {len(e.shape.values) for e in row.part.walk() if e.head is DISTANCE and e.args[0] == one.pane.signal}
        if len(steps) == 1 and row.decisive >= min(steps) - 1:
            piece = slice(row.decisive - min(steps) + 1, row.decisive + 1)
            ax.plot(at[piece], one.values[piece], **looks)


def _draw_held(ax: Axes, row: Held, at: NDArray[np.float64], words: str) -> None:
    name_pane(ax, words, _LEFT - 0.35)
    bands(ax, [(at, row.steps.astype(np.int8))], truth_fill(COLOURS[2]))
    ax.plot([at[row.decisive]], [0], marker="D", markersize=5.5, zorder=5, clip_on=False, **hollow(INK))
    looks = {"transform": ax.transAxes, "va": "center", "ha": "left", "fontsize": SMALL}
    said = f"{'true' if row.true else 'false'}{': ' if row.told else ''}{row.told}"
    write(ax, 1.008, 0.5, "\n".join(wrapped(said, _RIGHT - 0.1, SMALL, lines=3)), **looks)


def _mark_moments(axes: Sequence[Axes], columns: int, rows: Sequence[Held], at: NDArray[np.float64]) -> None:
    """A line through all columns at each decisive step, with the numbers of the branches at the top."""
    moments: dict[int, dict[int, None]] = {}
    for row in rows:
        moments.setdefault(row.decisive, {})[row.branch] = None
    names = [", ".join(map(str, branches)) for branches in moments.values()]
    sides = edges(at)
    inch = float(sides[-1] - sides[0]) / _ACROSS
    gap = inch * (0.08 + max((width(name, SMALL) for name in names), default=0.0))
    for step, name, place in zip(moments, names, spread([float(at[s]) for s in moments], gap), strict=True):
        for ax in axes[:columns]:
            ax.axvline(at[step], color=INK, linewidth=0.8, linestyle=(0, (1, 2)), zorder=3)
        looks = {"transform": axes[0].get_xaxis_transform(), "ha": "center", "va": "bottom", "fontsize": SMALL}
        write(axes[0], place, 1.02, name, **looks)
