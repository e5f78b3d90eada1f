"""One rule for the names of categories and one for what is missing, whatever the data came from or went to."""

import io
import math
import runpy
import sqlite3
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.class_trees import class_leaf, class_tree
from tests.support.effort import examples

from telltree import Formula, Panel, export_model, read
from telltree.errors import DataWarning
from telltree.panel import Column, Schema
from telltree.tree import Node

WORDS = ("", "  ", "NA", "N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL", " NA ")
NUMBERS = (1.0, 2.0, -3.0, 0.0, -0.0, 0.5, 1e-5, 1e15, 2.0**53, 1e16, 1e22, 123456.75)
TEXTS = ("1", "1.0", "01", "1.10", "v1.0", "-2.0", "up", "none", "é", *WORDS)


def frame_of(cells, values="c"):
    return pd.DataFrame({"id": range(len(cells)), values: cells})


def from_csv(frame, **options):
    return read(io.StringIO(frame.to_csv(index=False)), id="id", **options).panel


def from_parquet(frame, **options):
    stream = io.BytesIO()
    pq.write_table(frame if isinstance(frame, pa.Table) else pa.Table.from_pandas(frame), stream)
    stream.seek(0)
    return read(stream, id="id", **options).panel


def everywhere(frame, **options):
    """The panels of one table in many forms."""
    polars = pl.DataFrame({name: pl.Series(frame[name].tolist(), strict=False) for name in frame})
    options = {"schema": {"c": {"type": "categorical"}}} | options
    return {
        "pandas": Panel.from_frame(frame, id="id", **options),
        "polars": Panel.from_frame(polars, id="id", **options),
        "arrow": Panel.from_frame(pa.Table.from_pandas(frame), id="id", **options),
        "objects": Panel.from_frame(frame.astype({"c": object}), id="id", **options),
        "csv": from_csv(frame, **options),
        "parquet": from_parquet(frame, **options),
    }


def names_of(panel, column="c"):
    return [record[0] for record in (panel.record(i)[column].tolist() for i in range(len(panel)))]


NAMED = [
    ([1.0, 2.0, 2.5], ["1", "2", "2.5"]),
    ([1, 2, 3], ["1", "2", "3"]),
    ([-0.0, 0.0, 1e15], ["0", "0", "1000000000000000"]),
    ([2.0**53, 1e16, 1e-5], ["9007199254740992", "1e+16", "1e-05"]),
    (["1.0", "1", "01"], ["1", "1", "01"]),
    (["1.10", "v1.0", "-2.0"], ["1.10", "v1.0", "-2"]),
    (["up", "NA", ""], ["up", None, None]),
    (["up", None, " null "], ["up", None, None]),
    ([1.0, math.nan, 3.0], ["1", None, "3"]),
    ([True, False, True], ["True", "False", "True"]),
    ([2**53 + 1, 2**53, 2**62 + 1], [str(2**53 + 1), str(2**53), str(2**62 + 1)]),
]


@pytest.mark.parametrize(("cells", "names"), NAMED, ids=str)
def test_a_category_has_one_name_whatever_the_source(cells, names):
    for source, panel in everywhere(frame_of(cells)).items():
        assert (source, names_of(panel)) == (source, names)


@pytest.mark.parametrize("cells", [[True], [False, False], [True, False]], ids=str)
def test_truth_values_as_names_have_the_levels_that_occur(cells):
    panels = everywhere(frame_of(cells))
    for source, panel in panels.items():
        assert (source, panel.schema["c"].levels) == (source, tuple(sorted({str(cell) for cell in cells})))
        assert panel == panels["pandas"]


def test_wide_tables_and_arrays_keep_the_rules():
    wide = pd.DataFrame({"0": ["1.0", "up"], "1": ["NA", "1"], "2": ["up", ""]})
    panel = Panel.from_wide(wide)
    assert [panel.record(i)["x1"].tolist() for i in (0, 1)] == [["1", None, "up"], ["up", "1"]]
    for array in (np.array([["1.0"], ["NA"], ["up"]]), np.array([["1.0"], [""], ["up"]], dtype=object)):
        assert Panel.from_arrays([array]).record(0)["x1"].tolist() == ["1", None, "up"]
    assert names_of(Panel.from_table(np.array([["1.0"], ["null"]])), "x1") == ["1", None]


