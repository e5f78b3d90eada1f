"""The figure of a front: the balanced accuracy of trees of all sizes, against how much there is to read."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import offset_copy

from telltree.errors import SettingsError
from telltree.report.figures.style import (
    BODY,
    INK,
    QUIET,
    SMALL,
    Looks,
    add_axes,
    figure_of,
    legend,
    look,
    name_axis,
    new_figure,
    write,
)
from telltree.report.figures.words import BOLD, width
from telltree.tree.front import Front, Measured, Pruning, Score
from telltree.tree.tree import Tree

_WIDE, _HIGH = 5.6, 2.9  # of the axes, in inches
_APART = 0.06  # inches between two labels
_ABOVE = 4.0  # points from an error bar to its label
_DOT: Looks = {"marker": "o", "markersize": 5, "linestyle": "none"}
_OWN: Looks = {"marker": "D", "markersize": 7.5, "linestyle": "none"}


def plot_front(model_or_front: Any) -> Figure:
    """Draw the balanced accuracy of each tree of a front in cross-validation, against the words of its questions.

    Takes a fitted classifier, whose own tree is marked, or its `front_`. Bars are standard errors, numbers are
    categories. The trees must have scores, as they do if the classifier was fitted with `cv`.
    """
    steps, own = _steps(model_or_front)
    scores = [_deciding(step.score) for step in steps if step.score is not None]
    if len(scores) < len(steps):
        raise SettingsError("how well the trees of this front do is not known: fit the classifier with cv=5")
    figure = new_figure(_WIDE + 1.1, _HIGH + 1.15)
    ax = add_axes(figure, 0.75, 0.45, _WIDE, _HIGH)
    usual, ours = look(0).ink, look(4).ink
    shares = [100 * score.share for score in scores]
    ax.plot([step.words for step in steps], shares, color=QUIET, linewidth=0.8, alpha=0.5)
    for step, score in zip(steps, scores, strict=True):
        dot, colour = (_OWN, ours) if step is own else (_DOT, usual)
        bar: Looks = {"ecolor": colour, "elinewidth": 1.1, "capsize": 2.5, "capthick": 1.1, "color": colour}
        ax.errorbar(step.words, 100 * score.share, 100 * score.error, zorder=4 if step is own else 3, **dot, **bar)
    ax.margins(x=0.05, y=0.12)
    ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))
    name_axis(ax, x="words of the questions", y=f"{steps.scored_by} on records not seen (%)")
    _name(ax, [step for step in steps if step is not own], own)
    signs = [Line2D([], [], color=usual, **_DOT)] + ([] if own is None else [Line2D([], [], color=ours, **_OWN)])
    told = ["a tree, with its number of categories and its standard error", "the model’s own"]
    legend(ax, signs, told[: len(signs)], loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=2, columnspacing=1.5)
    return figure


def _deciding(score: Score) -> Measured:
    """What sizes were compared by; files of an older telltree have accuracy alone."""
    return score.balanced or Measured(score.share, score.error)


def _steps(model_or_front: Any) -> tuple[Front, Pruning | None]:
    """The trees, including the model's own."""
    if isinstance(model_or_front, Front):
        return model_or_front, None
    front, tree = getattr(model_or_front, "front_", None), getattr(model_or_front, "tree_", None)
    if isinstance(front, Front) and isinstance(tree, Tree):
        return front.beside(tree)
    found = type(model_or_front).__name__
    raise SettingsError(f"a fitted classifier is drawn, or its front_; got {found} without one: call fit first")


def _name(ax: Axes, steps: list[Pruning], own: Pruning | None) -> None:
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
