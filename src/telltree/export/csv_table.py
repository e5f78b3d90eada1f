"""The table of rules as CSV."""

import csv
import io

from telltree.export.json_rules import rule_rows
from telltree.export.subject import Subject

HEAD = ("category", "label", "probability", "low", "high", "support", "formula", "english")


def csv_table(subject: Subject) -> str:
    """A head and one line a category, as RFC 4180 has it."""
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(HEAD)
    for row in rule_rows(subject):
        shares = (row.probability, row.low, row.high)
        writer.writerow((row.cluster, row.label, *shares, row.support, row.formula, row.english))
    return file.getvalue()
