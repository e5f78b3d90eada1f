"""Which columns can tell records apart."""

import numpy as np

from telltree.data.panel import Panel
from telltree.data.schema import Column, ColumnType
from telltree.data.store import Array, is_missing

MOST_LEVELS = 64  # a question about one level of more than these would speak of very few records


def unusable(panel: Panel) -> dict[str, str]:
    """Give the columns of this view that no useful question can be asked about, each with the reason."""
    reasons = {name: _reason(panel, column) for name, column in panel.schema.items()}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def doubtful(panel: Panel) -> frozenset[str]:
    """Give the columns of this view in which a value is missing or infinite: comparisons say less of these."""
    return frozenset(name for name, column in panel.schema.items() if _in_doubt(panel.stacked(name), column.type))


def unchanging(panel: Panel) -> frozenset[str]:
    """Give the columns of this view that have one value in each record all along, declared static or not."""
    starts = np.cumsum(panel.lengths) - panel.lengths
    return frozenset(name for name, column in panel.schema.items() if column.static or _still(panel, name, starts))


def _still(panel: Panel, name: str, starts: Array) -> bool:
    values = panel.stacked(name)
    firsts = np.repeat(values[starts], panel.lengths)
    return bool(((values == firsts) | (is_missing(values) & is_missing(firsts))).all())


def _in_doubt(values: Array, kind: ColumnType) -> bool:
    if kind is ColumnType.REAL:
        return not bool(np.isfinite(values).all())
    return bool(is_missing(values).any())


def _reason(panel: Panel, column: Column) -> str | None:
    values = panel.stacked(column.name)
    absent = is_missing(values)
    if absent.all():
        return "empty (all missing)"
    first = values[np.argmin(absent)]
    if not absent.any() and (values == first).all():
        return "constant"
    if column.type is not ColumnType.CATEGORICAL:
        return None
    present = np.unique(values[~absent])
    if len(panel) > 1 and len(present) >= len(panel) and _one_each(panel, column.name):
        return "categorical with a different value in every record"
    return f"categorical with {len(present)} levels, more than {MOST_LEVELS}" if len(present) > MOST_LEVELS else None


def _one_each(panel: Panel, name: str) -> bool:
    """Tell whether every record has one value all along, and no two records the same."""
    values = panel.stacked(name)
    starts = np.cumsum(panel.lengths) - panel.lengths
    firsts = values[starts]
    return len(np.unique(firsts)) == len(panel) and bool((values == np.repeat(firsts, panel.lengths)).all())
