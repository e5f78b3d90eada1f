"""The figures of categories: members overlaid, and a collage of their first members."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from telltree.checks import require_whole
from telltree.errors import DataError, SettingsError
from telltree.explain import Category, Style, categorize, decisive_steps
from telltree.explain.sentence import shown
from telltree.panel import ColumnType, Panel, Schema
from telltree.report.figure_wording import FormulaWording, Wording, formula_wording, size_text
from telltree.report.style import (
    BODY,
    BOLD,
    INK,
    QUIET,
    SMALL,
    TITLE,
    Looks,
    add_axes,
    clipped,
    legend,
    lines_height,
    mark_style,
    new_figure,
    stroke,
    tidy,
    wrapped,
    write,
    write_lines,
)
from telltree.report.time_axes import (
    GAP,
    Clocks,
    Pane,
    bands,
    clock,
    clocks,
    code_names,
    edges,
    fill_of,
    fit_height,
    from_starts,
    hollow,
    is_real,
    line,
    mark_thresholds,
    name_pane,
    panes,
    signal_values,
    stack,
)
from telltree.text import counted
from telltree.tree.target import Labels
from telltree.tree.tree import Branch, Tree

# ---- The figure of a category: its members overlaid, in the signals that its formulas mention.

_WIDE, _LEFT, _RIGHT = 9.5, 2.4, 1.5
_ACROSS = _WIDE - _LEFT - _RIGHT
_MOST_PANES, _MOST_LEVELS = 16, 6


class _Members(NamedTuple):
    """The records to draw, the times of their steps, their styles, and the decisive steps of each branch."""

    panel: Panel
    records: list[int]
    clocks: Clocks
    looks: list[int]
    own: int
    """The style number of the predicted part, whose lines are not dashed."""
    branches: tuple[Branch, ...]
    decisive: list[NDArray[np.int64]]

    def style(self, number: int) -> Any:
        """Return the dash pattern of a line."""
        return "-" if number == self.own else mark_style(max(1, number)).line


def plot_category(
    tree: Tree,
    panel: Panel,
    y: Any = None,
    number: int = 1,
    *,
    text: Wording = "english",
    digits: int | None = 4,
    style: Style = "plain",
    most: int = 50,
    reference: Panel | None = None,
) -> Figure:
    """Draw the members of category `number` among the records of a panel, at `most` this many.

    There is a pane for each signal that the category's formulas mention: real ones as lines over each other, coloured
    by their labels `y` if these are given, with a dashed line at each threshold; Boolean and categorical ones with a
    row for each member, in the panel's order. Markers show the decisive step of each formula in each member, measured
    over `reference` as `decisive_step` does. Records that have no moment in common are counted each from its own start.
    `style="paper"` is the paper's English, without headlines.
    """
    require_whole("most", most, 1)
    require_whole("number", number, 1)
    if number > len(tree.leaves):
        raise SettingsError(f"number must be that of a category, 1 to {len(tree.leaves)}, got {number!r}")
    aligned = panel.aligned(tree.schema)
    labels = None if y is None else tree.target.read(y, panel)
    category = categorize(tree, aligned, y)[number - 1]
    wording = formula_wording(tree.schema, aligned, text, digits, style)
    members = _members(aligned, category, labels, most=most, reference=reference)
    mentioned = panes(formula.expression for formula, _ in members.branches)
    chosen = mentioned[:_MOST_PANES] if members.records else []
    figure, axes = _frame(category, wording, members, chosen)
    for ax, pane in zip(axes, chosen, strict=True):
        _draw_pane(ax, pane, members, wording)
    if axes:
        members.clocks.name_axis(axes[-1])
    if labels is not None:
        _name_parts(figure, labels.target.parts, members)
    return figure


def _members(
    panel: Panel, category: Category, labels: Labels | None, *, most: int, reference: Panel | None
) -> _Members:
    records = [int(i) for i in category.positions[:most]]
    branches = tuple(shown(category.branches))
    decisive = [decisive_steps(formula, panel, records, reference=reference or panel) for formula, _ in branches]
    own = category.summary.part
    looks = [own] * len(records) if labels is None else labels.parts[records].tolist()
    return _Members(panel, records, clocks(panel, records), looks, own, branches, decisive)


def _frame(
    category: Category, wording: FormulaWording, members: _Members, chosen: Sequence[Pane]
) -> tuple[Figure, list[Axes]]:
    """Return the figure with heading and empty axes, and below them the key of the markers."""
    schema, drawn = members.panel.schema, len(members.records)
    carpet = float(np.clip(0.14 * drawn, 0.3, 1.4))
    heights = [1.15 if is_real(schema, pane) else max(carpet, _key_height(schema, pane)) for pane in chosen]
    size = size_text(category)
    part = f"; the first {drawn} are drawn" if drawn < len(category.positions) else ""
    caption = wrapped(wording.caption(category), _WIDE - 0.4, BODY, lines=6)
    head = 0.15 + lines_height(1, TITLE) + lines_height(1 + len(caption), BODY) + 0.15
    marks = len(members.branches) if drawn else 0
    foot = 0.5 + 0.19 * marks
    figure = new_figure(_WIDE, head + max(0.3, sum(heights) + GAP * max(0, len(heights) - 1)) + foot)
    title = clipped(f"[{category.number}] {category.title}", (_WIDE - 3) / BOLD, TITLE)
    top = write_lines(figure, 0.2, 0.15, [title], fontsize=TITLE, fontweight="bold")
    top = write_lines(figure, 0.2, top, caption, color=QUIET)
    write_lines(figure, 0.2, top, [clipped(size + part, _WIDE - 0.4, BODY)])
    if not drawn:
        write_lines(figure, 0.2, head + 0.1, ["none of these records comes here"], color=QUIET)
    elif marks:
        decided = [f"decided: {wording.branch(branch)}" for branch in members.branches]
        names = [clipped(words, _WIDE - 0.8, SMALL) for words in decided]
        legend(figure, [_mark(i) for i in range(marks)], names, loc="lower left", bbox_to_anchor=(0.01, 0.0))
    return figure, stack(figure, _LEFT, head, _ACROSS, heights)


def _key_height(schema: Schema, pane: Pane) -> float:
    """Return the height that the key of a Boolean or categorical column may take."""
    assert pane.column is not None
    return 0.14 * min(_MOST_LEVELS + 1, len(schema[pane.column].levels) + 2)


def _mark(number: int) -> Line2D:
    return Line2D([], [], marker=mark_style(number).marker, markersize=5, **hollow(INK))


def _draw_pane(ax: Axes, pane: Pane, members: _Members, wording: FormulaWording) -> None:
    schema, times = members.panel.schema, members.clocks.times
    values = [signal_values(members.panel, pane, record) for record in members.records]
    real = is_real(schema, pane)
    name_pane(ax, wording.signal(pane), _LEFT - (0.75 if real else 0.35), 0.55 if real else 0.12)
    if real:
        faint = float(np.clip(9 / len(values), 0.35, 0.95))
        for at, one, number in zip(times, values, members.looks, strict=True):
            line(ax, at, one, color=mark_style(number).ink, linestyle=members.style(number), alpha=faint, linewidth=1.1)
        fit_height(ax, values, pane.thresholds)
        mark_thresholds(ax, pane.thresholds, 0.8, wording.digits)
    else:
        assert pane.column is not None
        fill = fill_of(schema, pane.column)
        bands(ax, list(zip(times, values, strict=True)), fill, thick=0.84 if len(values) < 25 else 1.0)
        _name_levels(ax, schema, pane.column, fill, values)
    ax.set_xlim(*members.clocks.limits)
    for number, (formula, _) in enumerate(members.branches):
        if set(pane.signal.attributes()) <= set(formula.expression.attributes()):
            _mark_decisive(ax, members, number, values if real else None)


def _mark_decisive(ax: Axes, members: _Members, number: int, values: Sequence[NDArray[Any]] | None) -> None:
    """Mark each member's decisive step: on its line, in its row, or at the bottom if its value is no number."""
    on: list[tuple[float, float]] = []
    floor: list[tuple[float, float]] = []
    rows = len(members.records)
    for i, (step, at) in enumerate(zip(members.decisive[number], members.clocks.times, strict=True)):
        height = rows - 1 - i if values is None else float(values[i][step])
        (on if np.isfinite(height) else floor).append((float(at[step]), height if np.isfinite(height) else 0.03))
    size = 4.5 if rows <= 20 else 3.5
    for points, where in ((on, ax.transData), (floor, ax.get_xaxis_transform())):
        if points:
            x, y = zip(*points, strict=True)
            looks: Looks = {"marker": mark_style(number).marker, "markersize": size, "zorder": 5} | hollow(INK)
            ax.plot(x, y, transform=where, clip_on=False, scaley=False, **looks)


