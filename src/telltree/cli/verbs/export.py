"""telltree export: a model in another language."""

from typing import Annotated, Literal

import typer

from telltree.cli.options import Force, Model, Output
from telltree.cli.outcome import say
from telltree.cli.output import check_output, put


def export(
    *,
    model: Model,
    to: Annotated[
        Literal["text", "latex", "dot", "json", "csv", "markdown", "stl", "python", "sql"],
        typer.Option("--to", help="What to write."),
    ],
    category: Annotated[int | None, typer.Option(metavar="NUMBER", help="Only this category, by its number.")] = None,
    table: Annotated[str, typer.Option(metavar="NAME", help="sql: the name of the long table.")] = "records",
    id: Annotated[str, typer.Option(metavar="COLUMN", help="sql: the column of record ids.")] = "id",  # noqa: A002 - the word users look for
    time: Annotated[str, typer.Option(metavar="COLUMN", help="sql: the column of times.")] = "time",
    output: Output = None,
    force: Force = False,
) -> None:
    """Write a model, or one of its categories, as formulas, LaTeX, Graphviz, rules, STL, a Python module or SQL.

    \b
    Examples:
      telltree export model.json --to sql --table flights --id flight --time t
      telltree export model.json --to python -o classify.py
    """
    from telltree.export import export_model
    from telltree.tree.model import load_model

    check_output(output, force=force)
    names = {"table": table, "id": id, "time": time} if to == "sql" else {}
    loaded = load_model(model)
    text = export_model(loaded.tree, to, category=category, missing=loaded.training.missing, **names)
    put(text, output, exact=True)
    if output is not None:
        say(f"wrote {output}")
