"""Records in a report: traces small enough to send, members that stand for others, and all of it within bounds."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tests.support.class_trees import class_tree
from tests.support.report_cases import bisected, grown, holes, long_records
from tests.support.report_page import data_of, decoded

from telltree import Panel
from telltree.report import report_html, traces
from telltree.report.examples import distances, medoids
from telltree.tree.tree import Node, RunnerUp


def test_lines_keep_values_gaps_and_infinities():
    values = np.array([1.0, np.nan, -2.5, np.inf, -np.inf, 7.25])
    back = decoded(traces.line(values))
    assert np.isnan(back[1])
    assert (back[3], back[4]) == (np.inf, -np.inf)
    finite = np.isfinite(values)
    assert np.abs(back[finite] - values[finite]).max() <= (7.25 + 2.5) / 4092


@pytest.mark.parametrize("values", [[np.nan], [np.inf, -np.inf], [3.0], [1.7e308, -1.7e308], [5e-324, 0.0]])
def test_odd_lines_are_written_without_a_warning(values):
    told = traces.line(np.array(values))
    assert len(told["v"]) == 2 * len(values)
    json.dumps(told, allow_nan=False)


def test_peaks_survive_down_sampling():
    rng = np.random.default_rng(0)
    values = rng.normal(size=5000)
    values[[17, 3333, 4999]] = [90.0, -80.0, 70.0]
    told = traces.line(values)
    assert len(told["v"]) <= 2 * traces.MOST_POINTS
    back = decoded(told)
    width = traces.bucket(5000)
    for step in (17, 3333, 4999):
        bucket = back[2 * (step // width) : 2 * (step // width) + 2]
        assert np.abs(bucket - values[step]).min() < 0.1


def test_a_bucket_of_more_than_one_value_is_mixed():
    flags = np.zeros(5000, np.int8)
    flags[2600] = 1
    told = traces.band(flags)
    assert told.count(traces.MIXED) == 1
    assert told[2600 // traces.bucket(5000)] == traces.MIXED
    assert set(told) == {"A", traces.MIXED}


def test_long_records_are_drawn_in_few_points():
    tree, panel, y = long_records()
    for record in data_of(report_html(tree, panel, y))["records"]:
        assert record["s"] == 5000
        for trace in record["x"].values():
            assert len(trace["v"] if isinstance(trace, dict) else trace) <= 2 * traces.MOST_POINTS


def test_missing_values_are_gaps():
    tree, panel, y = holes()
    made = data_of(report_html(tree, panel, y))
    names = [column["name"] for column in made["columns"]]
    for record in made["records"]:
        absent = np.isnan(panel.values("x", record["at"]))
        assert np.array_equal(np.isnan(decoded(record["x"][str(names.index("x"))])), absent)
        flags = panel.values("b", record["at"])
        assert [c == "." for c in record["x"][str(names.index("b"))]] == (flags < 0).tolist()


def test_medoids_are_the_record_nearest_to_all_and_then_the_most_different():
    places = np.array([0.0, 1.0, 2.0, 3.0, 50.0])
    chosen = medoids(np.abs(places[:, None] - places), 2)
    assert chosen.tolist() == [2, 4]


def test_distances_look_at_the_columns_asked_for_alone():
    rng = np.random.default_rng(0)
    same = rng.normal(size=(4, 5, 1)).repeat(2, axis=0)
    noise = rng.normal(size=(8, 5, 1))
    both = np.concatenate([same, noise], axis=2)
    panel = Panel.from_arrays(both, columns=["a", "b"], layout="records, steps, columns")
    apart = distances(panel, ["a"], {"a": 1.0}, np.arange(8))
    assert (np.diag(apart) == 0).all()
    assert apart[0, 1] == 0 < apart[0, 2]
    assert np.array_equal(apart, apart.T)
    assert distances(panel, ["a", "b"], {"a": 1.0, "b": 1.0}, np.arange(8))[0, 1] > 0


def test_long_names_in_a_large_tree_leave_less_room_for_records():
    name, places = "x" * 200, np.arange(3_000) % 60
    values = np.random.default_rng(0).normal(size=(3_000, 50, 6))
    values[:, :, 0] = places[:, None] + 0.5
    ids = [f"{k}-{name}" for k in range(3_000)]
    columns = [name, *(f"{k}-{name}" for k in range(5))]
    panel = Panel.from_arrays(values, columns=columns, ids=ids, layout="records, steps, columns")
    y = [f"class {place % 40}" for place in places]
    tree = bisected(panel, y, name, list(range(1, 60)))
    other = RunnerUp(tree.nodes[0].formula, 1.0)

    def crowded(node):
        below = {side: crowded(getattr(node, side)) for side in ("true", "false")} if isinstance(node, Node) else {}
        return replace(node, **below, runners_up=(other,) * 10) if below else node

    made = report_html(class_tree(crowded(tree.root), tree.target.classes, tree.schema), panel, y)
    assert len(made.encode()) < 2_000_000
    shown = data_of(made)
    assert all(category["typical"] for category in shown["categories"])


def test_ten_thousand_records_fit_into_two_megabytes():
    rng = np.random.default_rng(0)
    rows, whose = 500_000, np.repeat(np.arange(10_000), 50)
    table = {"id": whose} | {f"x{k}": rng.normal(size=rows).round(2) for k in range(6)}
    table |= {"b": rng.random(rows) < 0.02, "c": np.array(["up", "down", "none"])[rng.integers(0, 3, rows)]}
    panel = Panel.from_frame(pl.DataFrame(table), id="id", period=1.0, time_unit="s")
    y = np.where(panel.stacked("x1").reshape(-1, 50).max(axis=1) > 3, "high", "low")
    tree = grown(panel, y, ["F(x1 > 2.5)", "F(b and x2 < 0)", "G(x3 < 2.8)", 'F(c = "up" and x4 > 2)'])
    made = report_html(tree, panel, y)
    assert len(made.encode()) < 2_000_000
    found = data_of(made)
    assert len(found["list"]["ids"]) == 10_000
    assert len(found["records"]) < found["total"] == 10_000
    shown = {record["at"] for record in found["records"]}
    for category in found["categories"]:
        assert category["typical"]
        assert set(category["typical"]) <= shown
