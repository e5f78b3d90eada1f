"""Exported programs are run, and must say what the tree says."""

import json
import math
import random
import runpy
import sqlite3
import subprocess
import sys
from itertools import chain

import duckdb
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.class_trees import class_leaf, class_tree
from tests.support.effort import examples
from tests.support.random_trees import (
    HOSTILE,
    draw_tree_case,
    expected,
    hostile_case,
    leaf,
    plain_value,
    steps,
    tree_of,
)
from tests.support.strategies import Case, Column

from telltree import Formula, GrammarTreeClassifier, Panel, read, user_function
from telltree.errors import SettingsError
from telltree.models.export import export_model
from telltree.tree import Node

SQL_TYPES = {"real": "DOUBLE", "Boolean": "BOOLEAN", "categorical": "TEXT"}
drawn = examples(25)


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def rows(case):
    for number, record in enumerate(case.records):
        for step in range(len(next(iter(record.values())))):
            # written backwards, for the query must order the steps by itself
            yield (number, -step, *(plain_value(record[column.name][-1 - step]) for column in case.columns))


def database(connect, case, table="records", id="id", time="time"):  # noqa: A002 - as export calls it
    connection = connect(":memory:")
    columns = "".join(f", {quoted(column.name)} {SQL_TYPES[column.type]}" for column in case.columns)
    connection.execute(f"CREATE TABLE {quoted(table)} ({quoted(id)} INTEGER, {quoted(time)} INTEGER{columns})")
    given = list(rows(case))
    marks = ", ".join([f"({', '.join('?' * len(given[0]))})"] * len(given))  # all at once: DuckDB is slow row by row
    connection.execute(f"INSERT INTO {quoted(table)} VALUES {marks}", list(chain.from_iterable(given)))
    return connection


def databases(case, **names):
    return [database(connect, case, **names) for connect in (sqlite3.connect, duckdb.connect)]


def answered(connections, query):
    """What both databases answer, which must be the same."""
    one, other = ([tuple(row) for row in connection.execute(query).fetchall()] for connection in connections)
    assert one == other
    return one


def asked(case, query, **names):
    """The same of databases for this query alone."""
    connections = databases(case, **names)
    found = answered(connections, query)
    for connection in connections:
        connection.close()
    return found


@drawn
@given(st.randoms(use_true_random=False))
def test_sql_gives_each_record_its_category_and_label(rng):
    tree, case = draw_tree_case(rng)
    clusters, labels = expected(tree, case)
    found = asked(case, export_model(tree, "sql"))
    assert found == list(zip(range(len(clusters)), clusters, labels, strict=True))


@examples(10)
@given(st.randoms(use_true_random=False))
def test_sql_finds_the_records_of_one_category(rng):
    tree, case = draw_tree_case(rng)
    clusters, _ = expected(tree, case)
    names = {"table": 'my "table"; --', "id": "the id", "time": "order"}
    for number in range(1, len(tree.leaves) + 1):
        found = asked(case, export_model(tree, "sql", category=number, **names), **names)
        assert [row[0] for row in found] == [i for i, cluster in enumerate(clusters) if cluster == number]


DRIVER = """
import json, runpy, sys
module = runpy.run_path(sys.argv[1])
answers = [[module["find_category"](record), module["predict"](record)] if sys.argv[2] == "all"
           else module["belongs"](record) for record in json.load(sys.stdin)]
json.dump(answers, sys.stdout)
"""


