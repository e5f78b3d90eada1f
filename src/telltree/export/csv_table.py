"""The table of rules as CSV."""

import csv
import io
from typing import Any

from telltree.explain import RuleRow
from telltree.export.exported import Exported
from telltree.export.json_rules import rule_rows
from telltree.spreadsheet import harmless


def csv_table(exported: Exported) -> str:
    """A header and one line per category, as in RFC 4180; no cell is a spreadsheet formula."""
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    rows = [_cells(row) for row in rule_rows(exported)]
    writer.writerow(rows[0])
    for cells in rows:
        writer.writerow(map(harmless, cells.values()))
    return file.getvalue()


def _cells(row: RuleRow) -> dict[str, Any]:
    """A line, by the names of its columns; lists have no place in it."""
    told = {name: value for name, value in row.sureness.exported().items() if not isinstance(value, list)}
    sure = {name: str(value).lower() if isinstance(value, bool) else value for name, value in told.items()}
    said = {"formula": row.formula, "english": row.english, "short": row.short, "headline": row.headline}
    return {"category": row.cluster, "label": row.label, **sure, **said, "title": row.title, "occurs": row.occurs}
