"""Draws the pictures of docs/figures.md into docs/images: `python docs/draw_figures.py`."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from telltree import GeneticProgramming, GrammarTreeClassifier
from telltree.datasets import make_encounters
from telltree.demo import GRAMMAR, fit_demo, make_demo
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

IMAGES = Path(__file__).with_name("images")


def demo_figures() -> Iterator[tuple[str, Figure]]:
    """Those of the demo's tree."""
    panel, ends = make_demo()
    model = fit_demo(panel[:280], ends[:280])
    tree, test, labels = model.tree_, panel[280:], ends[280:]
    yield "tree", plot_tree(tree, text="english")
    yield "record", plot_record(tree, panel, 12)
    yield "category", plot_category(tree, test, labels, 2)
    yield "collage", plot_collage(tree, test, labels, columns=3, only_label="NMAC")
    yield "confusion", plot_confusion(labels, model.predict(test))
    few = GeneticProgramming(population=20, evaluations=2_000)  # small generations, so that there is a way to go
    slow = GrammarTreeClassifier(GRAMMAR, few, max_depth=3, random_state=0).fit(panel, panel.lengths % 2)
    yield "search", plot_search({node: slow.searches_[node] for node in (1, 2, 3)})


def encounter_figures() -> Iterator[tuple[str, Figure]]:
    """Those of simulated encounters, as in the paper."""
    panel, y, family = make_encounters(300, 60, seed=0)
    late = np.flatnonzero((y == "NMAC") & (family == "late manoeuvre"))
    crossing = np.flatnonzero((y == "NMAC") & (family == "crossing in the delay"))
    yield "encounter", plot_encounter(panel, int(crossing[0]))
    yield "encounter_rate", plot_encounter(panel, int(late[0]), show="vertical_rate")
    model = GrammarTreeClassifier(GRAMMAR, max_depth=3, random_state=0).fit(panel, y)
    yield (
        "encounters",
        plot_collage(model.tree_, panel, y, columns=4, draw=draw_encounter, only_label="NMAC", text=None),
    )


def main() -> None:
    """Draw them all."""
    for figures in (demo_figures(), encounter_figures()):
        for name, figure in figures:
            figure.savefig(IMAGES / f"figure_{name}.png", dpi=80)


if __name__ == "__main__":
    main()
