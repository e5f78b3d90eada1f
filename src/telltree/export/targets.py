"""The table of targets."""

from collections.abc import Callable, Container
from typing import Any

from telltree.errors import SettingsError
from telltree.export.csv_table import csv_table
from telltree.export.dot import dot
from telltree.export.exported import Exported
from telltree.export.formula_text import formula_text
from telltree.export.json_rules import json_rules
from telltree.export.latex import latex
from telltree.export.markdown_table import markdown_table
from telltree.export.python_module import python_module
from telltree.export.sql import sql
from telltree.export.stl import stl

TARGETS: dict[str, Callable[..., str]] = {
    "text": formula_text,
    "latex": latex,
    "dot": dot,
    "json": json_rules,
    "csv": csv_table,
    "markdown": markdown_table,
    "stl": stl,
    "python": python_module,
    "sql": sql,
}


def export_model(
    model: Any,
    to: str,
    *,
    category: int | None = None,
    missing: Container[str] | None = None,
    table: str = "records",
    id: str = "id",  # noqa: A002 - the word users look for
    time: str | None = "time",
) -> str:
    """A tree or a fitted classifier as text in another language.

    to: "text", formulas that `Formula.parse` reads; "latex"; "dot", for Graphviz; "json", "csv" and "markdown", the
        table of rules; "stl", signal temporal logic for rtamt; "python", a module that needs nothing but Python; "sql",
        a query for SQLite and DuckDB.
    category: the number of the only category to export; by default the whole tree.
    missing: the columns that may miss values, for English and STL; by default those that missed some in training, or
        for a bare tree any.
    table, id, time: for SQL, the name of the long table, and of its columns for records and time (None: a record has
        one row). Attributes are columns of their own names. Where formulas ask for the time elapsed, and steps differ
        in length, `time` holds it as numbers in the unit of training, and in Python it is a list beside the columns.

    What a target cannot say, such as a user function in SQL, is a SettingsError.
    """
    if to not in TARGETS:
        raise SettingsError(f"cannot export to {to!r}; the targets are {', '.join(TARGETS)}")
    exported = Exported.of(model, category, missing)
    if to == "python":
        return python_module(exported, time)
    return sql(exported, table, id, time) if to == "sql" else TARGETS[to](exported)
