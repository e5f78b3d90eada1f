"""Rows that repeat a time of their record."""

import io

import numpy as np
import pandas as pd
import pytest

from telltree import Panel, read
from telltree.errors import DataError, DataWarning

ROWS = "id,t,x,mode,alarm,end\na,0,1,,yes,p\na,0,3,u,no,p\na,1,5,v,no,p\nb,0,2,w,,q\nb,0,,w,,q\nb,0,4,,no,q\n"


def panel(**options):
    return read(io.StringIO(ROWS), id="id", time="t", label="end", **options)


def steps(**options):
    found = panel(**options).panel
    return [
        [list(found.record(i)[name]) for name in ("x", "mode", "alarm")] + [found.times(i).tolist()]
        for i in range(len(found))
    ]


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        ("first", [[[1, 5], ["u", "v"], [True, False], [0, 1]], [[2], ["w"], [False], [0]]]),
        ("last", [[[3, 5], ["u", "v"], [False, False], [0, 1]], [[4], ["w"], [False], [0]]]),
        ("mean", [[[2, 5], ["u", "v"], [False, False], [0, 1]], [[3], ["w"], [False], [0]]]),
    ],
)
def test_one_step_of_several_rows(way, expected):
    assert steps(repeated=way) == expected
    assert panel(repeated=way).y.tolist() == ["p", "q"]


def test_resampling_resolves_them_too():
    assert steps(every=1) == steps(repeated="last")
    assert steps(every=1, how="mean")[1][0] == [3]
    assert steps(every=1, repeated="first", how="mean")[0][0] == [1, 5]


def test_the_error_names_the_ways():
    with pytest.raises(DataError) as caught:
        panel()
    for piece in ("3 steps repeat", "record 'a' at 0", "first, last or mean", "--repeated", "--every"):
        assert piece in str(caught.value)
    with pytest.raises(DataError, match="repeated must be 'error', 'first', 'last' or 'mean', got 'some'"):
        panel(repeated="some")


def test_unsorted_rows_are_merged_in_order_of_the_file():
    frame = pd.DataFrame({"id": ["a", "b", "a", "b", "a"], "t": [1, 0, 0, 0, 1], "x": [1.0, 2.0, 3.0, 4.0, 5.0]})
    with pytest.warns(DataWarning, match="not sorted"):
        found = Panel.from_frame(frame, id="id", time="t", repeated="first")
    assert [found.values("x", i).tolist() for i in (0, 1)] == [[3, 1], [2]]


def test_dates_and_static_columns_stay():
    frame = pd.DataFrame(
        {
            "id": ["a"] * 3,
            "t": pd.to_datetime(["2025-01-01 10:00+01:00", "2025-01-01 10:00+01:00", "2025-01-01 11:00+01:00"]),
            "x": [1.0, 2.0, np.nan],
            "heavy": [True] * 3,
        }
    )
    found = Panel.from_frame(frame, id="id", time="t", static=["heavy"], repeated="mean")
    assert found.values("x", 0)[0] == 1.5
    assert (found.times(0).tolist(), found.offsets(0).tolist()) == ([0, 3600], [3600, 3600])
    assert found.static_values("heavy").tolist() == [1]
    assert found.missing() == {"x": 1, "heavy": 0}


def test_missing_values_are_counted_afterwards():
    frame = pd.DataFrame({"id": [1, 1], "t": [0, 0], "x": [np.nan, 2.0]})
    assert Panel.from_frame(frame, id="id", time="t", repeated="first", missing="error").steps == 1


def test_times_that_only_look_alike_as_floats_stay_apart():
    frame = pd.DataFrame({"id": [1, 1], "t": [2**60, 2**60 + 1], "x": [1.0, 2.0]})
    assert Panel.from_frame(frame, id="id", time="t", repeated="first").steps == 2


def test_one_frame_a_record():
    frames = [pd.DataFrame({"t": [0, 0, 1], "x": [1.0, 2.0, 3.0]}), pd.DataFrame({"t": [0], "x": [4.0]})]
    assert Panel.from_frames(frames, time="t", repeated="last").stacked("x").tolist() == [2, 3, 4]


def test_as_a_naive_loop_has_it():
    rng = np.random.default_rng(0)
    for _ in range(20):
        count = int(rng.integers(1, 30))
        times, x = np.sort(rng.integers(0, 8, count)), rng.normal(size=count)
        x[rng.random(count) < 0.3] = np.nan
        frame = pd.DataFrame({"id": 1, "t": times, "x": x})
        for way, pick in (("first", lambda v: v[0]), ("last", lambda v: v[-1]), ("mean", np.mean)):
            groups = [x[times == time] for time in np.unique(times)]
            wanted = [pick(g[~np.isnan(g)]) if not np.isnan(g).all() else np.nan for g in groups]
            found = Panel.from_frame(frame, id="id", time="t", repeated=way)
            np.testing.assert_allclose(found.stacked("x"), wanted)
