"""Files that are scanned give what files that are read give: panels, labels, models and answers, to the byte."""

import dataclasses
import gzip
import re
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples

import telltree
from telltree import Formula, GrammarTreeClassifier
from telltree.engine import trace
from telltree.errors import DataError
from telltree.explain import Robustness, categorize
from telltree.panel import disk_arrays
from telltree.panel import panel as panels
from telltree.scale import out_of_core
from telltree.search import GeneticProgramming, MonteCarlo

NAMES = {"id": "run", "time": "t", "label": "end"}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Make parts and pieces of a few rows, so that a small file has many."""
    monkeypatch.setattr(panels, "PART", 400)
    monkeypatch.setattr(disk_arrays, "PIECE", 37)


def long_table(seed=0, records=150, *, longest=9, text_ids=False):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest + 1, records)
    run, steps = np.repeat(np.arange(records), lengths), int(lengths.sum())
    x = rng.normal(size=steps).round(2)
    table = pd.DataFrame(
        {
            "run": [f"run {k}" for k in run] if text_ids else run,
            "t": np.concatenate([np.arange(length) * 2 for length in lengths]),
            "x": np.where(rng.random(steps) < 0.1, np.nan, x),
            "level": rng.integers(-3, 4, steps),
            "bit": rng.integers(0, 2, steps),
            "on": rng.random(steps) < 0.3,
            "mode": rng.choice(["up", "down", "no"], steps),
            "site": np.repeat(rng.choice(["north", "south"], records), lengths),
        }
    )
    high = table.groupby(run)["x"].transform("max").fillna(0) > 1
    return table.assign(end=np.where(high ^ (rng.random(records) < 0.1)[run], "high", "low"))


def in_files(table, place, form):
    """Write a table, and give what to read."""
    place.mkdir(exist_ok=True)
    cuts = [0, len(table) // 3, 2 * len(table) // 3, len(table)]
    if form == "parquet":
        table.to_parquet(place / "all.parquet", row_group_size=100)
        return place / "all.parquet"
    if form == "csv":
        table.to_csv(place / "all.csv", index=False)
        return place / "all.csv"
    for number, (low, high) in enumerate(pairwise(cuts)):
        part = table.iloc[low:high]  # a record may begin in one file and end in the next
        part.to_csv(place / f"{number}.csv", index=False)
        part.to_parquet(place / f"{number}.parquet", index=False)
    return str(place / ("*.csv" if form == "csvs" else "*.parquet"))


FORMS = ("parquet", "parquets", "csv", "csvs")


def model_bytes(panel, y, place, **settings_of_tree):
    search = settings_of_tree.pop("search", MonteCarlo(evaluations=300))
    model = GrammarTreeClassifier(search=search, max_depth=3, random_state=1, **settings_of_tree).fit(panel, y)
    model.save(place, overwrite=True)
    return model, place.read_bytes()


@pytest.mark.parametrize("form", FORMS)
def test_a_scanned_panel_is_the_one_that_is_read(tmp_path, form):
    source = in_files(long_table(), tmp_path / "data", form)
    read, y = telltree.read(source, **NAMES, static=["site"], time_unit="s")
    scanned, z = telltree.scan(source, **NAMES, static=["site"], time_unit="s")
    assert scanned.on_disk
    assert not read.on_disk
    assert len(scanned.parts()) > 5
    assert scanned == read
    assert z.tolist() == y.tolist()
    assert (scanned.notes, scanned.how_read, repr(scanned)) == (read.notes, read.how_read, repr(read))
    assert all(np.array_equal(scanned.times(k), read.times(k)) for k in range(len(read)))


@pytest.mark.parametrize(
    ("form", "search"),
    [("parquets", MonteCarlo(evaluations=300)), ("csv", GeneticProgramming(evaluations=600, population=100))],
)
def test_a_model_has_the_same_bytes(tmp_path, form, search):
    source = in_files(long_table(), tmp_path / "data", form)
    one, read = model_bytes(*telltree.read(source, **NAMES), tmp_path / "1.json", search=search)
    panel, y = telltree.scan(source, **NAMES)
    _, scanned = model_bytes(panel, y, tmp_path / "2.json", search=search)
    assert scanned == read
    assert len(one.tree_.leaves) > 1


def test_answers_are_the_same(tmp_path):
    source = in_files(long_table(), tmp_path / "data", "parquet")
    (read, y), (scanned, _) = telltree.read(source, **NAMES), telltree.scan(source, **NAMES)
    model, _ = model_bytes(read, y, tmp_path / "1.json", class_weight="balanced")
    assert model.predict(scanned).tolist() == model.predict(read).tolist()
    assert model.predict_proba(scanned).tolist() == model.predict_proba(read).tolist()
    assert str(categorize(model.tree_, scanned, y)) == str(categorize(model.tree_, read, y))
    question = "at some point x is above 1 while mode is up"
    assert telltree.ask(scanned, question, y).to_dict() == telltree.ask(read, question, y).to_dict()
    rises = "F(change(x, 2) > 0.5 and abs(x) < 2)"
    assert telltree.ask(scanned, rises, y).to_dict() == telltree.ask(read, rises, y).to_dict()
    pages = [model.report(panel, y, tmp_path / name).read_text() for panel, name in ((scanned, "s"), (read, "r"))]
    assert pages[0] == pages[1]


def test_signals_that_are_too_large_are_made_part_by_part(tmp_path, monkeypatch):
    monkeypatch.setattr(trace, "SIGNALS", 1000)  # bytes
    source = in_files(long_table(), tmp_path / "data", "parquet")
    read, scanned = telltree.read(source, **NAMES).panel, telltree.scan(source, **NAMES).panel
    formula = Formula.parse("F(change(x, 2) > 0.5 and abs(level) < 2) or count(missing(x)) > 1", read.schema)
    some = np.arange(0, len(read), 3)
    for one, other in ((read, scanned), (read[some], scanned[some]), (read[:40], scanned[:40])):
        signals = trace.signals_of(other)
        (change,) = [atom.args[0] for atom in formula.expression.walk() if str(atom).startswith("(change")]
        assert disk_arrays.on_disk(signals.values(change))
        assert formula(other).tolist() == formula(one).tolist()
        assert signals.deviation(change) == trace.signals_of(one).deviation(change)
        assert (
            Robustness(other).of_records(formula.expression).tolist()
            == Robustness(one).of_records(formula.expression).tolist()
        )


def test_folds_weights_and_checkpoints_take_it(tmp_path):
    source = in_files(long_table(records=80), tmp_path / "data", "parquet")
    (read, y), (scanned, _) = telltree.read(source, **NAMES), telltree.scan(source, **NAMES)
    weights = np.arange(len(y)) % 3
    found = []
    for panel, name in ((read, "1"), (scanned, "2")):
        model = GrammarTreeClassifier(search=MonteCarlo(evaluations=150), max_depth=2, random_state=1, cv=2)
        model.fit(panel, y, sample_weight=weights, checkpoint=tmp_path / "night.checkpoint")
        model.save(tmp_path / name)
        found.append((tmp_path / name).read_bytes())
    assert found[0] == found[1]


@pytest.fixture
def no_overhead(monkeypatch):
    """Reckon with records and bitsets alone, so that a few kilobytes decide how many shards there are."""
    nothing = {"_memory_now": lambda: 0, "_SEARCH": 0, "_SIGNALS_A_COLUMN": 0, "_A_RECORD": 0, "_FEWEST": 1}
    for name, value in nothing.items():
        monkeypatch.setattr(out_of_core, name, value)


@pytest.mark.parametrize("function", [telltree.read, telltree.scan])
def test_little_memory_is_told_and_changes_nothing(tmp_path, no_overhead, caplog, function):
    source = in_files(long_table(records=200), tmp_path / "data", "parquet")
    _, whole = model_bytes(*telltree.read(source, **NAMES), tmp_path / "1.json", class_weight="balanced")
    assert not caplog.records
    panel, y = function(source, **NAMES)
    search, shards = MonteCarlo(evaluations=300), []
    for size in ("120 kB", 50_000.0):
        model = GrammarTreeClassifier(search=search, max_depth=3, random_state=1, class_weight="balanced")
        model.fit(panel, y, max_memory=size).save(tmp_path / "2.json", overwrite=True)
        assert (tmp_path / "2.json").read_bytes() == whole
        shards.append(caplog.records[-1].getMessage())
    assert "about 0 MB of memory, with records in 2 shards that take turns, and at most" in shards[0]
    assert "3 shards" in shards[1]


def test_bitsets_that_do_not_fit_are_on_disk(tmp_path, no_overhead, monkeypatch):
    source = in_files(long_table(records=200), tmp_path / "data", "parquet")
    panel, y = telltree.read(source, **NAMES)
    _, whole = model_bytes(panel, y, tmp_path / "1.json")
    made, sparse = [], disk_arrays.sparse
    monkeypatch.setattr("telltree.engine.bitset_layout.sparse", lambda *size: made.append(size) or sparse(*size))
    assert model_bytes(panel, y, tmp_path / "2.json")[1] == whole
    assert not made
    monkeypatch.setattr(out_of_core, "default_memory", lambda _: 10_000)
    assert model_bytes(panel, y, tmp_path / "3.json")[1] == whole
    assert made


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ("a lot", "max_memory must be a size such as '4 GB'.*got 'a lot'"),
        (-3, "max_memory must be a size"),
        (True, "max_memory must be a size"),
        ("10 MB", r"max_memory of 10 MB is too little: at least [\d.]+ [MG]B are needed"),
    ],
)
def test_memory_that_cannot_be(tmp_path, size, message):
    panel, y = telltree.scan(in_files(long_table(), tmp_path / "data", "parquet"), **NAMES)
    with pytest.raises(telltree.errors.SettingsError, match=message):
        GrammarTreeClassifier(random_state=1).fit(panel, y, max_memory=size)


def test_memory_is_told_by_the_data(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(out_of_core, "_memory_now", lambda: 0)
    told = []
    for records in (100, 2_000):
        panel, y = telltree.scan(in_files(long_table(records=records, longest=60), tmp_path / "data", "csv"), **NAMES)
        GrammarTreeClassifier(search=MonteCarlo(evaluations=50), max_depth=1, random_state=1).fit(panel, y)
        told.append(int(re.search(r"about (\d+) MB of memory", caplog.records[-1].getMessage())[1]))
    assert told[0] < 220  # for code and populations, which any search has
    assert told[1] - told[0] > 10 * (told[0] - out_of_core._SEARCH / 1e6)


@pytest.mark.slow
def test_little_memory_is_enough_for_few_records(tmp_path):
    source = in_files(long_table(records=700, longest=50), tmp_path / "data", "csv")
    script = (
        "import sys, telltree, pathlib\n"
        "from telltree.search import MonteCarlo\n"
        "panel, y = telltree.scan(sys.argv[1], id='run', time='t', label='end')\n"
        "model = telltree.GrammarTreeClassifier(search=MonteCarlo(evaluations=300), max_depth=2, random_state=1)\n"
        "model.fit(panel, y, max_memory='650 MB')\n"
        "status = pathlib.Path('/proc/self/status')\n"
        "peak = status.read_text().split('VmHWM:')[1].split()[0] if status.exists() else 0\n"
        "print(int(peak) // 1024)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(source)], capture_output=True, text=True, check=True)
    assert int(ended.stdout) < 650


def test_views_of_a_scanned_panel(tmp_path):
    source = in_files(long_table(), tmp_path / "data", "parquet")
    (read, _), (scanned, _) = (
        telltree.read(source, **NAMES, static=["site"]),
        telltree.scan(source, **NAMES, static=["site"]),
    )
    for some in (slice(3, 90), np.arange(0, 150, 2), np.array([5])):
        assert scanned[some] == read[some]
        assert scanned[some].alone() == read[some]
        assert sum(map(len, scanned[some].parts())) == len(read[some])
        assert scanned[some].missing() == read[some].missing()
    parts = scanned.parts()
    assert parts[-1] == parts[len(parts) - 1]
    assert parts[1].ids.tolist() == list(parts)[1].ids.tolist()
    assert scanned.select(["x", "on"]) == read.select(["x", "on"])
    assert scanned.resample(4) == read.resample(4)
    assert scanned.to_frame().equals(read.to_frame())
    fewer = dataclasses.replace(read.schema["mode"], levels=("up", "no"))
    with pytest.warns(telltree.errors.DataWarning, match="down"):
        aligned = scanned.aligned(telltree.Schema([fewer]))
    with pytest.warns(telltree.errors.DataWarning, match="down"):
        assert aligned == read.aligned(telltree.Schema([fewer]))


@examples(30)
@given(
    st.integers(0, 2**32),
    st.integers(1, 40),
    st.sampled_from(["numbers", "zero and one", "words", "truth", "gaps", "nothing", "large"]),
    st.sampled_from(["whole", "seconds", "dates", "zoned", "none"]),
    st.booleans(),
    st.sampled_from(["parquet", "csv"]),
)
def test_any_column_is_read_alike(tmp_path_factory, seed, records, values, clock, text_ids, form):  # noqa: PLR0917  one for each thing that is drawn
    place, rng = tmp_path_factory.mktemp("scan"), np.random.default_rng(seed)
    table = long_table(seed, records, text_ids=text_ids)[["run", "t", "end"]]
    size = len(table)
    drawn = {
        "numbers": rng.normal(size=size),
        "zero and one": rng.integers(0, 2, size),
        "words": rng.choice(["b", "a", "NA", "Ä"], size),
        "truth": rng.choice(["yes", "no"], size),
        "gaps": np.where(rng.random(size) < 0.5, None, rng.choice([True, False], size)),
        "nothing": [None] * size,
        "large": rng.integers(2**60, 2**62, size),
    }
    times = {
        "whole": table["t"],
        "seconds": table["t"] / 7,
        "dates": pd.Timestamp("2024-03-30T23:00") + pd.to_timedelta(table["t"], "h"),
        "zoned": pd.Timestamp("2024-03-30T23:00", tz="Europe/Rome") + pd.to_timedelta(table["t"], "h"),
        "none": table["t"],
    }
    table = table.assign(t=times[clock], v=drawn[values])
    source = in_files(table, place, form)
    options = {**NAMES, "time": None, "columns": ["v"]} if clock == "none" else NAMES
    found = []
    for function in (telltree.read, telltree.scan):
        with pytest.MonkeyPatch.context() as patched, np.errstate(all="raise"):
            patched.setattr("telltree.panel.panel_data.warn", lambda _: None)
            panel, y = function(source, **options)
        dates = [None if panel.dates(k) is None else panel.dates(k).tolist() for k in range(len(panel))]
        found.append((panel, y.tolist(), dates, panel.daily, panel.notes, panel.column("v").dtype))
    assert found[0][0] == found[1][0]
    assert found[0][1:] == found[1][1:]


def test_one_file_per_record_and_labels_apart(tmp_path):
    table, place = long_table(records=12), tmp_path / "runs"
    place.mkdir()
    for run, rows in table.groupby("run"):
        with gzip.open(place / f"r{run}.csv.gz", "wt") as file:
            rows.drop(columns=["run", "end"]).to_csv(file, index=False)
    ends = {f"r{run}": rows["end"].iloc[0] for run, rows in table.groupby("run")}
    (read, y), (scanned, z) = (function(place, time="t", labels=ends) for function in (telltree.read, telltree.scan))
    assert scanned == read
    assert z.tolist() == y.tolist()
    assert scanned.on_disk


def test_rows_of_a_record_that_lie_apart_are_named(tmp_path):
    table = long_table(records=30)
    first = table[table["run"] < 10]
    pd.concat([first, table[table["run"] >= 10], first[first["run"] == 4]]).to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(
        DataError, match=r"a\.csv', row \d+ .*record 4 has rows in several places.*sort the files.*read"
    ):
        telltree.scan(tmp_path / "a.csv", **NAMES)
    (tmp_path / "a.csv").unlink()
    first.to_parquet(tmp_path / "a.parquet")
    table[table["run"] >= 9].assign(run=lambda t: t["run"].where(t["run"] != 20, 3)).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b\.parquet', row \d+ .*record 3 has rows in several places"):
        telltree.scan(tmp_path, **NAMES)


def test_times_that_go_back_are_named(tmp_path):
    table = long_table(records=30, text_ids=True)
    late = table.index[table["run"] == "run 3"][0]
    table.loc[late, "t"] = 1000
    assert (table["run"] == "run 3").sum() > 1
    table.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(DataError, match=rf"row {late + 1} .*record 'run 3' is not sorted by time.*use read"):
        telltree.scan(tmp_path / "a.csv", **NAMES)


def broken(place, kind):
    table = long_table(records=30)
    table.to_parquet(place / "a.parquet")
    if kind == "columns":
        table.rename(columns={"x": "y"}).to_parquet(place / "b.parquet")
    elif kind == "types":
        table.assign(run=table["run"] + 100, x="high").to_parquet(place / "b.parquet")
    elif kind == "damaged":
        whole = (place / "a.parquet").read_bytes()
        (place / "b.parquet").write_bytes(whole[: len(whole) // 2])
    elif kind == "kinds":
        table.to_csv(place / "b.csv")
    elif kind == "empty":
        (place / "a.parquet").unlink()
    elif kind == "unlabelled":
        table.assign(end=table["end"].where(table["run"] != 8)).to_parquet(place / "a.parquet")
    elif kind == "two labels":
        table.assign(end=np.where(table["t"] > 0, "a", "b")).to_parquet(place / "a.parquet")
    elif kind == "no rows":
        pq.write_table(pa.table({name: pa.array([], pa.int64()) for name in table}), place / "a.parquet")
    return place


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("columns", r"a\.parquet' and .*b\.parquet' have different columns: only one has 'x', 'y'"),
        ("types", r"column 'x' has mixed types: numbers in .*a\.parquet', text in .*b\.parquet'"),
        ("damaged", r"cannot read .*b\.parquet'"),
        ("kinds", r"some files are Parquet and some are not"),
        ("empty", r"no records: the directory .* has no file"),
        ("unlabelled", r"label 'end' is missing in 1 record: 8"),
        ("two labels", r"label 'end' varies inside"),
        ("no rows", r"there are no records"),
    ],
)
def test_what_is_wrong_is_said_as_by_read(tmp_path, kind, message):
    place = broken(tmp_path, kind)
    with pytest.raises(DataError, match=message) as said:
        telltree.scan(place, **NAMES)
    with pytest.raises(DataError) as expected:
        telltree.read(place, **NAMES)
    assert str(said.value) == str(expected.value)


def test_only_files_are_scanned(tmp_path):
    with pytest.raises(DataError, match="got DataFrame; for anything else there is read"):
        telltree.scan(long_table(), **NAMES)
    with pytest.raises(DataError, match="for standard input there is read"):
        telltree.scan("-", **NAMES)
    with pytest.raises(DataError, match="no file matches"):
        telltree.scan(str(tmp_path / "*.parquet"), **NAMES)


def test_what_is_on_disk_is_gone_with_the_panel(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "there"))
    (tmp_path / "there").mkdir()
    panel, _ = telltree.scan(in_files(long_table(), tmp_path, "parquet"), **NAMES)
    assert not list((tmp_path / "there").iterdir())
    assert disk_arrays.on_disk(panel.column("x"))
    before = len(disk_arrays._FILES)
    del panel
    assert len(disk_arrays._FILES) < before


def test_a_full_disk_is_one_error(tmp_path, monkeypatch):
    source = in_files(long_table(), tmp_path, "parquet")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk_arrays.os, "posix_fallocate", full)
    with pytest.raises(DataError, match=r"no room for .* MB .*No space left on device.*TMPDIR"):
        telltree.scan(source, **NAMES)


def test_as_many_files_are_open_as_are_needed():
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (300, limits[1]))
        disk_arrays.allow_files(400)
        held = [disk_arrays.empty(10, np.float64) for _ in range(200)]
        assert len(held) == 200
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
