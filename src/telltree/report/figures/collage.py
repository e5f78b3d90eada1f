"""The collage: a row for each category, with pictures of its first members."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from telltree.amounts import counted
from telltree.data import ColumnType, Panel, Schema
from telltree.errors import DataError
from telltree.explain import Category, Style, categorize
from telltree.report.figures.mentions import Voice, Wording, at_least, told_size, voice
from telltree.report.figures.style import (
    BODY,
    INK,
    QUIET,
    SMALL,
    add_axes,
    legend,
    lines_height,
    look,
    new_figure,
    stroke,
    tidy,
    write,
    write_lines,
)
from telltree.report.figures.traces import bands, clock, edges, fill_of, fit_height, from_starts, line
from telltree.report.figures.words import BOLD, clipped, wrapped
from telltree.tree import Tree
from telltree.tree.target import Labels

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
    formulas mention most are drawn, each scaled to its range. `only_label` takes the categories of that label alone.
    With labels `y`, counts are shown, and members whose label differs from their category's are marked. Above each row
    stands its formula or, in English, its headline or what is true of it; `text=None` leaves that out.
    `style="paper"` is the paper's English, without headlines.
    """
    at_least("columns", columns, 1)
    known = panel
    if isinstance(categories, Tree):
        known = panel.aligned(categories.schema)  # has the columns that the tree knows; `draw` may want others
        categories = categorize(categories, known, y)
    chosen = _chosen(list(categories), panel, only_label)
    others = {} if y is None else _exceptions(chosen, chosen[0].summary.target.read(y, panel))
    speaks = None if text is None else voice(known.schema, known, text, digits, style)
    if draw is not None:
        return _assemble(chosen, panel, columns, others=others, draw=draw, speaks=speaks)[0]
    sketch = _sketch(chosen, known, columns)
    figure, top = _assemble(chosen, known, columns, others=others, draw=sketch, speaks=speaks, key=0.3)
    sketch.name(figure, top)
    return figure


def _chosen(categories: Sequence[Category], panel: Panel, only_label: Any) -> list[Category]:
    """The categories to draw; a DataError if there are none."""
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
    speaks: Voice | None,
    key: float = 0.0,
) -> tuple[Figure, float]:
    """The figure, and where in it a key may be placed."""
    columns = min(columns, max(len(c.positions) for c in chosen))
    step = _CELL + (_GAP if isinstance(draw, _Sketch) else _GAP_WITH_NUMBERS)
    first = _MARGIN + step - _CELL - _GAP
    wide = max(first + columns * step - step + _CELL + _MARGIN, 4.0)
    told = [wrapped(speaks.caption(c), wide - 2 * _MARGIN, SMALL, lines=3) if speaks else [] for c in chosen]
    heads = [lines_height(1, BODY) + lines_height(len(lines), SMALL) + 0.24 for lines in told]
    feet = 0.42
    high = 0.15 + key + sum(heads) + len(chosen) * (_TALL + feet)
    figure = new_figure(wide, high)
    top = 0.15 + key
    for category, lines, head in zip(chosen, told, heads, strict=True):
        head_line = f"[{category.number}] {category.title}  ({told_size(category)})"
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
    """The labels of members that the name of their category does not tell, by their positions."""
    names, which = labels.named()
    found: dict[int, Any] = {}
    for category in categories:
        own = labels[category.positions].exceptions([category.summary], np.zeros(len(category.positions), np.int64))
        mixed = category.title != str(category.label)
        found |= {i: names[which[i]] for i in category.positions[own | mixed].tolist()}
    return found


def _name(ax: Axes, panel: Panel, record: int, others: Mapping[int, Any]) -> None:
    """The record's id above its picture, and its label where the name of the category does not tell it."""
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
    """Draws a few columns of a record, each scaled to its range; or as bands, if no real ones matter."""

    schema: Schema
    names: tuple[str, ...]
    ranges: tuple[tuple[float, float], ...]
    """The ranges of real columns; empty if bands are drawn."""
    limits: tuple[float, float]
    across: str
    """What the horizontal axis is."""
    factor: float
    """What times are divided by."""

    def __call__(self, ax: Axes, panel: Panel, record: int) -> None:
        at = clock(panel, record)
        if panel.times(record) is not None:
            at = (at - at[0]) / self.factor
        for number, (name, (low, high)) in enumerate(zip(self.names, self.ranges, strict=False)):
            it = look(number)
            with np.errstate(over="ignore"):  # values far outside the range are drawn as infinite
                values = (panel.values(name, record) - low) / (high - low)
            line(ax, at, values, color=it.ink, linestyle=it.line, linewidth=1.1, markersize=2)
            fit_height(ax, [np.array([0.0, 1.0])])
        if not self.ranges:
            bands(ax, [(at, panel.values(self.names[0], record))], fill_of(self.schema, self.names[0]))
        tidy(ax)
        ax.set(yticks=[], xlim=self.limits)

    def name(self, figure: Figure, top: float) -> None:
        """Say which columns are drawn, and what range the pictures cover."""
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
    """What to draw: the columns that most branches mention, only real ones if there are any."""
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
