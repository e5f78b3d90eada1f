"""telltree show: print a model."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from telltree.cli.inputs import Functions, functions_in
from telltree.cli.options import InStyle, Json, Model
from telltree.cli.output import put, put_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from telltree.english.styles import Style
    from telltree.explain import RuleRow
    from telltree.explain.category_text import CategoryText
    from telltree.explain.occurrence import Occurrence
    from telltree.tree.tree import Branch, Tree


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
    from telltree.explain.category_text import groups_text
    from telltree.explain.outline import remarks, unknown_answers
    from telltree.models import load_model
    from telltree.text import clip

    tree = load_model(model, functions_in(functions)).tree
    rules = rules_table(tree, style=style)
    if json:
        put_json([row | _extra(tree, number, style) for number, row in enumerate(as_records(rules), 1)])
    elif formulas:
        put(f"{tree}\n\n{rules_text([replace(rule, title=clip(rule.title)) for rule in rules])}")
    else:
        texts = [_category_text(rule, tree, style) for rule in rules]
        categories = "\n\n".join(text.alone(whole=True) for text in texts) if whole else groups_text(texts)
        put(categories if english else f"{outline(tree, style=style)}\n\n{categories}", wrap=True)
        # --english shows no questions, so it leaves out remarks on them, except on unknown answers and on weights
        for remark in (*unknown_answers(tree), *tree.floors) if english else remarks(tree):
            put(f"\n{remark}", wrap=True)


def _extra(tree: "Tree", number: int, style: "Style") -> dict[str, Any]:
    """Return the sentence in the paper's form, the part that the sibling shares, and the part that sets it apart."""
    from telltree.explain.sentence import sentence

    _, branches = tree.leaves[number - 1]
    return {
        "paper": sentence(branches, tree.schema, tree.missing, style="paper"),
        "shared": sentence(branches[:-1], tree.schema, tree.missing, style=style, step=tree.step),
        "apart": sentence(branches[-1:], tree.schema, tree.missing, style=style, step=tree.step),
    }


def _category_text(rule: "RuleRow", tree: "Tree", style: "Style") -> "CategoryText":
    from telltree.explain.category_text import CategoryText, Statement
    from telltree.explain.occurrence import training_unknowns
    from telltree.explain.sentence import sentence
    from telltree.text import counted

    leaf, branches = tree.leaves[rule.cluster - 1]

    def statement(branches: "Sequence[Branch]", doubt: object = None) -> Statement:
        english = sentence(branches, tree.schema, tree.missing, style=style, step=tree.step)
        return Statement(english, doubt=None if doubt is None else str(doubt))

    doubts = training_unknowns(branches, tree.missing)
    return CategoryText(
        number=rule.cluster,
        branches=branches,
        head=f"[{rule.cluster}] {rule.title}: {rule.figures}",
        headline=rule.headline,
        whole=statement(branches),
        short=None if rule.short == rule.english else rule.short,
        among=f"on the {counted(tree.records, 'training record')}",
        steps=tuple(statement([branch], doubt) for branch, doubt in zip(branches, doubts, strict=True)),
        claim=None if rule.headline is None or leaf.headline is None else leaf.headline.formula,
        occurs=_occurrences(rule, tree) if style == "plain" else {},
    )


def _occurrences(rule: "RuleRow", tree: "Tree") -> "dict[str, Occurrence]":
    """Return the occurrence of the conditions of each of a category's sentences among its training records."""
    from telltree.explain.occurrence import training_occurrences
    from telltree.explain.sentence import claims_of

    leaf, branches = tree.leaves[rule.cluster - 1]
    occurrence_of, claims = training_occurrences(tree), claims_of(branches)
    sentences = [claims, *([claim] for claim in claims), *([] if leaf.short is None else [[leaf.short.expression]])]
    found = ((tree.sentence(*some), occurrence_of(some, rule.cluster)) for some in sentences)
    return {text: occurrence for text, occurrence in found if occurrence is not None}
