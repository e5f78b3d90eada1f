"""Columns that give the label away are named, with what to do; columns that have one value a record are found."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

from tests.support.effort import few_fast

from telltree import GrammarTreeClassifier, Panel, ask, read, scan
from telltree.cli.app import app
from telltree.errors import DataError, DataWarning
from telltree.panel.column_checks import leaks
from telltree.search import MonteCarlo
from telltree.tree import GiniSize

RECORDS = 60


def table(seed=0):
    """Records of several steps, some of which end badly, and columns that were observed."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(3, 7, RECORDS)
    died = rng.random(RECORDS) < 0.4
    steps = int(lengths.sum())
    frame = pd.DataFrame(
        {
            "patient": np.repeat([f"p{k}" for k in range(RECORDS)], lengths),
            "t": np.concatenate([np.arange(length) for length in lengths]),
            "pulse": rng.normal(80, 10, steps).round(1) + 6 * np.repeat(died, lengths),
            "age": np.repeat(rng.integers(20, 90, RECORDS), lengths),
            "ward": np.repeat(rng.choice(["a", "b", "c"], RECORDS), lengths),
            "lactate": np.where(rng.random(steps) < 0.9, np.nan, rng.normal(2, 1, steps)),
        }
    )
    return frame, np.where(died, "died", "lived"), lengths


ROWS = {"id": "patient", "time": "t"}


def each(values, lengths):
    return np.repeat(np.asarray(values), lengths)


LEAKS = {
    "a copy of the label": (lambda y, n: (y == "died").astype(int), "has one value for each label"),
    "names of the label": (lambda y, n: np.where(y == "died", "X", "R"), "has one value for each label"),
    "numbers of the label": (lambda y, n: np.where(y == "died", 7.5, -2.0), "has one value for each label"),
    "nearly a copy": (
        lambda y, n: np.where(np.arange(RECORDS) == 3, y != "died", y == "died"),
        "has one value for each label, in nearly all records",
    ),
    "many names": (
        lambda y, n: [f"{label}{k % 3}" for k, label in enumerate(y)],
        "has only values that each occur with one label alone",
    ),
    "a time of death": (
        lambda y, n: np.where(y == "died", np.arange(RECORDS) % 7, np.nan),
        "has values in all records labelled 'died', and in no others",
    ),
    "a day of discharge": (
        lambda y, n: np.where(y == "died", np.nan, np.arange(RECORDS) % 7),
        "lacks values in all records labelled 'died', and in no others",
    ),
    "a time of death of nearly all": (
        lambda y, n: np.where((y == "died") & (np.arange(RECORDS) != np.argmax(y == "died")), 3.0, np.nan),
        "has values in nearly all records labelled 'died', and in hardly any others",
    ),
    "a number of the record": (lambda y, n: np.arange(RECORDS) + 100, "numbers the records"),
    "a shuffled number": (lambda y, n: np.random.default_rng(0).permutation(RECORDS), "numbers the records"),
}


@pytest.mark.parametrize("case", LEAKS)
def test_a_column_that_gives_the_label_away_is_named(case):
    make, reason = LEAKS[case]
    frame, y, lengths = table()
    frame["odd"] = each(make(y, RECORDS), lengths)
    found = leaks(Panel.from_frame(frame, **ROWS), y)
    assert list(found) == ["odd"]
    assert found["odd"].startswith(reason)


def test_row_numbers_and_series_that_only_one_class_has():
    frame, y, lengths = table()
    frame["row"] = np.arange(len(frame)) + 17
    frame["after"] = np.where(each(y, lengths) == "died", np.random.default_rng(0).normal(size=len(frame)), np.nan)
    found = leaks(Panel.from_frame(frame, **ROWS), y)
    assert found == {
        "row": "counts the rows of the table",
        "after": "has values in all records labelled 'died', and in no others",
    }


