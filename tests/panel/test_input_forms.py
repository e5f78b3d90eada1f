"""One contract for every form of input: the same panel in, the same panel out; the same bad input, the same answer."""

import io
import math
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tests.support.input_forms import EVEN, MIXED, REAL, csv_bytes, csv_text, parquet_bytes

from telltree.errors import DataError, DataWarning
from telltree.panel import Panel, read, unusable

ODD = 'é "quoted"\n$x$ [x] <script>'
FRAME = pd.DataFrame(
    {
        "id": ["é", "é", "007", "a b", "a b", "a b"],
        "time": [0.5, 1.75, 2.0, -1.0, 0.0, 10.5],
        "vertical rate": [1.5, math.nan, -2e-7, 4.0, 1e22, 6.25],
        "F": [7.0, 8.0, 9.5, 1.25, 2.0, math.nan],
        "and": pd.array([True, None, False, True, True, False], dtype="boolean"),
        ODD: ["up", "do\nwn", None, "up", '"', "F,;\té"],
        "age": [7.5, 7.5, math.nan, 9.0, 9.0, 9.0],
    }
)
LABELS = ["yes", "no", "yes"]


def mixed():
    return Panel.from_frame(FRAME, id="id", time="time", static=["age"], time_unit="s")


def real():
    """Numbers without times, which is all that arrays hold."""
    return Panel.from_frame(FRAME, id="id", columns=["vertical rate", "F"], time_unit="s")


def even():
    """Records of one length."""
    return Panel.from_arrays(np.arange(12.0).reshape(2, 3, 2), layout="records, steps, columns", ids=["p", "q"])


def assert_same(found, panel, labels=LABELS):
    assert found.panel.schema == panel.schema
    assert found.panel.ids.tolist() == panel.ids.tolist()
    assert found.panel == panel
    assert found.y.tolist() == list(labels)
    times, expected = found.panel.stacked_times(), panel.stacked_times()
    assert (times is None and expected is None) or np.array_equal(times, expected)


def order(name, panel):
    """Directories and globs give records in order of their names."""
    by_name = name.startswith(("directory", "glob"))
    picked = np.argsort([str(key) for key in panel.ids]) if by_name else np.arange(len(panel))
    return panel[picked], [LABELS[place] for place in picked]


@pytest.fixture(scope="module")
def read_back(tmp_path_factory):
    """The mixed panel, read from each form."""
    place = tmp_path_factory.mktemp("forms")
    return {name: form.there_and_back(mixed(), LABELS, place / name) for name, form in MIXED.items()}


@pytest.mark.parametrize("name", MIXED)
def test_every_form_gives_the_same_panel(name, read_back):
    assert_same(read_back[name], *order(name, mixed()))


@pytest.mark.parametrize("first", MIXED)
def test_every_pair_of_forms_round_trips(first, read_back, tmp_path):
    between = read_back[first]
    for second, form in MIXED.items():
        again = form.there_and_back(between.panel, between.y.tolist(), tmp_path / second)
        picked = [between.panel.ids.tolist().index(key) for key in again.panel.ids]
        assert_same(again, between.panel[picked], between.y[picked])


@pytest.mark.parametrize("first", REAL)
def test_forms_that_hold_numbers_round_trip_with_every_other(first, tmp_path):
    between = REAL[first].there_and_back(real(), LABELS, tmp_path / "first")
    assert_same(between, real())
    for second, form in {**REAL, **MIXED}.items():
        again = form.there_and_back(between.panel, between.y.tolist(), tmp_path / second)
        assert_same(again, *order(second, real()))


@pytest.mark.parametrize("first", EVEN)
def test_records_of_one_length_round_trip_through_one_array(first, tmp_path):
    between = EVEN[first].there_and_back(even(), ["u", "v"], tmp_path / "first")
    assert_same(between, even(), ["u", "v"])
    for second, form in {**EVEN, **REAL, **MIXED}.items():
        assert_same(form.there_and_back(between.panel, ["u", "v"], tmp_path / second), even(), ["u", "v"])


def test_ts_files_keep_time_stamps(tmp_path):
    panel = mixed().select(["vertical rate", "F"])
    assert_same(REAL["ts"].there_and_back(panel, LABELS, tmp_path / "ts"), panel)


@pytest.mark.parametrize("encode", [csv_bytes, parquet_bytes])
def test_standard_input_is_a_dash(encode, monkeypatch):
    table = {"id": ["a", "b"], "x": [1.5, None]}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(encode(table))))
    panel, y = read("-", id="id")
    assert panel.ids.tolist() == ["a", "b"]
    assert panel.missing() == {"x": 1}
    assert y is None


