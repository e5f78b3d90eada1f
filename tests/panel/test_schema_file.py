"""Schemas as TOML, for people to edit."""

import tomllib

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telltree.errors import DataError
from telltree.panel import Column, ColumnType, Schema, read

text = st.text(st.characters(codec="utf-8"))
some = st.none() | text
thresholds = st.none() | st.lists(st.floats(allow_nan=False, allow_infinity=False)).map(tuple)
common = {"name": text, "kind": some, "unit": some, "phrase": some, "static": st.booleans()}
columns = st.one_of(
    st.builds(Column, type=st.just(ColumnType.REAL), thresholds=thresholds, **common),
    st.builds(Column, type=st.just(ColumnType.BOOLEAN), **common),
    st.builds(Column, type=st.just(ColumnType.CATEGORICAL), levels=st.lists(text, unique=True).map(tuple), **common),
)
schemas = st.lists(columns, unique_by=lambda column: column.name, max_size=5).map(Schema)


@given(schemas)
def test_what_is_written_is_read_back(schema):
    assert Schema.from_toml(schema.to_toml()) == schema


@pytest.mark.parametrize(
    "name", ["F", "and", "a.b", '"', "'", "\\", "a\nb", "\x00\x1b\x7f", "é", "", "]", "# x", "$x$"]
)
def test_odd_names_are_quoted(name):
    schema = Schema([Column(name, ColumnType.CATEGORICAL, phrase=name, levels=(name,))])
    written = schema.to_toml()
    assert Schema.from_toml(written) == schema
    assert written.isprintable() or set(filter(lambda c: not c.isprintable(), written)) == {"\n"}


def test_the_file_explains_itself():
    written = Schema([Column("alt", ColumnType.REAL, unit="ft")]).to_toml()
    for field in ("type", "kind", "unit", "phrase", "thresholds", "levels", "static"):
        assert f"#   {field}" in written
    assert 'unit = "ft"' in written
    assert tomllib.loads(written) == {"time": {}, "columns": {"alt": {"type": "real", "unit": "ft", "static": False}}}


def test_the_file_may_say_what_times_are_counted_in(tmp_path):
    (tmp_path / "x.csv").write_text("id,t,alt\na,0,1.5\na,2.5,2\n", encoding="utf-8")
    panel = read(tmp_path / "x.csv", id="id", time="t", time_unit="min").panel
    path = tmp_path / "schema.toml"
    path.write_text(panel.schema.to_toml(time_unit=panel.time_unit), encoding="utf-8")
    assert read(tmp_path / "x.csv", id="id", time="t", schema=path).panel == panel
    assert read(tmp_path / "x.csv", id="id", time="t", schema=path, time_unit="h").panel.time_unit == "h"
    assert read(tmp_path / "x.csv", id="id", time="t", schema=path, every="90 s").panel.period == 1.5


def test_the_file_may_speak_of_columns_that_are_not_used(tmp_path):
    (tmp_path / "x.csv").write_text("id,t,alt,end\na,0,1.5,up\nb,0,2.5,down\n", encoding="utf-8")
    path = tmp_path / "schema.toml"
    path.write_text(read(tmp_path / "x.csv", id="id").panel.schema.to_toml(), encoding="utf-8")
    found = read(tmp_path / "x.csv", id="id", time="t", label="end", schema=path)
    assert found.panel.schema.names == ("alt",)
    assert read(tmp_path / "x.csv", id="id", columns=["t"], schema=path).panel.schema.names == ("t",)
    apart = read(tmp_path / "x.csv", id="id", label="end", labels={"a": 1, "b": 2}, schema=path)
    assert apart.panel.schema.names == ("t", "alt")
    (tmp_path / "y.csv").write_text("id,x\na,1\n", encoding="utf-8")
    with pytest.raises(DataError, match="unknown column in schema 't'"):
        read(tmp_path / "y.csv", id="id", schema=path)


@pytest.mark.parametrize("form", ["csv", "parquet", "frame"])
def test_names_that_look_like_numbers_are_read_like_those_known(form, tmp_path):
    table = pd.DataFrame({"id": ["a", "b"], "flaps": [1, 2], "x": [1.5, 2.5]})
    sources = {"csv": tmp_path / "x.csv", "parquet": tmp_path / "x.parquet", "frame": table}
    table.to_csv(sources["csv"], index=False)
    table.to_parquet(sources["parquet"])
    known = Schema([Column("flaps", "categorical", levels=("1", "2")), Column("x", "real"), Column("y", "categorical")])
    found = read(sources[form], id="id", like=known).panel
    assert found.schema["flaps"] == known["flaps"]
    assert found.schema["x"].type is ColumnType.REAL
    assert (
        read(sources[form], id="id", like=known, schema={"flaps": {"type": "real"}}).panel.schema["flaps"].levels == ()
    )
    assert read(sources[form], id="id", like=known, columns=["x"]).panel.schema.names == ("x",)


def test_dates_are_counted_in_seconds(tmp_path):
    (tmp_path / "x.csv").write_text("id,t,x\na,2024-02-29T12:00,1\na,2024-02-29T12:01,2\n", encoding="utf-8")
    assert read(tmp_path / "x.csv", id="id", time="t", time_unit="s").panel.times(0).tolist() == [0, 60]
    with pytest.raises(DataError, match="counted in 's', not 'min'"):
        read(tmp_path / "x.csv", id="id", time="t", time_unit="min")


def test_a_part_is_enough_to_override(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_text('[columns.alt]\nkind = "altitude"\nthresholds = [0, 10.5]\n', encoding="utf-8")
    (tmp_path / "x.csv").write_text("id,alt,on\na,1.5,true\n", encoding="utf-8")
    schema = read(tmp_path / "x.csv", id="id", schema=path).panel.schema
    assert schema["alt"].kind == "altitude"
    assert schema["alt"].thresholds == (0, 10.5)
    assert schema["on"].type is ColumnType.BOOLEAN
    path.write_text(schema.to_toml(), encoding="utf-8")
    assert read(tmp_path / "x.csv", id="id", schema=path).panel.schema == schema
    with pytest.raises(DataError, match="column 'alt' has no type; add type = one of 'real'"):
        Schema.from_toml('[columns.alt]\nkind = "altitude"\n')


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[columns.alt]\nknd = 1\n", "unknown field of column 'alt': 'knd'; did you mean 'kind'"),
        ("[column.alt]\n", "'column'; did you mean 'columns'"),
        ("[columns.alt]\n[columns.alt]\n", "not TOML: .*line 2"),
        ("[columns.alt\n", "not TOML: .*line 1"),
        ("time = 3\n", r"time is a table, \[time\], that may say unit = .s.; got time = 3"),
        ("[time]\nunit = 3\n", r"time is a table, \[time\]"),
        ("[time]\nunits = 's'\n", "'units'; did you mean 'unit'"),
        ("columns = 3\n", r"columns are tables such as \[columns.altitude\]; got columns = 3"),
        ("[columns]\nalt = 3\n", "column 'alt': expected fields"),
        ("x = " + "[" * 100_000, "nested too deeply"),
        ("[columns.alt]\ntype = 'rael'\n", "unknown type 'rael'"),
        ("[columns.alt]\ntype = 'real'\nthresholds = ['x']\n", "list of numbers"),
        ("[columns.alt]\ntype = 'real'\nthresholds = [nan]\n", "finite"),
    ],
)
def test_slips_are_named(content, message):
    with pytest.raises(DataError, match=message):
        Schema.from_toml(content)
