"""The figure of one record: its columns against time, and below them the truth of each formula on its path."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray

from telltree.errors import DataError
from telltree.explain import Robustness, Style
from telltree.explain.evidence import compares_counts, count_text, counted_conditions
from telltree.grammar.resolve import attribute
from telltree.logic import Expression, Type
from telltree.logic.operators import COUNT, DISTANCE, Operator
from telltree.panel import ColumnType, Panel
from telltree.panel.schema import require_known
from telltree.report.figure_wording import FormulaWording, Wording, formula_wording
from telltree.report.style import (
    BODY,
    BOLD,
    COLOURS,
    INK,
    QUIET,
    SMALL,
    TITLE,
    Looks,
    clipped,
    drawable,
    legend,
    lines_height,
    new_figure,
    spread,
    width,
    wrapped,
    write,
    write_lines,
)
from telltree.report.time_axes import (
    GAP,
    Pane,
    bands,
    clocks,
    code_names,
    edges,
    fill_of,
    fit_height,
    hollow,
    is_real,
    line,
    mark_thresholds,
    name_pane,
    panes,
    runs,
    signal_values,
    stack,
    truth_fill,
)
from telltree.text import counted
from telltree.tree.tree import Branch, Tree

Floats = NDArray[np.float64]
_WIDE, _LEFT, _RIGHT = 9.5, 2.7, 0.9
_ACROSS = _WIDE - _LEFT - _RIGHT
_MOST_PANES, _KEYS_A_LINE = 16, 5


class Held(NamedTuple):
    """A part of a branch's formula in one record."""

    branch: int
    """The number of the branch on the path, from 1."""
    part: Expression
    steps: NDArray[np.bool_]
    """The steps at which the operand of F or G, or what is counted, is true."""
    true: bool
    """True if the part is true of the record."""
    decisive: int
    """The step that decided the branch."""
    amount: str = ""
    """The number of steps at which it is true, and the required number; empty if nothing is counted."""
    which: Expression | None = None
    """The count, if the part has several."""


class _NamedRun(NamedTuple):
    """The name of a category, where there is room for it."""

    middle: float
    words: str


class _Shown(NamedTuple):
    """A pane, and everything drawn in it."""

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
    """Draw one record, given by its position in the panel, and why it is in its category.

    Real columns are lines, Boolean and categorical ones bands: those in `columns`, by default those that the formulas
    on the record's path mention. Below, a band for each formula shows the steps at which the operand of F or G, or what
    is counted, is true, and a diamond its decisive step, measured over `reference` as `decisive_step` does; dotted
    lines carry those steps up to the columns. Beside a band stands its truth, and the count with the required number.
    `text="formula"` shows formulas and the names of columns instead of English; constants are shown with so many
    significant `digits` (None: all). `style="paper"` is the paper's English.
    """
    if not 0 <= record < len(panel):
        raise DataError(f"there is no record {record}: the panel has {len(panel)}, counted from 0")
    aligned = panel.aligned(tree.schema)
    wording = formula_wording(tree.schema, aligned[[record]], text, digits, style)
    number = int(tree.apply(aligned[[record]])[0])
    leaf, branches = tree.leaves[number - 1]
    rows = list(held(branches, aligned, record, reference))
    chosen, left_out = _panes(panel, branches, columns)
    clock = clocks(panel, [record])
    at = clock.times[0]
    drawn = [_shown(pane, aligned if _known(pane, tree) else panel, record, at, wording) for pane in chosen]
    title = f"record {panel.ids[record]}: [{number}] {leaf.summary.title}"
    note = [f"… and {counted(left_out, 'more signal')} that the formulas mention"] if left_out else []
    subtitle = wrapped(wording.path(branches), _WIDE - 0.4, BODY, lines=6) + note
    labels = [_label(row, wording) for row in rows]
    figure, axes = _frame(title, subtitle, drawn, labels)
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


def _label(row: Held, wording: FormulaWording) -> str:
    which = "" if row.which is None else f", {wording.formula(row.which)}"
    return f"{row.branch}: {wording.formula(row.part)}{which}"