# ---- bad input: the same answer from every form of a long table

TABLES = {
    "pandas": lambda table, place: pd.DataFrame(table),
    "polars": lambda table, place: pl.DataFrame(table, strict=False),
    "pyarrow": lambda table, place: pa.table(table),
    "csv": lambda table, place: written(place / "bad.csv", csv_bytes(table)),
    "csv stream": lambda table, place: io.StringIO(csv_text(table)),
    "parquet": lambda table, place: written(place / "bad.parquet", parquet_bytes(table)),
}
tables = pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
GOOD = {"id": ["a", "a", "b"], "t": [0, 1, 0], "x": [1.5, None, 3.0], "y": ["u", "u", "v"]}


def written(path, content):
    path.write_bytes(content)
    return path


BAD = [
    ({}, {"missing": "error"}, r"values are missing \('x': 1\)"),
    ({"id": [], "t": [], "x": [], "y": []}, {}, "there are no records"),
    ({"id": ["a", None, "b"]}, {}, "id column 'id' is missing in 1 row: 1"),
    ({"t": [0, None, 0]}, {}, "'t' is missing in"),
    ({"t": [0, 0, 0]}, {}, "1 step repeats a time of its record: record 'a' at 0"),
    ({"y": ["u", "v", "v"]}, {}, "label 'y' varies inside 1 record: 'a'"),
    ({"y": ["u", "u", None]}, {}, "label 'y' is missing in 1 record: 'b'"),
    ({"y": [0.5, 0.5, 1.25]}, {}, "continuous numbers: 0.5, 1.25"),
    ({}, {"id": "idd"}, "unknown id column 'idd'; did you mean 'id'"),
    ({}, {"time": "tt"}, "unknown time column 'tt'"),
    ({}, {"label": "z"}, "unknown label column 'z'"),
    ({}, {"columns": ["xx"]}, "unknown column 'xx'; did you mean 'x'"),
    ({}, {"columns": ["y"]}, "'y' is the label"),
    ({}, {"columns": ["t"]}, "'t' is the id or the time"),
    ({}, {"static": ["x"]}, "static column 'x' varies inside 1 record: 'a'"),
    ({}, {"schema": {"z": {"kind": "k"}}}, "unknown column in schema 'z'"),
    ({}, {"schema": {"x": {"knd": "k"}}}, "did you mean 'kind'"),
    ({"x": ["p", "q", "r"]}, {"schema": {"x": {"type": "real"}}}, "'x' cannot be real: 3 values do not fit"),
    ({}, {"id": None}, "say which column is the id, and tells the records apart; there are 'id', 't', 'x', 'y'"),
    ({}, {"labels": {"a": 1}}, "1 of 2 records without a label: 'b'"),
    ({}, {"labels": {"a": 1, "b": 2, "c": 3}}, "1 of 3 labels for no record: 'c'"),
    ({}, {"labels": [1, 2, 3]}, "3 labels for 2 records"),
    ({}, {"labels": {"a": 1.0, "b": math.nan}}, "1 of 2 labels missing, for 'b'"),
    ({}, {"period": -1}, "period must be a positive number"),
    ({}, {"every": 0}, "every must be a positive number"),
    ({}, {"ids": ["a", "b"]}, "ids are for lists"),
]


@tables
@pytest.mark.parametrize(("change", "options", "message"), BAD, ids=[case[2] for case in BAD])
def test_bad_long_tables_get_one_answer(make, change, options, message, tmp_path):
    with pytest.raises(DataError, match=message):
        read(make({**GOOD, **change}, tmp_path), **{"id": "id", "time": "t", "label": "y", **options})


DUPLICATES = {
    "pandas": lambda place: pd.DataFrame([["a", 1.0, 2.0]], columns=["id", "x", "x"]),
    "pyarrow": lambda place: pa.table([["a"], [1.0], [2.0]], names=["id", "x", "x"]),
    "csv": lambda place: written(place / "twice.csv", b"id,x,x\na,1,2\n"),
    "parquet": lambda place: written(place / "twice.parquet", duplicate_parquet()),
}


def duplicate_parquet():
    sink = io.BytesIO()
    pa.parquet.write_table(pa.table([["a"], [1.0], [2.0]], names=["id", "x", "x"]), sink)
    return sink.getvalue()


@pytest.mark.parametrize("make", DUPLICATES.values(), ids=DUPLICATES)
def test_a_name_appears_once(make, tmp_path):
    with pytest.raises(DataError, match="same name: 'x'"):
        read(make(tmp_path), id="id")


