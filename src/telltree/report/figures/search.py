"""The figure of a search: how the best fitness fell with evaluations, and with time."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from telltree.errors import DataError
from telltree.report.figures.style import (
    QUIET,
    SMALL,
    Looks,
    add_axes,
    legend,
    look,
    name_axis,
    new_figure,
    stroke,
    write,
)
from telltree.report.figures.words import clipped
from telltree.search import Found, Moment

_MOST_NAMED = 12


def plot_search(found: Found | Mapping[Any, Found]) -> Figure:
    """Draw the best fitness so far of a search, against evaluations and against seconds; less is better.

    `found` is what a search returned, such as `classifier.searches_[1]`, or several of them by name, such as all of
    `classifier.searches_`: the searches of a tree's nodes by number.
    """
    runs = {None: found} if isinstance(found, Found) else dict(found)
    if not runs:
        raise DataError("there are no searches to draw: a tree that is a single leaf searched for nothing")
    named = len(runs) > 1 or None not in runs
    figure = new_figure(9.0 if named else 8.0, 3.2)
    axes = [add_axes(figure, 0.75 + 3.7 * i, 0.3, 3.2, 2.35) for i in range(2)]
    units = ("evaluations", "seconds")
    for number, run in enumerate(runs.values()):
        for ax, unit in zip(axes, units, strict=True):
            _fall(ax, run, unit, number)
    for ax, unit in zip(axes, units, strict=True):
        name_axis(ax, x=unit)
        ax.set_xlim(left=0)
        if not ax.lines:
            looks = {"transform": ax.transAxes, "ha": "center", "va": "center", "color": QUIET}
            write(ax, 0.5, 0.5, "nothing of use was found", **looks)
            ax.set(xlim=(0, 1), yticks=[])
    name_axis(axes[0], y="best fitness")
    if named:
        _name(axes[1], list(runs))
    return figure


def _fall(ax: Axes, run: Found, unit: str, number: int) -> None:
    """A staircase from the first finite fitness to the end of the search."""
    moments = [moment for moment in run.history if np.isfinite(moment.fitness)]
    if not moments:
        return
    end = Moment(
        max(run.evaluations, moments[-1].evaluations), max(run.seconds, moments[-1].seconds), moments[-1].fitness
    )
    x = [float(getattr(moment, unit)) for moment in (*moments, end)]
    it = look(number)
    looks: Looks = {"color": it.ink, "linestyle": it.line, "linewidth": 1.4}
    ax.step(x, [moment.fitness for moment in (*moments, end)], where="post", **looks)
    dots: Looks = {"marker": it.marker, "markersize": 3.5, "linestyle": "none"}
    ax.plot(x[:-1], [moment.fitness for moment in moments], color=it.ink, **dots)


def _name(ax: Axes, names: list[Any]) -> None:
    words = [clipped(f"node {name}" if isinstance(name, int) else name, 1.2, SMALL) for name in names[:_MOST_NAMED]]
    handles = [stroke(number, marker=look(number).marker, markersize=3.5) for number in range(len(words))]
    if len(names) > _MOST_NAMED:
        handles.append(stroke(0, linestyle="none"))
        words.append(f"and {len(names) - _MOST_NAMED} more")
    legend(ax, handles, words, loc="upper left", bbox_to_anchor=(1.02, 1.02))
