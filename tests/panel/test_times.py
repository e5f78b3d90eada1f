"""Times as the data had them: durations in fitting units, dates as dates."""

import copy
import datetime
import io
import math
import pickle
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from telltree import Panel, read, scan
from telltree.panel.dates import axis_unit, duration_text
from telltree.text import clip

ZURICH = ZoneInfo("Europe/Zurich")


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (518400, "s", "6 d"),
        (86400, "s", "1 d"),
        (79200, "s", "22 h"),
        (129600, "s", "1.5 d"),
        (5400, "s", "1.5 h"),
        (90, "s", "1.5 min"),
        (60, "s", "1 min"),
        (100, "s", "100 s"),
        (30, "s", "30 s"),
        (0.5, "s", "0.5 s"),
        (1 / 3, "s", "0.333333 s"),
        (0.1 * 3 * 600, "s", "3 min"),  # but for the last digit
        (0, "s", "0 s"),
        (-7200, "s", "-2 h"),
        (86401, "s", "86401 s"),
        (1500, "ms", "1.5 s"),
        (1000, "us", "1 ms"),
        (1000, "ns", "1 µs"),
        (36, "h", "1.5 d"),
        (22, "h", "22 h"),
        (400, "d", "400 d"),
        (1699999200, "s", "1699999200 s"),  # hours since 1970 are no duration
        (1700000000.25, "s", "1700000000.25 s"),
        (math.inf, "s", "inf s"),
        (12, None, "12"),
        (86400, None, "86400"),
        (3, "fortnights", "3 fortnights"),
        (3, "<b>", "3 <b>"),
    ],
)
def test_durations_are_told_in_the_largest_unit_that_reads_well(value, unit, said):
    assert duration_text(value, unit) == said


@pytest.mark.parametrize(
    ("span", "unit", "wanted"),
    [
        (100, "s", (1, "s")),
        (300, "s", (60, "min")),
        (518400, "s", (86400, "d")),
        (4, "h", (1, "h")),
        (1.7e9, "s", (1, "s")),
        (9e9, None, (1, None)),
        (math.inf, "s", (1, "s")),
    ],
)
def test_axes_have_a_unit_of_which_some_fit(span, unit, wanted):
    assert axis_unit(span, unit) == wanted


def test_panels_tell_their_pace_in_a_fitting_unit():
    def said(**settings):
        return repr(Panel.from_arrays([np.ones((2, 1))], **settings))

    assert "one step every 6 d\n" in said(period=518400, time_unit="s")
    assert "one step every 22 h\n" in said(period=22, time_unit="h")
    assert "one step every 86400 (no unit)\n" in said(period=86400)


# Dates.


def wall(*hours, day=datetime.datetime(2024, 3, 31), zone=None):
    """The moments this many hours after midnight of a day that had 23 hours in Zurich."""
    start = day.replace(tzinfo=zone).astimezone(datetime.UTC) if zone else day
    moments = [start + datetime.timedelta(hours=h) for h in hours]
    return [moment.astimezone(zone) for moment in moments] if zone else moments


def forms(times):
    """The same two records in every form that can hold dates: a name, and how to read it."""
    half = len(times) // 2
    ids = ["a"] * half + ["b"] * (len(times) - half)
    x = np.arange(float(len(times))) + 0.5
    table = {"id": ids, "t": times, "x": x}
    zone = times[0].tzinfo
    arrow = pa.table({"id": ids, "t": pa.array(times, pa.timestamp("us", None if zone is None else str(zone))), "x": x})
    parquet = io.BytesIO()
    pyarrow.parquet.write_table(arrow, parquet)
    lines = ["id,t,x", *(f"{i},{t.isoformat()},{v}" for i, t, v in zip(ids, times, x, strict=True))]
    return {
        "pandas": pd.DataFrame(table),
        "nanoseconds": pd.DataFrame(table).astype({"t": pd.DataFrame(table)["t"].dt.as_unit("ns").dtype}),
        "polars": pl.DataFrame(
            {**table, "t": pl.Series(times).cast(pl.Datetime("us", None if zone is None else str(zone)))}
        ),
        "pyarrow": arrow,
        "parquet": io.BytesIO(parquet.getvalue()),
        "csv": io.StringIO("\n".join(lines)),
    }


FORMS = ["pandas", "nanoseconds", "polars", "pyarrow", "parquet", "csv"]


