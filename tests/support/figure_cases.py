"""Trees and records for figures, and what is written and drawn in one."""

import io
import math

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from tests.support.class_trees import class_leaf, class_tree
from tests.support.examples import records

from telltree import Formula, Panel
from telltree.tree import Node

ODD = ("$a_b$", "x < y & <b>", "two\nlines", "größe ∧ λ", "_hidden", "$%s {0} \\frac", "n" * 200)


def leaf(*counts):
    return class_leaf(counts, tuple(float(n) for n in counts))


def node(text, schema, true, false):
    return Node(Formula.parse(text, schema), true, false)


def words(figure):
    """All that is written, lines joined by spaces."""
    return [text.get_text().replace("\n", " ") for text in figure.findobj(Text) if text.get_text()]


def saved(figure, dpi=60):
    """Draw the figure; all that is drawn must be inside it, as far as letters on a coarse grid allow."""
    figure.savefig(io.BytesIO(), dpi=dpi)
    figure.set_dpi(dpi)
    renderer, page = FigureCanvasAgg(figure).get_renderer(), figure.bbox
    drawn = figure.get_tightbbox(renderer).transformed(figure.dpi_scale_trans)
    assert min(drawn.x0, drawn.y0, page.x1 - drawn.x1, page.y1 - drawn.y1) > -3
    return figure


def curves(ax):
    """The lines that hold a record: not those of thresholds or marks."""
    return [line for line in ax.lines if line.get_linestyle() != "None" and len(line.get_xdata()) != 2]


def make_flights():
    """Ragged records with columns of every type, one step a second."""
    climb = [0.0, 5.0, 12.0, 30.0, 28.0, 3.0]
    made = records(
        {"rate": climb, "on": [False, False, True, True, True, False], "mode": ["up"] * 4 + ["level"] * 2},
        {"rate": [1.0, None, 2.0, 1.0], "on": [True, True, None, False], "mode": ["level", None, "down", "down"]},
        {"rate": [4.0], "on": [False], "mode": ["down"]},
        {"rate": [math.inf, 9.0, -math.inf], "on": [True, False, False], "mode": ["up", "up", "down"]},
    )
    columns = {"rate": {"unit": "ft/s", "phrase": "vertical rate"}, "on": {"phrase": "advisory is active"}}
    return made.with_schema(made.schema.override(columns))


def make_tree(flights):
    """A tree of two questions about them."""
    schema = flights.schema
    inner = node('F(on and mode = "level")', schema, leaf(0, 1), leaf(1, 1))
    return class_tree(node("F(rate > 25)", schema, leaf(1, 0), inner), ("hit", "miss"), schema)


def comb(nodes, schema, classes=2):
    """A bushy tree of this many nodes, with formulas of growing length."""

    def grow(number):
        if number == 0:
            return class_leaf((1,) * classes, (1.0,) * classes)
        left = (number - 1) // 2
        text = " and ".join(f"(rate > {number + k}.123456789)" for k in range(1 + number % 4))
        return node(f"F({text})", schema, grow(left), grow(number - 1 - left))

    return class_tree(grow(nodes), tuple(f"class {k}" for k in range(classes)), schema)


def hard_panel(length, missing=0.0, columns=3):
    """Two long records of real, Boolean and categorical columns."""
    rng = np.random.default_rng(0)
    names = [f"r{i}" for i in range(columns)]
    made = []
    for steps in (length, max(1, length // 2)):
        table = np.empty((steps, columns + 2), object)
        table[:, :columns] = rng.normal(size=(steps, columns)).cumsum(axis=0)
        table[:, columns] = rng.random(steps) < 0.5
        table[:, columns + 1] = rng.choice([f"level {k}" for k in range(9)], steps)
        table[rng.random(table.shape) < missing] = None
        made.append(table)
    types = {name: {"type": "real"} for name in names} | {"b": {"type": "Boolean"}, "c": {"type": "categorical"}}
    types["c"]["levels"] = [f"level {k}" for k in range(9)]
    return Panel.from_arrays(made, columns=[*names, "b", "c"], schema=types)
