"""Draws the pictures of README.md, docs/figures.md and docs/howto/shapes.md into docs/images:
`python docs/draw_figures.py`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from telltree import GrammarTreeClassifier, Panel, demo
from telltree.datasets import load_acasx
from telltree.datasets.acasx import advised_flights
from telltree.explain import Category
from telltree.report import (
    draw_encounter,
    plot_category,
    plot_collage,
    plot_confusion,
    plot_encounter,
    plot_pruning_path,
    plot_record,
    plot_search,
    plot_tree,
)
from telltree.search import GeneticProgramming, MonteCarlo
from telltree.tree import Tree

IMAGES = Path(__file__).with_name("images")
RECORD = 1415  # of category 1, and not learnt from
PAPERS = {"encounter": 944, "encounter_rate": 1303}
"""Encounters that the paper shows too."""
SEEN = ("vertically within 250 ft while recorded", "not that near while recorded, pilots never both follow")
"""What tells the two categories apart that predict NMAC."""
UNSEEN, RING = "#EEEEEE", {"marker": "o", "markersize": 9, "markerfacecolor": "none", "color": "#C00000"}
LINES = {
    "no advisory": "#0072B2",
    "climb": "#009E73",
    "climb more": "#56B4E9",
    "do not descend": "#8C7E00",
    "descend": "#D55E00",
    "descend more": "#CC79A7",
    "do not climb": "#E69F00",
}
"""What is advised, in the colours of draw_encounter."""


def overview(tree: Tree, categories: list[Category], flights: Panel, lengths: NDArray[np.int64]) -> Figure:
    """The tree, and beside it NMACs of two of its categories; what a tree is not told of is grey."""
    figure = Figure(figsize=(13, 7))
    plot_tree(tree, ax=figure.add_axes((0, 0, 0.44, 1)))
    grid = figure.add_gridspec(2, 3, left=0.52, right=0.97, top=0.91, bottom=0.2, hspace=0.42, wspace=0.5)
    dangerous = [category for category in categories if category.label == "NMAC"]
    for row, (category, seen) in enumerate(zip(dangerous, SEEN, strict=True)):
        ends = [position for position in category.positions if flights.values("nmac", position).any()]
        for column, position in enumerate(ends[:3]):
            ax = figure.add_subplot(grid[row, column])
            _draw(ax, flights, int(position), int(lengths[position]))
            if column == 0:
                ax.set_title(f"Category {category.number}: {seen}", loc="left", fontsize=11, fontweight="bold", pad=9)
                ax.set_ylabel("altitude (ft)", fontsize=9)
            if row == 1:
                ax.set_xlabel("time (s)", fontsize=9)
    signs: list[Any] = [Line2D([], [], color=colour, linewidth=2.5) for colour in LINES.values()]
    signs += [Line2D([], [], linestyle="none", **RING), Patch(color=UNSEEN)]
    names = [*LINES, "NMAC", "not in the record"]
    looks = {"ncols": 5, "columnspacing": 1.2, "handlelength": 1.6, "frameon": False, "fontsize": 9}
    figure.legend(signs, names, loc="lower right", bbox_to_anchor=(0.985, 0.01), **looks)
    return figure


def _draw(ax: Axes, flights: Panel, position: int, seen: int) -> None:
    draw_encounter(ax, flights, position)
    ax.axvspan(seen - 0.5, flights.lengths[position], color=UNSEEN, zorder=0)
    moment = int(np.argmax(flights.values("nmac", position)))
    height = np.mean([flights.values(f"altitude_{number}", position)[moment] for number in (1, 2)])
    ax.plot([moment], [height], **RING)
    ax.spines[["top", "right", "left"]].set_visible(False)  # numbers of aircraft stand there
    ax.tick_params(labelsize=8, left=False)


def shape() -> Figure:
    """The record of docs/howto/shapes.md."""
    rng = np.random.default_rng(0)
    bump = np.concatenate([np.linspace(0, 1, 9), np.linspace(1, 0, 4)[1:]])
    y, records = np.array(["slow", "fast"] * 60), []
    for label in y:
        found, first = rng.normal(0, 0.05, 60), rng.integers(0, 48)
        found[first : first + 12] += bump if label == "slow" else bump[::-1]
        records.append((found * rng.uniform(1, 9) + rng.normal(0, 20))[:, None])
    panel = Panel.from_arrays(records, columns=["torque"])
    model = GrammarTreeClassifier("shapes", MonteCarlo(evaluations=5_000), random_state=0).fit(panel[:80], y[:80])
    return plot_record(model.tree_, panel, 80)


def figures() -> Iterator[tuple[str, Figure]]:
    """All of them, as the page makes them."""
    panel, y = demo.encounters()
    flights = advised_flights(load_acasx(cut=False).panel)
    model = demo.fit(panel[: demo.LEARNT_FROM], y[: demo.LEARNT_FROM])
    tree, test, labels = model.tree_, panel[demo.LEARNT_FROM :], y[demo.LEARNT_FROM :]
    held_out = flights[demo.LEARNT_FROM :]
    categories = model.categories(test, labels)
    yield "overview", overview(tree, categories, held_out, test.lengths)
    yield "tree", plot_tree(tree)
    yield "record", plot_record(tree, panel, RECORD)
    yield "category", plot_category(tree, test, labels, 3)
    yield "collage", plot_collage(tree, test, labels, columns=4, only_label="NMAC")
    yield "confusion", plot_confusion(labels, model.predict(test))
    few = GeneticProgramming(population=20, evaluations=2_000)  # small generations, so that there is a way to go
    slow = GrammarTreeClassifier(search=few, max_depth=3, random_state=0)
    slow.fit(panel[: demo.LEARNT_FROM], y[: demo.LEARNT_FROM])
    yield "search", plot_search(dict(list(slow.searches_.items())[:3]))
    sizes = GrammarTreeClassifier(demo.GRAMMAR, MonteCarlo(evaluations=2_000), cv=5, random_state=0)
    yield "front", plot_pruning_path(sizes.fit(panel[: demo.LEARNT_FROM], y[: demo.LEARNT_FROM]))
    for (name, number), show in zip(PAPERS.items(), ("altitude", "vertical_rate"), strict=True):
        yield name, plot_encounter(flights, int(np.flatnonzero(flights.ids == number)[0]), show=show)
    collage = plot_collage(categories, held_out, labels, columns=4, draw=draw_encounter, only_label="NMAC", text=None)
    yield "encounters", collage
    yield "shape", shape()


def main() -> None:
    """Draw them all."""
    for name, figure in figures():
        figure.savefig(IMAGES / f"figure_{name}.png", dpi=80)


if __name__ == "__main__":
    main()
