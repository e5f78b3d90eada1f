"""Directories, globs, labels kept apart, Parquet, .ts files, and paths that lead nowhere."""

import datetime
import gzip
import io
import math
import os
import re
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from telltree.errors import DataError, MissingLibraryError
from telltree.panel import ColumnType, Panel, Read, parquet, read, scan

HERE = {"a.csv": "x,on\n1,true\n2,false\n", "b.csv": "on,x\n,3\n"}


@pytest.fixture
def place(tmp_path):
    for name, content in HERE.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


def write_parquet(path, table, **options):
    pq.write_table(table if isinstance(table, pa.Table) else pa.table(table), path, **options)
    return path


# ---- directories and globs


def test_a_directory_holds_one_record_per_file(place):
    (place / ".hidden.csv").write_text("nonsense", encoding="utf-8")
    (place / "notes.md").write_text("nonsense", encoding="utf-8")
    found = read(place)
    assert isinstance(found, Read)
    panel, y = found
    assert y is None
    assert panel.ids.tolist() == ["a", "b"]
    assert panel.column("x").tolist() == [1, 2, 3]
    assert panel.record(1)["on"].tolist() == [None]


def test_with_an_id_the_files_are_parts_of_one_table(tmp_path):
    (tmp_path / "1.csv").write_text("id,x\nu,1\nv,2\n", encoding="utf-8")
    (tmp_path / "2.csv").write_text("x,id\n3,u\n", encoding="utf-8")
    panel = read(tmp_path, id="id").panel
    assert panel.ids.tolist() == ["u", "v"]
    assert panel.column("x").tolist() == [1, 3, 2]


def test_a_name_with_brackets_is_a_file_if_there_is_one(tmp_path):
    (tmp_path / "run[1].csv").write_text("id,x\nu,1\n", encoding="utf-8")
    assert read(tmp_path / "run[1].csv", id="id").panel.ids.tolist() == ["u"]


