"""The figure of a category: its members overlaid, in the signals that its formulas mention."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from telltree.data import ColumnType, Panel, Schema
from telltree.errors import SettingsError
from telltree.explain import Category, Style, categorize, decisive_steps, shown
from telltree.report.figures.mentions import Pane, Voice, Wording, at_least, panes, told_size, voice
from telltree.report.figures.style import (
    BODY,
    INK,
    QUIET,
    SMALL,
    TITLE,
    Looks,
    legend,
    lines_height,
    look,
    new_figure,
    stroke,
    write_lines,
)
from telltree.report.figures.traces import (
    GAP,
    Clocks,
    bands,
    clocks,
    code_names,
    fill_of,
    fit_height,
    hollow,
    is_real,
    line,
    mark_thresholds,
    name_pane,
    signal_values,
    stack,
)
from telltree.report.figures.words import BOLD, clipped, wrapped
from telltree.tree import Tree
from telltree.tree.target import Labels
from telltree.tree.tree import Branch

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
    """The look of what the category predicts, whose lines are not broken."""
    branches: tuple[Branch, ...]
    decisive: list[NDArray[np.int64]]

    def style(self, number: int) -> Any:
        """The dash pattern of a line."""
        return "-" if number == self.own else look(max(1, number)).line


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
    row for each member, in the panel's order. Markers show where each member decided each formula, measured over
    `reference` as `decisive_step` does. Records that have no moment in common are counted each from its own start.
    `style="paper"` is the paper's English, without headlines.
    """
    at_least("most", most, 1)
    at_least("number", number, 1)
    if number > len(tree.leaves):
        raise SettingsError(f"number must be that of a category, 1 to {len(tree.leaves)}, got {number!r}")
    aligned = panel.aligned(tree.schema)
    labels = None if y is None else tree.target.read(y, panel)
    category = categorize(tree, aligned, y)[number - 1]
    speaks = voice(tree.schema, aligned, text, digits, style)
    members = _members(aligned, category, labels, most=most, reference=reference)
    mentioned = panes(formula.expression for formula, _ in members.branches)
    chosen = mentioned[:_MOST_PANES] if members.records else []
    figure, axes = _frame(category, speaks, members, chosen)
    for ax, pane in zip(axes, chosen, strict=True):
        _draw_pane(ax, pane, members, speaks)
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


def _frame(category: Category, speaks: Voice, members: _Members, chosen: Sequence[Pane]) -> tuple[Figure, list[Axes]]:
    """The figure with heading and empty axes, and below them the key of the markers."""
    schema, drawn = members.panel.schema, len(members.records)
    carpet = float(np.clip(0.14 * drawn, 0.3, 1.4))
    heights = [1.15 if is_real(schema, pane) else max(carpet, _key_height(schema, pane)) for pane in chosen]
    size = told_size(category)
    part = f"; the first {drawn} are drawn" if drawn < len(category.positions) else ""
    said = wrapped(speaks.caption(category), _WIDE - 0.4, BODY, lines=6)
    head = 0.15 + lines_height(1, TITLE) + lines_height(1 + len(said), BODY) + 0.15
    marks = len(members.branches) if drawn else 0
    foot = 0.5 + 0.19 * marks
    figure = new_figure(_WIDE, head + max(0.3, sum(heights) + GAP * max(0, len(heights) - 1)) + foot)
    title = clipped(f"[{category.number}] {category.title}", (_WIDE - 3) / BOLD, TITLE)
    top = write_lines(figure, 0.2, 0.15, [title], fontsize=TITLE, fontweight="bold")
    top = write_lines(figure, 0.2, top, said, color=QUIET)
    write_lines(figure, 0.2, top, [clipped(size + part, _WIDE - 0.4, BODY)])
    if not drawn:
        write_lines(figure, 0.2, head + 0.1, ["none of these records comes here"], color=QUIET)
    elif marks:
        told = [f"decided: {speaks.branch(branch)}" for branch in members.branches]
        names = [clipped(words, _WIDE - 0.8, SMALL) for words in told]
        legend(figure, [_mark(i) for i in range(marks)], names, loc="lower left", bbox_to_anchor=(0.01, 0.0))
    return figure, stack(figure, _LEFT, head, _ACROSS, heights)


def _key_height(schema: Schema, pane: Pane) -> float:
    """How high the key of a Boolean or categorical column's values may be."""
    assert pane.column is not None
    return 0.14 * min(_MOST_LEVELS + 1, len(schema[pane.column].levels) + 2)


def _mark(number: int) -> Line2D:
    return Line2D([], [], marker=look(number).marker, markersize=5, **hollow(INK))


def _draw_pane(ax: Axes, pane: Pane, members: _Members, speaks: Voice) -> None:
    schema, times = members.panel.schema, members.clocks.times
    values = [signal_values(members.panel, pane, record) for record in members.records]
    real = is_real(schema, pane)
    name_pane(ax, speaks.signal(pane), _LEFT - (0.75 if real else 0.35), 0.55 if real else 0.12)
    if real:
        faint = float(np.clip(9 / len(values), 0.35, 0.95))
        for at, one, number in zip(times, values, members.looks, strict=True):
            line(ax, at, one, color=look(number).ink, linestyle=members.style(number), alpha=faint, linewidth=1.1)
        fit_height(ax, values, pane.thresholds)
        mark_thresholds(ax, pane.thresholds, 0.8, speaks.digits)
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
    """A marker at each member's decisive step: on its line, in its row, or at the bottom if its value is no number."""
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
            looks: Looks = {"marker": look(number).marker, "markersize": size, "zorder": 5} | hollow(INK)
            ax.plot(x, y, transform=where, clip_on=False, scaley=False, **looks)


def _name_levels(ax: Axes, schema: Schema, column: str, fill: dict[int, Any], values: Sequence[NDArray[Any]]) -> None:
    """A key of the rows' colours, to their right."""
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