def _name_levels(ax: Axes, schema: Schema, column: str, fill: dict[int, Any], values: Sequence[NDArray[Any]]) -> None:
    """Put a key of the rows' colours to their right."""
    codes = sorted({int(code) for one in values for code in np.unique(one)}, key=lambda code: (code < 0, code))
    names = code_names(schema, column)
    if schema[column].type is ColumnType.BOOLEAN:
        codes = [code for code in codes if code]  # grey is false
    handles: list[Artist] = [Patch(**dict(fill[code])) for code in codes[:_MOST_LEVELS]]
    words = [clipped(names[code], _RIGHT - 0.45, SMALL) for code in codes[:_MOST_LEVELS]]
    if len(codes) > _MOST_LEVELS:
        handles.append(Patch(facecolor="none"))
        words.append(f"and {len(codes) - _MOST_LEVELS} more")
    if handles:
        place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.0}
        legend(ax, handles, words, labelspacing=0.2, handlelength=1.4, **place)


def _name_parts(figure: Figure, parts: Sequence[Any], members: _Members) -> None:
    used = sorted(set(members.looks))[:8]
    names = [clipped(parts[number], 1.5, SMALL) for number in used]
    if used:
        place = {"loc": "upper right", "bbox_to_anchor": (0.99, 0.995), "ncols": min(4, len(used))}
        legend(figure, [stroke(number, linestyle=members.style(number)) for number in used], names, **place)


