import io
import math
import subprocess
import sys
from itertools import pairwise

import matplotlib
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from matplotlib.text import Text

from examples import records
from telltree import DataError, DataWarning, Formula, Panel, SettingsError
from telltree.explain import categorize, decisive_step
from telltree.operators.expression import level_text
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
from telltree.report.figures.layout import Box, Label, place, room_for, spread
from telltree.report.figures.words import drawable, width, wrapped
from telltree.search import Found, Moment
from telltree.tree import Leaf, Node, Tree

ODD = ("$a_b$", "x < y & <b>", "two\nlines", "größe ∧ λ", "_hidden", "$%s {0} \\frac", "n" * 200)


def leaf(*counts):
    return Leaf(counts, tuple(float(n) for n in counts))


def node(text, schema, true, false):
    counts = tuple(a + b for a, b in zip(true.counts, false.counts, strict=True))
    return Node(Formula.parse(text, schema), true, false, counts)


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


@pytest.fixture(scope="module")
def flights():
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


@pytest.fixture(scope="module")
def ends():
    return ["hit", "miss", "miss", "hit"]


@pytest.fixture(scope="module")
def tree(flights):
    schema = flights.schema
    inner = node('F(on and mode = "level")', schema, leaf(0, 1), leaf(1, 1))
    return Tree(node("F(rate > 25)", schema, leaf(1, 0), inner), ("hit", "miss"), schema)


def comb(nodes, schema, classes=2):
    """A bushy tree of so many nodes, with formulas of growing length."""

    def grow(number):
        if number == 0:
            return Leaf((1,) * classes, (1.0,) * classes)
        left = (number - 1) // 2
        text = " and ".join(f"(rate > {number + k}.123456789)" for k in range(1 + number % 4))
        return node(f"F({text})", schema, grow(left), grow(number - 1 - left))

    return Tree(grow(nodes), tuple(f"class {k}" for k in range(classes)), schema)


# Layout: numbers only.

boxes = st.recursive(
    st.builds(Box, st.floats(0.1, 4), st.floats(0.1, 4)),
    lambda below: st.builds(Box, st.floats(0.1, 4), st.floats(0.1, 4), st.tuples(below, below)),
    max_leaves=25,
)


def flat(box, level=0):
    return [(box, level), *(item for child in box.children for item in flat(child, level + 1))]


@given(boxes, st.booleans())
def test_boxes_of_a_tree_stay_apart_inside_the_whole_and_under_their_parents(root, down):
    placed = place(root, down=down, apart=0.2, between=0.5)
    everything = list(zip(flat(root), placed.middles, strict=True))
    for (box, _), (x, y) in everything:
        assert min(x, placed.width - x) >= box.width / 2 - 1e-9
        assert min(y, placed.height - y) >= box.height / 2 - 1e-9
    for i, ((one, level), (x, y)) in enumerate(everything):
        for (other, below), (u, v) in everything[i + 1 :]:
            across, along = (abs(x - u), y - v) if down else (abs(y - v), u - x)
            need = (one.width + other.width) / 2 if down else (one.height + other.height) / 2
            depth = (one.height + other.height) / 2 if down else (one.width + other.width) / 2
            if level == below:
                assert across >= need + 0.2 - 1e-9
            else:
                assert abs(along) >= depth + 0.5 - 1e-9
    at = dict(zip((id(box) for (box, _), _ in everything), placed.middles, strict=True))
    axis = 0 if down else 1
    for (box, _), middle in everything:
        if box.children and len(at) == len(everything):
            ends = [at[id(child)][axis] for child in box.children]
            assert middle[axis] == pytest.approx(sum(ends) / 2)


@given(st.lists(st.floats(-100, 100), max_size=30), st.floats(0.01, 5))
def test_labels_are_spread_in_order_and_only_as_far_as_needed(wanted, gap):
    found = spread(wanted, gap)
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    for left, right in pairwise(order):
        assert found[right] - found[left] >= gap - 1e-9
    if all(b - a >= gap for a, b in pairwise(sorted(wanted))):
        assert found == pytest.approx(wanted)


