"""Labels: one per record, and classes."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from telltree.errors import DataError, DataWarning
from telltree.panel import Panel, check_labels, labels_from_frame, read, scan

FRAME = pd.DataFrame({"id": ["b", "a", "b"], "label": ["x", "y", "x"], "v": [1.0, 2.0, 3.0]})


@pytest.mark.parametrize("frame", [FRAME, pl.from_pandas(FRAME), pl.from_pandas(FRAME).to_arrow()])
def test_labels_come_in_record_order(frame):
    ids, labels = labels_from_frame(frame, id="id", label="label")
    panel = Panel.from_frame(frame, id="id", columns=["v"])
    assert ids.tolist() == panel.ids.tolist() == ["b", "a"]
    assert labels.tolist() == ["x", "y"]
    assert check_labels(labels, panel).tolist() == ["x", "y"]


def test_a_record_has_one_label():
    with pytest.raises(DataError, match="varies inside 1 record: 'b'"):
        labels_from_frame(FRAME.assign(label=["x", "y", "z"]), id="id", label="label")
    with pytest.raises(DataError, match="missing in 1 record: 'a'"):
        labels_from_frame(FRAME.assign(label=["x", None, "x"]), id="id", label="label")
    with pytest.raises(DataError, match="missing in 1 record: 'b'"):
        labels_from_frame(FRAME.assign(label=[1, 2, np.nan]), id="id", label="label")
    with pytest.raises(DataError, match="did you mean 'label'"):
        labels_from_frame(FRAME, id="id", label="lable")


GAPS = pd.DataFrame(
    {"id": ["a", "a", "b", "c", "c", "d"], "v": [1.0, 2, 3, 4, 5, 6], "label": ["x", "x", None, "y", "y", None]}
)


def sources(tmp_path):
    """The same records with gaps in their labels, in all forms that are read: what to read, and how."""
    GAPS.to_csv(tmp_path / "gaps.csv", index=False)
    GAPS.assign(label=GAPS.label.fillna("NA")).to_csv(tmp_path / "na.csv", index=False)
    GAPS.to_parquet(tmp_path / "gaps.parquet")
    bare = GAPS.drop(columns="label")
    known = GAPS.dropna().groupby("id").label.first()
    told = {"id": "id", "label": "label"}
    yield from ((GAPS, told), (tmp_path / "gaps.csv", told), (tmp_path / "na.csv", told))
    yield from ((tmp_path / "gaps.parquet", told), (pl.from_pandas(GAPS), told))
    yield from ((bare, {"id": "id", "labels": labels}) for labels in (known, dict(known), ["x", None, "y", None]))
    yield bare, {"id": "id", "labels": GAPS.drop_duplicates("id")[["id", "label"]]}
    wide = pd.DataFrame({"id": list("abcd"), "label": ["x", None, "y", None], "0": [1.0, 3, 4, 6], "1": [2.0, 1, 5, 1]})
    yield wide, {**told, "wide": True}


def test_records_without_a_label_are_left_out_if_asked(tmp_path):
    for source, how in sources(tmp_path):
        with pytest.warns(DataWarning, match="2 of 4 records without a label left out: 'b', 'd'"):
            panel, y = read(source, drop_unlabelled=True, **how)
        assert panel.ids.tolist() == ["a", "c"]
        assert panel.values("x1" if "wide" in how else "v", 1).tolist() == [4.0, 5.0]
        assert y.tolist() == ["x", "y"]
        with pytest.raises(DataError, match=r"'b', 'd'|for 1, 3"):
            read(source, **how)
    with pytest.warns(DataWarning, match="2 of 4 records without a label left out"):
        panel, y = scan(tmp_path / "gaps.csv", id="id", label="label", drop_unlabelled=True)
    assert (panel.ids.tolist(), y.tolist()) == (["a", "c"], ["x", "y"])


@pytest.mark.parametrize("values", [[1, None, 2, None], [True, None, False, None], [1.0, np.nan, 0.0, np.nan]])
def test_labels_with_gaps_are_what_they_are_without(tmp_path, values):
    frame = pd.DataFrame({"id": range(4), "v": 1.0, "label": values})
    with pytest.warns(DataWarning, match="left out"):
        _, gaps = read(frame, id="id", label="label", drop_unlabelled=True)
    assert gaps.tolist() == [values[0], values[2]]
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    with pytest.warns(DataWarning, match="left out"):
        _, gaps = read(tmp_path / "gaps.csv", id="id", label="label", drop_unlabelled=True)
    assert len(set(gaps.tolist())) == 2


def test_a_record_with_half_a_label_is_not_left_out():
    half = GAPS.assign(label=["x", None, "x", "y", "y", None])
    with pytest.raises(DataError, match="missing in 1 record: 'a'; leave them out, or records without any label by"):
        read(half, id="id", label="label", drop_unlabelled=True)
    with pytest.raises(DataError, match="missing in 4 records"):
        read(GAPS.assign(label=None), id="id", label="label", drop_unlabelled=True)
    full = GAPS.assign(label="x")
    assert len(read(full, id="id", label="label", drop_unlabelled=True).panel) == 4


@pytest.mark.parametrize("role", ["id", "time", "label"])
def test_an_unknown_column_lists_those_there_are(role):
    frame = GAPS.rename(columns={"v": "speed"}).fillna("x")
    with pytest.raises(
        DataError, match=f"unknown {role} column 'sped'; did you mean 'speed'[?] There are 'id', 'speed', "
    ):
        read(frame, **{"id": "id", role: "sped"})
    with pytest.raises(DataError, match=f"unknown {role} column 'zzz'; there are 'id', 'speed', 'label'"):
        read(frame, **{"id": "id", role: "zzz"})


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        ([1, 0, 1], "i"),
        ([1.0, 0.0, 2.0], "f"),
        ([True, False, True], "b"),
        (["a", "b", "a"], "O"),
        (np.array(["a", "b", "a"]), "U"),
        (pd.Series(["a", "b", "a"]), "O"),
        (pd.Series([1, 2, 1], dtype="Int64"), "i"),
        (pl.Series(["a", "b", "a"]), "O"),
    ],
)
def test_good_labels_pass(y, kind):
    labels = check_labels(y, Panel.from_table(np.zeros((3, 1))))
    assert labels.dtype.kind == kind
    assert labels.tolist() == list(y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 2], "2 labels for 3 records"),
        ([[1], [2], [3]], "one-dimensional"),
        ([1.0, np.nan, 2.0], "1 of 3 labels missing, for 1"),
        (["a", None, "b"], "1 of 3 labels missing, for 1"),
        ([0.5, 1.0, 1.5], "2 are continuous numbers: 0.5, 1.5"),
        ([np.inf, 1.0, 1.0], "continuous"),
        (["a", 1, "b"], "'int', 'str'"),
        (np.array(["2020"] * 3, "datetime64[Y]"), "datetime64"),
    ],
)
def test_bad_labels_are_explained(y, message):
    with pytest.raises(DataError, match=message):
        check_labels(y, Panel.from_table(np.zeros((3, 1))))
