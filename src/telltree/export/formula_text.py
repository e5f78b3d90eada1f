"""Formulas, as telltree itself reads them."""

import json

from telltree.export.exported import Exported
from telltree.operators.expression import conjunction
from telltree.visible import visible_json


def formula_text(exported: Exported) -> str:
    """One formula per category, each after a comment with its number and label."""
    blocks = []
    for chosen in exported.categories:
        label = visible_json(json.dumps(chosen.label, ensure_ascii=False, default=str))
        blocks.append(f"# category {chosen.number}: {label}\n{conjunction(chosen.formulas)}\n")
    return "\n".join(blocks)
