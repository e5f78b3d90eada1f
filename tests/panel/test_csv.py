"""CSV as people really have it."""

import gzip
import io
import math
import os
import re
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.input_forms import csv_text

from telltree.errors import DataError, DataWarning
from telltree.panel import ColumnType, csv, read


def panel_of(text, **options):
    content = text if isinstance(text, bytes) else text.encode()
    return read(io.BytesIO(content), **{"id": "id", **options}).panel


def values(text, **options):
    return panel_of(text, **options).record(0)


@pytest.mark.parametrize(
    ("cells", "kind", "expected"),
    [
        ("1 -2.5 1e3 +4 .5", ColumnType.REAL, [1, -2.5, 1000, 4, 0.5]),
        ("1 NA NaN nan null", ColumnType.REAL, [1, math.nan, math.nan, math.nan, math.nan]),
        ("NA 1 2", ColumnType.REAL, [math.nan, 1, 2]),
        ("true FALSE NA True", ColumnType.BOOLEAN, [True, False, None, True]),
        ("up NA down none", ColumnType.CATEGORICAL, ["up", None, "down", "none"]),
        ("1_000 2_000", ColumnType.CATEGORICAL, ["1_000", "2_000"]),
        ("NA NA", ColumnType.REAL, [math.nan, math.nan]),
    ],
)
@pytest.mark.parametrize("cells_at_once", [1, 1 << 18])
def test_types_are_inferred_whatever_the_chunks(cells, kind, expected, cells_at_once, monkeypatch):
    monkeypatch.setattr(csv, "CELLS", cells_at_once)
    panel = panel_of("id,x\n" + "".join(f"r,{cell}\n" for cell in cells.split()))
    assert panel.schema["x"].type is kind
    found = panel.record(0)["x"]
    if kind is ColumnType.REAL:
        assert np.array_equal(found, expected, equal_nan=True)
    else:
        assert found.tolist() == expected


def test_the_schema_decides_over_the_cells():
    text = "id,gear,flag,code,none\nr,01,0,7,\nr,1,1,8,\n"
    types = {"gear": {"type": "categorical"}, "flag": {"type": "Boolean"}, "none": {"type": "categorical"}}
    panel = panel_of(text, schema=types)
    assert panel.schema["gear"].levels == ("01", "1")
    assert panel.record(0)["flag"].tolist() == [False, True]
    assert panel.record(0)["none"].tolist() == [None, None]
    assert [note for note in panel.notes if "'code'" in note]
    with pytest.raises(DataError, match="'code' cannot be Boolean"):
        panel_of(text, schema={"code": {"type": "Boolean"}})


def test_only_the_columns_asked_for_are_read():
    text = "id,x,broken\nr,1,1\nr,2,oops\n"
    assert panel_of(text, columns=["x"]).schema.names == ("x",)
    with pytest.raises(DataError, match="mixed types"):
        panel_of(text)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_are_found_in_the_header(delimiter):
    table = {"id": ["r", "r"], "x, y": [1.5, None], "a;b": ["u", "v,w"], "tab\there": [True, False]}
    panel = panel_of(csv_text(table, delimiter))
    assert panel.schema.names == ("x, y", "a;b", "tab\there")
    assert panel.record(0)["a;b"].tolist() == ["u", "v,w"]
    assert np.array_equal(panel.column("x, y"), [1.5, math.nan], equal_nan=True)


def test_a_decimal_comma_is_read_where_semicolons_delimit():
    assert values("id;x\nr;1,5\nr;-2\nr;\n")["x"].tolist()[:2] == [1.5, -2]
    assert values('id,x\nr,"1,5"\n')["x"].tolist() == ["1,5"]


def test_line_ends_blank_lines_and_quoted_newlines():
    text = '\r\nid,x,"na\nme"\r\n\r\nr,1,"a\r\nb"\r\nr,2,"say ""hi"""'
    assert values(text)["na\nme"].tolist() == ["a\r\nb", 'say "hi"']


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_marks_tell_the_encoding(encoding):
    assert values("id,größe\nr,é\n".encode(encoding))["größe"].tolist() == ["é"]


