"""telltree show: what a model says."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from telltree.cli.options import Json, Model
from telltree.cli.output import put, put_json

if TYPE_CHECKING:
    from telltree.explain import RuleRow
    from telltree.tree.tree import Tree


def show(
    *,
    model: Model,
    english: Annotated[
        bool, typer.Option("--english", help="Print the categories alone, without the questions.")
    ] = False,
    formulas: Annotated[
        bool, typer.Option("--formulas", help="Print the tree and the table of rules as formulas.")
    ] = False,
    style: Annotated[
        Literal["plain", "paper"], typer.Option(help="Tell categories in plain English, or in the paper's form.")
    ] = "plain",
    json: Json = False,
) -> None:
    """Print the questions of a model in English, and what is true of each category.

    \b
    Examples:
      telltree show model.json
      telltree show model.json --formulas
      telltree show model.json --english --style paper
    """
    from dataclasses import replace

    from telltree.data.clip import clip
    from telltree.estimators import load
    from telltree.explain import as_records, rules_text

    classifier = load(model)
    tree, rules = classifier.tree_, classifier.rules()
    if json:
        put_json([row | _more(tree, number) for number, row in enumerate(as_records(rules), 1)])
    elif formulas:
        put(f"{tree}\n\n{rules_text([replace(rule, label=clip(rule.label)) for rule in rules])}")
    else:
        told = [_told(rule, _more(tree, rule.cluster)["paper"] if style == "paper" else rule.english) for rule in rules]
        put("\n\n".join(told if english else [tree.outline(), *told]), wrap=True)


def _more(tree: "Tree", number: int) -> dict[str, Any]:
    """What is told of a category beside its row: the paper's form, what its sibling shares, and what sets it apart."""
    from telltree.explain.categories import sentence

    _, branches = tree.leaves[number - 1]
    return {
        "paper": sentence(branches, tree.schema, tree.missing, style="paper"),
        "shared": sentence(branches[:-1], tree.schema, tree.missing, step=tree.step),
        "apart": sentence(branches[-1:], tree.schema, tree.missing, step=tree.step),
    }


def _told(rule: "RuleRow", sentence: str) -> str:
    said = sentence if rule.headline is None else f"{rule.headline}\n    exactly: {sentence}"
    return f"[{rule.cluster}] {rule.label}: {rule.figures}\n    {said}"