def test_an_axis_has_room_for_its_labels():
    labels = [Label(9.0, 1.0, True), Label(0.0, 0.5, False)]
    low, high = room_for(0, 10, labels, 4)
    inch = (high - low) / 4
    assert high == pytest.approx(9 + inch)
    assert low == pytest.approx(-0.5 * inch)
    assert room_for(0, 10, [], 4) == (0, 10)
    assert np.isfinite(room_for(0, 10, [Label(5, 9.0, True), Label(5, 9.0, False)], 4)).all()


# Words.


@given(st.text(max_size=300), st.floats(0.3, 4), st.integers(1, 5))
def test_lines_are_as_narrow_and_few_as_asked(text, inches, lines):
    found = wrapped(text, inches, 9, lines=lines)
    assert 1 <= len(found) <= lines
    assert all(width(line, 9) <= inches or len(line) == 1 for line in found)
    whole = wrapped(text, inches, 9)
    assert "".join("".join(whole).split()) == "".join(drawable(text).split())
    assert (found == whole) or found[-1].endswith("…")


def test_what_no_font_has_is_a_box_and_all_else_is_as_given():
    assert drawable("\x1b[31m \ud800") == "□[31m □"
    assert drawable("$x_1$ ≤ größe ∧ Ω") == "$x_1$ ≤ größe ∧ Ω"
    assert drawable("a\nb\tc") == "a b c"


# The tree.


def test_a_tree_shows_formulas_categories_and_counts(tree):
    figure = saved(plot_tree(tree))
    assert isinstance(figure, Figure)
    said = words(figure)
    assert {"F(rate > 25)", 'F(on ∧ (mode = "level"))', "[1] hit", "[2] miss", "[3] hit", "yes", "no"} <= set(said)
    assert {"hit: 2, miss: 2", "miss: 2, hit: 1", "hit: 1", "miss: 1", "hit: 1, miss: 1"} <= set(said)
    assert len(figure.findobj(FancyBboxPatch)) == 5


def test_a_tree_speaks_english_and_counts_the_records_of_a_panel(tree, flights, ends):
    figure = saved(plot_tree(tree, text="english", panel=flights, y=ends))
    assert "at some point, [vertical rate] is greater than 25 ft/s" in words(figure)
    assert "[1] hit" in words(figure)
    assert words(figure).count("hit: 2") == 1  # both records that climb steeply, one of them beyond all bounds
    assert words(saved(plot_tree(tree, panel=flights))).count("2 records") == 2
    strange = plot_tree(tree, panel=flights, y=["hit", "lost", "lost", "hit"])
    assert "lost" in words(saved(strange))


def test_constants_have_the_digits_asked_for(flights):
    third = Tree(node(f"F(rate > {1 / 3!r})", flights.schema, leaf(1, 0), leaf(0, 1)), ("a", "b"), flights.schema)
    assert "F(rate > 0.3333)" in words(plot_tree(third))
    assert "F(rate > 0.33)" in words(plot_tree(third, digits=2))
    assert "".join(["F(rate", ">", "0.3333333333333333)"]) in "".join(
        "".join(words(plot_tree(third, digits=None))).split()
    )


@pytest.mark.parametrize(("nodes", "classes"), [(0, 1), (1, 2), (7, 40), (60, 2)])
def test_trees_of_any_size_are_drawn_with_every_word_in_its_box(flights, nodes, classes):
    figure = saved(plot_tree(comb(nodes, flights.schema, classes)))
    cards = figure.findobj(FancyBboxPatch)
    assert len(cards) == 2 * nodes + 1
    renderer = figure.canvas.get_renderer()
    frames = [card.get_window_extent(renderer) for card in cards]
    for text in figure.findobj(Text):
        if text.get_text().startswith(("F(", "[")):
            box = text.get_window_extent(renderer)
            assert any(f.x0 <= box.x0 and box.x1 <= f.x1 and f.y0 <= box.y0 and box.y1 <= f.y1 for f in frames), text
    assert sum(text.startswith("[") for text in words(figure)) == nodes + 1