def test_other_encodings_are_said():
    text = "id,größe\nr,é\n"
    assert values(text.encode("latin-1"), encoding="latin-1")["größe"].tolist() == ["é"]
    assert values(text, encoding="UTF-8-SIG")["größe"].tolist() == ["é"]
    assert values(text.encode("utf-16-le"), encoding="utf-16-le")["größe"].tolist() == ["é"]
    with pytest.raises(DataError, match=r"the stream, line 1, byte 6: 0xf6 is not utf-8; .*such as 'cp1252'"):
        values(text.encode("latin-1"))
    with pytest.raises(DataError, match=r"line 2, byte 3"):
        values(b"id,x\nr,\xff\n")
    with pytest.raises(DataError, match="unknown encoding 'klingon'"):
        values(text, encoding="klingon")
    with pytest.raises(DataError, match="after line 2: not utf-16"):
        values("id,x\nr,1\n".encode("utf-16") + b"\x00", encoding="utf-16")


BAD = [
    (b"", "the stream is empty"),
    (b"\n\n", "the stream is empty"),
    (b"\xef\xbb\xbf", "the stream is empty"),
    (b"id,x\n", "there are no records"),
    (b"id,x\nr,1\nr\n", "line 3: 1 cell where the header names 2 columns"),
    (b"id,x\nr,1\n\nr,2,3\n", "line 4: 3 cells"),
    (b'id,x\nr,"a\nb"\nr\n', "line 4: 1 cell"),
    (b'id,x\nr,"1\n', "line 2: unexpected end of data; is a quotation mark out of place"),
    (b'id,x\nr,"1"2\n', "line 2: .*is a quotation mark out of place"),
    (b"id,x,id\nr,1,2\n", "line 1: two columns have the same name: 'id'"),
    (b"id\nr\n", "there are no columns to learn from"),
]


@pytest.mark.parametrize(("content", "message"), BAD, ids=[case[1] for case in BAD])
def test_bad_csv_is_explained_with_its_line(content, message):
    with pytest.raises(DataError, match=message):
        panel_of(content)


def test_times_are_numbers_or_dates():
    assert panel_of("id,t,x\nr,0.5,1\nr,2,2\n", time="t").times(0).tolist() == [0.5, 2]
    dates = panel_of("id,t,x\nr,2024-02-28T23:59:59.5Z,1\nr,2024-02-29 02:00:00+02:00,2\n", time="t")
    assert dates.times(0).tolist() == [0, 0.5]
    assert dates.time_unit == "s"
    assert panel_of("id,t,x\nr,2024-02-28,1\nr,2024-03-01,2\n", time="t").times(0).tolist() == [0, 2 * 86400]
    close = panel_of("id,t,x\nr,4611686018427387904,1\nr,4611686018427387905,2\n", time="t")
    assert close.lengths.tolist() == [2]


@pytest.mark.parametrize("cells_at_once", [1, 1 << 18])
@pytest.mark.parametrize(
    ("times", "message"),
    [
        (("0", "soon"), "time column 't' has 'soon' in line 3 of the stream, which is neither a number nor a date"),
        (("0", "2024-01-01"), "time column 't' mixes dates and numbers"),
        (("0", "NA"), "time column 't' is missing in line 3 of the stream"),
    ],
)
def test_bad_times_are_explained(times, message, cells_at_once, monkeypatch):
    monkeypatch.setattr(csv, "CELLS", cells_at_once)
    with pytest.raises(DataError, match=message):
        panel_of("id,t,x\n" + "".join(f"r,{time},1\n" for time in times), time="t")


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ("7 12", [7, 12]),
        ("07 7", ["07", "7"]),
        ("1.10 1.1", ["1.10", "1.1"]),
        ("a 1", ["a", "1"]),
        ("-0 0", ["-0", "0"]),
    ],
)
def test_ids_are_whole_numbers_only_if_written_so(ids, expected):
    assert panel_of("id,x\n" + "".join(f"{key},1\n" for key in ids.split())).ids.tolist() == expected


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("0 1", [0, 1]),
        ("1.0 2.0", [1.0, 2.0]),
        ("True false", [True, False]),
        ("01 1", ["01", "1"]),
        ("1 b", ["1", "b"]),
    ],
)
def test_labels_are_numbers_if_all_are(labels, expected):
    text = "id,x,y\n" + "".join(f"{i},1,{label}\n" for i, label in enumerate(labels.split()))
    assert read(io.StringIO(text), id="id", label="y").y.tolist() == expected


