"""The assembled page: data in one block, style and script allowed by their hashes, nothing loaded from elsewhere."""

import base64
import hashlib
import json
import os
from collections.abc import Container, Sequence
from functools import cache, reduce
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from telltree.checks import require_whole
from telltree.english.styles import Style, check_style
from telltree.errors import SettingsError
from telltree.explain import Category, rules_table
from telltree.explain.categories import missing_columns
from telltree.explain.category_text import grouped
from telltree.explain.occurrence import Occurrence
from telltree.explain.sentence import claims_of, sentence
from telltree.files import would_replace, write_whole
from telltree.logic.expression import conjunction
from telltree.panel import Panel
from telltree.panel.dates import FITTING, larger_units, longest
from telltree.report.overview import facts_of
from telltree.report.records import (
    MOST_BYTES,
    Gallery,
    Members,
    all_members,
    chosen_records,
    columns_of,
    listing,
    records_view,
)
from telltree.report.subject import Subject, number, subject_of, words
from telltree.report.tree_view import spots, tree_view
from telltree.text import clip, counted, percent
from telltree.tree.target import Sureness
from telltree.tree.tree import Branch, Leaf

# ---- A card for each category: what it says, how sure it is, and its example members.


def cards(
    subject: Subject, gallery: Gallery, members: Sequence[Members], shown: Container[int]
) -> list[dict[str, Any]]:
    """One entry per category, for the page; only members that are `shown`."""
    leaves = {spot.row: spot.place for spot in spots(subject.tree) if isinstance(spot.node, Leaf)}
    gains, missing = _gains(subject), missing_columns(subject.tree, subject.known)
    siblings, numbered = _siblings(subject.categories), {category.number: category for category in subject.categories}
    entries = []
    for category, row, some in zip(subject.categories, rules_table(subject.tree), members, strict=True):
        sure = row.sureness if subject.labels is None else category.sureness
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
    """The number of each category's sibling, if they are told together."""
    pairs = [group for group in grouped(categories) if len(group) == 2]
    return {one.number: other.number for pair in pairs for one, other in (pair, reversed(pair))}


def _mixed(category: Category) -> tuple[int, ...]:
    """The parts of the target that a mixed category is called by, the predicted one first; none if it is not mixed."""
    leading: tuple[int, ...] = getattr(category.summary, "leading", ())
    return leading if len(leading) > 1 else ()


def _lead(category: Category, *, beside: bool) -> str | None:
    """The headline of a card; None if it is another of its sentences, or is one with other digits."""
    shown = [category.apart] if beside else [category.english, category.short, category.apart]
    told = category.as_text.without_shared_headline if beside else category.as_text
    headline = told.without_repeated_headline(*shown).headline
    return None if headline is None or any(map(told.is_headline, shown)) else words(headline)


def _note(said: str, *categories: Category) -> str | None:
    """What stands behind a sentence: the figures of the headline if it is that, or else how often its conditions occur
    among the members of categories; None where that is in all.
    """
    if len(categories) == 1 and categories[0].as_text.is_headline(said):
        return str(categories[0].headline).removeprefix(said)
    found = [category.occurs[said] for category in categories if said in category.occurs]
    if len(found) < len(categories):
        return None
    return reduce(Occurrence.__add__, found).note("its" if len(categories) == 1 else "their") or None


def _shared(category: Category, sibling: Category, subject: Subject, missing: Container[str]) -> dict[str, str | None]:
    """What is true of a category and of its sibling, in every form of telling."""
    told = _told(category.shared, category.branches[:-1], subject, missing)
    note, together = _note(category.shared, category), _note(category.shared, category, sibling)
    return {**told, "note": note, "together": together}


def _apart(category: Category, subject: Subject, missing: Container[str]) -> dict[str, str | None] | None:
    """What sets a category apart, where that is more than the answer to its last question: of how many of its records
    it is unknown, or in how many its condition occurs.
    """
    if not category.branches:
        return None
    doubt, note = category.open[-1], _note(category.apart, category)
    if note is None and not any(category.open):
        return None
    said = category.apart if doubt is None else f"{category.apart} ({doubt})"
    return {**_told(said, category.branches[-1:], subject, missing), "note": note}


