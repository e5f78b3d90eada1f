"""Columns not worth learning from: those that cannot distinguish records, and those that give the label away."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.errors import warn
from telltree.panel.panel import Panel
from telltree.panel.panel_data import varying
from telltree.panel.schema import Column, ColumnType, listed
from telltree.panel.statistics import Extent
from telltree.panel.store import Array, first_rows, is_missing
from telltree.text import clip, counted

# ---- Columns that cannot distinguish records: empty, constant, or with a category for nearly every record.


MOST_LEVELS = 64  # with more levels, a comparison with one level would concern very few records
FIRST = 1000  # records that are checked before all are: most columns change in them
EMPTY, CONSTANT, INFINITE = "empty (all missing)", "constant", "without a finite value"
NAMES = "categorical with"  # the beginning of reasons about categories
_BY_NAME = "name the column in a grammar of your own (--grammar)"
_REMEDIES = {
    EMPTY: f"see that its values are read; or {_BY_NAME}",
    CONSTANT: f"give records in which it differs; or {_BY_NAME}",
    INFINITE: f"see that its values are read; or {_BY_NAME}",
    NAMES: f'say in the schema which levels = [...] matter, or type = "real" if they are numbers; or {_BY_NAME}',
}


def unusable(panel: Panel) -> dict[str, str]:
    """Return the columns of this view that cannot distinguish records, each with the reason."""
    reasons = {name: _unusable_reason(panel, column) for name, column in panel.schema.items()}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def remedy(reason: str) -> str:
    """Return how to bring back a column that was left out for a reason."""
    return next((words for begin, words in _REMEDIES.items() if reason.startswith(begin)), _BY_NAME)


def remedies(left_out: Mapping[str, str]) -> list[str]:
    """Return one line for each way to bring back columns that were left out, given the reason for each column."""
    ways: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        ways.setdefault(remedy(reason), []).append(name)
    return [f"to bring back {listed(names)}: {way}" for way, names in ways.items()]


def may_be_missing(panel: Panel) -> frozenset[str]:
    """Return the columns of this view with missing or infinite values."""
    return frozenset(name for name in panel.schema if _has_missing_or_infinite(panel.statistics(name).extent))


def unchanging(panel: Panel) -> frozenset[str]:
    """Return the columns of this view that never change within a record, declared static or not."""
    return frozenset(
        name for name, column in panel.schema.items() if column.static or _is_constant_within_records(panel, name)
    )


def _is_constant_within_records(panel: Panel, name: str) -> bool:
    return all(_is_constant_in_part(part, name) for part in panel.parts())


def _is_constant_in_part(part: Panel, name: str) -> bool:
    values, lengths = part.stacked(name), part.lengths
    few = lengths[:FIRST]
    return _are_constant(values[: few.sum()], few) and (len(few) == len(lengths) or _are_constant(values, lengths))


def _are_constant(values: Array, lengths: Array) -> bool:
    return not varying(values, values[first_rows(lengths)], lengths).any()


def _has_missing_or_infinite(extent: Extent) -> bool:
    return bool(extent.missing or extent.below or extent.above)


def _unusable_reason(panel: Panel, column: Column) -> str | None:
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
    if len(panel) > 1 and len(present) >= len(panel) and _identifies_records(panel, column.name):
        return f"{NAMES} a different value in every record"
    return f"{NAMES} {len(present)} levels, more than {MOST_LEVELS}" if len(present) > MOST_LEVELS else None


def _identifies_records(panel: Panel, name: str) -> bool:
    """Return True if no record changes its value, and no two records share one."""
    firsts = np.concatenate([part.stacked(name)[first_rows(part.lengths)] for part in panel.parts()])
    return len(np.unique(firsts)) == len(panel) and _is_constant_within_records(panel, name)


# ---- Leaks: columns that seem to give the label away, such as ids, row numbers, copies of it, and its consequences.


FEWEST = 20  # records; among fewer, chance suggests leaks
SIDE = 5  # the fewest records on both sides of a comparison
NEARLY = 0.98  # the share of records that must agree
SHOWN = 5  # columns that a warning names
PER_LEVEL = 5  # the fewest records per level on average, if each level has one label
LEAK_REMEDY = (
    "if it is not known before the label, leave it out: by --drop, by drop= where records are read, or by columns"
)
Codes = NDArray[np.int64]


def leaks(panel: Panel, labels: Any, columns: Iterable[str] | None = None) -> dict[str, str]:
    """Return the columns that seem to give the labels away, each with the reason; not all leaks are found.

    `columns` are those to check, by default all.
    """
    classes, codes = np.unique(np.asarray(labels), return_inverse=True)
    names = list(panel.schema if columns is None else columns)
    if len(panel) < FEWEST or len(classes) < 2 or len(names) < 2:  # a single column is there to be learnt from
        return {}
    constant = unchanging(panel.select(names))
    found = {name: _leak_reason(panel, name, codes, classes.tolist(), constant=name in constant) for name in names}
    return {name: reason for name, reason in found.items() if reason is not None}


def warn_of_leaks(panel: Panel, labels: Any, columns: Iterable[str] | None = None) -> None:
    """Issue one DataWarning for all columns that `leaks` finds."""
    found = leaks(panel, labels, columns)
    if found:
        warn(leaks_text(found))


def leaks_text(found: Mapping[str, str]) -> str:
    """Return the findings of `leaks` as one sentence with the remedy."""
    shown = [f"{clip(name)!r} {reason}" for name, reason in list(found.items())[:SHOWN]]
    more = [f"and {counted(len(found) - SHOWN, 'more column')}"] if len(found) > SHOWN else []
    columns = "a column that seems" if len(found) == 1 else "columns that seem"
    return f"{columns} to give the label away: {'; '.join([*shown, *more])}; {LEAK_REMEDY}"


def _leak_reason(panel: Panel, name: str, codes: Codes, classes: list[Any], *, constant: bool) -> str | None:
    present = _has_values(panel, name)
    if (~present).any():
        return _by_presence(present, codes, classes)
    if not constant:
        return "counts the rows of the table" if _counts_rows(panel, name) else None
    firsts = _firsts(panel, name)
    values, which, sizes = np.unique(firsts, return_inverse=True, return_counts=True)
    if len(values) == len(panel):
        return _as_key(panel, name, values)
    if len(values) < 2:
        return None
    return _by_value(which, sizes, codes, len(classes), named=panel.schema[name].type is ColumnType.CATEGORICAL)


def _by_presence(present: NDArray[np.bool_], codes: Codes, classes: list[Any]) -> str | None:
    """Return why a column with values in some records only is a leak, as the time of an event can be."""
    for code, label in enumerate(classes):
        member = codes == code
        if min(member.sum(), (~member).sum()) < SIDE:
            continue
        for has, words in ((True, "has values in"), (False, "lacks values in")):
            if np.mean((present == has) == member) >= NEARLY:
                exactly = ((present == has) == member).all()
                whole, none = ("all records", "no") if exactly else ("nearly all records", "hardly any")
                return f"{words} {whole} labelled {listed([label])}, and in {none} others"
    return None


def _as_key(panel: Panel, name: str, values: Array) -> str | None:
    """Return why a column with a different value in every record seems to be an id; categories are left out anyway."""
    if panel.schema[name].type is not ColumnType.REAL or (values != np.floor(values)).any():
        return None
    ids = panel.ids
    own = ids.dtype.kind in "iuf" and bool((_firsts(panel, name) == ids).all())
    consecutive = values[-1] - values[0] == len(values) - 1
    return "numbers the records, as an id or a row number does" if own or consecutive else None


def _by_value(which: Codes, sizes: Codes, codes: Codes, classes: int, *, named: bool) -> str | None:
    """Return why a column with few values is a leak: a value for each label, or one label for each of many names."""
    table = np.zeros((len(sizes), classes), np.int64)
    np.add.at(table, (which, codes), 1)
    usual, share = table.argmax(axis=1), table.max(axis=1).sum() / table.sum()
    if len(sizes) == classes and len(set(usual.tolist())) == classes:
        few = min(sizes.min(), table.sum(axis=0).min()) < SIDE
        if not few and share >= NEARLY:
            return f"has one value for each label{'' if share == 1 else ', in nearly all records'}"
    many = named and len(sizes) > classes and table.sum() >= PER_LEVEL * len(sizes)
    return "has only values that each occur with one label alone" if many and share == 1 else None


def _counts_rows(panel: Panel, name: str) -> bool:
    """Return True if a column rises by 1 from row to row, also from one record to the next."""
    if panel.schema[name].type is not ColumnType.REAL:
        return False
    before: float | None = None
    for part in panel.parts():
        values = part.stacked(name)
        if (before is not None and values[0] != before + 1) or (values[1:] != values[:-1] + 1).any():
            return False
        before = float(values[-1])
    return True


def _has_values(panel: Panel, name: str) -> NDArray[np.bool_]:
    """Return for each record True if it has a value of a column."""
    return _by_record(panel, name, lambda values, starts: np.logical_or.reduceat(~is_missing(values), starts))


def _firsts(panel: Panel, name: str) -> Array:
    """Return the first value of each record."""
    return _by_record(panel, name, lambda values, starts: values[starts])


def _by_record(panel: Panel, name: str, take: Callable[[Array, Codes], Array]) -> Array:
    return np.concatenate([take(part.stacked(name), first_rows(part.lengths)) for part in panel.parts()])
