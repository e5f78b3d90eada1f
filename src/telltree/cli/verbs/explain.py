"""telltree explain: show the path of one record to its category."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from telltree.cli.inputs import Functions, as_learnt, functions_in, read_sources
from telltree.cli.options import DataOptions, InStyle, Json, Model, Source
from telltree.cli.output import put, put_json
from telltree.errors import DataError
from telltree.text import alike, counted

if TYPE_CHECKING:
    from telltree.explain import PathStep
    from telltree.panel import Panel
    from telltree.tree.tree import Tree


def explain(
    *,
    model: Model,
    source: Source,
    data: DataOptions,
    record: Annotated[str, typer.Option("--record", metavar="ID", help="The id of the record.")],
    style: InStyle = "plain",
    functions: Functions = None,
    json: Json = False,
) -> None:
    """Say, branch by branch, how one record came to its category, and when each formula was decided.

    \b
    Example:
      telltree explain model.json flights.csv --id flight --time t --record 17
    """
    from telltree.explain import path_of
    from telltree.models import load_model

    loaded = load_model(model, functions_in(functions))
    tree, training = loaded.tree, loaded.training
    panel, _ = read_sources(source, as_learnt(source, data, tree), training.schema)
    position = position_of(panel, record)
    path = path_of(tree, panel, position, reference=training.deviations, style=style)
    category = int(tree.apply(panel[[position]])[0])
    summary = tree.summaries[category - 1]
    headline = _headline(tree, category, panel[[position]]) if style == "plain" else None
    if json:
        branches = [{**asdict(step), "formula": str(step.formula)} for step in path]
        put_json(
            {
                "record": panel.ids[position],
                "category": category,
                tree.target.words.predicted: summary.predicted,
                "headline": headline,
                "branches": branches,
            }
        )
        return
    lines = [f"record {record}: category [{category}], {summary.title}"]
    lines += [] if headline is None else [f"  {headline}"]
    lines += [_branch_text(step) for step in path] or ["  the tree is a single leaf: all records come here"]
    put("\n".join(lines), wrap=True)


def _headline(tree: "Tree", category: int, record: "Panel") -> str | None:
    """Return the category's headline, if it is true of this record and its condition occurs there."""
    from telltree.engine import Formula
    from telltree.explain.occurrence import headline_text

    leaf, _ = tree.leaves[category - 1]
    if leaf.headline is None:
        return None
    claim, aligned = leaf.headline.formula, record.aligned(tree.schema)
    needed = (claim, *map(Formula, tree.conditions(claim.expression)))
    return headline_text(tree, category) if all(formula(aligned)[0] for formula in needed) else None


def position_of(panel: "Panel", record: str) -> int:
    """Return the position of the record with this id in the panel."""
    ids = [str(one) for one in panel.ids.tolist()]
    if record in ids:
        return ids.index(record)
    near = alike(record, ids, most=3) or ids[:3]
    raise DataError(f"there is no record {record!r} among {counted(len(ids), 'record')}, such as {', '.join(near)}")


def _branch_text(branch: "PathStep") -> str:
    """Return a branch in English and as a formula, with the step and the margin of the decision if they have sense."""
    from telltree.explain.evidence import how_decided

    noted = " (its condition does not occur in this record)" if branch.vacuous else ""
    lines = [f"\n  {branch.english}{noted}", f"    {branch.formula} is {'true' if branch.holds else 'false'}"]
    if branch.unknown is not None:
        return "\n".join([*lines, f"    {branch.unknown}"])
    how = how_decided(branch.formula, branch.holds)
    if branch.unit is not None:
        unit = " standard deviations" if branch.unit == "standard deviations" else ""
        lines.append(f"    {how} at {branch.moment}; margin {branch.distance}{unit}")
    elif not how.startswith("came nearest"):  # without a distance, all steps are equally near
        lines.append(f"    {how} at {branch.moment}")
    return "\n".join(lines)
