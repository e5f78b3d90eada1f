"""Schemas as TOML, for people to edit."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from telltree.data import Column, ColumnType, Schema, read
from telltree.errors import DataError

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
    assert tomllib.loads(written) == {"columns": {"alt": {"type": "real", "unit": "ft", "static": False}}}


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
