"""telltree report: write one HTML page on a model and its data."""

from pathlib import Path
from typing import Annotated

import typer

from telltree.cli.inputs import Functions, as_learnt, functions_in, read_sources
from telltree.cli.options import DataOptions, Force, InStyle, Model, Source
from telltree.cli.output import check_output, say


def report(
    *,
    model: Model,
    source: Source,
    data: DataOptions,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Write the page here.")],
    title: Annotated[str | None, typer.Option(help="Of the page.")] = None,
    test: Annotated[
        list[str] | None,
        typer.Option(
            "--test", metavar="DATA", help="Labelled records that were kept back (repeatable): how well it does."
        ),
    ] = None,
    style: InStyle = "plain",
    functions: Functions = None,
    force: Force = False,
) -> None:
    """Write one HTML page: the tree, its categories with typical members, and the way of each record shown.

    It needs no network and no other file.

    \b
    Example:
      telltree report model.json flights.csv --id flight --time t --label nmac -o report.html
    """
    from telltree.estimators.loading import load_tree
    from telltree.report import write_report

    check_output(output, force=force)
    classifier = load_tree(model, functions=functions_in(functions))
    data = as_learnt(source, data, classifier.tree_)
    panel, labels = read_sources(source, data, classifier.training_.schema)
    held_out = None if not test else read_sources(test, data, classifier.training_.schema)
    write_report(classifier, panel, labels, output, title=title, overwrite=force, held_out=held_out, style=style)
    say(f"wrote {output}")
