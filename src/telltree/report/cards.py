"""The card of each category: its description, its certainty, and its example members."""

from collections.abc import Container, Sequence
from functools import reduce
from typing import Any

from telltree.explain import Category, rules_table
from telltree.explain.categories import missing_columns
from telltree.explain.category_text import grouped
from telltree.explain.occurrence import Occurrence
from telltree.explain.sentence import claims_of, sentence
from telltree.logic.expression import conjunction
from telltree.report.examples import Members, columns_of
from telltree.report.records import Gallery
from telltree.report.subject import Subject, number, words
from telltree.report.tree_view import spots
from telltree.text import counted
from telltree.tree.target import Certainty
from telltree.tree.tree import Branch, Leaf


def cards(
    subject: Subject, gallery: Gallery, members: Sequence[Members], shown: Container[int]
) -> list[dict[str, Any]]:
    """Return one entry per category, for the page, with those of its example members that are `shown`."""
    leaves = {spot.row: spot.place for spot in spots(subject.tree) if isinstance(spot.node, Leaf)}
    gains, missing = _gains(subject), missing_columns(subject.tree, subject.known)
    siblings, numbered = _siblings(subject.categories), {category.number: category for category in subject.categories}
    entries = []
    for category, row, some in zip(subject.categories, rules_table(subject.tree), members, strict=True):
        sure = row.certainty if subject.labels is None else category.certainty
        columns = sorted(columns_of(category), key=lambda name: -gains[category.number].get(name, 0.0))
        entries.append(
            {
                "number": category.number,
                "node": leaves[category.number],
                "part": category.summary.part,
                "mixed": _mixed(category),
                "predicted": words(category.label),
                "title": words(category.title),
                "formula": words(category.description),
                "english": words(category.english),
                "note": _note(category.english, category),
                "short": None if category.short == category.english else words(category.short),
                "short_note": _note(category.short, category),
                "lead": _lead(category, beside=category.number in siblings),
                "paper": words(sentence(category.branches, subject.schema, missing, style="paper")),
                "headline": None if category.headline is None else words(category.headline),
                "beside": siblings.get(category.number),
                "shared": _shared(category, numbered[siblings[category.number]], subject, missing)
                if category.number in siblings
                else None,
                "figures": words(f"{category.label}: {sure.text}" if _mixed(category) else sure.text),
                "doubt": _doubt(category),
                "apart": _apart(category, subject, missing),
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
    """Return the number of each category's sibling, if they are shown together."""
    pairs = [group for group in grouped(categories) if len(group) == 2]
    return {one.number: other.number for pair in pairs for one, other in (pair, reversed(pair))}


def _mixed(category: Category) -> tuple[int, ...]:
    """Return the parts of the target that name a mixed category, the predicted one first; none if it is not mixed."""
    leading: tuple[int, ...] = getattr(category.summary, "leading", ())
    return leading if len(leading) > 1 else ()


def _lead(category: Category, *, beside: bool) -> str | None:
    """Return the headline of a card; None if it is another of its sentences, or one with other digits."""
    shown = [category.apart] if beside else [category.english, category.short, category.apart]
    texts = category.as_text.without_shared_headline if beside else category.as_text
    headline = texts.without_repeated_headline(*shown).headline
    return None if headline is None or any(map(texts.is_headline, shown)) else words(headline)


def _note(text: str, *categories: Category) -> str | None:
    """Return a note behind a sentence; None if there is none.

    For the headline, its figures; else the frequency of the sentence's conditions among the members of categories,
    unless they occur in all.
    """
    if len(categories) == 1 and categories[0].as_text.is_headline(text):
        return str(categories[0].headline).removeprefix(text)
    found = [category.occurs[text] for category in categories if text in category.occurs]
    if len(found) < len(categories):
        return None
    return reduce(Occurrence.__add__, found).note("its" if len(categories) == 1 else "their") or None


def _shared(category: Category, sibling: Category, subject: Subject, missing: Container[str]) -> dict[str, str | None]:
    """Return the description that a category shares with its sibling, in every style."""
    shared = _in_all_styles(category.shared, category.branches[:-1], subject, missing)
    note, together = _note(category.shared, category), _note(category.shared, category, sibling)
    return {**shared, "note": note, "together": together}


def _apart(category: Category, subject: Subject, missing: Container[str]) -> dict[str, str | None] | None:
    """Return the description that sets a category apart, in every style.

    None if it is just the answer to its last question: no answer is unknown, and its condition occurs in all records.
    """
    if not category.branches:
        return None
    doubt, note = category.open[-1], _note(category.apart, category)
    if note is None and not any(category.open):
        return None
    text = category.apart if doubt is None else f"{category.apart} ({doubt})"
    return {**_in_all_styles(text, category.branches[-1:], subject, missing), "note": note}


def _in_all_styles(
    english: str, branches: Sequence[Branch], subject: Subject, missing: Container[str]
) -> dict[str, str]:
    """Return the answers on some branches in every style."""
    return {
        "english": words(english),
        "paper": words(sentence(branches, subject.schema, missing, style="paper")),
        "formula": words(conjunction(claims_of(branches))),
    }


def _doubt(category: Category) -> str | None:
    """Return a sentence about the records with an unknown answer on their path; None if there are none."""
    if not category.unknown:
        return None
    records = counted(len(category.positions), "record")
    return f"Missing values leave answers open for {category.unknown:,} of these {records}."


def _measure(sure: Certainty) -> dict[str, Any]:
    """Return the certainty of a category, as its card shows it."""
    found = sure.measure()._asdict()
    bar = None if found["bar"] is None else [number(place) for place in found["bar"]]
    texts = {name: words(text) for name, text in found.items() if isinstance(text, str)}
    return {**found, **texts, "size": number(found["size"]), "bar": bar}


def _values(sure: Certainty) -> dict[str, Any]:
    """Return the same as numbers, for a table, by the names of its columns; without the number of records."""
    exported = sure.exported().items()
    found = {name: value for name, value in exported if name != "support" and not isinstance(value, list)}
    return {name: number(value) if isinstance(value, float) else value for name, value in found.items()}


def _gains(subject: Subject) -> dict[int, dict[str, float]]:
    """Return for each category the decrease of fitness on its path, by the columns that branches mention."""
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
