"""A card for each category: what it says, how sure it is, and its example members."""

from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Any

from telltree.explain import Category, RuleRow, rules_table
from telltree.explain.categories import missing_columns, sentence, signed
from telltree.explain.groups import grouped
from telltree.operators.expression import conjunction
from telltree.report.page.members import Members, columns_of
from telltree.report.page.shown import Gallery
from telltree.report.page.subject import Subject
from telltree.report.page.text import number, words
from telltree.report.page.tree_view import spots
from telltree.tree.tree import Leaf


def cards(
    subject: Subject, gallery: Gallery, members: Sequence[Members], shown: Container[int]
) -> list[dict[str, Any]]:
    """One entry per category, for the page; only members that are `shown`."""
    leaves = {spot.row: spot.place for spot in spots(subject.tree) if isinstance(spot.node, Leaf)}
    gains, missing = _gains(subject), missing_columns(subject.tree, subject.known)
    siblings = _siblings(subject.categories)
    entries = []
    for category, row, some in zip(subject.categories, rules_table(subject.tree), members, strict=True):
        columns = sorted(columns_of(category), key=lambda name: -gains[category.number].get(name, 0.0))
        entries.append(
            {
                "number": category.number,
                "node": leaves[category.number],
                "label": subject.tree.leaves[category.number - 1][0].label,
                "formula": words(category.description),
                "english": words(category.english),
                "short": None if category.short == category.english else words(category.short),
                "paper": words(sentence(category.branches, subject.schema, missing, style="paper")),
                "headline": None if category.headline is None else words(category.headline),
                "beside": siblings.get(category.number),
                "shared": _shared(category, subject, missing) if category.number in siblings else None,
                "figures": words(figures(subject, category, row)),
                "records": len(category.positions),
                "coverage": number(category.coverage),
                "support": row.support,
                **sureness(subject, category, row),
                "columns": [gallery.column(name) for name in columns],
                "typical": [record for record in some.typical if record in shown],
                "borderline": [record for record in some.borderline if record in shown],
                "exceptions": [record for record in some.exceptions if record in shown],
                "pooled": some.pooled,
                "measured": some.measured,
            }
        )
    return entries


def _siblings(categories: Sequence[Category]) -> dict[int, int]:
    """The number of each category's sibling, if they are told together."""
    pairs = [group for group in grouped(categories) if len(group) == 2]
    return {one.number: other.number for pair in pairs for one, other in (pair, reversed(pair))}


def _shared(category: Category, subject: Subject, missing: Container[str]) -> dict[str, str]:
    """What is true of a category and of its sibling, in every form of telling."""
    above = category.branches[:-1]
    return {
        "english": words(category.shared),
        "paper": words(sentence(above, subject.schema, missing, style="paper")),
        "formula": words(conjunction(signed(above))),
    }


def figures(subject: Subject, category: Category, row: RuleRow) -> str:
    """The share of its class in words: of the members, or without labels, of the records it was learned from."""
    if subject.labels is None:
        return row.figures
    low, high = category.interval
    there, lift = len(category.positions), category.lift
    return replace(row, share=category.share, low=low, high=high, support=there, lift=lift).figures


def sureness(subject: Subject, category: Category, row: RuleRow) -> dict[str, Any]:
    """How many members have the category's class: their share with Wilson's interval, its lift, and the others.

    Without labels, what is known is the share among the records the tree was learned from. None if nothing is known.
    Weights are those of training: the class's `weighted` share, and whether they `decided` that it is the class.
    """
    if subject.labels is None:
        share, interval, lift, wrong = row.share, (row.low, row.high), row.lift, None
    else:
        share, interval, lift = category.share, category.interval, category.lift
        wrong = int(subject.wrong[category.positions].sum())
    low, high = (None, None) if share is None else interval
    found = {"share": share, "low": low, "high": high, "lift": lift, "weighted": row.weighted}
    return {name: number(value) for name, value in found.items()} | {"wrong": wrong, "decided": row.decided_by_weights}


def _gains(subject: Subject) -> dict[int, dict[str, float]]:
    """For each category, how much the branches on its path that mention a column lowered the fitness."""
    found: dict[int, dict[str, float]] = {}
    above: dict[int, dict[str, float]] = {-1: {}}
    for spot in spots(subject.tree):
        sums = dict(above[spot.parent])
        if isinstance(spot.node, Leaf):
            found[spot.row] = sums
            continue
        for name in spot.node.formula.expression.attributes():
            sums[name] = sums.get(name, 0.0) + max(spot.node.gain, 0.0)
        above[spot.place] = sums
    return found
