"""Models in other languages: formulas, pictures, tables, temporal logic, Python and SQL."""

from telltree.export.targets import TARGETS, export_model

__all__ = ["TARGETS", "export_model"]
