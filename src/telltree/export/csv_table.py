"""The table of rules as CSV."""

import csv
import io

from telltree.export.exported import Exported
from telltree.export.json_rules import rule_rows
from telltree.spreadsheet import harmless

HEAD = (
    "category", "label", "share", "low", "high", "support", "lift", "weighted share", "decided by weights", "formula",
    "english", "short", "headline",
)  # fmt: skip


def csv_table(exported: Exported) -> str:
    """A header and one line per category, as in RFC 4180; no cell is a spreadsheet formula."""
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(HEAD)
    for row in rule_rows(exported):
        shares = (row.share, row.low, row.high, row.support, row.lift, row.weighted)
        decided = str(row.decided_by_weights).lower()
        cells = (row.cluster, row.label, *shares, decided, row.formula, row.english, row.short, row.headline)
        writer.writerow(map(harmless, cells))
    return file.getvalue()