# ---- The collage: a row for each category, with pictures of its first members.

Draw = Callable[[Axes, Panel, int], object]
_MARGIN, _CELL, _TALL, _GAP = 0.35, 1.9, 1.05, 0.3
_GAP_WITH_NUMBERS = 0.6  # users' drawings have numbers on the vertical axis
_MOST_SKETCHED = 3


def plot_collage(
    categories: Tree | Iterable[Category],
    panel: Panel,
    y: Any = None,
    *,
    columns: int = 5,
    draw: Draw | None = None,
    only_label: Any = None,
    text: Wording | None = "english",
    digits: int | None = 4,
    style: Style = "plain",
) -> Figure:
    """Draw the first `columns` members of each category, a row each; categories without members are left out.

    `categories` are those of a tree among the panel's records, or given ones, whose positions are in `panel`. `draw` is
    called with axes, the panel and the position of a record, and draws it; by default the real columns that the
    formulas mention most are drawn, each scaled to its range. `only_label` selects the categories of that label. With
    labels `y`, counts are shown, and members whose label differs from their category's are marked. Above each row
    stands its formula or, in English, its headline or its description; `text=None` leaves that out. `style="paper"` is
    the paper's English, without headlines.
    """
    require_whole("columns", columns, 1)
    known = panel
    if isinstance(categories, Tree):
        known = panel.aligned(categories.schema)  # has the columns of the tree; `draw` may need others
        categories = categorize(categories, known, y)
    chosen = _chosen(list(categories), panel, only_label)
    others = {} if y is None else _exceptions(chosen, chosen[0].summary.target.read(y, panel))
    wording = None if text is None else formula_wording(known.schema, known, text, digits, style)
    if draw is not None:
        return _assemble(chosen, panel, columns, others=others, draw=draw, wording=wording)[0]
    sketch = _sketch(chosen, known, columns)
    figure, top = _assemble(chosen, known, columns, others=others, draw=sketch, wording=wording, key=0.3)
    sketch.name(figure, top)
    return figure