def test_a_tree_fits_into_given_axes(flights):
    figure = Figure(figsize=(4, 3))
    ax = figure.subplots(1, 2)[1]
    assert plot_tree(comb(7, flights.schema), ax=ax, direction="down") is figure
    assert ax.get_window_extent().x0 > 0
    saved(figure)


@pytest.mark.parametrize(("name", "text"), list(zip(ODD, ["english", "formula"] * 4, strict=False)))
def test_odd_names_are_drawn_as_they_are(name, text):
    table = np.array([[1.0, 5.0], [2.0, 6.0], [9.0, 7.0]], dtype=object)
    table = np.column_stack([table, [name, "other", name]])
    panel = Panel.from_arrays([table, table[:1]], columns=[name, "x", "c"], ids=[name, "b"], time_unit=name, period=1.0)
    formula = Formula.parse("F(x > 6)", panel.schema).expression
    odd = next(e for e in formula.walk() if str(e) == "x > 6")
    column = type(odd.args[0])(type(odd.args[0].head)(name, odd.args[0].head.type))
    inner = type(odd)(odd.head, (column, odd.args[1]))
    level = Formula.parse(f"F(c = {level_text(name)})", panel.schema)
    root = Node(
        Formula(type(formula)(formula.head, (inner,))), Node(level, leaf(1, 0), leaf(0, 1), (1, 1)), leaf(0, 1), (1, 2)
    )
    tree = Tree(root, (name, "_other"), panel.schema)
    y = [name, "_other"]
    figures = [
        plot_tree(tree, text=text, panel=panel, y=y),
        plot_record(tree, panel, 0, text=text),
        plot_category(tree, panel, y, 1, text=text),
        plot_collage(tree, panel, y, text=text),
        plot_confusion(y, y),
    ]
    shown = " ".join(name.split())[:12]
    for figure in figures:
        saved(figure)
        assert any(shown in said for said in words(figure)), words(figure)
        assert not any(text.get_parse_math() for text in figure.findobj(Text) if shown in text.get_text())


def test_a_dark_theme_does_not_make_words_vanish(tree, flights):
    with matplotlib.rc_context():
        matplotlib.rcParams.update({"text.color": "white", "axes.labelcolor": "white", "xtick.color": "white"})
        matplotlib.rcParams.update({"axes.facecolor": "black", "figure.facecolor": "black", "ytick.color": "white"})
        before = dict(matplotlib.rcParams)
        figures = [plot_tree(tree), plot_record(tree, flights, 0), plot_confusion([1, 2], [1, 1])]
        for figure in figures:
            saved(figure)
            drawn = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
            assert all(text.get_color() != "white" or text.get_text() == "1" for text in drawn)
            assert figure.get_facecolor()[:3] == (1, 1, 1)
        assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"text": "latin"}, 'text must be "formula" or "english"'),
        ({"direction": "up"}, "direction must be"),
        ({"digits": 0}, "digits must be a whole number of at least 1"),
        ({"y": ["hit"]}, "without the panel"),
    ],
)
def test_senseless_settings_of_a_tree_are_refused(tree, wrong, says):
    with pytest.raises(SettingsError, match=says):
        plot_tree(tree, **wrong)


# One record.


def test_a_record_shows_its_columns_and_where_formulas_held(tree, flights):
    figure = saved(plot_record(tree, flights, 1))
    assert len(figure.axes) == 5  # rate, on and mode, and two formulas
    (line,) = curves(figure.axes[0])
    np.testing.assert_array_equal(line.get_xdata(), [0, 1, 2, 3])
    np.testing.assert_array_equal(line.get_ydata(), flights.values("rate", 1))  # the missing value is a gap
    assert np.isnan(line.get_ydata()[1])
    assert list(line.get_markevery()) == [0]  # a value that stands alone is a dot
    assert "> 25" in words(figure)
    assert {"rate (ft/s)", "on", "mode", "1: F(rate > 25)"} <= set(words(figure))
    assert "record 1: [2] miss" in words(figure)
    assert figure.axes[-1].get_xlabel() == "step"


