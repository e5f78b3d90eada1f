"""Formulas, as telltree itself reads them."""

import json

from telltree.export.exported import Exported
from telltree.operators.expression import conjunction


def formula_text(exported: Exported) -> str:
    """One formula per category, each after a comment with its number and label."""
    blocks = []
    for chosen in exported.categories:
        label = json.dumps(chosen.label, ensure_ascii=False, default=str)
        blocks.append(f"# category {chosen.number}: {label}\n{conjunction(chosen.formulas)}\n")
    return "\n".join(blocks)