def run_module(text, case, folder, what="all"):
    """What an exported module says of the records, in an interpreter that finds no other package."""
    path = folder / "exported.py"
    path.write_text(text, encoding="utf-8")
    static = {column.name for column in case.columns if column.static}
    records = [
        {name: plain_value(v[0]) if name in static else [plain_value(x) for x in v] for name, v in record.items()}
        for record in case.records
    ]
    command = [sys.executable, "-I", "-S", "-W", "error", "-c", DRIVER, str(path), what]
    ran = subprocess.run(command, input=json.dumps(records), capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("exported")


def several_steps(case):
    """Static values alone do not tell how long a record is, so not all columns may be static."""
    return Case((*case.columns, Column("clock", "real")), tuple({**r, "clock": [0.0] * steps(r)} for r in case.records))


@drawn
@given(rng=st.randoms(use_true_random=False))
def test_the_python_module_gives_each_record_its_category_and_label(rng, folder):
    tree, case = draw_tree_case(rng)
    clusters, labels = expected(tree, case)
    found = run_module(export_model(tree, "python"), several_steps(case), folder)
    assert found == [list(pair) for pair in zip(clusters, labels, strict=True)]


@examples(10)
@given(rng=st.randoms(use_true_random=False))
def test_the_python_module_of_one_category_knows_its_records(rng, folder):
    tree, case = draw_tree_case(rng)
    clusters, _ = expected(tree, case)
    number = rng.randint(1, len(tree.leaves))
    found = run_module(export_model(tree, "python", category=number), several_steps(case), folder, "one")
    assert found == [cluster == number for cluster in clusters]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_quoted(name, folder):
    tree, case = hostile_case(name)
    clusters, labels = expected(tree, case)
    names = {"table": name, "id": f"{name} id", "time": "t"}
    found = asked(case, export_model(tree, "sql", **names), **names)
    assert [row[1:] for row in found] == list(zip(clusters, labels, strict=True))
    assert run_module(export_model(tree, "python"), case, folder) == [
        list(p) for p in zip(clusters, labels, strict=True)
    ]


def test_deep_formulas_and_trees_are_exported(folder):
    case = Case((Column("x", "real"),), ({"x": [1.0, 3.0]}, {"x": [0.0]}))
    deep = "F(" + "not " * 90 + "x > 2)"
    nested = "F(x > 0 and " * 45 + "x > 2" + ")" * 45
    chained = f"F(x{' - 1' * 40} > -38.5)"
    tree = tree_of(case, [f"F(x > {i + 10})" for i in range(30)] + [deep, nested, chained], ("a",) * 1 + ("b",) * 33)
    clusters, labels = expected(tree, case)
    assert run_module(export_model(tree, "python"), case, folder) == [
        list(p) for p in zip(clusters, labels, strict=True)
    ]
    assert [row[1] for row in asked(case, export_model(tree, "sql"))] == clusters


def test_a_single_leaf_is_exported_to_every_program(folder):
    case = Case((Column("x", "real"),), ({"x": [1.0, 3.0]}, {"x": [0.0]}))
    tree = class_tree(leaf([2]), ("only",), case.panel.schema)
    assert asked(case, export_model(tree, "sql")) == [(0, 1, "only"), (1, 1, "only")]
    assert run_module(export_model(tree, "python"), case, folder) == [[1, "only"], [1, "only"]]
    assert run_module(export_model(tree, "python", category=1), case, folder, "one") == [True, True]


@pytest.mark.parametrize("classes", [(True, False), (0, 1), (0.0, 1.0), (-3, 7)])
def test_labels_keep_their_type(classes, folder):
    case = Case((Column("x", "real"),), ({"x": [1.0, 3.0]}, {"x": [0.0]}))
    tree = tree_of(case, ["F(x > 2)"], classes)
    _, labels = expected(tree, case)
    assert [row[2] for row in asked(case, export_model(tree, "sql"))] == labels
    found = [label for _, label in run_module(export_model(tree, "python"), case, folder)]
    assert (found, [type(label) for label in found]) == (labels, [type(label) for label in labels])


def test_numbers_are_written_exactly():
    numbers = [random.Random(3).gauss(0, 10**k) for k in range(-5, 9)]
    case = Case(
        (Column("x", "real"),), tuple({"x": [math.nextafter(x, way)]} for x in numbers for way in (-1e300, x, 1e300))
    )
    for x in numbers:
        tree = tree_of(case, [f"F(x < {x!r})", f"F(x = {x!r})"], ("more", "same", "less"))
        assert [row[1] for row in asked(case, export_model(tree, "sql"))] == tree.apply(case.panel).tolist()


@user_function(takes=["real"], gives="Boolean", elementwise=True)
def steep(x):
    return x > 1


@pytest.mark.parametrize("target", ["sql", "python", "stl"])
def test_a_user_function_cannot_be_exported_to_programs(target):
    case = Case((Column("x", "real"),), ({"x": [1.0]},))
    formula = Formula.parse("F(steep(x))", case.panel.schema, functions=[steep])
    tree = class_tree(Node(formula, leaf([1, 0]), leaf([0, 1])), ("a", "b"), case.panel.schema)
    with pytest.raises(SettingsError, match="user function 'steep'"):
        export_model(tree, target)


def test_sql_refuses_null_characters():
    case = Case((Column("c", "categorical", ("a\0b", "c")),), ({"c": ["c"]},))
    with pytest.raises(SettingsError, match="null character"):
        export_model(tree_of(case, ['F(c = "a\\u0000b")'], ("a", "b")), "sql")


def test_an_unknown_column_is_an_error_not_a_string():
    case = Case((Column("x", "real"), Column("c", "categorical", ("c",))), ({"x": [1.0], "c": ["c"]},))
    query = export_model(tree_of(case, ['F(c = "c")'], ("a", "b")), "sql")
    without = Case(case.columns[:1], ({"x": [1.0]},))
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        database(sqlite3.connect, without).execute(query)


@pytest.mark.parametrize(("words", "label"), [(["no", "off"], "b"), (["no", " Yes "], "a"), ([None, "1"], "a")])
def test_the_python_module_reads_words_where_a_column_was_boolean(words, label, tmp_path):
    table = {"id": [0, 0, 1, 1], "flag": ["yes", "no", "no", "no"]}
    panel = Panel.from_frame(pd.DataFrame(table), id="id")
    model = GrammarTreeClassifier("Start ::= F(flag)", random_state=0).fit(panel, ["a", "b"])
    (tmp_path / "rule.py").write_text(export_model(model, "python"), encoding="utf-8")
    assert runpy.run_path(str(tmp_path / "rule.py"))["predict"]({"flag": words}) == label


@pytest.mark.parametrize("time", ["time", 'at """\n'])
def test_the_python_module_says_where_it_reads_the_times_of_uneven_steps(time, tmp_path):
    times, x = ([0, 1, 10], [0, 8, 10]), [1.0, 5.0, 1.0]
    frame = pd.DataFrame([(i, t, v) for i, own in enumerate(times) for t, v in zip(own, x, strict=True)])
    panel, _ = read(frame.set_axis(["id", "t", "x"], axis=1), id="id", time="t")
    for text, asks in (("F(gone() < 0.5 and x > 2)", True), ("F(x > 2)", False)):
        root = Node(Formula.parse(text, panel.schema), class_leaf((1, 0)), class_leaf((0, 1)))
        tree = class_tree(root, ("early", "late"), panel.schema, step=panel.step)
        module = export_model(tree, "python", time=time)
        assert (f"# The times of a record's steps are in record[{time!a}], one a step." in module) is asks
        (tmp_path / "module.py").write_text(module, encoding="utf-8")
        predict = runpy.run_path(str(tmp_path / "module.py"))["predict"]
        assert [predict({"x": x, time: own}) for own in times] == tree.predict(panel).tolist()