def _known(pane: Pane, tree: Tree) -> bool:
    """Return True if the tree has the column of a pane; otherwise it is only a column of the panel."""
    return pane.column is None or pane.column in tree.schema


def _panes(panel: Panel, branches: Sequence[Branch], columns: Iterable[str] | None) -> tuple[list[Pane], int]:
    """Return the panes to draw, and the number left out."""
    mentioned = panes(formula.expression for formula, _ in branches)
    if columns is None:
        return mentioned[:_MOST_PANES], max(0, len(mentioned) - _MOST_PANES)
    by_name = {pane.column: pane for pane in mentioned}
    names = [columns] if isinstance(columns, str) else list(columns)
    for name in names:
        require_known(name, panel.schema.names, "column")
    return [by_name.get(name, Pane(Expression(attribute(panel.schema[name])), ())) for name in names], 0


def _shown(pane: Pane, panel: Panel, record: int, at: NDArray[np.float64], wording: FormulaWording) -> _Shown:
    if pane.column is not None and pane.column not in wording.schema:
        wording = wording._replace(schema=panel.schema)
    words, values = wording.signal(pane), signal_values(panel, pane, record)
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
    title: str, subtitle: Sequence[str], drawn: Sequence[_Shown], labels: Sequence[str]
) -> tuple[Figure, list[Axes]]:
    """Return the figure with its heading, empty axes, and a legend for names that do not fit into the bands."""
    held_lines = [min(4, len(wrapped(words, _LEFT - 0.35, BODY))) for words in labels]
    heights = [1.0 if one.real else 0.34 for one in drawn]
    heights += [max(0.3, lines_height(lines, BODY)) for lines in held_lines]
    keys = {name: one.fill[code] for one in drawn for name, code in one.keys.items()}
    head = 0.15 + lines_height(1, TITLE) + lines_height(len(subtitle), BODY) + 0.3
    foot = 0.55 + 0.18 * -(-len(keys) // _KEYS_A_LINE)
    figure = new_figure(_WIDE, head + sum(heights) + GAP * max(0, len(heights) - 1) + foot)
    top = write_lines(
        figure, 0.2, 0.15, [clipped(title, (_WIDE - 0.4) / BOLD, TITLE)], fontsize=TITLE, fontweight="bold"
    )
    write_lines(figure, 0.2, top, subtitle, color=QUIET)
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
    """Mark the steps that were compared with a shapelet, up to the decisive one, if there is one shapelet."""
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
    text = f"{'true' if row.true else 'false'}{': ' if row.amount else ''}{row.amount}"
    write(ax, 1.008, 0.5, "\n".join(wrapped(text, _RIGHT - 0.1, SMALL, lines=3)), **looks)


def _mark_moments(axes: Sequence[Axes], columns: int, rows: Sequence[Held], at: NDArray[np.float64]) -> None:
    """Draw a line through all columns at each decisive step, with the numbers of the branches at the top."""
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


def held(branches: Sequence[Branch], panel: Panel, record: int, reference: Panel | None = None) -> Iterator[Held]:
    """Yield all parts of all branches; a comparison of several counts once for each count."""
    robustness = Robustness(panel, reference)
    for number, (formula, _) in enumerate(branches, 1):
        parts = temporal(formula.expression)
        operands = {part: counted_conditions(part) if compares_counts(part) else part.args for part in parts}
        follow = [*parts, *(operand for several in operands.values() for operand in several)]
        evidence = robustness.evidence(formula.expression, [record], follow=follow)
        step = int(evidence.steps[0])
        for part in parts:
            true, counts = bool(evidence.held(part, 0)[0]), compares_counts(part)
            for operand in operands[part]:
                amount = count_text(part, evidence.count(operand, 0)) if counts else ""
                which = Expression(COUNT, (operand,)) if len(operands[part]) > 1 else None
                yield Held(number, part, evidence.held(operand, 0), true, step, amount, which)


def temporal(e: Expression) -> list[Expression]:
    """Return the temporal parts of a formula, without the connectives that join them."""
    if isinstance(e.head, Operator) and e.type is Type.BOOLEAN and all(arg.type is Type.BOOLEAN for arg in e.args):
        return list(dict.fromkeys(part for arg in e.args for part in temporal(arg)))
    return [e]