@tables
def test_what_is_odd_but_usable_works(make, tmp_path):
    one = read(make({"id": ["a"], "x": [1.5], "c": ["k"], "none": [None]}, tmp_path), id="id").panel
    assert (len(one), one.steps) == (1, 1)
    assert unusable(one) == {"x": "constant", "c": "constant", "none": "empty (all missing)"}
    with pytest.warns(DataWarning, match="1 record was not sorted by time and now is: 'a'"):
        panel = read(make({**GOOD, "t": [1, 0, 5]}, tmp_path), id="id", time="t", label="y").panel
    assert panel.stacked_times().tolist() == [0, 1, 5]
    with pytest.warns(DataWarning, match="infinite values are kept"):
        assert read(make({"id": ["a"], "x": [math.inf]}, tmp_path), id="id").panel.column("x").tolist() == [math.inf]


@tables
def test_thousands_of_columns_work(make, tmp_path):
    table = {"id": ["a", "b"], **{f"c{number}": [number + 0.5, None] for number in range(2000)}}
    panel = read(make(table, tmp_path), id="id").panel
    assert panel.shape == (2, 2000)
    assert panel.column("c1999")[0] == 1999.5


@tables
def test_ids_may_interleave_and_labels_may_be_numbers(make, tmp_path):
    table = {"id": [7, 3, 7], "x": [1.5, 2.5, 3.5], "y": [1, 0, 1]}
    panel, y = read(make(table, tmp_path), id="id", label="y")
    assert panel.ids.tolist() == [7, 3]
    assert panel.column("x").tolist() == [1.5, 3.5, 2.5]
    assert y.tolist() == [1, 0]
    assert y.dtype.kind == "i"


NUMBER_THEN_TEXT = "1.5 in record 0; 'u' in record 1"
MIXTURES = {
    "pandas": (lambda place: pd.DataFrame({"id": [0, 1], "x": [1.5, "u"]}), {"id": "id"}, NUMBER_THEN_TEXT),
    "csv": (
        lambda place: written(place / "x.csv", b"id,x\n1,1.5\n2,u\n"),
        {"id": "id"},
        "'1.5' in line 2 of '.*x.csv' is a number, 'u' in line 3 of '.*x.csv' is text; .*'categorical' in the schema",
    ),
    "csv, Boolean": (
        lambda place: io.StringIO("id,x\n1,u\n2,true\n"),
        {"id": "id"},
        "'u' in line 2 .* is text, 'true' in line 3 of the stream is a truth value",
    ),
    "frames": (lambda place: [pd.DataFrame({"x": [1.5]}), pd.DataFrame({"x": ["u"]})], {}, NUMBER_THEN_TEXT),
    "arrays": (
        lambda place: [np.array([[1.5]]), np.array([["u"]], dtype=object)],
        {"layout": "steps, columns", "columns": ["x"]},
        NUMBER_THEN_TEXT,
    ),
}


@pytest.mark.parametrize(("make", "options", "message"), MIXTURES.values(), ids=MIXTURES)
def test_mixed_types_are_shown_with_their_places(make, options, message, tmp_path):
    with pytest.raises(DataError, match=f"'x' has mixed types: {message}"):
        read(make(tmp_path), **options)


def test_mixed_types_across_parquet_files_name_the_files(tmp_path):
    written(tmp_path / "a.parquet", parquet_bytes({"x": [1.5]}))
    written(tmp_path / "b.parquet", parquet_bytes({"x": ["u"]}))
    with pytest.raises(DataError, match=r"mixed types: numbers in '.*a.parquet', text in '.*b.parquet'"):
        read(tmp_path)


EMPTY_RECORDS = {
    "dict of frames": lambda place: ({"a": pd.DataFrame({"x": [1.5]}), "b": pd.DataFrame({"x": []})}, {}),
    "arrays": lambda place: ([np.ones((1, 1)), np.ones((0, 1))], {"layout": "steps, columns", "ids": ["a", "b"]}),
    "directory of csv": lambda place: files(place, {"a.csv": b"x\n1\n", "b.csv": b"x\n"}),
    "directory of parquet": lambda place: files(
        place, {"a.parquet": parquet_bytes({"x": [1.5]}), "b.parquet": parquet_bytes({"x": []})}
    ),
    "ts": lambda place: (written(place / "x.ts", b"@classLabel true u\n@data\n1,2:u\n:u\n"), {"ids": ["a", "b"]}),
}


def files(place, contents):
    for name, content in contents.items():
        written(place / name, content)
    return place, {}


@pytest.mark.parametrize("make", EMPTY_RECORDS.values(), ids=EMPTY_RECORDS)
def test_records_without_steps_are_named(make, tmp_path):
    source, options = make(tmp_path)
    with pytest.raises(DataError, match="1 record has no steps: 'b'"):
        read(source, **options)
