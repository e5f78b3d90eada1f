"""Labels: one per record, and classes."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from telltree.data import Panel, check_labels, labels_from_frame
from telltree.errors import DataError

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
