"""Which columns are Boolean, and how types that only values tell apart fit each other later."""

import io
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from telltree import Column, Formula, GrammarTreeClassifier, Panel, Schema, read, scan
from telltree.errors import DataError, DataWarning
from telltree.panel import UNSEEN
from telltree.search import MonteCarlo

NAN = math.nan


def from_csv(cells):
    lines = "".join(f"r,{cell}\n" for cell in cells)
    return read(io.StringIO(f"id,x\n{lines}"), id="id").panel


def from_values(values, make=pd.DataFrame):
    return Panel.from_frame(make({"id": ["r"] * len(values), "x": values}), id="id")


def from_parquet(values):
    sink = io.BytesIO()
    pq.write_table(pa.table({"id": ["r"] * len(values), "x": values}), sink)
    sink.seek(0)
    return read(sink, id="id").panel


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (("yes", "no"), "Boolean"),
        (("YES", "No", "yes", ""), "Boolean"),
        (("on", "OFF"), "Boolean"),
        (("TRUE", "False"), "Boolean"),
        (("y", "N"), "Boolean"),
        (("t", "f"), "Boolean"),
        (("no", "no"), "Boolean"),
        (("n", "n"), "categorical"),  # a letter alone may be the name of anything
        (("y", "f"), "categorical"),
        (("yes", "off"), "categorical"),
        (("yes", "no", "maybe"), "categorical"),
        (("0", "1"), "Boolean"),
        (("0", "NA", " 1 "), "Boolean"),
        (("1", "1"), "real"),
        (("", "0"), "real"),
        (("0.0", "1.0"), "real"),
        (("0.0", "", "1.0"), "Boolean"),
        (("0.0", "", "0.0"), "real"),
        (("0.0", "", "1.5"), "real"),
        (("0", "1", "0.5"), "real"),
        (("0", "1", "2"), "real"),
        (("-1", "1"), "real"),
        (("", "NA"), "real"),
    ],
)
def test_cells_of_text(cells, kind):
    assert from_csv(cells).schema["x"].type == kind


def test_values_and_missing_ones():
    assert from_csv(("yes", "", "No")).column("x").tolist() == [1, -1, 0]
    assert from_csv(("1", "", "0")).column("x").tolist() == [1, -1, 0]
    assert from_csv(("OFF", "null", "on")).column("x").tolist() == [0, -1, 1]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["yes", None, "no"], "Boolean"),
        (["true", "false"], "Boolean"),
        (["n", "n"], "categorical"),
        ([0, 1, 1], "Boolean"),
        ([0, 1, 2], "real"),
        ([0.0, 1.0], "real"),
        ([0.0, 0.5], "real"),
        ([True, None, False], "Boolean"),
    ],
)
def test_values_of_dataframes(make, values, kind):
    assert from_values(values, make).schema["x"].type == kind
    assert from_parquet(values).schema["x"].type == kind


def test_integers_with_missing_values_are_whole_numbers_still():
    assert from_values(pd.array([0, None, 1], "Int64")).column("x").tolist() == [0, -1, 1]
    assert from_values([0, None, 1], pl.DataFrame).column("x").tolist() == [0, -1, 1]
    assert from_parquet([0, None, 1]).column("x").tolist() == [0, -1, 1]


GAPPED = [0.0, NAN, 1.0]
ZERO_ONE = (
    "column 'x': only 0 and 1, some missing, read as Boolean; if that is wrong, say type = \"real\" in the schema"
)


