"""Panels of records, their schemas, and readers for files, dataframes and arrays."""

from telltree.panel.column_checks import unusable
from telltree.panel.labels import check_labels, labels_from_frame
from telltree.panel.panel import Panel
from telltree.panel.read import Read, read
from telltree.panel.scan import scan
from telltree.panel.schema import Column, ColumnType, Schema
from telltree.panel.store import MISSING, UNSEEN

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