@pytest.mark.parametrize("seed", few_fast(range(20), 5))
def test_what_was_observed_raises_no_alarm(seed):
    frame, y, lengths = table(seed)
    died = y == "died"
    rng = np.random.default_rng(seed)
    frame["elapsed"] = frame["t"]
    frame["clear"] = np.where(each(died, lengths), 1.0, 5.0) + rng.random(len(frame))  # a threshold tells all
    frame["event"] = each(died, lengths) & (frame["t"] == 1)  # at some point: it tells all too
    frame["tested"] = each(np.where(rng.random(RECORDS) < np.where(died, 0.9, 0.1), 1.5, np.nan), lengths)
    frame["number"] = each(rng.permutation(100_000)[:RECORDS], lengths)  # whole, and all different
    frame["flag"] = each(rng.random(RECORDS) < np.where(died, 0.85, 0.15), lengths)
    assert leaks(Panel.from_frame(frame, **ROWS), y) == {}


def test_too_few_records_show_nothing():
    frame, y, _ = table()
    panel = Panel.from_frame(
        frame.assign(copy=frame["patient"].map(dict(zip(frame["patient"].unique(), y, strict=True)))), **ROWS
    )
    assert leaks(panel, y)
    assert leaks(panel[:10], y[:10]) == {}
    assert leaks(panel, np.full(RECORDS, "same")) == {}
    assert leaks(panel.select(["copy"]), y) == {}  # there is nothing else to learn from


