"""A card for each category: what it says, how sure it is, and its example members."""

from collections.abc import Container, Sequence
from typing import Any

from telltree.amounts import counted
from telltree.explain import Category, rules_table
from telltree.explain.categories import missing_columns, sentence, signed
from telltree.explain.groups import grouped
from telltree.operators.expression import conjunction
from telltree.report.page.members import Members, columns_of
from telltree.report.page.shown import Gallery
from telltree.report.page.subject import Subject
from telltree.report.page.text import number, words
from telltree.report.page.tree_view import spots
from telltree.tree.target import Sureness
from telltree.tree.tree import Branch, Leaf


def cards(
    subject: Subject, gallery: Gallery, members: Sequence[Members], shown: Container[int]
) -> list[dict[str, Any]]:
    """One entry per category, for the page; only members that are `shown`."""
    leaves = {spot.row: spot.place for spot in spots(subject.tree) if isinstance(spot.node, Leaf)}
    gains, missing = _gains(subject), missing_columns(subject.tree, subject.known)
    siblings = _siblings(subject.categories)
    entries = []
    for category, row, some in zip(subject.categories, rules_table(subject.tree), members, strict=True):
        sure = row.sureness if subject.labels is None else category.sureness
        columns = sorted(columns_of(category), key=lambda name: -gains[category.number].get(name, 0.0))
        entries.append(
            {
                "number": category.number,
                "node": leaves[category.number],
                "part": category.summary.part,
                "predicted": words(category.label),
                "title": words(category.title),
                "formula": words(category.description),
                "english": words(category.english),
                "short": None if category.short == category.english else words(category.short),
                "paper": words(sentence(category.branches, subject.schema, missing, style="paper")),
                "headline": None if category.headline is None else words(category.headline),
                "beside": siblings.get(category.number),
                "shared": _shared(category, subject, missing) if category.number in siblings else None,
                "figures": words(sure.text),
                "doubt": _doubt(category),
                "apart": _apart(category, subject, missing) if any(category.open) else None,
                "records": len(category.positions),
                "coverage": number(category.coverage),
                "support": category.summary.support,
                "wrong": None if subject.labels is None else int(subject.wrong[category.positions].sum()),
                "sure": _measure(sure),
                "values": _values(sure),
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
    return _told(category.shared, category.branches[:-1], subject, missing)


def _apart(category: Category, subject: Subject, missing: Container[str]) -> dict[str, str]:
    """What sets a category apart from its sibling, with of how many of its records that is unknown."""
    doubt = category.open[-1]
    said = category.apart if doubt is None else f"{category.apart} ({doubt})"
    return _told(said, category.branches[-1:], subject, missing)


def _told(english: str, branches: Sequence[Branch], subject: Subject, missing: Container[str]) -> dict[str, str]:
    """The answers on some branches in every form of telling."""
    return {
        "english": words(english),
        "paper": words(sentence(branches, subject.schema, missing, style="paper")),
        "formula": words(conjunction(signed(branches))),
    }


def _doubt(category: Category) -> str | None:
    """Of how many of its records an answer on the way is unknown; None if of none."""
    if not category.unknown:
        return None
    records = counted(len(category.positions), "record")
    return f"Missing values leave answers open for {category.unknown:,} of these {records}."


def _measure(sure: Sureness) -> dict[str, Any]:
    """How sure a category is, as its card tells it."""
    found = sure.measure()._asdict()
    bar = None if found["bar"] is None else [number(place) for place in found["bar"]]
    told = {name: words(text) for name, text in found.items() if isinstance(text, str)}
    return {**found, **told, "size": number(found["size"]), "bar": bar}


def _values(sure: Sureness) -> dict[str, Any]:
    """The same as numbers, for a table, by the names of its columns; how many records there are it tells anyway."""
    told = sure.exported().items()
    found = {name: value for name, value in told if name != "support" and not isinstance(value, list)}
    return {name: number(value) if isinstance(value, float) else value for name, value in found.items()}


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
