"""Dates as people write them."""

import datetime
import io

import numpy as np
import pandas as pd
import polars as pl
import pytest

from telltree import DataError, Panel, read


def dates(*cells, **options):
    lines = "".join(f"r,{cell},{number}.5\n" for number, cell in enumerate(cells))
    return read(io.StringIO(f"id,t,x\n{lines}"), id="id", time="t", **options).panel.dates(0).tolist()


MARCH, APRIL = datetime.datetime(2025, 3, 4, 12, 30), datetime.datetime(2025, 4, 3, 12, 30)


@pytest.mark.parametrize("cell", ["3/4/2025 12:30", "03.04.2025 12:30:00", "3-4-25T12:30", '"03/04/2025, 12:30:00.0"'])
def test_the_day_comes_first_if_that_is_said(cell):
    assert dates(cell, day_first=True) == [APRIL]


def test_iso_dates_stay_iso_dates_where_the_day_comes_first():
    assert dates("2025-04-03", "4/4/2025", day_first=True) == [
        datetime.datetime(2025, 4, 3),
        datetime.datetime(2025, 4, 4),
    ]


@pytest.mark.parametrize(
    ("cell", "time_format", "date"),
    [
        ("03.04.2025 12:30", "%d.%m.%Y %H:%M", APRIL),
        ("03/04/2025 12:30 PM", "%m/%d/%Y %I:%M %p", MARCH),
        ("20250304", "%Y%m%d", datetime.datetime(2025, 3, 4)),
        ("4 Mar 25", "%d %b %y", datetime.datetime(2025, 3, 4)),
    ],
)
def test_any_format_may_be_said(cell, time_format, date):
    assert dates(cell, time_format=time_format) == [date]


def test_offsets_from_utc_are_read_by_a_format():
    text = "id,t,x\nr,03.04.2025 12:30 +0200,1\nr,03.04.2025 12:31 +0200,2\n"
    panel = read(io.StringIO(text), id="id", time="t", time_format="%d.%m.%Y %H:%M %z").panel
    assert panel.offsets(0).tolist() == [7200, 7200]
    assert panel.dates(0).tolist()[0] == APRIL


def test_a_date_in_doubt_is_an_error_that_names_the_options():
    with pytest.raises(DataError) as caught:
        dates("03/04/2025 12:30")
    for piece in ("'03/04/2025 12:30' in line 2", "not certain", "--day-first", "--time-format) '%m/%d/%Y %H:%M'"):
        assert piece in str(caught.value)
    with pytest.raises(DataError, match=r"say day_first \(--day-first\)$"):
        dates("13.04.2025")
    with pytest.raises(DataError, match="'%m-%d-%y'"):
        dates("04-13-25")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"time_format": "%d.%m.%Y"}, r"line 2 of the stream, which is not written as the time format '%d.%m.%Y' says"),
        ({"day_first": True}, "neither a number nor a date such as 3.4.2025 12:30"),
        ({"time_format": "%H:%M"}, "has no year"),
        ({"time_format": "%Y-%Q"}, "'%Y-%Q' is none"),
        ({"time_format": "%Y", "day_first": True}, "leave out day_first"),
        ({"time_format": 7}, "must be text"),
    ],
)
def test_formats_that_do_not_fit(options, match):
    with pytest.raises(DataError, match=match):
        dates("31/31/2025", **options)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_dates_that_dataframes_have_as_text(make):
    table = {"id": [1, 1, 2], "t": ["03.04.2025", "04.04.2025", "03.04.2025"], "x": [1.5, 2.5, 3.5]}
    panel = Panel.from_frame(make(table), id="id", time="t", day_first=True)
    assert panel.dates(0).astype("M8[D]").astype(str).tolist() == ["2025-04-03", "2025-04-04"]
    assert panel.daily
    with pytest.raises(DataError, match=r"'03.04.2025' in row 0 \(counted from 0\).*--day-first"):
        Panel.from_frame(make(table), id="id", time="t")
    iso = make({"id": [1, 1], "t": ["2025-04-03", "2025-04-04"], "x": [1.5, 2.5]})
    assert Panel.from_frame(iso, id="id", time="t").times(0).tolist() == [0, 86400]
    whole = make({"id": [1, 1], "t": [20250403, 20250404], "x": [1.5, 2.5]})
    assert Panel.from_frame(whole, id="id", time="t", time_format="%Y%m%d").times(0).tolist() == [0, 86400]


def test_dates_that_are_dates_need_no_format():
    frame = pd.DataFrame({"id": [1, 1], "t": np.array(["2025-04-03", "2025-04-04"], "M8[ns]"), "x": [1.5, 2.5]})
    assert Panel.from_frame(frame, id="id", time="t", time_format="%d.%m.%Y").times(0).tolist() == [0, 86400]