def test_a_records_bands_cover_the_steps_that_hold(tree, flights):
    figure = plot_record(tree, flights, 0)
    held = figure.axes[1].findobj(PolyCollection)[-1]
    (shape,) = held.get_paths()
    assert (shape.vertices[:, 0].min(), shape.vertices[:, 0].max()) == (2.5, 4.5)  # rate > 25 at steps 3 and 4
    assert len(figure.axes) == 2  # it comes to the first leaf, after one formula about one column


def test_the_decisive_steps_of_a_record_are_marked(tree, flights):
    for record in range(len(flights)):
        figure = plot_record(tree, flights, record)
        number = int(tree.apply(flights)[record])
        branches = tree.leaves[number - 1][1]
        marks = [line.get_xdata()[0] for ax in figure.axes for line in ax.lines if line.get_marker() == "D"]
        assert marks == [decisive_step(formula, flights, record) for formula, _ in branches]


def test_infinities_are_arrows_and_gaps(tree, flights):
    figure = saved(plot_record(tree, flights, 3, columns=["rate"]))
    markers = {line.get_marker(): list(line.get_xdata()) for line in figure.axes[0].lines}
    assert markers["^"] == [0]
    assert markers["v"] == [2]
    assert np.isfinite(figure.axes[0].get_ylim()).all()


def test_one_step_is_a_dot_with_room_around_it(tree, flights):
    figure = saved(plot_record(tree, flights, 2))
    assert figure.axes[0].get_xlim() == (-0.5, 0.5)
    assert list(curves(figure.axes[0])[0].get_markevery()) == [0]


def test_columns_are_chosen_by_name_also_those_the_tree_does_not_know(tree, flights):
    figure = saved(plot_record(tree, flights, 0, columns=["mode", "rate"], text="english"))
    assert len(figure.axes) == 3
    assert "vertical rate (ft/s)" in words(figure)
    wide = records({"rate": [30.0], "on": [True], "mode": ["up"], "extra": ["a b"]})
    assert "extra" in words(saved(plot_record(tree, wide, 0, columns=["extra"])))
    with pytest.raises(DataError, match="did you mean 'mode'"):
        plot_record(tree, flights, 0, columns=["mood"])
    with pytest.raises(DataError, match="there is no record 9"):
        plot_record(tree, flights, 9)


def test_times_and_their_unit_are_on_the_axis(tree):
    rows = {"id": [1] * 3, "t": [10.0, 10.5, 13.0], "rate": [1.0, 2.0, 3.0], "on": [True] * 3, "mode": ["up"] * 3}
    panel = Panel.from_frame(pl.DataFrame(rows), id="id", time="t", time_unit="min")
    figure = saved(plot_record(tree, panel, 0))
    assert curves(figure.axes[0])[0].get_xdata().tolist() == [10.0, 10.5, 13.0]
    assert figure.axes[-1].get_xlabel() == "time (min)"


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


@pytest.mark.parametrize(("length", "missing", "columns"), [(1, 0.0, 3), (5000, 0.1, 3), (40, 1.0, 3), (30, 0.2, 500)])
def test_hard_panels_are_drawn(length, missing, columns):
    panel = hard_panel(length, missing, columns)
    text = "F(abs(r0 - r1) < 0.5 and not b)", 'G(r2 < 1e300) or count(c = "level 1") > count(b)'
    inner = node(text[1], panel.schema, leaf(1, 0), leaf(0, 1))
    tree = Tree(node(text[0], panel.schema, inner, leaf(1, 1)), ("a", "b"), panel.schema)
    for record in (0, 1):
        figure = saved(plot_record(tree, panel, record, text="english"))
        assert len(figure.axes) >= 3
    for number in (1, 2, 3):
        saved(plot_category(tree, panel, ["a", "b"], number))
    saved(plot_collage(tree, panel))


def test_values_at_the_edge_of_what_numbers_can_be_are_drawn(tree):
    panel = records({"rate": [1.7e308, -1.7e308, 0.0, 5e-324], "on": [True] * 4, "mode": ["up"] * 4})
    saved(plot_record(tree, panel, 0, columns=["rate"]))
    saved(plot_category(tree, panel, None, 1))
    saved(plot_collage(tree, panel))