@pytest.mark.parametrize(
    "panel",
    [
        lambda **told: Panel.from_frame(pd.DataFrame({"id": "r", "x": [0, None, 1]}), id="id", **told),
        lambda **told: Panel.from_frame(
            pd.DataFrame({"id": "r", "x": pd.Series(GAPPED, dtype=object)}), id="id", **told
        ),
        lambda **told: Panel.from_frame(pl.DataFrame({"id": ["r"] * 3, "x": [0.0, None, 1.0]}), id="id", **told),
        lambda **told: Panel.from_frames([pd.DataFrame({"x": GAPPED})], **told),
        lambda **told: Panel.from_arrays([np.array([[0.0], [None], [1.0]], dtype=object)], columns=["x"], **told),
        lambda **told: read(io.StringIO("id,x\nr,0.0\nr,\nr,1.0\n"), id="id", **told).panel,
        lambda **told: read(io.StringIO("id;x\nr;0,0\nr;NaN\nr;1,0\n"), id="id", **told).panel,
        lambda **told: read(io.StringIO("x_0,x_1,x_2\n0.0,,1.0\n"), wide=True, **told).panel,
    ],
)
def test_zeros_and_ones_with_gaps_are_boolean_even_as_floats(panel):
    found = panel()
    (name,) = found.schema
    assert found.schema[name].type == "Boolean"
    assert found.column(name).tolist() == [0, -1, 1]
    assert found.notes == (ZERO_ONE.replace("'x'", repr(name)),)
    real = panel(schema={name: {"type": "real"}})
    assert np.array_equal(real.column(name), GAPPED, equal_nan=True)


def test_floats_with_gaps_in_files_larger_than_memory(tmp_path):
    table = pd.DataFrame({"id": np.repeat(np.arange(4), 3), "x": GAPPED * 4, "z": [0.0, 1.0, 1.0] * 4})
    table.to_parquet(tmp_path / "a.parquet")
    for function in (read, scan):
        assert [c.type for c in function(tmp_path / "a.parquet", id="id").panel.schema.values()] == ["Boolean", "real"]


def test_floats_without_gaps_stay_real_and_that_is_noted():
    for panel in (from_values([0.0, 1.0]), from_csv(("0.0", "1.0")), from_values([0.0, NAN, 0.0])):
        assert panel.schema["x"].type == "real"
    assert 'read as real, since they are floats; else say type = "Boolean"' in from_csv(("0.0", "1.0")).notes[0]
    assert Panel.from_arrays([np.array([[0.0], [NAN], [1.0]])]).schema["x1"].type == "real"  # one type for all columns


def test_a_model_takes_zeros_and_ones_with_and_without_gaps():
    frame = pd.DataFrame({"id": np.repeat(np.arange(30), 2), "x": [0.0, 1.0, 0.0, 0.0, NAN, 0.0] * 10})
    y = np.arange(30) % 3 == 0
    whole = frame.fillna(0)
    for learnt, other in ((frame, whole), (whole, frame)):
        grammar = "Start ::= F(x)" if learnt is frame else "Start ::= F(x > 0.5)"
        model = GrammarTreeClassifier(grammar, MonteCarlo(evaluations=1)).fit(Panel.from_frame(learnt, id="id"), y)
        assert model.predict(Panel.from_frame(other, id="id")).tolist() == y.tolist()


def test_declared_categories_stay_categories():
    assert from_values(pd.Categorical(["yes", "no"])).schema["x"].levels == ("no", "yes")
    assert from_values(pl.Series(["on", "off"], dtype=pl.Categorical), pl.DataFrame).schema["x"].type == "categorical"
    assert from_parquet(pa.array(["yes", "no"]).dictionary_encode()).schema["x"].type == "categorical"


def test_arrays_go_by_their_dtype():
    flags = np.array([[0, 5], [1, 6], [0, 7]])
    assert [c.type for c in Panel.from_arrays([flags]).schema.values()] == ["Boolean", "real"]
    assert [c.type for c in Panel.from_arrays([flags.astype(float)]).schema.values()] == ["real", "real"]
    assert Panel.from_table(flags).schema["x1"].type == "Boolean"


def test_the_schema_goes_first():
    for fields in ({"type": "real"}, {"thresholds": [0.5]}, {"high": "more than"}):
        panel = read(io.StringIO("id,x\nr,0\nr,1\n"), id="id", schema={"x": fields}).panel
        assert panel.column("x").tolist() == [0.0, 1.0]
        assert panel.notes == ()
    for fields in ({"type": "categorical"}, {"levels": ["no", "yes"]}):
        panel = read(io.StringIO("id,x\nr,no\nr,yes\n"), id="id", schema={"x": fields}).panel
        assert panel.schema["x"].levels == ("no", "yes")
    panel = read(io.StringIO("id,x\nr,n\nr,n\n"), id="id", schema={"x": {"type": "Boolean"}}).panel
    assert panel.column("x").tolist() == [0, 0]


