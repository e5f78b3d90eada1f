"""telltree show: what a model says."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from telltree.cli.inputs import Functions, functions_in
from telltree.cli.options import InStyle, Json, Model, put, put_json

if TYPE_CHECKING:
    from telltree.explain import RuleRow
    from telltree.explain.categories import Occurrence, Telling
    from telltree.explain.english import Style
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
    style: InStyle = "plain",
    whole: Annotated[
        bool, typer.Option("--whole", help="Tell each category by its whole sentence, not beside others.")
    ] = False,
    functions: Functions = None,
    json: Json = False,
) -> None:
    """Print the questions of a model in English, and what is true of each category.

    What several categories share is told once above them, and of each what sets it apart from the others there.

    \b
    Examples:
      telltree show model.json
      telltree show model.json --english --whole
      telltree show model.json --formulas
      telltree show model.json --english --style paper
    """
    from dataclasses import replace

    from telltree.explain import as_records, outline, rules_table, rules_text
    from telltree.explain.categories import groups_text
    from telltree.explain.outline import remarks, unknown_answers
    from telltree.models import load_model
    from telltree.text import clip

    tree = load_model(model, functions_in(functions)).tree
    rules = rules_table(tree, style=style)
    if json:
        put_json([row | _more(tree, number, style) for number, row in enumerate(as_records(rules), 1)])
    elif formulas:
        put(f"{tree}\n\n{rules_text([replace(rule, title=clip(rule.title)) for rule in rules])}")
    else:
        told = [_telling(rule, tree, style) for rule in rules]
        categories = "\n\n".join(one.alone(whole=True) for one in told) if whole else groups_text(told)
        put(categories if english else f"{outline(tree, style=style)}\n\n{categories}", wrap=True)
        # without the questions, what was unknown of them; floors explain the weights
        for remark in (*unknown_answers(tree), *tree.floors) if english else remarks(tree):
            put(f"\n{remark}", wrap=True)


def _more(tree: "Tree", number: int, style: "Style") -> dict[str, Any]:
    """What is told of a category besides its row: the paper's form, what its sibling shares, and what sets it apart."""
    from telltree.explain.categories import sentence

    _, branches = tree.leaves[number - 1]
    return {
        "paper": sentence(branches, tree.schema, tree.missing, style="paper"),
        "shared": sentence(branches[:-1], tree.schema, tree.missing, style=style, step=tree.step),
        "apart": sentence(branches[-1:], tree.schema, tree.missing, style=style, step=tree.step),
    }


def _telling(rule: "RuleRow", tree: "Tree", style: "Style") -> "Telling":
    from telltree.explain.categories import CategoryText, Telling, open_in_training, sentence
    from telltree.text import counted

    leaf, branches = tree.leaves[rule.cluster - 1]
    whole, *steps = (
        CategoryText(
            sentence(some, tree.schema, tree.missing, style=style, step=tree.step),
            doubt=None if doubt is None else str(doubt),
        )
        for some, doubt in (
            (branches, None),
            *zip(((branch,) for branch in branches), open_in_training(branches, tree.missing), strict=True),
        )
    )
    return Telling(
        number=rule.cluster,
        branches=branches,
        head=f"[{rule.cluster}] {rule.title}: {rule.figures}",
        headline=rule.headline,
        whole=whole,
        short=None if rule.short == rule.english else rule.short,
        among=f"on the {counted(tree.records, 'training record')}",
        steps=tuple(steps),
        claim=None if rule.headline is None or leaf.headline is None else leaf.headline.formula,
        occurs=_occurs(rule, tree) if style == "plain" else {},
    )


def _occurs(rule: "RuleRow", tree: "Tree") -> "dict[str, Occurrence]":
    """In how many training records of a category the conditions of its sentences occur."""
    from telltree.explain.categories import occurred_in_training, signed

    leaf, branches = tree.leaves[rule.cluster - 1]
    occurred, claims = occurred_in_training(tree), signed(branches)
    told = [claims, *([claim] for claim in claims), *([] if leaf.short is None else [[leaf.short.expression]])]
    known = ((tree.sentence(*some), occurred(some, rule.cluster)) for some in told)
    return {text: found for text, found in known if found is not None}
