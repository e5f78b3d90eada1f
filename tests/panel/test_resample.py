"""Irregular times -> even steps, judged by a naive reading of the definition."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telltree.errors import DataError
from telltree.panel import Panel, read

step = st.tuples(
    st.integers(1, 9),  # quarters since the step before
    st.none() | st.integers(-5, 5).map(float),
    st.none() | st.booleans(),
    st.none() | st.sampled_from("uvw"),
)
records = st.lists(st.lists(step, min_size=1, max_size=6), min_size=1, max_size=4)
TYPES = {"x": {"type": "real"}, "on": {"type": "Boolean"}, "mode": {"type": "categorical"}}


def panel_of(found):
    rows = []
    for number, record in enumerate(found):
        time = 0.25 * number
        for gap, *cells in record:
            rows.append((number, time, *cells))
            time += gap / 4
    frame = pd.DataFrame(rows, columns=["id", "t", "x", "on", "mode"]).astype({"on": object, "mode": object})
    return Panel.from_frame(frame, id="id", time="t", schema=TYPES, time_unit="s")


def naive(times, values, every, way):
    """One value per grid point, from the definition."""
    found, point = [], times[0]
    while True:
        seen = [v for t, v in zip(times, values, strict=True) if t <= point and v is not None]
        inside = [v for t, v in zip(times, values, strict=True) if point - every < t <= point and v is not None]
        if way == "last":
            found.append(seen[-1] if seen else None)
        elif way == "mean":
            found.append(sum(inside) / len(inside) if inside else None)
        else:
            found.append(any(inside) if inside else None)
        if point >= times[-1]:
            return found
        point += every


def plain(values):
    return [None if value is None or value != value else value for value in values.tolist()]  # noqa: PLR0124 - NaN


@given(records, st.sampled_from([0.25, 0.5, 1.0, 1.5]), st.sampled_from(["last", "mean", "any"]))
def test_each_point_speaks_of_the_time_since_the_one_before(found, every, how):
    panel = panel_of(found)
    even = panel.resample(every, how)
    ways = {"x": "mean" if how == "mean" else "last", "on": "any" if how == "any" else "last", "mode": "last"}
    assert even.schema == panel.schema
    assert even.period == every
    for number in range(len(panel)):
        times = panel.times(number)
        for name, values in panel.record(number).items():
            expected = naive(times.tolist(), plain(values), every, ways[name])
            assert plain(even.record(number)[name]) == pytest.approx(expected)
        assert np.allclose(np.diff(even.times(number)), every)
        assert even.times(number)[0] == times[0]


@given(records, st.data())
def test_a_view_is_resampled_like_its_records(found, data):
    panel = panel_of(found)
    picked = data.draw(st.lists(st.integers(0, len(panel) - 1), min_size=1, max_size=4))
    whole = panel.resample(0.5)
    assert panel[picked].resample(0.5) == whole[picked]


def test_times_that_floats_cannot_hold_still_fall_on_the_grid():
    times = np.arange(1000) * 0.1 + 0.7
    panel = Panel.from_frame(pd.DataFrame({"id": 0, "t": times, "x": np.arange(1000.0)}), id="id", time="t")
    even = panel.resample(0.1)
    assert even.lengths.tolist() == [1000]
    assert np.array_equal(even.column("x"), np.arange(1000.0))


def test_ways_may_be_said_by_column_and_static_columns_stay():
    frame = pd.DataFrame({"id": 0, "t": [0, 0.5, 1], "x": [1.0, 2, 4], "z": [1.0, 2, 4], "on": [True, True, False]})
    panel = Panel.from_frame(frame.assign(age=7.5), id="id", time="t", static=["age"])
    even = panel.resample(1, {"x": "mean", "on": "any"})
    assert even.column("x").tolist() == [1, 3]
    assert even.column("z").tolist() == [1, 4]
    assert even.record(0)["on"].tolist() == [True, True]
    assert even.static_values("age").tolist() == [7.5]


@pytest.mark.parametrize(
    ("unit", "every", "period"),
    [
        ("s", "1s", 1),
        ("s", "500ms", 0.5),
        ("s", " 1.5 min", 90),
        ("ms", "1s", 1000),
        (None, "2", 2),
        ("day", "2day", 2),
        ("h", 0.5, 0.5),
    ],
)
def test_every_is_said_in_units(unit, every, period):
    panel = Panel.from_arrays([np.arange(4.0).reshape(4, 1)], period=1.0, time_unit=unit)
    assert panel.resample(every).period == pytest.approx(period)
    assert panel.resample(every).time_unit == unit


def test_reading_may_resample():
    frame = pd.DataFrame({"id": "a", "t": pd.to_datetime([0, 1, 5], unit="s"), "x": [1.5, 2.5, 3.5]})
    panel, _ = read(frame, id="id", time="t", every="2s", how="mean")
    assert np.array_equal(panel.column("x"), [1.5, 2.5, math.nan, 3.5], equal_nan=True)
    assert (panel.period, panel.time_unit) == (2, "s")


BAD = [
    (lambda panel: panel.resample(0), "every must be a positive number"),
    (lambda panel: panel.resample("soon"), "every must be a positive number"),
    (lambda panel: panel.resample(math.inf), "every must be a positive number"),
    (lambda panel: panel.resample("1-2s"), "every must be a positive number"),
    (lambda panel: panel.resample(True), "every must be a positive number"),
    (lambda panel: panel.resample("1 week"), "units are ns, us"),
    (lambda panel: panel.resample("1s", "median"), "unknown way to resample 'median'"),
    (lambda panel: panel.resample("1s", {"y": "mean"}), "unknown column in how 'y'"),
    (lambda panel: panel.resample("1s", {"x": "any"}), "column 'x' is real, and cannot be resampled by 'any'"),
    (lambda panel: panel.resample("1ns"), "is the unit of `every` right"),
]


@pytest.mark.parametrize(("act", "message"), BAD, ids=[str(number) for number in range(len(BAD))])
def test_senseless_grids_are_refused(act, message):
    frame = pd.DataFrame({"id": 0, "t": [0, 5], "x": [1.5, 2.5]})
    with pytest.raises(DataError, match=message):
        act(Panel.from_frame(frame, id="id", time="t", time_unit="s"))


def test_a_grid_needs_times_and_units_a_unit():
    panel = Panel.from_arrays([np.zeros((2, 1))])
    with pytest.raises(DataError, match="the panel has no times"):
        panel.resample(1)
    with pytest.raises(DataError, match="the times have no unit"):
        panel.resample("1s")
