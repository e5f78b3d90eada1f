"""Wide tables: one row a record, one column a step."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

from telltree import GrammarTreeClassifier, Panel, read
from telltree.errors import DataError, DataWarning

RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=(6, 30)).round(4)
KINDS = ["up", "down", "up", "up", "down", "down"]


def text(values=VALUES, labels=KINDS, head=True, mark=","):
    names = mark.join(["kind", *(f"t{i}" for i in range(values.shape[1]))])
    rows = [mark.join([str(label), *map(str, row)]) for label, row in zip(labels, values.tolist(), strict=True)]
    return "\n".join([names] * head + rows) + "\n"


def test_a_table_with_names():
    panel, y = read(io.StringIO(text()), wide=True, label="kind", period=0.5, time_unit="s")
    assert (panel.shape, panel.steps, y.tolist()) == ((6, 1), 180, KINDS)
    np.testing.assert_array_equal(panel.stacked("x1"), VALUES.reshape(-1))
    assert panel.times(0)[:2].tolist() == [0, 0.5]


@pytest.mark.parametrize("labels", [KINDS, [1, 2, 1, 1, 2, 2], [-1, 1, -1, 1, 1, 1]])
def test_a_table_without_names_has_the_label_first(labels):
    with pytest.warns(DataWarning, match="first column is taken for the label, as in the UCR archive"):
        panel, y = read(io.StringIO(text(labels=labels, head=False, mark="\t")), wide=True)
    assert (panel.steps, y.tolist()) == (180, labels)
    np.testing.assert_array_equal(panel.values("x1", 5), VALUES[5])


def test_a_table_of_values_alone():
    lines = "".join(",".join(map(str, row)) + "\n" for row in VALUES.tolist())
    panel, y = read(io.StringIO(lines), wide=True)
    assert y is None
    np.testing.assert_array_equal(panel.stacked("x1"), VALUES.reshape(-1))
    names = io.StringIO(",".join(map(str, range(30))) + "\n" + lines)
    assert read(names, wide=True).panel.column("x1").tolist() == panel.column("x1").tolist()


def test_missing_values_at_the_end_are_no_steps():
    panel, _ = read(io.StringIO("id,0,1,2\na,1,,3.5\nb,2,NaN,NaN\n"), wide=True, id="id")
    assert (panel.ids.tolist(), panel.lengths.tolist(), panel.missing()) == (["a", "b"], [3, 1], {"x1": 1})
    with pytest.raises(DataError, match="1 record has no steps: 'c'"):
        read(io.StringIO("id,0,1\na,1,2\nc,,\n"), wide=True, id="id")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_several_series_by_their_stems(make):
    frame = make(
        {
            "ward": ["x", "y"],
            "temp_0": [36.5, 37.0],
            "temp_1": [36.0, None],
            "bed_0": ["yes", "no"],
            "bed_1": ["no", None],
            "heavy": [1, 0],
        }
    )
    panel = Panel.from_wide(frame, label="ward", static=["heavy"], ids=["p", "q"])
    assert {c.name: str(c.type) for c in panel.schema.values()} == {
        "temp": "real",
        "bed": "Boolean",
        "heavy": "Boolean",
    }
    assert panel.lengths.tolist() == [2, 1]
    assert panel.stacked("bed").tolist() == [1, 0, 0]
    assert panel.static_values("heavy").tolist() == [1, 0]
    assert read(frame, wide=True, label="ward", static=["heavy"]).y.tolist() == ["x", "y"]


def test_a_step_that_looks_boolean_is_not():
    frame = pd.DataFrame({"0": [0, 1], "1": [2, 3], "2": [1, 0]})
    assert Panel.from_wide(frame).stacked("x1").tolist() == [0, 2, 1, 1, 3, 0]
    assert Panel.from_wide(frame[["0", "2"]]).schema["x1"].type == "Boolean"
    names = pd.DataFrame({"0": ["a", "b"], "1": ["c", "a"], "2": [None, None]})
    assert Panel.from_wide(names).record(1)["x1"].tolist() == ["b", "a"]


def test_schemas_kinds_of_files_and_labels_apart(tmp_path):
    pq.write_table(
        pl.DataFrame({"id": ["a", "b"], "0": [1.5, 2.5], "1": [3.5, 4.5]}).to_arrow(), tmp_path / "w.parquet"
    )
    schema = {"x1": {"unit": "mV", "phrase": "voltage"}}
    panel, y = read(tmp_path / "w.parquet", wide=True, id="id", schema=schema, labels={"b": 2, "a": 1})
    assert (panel.schema["x1"].unit, y.tolist(), panel.stacked("x1").tolist()) == ("mV", [1, 2], [1.5, 3.5, 2.5, 4.5])
    (tmp_path / "more").mkdir()
    for name in "ab":
        (tmp_path / "more" / f"{name}.csv").write_text(text())
    assert len(read(tmp_path / "more", wide=True, label="kind").panel) == 12


@pytest.mark.parametrize(
    ("frame", "options", "match"),
    [
        ({"age": [1, 2], "t0": [1, 2], "t1": [1, 2]}, {}, "'age' is not called like one; name them as id, label or"),
        ({"a_0": [1], "a_1": [1], "b_0": [2]}, {}, "'a' and 'b' of the wide table have different steps"),
        ({"0": [1.5, 2], "1": ["u", "v"]}, {}, "of one type, but '0' is real, '1' is categorical"),
        ({"id": [1, 1], "0": [1, 2], "1": [1, 2]}, {"id": "id"}, "one row a record, but 1 id has several: 1"),
        ({"0": [1, 2]}, {"label": "kind"}, "unknown label column 'kind'"),
        ({"kind": [1, 2]}, {"label": "kind"}, "no columns to learn from"),
        ({"0": []}, {}, "there are no records"),
        ({}, {}, "there are no records"),
        ({"0": [1]}, {"schema": {"x2": {"unit": "m"}}}, "unknown column in schema 'x2'"),
    ],
)
def test_what_is_no_wide_table(frame, options, match):
    with pytest.raises(DataError, match=match):
        Panel.from_wide(pd.DataFrame(frame), **options)


def test_times_and_arrays_are_refused():
    with pytest.raises(DataError, match="has no column of times"):
        read(io.StringIO("t,0,1\n0,1,2\n"), wide=True, time="t")
    with pytest.raises(DataError, match="wide is for tables"):
        read(np.zeros((2, 3)), wide=True)
    with pytest.raises(DataError, match="a path, a stream or a dataframe; got dict"):
        read({"a": pd.DataFrame()}, wide=True)


def test_a_likely_wide_table_is_told():
    with pytest.raises(DataError, match=r"say which column is the id.*say wide \(--wide\)"):
        read(io.StringIO(text()))
    with pytest.raises(DataError, match="--wide"):
        read(io.StringIO(text(head=False)))
    with pytest.raises(DataError, match=r"two columns have the same name: '2.5'.*--wide"):
        read(io.StringIO("1,2.5,2.5,3\n2,1,1,1\n"))
    frame = pd.read_csv(io.StringIO(text())).assign(id=range(6))
    with pytest.warns(DataWarning, match="every record has one row, and dozens of columns .*--wide"):
        Panel.from_frame(frame, id="id")
    with pytest.raises(DataError) as caught:
        read(io.StringIO("a,b\n1,2\n"))
    assert "wide" not in str(caught.value)


def test_a_model_learns_and_predicts():
    values = np.where(np.arange(40)[:, None] % 2, 1.0, -1.0) + RNG.normal(size=(40, 12)) / 10
    labels = ["up" if i % 2 else "down" for i in range(40)]
    panel, y = read(io.StringIO(text(values, labels)), wide=True, label="kind")
    model = GrammarTreeClassifier(random_state=0, max_depth=1).fit(panel, y)
    with pytest.warns(DataWarning):
        unnamed, _ = read(io.StringIO(text(values, labels, head=False)), wide=True)
    assert model.predict(unnamed).tolist() == labels
