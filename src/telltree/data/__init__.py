"""What was observed: panels of records, and the schema that says what their columns are."""

from telltree.data.labels import check_labels, labels_from_frame
from telltree.data.panel import Panel
from telltree.data.reading import Read, read
from telltree.data.scanning import scan
from telltree.data.schema import Column, ColumnType, Schema
from telltree.data.store import MISSING, UNSEEN
from telltree.data.usable import unusable

__all__ = [
    "MISSING",
    "UNSEEN",
    "Column",
    "ColumnType",
    "Panel",
    "Read",
    "Schema",
    "check_labels",
    "labels_from_frame",
    "read",
    "scan",
    "unusable",
]