def test_gzip_is_found_by_its_first_bytes(tmp_path):
    packed = gzip.compress(b"id,x\nr,1\n")
    path = tmp_path / "no suffix"
    path.write_bytes(packed)
    assert read(path, id="id").panel.steps == 1
    path.write_bytes(packed[:-9])
    with pytest.raises(DataError, match=r"cannot read '.*no suffix'"):
        read(path, id="id")


def test_pipes_are_read_once(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(b"id,x\nr,1\n"))
    writer.start()
    assert read(path, id="id").panel.steps == 1
    writer.join()


def test_a_stream_stays_open_and_may_be_of_any_kind(tmp_path):
    stream = io.BytesIO(b"id,x\nr,1\n")
    read(stream, id="id")
    assert not stream.closed

    class Plain:
        def read(self, size=-1):
            return b"id,x\nr,1\n" if size else b""

    assert read(Plain(), id="id").panel.steps == 1
    path = tmp_path / "x.csv"
    path.write_text("\ufeffid,x\nr,1\n", encoding="utf-8")
    with path.open(encoding="utf-8") as text:
        assert read(text, id="id").panel.schema.names == ("x",)
    path.write_bytes(b"id,x\nr,\xff\n")
    with path.open(encoding="utf-8") as text, pytest.raises(DataError, match=r"x.csv.*open it with the right encoding"):
        read(text, id="id")


def test_infinite_numbers_and_few_whole_ones_are_told():
    with pytest.warns(DataWarning, match="'x': 1"):
        assert values("id,x\nr,inf\nr,1.5\n")["x"].tolist() == [math.inf, 1.5]
    with pytest.warns(DataWarning, match="'x': 1"):
        assert values("id,x\nr,-inf\nr,NA\n")["x"].tolist()[0] == -math.inf
    assert "'x'" in panel_of("id,x\nr,1\nr,2\n").notes[0]
    assert panel_of("id,x\nr,1.0\nr,2.5\n").notes == ()


cell = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=6) | st.from_regex(
    r"-?[0-9]{1,2}\.[01]", fullmatch=True
)
names = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=5), unique=True, min_size=1)


@given(names.filter(lambda found: "id" not in found and found != [""]), st.data())
def test_any_names_and_text_come_back(found, data):
    """As categories; those cells that stand for missing values come back as such."""
    cells = {name: data.draw(st.lists(cell, min_size=2, max_size=2)) for name in found}
    panel = panel_of(csv_text({"id": ["r", "r"], **cells}), schema={name: {"type": "categorical"} for name in found})
    assert panel.schema.names == tuple(found)
    for name, expected in cells.items():
        assert panel.record(0)[name].tolist() == [called(text) for text in expected]


def called(text):
    """What a cell is called as a category: whole numbers without a decimal point, and all other text as it is."""
    if text.strip() in {"", "NA", "N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL"}:
        return None
    whole = re.fullmatch(r"(-?(?:0|[1-9][0-9]*))\.0", text)
    return text if whole is None else whole[1].replace("-0", "0")


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_floats_come_back_to_the_last_digit(numbers):
    assert values(csv_text({"id": ["r"] * len(numbers), "x": numbers}))["x"].tolist() == numbers
