"""The confusion matrix: which classes are mistaken for which."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from numpy.typing import NDArray

from telltree.data.schema import listed
from telltree.errors import DataError
from telltree.report.figures.style import (
    BODY,
    COLOURS,
    INK,
    PAPER,
    SMALL,
    add_axes,
    as_it_is,
    name_axis,
    new_figure,
    write,
)
from telltree.report.figures.words import clipped, width

_NAME = 2.0  # inches for the name of a class


def plot_confusion(y_true: Any, y_pred: Any, classes: Iterable[Any] | None = None) -> Figure:
    """Draw how many records of each class (rows) were predicted to be of each (columns); shades are shares of the row.

    `classes` gives the order, and may name classes that do not occur; by default those that occur, sorted.
    """
    true, predicted = _labels(y_true, "y_true"), _labels(y_pred, "y_pred")
    if len(true) != len(predicted):
        raise DataError(f"there are {len(true)} true labels, but {len(predicted)} predicted ones")
    names = _sorted(dict.fromkeys((*true, *predicted))) if classes is None else list(dict.fromkeys(classes))
    unknown = [label for label in dict.fromkeys((*true, *predicted)) if label not in names]
    if unknown:
        raise DataError(f"the labels {listed(unknown)} are not among the classes; give them all, or none")
    if not names:
        raise DataError("there are no labels to compare")
    place = {name: k for k, name in enumerate(names)}
    counts = np.zeros((len(names), len(names)), np.int64)
    np.add.at(counts, ([place[label] for label in true], [place[label] for label in predicted]), 1)
    return _draw(counts, names)


def _labels(y: Any, name: str) -> list[Any]:
    labels = np.asarray(y, dtype=None if isinstance(y, np.ndarray) else object)
    if labels.ndim != 1:
        raise DataError(f"{name} must be one-dimensional, one label a record; got shape {labels.shape}")
    found: list[Any] = labels.tolist()
    return found


def _sorted(labels: Iterable[Any]) -> list[Any]:
    found = list(labels)
    try:
        return sorted(found)
    except TypeError:  # labels of several types
        return sorted(found, key=str)


def _draw(counts: NDArray[np.int64], names: list[Any]) -> Figure:
    digits = len(str(int(counts.max())))
    cell = max(0.26, 0.75 - 0.04 * len(names), 0.085 * digits + 0.1)
    shown = [clipped(name, _NAME, BODY) for name in names]
    side, room = cell * len(names), max(width(name, BODY) for name in shown)
    upright = room > cell - 0.08
    below = (room if upright else 0.15) + 0.5
    left = room + 0.55
    figure = new_figure(max(left + side + 0.2, 2.4), max(0.2 + side + below, 2.2))
    ax = add_axes(figure, left, 0.15, side, side)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ramp = LinearSegmentedColormap.from_list("share", [PAPER, COLOURS[0]])
    ax.imshow(shares, cmap=ramp, vmin=0, vmax=1, aspect="auto")
    for row, column in np.argwhere(counts):
        looks = {
            "ha": "center",
            "va": "center",
            "color": PAPER if shares[row, column] > 0.55 else INK,
            "fontsize": SMALL,
        }
        write(ax, int(column), int(row), str(int(counts[row, column])), **looks)
    places = range(len(names))
    for axis, turned in ((ax.xaxis, upright), (ax.yaxis, False)):
        axis.set_ticks(list(places), labels=shown, fontsize=BODY, color=INK, rotation=90 if turned else 0, **as_it_is())
        axis.set_tick_params(length=0)
    ax.hlines([p + 0.5 for p in places[:-1]], -0.5, len(names) - 0.5, color="#E5E5E5", linewidth=0.5)
    ax.vlines([p + 0.5 for p in places[:-1]], -0.5, len(names) - 0.5, color="#E5E5E5", linewidth=0.5)
    for spine in ax.spines.values():
        spine.set_visible(True)
    name_axis(ax, x="predicted", y="true")
    return figure
