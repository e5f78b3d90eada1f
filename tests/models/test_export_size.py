"""Exports of formulas that nest arithmetic deeply: no longer, and no dearer to run, than what they say."""

import sqlite3

import numpy as np
import pytest

from tests.support.class_trees import class_leaf, class_tree

from telltree import Formula, Panel
from telltree.errors import SettingsError
from telltree.models.export import export_model
from telltree.tree.tree import Node

PANEL = Panel.from_arrays([np.array([[1.0], [2.0]]), np.array([[5.0], [3.0]])], columns=["x"])


def tree_asking(text):
    formula = Formula.parse(text, PANEL.schema)
    return formula, class_tree(
        Node(formula, class_leaf((0, 1), (0.0, 1.0)), class_leaf((1, 0), (1.0, 0.0))), ("no", "yes"), PANEL.schema
    )


def nested(template, times):
    text = "x"
    for i in range(times):
        text = template.format(text, i + 0.5)
    return text


@pytest.mark.parametrize("template", ["abs({} - {})", "sign({} - {})", "({} - {})"])
def test_sql_of_nested_arithmetic_stays_small_inside_sqlite(template):
    formula, tree = tree_asking(f"F({nested(template, 12)} > 0)")
    query = export_model(tree, "sql", table="t", id="id", time="step")
    connection = sqlite3.connect(":memory:")
    connection.setlimit(sqlite3.SQLITE_LIMIT_VDBE_OP, 25_000)  # twelve doublings make more
    connection.execute("CREATE TABLE t (id, step, x)")
    rows = [(i, t, float(x)) for i in range(2) for t, x in enumerate(PANEL.stacked("x")[2 * i : 2 * i + 2])]
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    found = [label == "yes" for _, _, label in connection.execute(query)]
    assert found == formula(PANEL).tolist()


def test_stl_refuses_what_would_grow_without_end():
    _, tree = tree_asking(f"F({nested('sign({} - {})', 12)} > 0)")
    with pytest.raises(SettingsError, match="STL, where each sign takes four times the text"):
        export_model(tree, "stl")


def test_stl_says_a_few_signs():
    _, tree = tree_asking(f"F({nested('sign({} - {})', 4)} > 0)")
    assert len(export_model(tree, "stl")) < 100_000
