"""Figures of scores: the confusion matrix, the pruning path, and the progress of a search."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import offset_copy
from numpy.typing import NDArray

from telltree.errors import DataError, SettingsError
from telltree.panel.schema import listed
from telltree.report.style import (
    BODY,
    BOLD,
    COLOURS,
    INK,
    PAPER,
    QUIET,
    SMALL,
    Looks,
    add_axes,
    as_it_is,
    clipped,
    figure_of,
    legend,
    mark_style,
    name_axis,
    new_figure,
    stroke,
    width,
    write,
)
from telltree.search import Moment, SearchResult
from telltree.tree.pruning_path import Measured, Pruning, PruningPath, TreeScore
from telltree.tree.tree import Tree

_NAME = 2.0  # inches for the name of a class


def plot_confusion(y_true: Any, y_pred: Any, classes: Iterable[Any] | None = None) -> Figure:
    """Draw the number of records of each class (rows) by predicted class (columns); shades are shares of the row.

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


# ---- The pruning path: the balanced accuracy of trees of all sizes, against the words of their questions.

_WIDE, _HIGH = 5.6, 2.9  # of the axes, in inches
_APART = 0.06  # inches between two labels
_ABOVE = 4.0  # points from an error bar to its label
_DOT: Looks = {"marker": "o", "markersize": 5, "linestyle": "none"}
_OWN: Looks = {"marker": "D", "markersize": 7.5, "linestyle": "none"}


def plot_pruning_path(model_or_path: Any) -> Figure:
    """Draw the cross-validated balanced accuracy of each tree of a pruning path against the words of its questions.

    The argument is a fitted classifier, whose own tree is marked, or its `pruning_path_`. Bars are standard errors,
    numbers are categories. The trees must have scores, as they do if the classifier was fitted with `cv`.
    """
    steps, own = _steps(model_or_path)
    scores = [_deciding(step.score) for step in steps if step.score is not None]
    if len(scores) < len(steps):
        raise SettingsError("the scores of the trees of this pruning path are not known: fit the classifier with cv=5")
    figure = new_figure(_WIDE + 1.1, _HIGH + 1.15)
    ax = add_axes(figure, 0.75, 0.45, _WIDE, _HIGH)
    usual, ours = mark_style(0).ink, mark_style(4).ink
    shares = [100 * score.share for score in scores]
    ax.plot([step.words for step in steps], shares, color=QUIET, linewidth=0.8, alpha=0.5)
    for step, score in zip(steps, scores, strict=True):
        dot, colour = (_OWN, ours) if step is own else (_DOT, usual)
        bar: Looks = {"ecolor": colour, "elinewidth": 1.1, "capsize": 2.5, "capthick": 1.1, "color": colour}
        ax.errorbar(step.words, 100 * score.share, 100 * score.error, zorder=4 if step is own else 3, **dot, **bar)
    ax.margins(x=0.05, y=0.12)
    ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))
    name_axis(ax, x="words of the questions", y=f"{steps.scored_by} on records not seen (%)")
    _name_sizes(ax, [step for step in steps if step is not own], own)
    signs = [Line2D([], [], color=usual, **_DOT)] + ([] if own is None else [Line2D([], [], color=ours, **_OWN)])
    names = ["a tree, with its number of categories and its standard error", "the model’s own"]
    legend(ax, signs, names[: len(signs)], loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=2, columnspacing=1.5)
    return figure


def _deciding(score: TreeScore) -> Measured:
    """Return the score that sizes were compared by; files of an older telltree have accuracy alone."""
    return score.balanced or Measured(score.share, score.error)


def _steps(model_or_path: Any) -> tuple[PruningPath, Pruning | None]:
    """Return the trees, and the model's own."""
    if isinstance(model_or_path, PruningPath):
        return model_or_path, None
    pruning_path, tree = getattr(model_or_path, "pruning_path_", None), getattr(model_or_path, "tree_", None)
    if isinstance(pruning_path, PruningPath) and isinstance(tree, Tree):
        return pruning_path.beside(tree)
    found = type(model_or_path).__name__
    raise SettingsError(f"a fitted classifier is drawn, or its front_; got {found} without one: call fit first")


def _name_sizes(ax: Axes, steps: list[Pruning], own: Pruning | None) -> None:
    """Write the number of categories above each error bar, where there is room; always for the model's own."""
    left, right = ax.get_xlim()
    taken: list[tuple[float, float]] = []
    for step in [*([] if own is None else [own]), *steps]:
        words, middle = str(step.leaves), (step.words - left) / (right - left) * _WIDE
        half = BOLD * width(words, BODY) / 2 + _APART / 2
        if any(middle - half < end and start < middle + half for start, end in taken):
            continue
        taken.append((middle - half, middle + half))
        looks: Looks = {"color": INK, "fontsize": BODY, "fontweight": "bold"} if step is own else {"fontsize": SMALL}
        assert step.score is not None
        top = 100 * sum(_deciding(step.score))
        lifted = offset_copy(ax.transData, figure_of(ax), x=0, y=_ABOVE, units="points")
        write(ax, step.words, top, words, transform=lifted, ha="center", va="bottom", zorder=5, **looks)


# ---- The progress of a search: the best fitness against evaluations, and against time.

_MOST_NAMED = 12


def plot_search(found: SearchResult | Mapping[Any, SearchResult]) -> Figure:
    """Draw the best fitness so far of a search, against evaluations and against seconds; less is better.

    `found` is what a search returned, such as `classifier.searches_[1]`, or several of them by name, such as all of
    `classifier.searches_`: the searches of a tree's nodes by number.
    """
    runs = {None: found} if isinstance(found, SearchResult) else dict(found)
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
        _name_lines(axes[1], list(runs))
    return figure


def _fall(ax: Axes, run: SearchResult, unit: str, number: int) -> None:
    """Draw a staircase from the first finite fitness to the end of the search."""
    moments = [moment for moment in run.history if np.isfinite(moment.fitness)]
    if not moments:
        return
    end = Moment(
        max(run.evaluations, moments[-1].evaluations), max(run.seconds, moments[-1].seconds), moments[-1].fitness
    )
    x = [float(getattr(moment, unit)) for moment in (*moments, end)]
    it = mark_style(number)
    looks: Looks = {"color": it.ink, "linestyle": it.line, "linewidth": 1.4}
    ax.step(x, [moment.fitness for moment in (*moments, end)], where="post", **looks)
    dots: Looks = {"marker": it.marker, "markersize": 3.5, "linestyle": "none"}
    ax.plot(x[:-1], [moment.fitness for moment in moments], color=it.ink, **dots)


def _name_lines(ax: Axes, names: list[Any]) -> None:
    words = [clipped(f"node {name}" if isinstance(name, int) else name, 1.2, SMALL) for name in names[:_MOST_NAMED]]
    handles = [stroke(number, marker=mark_style(number).marker, markersize=3.5) for number in range(len(words))]
    if len(names) > _MOST_NAMED:
        handles.append(stroke(0, linestyle="none"))
        words.append(f"and {len(names) - _MOST_NAMED} more")
    legend(ax, handles, words, loc="upper left", bbox_to_anchor=(1.02, 1.02))
