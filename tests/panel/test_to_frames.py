"""Panels as frames and arrays again."""

import sys

import numpy as np
import pandas as pd
import pytest

from telltree.errors import DataError, DataWarning, MissingLibraryError
from telltree.panel import Panel

FRAME = pd.DataFrame(
    {
        "id": ["b", "b", "a"],
        "t": [0.0, 1.5, 0.0],
        "x": [1.5, np.nan, 3.0],
        "on": pd.array([True, None, False], dtype="boolean"),
        "mode": ["u", None, "v"],
    }
)
BACKENDS = ["pandas", "polars", "pyarrow"]


def panel():
    return Panel.from_frame(FRAME, id="id", time="t", time_unit="s")


def rows(frame):
    """Plain Python values, None where missing."""
    if isinstance(frame, pd.DataFrame):
        return [[None if pd.isna(cell) else cell for cell in row] for row in frame.itertuples(index=False)]
    columns = (frame.to_dict(as_series=False) if hasattr(frame, "to_dict") else frame.to_pydict()).values()
    return [list(row) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_long_frame_has_ids_times_and_decoded_columns(backend):
    frame = panel().to_frame(backend)
    names = list(frame.column_names if backend == "pyarrow" else frame.columns)
    assert names == ["id", "time", "x", "on", "mode"]
    assert rows(frame) == [["b", 0, 1.5, True, "u"], ["b", 1.5, None, None, None], ["a", 0, 3, False, "v"]]
    assert rows(panel()[[1]].to_frame(backend)) == [["a", 0, 3, False, "v"]]
    assert len(panel()[:0].to_frame(backend)) == 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_frame_per_record(backend):
    frames = panel()[[1, 0]].to_frames(backend, time="when")
    assert list(frames) == ["a", "b"]
    assert rows(frames["a"]) == [[0, 3, False, "v"]]
    assert rows(frames["b"]) == [[0, 1.5, True, "u"], [1.5, None, None, None]]


@pytest.mark.parametrize("backend", BACKENDS)
def test_times_come_from_the_period_and_are_left_out_if_unknown(backend):
    assert rows(Panel.from_arrays([np.ones((2, 1))], period=0.5).to_frame(backend)) == [[0, 0, 1], [0, 0.5, 1]]
    assert rows(Panel.from_arrays([np.ones((2, 1))]).to_frame(backend)) == [[0, 1], [0, 1]]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_value_that_is_no_level_comes_out_as_missing(backend):
    with pytest.warns(DataWarning, match="'v'"):
        known = Panel.from_frame(FRAME, id="id", columns=["mode"], schema={"mode": {"levels": ["u"]}})
    assert [row[1] for row in rows(known.to_frame(backend))] == ["u", None, None]


def test_names_must_not_clash():
    odd = Panel.from_arrays([np.ones((1, 2))], columns=["id", "time"], period=1.0)
    with pytest.raises(DataError, match=r"same name: 'id', 'time'; .* say other names for the ids and times"):
        odd.to_frame()
    assert list(odd.to_frame(id="record", time="t").columns) == ["record", "t", "id", "time"]


def test_backends_are_known_and_installed(monkeypatch):
    with pytest.raises(DataError, match="unknown backend 'pandsa'; did you mean 'pandas'"):
        panel().to_frame("pandsa")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingLibraryError, match="pip install polars"):
        panel().to_frame("polars")


def test_arrays_hold_numbers_and_truth_values():
    numbers = panel().select(["x", "on"])
    steps = numbers.to_arrays("steps, columns")
    assert np.array_equal(steps[0], [[1.5, 1], [np.nan, np.nan]], equal_nan=True)
    assert np.array_equal(steps[1], [[3, 0]])
    turned = numbers.to_arrays("columns, steps")
    assert all(np.array_equal(one.T, other, equal_nan=True) for one, other in zip(steps, turned, strict=True))
    again = Panel.from_arrays(
        steps, columns=["x", "on"], ids=["b", "a"], schema={"on": {"type": "Boolean"}}, period=1.5, time_unit="s"
    )
    assert again == numbers
    with pytest.raises(DataError, match=r"'mode' are categorical; leave them out with panel.select"):
        panel().to_arrays("steps, columns")
    with pytest.raises(DataError, match="unknown layout 'steps'"):
        numbers.to_arrays("steps")


def test_one_array_needs_records_of_one_length():
    cube = np.arange(12.0).reshape(2, 3, 2)
    even = Panel.from_arrays(cube, layout="records, steps, columns")
    assert np.array_equal(even.to_arrays("records, steps, columns"), cube)
    assert np.array_equal(even.to_arrays("records, columns, steps"), cube.transpose(0, 2, 1))
    assert even[:0].to_arrays("records, steps, columns").shape == (0, 0, 2)
    assert even[:0].to_arrays("steps, columns") == []
    with pytest.raises(DataError, match=r"records have 1 to 2 steps.*layout='steps, columns'"):
        panel().select(["x"]).to_arrays("records, steps, columns")


def test_static_values_are_one_per_record():
    frame = FRAME.assign(age=[7.0, 7.0, 9.0])
    both = Panel.from_frame(frame, id="id", static=["age"])
    assert both[[1, 0]].static_values("age").tolist() == [9, 7]
    with pytest.raises(DataError, match="'x' is not static"):
        both.static_values("x")