def test_a_category_that_the_tree_never_saw_is_drawn_with_a_warning(tree):
    panel = records({"rate": [1.0, 2.0], "on": [True, True], "mode": ["sideways", "up"]})
    with pytest.warns(DataWarning, match="sideways"):
        figure = plot_record(tree, panel, 0)
    assert "another" in words(saved(figure))


# A category.


def test_a_category_shows_its_members_over_each_other(tree, flights, ends):
    figure = saved(plot_category(tree, flights, ends, 1))
    members = categorize(tree, flights, ends)[0].positions
    lines = curves(figure.axes[0])
    assert len(lines) == len(members) == 2
    for line, record in zip(lines, members, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), flights.values("rate", int(record)))
    assert "2 records, hit: 2" in words(figure)
    assert {"[1] hit", "> 25", "decided: F(rate > 25)"} <= set(words(figure))


def test_the_decisive_steps_of_members_are_marked(tree, flights):
    figure = plot_category(tree, flights, None, 3)
    members = categorize(tree, flights)[2].positions
    formula = tree.nodes[1].formula
    wanted = [decisive_step(formula, flights, int(record)) for record in members]
    marks = [line for line in figure.axes[1].lines if line.get_marker() == "s"]
    assert marks[0].get_xdata().tolist() == wanted
    assert marks[0].get_ydata().tolist() == list(range(len(members)))[::-1]


def test_a_category_draws_the_first_members_only(tree, flights):
    figure = saved(plot_category(tree, flights, None, 1, most=1))
    assert "2 records; the first 1 are drawn" in words(figure)
    assert len(curves(figure.axes[0])) == 1


def test_a_category_without_members_says_so(tree, flights):
    figure = saved(plot_category(tree, flights[:1], None, 2))
    assert "none of these records comes here" in words(figure)
    assert figure.axes == []


def test_a_tree_that_is_a_single_leaf_has_one_category(flights):
    tree = Tree(leaf(4), ("all",), flights.schema)
    saved(plot_tree(tree))
    assert "every record" in words(saved(plot_category(tree, flights, None, 1, text="english")))
    assert "record 0: [1] all" in words(saved(plot_record(tree, flights, 0)))
    assert len(saved(plot_collage(tree, flights)).axes) == 4


def test_records_of_different_days_are_counted_from_their_start(tree):
    rows = {"id": [1, 1, 2, 2], "t": [0.0, 1.0, 500.0, 501.5], "rate": [30.0] * 4, "on": [True] * 4, "mode": ["up"] * 4}
    panel = Panel.from_frame(pl.DataFrame(rows), id="id", time="t", time_unit="s")
    figure = saved(plot_category(tree, panel, None, 1))
    assert figure.axes[-1].get_xlabel() == "time since the start (s)"
    assert figure.axes[-1].get_xlim() == (-0.75, 2.25)


@pytest.mark.parametrize("number", [0, 4, True, "1"])
def test_a_number_that_no_category_has_is_refused(tree, flights, number):
    with pytest.raises(SettingsError, match="number must be"):
        plot_category(tree, flights, None, number)


# The collage.


def test_a_collage_draws_the_first_members_of_each_category(tree, flights, ends):
    asked = []
    plot_collage(tree, flights, ends, columns=1, draw=lambda ax, panel, record: asked.append((type(ax), record)))
    first = [int(category.positions[0]) for category in categorize(tree, flights) if len(category.positions)]
    assert asked == [(Axes, record) for record in first]
    figure = saved(plot_collage(tree, flights, ends))
    assert len(figure.axes) == len(flights)
    assert "[1] hit (2 records, hit: 2)" in words(figure)
    assert "2 (miss)" in words(figure)  # a member of a category that is called hit
    assert any(said.startswith("rate, 0 to 30 ft/s") for said in words(figure))