def _told(english: str, branches: Sequence[Branch], subject: Subject, missing: Container[str]) -> dict[str, str]:
    """The answers on some branches in every form of telling."""
    return {
        "english": words(english),
        "paper": words(sentence(branches, subject.schema, missing, style="paper")),
        "formula": words(conjunction(claims_of(branches))),
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


# ---- The assembled page: data in one block, style and script allowed by their hashes, nothing loaded from elsewhere.

STYLES = ("base.css", "controls.css", "overview.css", "tree.css", "categories.css", "record.css", "print.css")
SCRIPTS = (
    "dom.js", "speech.js", "clock.js", "look.js", "traces.js", "tree.js", "details.js", "thumbnails.js",
    "categories.js", "compare.js", "chart.js", "record.js", "export.js", "start.js",
)  # fmt: skip
MOST_PAGE = 1_950_000  # bytes, where names do not fill it by themselves
FIXED = 200_000  # bytes: style, script, and what an overview says beside its sentences
_ESCAPED = {c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def write_report(
    tree_or_classifier: Any,
    panel: Panel,
    y: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    overwrite: bool = False,
    held_out: tuple[Panel, Any] | None = None,
    seed: int = 0,
    examples: int = 4,
    style: Style = "plain",
) -> Path:
    """Write the report of a tree, or of a fitted classifier, as one HTML file that works offline; returns its path.

    The other arguments are those of `report_html`. A file that exists is only replaced with `overwrite=True`; the path
    is checked before the work starts, and the file is written whole or not at all.
    """
    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        where = "it is a directory" if target.is_dir() else f"there is no directory {str(target.parent)!r}"
        raise SettingsError(f"the report cannot be written to {str(target)!r}: {where}")
    if would_replace(target) and not overwrite:
        raise SettingsError(f"{str(target)!r} exists; give overwrite=True to replace it, or another path")
    html = report_html(
        tree_or_classifier, panel, y, title=title, held_out=held_out, seed=seed, examples=examples, style=style
    )
    write_whole(target, html.encode())
    return target


def report_html(
    tree_or_classifier: Any,
    panel: Panel,
    y: Any = None,
    *,
    title: str | None = None,
    held_out: tuple[Panel, Any] | None = None,
    seed: int = 0,
    examples: int = 4,
    style: Style = "plain",
) -> str:
    """Return the report as the text of one HTML page. The same arguments give the same text.

    panel, y: the records to show and their labels, usually those the tree was learned from; without labels (None) the
    page cannot say how well the tree does. Margins are measured in the standard deviations of training that a
    classifier keeps, or else in those of these records.
    title: a heading; by default it says how many categories there are.
    held_out: a panel and labels that were kept back, to tell how well the tree does on records it has not seen.
    seed: which records are drawn where there are too many to show all.
    examples: how many typical, borderline and wrongly classified members of each category to show.
    style: of the English that the page shows first, that of `telltree.explain.english`; its reader can change it.
    """
    check_style(style)
    require_whole("examples", examples, 1)
    require_whole("seed", seed, 0)
    subject = subject_of(tree_or_classifier, panel, y)
    facts = facts_of(subject, held_out)
    heading = words(title) if title is not None else _heading(subject)
    data = _data(subject, heading, seed, examples)
    styles = _joined(STYLES)
    script = f"\n(() => {{\n'use strict';{_joined(SCRIPTS)}}})();\n"
    return _environment().get_template("page.html").render(
        title=heading,
        facts=facts,
        data=data,
        block=data_block(data),
        say=style,
        style=styles,
        script=script,
        policy=policy(styles, script),
    )  # fmt: skip


def _heading(subject: Subject) -> str:
    there, here = len(subject.categories), len(subject.panel)
    return f"{counted(there, 'category', 'categories')} of {counted(here, 'record')}"


def _data(subject: Subject, title: str, seed: int, examples: int) -> dict[str, Any]:
    """All data that the script draws."""
    members = all_members(subject, most=examples, seed=seed)
    gallery = Gallery(subject)
    mentioned = [columns_of(category) for category in subject.categories]
    nodes, everyone = tree_view(subject), listing(subject, seed)
    chosen = chosen_records(subject, members, seed)
    records = records_view(subject, gallery, chosen, mentioned, room=_room(subject, [nodes, everyone]))
    shown = {record["at"] for record in records}
    entries = cards(subject, gallery, members, shown)
    return {
        "title": title,
        **_target(subject),
        "labelled": subject.labels is not None,
        "time_unit": words(subject.panel.time_unit or ""),
        "daily": subject.panel.daily,
        **_scale(subject.panel.time_unit),
        "total": len(subject.panel),
        "nodes": nodes,
        "categories": entries,
        "columns": gallery.columns(),
        "records": records,
        "list": everyone,
    }


def _target(subject: Subject) -> dict[str, Any]:
    """What the tree tells: what its parts are called, and the labels, and in which parts they are, if they differ."""
    target, labels = subject.target, subject.labels
    names, parts = (None, None) if labels is None else (labels.named()[0], labels.parts_of_named())
    return {
        "words": target.words._asdict(),
        "parts": [words(name) for name in target.parts],
        "labels": None if names is None or parts is None else [words(name) for name in names],
        "label_parts": None if parts is None else parts.tolist(),
    }


def _scale(unit: str | None) -> dict[str, Any]:
    """The other units in which times may be told, as in `clock`."""
    units = larger_units(unit)
    return {"units": [list(pair) for pair in units], "longest": longest(unit) if units else 0, "fitting": FITTING}


def _room(subject: Subject, others: list[Any]) -> int:
    """How many bytes are left for records, given the rest of the page; cards and the overview contain sentences."""
    told = ((c.english, c.short, c.headline or "", c.description, sentence(c.branches, subject.schema, style="paper"))
            for c in subject.categories)  # fmt: skip
    said = sum(len(words("".join(texts)).encode()) for texts in told)
    return min(MOST_BYTES, MOST_PAGE - FIXED - 3 * said - len(data_block(others).encode()))


def data_block(data: Any) -> str:
    """JSON that cannot end its script element, whatever text it holds."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, escaped in _ESCAPED.items():
        text = text.replace(character, escaped)
    return text


def policy(style: str, script: str) -> str:
    """The content security policy: this style and this script, by their hashes, and nothing else."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _joined(names: tuple[str, ...]) -> str:
    return "\n" + "\n".join(_template(name).strip() for name in names) + "\n"


def _template(name: str) -> str:
    return (files("telltree.report") / "templates" / name).read_text("utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(_template),
    )
    environment.filters |= {
        "percent": percent, "counted": counted, "short": lambda name: clip(words(name), 70), "words": words,
    }  # fmt: skip
    return environment
