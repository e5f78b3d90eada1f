"""Dates as people write them."""

import datetime
import io

import numpy as np
import pandas as pd
import polars as pl
import pytest

from telltree import GrammarTreeClassifier, Panel, PanelMaker, load, read, scan
from telltree.errors import DataError, DataWarning
from telltree.panel import csv
from telltree.panel.table_files import stored_records
from telltree.search import MonteCarlo


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


JANUARY = [datetime.datetime(2013, 1, day) for day in (1, 2, 13)]


@pytest.mark.parametrize(
    ("cells", "day_first"),
    [
        (("01.01.2013", "02.01.2013", "13.01.2013"), True),
        (("1/1/2013", "1/2/2013", "1/13/2013"), False),
        (("01-01-13", "2013-01-02", "13-01-13"), True),
    ],
)
@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
@pytest.mark.parametrize("cells_at_once", [1, 1 << 18])
def test_one_row_tells_whether_the_day_comes_first(monkeypatch, cells, day_first, order, cells_at_once):
    monkeypatch.setattr(csv, "CELLS", cells_at_once)
    lines = "".join(f"{number},{cell},{number}.5\n" for number, cell in enumerate(cells[order]))
    panel = read(io.StringIO(f"id,t,x\n{lines}"), id="id", time="t").panel
    assert [panel.dates(k).tolist()[0] for k in range(3)] == JANUARY[order]
    assert panel.how_read.day_first is day_first


def test_large_files_tell_it_at_their_end_too(tmp_path, monkeypatch):
    monkeypatch.setattr(csv, "WORTH", 1)
    monkeypatch.setattr(csv, "BLOCK", 64)
    days = [f"1/{day}/2013" for day in range(1, 32)]
    path = tmp_path / "a.csv"
    path.write_text("id,t,x\n" + "".join(f"1,{day},2.5\n" for day in days), encoding="utf-8")
    for function in (read, scan):
        panel = function(path, id="id", time="t").panel
        assert panel.dates(0).astype("M8[D]").astype(str).tolist() == [f"2013-01-{day:02}" for day in range(1, 32)]
        assert panel.how_read.day_first is False


def test_where_no_row_tells_the_day_is_taken_to_come_first_and_that_is_said():
    with pytest.warns(DataWarning, match=r"'03/04/2025 12:30', and no row tells.*this is 2025-04-03; .*--month-first"):
        assert dates("03/04/2025 12:30") == [APRIL]
    assert dates("03/04/2025 12:30", day_first=True) == [APRIL]
    assert dates("03/04/2025 12:30", day_first=False) == [MARCH]
    assert dates("03.03.2025", "2025-03-04")[1] == datetime.datetime(2025, 3, 4)  # without a question, nor a warning


def test_rows_that_contradict_each_other_are_refused():
    with pytest.raises(
        DataError, match=r"day first, as '13.01.2013' in line 3 .*month first, as '01.13.2013' in line 4"
    ):
        dates("01.01.2013", "13.01.2013", "01.13.2013")
    with pytest.raises(DataError, match=r"'01.13.2013' in line 2.*, the day first; write it so"):
        dates("01.13.2013", day_first=True)
    with pytest.raises(DataError, match=r"'13.01.2013' in line 2.*, the month first; write it so"):
        dates("13.01.2013", day_first=False)
    with pytest.raises(DataError, match="neither a number nor a date"):
        dates("31.31.2013")
    with pytest.raises(DataError, match="day_first must be True, False or None, got 'maybe'"):
        dates("1.1.2013", day_first="maybe")


def test_a_model_reads_other_dates_as_its_own(tmp_path):
    for name, days in (("learnt", ("1/1/2013", "1/13/2013")), ("other", ("1/2/2013", "1/3/2013"))):
        rows = [f"{record},{day},{record % 2}.5,{record % 2}" for record in range(20) for day in days]
        (tmp_path / f"{name}.csv").write_text("id,t,x,y\n" + "\n".join(rows) + "\n", encoding="utf-8")
    panel, y = read(tmp_path / "learnt.csv", id="id", time="t", label="y")
    tree = GrammarTreeClassifier("Start ::= F(x > 1)", MonteCarlo(evaluations=1)).fit(panel, y)
    tree.save(tmp_path / "model.json")
    how = load(tmp_path / "model.json").tree_.how_read.given()
    assert how["day_first"] is False
    again = read(tmp_path / "other.csv", **how).panel
    assert again.dates(0).astype("M8[D]").astype(str).tolist() == ["2013-01-02", "2013-01-03"]


def test_a_panel_maker_reads_other_dates_as_those_it_was_fitted_to():
    def table(*days):
        return pd.DataFrame({"id": [1] * len(days), "t": days, "x": np.arange(len(days)) + 0.5})

    maker = PanelMaker(id="id", time="t").fit(table("1/1/2013", "1/13/2013"))
    assert maker.transform(table("1/2/2013", "1/3/2013")).times(0).tolist() == [0, 86400]


def test_parts_of_a_file_are_read_as_the_whole(tmp_path):
    table = pd.DataFrame({"id": [1, 1, 2, 2], "t": ["1/2/2013", "1/3/2013", "1/2/2013", "1/13/2013"], "x": 0.5})
    table.to_parquet(tmp_path / "a.parquet")
    panel = read(tmp_path / "a.parquet", id="id", time="t").panel
    assert stored_records(panel[:1]).read().times(0).tolist() == [0, 86400]


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
    with pytest.warns(DataWarning, match=r"'03.04.2025', and no row tells.*--day-first"):
        assert Panel.from_frame(make(table), id="id", time="t") == panel
    assert (
        Panel.from_frame(make({**table, "t": ["1/4/2025", "1/13/2025", "1/5/2025"]}), id="id", time="t").times(0)[1]
        == 777600
    )
    iso = make({"id": [1, 1], "t": ["2025-04-03", "2025-04-04"], "x": [1.5, 2.5]})
    assert Panel.from_frame(iso, id="id", time="t").times(0).tolist() == [0, 86400]
    whole = make({"id": [1, 1], "t": [20250403, 20250404], "x": [1.5, 2.5]})
    assert Panel.from_frame(whole, id="id", time="t", time_format="%Y%m%d").times(0).tolist() == [0, 86400]


def test_dates_that_are_dates_need_no_format():
    frame = pd.DataFrame({"id": [1, 1], "t": np.array(["2025-04-03", "2025-04-04"], "M8[ns]"), "x": [1.5, 2.5]})
    assert Panel.from_frame(frame, id="id", time="t", time_format="%d.%m.%Y").times(0).tolist() == [0, 86400]
