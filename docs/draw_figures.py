"""Draws the pictures of README.md and docs/figures.md into docs/images: `python docs/draw_figures.py`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from telltree import GeneticProgramming, GrammarTreeClassifier, Panel
from telltree.datasets import make_encounters
from telltree.explain import categorize
from telltree.report import (
    draw_encounter,
    plot_category,
    plot_collage,
    plot_confusion,
    plot_encounter,
    plot_record,
    plot_search,
    plot_tree,
)
from telltree.tree import Tree

IMAGES = Path(__file__).with_name("images")
COLUMNS = ["active_1", "responding_1", "sense_1", "vertical_rate_1", "relative_altitude_1"]
GRAMMAR = """
Start ::= F(VB) | G(VB)
VB    ::= Atom @2 | VB and VB
Atom  ::= each Boolean | sense_1 = levels
        | vertical_rate_1 {<, >} thresholds | abs(relative_altitude_1) < [100, 200, 500]
"""
SEEN = {'"up"': "told to climb, aircraft 1 sinks", '"down"': "told to descend, aircraft 1 climbs"}
"""What the last branch to a category says, by the advisory that it speaks of."""
LINES = {"no advisory": "#0072B2", "told to climb": "#009E73", "told to descend": "#D55E00"}
"""The colours of draw_encounter that tell most here, and what they mean."""


def learn(panel: Panel, y: NDArray[Any]) -> GrammarTreeClassifier:
    """The tree that all the documents show."""
    search = GeneticProgramming(evaluations=2_000)
    model = GrammarTreeClassifier(GRAMMAR, search, max_depth=3, min_members=10, prevent_same_label=True, random_state=0)
    return model.fit(panel, y)


def overview(tree: Tree, encounters: Panel) -> Figure:
    """The tree, and beside it encounters of the categories that predict NMAC."""
    figure = Figure(figsize=(13, 7))
    plot_tree(tree, ax=figure.add_axes((0, 0, 0.44, 1)), text="english")
    dangerous = [category for category in categorize(tree, encounters) if category.label == "NMAC"]
    grid = figure.add_gridspec(len(dangerous), 3, left=0.52, right=0.97, top=0.91, bottom=0.15, hspace=0.42, wspace=0.5)
    for row, category in enumerate(dangerous):
        for column, position in enumerate(category.positions[:3]):
            ax = figure.add_subplot(grid[row, column])
            draw_encounter(ax, encounters, int(position))
            ax.spines[["top", "right", "left"]].set_visible(False)  # numbers of aircraft stand there
            ax.tick_params(labelsize=8)
            if column == 0:
                last = category.description.rsplit("F(", 1)[1]
                (seen,) = (words for advisory, words in SEEN.items() if advisory in last)
                ax.set_title(f"Category {category.number}: {seen}", loc="left", fontsize=11, fontweight="bold", pad=9)
                ax.set_ylabel("altitude (ft)", fontsize=9)
            if row == len(dangerous) - 1:
                ax.set_xlabel("time (s)", fontsize=9)
    for (words, colour), x in zip(LINES.items(), (0.53, 0.68, 0.83), strict=True):
        figure.add_artist(Line2D([x, x + 0.025], [0.04, 0.04], color=colour, linewidth=2.5))
        figure.text(x + 0.032, 0.04, words, fontsize=9.5, va="center")
    return figure


def figures() -> Iterator[tuple[str, Figure]]:
    """All of them, as the page makes them."""
    everything, y, family = make_encounters(1_000, nmac=200)
    panel = everything.select(COLUMNS)
    model = learn(panel[:700], y[:700])
    tree, test, labels = model.tree_, panel[700:], y[700:]
    yield "overview", overview(tree, everything[700:])
    yield "tree", plot_tree(tree, text="english")
    yield "record", plot_record(tree, panel, 710)
    yield "category", plot_category(tree, test, labels, 2)
    yield "collage", plot_collage(tree, test, labels, columns=4, only_label="NMAC")
    yield "confusion", plot_confusion(labels, model.predict(test))
    few = GeneticProgramming(population=20, evaluations=2_000)  # small generations, so that there is a way to go
    slow = GrammarTreeClassifier(search=few, max_depth=3, random_state=0).fit(panel[:700], y[:700])
    yield "search", plot_search({node: slow.searches_[node] for node in (1, 2, 3)})
    late = np.flatnonzero((y == "NMAC") & (family == "late manoeuvre"))
    yield "encounter", plot_encounter(everything, 710)
    yield "encounter_rate", plot_encounter(everything, int(late[0]), show="vertical_rate")
    collage = plot_collage(tree, everything[700:], labels, columns=4, draw=draw_encounter, only_label="NMAC", text=None)
    yield "encounters", collage


def main() -> None:
    """Draw them all."""
    for name, figure in figures():
        figure.savefig(IMAGES / f"figure_{name}.png", dpi=80)


if __name__ == "__main__":
    main()
