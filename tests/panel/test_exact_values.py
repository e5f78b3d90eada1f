"""Ids and labels are kept to the last digit, and what no model file could hold is refused before anything is learnt."""

import datetime
import io
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from telltree import Panel, read
from telltree.errors import DataError, DataWarning
from telltree.panel import Column, check_labels

LARGE = [2**53, 2**53 + 1, 2**53 + 2]
DECIMALS = pa.array([Decimal(value) for value in LARGE], pa.decimal128(20, 0))


def written(path, table):
    pq.write_table(pa.table(table), path)
    return path


def test_decimal_ids_and_labels_of_parquet_stay_apart(tmp_path):
    path = written(tmp_path / "a.parquet", {"id": DECIMALS, "y": DECIMALS, "x": [1.0, 2.0, 3.0]})
    panel, y = read(path, id="id", label="y")
    assert panel.ids.tolist() == y.tolist() == LARGE
    parts = {"id": pa.array([Decimal("1.50"), Decimal("2.00")], pa.decimal128(20, 2)), "x": [1.0, 2.0]}
    assert read(written(tmp_path / "b.parquet", parts), id="id").panel.ids.tolist() == [1.5, 2]


@pytest.mark.parametrize(
    ("other", "ids"),
    [
        (pa.array([0.0, 2.0**53]), [*LARGE, 0]),
        (pa.array([2**63, 2**63 + 1], pa.uint64()), [*LARGE, 2**63, 2**63 + 1]),
        (DECIMALS[:2], LARGE),
    ],
    ids=["floats", "unsigned", "decimals"],
)
def test_ids_of_several_types_stay_apart(other, ids, tmp_path):
    one = written(tmp_path / "1.parquet", {"id": LARGE, "x": [1.0, 2.0, 3.0], "y": LARGE})
    two = written(tmp_path / "2.parquet", {"id": other, "x": [4.0, 5.0], "y": other})
    panel, y = read([one, two], id="id", label="y")
    assert panel.ids.tolist() == ids
    assert y.tolist() == ids


@pytest.mark.parametrize(
    "frame",
    [
        pa.table({"id": DECIMALS, "y": DECIMALS, "x": [1.0, 2.0, 3.0]}),
        pl.from_arrow(pa.table({"id": DECIMALS, "y": DECIMALS, "x": [1.0, 2.0, 3.0]})),
        pd.DataFrame({"id": map(Decimal, LARGE), "y": map(Fraction, LARGE), "x": [1.0, 2.0, 3.0]}),
    ],
)
def test_decimals_of_frames_are_plain_numbers(frame):
    panel, y = read(frame, id="id", label="y")
    assert [type(key) for key in panel.ids.tolist()] == [int] * 3
    assert panel.ids.tolist() == y.tolist() == LARGE


def test_numbers_beyond_64_bits_are_not_merged():
    ids = [2**63, -1, 2**63 + 1]
    panel = Panel.from_arrays([np.ones((1, 1))] * 3, ids=ids)
    assert panel.ids.tolist() == ids
    assert check_labels(ids, panel).tolist() == ids


ROUNDED = {
    "frame": lambda values: pd.DataFrame({"id": [1, 2, 3], "x": values}),
    "unsigned": lambda values: pl.DataFrame({"id": [1, 2, 3], "x": pl.Series(values, dtype=pl.UInt64)}),
    "gaps": lambda values: pd.DataFrame({"id": [1, 2, 3], "x": pd.array([*values[:2], None], dtype="Int64")}),
    "objects": lambda values: pd.DataFrame({"id": [1, 2, 3], "x": pd.Series(values, dtype=object)}),
    "csv": lambda values: io.StringIO("id,x\n" + "".join(f"{i},{value}\n" for i, value in enumerate(values))),
    "csv with gaps": lambda values: io.StringIO("id,x\n9,\n" + "".join(f"{i},{v}\n" for i, v in enumerate(values))),
    "parquet": lambda values: parquet_of({"id": [1, 2, 3], "x": values}),
    "decimals": lambda values: parquet_of({"id": [1, 2, 3], "x": DECIMALS}),
}


def parquet_of(table):
    stream = io.BytesIO()
    pq.write_table(pa.table(table), stream)
    stream.seek(0)
    return stream


@pytest.mark.parametrize("make", ROUNDED.values(), ids=ROUNDED)
def test_whole_numbers_that_lose_digits_are_told(make):
    with pytest.warns(DataWarning, match=r"beyond 2\^53 are rounded to the nearest float \('x': 1 value\)"):
        read(make(LARGE), id="id")


def test_large_numbers_that_floats_hold_are_no_matter():
    values = [2**53, 2**60, 0]
    for make in (ROUNDED["frame"], ROUNDED["csv"], ROUNDED["parquet"]):
        assert read(make(values), id="id").panel.column("x").tolist() == values


def test_arrays_of_several_types_keep_the_digits_of_names():
    arrays = [np.array([[2**53 + 1]]), np.array([[0.5]])]
    panel = Panel.from_arrays(arrays, schema={"x1": {"type": "categorical"}})
    assert panel.schema["x1"].levels == ("0.5", str(2**53 + 1))


# ---- what no model file could hold

ODD = [
    ([b"a", b"b"], "got bytes, such as b'a' \\(record 0\\); turn them into text"),
    (np.array([b"a", b"b"], dtype=object), "got bytes"),
    ([datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)], "got date, such as"),
    (np.array([datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1)], dtype=object), "got datetime"),
    ([Decimal("0.5"), Decimal(1)], "continuous numbers: 0.5"),
    (["a", "b\ud800"], r"the label 'b\\ud800' has '\\ud800', half of a character"),
    ([("a",), ("b",)], "labels"),
]


@pytest.mark.parametrize(("labels", "message"), ODD, ids=[case[1] for case in ODD])
def test_labels_that_cannot_be_saved_are_refused(labels, message):
    panel = Panel.from_table([[1.0], [2.0]])
    with pytest.raises(DataError, match=message):
        check_labels(labels, panel)


@pytest.mark.parametrize("labels", [[Decimal(1), Decimal("2.0")], [Fraction(1), Fraction(2)], np.array([1, 2], object)])
def test_labels_that_are_whole_numbers_are_integers(labels):
    found = check_labels(labels, Panel.from_table([[1.0], [2.0]]))
    assert (found.dtype.kind, found.tolist()) == ("i", [1, 2])


def test_names_with_half_a_character_are_refused():
    with pytest.raises(DataError, match=r"the column name 'x\\ud800' has '\\ud800', half of a character"):
        Panel.from_arrays([np.ones((1, 1))], columns=["x\ud800"])
    with pytest.raises(DataError, match=r"column 'x1': the level '\\udcff' has '\\udcff', half of a character"):
        Panel.from_arrays([np.array([["\udcff"]], dtype=object)])
    with pytest.raises(DataError, match="column 'x': unit '\\\\ud800'"):
        Column("x", "real", unit="\ud800")


@pytest.mark.parametrize("word", ["", "NA", " null "])
def test_a_label_that_says_missing_is_missing_in_every_table(word):
    frame = pd.DataFrame({"id": [1, 2], "x": [1.0, 2.0], "y": ["u", word]})
    for source in (frame, pl.from_pandas(frame), parquet_of(pa.Table.from_pandas(frame))):
        with pytest.raises(DataError, match="label 'y' is missing in 1 record: 2"):
            read(source, id="id", label="y")
