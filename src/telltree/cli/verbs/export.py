"""telltree export: write a model in another language."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from telltree.cli.inputs import Functions, functions_in
from telltree.cli.options import Force, InStyle, Model, Output
from telltree.cli.output import check_output, put, say
from telltree.models.export import TARGETS

if TYPE_CHECKING:
    TargetName = str
else:
    TargetName = Literal[*TARGETS]


def export(
    *,
    model: Model,
    to: Annotated[
        TargetName,
        typer.Option(
            "--to", help="What to write. " + "; ".join(f"{name}: {row.help}" for name, row in TARGETS.items())
        ),
    ],
    category: Annotated[int | None, typer.Option(metavar="NUMBER", help="Only this category, by its number.")] = None,
    table: Annotated[str, typer.Option(metavar="NAME", help="sql: the name of the long table.")] = "records",
    id: Annotated[str, typer.Option(metavar="COLUMN", help="sql: the column of record ids.")] = "id",  # noqa: A002 - the word users look for
    time: Annotated[str, typer.Option(metavar="COLUMN", help="sql, python: the column of times.")] = "time",
    style: InStyle = "plain",
    functions: Functions = None,
    output: Output = None,
    force: Force = False,
) -> None:
    """Write a model, or one of its categories, as formulas, LaTeX, Graphviz, rules, STL, a Python module or SQL.

    \b
    Examples:
      telltree export model.json --to sql --table flights --id flight --time t
      telltree export model.json --to python -o classify.py
    """
    from telltree.models import load_model
    from telltree.models.export import export_model

    check_output(output, force=force)
    loaded = load_model(model, functions_in(functions))
    missing = loaded.training.missing
    text = export_model(loaded.tree, to, category=category, missing=missing, style=style, table=table, id=id, time=time)
    put(text, output, exact=True)
    if output is not None:
        say(f"wrote {output}")