def test_labels_ids_and_times_stay_as_they_are():
    text = "id,t,x,end\n0,0,1.5,yes\n0,1,1.5,yes\n1,0,2.5,no\n1,1,2.5,no\n"
    panel, y = read(io.StringIO(text), id="id", time="t", label="end")
    assert (panel.ids.tolist(), y.tolist(), panel.times(0).tolist()) == ([0, 1], ["yes", "no"], [0, 1])
    frame = pd.read_csv(io.StringIO(text))
    panel, y = read(frame, id="id", time="t", label="end")
    assert (panel.ids.tolist(), y.tolist(), panel.times(0).tolist()) == ([0, 1], ["yes", "no"], [0, 1])


def test_notes_say_what_was_guessed_once_for_all_columns():
    panel = read(io.StringIO("id,a,b,c,d\nr,0,1,yes,true\nr,1,0,no,false\n"), id="id").panel
    assert len(panel.notes) == 2
    assert panel.notes[0].startswith("columns 'a', 'b': only 0 and 1, read as Boolean")
    assert panel.notes[1].startswith("column 'c': only words")


def test_booleans_where_a_real_column_was():
    panel = from_csv(("0", "", "1"))
    wanted = Schema([Column("x", "real", unit="V")])
    np.testing.assert_array_equal(panel.aligned(wanted).column("x"), [0, NAN, 1])
    assert Formula.parse("F(x > 0.5)", wanted)(panel.aligned(wanted)).tolist() == [True]


def test_numbers_where_a_boolean_column_was():
    wanted = Schema([Column("x", "Boolean")])
    assert from_values([0.0, NAN, 1.0]).aligned(wanted).column("x").tolist() == [0, -1, 1]
    with pytest.warns(DataWarning, match=r"neither true nor false .* column 'x': 0.5, 2.0 \(3 values\)"):
        assert from_values([0.5, 1.0, 2.0, 2.0]).aligned(wanted).column("x").tolist() == [-1, 1, -1, -1]


def test_names_where_a_boolean_column_was():
    wanted = Schema([Column("x", "Boolean")])
    assert from_csv(("n", "n")).aligned(wanted).column("x").tolist() == [0, 0]
    with pytest.warns(DataWarning, match=r"column 'x': 'unknown' \(1 value\)"):
        assert from_csv(("yes", "unknown", "no")).aligned(wanted).column("x").tolist() == [1, -1, 0]


def test_booleans_where_names_were():
    wanted = Schema([Column("x", "categorical", levels=("auto", "off", "on"))])
    assert from_csv(("on", "off", "")).aligned(wanted).column("x").tolist() == [2, 1, -1]
    numbers = Schema([Column("x", "categorical", levels=("0", "1", "2"))])
    assert from_values([1, 0]).aligned(numbers).column("x").tolist() == [1, 0]
    lacking = Schema([Column("x", "categorical", levels=("auto", "off"))])
    with pytest.warns(DataWarning, match="'true'"):
        assert from_csv(("on", "off")).aligned(lacking).column("x").tolist() == [UNSEEN, 1]


def test_warnings_are_of_the_view_alone(recwarn):
    frame = pd.DataFrame({"id": ["a", "b"], "x": [2.0, 1.0]})
    panel = Panel.from_frame(frame, id="id")
    assert panel[1].aligned(Schema([Column("x", "Boolean")])).stacked("x").tolist() == [1]
    assert not recwarn.list
    with pytest.raises(DataError, match="'x' is real, but categorical was expected"):
        panel.aligned(Schema([Column("x", "categorical", levels=("1",))]))


@pytest.mark.parametrize(("train", "test"), [([0, 1], [0.0, 1.0]), ([0.0, 1.0], [0, 1]), (["no", "yes"], [0, 1])])
def test_a_model_predicts_whichever_type_its_column_has_now(train, test):
    classifier = GrammarTreeClassifier(random_state=0).fit(pd.DataFrame({"flag": train * 10}), [0, 1] * 10)
    assert classifier.predict(pd.DataFrame({"flag": test})).tolist() == [0, 1]
    assert classifier.predict(pd.DataFrame({"flag": test[1:]})).tolist() == [1]
