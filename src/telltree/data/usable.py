"""Which columns can tell records apart."""

from collections.abc import Mapping

import numpy as np

from telltree.data.panel import Panel
from telltree.data.schema import Column, ColumnType, listed
from telltree.data.store import Array, is_missing

MOST_LEVELS = 64  # with more levels than this, a question about one level would concern very few records
EMPTY, CONSTANT, INFINITE = "empty (all missing)", "constant", "without a finite value"
NAMES = "categorical with"  # how reasons about categories begin
_BY_NAME = "name the column in a grammar of your own (--grammar)"
_REMEDIES = {
    EMPTY: f"see that its values are read; or {_BY_NAME}",
    CONSTANT: f"give records in which it differs; or {_BY_NAME}",
    INFINITE: f"see that its values are read; or {_BY_NAME}",
    NAMES: f'say in the schema which levels = [...] matter, or type = "real" if they are numbers; or {_BY_NAME}',
}


def unusable(panel: Panel) -> dict[str, str]:
    """Return the columns of this view that no useful question can be asked about, each with the reason."""
    reasons = {name: _reason(panel, column) for name, column in panel.schema.items()}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def remedy(reason: str) -> str:
    """How to bring back a column that was left out for this reason."""
    return next((words for begin, words in _REMEDIES.items() if reason.startswith(begin)), _BY_NAME)


def remedies(left_out: Mapping[str, str]) -> list[str]:
    """How to bring back columns that were left out, one line for each remedy, given the reason for each column."""
    ways: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        ways.setdefault(remedy(reason), []).append(name)
    return [f"to bring back {listed(names)}: {way}" for way, names in ways.items()]


def doubtful(panel: Panel) -> frozenset[str]:
    """Return the columns of this view with missing or infinite values: comparisons say less about these."""
    return frozenset(name for name, column in panel.schema.items() if _in_doubt(panel.stacked(name), column.type))


def unchanging(panel: Panel) -> frozenset[str]:
    """Return the columns of this view that are constant within each record, declared static or not."""
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
        return EMPTY
    first = values[np.argmin(absent)]
    if not absent.any() and (values == first).all():
        return CONSTANT
    if column.type is ColumnType.REAL and not np.isfinite(values).any():
        return INFINITE
    if column.type is not ColumnType.CATEGORICAL:
        return None
    present = np.unique(values[~absent])
    if len(panel) > 1 and len(present) >= len(panel) and _one_each(panel, column.name):
        return f"{NAMES} a different value in every record"
    return f"{NAMES} {len(present)} levels, more than {MOST_LEVELS}" if len(present) > MOST_LEVELS else None


def _one_each(panel: Panel, name: str) -> bool:
    """Whether every record has a single value, and no two records have the same."""
    values = panel.stacked(name)
    starts = np.cumsum(panel.lengths) - panel.lengths
    firsts = values[starts]
    return len(np.unique(firsts)) == len(panel) and bool((values == np.repeat(firsts, panel.lengths)).all())
