"""Endless, special and absurd input: a clear refusal, and soon."""

import gzip
import io
import os
import sys
import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from telltree import Panel, files
from telltree.errors import LONGEST_MESSAGE, DataError
from telltree.panel import csv, input_files, read
from telltree.panel.read import load_overrides

SHORT = LONGEST_MESSAGE + 100


class Endless(io.RawIOBase):
    """A stream of one byte over and over, that tells how much of it was read."""

    def __init__(self, content=b"\0"):
        self.content, self.taken = content, 0

    def readable(self):
        return True

    def readinto(self, buffer):
        whole = (self.content * (len(buffer) // len(self.content) + 1))[: len(buffer)]
        buffer[:] = whole
        self.taken += len(whole)
        return len(whole)


def refused(message, call, *args, **options):
    with pytest.raises(DataError, match=message) as caught:
        call(*args, **options)
    assert len(str(caught.value)) < SHORT
    return caught


@pytest.mark.parametrize("encoding", [None, "utf-8", "latin-1", "utf-16-le"])
def test_a_line_without_an_end_is_refused(encoding):
    stream = Endless()
    refused(
        "line 1: it has more than 16,777,216 characters", read, io.BufferedReader(stream), id="id", encoding=encoding
    )
    assert stream.taken < 4 * input_files.MOST_LINE


def test_a_text_stream_and_packed_zeros_are_refused_too(monkeypatch):
    monkeypatch.setattr(input_files, "MOST_LINE", 1000)
    refused("line 2: it has more than 1,000", read, io.StringIO("id,x\n" + "1" * 2000), id="id")
    refused("more than 1,000", read, io.BytesIO(gzip.compress(b"id,x\n" + b"\0" * 10**6)), id="id")


def test_a_row_that_quotation_marks_never_end_is_refused(monkeypatch):
    monkeypatch.setattr(csv, "MOST_LINE", 5000)
    row = "r," + '"a\n",' * 10_000
    refused(
        r"a row of more than 5,000 characters; is a quotation mark out of place",
        read,
        io.StringIO("id,x\n" + row),
        id="id",
    )
    read(io.StringIO("id,x\n" + 'r,"a\nb"\n' * 5000), id="id")  # so many rows are no matter
    endless = io.BufferedReader(Endless(b'"a\n",'))
    refused("a row of more than 5,000", read, endless, id="id")


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such device here")
@pytest.mark.parametrize("name", ["/dev/zero", "/dev/full"])
def test_devices_without_an_end_are_refused(name):
    refused("more than 16,777,216 characters", read, name, id="id")
    refused("more than 4 MB, the most that is read of such a file", load_overrides, name)
    refused("more than 16,777,216 characters", read, pd.DataFrame({"id": [1], "x": [2.0]}), id="id", labels=name)


def test_small_files_are_read_from_pipes(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("\ufeff[columns.x]\nunit = 'm'\n",))
    writer.start()
    assert load_overrides(pipe) == ({"x": {"unit": "m"}}, None)
    writer.join()


def test_a_file_may_have_all_that_is_allowed(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_BYTES", 10)
    path = tmp_path / "f"
    path.write_bytes(b"x" * 10)
    assert files.read_small(path) == "x" * 10
    path.write_bytes(b"x" * 11)
    with pytest.raises(files.TooLargeError):
        files.read_small(path)


def test_headers_of_too_many_columns_are_refused(monkeypatch):
    refused(
        "line 1: 25,002 columns, more than the 25,000",
        read,
        io.StringIO("id," + ",".join(map(str, range(25_001)))),
        id="id",
    )
    monkeypatch.setattr("telltree.panel.parquet.MOST_COLUMNS", 3)
    stream = io.BytesIO()
    pq.write_table(pa.table({name: [1.0] for name in "abcd"}), stream)
    stream.seek(0)
    refused("4 columns, more than", read, stream, id="a")


def test_a_grid_that_is_far_too_fine_is_refused():
    frame = pd.DataFrame({"id": [1, 1], "t": [0.0, 200.0], "x": [1.0, 2.0]})
    refused(
        r"a step every 1e-06 makes 2e\+08 steps of 1 column, too many for records of 2 in all",
        read,
        frame,
        id="id",
        time="t",
        every=1e-6,
    )
    wide = pd.DataFrame({**frame, **{f"c{i}": [1.0, 2.0] for i in range(100)}})
    refused("steps of 101 columns", read, wide, id="id", time="t", every=2e-4)
    assert read(frame, id="id", time="t", every=2e-4).panel.steps == 1_000_001


LONG = "x" * 4_000_000
QUOTING = [
    lambda: read(pd.DataFrame({"id": [1], LONG: [1.0]}), id="id"),
    lambda: Panel.from_arrays([np.ones((1, 1))], columns=[LONG]),
    lambda: read(pa.table({"id": [1], LONG: [1.0]}), id="id"),
    lambda: read(pd.DataFrame({"id": [1], "x": [1.0]}), id=LONG),
    lambda: read(pd.DataFrame({"id": [1], "x": [1.0]}), id="id", columns=[LONG]),
    lambda: read(pd.DataFrame({"id": [1], "x": [1.0]}), id="id", schema={LONG: {"type": "real"}}),
    lambda: read(pd.DataFrame({"id": [1], "x": [1.0]}), id="id", schema={"x": {LONG: "real"}}),
    lambda: read(pd.DataFrame({"id": [1], "x": [1.0]}), id="id", schema={"x": {"type": LONG}}),
    lambda: read(pd.DataFrame({"id": [1], "x": [1.0]}), id="id", schema={"x": {"unit": "m", "levels": LONG}}),
    lambda: read(pd.DataFrame({"id": [1], "x": [1.0]}), id="id", schema={"x": {"thresholds": LONG}}),
    lambda: read(pd.DataFrame({"id": [1, 1], "t": [0, 1], "x": [1.0, 2.0]}), id="id", time="t", every=LONG),
    lambda: read(pd.DataFrame({"id": [1, 1], "t": [0, 1], "x": [1.0, 2.0]}), id="id", time="t", repeated=LONG),
    lambda: read(pd.DataFrame({"id": [1, 1], "t": [0, 1], "x": [1.0, 2.0]}), id="id", time="t", missing=LONG),
    lambda: read(pd.DataFrame({"id": [1, 1], "t": [0, 1], "x": [1.0, 2.0]}), id="id", time="t", time_format=LONG),
    lambda: read(pd.DataFrame({"id": [1, 1], "t": ["1", LONG], "x": [1.0, 2.0]}), id="id", time="t"),
    lambda: read(pd.DataFrame({"id": [LONG, LONG], "t": [0, 0], "x": [1.0, 2.0]}), id="id", time="t"),
    lambda: read(LONG, id="id"),
    lambda: read(LONG + "\0", id="id"),
    lambda: read(io.BytesIO(b"id,x\n1,2\n"), id="id", encoding=LONG),
    lambda: read(np.ones((1, 1, 1)), layout=LONG),
    lambda: read(pd.DataFrame({"id": [1], "x": [1.0]}), id="id", labels={LONG: 1}),
    lambda: read(pd.DataFrame({"id": [1, 1], "x": [LONG, 3.0]}, dtype=object), id="id"),
    lambda: read(pd.DataFrame({"id": [LONG, LONG], "x": [LONG, 3.0]}, dtype=object), id="id"),
]


@pytest.mark.parametrize("call", QUOTING)
def test_no_message_repeats_all_of_a_long_text(call):
    refused(".", call)


# ---- delimiters and encodings


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ('id,"a;b;c;d",x', ["a;b;c;d", "x"]),
        ('id,x,"a;b;c;d"', ["x", "a;b;c;d"]),
        ('"a|b|c|d|e",id,x', ["a|b|c|d|e", "x"]),
        ('id;"a,b,c,d";x', ["a,b,c,d", "x"]),
        ('id,"say ""a;b;c;d""",x', ['say "a;b;c;d"', "x"]),
        ('id,"a;b;\n;c;d",x', ["a;b;\n;c;d", "x"]),
        ('id,5" pipe,x', ['5" pipe', "x"]),
        ('id\t"a,b;c,d;e"\tx', ["a,b;c,d;e", "x"]),
    ],
)
def test_what_stands_between_quotation_marks_does_not_choose_the_delimiter(header, names):
    delimiter = header[header.index("id") + 2] if not header.startswith('"a') else ","
    row = delimiter.join(["r", "1.5", "2.5"] if header.index("id") == 0 else ["1.5", "r", "2.5"])
    assert list(read(io.StringIO(f"\n{header}\n{row}\n"), id="id").panel.schema.names) == names


@pytest.mark.parametrize("encoding", ["undefined", "a\0b", "utf-8\ud800", "", "rot13", 5, b"utf-8"])
def test_encodings_that_are_none_are_named(encoding):
    refused("unknown encoding", read, io.BytesIO(b"id,x\n1,2\n"), id="id", encoding=encoding)


def test_streams_are_left_alone_after_an_error_in_the_middle():
    stream = io.BytesIO("id,x\n1,2\n".encode("utf-16-le") * 3)
    hooked = []
    before, sys.unraisablehook = sys.unraisablehook, hooked.append
    try:
        refused("unknown id column", read, stream, id="nothing", encoding="utf-16-le")
    finally:
        sys.unraisablehook = before
    assert hooked == []


# ---- the ends of the calendar

ENDS = ["0001-01-01T00:00:00+14:00", "0001-01-01", "9999-12-31T23:59:59.999999", "9999-12-31T23:59:59-14:00"]


def in_utc(panel):
    ahead = 0 if panel.offsets(0) is None else int(panel.offsets(0)[0])
    return panel.dates(0)[0] - np.timedelta64(ahead, "s")


@pytest.mark.parametrize("date", ENDS)
def test_the_first_and_the_last_dates_are_read(date):
    panel = read(io.StringIO(f"id,t,x\n1,{date},1\n"), id="id", time="t").panel
    assert str(panel.dates(0)[0]).startswith(date[:19])
    for backend in ("pandas", "polars", "pyarrow"):
        again = Panel.from_frame(panel.to_frame(backend), id="id", time="time")
        assert in_utc(again) == in_utc(panel)
    assert panel.resample(1.0).dates(0) == panel.dates(0)


@pytest.mark.parametrize("ticks", [-(2**63) + 1, 2**63 - 1])
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("kind", [pa.timestamp, pa.duration])
def test_times_beyond_what_64_bits_count_are_refused(ticks, unit, kind):
    times = pa.array([ticks, 0], pa.int64()).cast(kind(unit))
    table = pa.table({"id": [1, 1], "t": times, "x": [1.0, 2.0]})
    stream = io.BytesIO()
    pq.write_table(table, stream)
    stream.seek(0)
    for source in (table, stream):
        refused(
            "the time column 't' holds times beyond what can be counted in 1 row: 0", read, source, id="id", time="t"
        )


def test_a_record_longer_than_nanoseconds_count_is_refused():
    times = np.array([-(9 * 10**18), 9 * 10**18]).view("M8[ns]")
    frame = pd.DataFrame({"id": [1, 1], "t": times, "x": [1.0, 2.0]})
    refused("a record is longer than 290 years", read, frame, id="id", time="t")
