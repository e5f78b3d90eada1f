"""Panels as views: slicing, decoding, equality, aligning, scikit-learn's indexing."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from telltree.errors import DataError, DataWarning
from telltree.panel import UNSEEN, Column, ColumnType, Panel, Schema, unusable


def small() -> Panel:
    frame = pd.DataFrame(
        {
            "id": ["a", "a", "b", "c", "c", "c"],
            "x": [1.0, np.nan, 3.0, 4.0, 5.0, 6.0],
            "on": pd.array([True, None, False, True, True, True], dtype="boolean"),
            "mode": ["u", "v", None, "u", "u", "w"],
            "age": [7.5, 7.5, np.nan, 9.0, 9.0, 9.0],
        }
    )
    return Panel.from_frame(frame, id="id", static=["age"], period=0.5, time_unit="s")


def test_columns_are_shared_encoded_and_read_only():
    panel = small()
    assert panel.shape == (3, 4)
    assert (len(panel), panel.steps) == (3, 6)
    assert panel.lengths.tolist() == [2, 1, 3]
    assert panel.starts.tolist() == [0, 2, 3]
    assert panel.column("on").tolist() == [1, -1, 0, 1, 1, 1]
    assert panel.column("mode").tolist() == [0, 1, -1, 0, 0, 2]
    assert np.array_equal(panel.column("age"), [7.5, 7.5, np.nan, 9, 9, 9], equal_nan=True)
    dtypes = [panel.column(name).dtype for name in panel.schema]
    assert dtypes == [np.float64, np.int8, np.int32, np.float64]
    for array in (*(panel.column(name) for name in panel.schema), panel.ids, panel.starts, panel.values("x", 0)):
        assert not array.flags.writeable
    assert panel.missing() == {"x": 1, "on": 1, "mode": 1, "age": 1}


def test_a_slice_shares_the_rows():
    panel = small()
    part = panel[[2, 0]]
    assert np.shares_memory(part.column("x"), panel.column("x"))
    assert part.ids.tolist() == ["c", "a"]
    assert part.values("x", 0).tolist() == [4, 5, 6]
    assert part.values("age", 0).tolist() == [9, 9, 9]
    assert np.array_equal(part.stacked("x"), [4, 5, 6, 1, np.nan], equal_nan=True)
    assert part[1:][0].record(0)["mode"].tolist() == ["u", "v"]
    assert part.record(1)["on"].tolist() == [True, None]
    assert part.times(0).tolist() == [0, 0.5, 1]
    assert len(panel[[]]) == 0
    assert len(list(panel)) == 3


@pytest.mark.parametrize("key", [3, [5], [[0]], [True, False], "a", [0.5], np.array(["a"])])
def test_wrong_keys_are_index_errors(key):
    with pytest.raises(IndexError):
        small()[key]


lengths = st.lists(st.integers(1, 5), min_size=1, max_size=8)


@given(lengths, st.data())
def test_slicing_agrees_with_indexing_a_list_of_records(lengths, data):
    records = [np.arange(2 * n, dtype=float).reshape(n, 2) + 100 * i for i, n in enumerate(lengths)]
    panel = Panel.from_arrays(records)
    held = np.empty(len(records), dtype=object)
    held[:] = records
    for _ in range(2):  # a slice of a slice
        count = len(panel)
        key = data.draw(
            st.one_of(
                st.slices(count),
                st.lists(st.integers(-count, count - 1), max_size=6).map(lambda k: np.array(k, int))
                if count
                else st.just([]),
                st.lists(st.booleans(), min_size=count, max_size=count).map(lambda k: np.array(k, bool)),
            )
        )
        panel, held = panel[key], held[np.asarray(key, int) if isinstance(key, list) else key]
        assert len(panel) == len(held)
        for i, record in enumerate(held):
            assert np.array_equal(np.column_stack([panel.values(name, i) for name in panel.schema]), record)
        assert panel.steps == sum(map(len, held))
        assert panel.stacked("x1").tolist() == [value for record in held for value in record[:, 0]]


def test_equality_is_of_values_and_not_of_storage():
    panel = small()
    assert panel == small()
    assert panel[[0, 2]] == panel[np.array([True, False, True])]
    assert panel != panel[::-1]
    assert panel != panel.select(["x", "on"])
    assert panel != "a panel"
    assert panel[[0, 1, 2]] == panel
    with pytest.raises(TypeError, match="unhashable"):
        hash(panel)


def test_a_panel_is_frozen_and_pickles():
    panel = small()
    with pytest.raises(AttributeError):
        panel.period = 3
    for twin in (pickle.loads(pickle.dumps(panel[1:])), copy.deepcopy(panel)[1:]):  # noqa: S301 - our own bytes
        assert twin == panel[1:]
        assert not twin.column("x").flags.writeable


def test_repr_is_short_and_safe():
    assert "3 records of 1 to 3 steps (6 in all)" in repr(small())
    assert "missing values: 4 in 'x', 'on', 'mode', 'age'" in repr(small())
    wide = Panel.from_table(np.zeros((2, 5000)), columns=["\x1b[31m", *(f"c{i}" * 2 for i in range(4999))])
    assert "\x1b" not in repr(wide)
    assert len(repr(wide).splitlines()) <= 12
    assert "no records" in repr(small()[[]])


def test_other_meaning_same_data():
    panel = small()
    meant = panel.with_schema(panel.schema.override({"x": {"kind": "altitude", "thresholds": [1, 2]}}))
    assert meant.schema["x"].kind == "altitude"
    assert np.shares_memory(meant.column("x"), panel.column("x"))
    with pytest.raises(DataError, match="cannot change"):
        panel.with_schema(panel.schema.override({"x": {"type": "Boolean"}}))
    with pytest.raises(DataError, match="other columns"):
        panel.with_schema(Schema([Column("x", ColumnType.REAL)]))


def test_select_keeps_the_order_given():
    part = small()[1:].select(["mode", "age"])
    assert part.schema.names == ("mode", "age")
    assert part.values("age", 1).tolist() == [9, 9, 9]
    with pytest.raises(DataError, match="unknown column 'moed'; did you mean 'mode'"):
        small().select(["moed"])
    with pytest.raises(DataError, match="unknown column"):
        small().column("nothing here")


def test_aligned_finds_columns_by_name_and_levels_by_name():
    panel = small()
    known = Schema([panel.schema["mode"].__class__("mode", "categorical", levels=("w", "v")), panel.schema["x"]])
    with pytest.warns(DataWarning, match=r"column 'mode': 'u' \(3 values\)"):
        aligned = panel.aligned(known)
    assert aligned.schema.names == ("mode", "x")
    assert aligned.column("mode").tolist() == [UNSEEN, 1, -1, UNSEEN, UNSEEN, 0]
    assert aligned.record(2)["mode"].tolist() == [None, None, "w"]
    assert panel.aligned(panel.schema) == panel
    assert panel[1].aligned(known).missing() == {"mode": 1, "x": 0}  # nothing unseen in this view, so no warning


def test_aligned_refuses_what_cannot_fit():
    panel = small()
    with pytest.raises(DataError, match="lack 'y'"):
        panel.aligned(Schema([Column("y", ColumnType.REAL)]))
    with pytest.raises(DataError, match="'mode' is categorical, but real was expected"):
        panel.aligned(Schema([Column("mode", ColumnType.REAL)]))
    empty = Panel.from_table(pd.DataFrame({"mode": [None, None]}))
    assert empty.aligned(Schema([panel.schema["mode"]])).column("mode").tolist() == [-1, -1]


def test_unusable_columns_are_reported_with_reasons():
    count = 70
    panel = Panel.from_table(
        pd.DataFrame(
            {
                "same": np.ones(count),
                "nothing": np.full(count, np.nan),
                "name": [f"n{i}" for i in range(count)],
                "many": [f"n{i // 2 if i < 4 else i}" for i in range(count)],
                "fine": np.arange(count) / 2,
                "holes": [1.0, None] * (count // 2),
            }
        )
    )
    assert unusable(panel) == {
        "same": "constant",
        "nothing": "empty (all missing)",
        "name": "categorical with a different value in every record",
        "many": "categorical with 68 levels, more than 64",
    }
    assert unusable(panel[0])["fine"] == "constant"


def test_scikit_learn_indexes_panels():
    rng = np.random.default_rng(0)
    panel = Panel.from_arrays([rng.normal(size=(n, 2)) for n in rng.integers(1, 6, 20)])
    y = np.arange(20) % 2
    assert _num_samples(panel) == 20
    for key in (np.array([3, 1]), [3, 1], slice(2, 5), y == 1, (y == 1).tolist(), 4, np.array([], int)):
        expected = panel.ids[key]
        assert _safe_indexing(panel, key).ids.tolist() == np.atleast_1d(expected).tolist()
    train, test, _, y_test = train_test_split(panel, y, stratify=y, random_state=0)
    assert sorted([*train.ids, *test.ids]) == list(range(20))
    assert (test.ids % 2 == y_test).all()
    for inside, outside in StratifiedKFold(4).split(panel, y):
        assert len(_safe_indexing(panel, inside)) + len(panel[outside, ...]) == 20


def test_thousands_of_columns():
    wide = np.arange(20_000.0).reshape(4, 5000)
    panel = Panel.from_frame(pl.DataFrame(wide).with_columns(id=pl.Series([0, 0, 1, 1])), id="id")
    assert panel.shape == (2, 5000)
    assert unusable(panel) == {}
    assert panel[1].values("column_4999", 0).tolist() == [14999, 19999]