def _chosen(categories: Sequence[Category], panel: Panel, only_label: Any) -> list[Category]:
    """Return the categories to draw; DataError if there are none."""
    named = [c for c in categories if only_label is None or c.label == only_label]
    if categories and not named:
        known = ", ".join(dict.fromkeys(repr(c.label) for c in categories))
        raise DataError(f"no category has the label {only_label!r}; there are {known}")
    found = [c for c in named if len(c.positions)]
    if not found:
        raise DataError(f"there is nothing to draw: no category has members among the {counted(len(panel), 'record')}")
    last = max(int(c.positions.max()) for c in found)
    if last >= len(panel):
        raise DataError(
            f"the categories speak of record {last}, but the panel has {len(panel)}: give the panel of them"
        )
    return found


def _assemble(
    chosen: Sequence[Category],
    panel: Panel,
    columns: int,
    *,
    others: Mapping[int, Any],
    draw: Draw,
    wording: FormulaWording | None,
    key: float = 0.0,
) -> tuple[Figure, float]:
    """Return the figure, and the height at which a key may be placed."""
    columns = min(columns, max(len(c.positions) for c in chosen))
    step = _CELL + (_GAP if isinstance(draw, _Sketch) else _GAP_WITH_NUMBERS)
    first = _MARGIN + step - _CELL - _GAP
    wide = max(first + columns * step - step + _CELL + _MARGIN, 4.0)
    captions = [wrapped(wording.caption(c), wide - 2 * _MARGIN, SMALL, lines=3) if wording else [] for c in chosen]
    heads = [lines_height(1, BODY) + lines_height(len(lines), SMALL) + 0.24 for lines in captions]
    feet = 0.42
    high = 0.15 + key + sum(heads) + len(chosen) * (_TALL + feet)
    figure = new_figure(wide, high)
    top = 0.15 + key
    for category, lines, head in zip(chosen, captions, heads, strict=True):
        head_line = f"[{category.number}] {category.title}  ({size_text(category)})"
        title = clipped(head_line, (wide - 2 * _MARGIN) / BOLD, BODY)
        below = write_lines(figure, _MARGIN, top, [title], fontweight="bold")
        if lines:
            write_lines(figure, _MARGIN, below, lines, color=QUIET, fontsize=SMALL)
        for place, record in enumerate(int(i) for i in category.positions[:columns]):
            ax = add_axes(figure, first + place * step, top + head, _CELL, _TALL)
            draw(ax, panel, record)
            _name(ax, panel, record, others)
        top += head + _TALL + feet
    return figure, 1 - 0.15 / high


def _exceptions(categories: Sequence[Category], labels: Labels) -> dict[int, Any]:
    """Return the labels of members that are not in the name of their category, by their positions."""
    names, which = labels.named()
    found: dict[int, Any] = {}
    for category in categories:
        own = labels[category.positions].exceptions([category.summary], np.zeros(len(category.positions), np.int64))
        mixed = category.title != str(category.label)
        found |= {i: names[which[i]] for i in category.positions[own | mixed].tolist()}
    return found