def test_ts_files_keep_the_rule_for_what_is_missing(tmp_path):
    (tmp_path / "a.ts").write_text("@classLabel true u\n@data\n1,NA,?,null,NaN,2:u\n", encoding="utf-8")
    assert np.isnan(read(tmp_path / "a.ts").panel.column("x1")).tolist() == [False, True, True, True, True, False]


def test_numbers_with_gaps_decimals_and_narrow_floats_keep_their_names():
    kind = {"schema": {"c": {"type": "categorical"}}}
    large = [2**53 + 1, None, 2**53]
    for frame in (
        pd.DataFrame({"id": range(3), "c": pd.array(large, dtype="Int64")}),
        pl.DataFrame({"id": range(3), "c": large}),
        pa.table({"id": range(3), "c": large}),
        pd.DataFrame({"id": range(3), "c": pd.Categorical(large)}),
        pd.DataFrame({"id": range(3), "c": pd.Series(large, dtype=object)}),
    ):
        assert names_of(Panel.from_frame(frame, id="id", **kind)) == [str(2**53 + 1), None, str(2**53)]
    decimals = [Decimal("1.50"), Decimal("2.00"), Decimal(2**53 + 1)]
    arrow = pa.table({"id": range(3), "c": pa.array(decimals, pa.decimal128(38, 2))})
    for panel in (Panel.from_frame(arrow, id="id", **kind), from_parquet(arrow, **kind)):
        assert names_of(panel) == ["1.5", "2", str(2**53 + 1)]
    narrow = pd.DataFrame({"id": range(2), "c": np.array([0.1, 2.0], np.float32)})
    for panel in (Panel.from_frame(narrow, id="id", **kind), from_csv(narrow, **kind), from_parquet(narrow, **kind)):
        assert names_of(panel) == ["0.1", "2"]


def test_a_word_for_missing_is_a_name_where_the_schema_says_so():
    frame = frame_of(["NA", "de", ""])
    schema = {"c": {"levels": ["NA", "de"]}}
    for panel in (Panel.from_frame(frame, id="id", schema=schema), from_csv(frame, schema=schema)):
        assert names_of(panel) == ["NA", "de", None]
    like = Schema([Column("c", "categorical", levels=("NA", "de"))])
    for panel in (read(frame, id="id", like=like).panel, from_csv(frame, like=like), from_parquet(frame, like=like)):
        assert names_of(panel) == ["NA", "de", None]
    (note,) = Panel.from_frame(frame, id="id").notes
    assert note.startswith("column 'c': 'NA' taken for missing; if that is a name")
    with pytest.warns(DataWarning, match="levels that count as missing in these data.*column 'c': 'NA'"):
        Panel.from_frame(frame, id="id").aligned(like)


def test_levels_that_were_declared_as_floats_are_found():
    schema = {"c": {"levels": ["1.0", "2.0"]}}
    for panel in everywhere(frame_of([1.0, 2.0]), schema=schema).values():
        assert panel.schema["c"].levels == ("1.0", "2.0")
        assert names_of(panel) == ["1.0", "2.0"]
    old = Schema([Column("c", "categorical", levels=("1.0", "2.0"))])
    panel = Panel.from_frame(frame_of([2, 1]), id="id", schema={"c": {"type": "categorical"}})
    assert panel.aligned(old).column("c").tolist() == [1, 0]


def test_blank_text_leaves_yes_and_no_boolean():
    for panel in (Panel.from_frame(frame_of(["yes", "", "no"]), id="id"), from_csv(frame_of(["yes", "", "no"]))):
        assert panel.column("c").tolist() == [1, -1, 0]


# ---- exports answer as the tree does


def tree_about(panel, questions):
    """A tree that asks one question after the other."""
    classes = tuple("abcdefghi"[: len(questions) + 1])

    def only(number):
        return class_leaf([int(number == place) for place in range(len(classes))])

    node = only(len(questions))
    for number, question in reversed(list(enumerate(questions))):
        node = Node(Formula.parse(question, panel.schema), only(number), node)
    return class_tree(node, classes, panel.schema)


