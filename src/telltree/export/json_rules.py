"""The list of rules as JSON."""

import json

from telltree.explain import RuleRow, rules_table
from telltree.export.exported import Exported
from telltree.visible import visible_json


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
