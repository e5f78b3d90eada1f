"""The table of rules as JSON, CSV and Markdown."""

import csv
import io
import json
import re
from collections.abc import Sequence
from typing import Any

from telltree.explain import RuleRow, rules_table
from telltree.explain.category_text import grouped
from telltree.explain.occurrence import training_occurrences
from telltree.explain.rules import NOTHING, cells
from telltree.explain.sentence import claims_of, sentence
from telltree.logic import Expression
from telltree.logic.expression import conjunction
from telltree.models.exported import Chosen, Exported
from telltree.text import counted, harmless, visible, visible_json
from telltree.tree.tree import Branch

# ---- The list of rules as JSON.


def rule_rows(exported: Exported) -> list[RuleRow]:
    """The rows of the categories to export."""
    rows = rules_table(exported.tree, missing=exported.missing, style=exported.style)
    return [row for row in rows if exported.category in (None, row.cluster)]


def json_rules(exported: Exported) -> str:
    """An array with one object per category."""
    rules = [
        {
            "category": row.cluster,
            "label": row.label,
            "formula": row.formula,
            "english": row.english,
            "short": row.short,
            "headline": row.headline,
            **row.sureness.exported(),
            "title": row.title,
            "occurs": row.occurs,
        }
        for row in rule_rows(exported)
    ]
    return visible_json(json.dumps(rules, indent=1, ensure_ascii=False, allow_nan=False, default=str)) + "\n"


# ---- The table of rules as CSV.


def csv_table(exported: Exported) -> str:
    """A header and one line per category, as in RFC 4180; no cell is a spreadsheet formula."""
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    rows = [_cells(row) for row in rule_rows(exported)]
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow(map(harmless, row.values()))
    return file.getvalue()


def _cells(row: RuleRow) -> dict[str, Any]:
    """A line, by the names of its columns; lists have no place in it."""
    told = {name: value for name, value in row.sureness.exported().items() if not isinstance(value, list)}
    sure = {name: str(value).lower() if isinstance(value, bool) else value for name, value in told.items()}
    said = {"formula": row.formula, "english": row.english, "short": row.short, "headline": row.headline}
    return {"category": row.cluster, "label": row.label, **sure, **said, "title": row.title, "occurs": row.occurs}


# ---- The table of rules as Markdown.

_SPECIAL = re.compile(r"\s+|[\\`*_{}]|[&<>|~$^]|\](?=[(\[])")


def markdown_table(exported: Exported) -> str:
    """A head and one line a category; above two siblings a line with what they share."""
    rows = {row.cluster: row for row in rule_rows(exported)}
    columns = cells(next(iter(rows.values())))[1:]  # the first is called otherwise here
    lines: list[tuple[str, ...]] = [
        ("category", *(cell.name for cell in columns), "English", "headline"),
        ("---:", *("---:" if cell.number else "---" for cell in columns), "---", "---"),
    ]
    for group in grouped(exported.categories):
        if len(group) == 2:
            yes, no = group
            lines.append(_shared(yes, no, exported, len(columns) - 2))
            apart = {
                one.number: _noted(_told(one.branches[-1:], exported), one.formulas[-1:], one, exported)
                for one in group
            }
            lines.append(_line(rows[yes.number], f"unlike {no.number}: {apart[yes.number]}"))
            lines.append(_line(rows[no.number], f"unlike {yes.number}: {apart[no.number]}"))
        else:
            lines.append(_line(rows[group[0].number], _alone(rows[group[0].number], group[0], exported)))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _line(row: RuleRow, english: str) -> tuple[str, ...]:
    said = [cell.text for cell in cells(row)]
    return tuple(_plain(text) for text in (*said, english, row.headline or NOTHING))


def _alone(row: RuleRow, one: Chosen, exported: Exported) -> str:
    """What is true of a category: its short description, if it has one, or the whole sentence."""
    if one.leaf.short is None or row.short == row.english or exported.category is not None:
        return _noted(row.english, one.formulas, one, exported)
    short = _noted(row.short, [one.leaf.short.expression], one, exported)
    return f"on the {counted(exported.tree.records, 'training record')}: {short}"


def _shared(yes: Chosen, no: Chosen, exported: Exported, empty: int) -> tuple[str, ...]:
    """What two siblings share; so many cells between their numbers and the formula are empty."""
    above = yes.branches[:-1]
    told = _plain(conjunction(claims_of(above))), _plain(_told(above, exported))
    return (f"{yes.number} and {no.number}", "both", *[""] * empty, *told, "")


def _noted(said: str, claims: Sequence[Expression], one: Chosen, exported: Exported) -> str:
    """A sentence that says some claims, with how often its conditions occur where that is not in every record."""
    occurrence = training_occurrences(exported.tree)(claims, one.number) if exported.style == "plain" else None
    return said if occurrence is None else said + occurrence.note()


def _told(branches: Sequence[Branch], exported: Exported) -> str:
    tree = exported.tree
    missing = tree.missing if exported.missing is None else exported.missing
    return sentence(branches, tree.schema, missing, style=exported.style, step=tree.step)


def _plain(text: str) -> str:
    """The text escaped so that Markdown shows it literally, in any dialect."""

    def shown(found: re.Match[str]) -> str:
        if found[0].isspace():
            return " "
        return "\\" + found[0] if found[0] in "\\`*_{}" else f"&#{ord(found[0])};"

    return _SPECIAL.sub(shown, visible(re.sub(r"\s", " ", text)))
