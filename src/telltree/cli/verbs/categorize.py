"""telltree categorize: the category of each record, or the categories with their members."""

from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from telltree.cli.inputs import Functions, as_learnt, functions_in, id_heading, read_sources
from telltree.cli.options import DataOptions, Force, InStyle, Json, Model, Output, Source
from telltree.cli.output import check_output, put, put_csv, put_json

if TYPE_CHECKING:
    from telltree.explain import Category
    from telltree.tree.tree import Tree


def categorize(
    *,
    model: Model,
    source: Source,
    data: DataOptions,
    text: Annotated[
        bool, typer.Option("--text", help="Print the categories in groups, in English and as formulas.")
    ] = False,
    style: InStyle = "plain",
    functions: Functions = None,
    output: Output = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Sort records into the categories of a model: a table of record, category, class, formula, English, headline,
    and how often the condition of a "whenever" occurs in the category.

    \b
    Examples:
      telltree categorize model.json flights.csv --id flight --time t > categories.csv
      telltree categorize model.json flights.csv --id flight --time t --label nmac --text
    """
    from telltree import explain
    from telltree.models import load_model

    check_output(output, force=force)
    loaded = load_model(model, functions_in(functions))
    data = as_learnt(source, data, loaded.tree)
    panel, labels = read_sources(source, data, loaded.training.schema)
    found = explain.categorize(loaded.tree, panel, labels, style=style)
    if text:
        put(explain.categories_text(found), output, wrap=True)
    elif json:
        put_json([_as_dict(category, loaded.tree) for category in found], output)
    else:
        category_of = {int(i): category.number for category in found for i in category.positions}
        cells = {c.number: [c.number, c.label, c.description, c.english, c.headline, _occurs(c)] for c in found}
        rows = [[record, *cells[category_of[i]]] for i, record in enumerate(panel.ids.tolist())]
        columns = ["category", loaded.tree.target.words.predicted, "formula", "english", "headline", "occurs"]
        put_csv([id_heading(data, columns), *columns], rows, output)


def _as_dict(category: "Category", tree: "Tree") -> dict[str, Any]:
    from telltree.explain.sentence import sentence

    hidden = ("branches", "positions", "summary", "certainty", "occurs", "claim")
    found = {field.name: getattr(category, field.name) for field in fields(category) if field.name not in hidden}
    paper = sentence(category.branches, tree.schema, tree.missing, style="paper")
    return {
        **found,
        "label": category.label,
        "title": category.title,
        "paper": paper,
        "occurs": _all_occurrences(category),
        **category.certainty.values(),
    }


def _occurs(category: "Category") -> str:
    """Return how often the conditions of its sentence occur among its records, in words; "" if it has none."""
    found = category.occurs.get(category.english)
    return "" if found is None else found.text()


def _all_occurrences(category: "Category") -> dict[str, str]:
    """Return how often the conditions of each of its sentences occur, in words."""
    return {sentence: text for sentence, found in category.occurs.items() if (text := found.text())}
