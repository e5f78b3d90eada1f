"""telltree ask: count the records for which a sentence or formula is true, by class, and list them."""

from typing import Annotated, Literal

import typer

from telltree.cli.inputs import Functions, functions_in, read_sources
from telltree.cli.options import InStyle, Json, LogicOptions, Source
from telltree.cli.output import put, put_json
from telltree.cli.verbs.explain import position_of

_MEMBERS = 5


def ask(
    *,
    source: Source,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A sentence in plain English, or a formula.")],
    data: LogicOptions,
    explain: Annotated[
        str | None, typer.Option("--explain", metavar="ID", help="Say of this record when, and by what margin.")
    ] = None,
    members: Annotated[
        int | None, typer.Option(min=0, help=f"How many to list; by default {_MEMBERS}, with --json all.")
    ] = None,
    style: InStyle = "plain",
    functions: Functions = None,
    json: Json = False,
) -> None:
    """Say of how many records something is true, of which classes, when it first was, and of which.

    \b
    Examples:
      telltree ask pumps.csv "at some point pressure is below 2.8 bar while the valve is open" --id pump --label end
      telltree ask pumps.csv 'F(pressure < 2.8 and valve = "open")' --id pump --time t --explain 17
    """
    from telltree.explain import ask as answer_to

    panel, labels = read_sources(source, data.reading)
    missing: Literal["unknown", "false"] = "unknown" if data.missing == "unknown" else "false"
    answer = answer_to(panel, question, labels, functions=functions_in(functions), missing=missing, style=style)
    verdict = None if explain is None else answer.explain(position_of(panel, explain))
    if json:
        explained = {} if verdict is None else {"explain": verdict.to_dict()}
        put_json({**answer.to_dict(members), **explained})
        return
    text = answer.text(_MEMBERS if members is None else members)
    put(text if verdict is None else f"{text}\n\n{verdict}")