def test_a_collage_of_one_label_or_of_given_categories(tree, flights):
    figure = saved(plot_collage(tree, flights, only_label="hit", text=None))
    assert not any(said.startswith("[2]") for said in words(figure))
    given_ones = categorize(tree, flights)[:1]
    assert len(saved(plot_collage(given_ones, flights)).axes) == 2
    with pytest.raises(DataError, match="no category has the label 'lost'; there are 'hit', 'miss'"):
        plot_collage(tree, flights, only_label="lost")
    with pytest.raises(DataError, match="nothing to draw"):
        plot_collage(tree, flights[:0])
    with pytest.raises(DataError, match="give the panel of them"):
        plot_collage(given_ones, flights[:1])
    with pytest.raises(SettingsError, match="columns"):
        plot_collage(tree, flights, columns=0)


def test_a_collage_without_real_columns_shows_bands(flights):
    tree = Tree(node("F(on)", flights.schema, leaf(1, 0), leaf(0, 1)), ("a", "b"), flights.schema)
    figure = saved(plot_collage(tree, flights))
    assert figure.axes[0].findobj(PolyCollection)


def test_sixty_categories_make_sixty_rows():
    values = np.arange(60.0)
    panel = Panel.from_arrays([np.array([[v], [v]]) for v in values], columns=["rate"])

    def split(low, high):
        if high - low == 1:
            return leaf(1, 0)
        middle = (low + high) // 2
        return node(f"F(rate < {middle})", panel.schema, split(low, middle), split(middle, high))

    tree = Tree(split(0, 60), ("a", "b"), panel.schema)
    figure = plot_collage(tree, panel, text=None)
    figure.savefig(io.BytesIO(), dpi=20)
    assert len(figure.axes) == 60


# Searches.


def found(*moments, evaluations=100, seconds=2.0):
    return Found(None, (), None, tuple(Moment(*moment) for moment in moments), evaluations, seconds, False)


def test_a_search_falls_with_evaluations_and_with_time():
    figure = saved(plot_search(found((10, 0.1, math.inf), (20, 0.5, 40.0), (60, 1.0, 30.0))))
    by_evaluations, by_time = (ax.lines[0] for ax in figure.axes)
    assert by_evaluations.get_xdata().tolist() == [20, 60, 100]
    assert by_evaluations.get_ydata().tolist() == [40, 30, 30]
    assert by_time.get_xdata().tolist() == [0.5, 1.0, 2.0]
    assert {"evaluations", "seconds", "best fitness"} <= set(words(figure))


def test_searches_of_many_nodes_and_of_none():
    runs = {number: found((number, 0.1, 40.0 - number)) for number in range(1, 40)}
    figure = saved(plot_search(runs))
    assert {"node 1", "and 27 more"} <= set(words(figure))
    assert "nothing of use was found" in words(saved(plot_search(found((10, 0.1, math.inf)))))
    assert "_a" in words(saved(plot_search({"_a": found((1, 0.1, 1.0))})))
    with pytest.raises(DataError, match="no searches"):
        plot_search({})


# The confusion matrix.


def test_a_confusion_matrix_counts_rows_by_truth():
    figure = saved(plot_confusion(["a", "a", "b", "b", "b"], ["a", "b", "b", "b", "b"], classes=["b", "a", "c"]))
    ax = figure.axes[0]
    cells = {(round(t.get_position()[1]), round(t.get_position()[0])): t.get_text() for t in ax.texts}
    assert cells == {(0, 0): "3", (1, 0): "1", (1, 1): "1"}
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["b", "a", "c"]


@pytest.mark.parametrize("classes", [1, 2, 40])
def test_confusion_matrices_of_any_size(classes):
    y = np.arange(200) % classes
    figure = saved(plot_confusion(y, y[::-1]))
    assert len(figure.axes[0].get_xticklabels()) == classes
    saved(plot_confusion([f"a class of long name {k}" for k in y], [f"a class of long name {k}" for k in y]))


@pytest.mark.parametrize(
    ("true", "predicted", "classes", "says"),
    [
        ([1], [1, 2], None, "1 true labels, but 2"),
        ([], [], None, "no labels"),
        ([1, 2], [1, 2], [1], "labels 2 are not among the classes"),
        ([[1]], [[1]], None, "one-dimensional"),
    ],
)
def test_labels_that_cannot_be_compared_are_refused(true, predicted, classes, says):
    with pytest.raises(DataError, match=says):
        plot_confusion(true, predicted, classes)