def in_databases(frame, query):
    """What SQLite and DuckDB answer, over the table as it is, and as text with blanks for what is missing."""
    answers = {}
    text = frame.assign(**{name: frame[name].map(as_text) for name in frame if name != "id"})
    for kind, table in {"typed": frame, "text": text}.items():
        lite = sqlite3.connect(":memory:")
        table.to_sql("records", lite, index=False)
        answers["sqlite", kind] = [row[1] for row in lite.execute(query).fetchall()]
        duck = duckdb.connect(":memory:")
        duck.register("records", table)
        answers["duckdb", kind] = [row[1] for row in duck.execute(query).fetchall()]
    return answers


def as_text(value):
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else str(value)


def in_python(frame, text, folder):
    (folder / "exported.py").write_text(text, encoding="utf-8")
    find = runpy.run_path(str(folder / "exported.py"))["find_category"]
    return [find(row) for row in frame.drop(columns=["id"]).to_dict("records")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("exported")


cells = st.one_of(
    st.lists(st.sampled_from(NUMBERS) | st.just(math.nan), min_size=1, max_size=8),
    st.lists(st.integers(-3, 3) | st.sampled_from([2**53, 2**53 + 1]), min_size=1, max_size=8),
    st.lists(st.sampled_from(TEXTS) | st.none(), min_size=1, max_size=8),
    st.lists(st.booleans(), min_size=1, max_size=8),
)


@examples(40)
@given(cells, st.lists(st.sampled_from([0.0, 1.5, -2.0, math.nan]), min_size=8, max_size=8))
def test_every_source_and_every_export_answers_alike(folder, cells, reals):
    frame = frame_of(cells).assign(x=reals[: len(cells)])
    kinds = {"schema": {"c": {"type": "categorical"}, "x": {"type": "real"}}}
    panels = list(everywhere(frame, **kinds).values())
    for panel in panels[1:]:
        assert panel == panels[0]
    questions = [f"F(c = {text!s})" for text in map(quoted, panels[0].schema["c"].levels[:4])]
    tree = tree_about(panels[0], [*questions, "F(missing(c))", "F(x < 1)", "F(missing(x))"])
    expected = tree.apply(panels[0]).tolist()
    for panel in panels:
        assert tree.apply(panel).tolist() == expected
    query = export_model(tree, "sql", time=None)
    for where, found in in_databases(frame, query).items():
        assert (where, found) == (where, expected)
    assert in_python(frame, export_model(tree, "python"), folder) == expected


def quoted(level):
    return '"' + level.replace("\\", "\\\\").replace('"', '\\"') + '"'


def test_databases_that_hold_text_say_what_is_missing(folder):
    """SQLite reads any text as the number 0, unless it is told that it is none."""
    frame = pd.DataFrame(
        {"id": range(6), "x": ["", "NA", "-1.5", " 2 ", "1e3", None], "b": ["", "no", "yes", "on", "0", "?"]}
    )
    schema = {"x": {"type": "real"}, "b": {"type": "Boolean"}}
    clean = frame.assign(x=[None, None, -1.5, 2.0, 1e3, None], b=pd.array([None, 0, 1, 1, 0, None], dtype="Int64"))
    panel = Panel.from_frame(clean, id="id", schema=schema)
    tree = tree_about(panel, ["F(missing(x) and missing(b))", "F(x < 1)", "F(missing(x))", "F(b)", "F(x > 5)"])
    expected = tree.apply(panel).tolist()
    query = export_model(tree, "sql", time=None)
    assert in_databases(frame, query) == dict.fromkeys(
        [(base, kind) for base in ("sqlite", "duckdb") for kind in ("typed", "text")], expected
    )
    assert in_python(frame, export_model(tree, "python"), folder) == expected
    lite = sqlite3.connect(":memory:")
    frame.assign(x=["far", "NA", "-1.5", "2", "1e3", ""]).to_sql("records", lite, index=False)
    assert [row[1] for row in lite.execute(query).fetchall()] == expected
