"""Export of models to other languages: the table of targets."""

from collections.abc import Container, Mapping
from importlib import import_module
from typing import Any, Literal, NamedTuple

from telltree.errors import SettingsError


class ExportTarget(NamedTuple):
    """A language to write models in. Its writer is imported when first used, so that listing targets is cheap."""

    module: str
    """The module of this package with the writer."""
    writer: str
    """The name of a function from `Exported` and options to text."""
    help: str
    takes: tuple[str, ...] = ()
    """The options of `export_model` that the writer takes."""


TARGETS: Mapping[str, ExportTarget] = {
    "text": ExportTarget("export_latex_graphviz_tables", "formula_text", "formulas that telltree reads"),
    "latex": ExportTarget("export_latex_graphviz_tables", "latex", "formulas for papers"),
    "dot": ExportTarget("export_latex_graphviz_tables", "dot", "a picture, for Graphviz"),
    "json": ExportTarget("export_latex_graphviz_tables", "json_rules", "a table of rules"),
    "csv": ExportTarget("export_latex_graphviz_tables", "csv_table", "the same"),
    "markdown": ExportTarget("export_latex_graphviz_tables", "markdown_table", "the same"),
    "stl": ExportTarget("export_stl", "stl", "signal temporal logic, for rtamt"),
    "python": ExportTarget("export_python", "python_module", "a module that needs nothing but Python", takes=("time",)),
    "sql": ExportTarget("export_sql", "sql", "a query for SQLite and DuckDB", takes=("table", "id", "time")),
}


def export_model(
    model: Any,
    to: str,
    *,
    category: int | None = None,
    missing: Container[str] | None = None,
    style: Literal["plain", "paper"] = "plain",
    table: str = "records",
    id: str = "id",  # noqa: A002 - the word users look for
    time: str | None = "time",
) -> str:
    """Write a tree or a fitted classifier in another language.

    to: "text", formulas that `Formula.parse` reads; "latex"; "dot", for Graphviz; "json", "csv" and "markdown", the
        table of rules; "stl", signal temporal logic for rtamt; "python", a module that needs nothing but Python; "sql",
        a query for SQLite and DuckDB.
    category: the number of the only category to export; by default the whole tree.
    missing: the columns that may miss values, for English and STL; by default those that missed some in training, or
        all for a tree without a classifier.
    style: that of the English in tables of rules, as in `telltree.explain.english`; headlines and short descriptions
        are always in plain English.
    table, id, time: for SQL, the names of the long table and of its columns for records and time (None: a record has
        one row). Attributes are columns of the same names. If formulas need elapsed time, and steps differ in length,
        `time` holds it as numbers in the unit of training; in Python it is a list beside the columns.

    What a target cannot express, such as a user function in SQL, is a SettingsError.
    """
    from telltree.models.export_common import Exported

    if to not in TARGETS:
        raise SettingsError(f"cannot export to {to!r}; the targets are {', '.join(TARGETS)}")
    target, options = TARGETS[to], {"table": table, "id": id, "time": time}
    write = getattr(import_module(f"telltree.models.{target.module}"), target.writer)
    text: str = write(Exported.of(model, category, missing, style), **{name: options[name] for name in target.takes})
    return text