def test_labels_of_several_types_are_compared():
    assert "2" in words(saved(plot_confusion([1, "a", "a"], [1, "a", "a"])))


# Encounters.


@pytest.fixture(scope="module")
def encounters():
    """Two aircraft that cross while an advisory waits for its pilot."""
    t = np.arange(50)
    altitudes = 7550.0 - 14 * t + np.where(t > 33, 14 * (t - 33), 0), 6800.0 + 12 * t
    told = (
        {28: "Level-off, Do Not Climb", 33: "Descend", 37: "Increase Descent", 42: "Clear of Conflict"},
        {31: "Crossing Climb", 45: "Clear of Conflict"},
    )
    given = {}
    for k, (altitude, changes) in enumerate(zip(altitudes, told, strict=True), 1):
        advisory = np.full(50, "Clear of Conflict", object)
        phase = np.full(50, "none", object)
        for step, name in changes.items():
            advisory[step:] = name
        phase[min(changes) : min(changes) + 5], phase[min(changes) + 5 : max(changes)] = "delay", "following"
        given |= {
            f"altitude_{k}": altitude.tolist(), f"vertical_rate_{k}": np.gradient(altitude).tolist(),
            f"advisory_{k}": advisory.tolist(), f"pilot_phase_{k}": phase.tolist(),
        }  # fmt: skip
    return records(given)


@pytest.mark.parametrize("show", ["altitude", "vertical_rate"])
def test_an_encounter_says_what_was_advised_and_done(encounters, show):
    figure = saved(plot_encounter(encounters, 0, show=show))
    said = words(figure)
    for words_ in ("Level-off, Do Not Climb", "Descend", "Increase Descent", "Crossing Climb"):
        assert said.count(words_) == 1
    assert said.count("Clear of Conflict") == 2
    assert [text.strip() for text in said].count("1") == 2
    ax = figure.axes[0]
    delays = [line.get_xdata().tolist() for line in ax.lines if line.get_marker() == "_"]
    assert delays == [list(range(28, 33)), list(range(31, 36))]
    following = [line.get_xdata().tolist() for line in ax.lines if line.get_marker() == (6, 2, 0)]
    assert following == [list(range(33, 42)), list(range(36, 45))]
    first = next(line for line in ax.lines if len(line.get_xdata()) > 2)
    np.testing.assert_array_equal(first.get_ydata(), encounters.values(f"{show}_1", 0)[:29])


def test_words_of_an_encounter_do_not_lie_on_each_other(encounters):
    figure = saved(plot_encounter(encounters, 0), dpi=100)
    renderer = figure.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in figure.axes[0].texts]
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])


def test_a_collage_of_encounters(encounters):
    tree = Tree(leaf(1), ("NMAC",), encounters.select(["advisory_1"]).schema)
    assert "altitude_1" not in tree.schema  # what is drawn need not be what the tree speaks of
    figure = saved(plot_collage(tree, encounters, draw=draw_encounter))
    assert len(figure.axes) == 1
    assert len([line for line in figure.axes[0].lines if len(line.get_xdata()) > 1]) >= 6


def test_an_encounter_needs_its_columns(encounters, flights):
    with pytest.raises(DataError, match="unknown column 'altitude_1'"):
        plot_encounter(flights, 0)
    with pytest.raises(SettingsError, match="show must be"):
        plot_encounter(encounters, 0, show="speed")
    with pytest.raises(DataError, match="there is no record"):
        plot_encounter(encounters, 1)


# The library.


def test_without_matplotlib_the_remedy_is_named():
    code = "import sys; sys.modules['matplotlib'] = None\nfrom telltree.report import plot_tree"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert 'pip install "telltree[plot]"' in run.stderr.splitlines()[-1]


def test_pyplot_is_never_loaded():
    code = (
        "import sys\nfrom telltree.report import plot_confusion, plot_tree, plot_record, plot_collage\n"
        "plot_confusion([1], [1]).savefig('/dev/null', format='png')\nprint('matplotlib.pyplot' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