def test_column_types_agree_over_all_files(tmp_path):
    (tmp_path / "a.csv").write_text("mode,n\n,1\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("mode,n\nup,\n", encoding="utf-8")
    panel = read(tmp_path).panel
    assert panel.record(0)["mode"].tolist() == [None]
    assert panel.record(1)["mode"].tolist() == ["up"]
    for name, table in {"c": {"m": [None], "n": [1]}, "d": {"m": ["up"], "n": [0.5]}}.items():
        write_parquet(tmp_path / f"{name}.parquet", table)
    again = read(str(tmp_path / "*.parquet")).panel
    assert again.record(0)["m"].tolist() == [None]
    assert again.column("n").tolist() == [1, 0.5]


BAD_PLACES = [
    (lambda place: place / "nowhere.csv", "there is no file '.*nowhere.csv'"),
    (lambda place: place / "nowhere.parquet", "there is no file '.*nowhere.parquet'"),
    (lambda place: place / "nowhere.ts", "there is no file '.*nowhere.ts'"),
    (lambda place: str(place / "*.nothing"), r"no file matches '.*\*.nothing'"),
    (lambda place: place / "empty", "the directory '.*empty' has no file ending in .csv"),
    (lambda place: [place / "a.csv", place / "nowhere.csv"], "there is no file '.*nowhere.csv'"),
    (lambda place: [place / "a.csv", place / "c.csv"], "'.*a.csv' and '.*c.csv' have different columns: .*'on', 'y'"),
    (lambda place: [place / "a.csv", place / "empty" / ".." / "a.csv"], "two files stand for the record 'a'"),
    (lambda place: [place / "a.csv", place / "d.parquet"], "some files are Parquet and some are not"),
    (lambda place: [place / "a.csv", "x.ts"], "read one at a time"),
    (lambda place: "a\0b", "there is no file"),
]


@pytest.mark.parametrize(("source", "message"), BAD_PLACES, ids=[case[1] for case in BAD_PLACES])
def test_paths_that_cannot_be_read_are_named(source, message, place):
    (place / "empty").mkdir()
    (place / "c.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    write_parquet(place / "d.parquet", {"x": [1.0], "on": [True]})
    with pytest.raises(DataError, match=message):
        read(source(place))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_named(place):
    (place / "a.csv").chmod(0)
    with pytest.raises(DataError, match=r"cannot read '.*a.csv': Permission denied"):
        read(place)


def test_a_failing_stream_is_a_data_error():
    class Failing(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            raise OSError(5, "Input/output error")

    with pytest.raises(DataError, match="cannot read the stream: Input/output error"):
        read(io.BufferedReader(Failing()), id="id")


@pytest.mark.parametrize("source", [7, None, object(), "", {"a": 1}, [1, 2]])
def test_what_is_no_source_is_a_data_error(source):
    with pytest.raises(DataError):
        read(source, id="id")


# ---- labels kept apart

APART = [
    "flight,outcome\nb,1\na,0\n",
    "outcome,id\n1,b\n0,a\n",
    "id,other,label\nb,?,1\na,!,0\nb,?,1\n",
]


@pytest.mark.parametrize("content", APART)
def test_a_labels_file_is_matched_by_id(content, place):
    (place / "labels.csv").write_text(content, encoding="utf-8")
    assert read(place, labels=place / "labels.csv").y.tolist() == [0, 1]


@pytest.mark.parametrize(
    "labels",
    [
        {"b": "v", "a": "u"},
        ["u", "v"],
        np.array(["u", "v"]),
        pd.Series({"b": "v", "a": "u"}),
        pl.Series(["u", "v"]),
        pd.DataFrame({"id": ["b", "a"], "label": ["v", "u"]}),
        pl.DataFrame({"name": ["b", "a"], "class": ["v", "u"]}),
    ],
)
def test_labels_come_in_many_forms(labels, place):
    assert read(place, labels=labels).y.tolist() == ["u", "v"]


def test_ids_that_look_like_numbers_match(tmp_path):
    for name in ("1", "02", "10"):
        (tmp_path / f"{name}.csv").write_text("x\n1\n", encoding="utf-8")
    (tmp_path / "labels.csv").write_text("id,y\n1,p\n02,q\n10,r\n", encoding="utf-8")
    panel, y = read(tmp_path, labels=tmp_path / "labels.csv")
    assert dict(zip(panel.ids.tolist(), y.tolist(), strict=True)) == {"1": "p", "02": "q", "10": "r"}
    frame = pd.DataFrame({"id": [1.0, 2.0], "x": [1.5, 2.5]})
    assert read(frame, id="id", labels={1: "u", 2: "v"}).y.tolist() == ["u", "v"]


def test_a_label_column_beside_labels_is_no_attribute(place):
    frame = pd.DataFrame({"id": ["a", "b"], "x": [1.5, 2.5], "y": [0, 1]})
    table = pd.DataFrame({"id": ["a", "b"], "y": ["p", "q"]})
    panel, y = read(frame, id="id", label="y", labels=table)
    assert panel.schema.names == ("x",)
    assert y.tolist() == ["p", "q"]


BAD_LABELS = [
    ({"a": 1}, "1 of 2 records without a label: 'b'; labels are for 'a'"),
    ({"a": 1, "b": 2, "c": 3}, "1 of 3 labels for no record: 'c'"),
    ([1], "1 label for 2 records"),
    ({"a": 1, "b": None}, "1 of 2 labels missing"),
    ({"a": 0.25, "b": 1.0}, "continuous"),
    (pd.DataFrame({"id": ["a", "a"], "y": [1, 2]}), "label 'y' varies inside 1 record: 'a'"),
    (pd.DataFrame({"id": ["a", "b"], "y": [1, 2], "z": [1, 2]}), "say which column of the labels table"),
    (pd.DataFrame({"id": ["a", "b"]}), "say which column of the labels table"),
    (pd.Series([1, 2], index=["a", "a"]), "two labels are given for one id"),
    ("nowhere.csv", "there is no file 'nowhere.csv'"),
    (7, "got int"),
]


@pytest.mark.parametrize(("labels", "message"), BAD_LABELS, ids=[case[1] for case in BAD_LABELS])
def test_labels_that_do_not_match_are_explained(labels, message, place):
    with pytest.raises(DataError, match=message):
        read(place, labels=labels)


# ---- Parquet


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    path = write_parquet(tmp_path / "x.parquet", {"id": [1], "x": [1.0]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingLibraryError, match=r'x.parquet.*: .* need pyarrow: pip install "telltree\[parquet\]"'):
        read(path, id="id")


def test_damaged_parquet_is_a_data_error(tmp_path):
    path = write_parquet(tmp_path / "x.parquet", {"id": list(range(1000)), "x": [1.5] * 1000})
    content = path.read_bytes()
    for damaged in (content[:-30], content[:40], b"PAR1" + bytes(100) + content[104:]):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"cannot read '.*x.parquet'"):
            read(path, id="id")


PAGE = b"\n<!DOCTYPE html><html><body>404 Not Found</body></html>"
FOREIGN = [
    ("a.arff", b"% Title\n@RELATION a\n@ATTRIBUTE x REAL\n@DATA\n1\n", "it is an ARFF file; .* as .ts files"),
    ("a.csv", b"@relation a\n@attribute x real\n", "it is an ARFF file"),
    ("a.arff.gz", gzip.compress(b"@relation a\n", mtime=0), "it is an ARFF file"),
    ("a.parquet", PAGE, r"it is a web page \(HTML\).*download the file again"),
    ("a.csv", PAGE, r"it is a web page \(HTML\)"),
    ("a.csv", b"\xef\xbb\xbf" + PAGE, r"it is a web page \(HTML\)"),
    ("a.csv.gz", gzip.compress(PAGE, mtime=0), r"it is a web page \(HTML\)"),
    ("a.parquet", b"id,x\n1,2\n", "its name says Parquet, but it does not begin as .*; if it is CSV, call it .csv"),
    ("a.pq", b"", "its name says Parquet, but it is empty"),
    ("a.csv", b"<?xml version='1.0'?><a/>", "it is XML; read it with pandas.read_xml"),
    ("a.xlsx", b"PK\x03\x04rest", "it is a ZIP archive, or an Excel workbook"),
    ("a.csv", b"PK\x03\x04rest", "it is a ZIP archive, or an Excel workbook"),
    ("a.xls", b"a,b\n1,2\n", "it is an Excel workbook; save its sheet as CSV"),
    ("a.json", b"[1]", "it is JSON; read it with pandas.read_json"),
    ("a.npy", b"\x93NUMPY\x01\x00", "it is a NumPy array; read it with numpy.load"),
    ("a.csv.bz2", b"BZh91AY", "it is packed by bzip2; unpack it"),
]


@pytest.mark.parametrize(
    ("name", "content", "message"), FOREIGN, ids=[f"{k}-{case[0]}" for k, case in enumerate(FOREIGN)]
)
@pytest.mark.parametrize("how", ["path", "list", "stream", "scan", "labels"])
def test_files_of_other_formats_are_refused_by_name(tmp_path, how, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    (tmp_path / "x.csv").write_text("id,x\n1,2\n", encoding="utf-8")
    with path.open("rb") as stream:
        ways = {
            "path": lambda: read(path, id="id"),
            "list": lambda: read([path], id="id"),
            "stream": lambda: read(stream, id="id"),
            "scan": lambda: scan(path, id="id"),
            "labels": lambda: read(tmp_path / "x.csv", id="id", labels=path, label="y"),
        }
        with pytest.raises(DataError, match=rf"cannot read .*{re.escape(name)}': {message}"):
            ways[how]()


def test_a_web_page_instead_of_series_is_refused(tmp_path):
    (tmp_path / "a.ts").write_bytes(PAGE)
    with pytest.raises(DataError, match=r"cannot read .*a.ts': it is a web page"):
        read(tmp_path / "a.ts")


def test_parquet_inside_gzip_and_under_another_name(tmp_path):
    path = write_parquet(tmp_path / "x.parquet", {"id": [1, 2], "x": [1.0, 2.0]})
    (tmp_path / "x.parquet.gz").write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(DataError, match=r"it is Parquet, packed by gzip; unpack it first"):
        read(tmp_path / "x.parquet.gz", id="id")
    (tmp_path / "x.data").write_bytes(path.read_bytes())  # what it holds decides
    assert len(read(tmp_path / "x.data", id="id").panel) == 2


def test_parquet_types(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "CELLS", 1)  # a row at a time
    big = 2**62
    table = pa.table(
        {
            "id": pa.array([big, big + 1, big]),
            "t": pa.array([datetime.datetime(2024, 1, 1, 0, 0, second) for second in (0, 0, 3)]),
            "half": pa.array([0.5, None, 1.5], pa.float32()),
            "whole": pa.array([1, None, 3], pa.int16()),
            "price": pa.array(["1.50", None, "2.25"]).cast(pa.decimal128(6, 2)),
            "on": pa.array([True, None, False]),
            "text": pa.array(["b", None, "a"], pa.large_string()),
            "dictionary": pa.array(["b", None, "a"]).dictionary_encode(),
            "nothing": pa.nulls(3),
            "__index_level_0__": pa.array([5, 6, 7]),
        }
    )
    panel = read(write_parquet(tmp_path / "x.parquet", table), id="id", time="t").panel
    assert panel.ids.tolist() == [big, big + 1]
    assert panel.times(0).tolist() == [0, 3]
    kinds = [str(column.type) for column in panel.schema.values()]
    assert kinds == ["real", "real", "real", "Boolean", "categorical", "categorical", "real"]
    assert panel == Panel.from_frame(table.drop_columns(["__index_level_0__"]), id="id", time="t")
    named = read(tmp_path / "x.parquet", id="id", columns=["whole"], schema={"whole": {"type": "categorical"}}).panel
    assert named.schema["whole"].levels == ("1", "3")


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([[1], [2]]), "'x' holds values of an unsupported type: list"),
        (pa.array([datetime.date(2024, 1, 1)] * 2), "'x' holds dates"),
        (pa.array([b"u", b"v"]), "unsupported type: binary"),
    ],
)
def test_parquet_types_that_are_no_attribute(column, message, tmp_path):
    path = write_parquet(tmp_path / "x.parquet", {"id": pa.array([1, 2]), "x": column})
    with pytest.raises(DataError, match=message):
        read(path, id="id")


# ---- pandas index


def test_the_two_levels_of_a_pandas_index_are_id_and_time():
    index = pd.MultiIndex.from_tuples([("a", 5), ("a", 7), ("b", 0)])
    panel = read(pd.DataFrame({"x": [1.5, 2.5, 3.5]}, index=index)).panel
    assert panel.ids.tolist() == ["a", "b"]
    assert panel.times(0).tolist() == [5, 7]


def test_arrays_need_a_layout():
    with pytest.raises(DataError, match="layout='columns, steps' or 'steps, columns'"):
        read([np.zeros((2, 3))])
    with pytest.raises(DataError, match="layout"):
        read(np.zeros((2, 3, 4)))
    panel = read(np.zeros((2, 3, 4)), layout="records, columns, steps", static={"age": [1.5, 2.5]}).panel
    assert panel.lengths.tolist() == [4, 4]
    assert panel.static_values("age").tolist() == [1.5, 2.5]


# ---- .ts

HEAD = "@problemName p\n@timeStamps false\n@classLabel true 1 2\n@data\n"


def ts(tmp_path, content, **options):
    path = tmp_path / "x.ts"
    path.write_text(content, encoding="utf-8")
    return read(path, **options)


def test_ts_files_of_unequal_lengths(tmp_path):
    panel, y = ts(tmp_path, "# a comment\n% another\n\n" + HEAD + "1,2,?:4,5,6:1\n\n %third\n7:NaN:2\n")
    assert panel.schema.names == ("x1", "x2")
    assert panel.lengths.tolist() == [3, 1]
    assert panel.missing() == {"x1": 1, "x2": 1}
    assert y.tolist() == [1, 2]
    named = ts(tmp_path, HEAD.replace("1 2", "up down") + "1:up\n2:down\n", columns=["speed"], ids=["p", "q"])
    assert named.panel.schema.names == ("speed",)
    assert named.panel.ids.tolist() == ["p", "q"]
    assert named.y.tolist() == ["up", "down"]
    assert ts(tmp_path, "@classLabel false\n@data\n1,2\n").y is None


def test_ts_files_with_dates(tmp_path):
    head = HEAD.replace("false", "true")
    stamps = "(2024-01-01 00:00:00,1),(2024-01-01 00:00:02,?):(2024-01-01 00:00:00,3),(2024-01-01 00:00:02,4)"
    panel, y = ts(tmp_path, f"{head}{stamps}:2\n")
    assert panel.times(0).tolist() == [0, 2]
    assert panel.column("x2").tolist() == [3, 4]
    assert math.isnan(panel.column("x1")[1])
    assert y.tolist() == [2]


BAD_TS = [
    ("", "is no .ts file: it has no line @data"),
    ("1,2,3\n", "line 1: expected a tag"),
    ("@timeStamps maybe\n@data\n", "line 1: @timestamps must be followed by true or false"),
    ("@timeStamps false\n@data\n1,2\n", "line 2: @data before a line that says @classLabel"),
    (HEAD, "there are no records"),
    (HEAD + "1,2:3:1\n", "line 5: the dimensions of a record have 1 to 2 steps"),
    (HEAD + "1:2:1\n1:1\n", "line 6: 1 dimension where the first record has 2"),
    (HEAD + "1,x:1\n", "line 5: could not convert string to float: 'x'"),
    (HEAD + "1,2\n", "line 5: the label after the last colon is missing"),
    (HEAD + "1,2:\n", "line 5: the label after the last colon is missing"),
    (HEAD + "1,2:3\n", "line 5: unknown class label '3'"),
    (HEAD.replace("false", "true") + "1,2:1\n", "line 5: expected steps such as"),
    (
        HEAD.replace("false", "true") + "(0,1):(1,1):1\n",
        "line 5: the dimensions of a record have different time stamps",
    ),
    (HEAD.replace("classLabel true 1 2", "targetLabel true") + "1:0.25\n2:1.5\n", "continuous numbers"),
]


@pytest.mark.parametrize(("content", "message"), BAD_TS, ids=[case[1] for case in BAD_TS])
def test_bad_ts_files_are_explained_with_their_line(content, message, tmp_path):
    with pytest.raises(DataError, match=message):
        ts(tmp_path, content)


def test_ts_files_have_no_named_columns(tmp_path):
    with pytest.raises(DataError, match="names no columns: leave out id, time and label"):
        ts(tmp_path, HEAD + "1:1\n", id="id")
    with pytest.raises(DataError, match="got 2 column names for 1 column"):
        ts(tmp_path, HEAD + "1:1\n", columns=["a", "b"])


def test_labels_may_replace_those_of_a_ts_file(tmp_path):
    assert ts(tmp_path, HEAD + "1:1\n2:2\n", labels=["u", "v"]).y.tolist() == ["u", "v"]


def test_a_schema_may_be_a_file(place):
    path = place / "schema.toml"
    path.write_text('[columns.x]\ntype = "categorical"\nphrase = "gear"\n', encoding="utf-8")
    panel = read(place / "?.csv", schema=path).panel
    assert panel.schema["x"].type is ColumnType.CATEGORICAL
    assert panel.schema["x"].words == "gear"
    path.write_text("[columns.xx]\n", encoding="utf-8")
    with pytest.raises(DataError, match="unknown column in schema 'xx'; did you mean 'x'"):
        read(place / "?.csv", schema=str(path))
    with pytest.raises(DataError, match=r"there is no file 'gone.toml'"):
        read(place / "?.csv", schema="gone.toml")
    with pytest.raises(DataError, match="schema is a Schema, a dict, or the path"):
        read(place, schema=7)