def panel_of(form, times):
    return read(forms(times)[form], id="id", time="t").panel


def isos(panel):
    return [[panel.date_text(i, t, iso=True) for t in range(panel.lengths[i])] for i in range(len(panel))]


@pytest.mark.parametrize("form", FORMS)
def test_dates_are_kept_in_every_form(form):
    times = wall(0, 1.5, 30, 31)
    panel = panel_of(form, times)
    assert [panel.times(i).tolist() for i in range(2)] == [[0, 5400], [0, 3600]]
    assert [moment for i in range(2) for moment in panel.dates(i).astype("M8[us]").tolist()] == times
    assert panel.offsets(0) is None
    assert [panel.time_text(0, 1), panel.time_text(1, 0)] == ["2024-03-31 01:30", "2024-04-01 06:00"]
    assert isos(panel)[1] == ["2024-04-01T06:00:00", "2024-04-01T07:00:00"]
    assert not panel.daily


@pytest.mark.parametrize("form", FORMS)
def test_dates_know_their_clock_across_daylight_saving(form):
    times = wall(0, 1, 2, 24 * 210, 24 * 210 + 1, 24 * 210 + 2, zone=ZURICH)  # forward in March, back in October
    panel = panel_of(form, times)
    assert isos(panel) == [[t.isoformat() for t in times[:3]], [t.isoformat() for t in times[3:]]]
    assert [panel.time_text(0, t) for t in (1, 2)] == ["2024-03-31 01:00+01:00", "2024-03-31 03:00+02:00"]
    assert panel.times(0).tolist() == [0, 3600, 7200]
    assert panel.times(1).tolist() == [0, 3600, 7200]  # two of them are at 02:00
    assert panel.offsets(1).tolist() == [7200, 7200, 3600]
    assert np.datetime_as_string(panel.dates(1), "h").tolist() == ["2024-10-27T01", "2024-10-27T02", "2024-10-27T02"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("zone", [None, ZURICH])
def test_dates_at_midnight_have_no_time_of_day(form, zone):
    days = [datetime.datetime(2024, 3, 30 if k < 1 else 31, tzinfo=zone) for k in range(2)]
    panel = panel_of(form, [*days, *(day + datetime.timedelta(days=7) for day in days)])
    assert panel.daily
    assert panel.time_text(0, 1) == "2024-03-31"
    assert panel.date_range() == ("2024-03-30", "2024-04-07")
    assert "dates from 2024-03-30 to 2024-04-07" in repr(panel)


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
def test_columns_of_days_are_dates(make):
    days = [datetime.date(2024, 2, 28), datetime.date(2024, 2, 29), datetime.date(2024, 3, 6)]
    panel = Panel.from_frame(make({"id": [1, 1, 1], "t": days, "x": [0.5, 1.5, 2.5]}), id="id", time="t")
    assert [panel.time_text(0, t) for t in range(3)] == [day.isoformat() for day in days]


def test_offsets_stay_as_they_were_written():
    rows = ["r,2024-02-28T23:59:59.5Z,1.5", "r,2024-02-29 05:30:00+05:30,2.5", "q,2024-02-29 00:00:00-00:00:30,1.5"]
    panel = read(io.StringIO("\n".join(["id,t,x", *rows])), id="id", time="t").panel
    assert panel.times(0).tolist() == [0, 0.5]
    assert [panel.time_text(0, t) for t in range(2)] == ["2024-02-28 23:59:59.5+00:00", "2024-02-29 05:30+05:30"]
    assert panel.time_text(1, 0) == "2024-02-29 00:00-00:00:30"


def test_a_date_without_an_offset_among_others_is_of_utc():
    panel = read(io.StringIO("id,t,x\nr,2024-02-28T00:00,1.5\nr,2024-02-28 03:00+02:00,2\n"), id="id", time="t").panel
    assert panel.times(0).tolist() == [0, 3600]
    assert panel.offsets(0).tolist() == [0, 7200]


def test_unsorted_dates_keep_their_clocks():
    text = "id,t,x\nr,2024-02-28T05:00+02:00,2\nr,2024-02-28T01:00+00:00,1.5\n"
    with pytest.warns(match="not sorted by time"):
        panel = read(io.StringIO(text), id="id", time="t").panel
    assert isos(panel) == [["2024-02-28T01:00:00+00:00", "2024-02-28T05:00:00+02:00"]]


def test_dates_of_a_series_file(tmp_path):
    path = tmp_path / "x.ts"
    path.write_text("@timeStamps true\n@classLabel false\n@data\n(2024-02-29 12:00:00,1),(2024-02-29 12:01:30,2)\n")
    panel = read(path).panel
    assert panel.time_text(0, 1) == "2024-02-29 12:01:30"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("zone", [None, ZURICH])
def test_dates_go_with_records_that_are_cut_copied_and_pickled(form, zone):
    panel = panel_of(form, wall(0, 1, 2, 50, 51, 52, zone=zone))
    first, second = isos(panel)
    for cut in (panel[[1, 0]], panel[::-1], panel[[1, 0]].select(["x"]), panel.aligned(panel.schema)[[1, 0]]):
        for same in (cut, pickle.loads(pickle.dumps(cut)), copy.deepcopy(cut)):  # noqa: S301 - our own bytes
            assert isos(same) == [second, first]
    assert isos(panel[1]) == [second]
    assert panel[:0].dates is not None
    assert panel[:0].date_range() is None


@pytest.mark.parametrize("zone", [None, ZURICH])
def test_a_grid_keeps_dates(zone):
    times = wall(0, 1, 4, 50, 51, 54, zone=zone)
    even = panel_of("csv", times).resample("30 min")
    told = isos(even)
    assert (told[0][0], told[0][2], told[0][-1]) == tuple(t.isoformat() for t in times[:3])
    assert isos(even[[1]])[0][0] == times[3].isoformat()
    assert len(told[0]) == 9
    instants = [datetime.datetime.fromisoformat(text) for text in told[0]]
    assert {after - before for before, after in pairwise(instants)} == {datetime.timedelta(minutes=30)}


def test_a_finer_grid_of_days_has_times_of_day():
    days = panel_of("pandas", wall(0, 24, 72, 96))
    assert days.daily
    assert days.resample("6 h").time_text(0, 1) == "2024-03-31 06:00"
    assert days.resample("1 d").time_text(0, 1) == "2024-04-01"


BACKENDS = ["pandas", "polars", "pyarrow"]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("zone", [None, ZURICH, datetime.UTC])
def test_dates_come_out_as_dates_and_are_read_alike_again(backend, form, zone):
    panel = panel_of(form, wall(0, 1, 2, 50, 51.25, 52, zone=zone))
    frame = panel.to_frame(backend, time="t")
    again = Panel.from_frame(frame, id="id", time="t")
    assert again == panel
    for i in range(2):
        instants = [datetime.datetime.fromisoformat(text) for text in isos(panel)[i]]
        assert [datetime.datetime.fromisoformat(text) for text in isos(again)[i]] == instants
    if form in ("pandas", "polars", "pyarrow"):  # these have the name of the zone
        assert isos(again) == isos(panel)
    frames = panel[[1]].to_frames(backend)
    assert list(frames) == ["b"]


def test_one_offset_that_all_dates_had_comes_out_again():
    text = "id,t,x\nr,2024-02-28T05:00+02:00,2\nr,2024-02-28T06:00+02:00,1.5\n"
    panel = read(io.StringIO(text), id="id", time="t").panel
    for backend in ("pandas", "pyarrow"):
        assert isos(Panel.from_frame(panel.to_frame(backend), id="id", time="time")) == isos(panel)
    assert isos(Panel.from_frame(panel.to_frame("polars"), id="id", time="time"))[0][0] == "2024-02-28T03:00:00+00:00"


def test_zones_that_only_pandas_knows_are_offsets():
    times = pd.to_datetime(["2024-02-28 05:00", "2024-02-28 06:00"]).tz_localize(
        datetime.timezone(datetime.timedelta(hours=-3, minutes=-30))
    )
    panel = Panel.from_frame(pd.DataFrame({"id": 0, "t": times, "x": [0.5, 1.5]}), id="id", time="t")
    assert isos(panel) == [["2024-02-28T05:00:00-03:30", "2024-02-28T06:00:00-03:30"]]
    assert isos(Panel.from_frame(panel.to_frame(), id="id", time="time")) == isos(panel)


def test_times_that_are_no_dates_have_none():
    panel = Panel.from_frame(
        pd.DataFrame({"id": 0, "t": [0, 79200], "x": [0.5, 1.5]}), id="id", time="t", time_unit="s"
    )
    assert panel.dates(0) is None
    assert panel.offsets(0) is None
    assert not panel.daily
    assert panel.date_text(0, 1) is None
    assert panel.time_text(0, 1) == "22 h"
    assert Panel.from_arrays([np.ones((2, 1))]).time_text(0, 1) is None
    spans = pd.DataFrame({"id": 0, "t": pd.to_timedelta([0, 6], unit="D"), "x": [0.5, 1.5]})
    assert Panel.from_frame(spans, id="id", time="t").time_text(0, 1) == "6 d"


def test_dates_long_before_and_after_anyone_are_told():
    moments = pl.Series([-(10**17), 10**17]).cast(pl.Datetime("us"))
    panel = Panel.from_frame(pl.DataFrame({"id": [1, 1], "t": moments, "x": [0.5, 1.5]}), id="id", time="t")
    assert panel.time_text(0, 0).startswith("-1199-")
    assert panel.time_text(0, 1).startswith("5138-")


# Long names.


def test_long_names_are_shortened_in_tables_only():
    long = "ü" * 300
    frame = pd.DataFrame({"id": [0, 0], long: ["v" * 200, "w" * 200]})
    panel = Panel.from_frame(frame, id="id", schema={long: {"unit": "u" * 100, "phrase": "p" * 100}})
    for shown in (repr(panel), repr(panel.schema)):
        assert max(map(len, shown.splitlines())) < 300
        assert "ü" * 39 + "…" in shown
    assert "ü" * 39 + "…" in panel._repr_html_()
    assert panel.schema.names == (long,)
    assert long in panel.schema.to_toml()


@pytest.mark.parametrize(
    ("text", "said"), [("", ""), ("abc", "abc"), ("abcdef", "abcd…"), ("abc def", "abc…"), (7, "7")]
)
def test_clip(text, said):
    assert clip(text, 5) == said


@pytest.mark.parametrize(
    ("times", "period"),
    [
        ([0.0, 0.02, 0.04, 0.06, 0.08], 0.02),
        (np.arange(200) * 0.02, 0.02),
        (np.cumsum([0.02] * 500), 0.02),  # rounding errors add up
        (1.7e9 + np.arange(300) * 0.02, 0.02),  # and are larger in larger numbers
        ([5, 6, 7], 1.0),
        (np.arange(9) / 3, 1 / 3),
        ([-4.0, -2.0, 0.0], 2.0),
        ([0.0, 0.02, 0.04, 0.0601], None),
        ([0.0, 0.033, 0.067, 0.1], None),
        ([0.0, 1.0, 3.0], None),
        ([0.0, 1.0, math.inf], None),
        ([3.0], None),
    ],
)
def test_even_times_are_a_period(times, period):
    frame = pd.DataFrame({"id": 0, "t": np.asarray(times, float), "x": np.arange(float(len(times)))})
    for panel in (Panel.from_frame(frame, id="id", time="t"), Panel.from_frames([frame[["t", "x"]]], time="t")):
        assert panel.period == (None if period is None else pytest.approx(period, rel=1e-15))
    assert Panel.from_frame(frame, id="id", time="t", period=7.0).period == 7.0


def test_records_of_different_paces_have_none_and_their_parts_are_as_they_are():
    rows = [(i, t * pace, float(t)) for i, pace in enumerate((1.0, 1.0, 2.0)) for t in range(4)]
    panel = Panel.from_frame(pd.DataFrame(rows, columns=["id", "t", "x"]), id="id", time="t", time_unit="s")
    assert panel.step == panel[[0, 1]].step == panel[[0, 1]].alone().step == (None, "s")
    assert Panel.from_frame(panel[[0, 1]].to_frame("pandas"), id="id", time="time", time_unit="s").step == (1.0, "s")


def test_dates_are_a_period_too_and_are_scanned_alike(tmp_path):
    hours = [datetime.datetime(2025, 3, 1) + datetime.timedelta(hours=t) for t in range(5)]
    frame = pd.DataFrame({"id": [0] * 5 + [1] * 5, "t": hours * 2, "x": np.arange(10.0)})
    frame.to_csv(tmp_path / "hours.csv", index=False)
    for panel in (Panel.from_frame(frame, id="id", time="t"), read(tmp_path / "hours.csv", id="id", time="t").panel,
                  scan(tmp_path / "hours.csv", id="id", time="t").panel):  # fmt: skip
        assert panel.step == (3600.0, "s")
        assert "one step every 1 h" in repr(panel)
