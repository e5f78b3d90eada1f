"""telltree show: what a model says."""

from typing import TYPE_CHECKING, Annotated

import typer

from telltree.cli.options import Json, Model
from telltree.cli.output import put, put_json

if TYPE_CHECKING:
    from telltree.explain import RuleRow


def show(
    *,
    model: Model,
    english: Annotated[bool, typer.Option("--english", help="Print the rules in English instead of the tree.")] = False,
    json: Json = False,
) -> None:
    """Print the tree of a model and its rules.

    \b
    Examples:
      telltree show model.json
      telltree show model.json --english
    """
    from dataclasses import replace

    from telltree.data.clip import clip
    from telltree.estimators import load
    from telltree.explain import as_records, rules_text

    classifier = load(model)
    rules = classifier.rules()
    if json:
        put_json(as_records(rules))
    elif english:
        put("\n\n".join(map(_sentence, rules)))
    else:
        put(f"{classifier.tree_}\n\n{rules_text([replace(rule, label=clip(rule.label)) for rule in rules])}")


def _sentence(rule: "RuleRow") -> str:
    return f"[{rule.cluster}] {rule.label}: {rule.figures}\n    {rule.english}"
