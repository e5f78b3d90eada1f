"""The assembled page: data in one block, style and script allowed by their hashes, nothing loaded from elsewhere."""

import base64
import hashlib
import json
import os
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from telltree.checks import require_whole
from telltree.english.styles import Style, check_style
from telltree.errors import SettingsError
from telltree.explain.sentence import sentence
from telltree.files import would_replace, write_whole
from telltree.panel import Panel
from telltree.panel.dates import FITTING, larger_units, longest
from telltree.report.cards import cards
from telltree.report.examples import all_members, columns_of
from telltree.report.overview import facts_of
from telltree.report.records import MOST_BYTES, Gallery, chosen_records, listing, records_view
from telltree.report.subject import Subject, subject_of, words
from telltree.report.tree_view import tree_view
from telltree.text import clip, counted, percent

STYLES = ("base.css", "controls.css", "overview.css", "tree.css", "categories.css", "record.css", "print.css")
SCRIPTS = (
    "dom.js", "speech.js", "clock.js", "look.js", "traces.js", "tree.js", "details.js", "thumbnails.js",
    "categories.js", "compare.js", "chart.js", "record.js", "export.js", "start.js",
)  # fmt: skip
MOST_PAGE = 1_950_000  # bytes, where names do not fill it by themselves
FIXED = 200_000  # bytes: style, script, and the overview without its sentences
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
    """Write the report of a tree, or of a fitted classifier, as one HTML file that works offline; return its path.

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
        page has no scores. Margins are measured in the standard deviations of training that a classifier keeps, or else
        in those of these records.
    title: a heading; by default the number of categories.
    held_out: a panel and labels that were kept back, for scores on records that the tree has not seen.
    seed: selects the records that are drawn where there are too many to show all.
    examples: how many typical, borderline and wrongly classified members of each category to show.
    style: that of the English shown first, see `telltree.explain.english`; readers can change it.
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
    """Return all data that the script draws."""
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
    """Return the names of the target's parts, and the labels with their parts if these differ."""
    target, labels = subject.target, subject.labels
    names, parts = (None, None) if labels is None else (labels.named()[0], labels.parts_of_named())
    return {
        "words": target.words._asdict(),
        "parts": [words(name) for name in target.parts],
        "labels": None if names is None or parts is None else [words(name) for name in names],
        "label_parts": None if parts is None else parts.tolist(),
    }


def _scale(unit: str | None) -> dict[str, Any]:
    """Return the units in which times may be shown."""
    units = larger_units(unit)
    return {"units": [list(pair) for pair in units], "longest": longest(unit) if units else 0, "fitting": FITTING}


def _room(subject: Subject, others: list[Any]) -> int:
    """Return the bytes left for records, given the rest of the page; cards and the overview contain sentences."""
    size = 0
    for c in subject.categories:
        paper = sentence(c.branches, subject.schema, style="paper")
        size += len(words("".join((c.english, c.short, c.headline or "", c.description, paper))).encode())
    return min(MOST_BYTES, MOST_PAGE - FIXED - 3 * size - len(data_block(others).encode()))


def data_block(data: Any) -> str:
    """Return JSON that cannot end its script element, whatever text it holds."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, escaped in _ESCAPED.items():
        text = text.replace(character, escaped)
    return text


def policy(style: str, script: str) -> str:
    """Return the content security policy: this style and this script, by their hashes, and nothing else."""
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
