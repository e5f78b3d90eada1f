"""Which columns can tell records apart."""

from collections.abc import Mapping

import numpy as np

from telltree.panel.panel import Panel
from telltree.panel.schema import Column, ColumnType, listed
from telltree.panel.statistics import Extent
from telltree.panel.store import Array, is_missing

MOST_LEVELS = 64  # with more levels than this, a question about one level would concern very few records
FIRST = 1000  # records that are looked at before all are: most columns change in them
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


def may_be_missing(panel: Panel) -> frozenset[str]:
    """Give the columns of this view in which a value is missing or infinite: comparisons say less of these."""
    return frozenset(name for name in panel.schema if _in_doubt(panel.statistics(name).extent))


def unchanging(panel: Panel) -> frozenset[str]:
    """Give the columns of this view that have one value in each record all along, declared static or not."""
    return frozenset(name for name, column in panel.schema.items() if column.static or _is_still(panel, name))


def _is_still(panel: Panel, name: str) -> bool:
    return all(_is_still_in(part, name) for part in panel.parts())


def _is_still_in(part: Panel, name: str) -> bool:
    values, lengths = part.stacked(name), part.lengths
    few = lengths[:FIRST]
    return _are_still(values[: few.sum()], few) and (len(few) == len(lengths) or _are_still(values, lengths))


def _are_still(values: Array, lengths: Array) -> bool:
    """Whether each of these records, one after the other, has one value."""
    firsts = np.repeat(values[_starts(lengths)], lengths)
    return bool(((values == firsts) | (is_missing(values) & is_missing(firsts))).all())


def _starts(lengths: Array) -> Array:
    starts: Array = np.cumsum(lengths) - lengths
    return starts


def _in_doubt(extent: Extent) -> bool:
    return bool(extent.missing or extent.below or extent.above)


def _reason(panel: Panel, column: Column) -> str | None:
    values = panel.statistics(column.name)
    extent = values.extent
    if not (extent.finite or extent.below or extent.above):
        return EMPTY
    if extent.same:
        return CONSTANT
    if not extent.finite:
        return INFINITE
    if column.type is not ColumnType.CATEGORICAL:
        return None
    present = values.codes()
    if len(panel) > 1 and len(present) >= len(panel) and _one_each(panel, column.name):
        return f"{NAMES} a different value in every record"
    return f"{NAMES} {len(present)} levels, more than {MOST_LEVELS}" if len(present) > MOST_LEVELS else None


def _one_each(panel: Panel, name: str) -> bool:
    """Tell whether every record has one value all along, and no two records the same."""
    firsts = np.concatenate([part.stacked(name)[_starts(part.lengths)] for part in panel.parts()])
    return len(np.unique(firsts)) == len(panel) and _is_still(panel, name)