def _name(ax: Axes, panel: Panel, record: int, others: Mapping[int, Any]) -> None:
    """Write the record's id above its picture, and its label if that is not in the name of the category."""
    words, other = str(panel.ids[record]), record in others
    if other:
        words += f" ({others[record]})"
    looks = {
        "transform": ax.transAxes,
        "fontsize": SMALL,
        "ha": "left",
        "va": "bottom",
        "color": INK if other else QUIET,
    }
    write(ax, 0.0, 1.03, clipped(words, _CELL / BOLD, SMALL), fontweight="bold" if other else "normal", **looks)


@dataclass(frozen=True)
class _Sketch:
    """Draws a few columns of a record, each scaled to its range; or one as a band, if no real ones are mentioned."""

    schema: Schema
    names: tuple[str, ...]
    ranges: tuple[tuple[float, float], ...]
    """The ranges of real columns; empty if bands are drawn."""
    limits: tuple[float, float]
    across: str
    """The name of the horizontal axis."""
    factor: float
    """The divisor of times."""

    def __call__(self, ax: Axes, panel: Panel, record: int) -> None:
        at = clock(panel, record)
        if panel.times(record) is not None:
            at = (at - at[0]) / self.factor
        for number, (name, (low, high)) in enumerate(zip(self.names, self.ranges, strict=False)):
            it = mark_style(number)
            with np.errstate(over="ignore"):  # values far outside the range are drawn as infinite
                values = (panel.values(name, record) - low) / (high - low)
            line(ax, at, values, color=it.ink, linestyle=it.line, linewidth=1.1, markersize=2)
            fit_height(ax, [np.array([0.0, 1.0])])
        if not self.ranges:
            bands(ax, [(at, panel.values(self.names[0], record))], fill_of(self.schema, self.names[0]))
        tidy(ax)
        ax.set(yticks=[], xlim=self.limits)

    def name(self, figure: Figure, top: float) -> None:
        """Write the names of the drawn columns, and the range of the pictures."""
        handles = [stroke(number) for number in range(len(self.ranges))]
        spans = [f", {low:.4g} to {high:.4g}" for low, high in self.ranges]
        units = [f" {self.schema[name].unit}" if self.schema[name].unit else "" for name in self.names]
        wide = float(figure.get_size_inches()[0])
        words = clipped(f"across: {self.across}", 1.4, SMALL)
        write(figure, 1 - _MARGIN / wide, top, words, fontsize=SMALL, ha="right", va="top")
        each = (wide - 2.0) / max(1, len(self.names)) - 0.5
        names = [clipped(a + b + c, each, SMALL) for a, b, c in zip(self.names, spans, units, strict=False)]
        place = {"loc": "upper left", "bbox_to_anchor": ((_MARGIN - 0.05) / wide, top), "ncols": max(1, len(names))}
        if names:
            legend(figure, handles, names, borderaxespad=0.0, borderpad=0.0, **place)


def _sketch(chosen: Sequence[Category], panel: Panel, columns: int) -> _Sketch:
    """Choose the columns that most branches mention, only real ones if there are any."""
    uses = Counter(name for c in chosen for f, _ in c.branches for name in f.expression.attributes())
    names = [name for name, _ in uses.most_common()] or list(panel.schema.names[:1])
    real = [name for name in names if panel.schema[name].type is ColumnType.REAL][:_MOST_SKETCHED]
    drawn = [int(i) for c in chosen for i in c.positions[:columns]]
    spans = [edges(clock(panel, i)) - (clock(panel, i)[0] if panel.times(i) is not None else 0.0) for i in drawn]
    factor, across = from_starts(panel, drawn)
    limits = min(float(span[0]) for span in spans) / factor, max(float(span[-1]) for span in spans) / factor
    ranges = tuple(_range(np.concatenate([panel.values(name, i) for i in drawn])) for name in real)
    return _Sketch(panel.schema, tuple(real or names[:1]), ranges, limits, across, factor)


def _range(values: Any) -> tuple[float, float]:
    finite = values[np.isfinite(values) & (np.abs(values) < 1e150)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    return (low, high) if high > low else (low - 0.5, high + 0.5)