def test_fit_warns_of_the_columns_that_it_may_ask_about():
    frame, y, lengths = table()
    frame["code"] = each(np.where(y == "died", "X", "R"), lengths)
    panel = Panel.from_frame(frame, **ROWS)
    few, gini = MonteCarlo(evaluations=20), GiniSize()  # which learns from anything
    told = "a column that seems to give the label away: 'code' has one value for each label; .*--drop"
    with pytest.warns(DataWarning, match=told):
        GrammarTreeClassifier(search=few, criterion=gini, max_depth=1, random_state=0).fit(panel, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GrammarTreeClassifier('Start ::= F(code = "X")', few, max_depth=1).fit(panel, y)  # who names it wants it
        dropped = read(frame, **ROWS, drop=["code"]).panel
        assert "code" not in dropped.schema
        GrammarTreeClassifier(search=few, criterion=gini, max_depth=1, random_state=0).fit(dropped, y)


@pytest.fixture
def data(tmp_path):
    frame, y, lengths = table()
    frame["code"] = each(np.where(y == "died", "X", "R"), lengths)
    frame["death"] = each(np.where(y == "died", 3.5, np.nan), lengths)
    frame["outcome"] = each(y, lengths)
    frame.to_csv(tmp_path / "data.csv", index=False)
    frame.to_parquet(tmp_path / "data.parquet")
    return tmp_path / "data.csv"


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_command_line_warns_and_drops(data):
    keys = ("--id", "patient", "--time", "t", "--label", "outcome")
    told = run("inspect", data, *keys)
    assert (
        "warning: columns that seem to give the label away: 'code' has one value for each label; 'death'" in told.output
    )
    assert "--drop" in told.output
    found = {column["name"]: column for column in json.loads(run("inspect", data, *keys, "--json").stdout)["columns"]}
    assert found["code"]["leak"] == "has one value for each label"
    assert found["pulse"]["leak"] is None
    dropped = run("inspect", data, *keys, "--drop", "code", "--drop", "death")
    assert "warning" not in dropped.output
    assert "code" not in dropped.output
    assert "did you mean 'code'?" in run("inspect", data, *keys, "--drop", "coed").output
    both = run("inspect", data, *keys, "--drop", "code", "--column", "code")
    assert "named both to be used and to be dropped" in both.output


@pytest.mark.parametrize("form", ["csv", "parquet", "frame", "polars", "scan", "wide", "ts"])
def test_columns_may_be_dropped_from_every_table(data, tmp_path, form):
    more = {**ROWS, "label": "outcome", "drop": ["code", "death"]}
    kept = ["pulse", "age", "ward", "lactate"]
    frame = pd.read_csv(data)
    if form == "wide":
        rows = pd.DataFrame({"x_0": [1.5, 2.5], "x_1": [2.5, 3.5], "note": ["a", "b"]})
        rows.to_csv(tmp_path / "wide.csv", index=False)
        for source in (rows, tmp_path / "wide.csv"):
            assert read(source, wide=True, drop=["note"]).panel.lengths.tolist() == [2, 2]
        return
    if form == "ts":
        (tmp_path / "a.ts").write_text("@problemName a\n@classLabel true 0 1\n@data\n1,2:3,4:0\n2,3:4,5:1\n")
        assert list(read(tmp_path / "a.ts", drop=["x1"]).panel.schema) == ["x2"]
        return
    source = {"csv": data, "scan": data, "parquet": data.with_suffix(".parquet"), "frame": frame}.get(form)
    source = pl.from_pandas(frame) if source is None else source
    panel = (scan if form == "scan" else read)(source, **more).panel
    assert list(panel.schema) == kept
    schema = {"code": {"type": "categorical"}, "age": {"unit": "years"}}  # as `inspect -o` writes it, of all columns
    assert (scan if form == "scan" else read)(source, **more, schema=schema).panel.schema["age"].unit == "years"
    with pytest.raises(DataError, match="unknown column to drop: 'cod'; did you mean 'code'"):
        (scan if form == "scan" else read)(source, **{**more, "drop": ["cod"]})


def test_arrays_have_nothing_to_drop():
    with pytest.raises(DataError, match="drop is for tables"):
        read(np.zeros((3, 2, 1)), layout="records, steps, columns", drop=["x1"])


STILL = "one value in each record, read as static; if that may change within a record, say static = false in the schema"


@pytest.mark.parametrize("form", ["csv", "parquet", "frame", "scan"])
def test_columns_that_do_not_change_within_records_are_static(data, form):
    source = {"csv": data, "scan": data, "parquet": data.with_suffix(".parquet"), "frame": pd.read_csv(data)}[form]
    function = scan if form == "scan" else read
    panel, y = function(source, **ROWS, label="outcome")
    assert [name for name, column in panel.schema.items() if column.static] == ["age", "ward", "code", "death"]
    assert f"columns 'age', 'ward', 'code', 'death': {STILL}" in panel.notes
    assert panel.missing()["death"] == int((y == "lived").sum())
    moving = function(source, **ROWS, label="outcome", schema={"age": {"static": False}}).panel
    assert not moving.schema["age"].static
    assert [panel.column("age")[k] for k in (0, 5)] == [moving.column("age")[k] for k in (0, 5)]
    told = ask(panel, "age is above 50", y)
    assert "at some point" not in str(told)


def test_few_records_gaps_and_constants_show_nothing():
    frame, _, _ = table()
    few = frame[frame["patient"].isin([f"p{k}" for k in range(9)])]
    assert not any(column.static for column in Panel.from_frame(few, **ROWS).schema.values())
    first = frame.assign(age=frame["age"].where(frame["t"] == 0).astype(float), same=5.5)
    schema = Panel.from_frame(first, **ROWS).schema
    assert [name for name, column in schema.items() if column.static] == ["ward"]
    single = frame[frame["t"] == 0]
    assert not any(column.static for column in Panel.from_frame(single, **ROWS).schema.values())


def test_what_is_static_is_not_asked_at_some_point():
    frame, _, _ = table()
    old = frame.groupby("patient", sort=False)["age"].first().to_numpy() > 55
    model = GrammarTreeClassifier(search=MonteCarlo(evaluations=3000), random_state=0, max_depth=1)
    model.fit(Panel.from_frame(frame, **ROWS), old)
    assert "age is above" in model.outline() or "age is at least" in model.outline()
    assert "at some point" not in model.outline()
    assert not any("change(`age`" in str(rule) or "count(age" in str(rule) for rule in model.grammar_.rules)
    other = frame.assign(age=frame["age"] + frame["t"])  # elsewhere it may change
    assert len(model.predict(Panel.from_frame(other, **ROWS))) == RECORDS
