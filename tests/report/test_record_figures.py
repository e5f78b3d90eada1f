"""Figures of records, categories, collages and encounters."""

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.dates import num2date

from tests.support.class_trees import class_tree
from tests.support.examples import records
from tests.support.figure_cases import curves, hard_panel, leaf, node, saved, words

from telltree import Panel
from telltree.errors import DataError, DataWarning, SettingsError
from telltree.explain import categorize, decisive_step
from telltree.report import (
    draw_encounter,
    plot_category,
    plot_collage,
    plot_encounter,
    plot_record,
    plot_tree,
)
from telltree.tree.tree import Headline, Leaf

# One record.


def test_a_record_shows_its_columns_and_where_formulas_held(tree, flights):
    figure = saved(plot_record(tree, flights, 1, text="formula"))
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


def test_figures_speak_english_unless_asked(tree, flights, ends):
    figures = [plot_record(tree, flights, 0), plot_category(tree, flights, ends, 1), plot_tree(tree)]
    for figure in figures:
        assert any("vertical rate is above 25 ft/s" in " ".join(said.split()) for said in words(saved(figure)))


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


def test_counts_have_bands_where_what_they_count_is_true():
    panel = records({"a": [False, True, True, False, True, False], "b": [True] * 6})
    inner = node("count(b) > count(a)", panel.schema, leaf(1, 0), leaf(0, 1))
    tree = class_tree(node("count(a) > 16", panel.schema, leaf(1, 0), inner), ("u", "v"), panel.schema)
    figure = saved(plot_record(tree, panel, 0, text="formula"))
    bands = figure.axes[2:]  # after those of both columns
    held = [[(p.vertices[:, 0].min(), p.vertices[:, 0].max()) for p in ax.collections[-1].get_paths()] for ax in bands]
    assert held == [[(0.5, 2.5), (3.5, 4.5)], [(-0.5, 5.5)], [(0.5, 2.5), (3.5, 4.5)]]
    marks = [line.get_xdata()[0] for ax in bands for line in ax.lines if line.get_marker() == "D"]
    assert marks == [decisive_step(formula, panel, 0) for formula, _ in [*tree.leaves[1][1], tree.leaves[1][1][1]]]
    said = [" ".join(text.split()) for text in words(figure)]
    assert {"false: 3 of more than 16", "true: 6", "true: 3"} <= set(said)
    assert {"1: count(a) > 16", "2: count(b) > count(a), count(b)", "2: count(b) > count(a), count(a)"} <= set(said)


def dated(*starts, hours=30, zone=None):
    rows = []
    for number, start in enumerate(starts):
        times = pd.date_range(start, periods=hours, freq="h", tz=zone)
        rows.append(pd.DataFrame({"id": number, "t": times, "rate": 30.0, "on": True, "mode": "up"}))
    return Panel.from_frame(pd.concat(rows), id="id", time="t")


def test_dates_are_dates_on_the_axis(tree):
    panel = dated("2024-10-26 12:00", zone="Europe/Zurich")
    figure = saved(plot_record(tree, panel, 0))
    (line,) = curves(figure.axes[0])
    days = np.diff(line.get_xdata())
    np.testing.assert_allclose(days, 1 / 24)  # though clocks were set back
    assert num2date(line.get_xdata()[0]).isoformat() == "2024-10-26T12:00:00+00:00"
    assert figure.axes[-1].get_xlabel() == "time (UTC+02:00)"
    ticks = [label.get_text() for label in figure.axes[-1].get_xticklabels()]
    assert {"Oct-27", "18:00"} <= set(ticks)
    assert saved(plot_record(tree, dated("2024-10-26"), 0)).axes[-1].get_xlabel() == "time"


@pytest.mark.parametrize("start", ["0001-01-01T00:00", "9999-12-31T20:00"])
def test_dates_that_no_axis_can_show_are_counted_from_the_start(tree, start):
    times = np.datetime64(start, "us") + np.arange(4).astype("m8[h]")
    frame = pd.DataFrame({"id": 0, "t": times, "rate": 30.0, "on": True, "mode": "up"})
    figure = saved(plot_record(tree, Panel.from_frame(frame, id="id", time="t"), 0))
    assert figure.axes[-1].get_xlabel() == "time since the start (min)"


def test_members_of_one_time_share_an_axis_of_dates_and_others_count_from_their_starts(tree):
    together = saved(plot_category(tree, dated("2024-10-26", "2024-10-26 05:00"), None, 1))
    assert together.axes[-1].get_xlabel() == "time"
    begins = [line.get_xdata()[0] for line in curves(together.axes[0])]
    assert begins[1] - begins[0] == pytest.approx(5 / 24)
    apart = saved(plot_category(tree, dated("2024-10-26", "2024-11-26"), None, 1))
    assert apart.axes[-1].get_xlabel() == "time since the start (h)"
    assert [line.get_xdata()[-1] for line in curves(apart.axes[0])] == [29, 29]
    assert "across: time (h)" in words(saved(plot_collage(tree, dated("2024-10-26", "2024-11-26"))))


@pytest.mark.parametrize(("length", "missing", "columns"), [(1, 0.0, 3), (5000, 0.1, 3), (40, 1.0, 3), (30, 0.2, 500)])
def test_hard_panels_are_drawn(length, missing, columns):
    panel = hard_panel(length, missing, columns)
    text = "F(abs(r0 - r1) < 0.5 and not b)", 'G(r2 < 1e300) or count(c = "level 1") > count(b)'
    inner = node(text[1], panel.schema, leaf(1, 0), leaf(0, 1))
    tree = class_tree(node(text[0], panel.schema, inner, leaf(1, 1)), ("a", "b"), panel.schema)
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
    figure = saved(plot_category(tree, flights, ends, 1, text="formula"))
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
    tree = class_tree(leaf(4), ("all",), flights.schema)
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
    assert "2 (miss)" in words(figure)  # a member of a category that is called mixed
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


def headed(part, headline):
    """A tree, or a part of it, with the same headline at every leaf."""
    if isinstance(part, Leaf):
        return replace(part, headline=headline)
    return replace(part, true=headed(part.true, headline), false=headed(part.false, headline))


def test_captions_are_headlines_where_there_are_some(tree, flights):
    spoken = replace(tree, root=headed(tree.root, Headline(tree.root.formula, 1, 3)))
    told = [category for category in categorize(spoken, flights) if len(category.positions) and category.headline]
    assert told  # where it is true of all members
    for category in told:
        assert category.headline in words(saved(plot_category(spoken, flights, None, category.number, text="english")))
        assert category.headline in words(saved(plot_collage(spoken, flights)))
        assert category.headline not in words(saved(plot_collage(spoken, flights, text="formula")))


def test_a_collage_without_real_columns_shows_bands(flights):
    tree = class_tree(node("F(on)", flights.schema, leaf(1, 0), leaf(0, 1)), ("a", "b"), flights.schema)
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

    tree = class_tree(split(0, 60), ("a", "b"), panel.schema)
    figure = plot_collage(tree, panel, text=None)
    figure.savefig(io.BytesIO(), dpi=20)
    assert len(figure.axes) == 60


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
    tree = class_tree(leaf(1), ("NMAC",), encounters.select(["advisory_1"]).schema)
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
