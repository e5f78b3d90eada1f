"""What columns are, and how users say so."""

import pickle

import pytest

from telltree.errors import DataError
from telltree.panel import Column, ColumnType, Schema


def schema() -> Schema:
    return Schema(
        [
            Column("alt", ColumnType.REAL, kind="altitude", unit="ft", thresholds=(1, 2.5)),
            Column("alt2", ColumnType.REAL, kind="altitude"),
            Column("on", ColumnType.BOOLEAN, phrase="the lamp is on"),
            Column("mode", ColumnType.CATEGORICAL, levels=("a", "b")),
        ]
    )


def test_a_schema_is_an_ordered_mapping():
    columns = schema()
    assert columns.names == ("alt", "alt2", "on", "mode") == tuple(columns)
    assert [column.name for column in columns.of_type("real")] == ["alt", "alt2"]
    assert {kind: len(group) for kind, group in columns.kinds().items()} == {"altitude": 2}
    assert columns["alt"].thresholds == (1.0, 2.5)
    assert (columns["on"].words, columns["mode"].words) == ("the lamp is on", "mode")


def test_equality_minds_the_order_and_agrees_with_hash():
    assert schema() == schema()
    assert hash(schema()) == hash(schema())
    assert schema() != Schema(reversed(list(schema().values())))
    assert pickle.loads(pickle.dumps(schema())) == schema()  # noqa: S301 - our own bytes


def test_override_replaces_fields():
    changed = schema().override({"alt": {"kind": None, "phrase": "altitude"}})
    assert (changed["alt"].kind, changed["alt"].words, changed["alt"].unit) == (None, "altitude", "ft")
    assert schema()["alt"].kind == "altitude"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"atl": {}}, "did you mean 'alt'"),
        ({"alt": {"knd": "x"}}, "did you mean 'kind'"),
        ({"alt": "altitude"}, "expected fields"),
        ({"alt": {"type": "rael"}}, "unknown type 'rael'"),
        ({"alt": {"thresholds": ["x"]}}, "list of numbers"),
        ({"alt": {"thresholds": [float("nan")]}}, "finite"),
        ({"alt": {"levels": ["x"]}}, "only categorical"),
        ({"mode": {"thresholds": [1]}}, "only real"),
        ({"mode": {"levels": ["x", "x"]}}, "twice"),
        ({"mode": {"levels": "xy"}}, "list of names"),
        ({"alt": {"unit": 3}}, "must be text"),
        ({"alt": {"static": "yes"}}, "true or false"),
    ],
)
def test_wrong_overrides_are_named(changes, message):
    with pytest.raises(DataError, match=message):
        schema().override(changes)


def test_a_name_may_appear_once():
    with pytest.raises(DataError, match="two columns are named 'a'"):
        Schema([Column("a", ColumnType.REAL), Column("a", ColumnType.BOOLEAN)])


def test_repr_is_a_table_without_control_characters():
    shown = repr(Schema([Column("a\x1b[31m\n", ColumnType.REAL, phrase="x\ny")]))
    assert "\x1b" not in shown
    assert len(shown.splitlines()) == 2
    assert len(repr(Schema(Column(f"c{i}", ColumnType.REAL) for i in range(5000))).splitlines()) < 100


def test_types_are_read_in_any_capitals():
    assert ColumnType("boolean") is ColumnType("Boolean") is ColumnType.BOOLEAN
    assert Column("x", "REAL").type is ColumnType.REAL
