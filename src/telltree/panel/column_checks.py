"""Columns not worth learning from: those that cannot tell records apart, and those that give the label away."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.errors import warn
from telltree.panel.panel import Panel
from telltree.panel.schema import Column, ColumnType, listed
from telltree.panel.statistics import Extent
from telltree.panel.store import Array, is_missing
from telltree.text import clip, counted

# ---- Which columns can tell records apart.


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


# ---- Leaks: columns that seem to give the label away, such as ids, row numbers, copies of it, and its consequences.


FEWEST = 20  # records without which much goes together by chance
SIDE = 5  # records that both sides of a comparison must have
NEARLY = 0.98  # the share of records in which it must be so
SHOWN = 5  # columns that are named
A_LEVEL = 5  # records that a level must have on average, if all records of a level have one label
LEAK_REMEDY = (
    "if it is not known before the label, leave it out: by --drop, by drop= where records are read, or by columns"
)
Codes = NDArray[np.int64]


def leaks(panel: Panel, labels: Any, columns: Iterable[str] | None = None) -> dict[str, str]:
    """The columns of a panel that seem to give the labels away, each with the reason; few false alarms, not all leaks.

    `columns` are those to look at, by default all.
    """
    classes, codes = np.unique(np.asarray(labels), return_inverse=True)
    names = list(panel.schema if columns is None else columns)
    if len(panel) < FEWEST or len(classes) < 2 or len(names) < 2:  # who has one column wants to learn from it
        return {}
    still = unchanging(panel.select(names))
    found = {name: _leak(panel, name, codes, classes.tolist(), still=name in still) for name in names}
    return {name: reason for name, reason in found.items() if reason is not None}


def warn_of_leaks(panel: Panel, labels: Any, columns: Iterable[str] | None = None) -> None:
    """Issue one DataWarning for all columns that `leaks` finds."""
    found = leaks(panel, labels, columns)
    if found:
        warn(told_leaks(found))


def told_leaks(found: Mapping[str, str]) -> str:
    """What `leaks` found, in one sentence with the remedy."""
    shown = [f"{clip(name)!r} {reason}" for name, reason in list(found.items())[:SHOWN]]
    more = [f"and {counted(len(found) - SHOWN, 'more column')}"] if len(found) > SHOWN else []
    columns = "a column that seems" if len(found) == 1 else "columns that seem"
    return f"{columns} to give the label away: {'; '.join([*shown, *more])}; {LEAK_REMEDY}"


def _leak(panel: Panel, name: str, codes: Codes, classes: list[Any], *, still: bool) -> str | None:
    there = _there(panel, name)
    if (~there).any():
        return _by_presence(there, codes, classes)
    if not still:
        return "counts the rows of the table" if _counts_rows(panel, name) else None
    firsts = _firsts(panel, name)
    values, which, sizes = np.unique(firsts, return_inverse=True, return_counts=True)
    if len(values) == len(panel):
        return _as_key(panel, name, values)
    if len(values) < 2:
        return None
    return _by_value(which, sizes, codes, len(classes), named=panel.schema[name].type is ColumnType.CATEGORICAL)


def _by_presence(there: NDArray[np.bool_], codes: Codes, classes: list[Any]) -> str | None:
    """Why a column that has values in some records tells the label, as the time of an event tells that it happened."""
    for code, label in enumerate(classes):
        member = codes == code
        if min(member.sum(), (~member).sum()) < SIDE:
            continue
        for has, words in ((True, "has values in"), (False, "lacks values in")):
            if np.mean((there == has) == member) >= NEARLY:
                exactly = ((there == has) == member).all()
                whole, none = ("all records", "no") if exactly else ("nearly all records", "hardly any")
                return f"{words} {whole} labelled {listed([label])}, and in {none} others"
    return None


def _as_key(panel: Panel, name: str, values: Array) -> str | None:
    """Why a column with a different value in every record seems to be an id; names are left out anyway."""
    if panel.schema[name].type is not ColumnType.REAL or (values != np.floor(values)).any():
        return None
    ids = panel.ids
    own = ids.dtype.kind in "iuf" and bool((_firsts(panel, name) == ids).all())
    consecutive = values[-1] - values[0] == len(values) - 1
    return "numbers the records, as an id or a row number does" if own or consecutive else None


def _by_value(which: Codes, sizes: Codes, codes: Codes, classes: int, *, named: bool) -> str | None:
    """Why a column with few values tells the label: one value for each label, or a label for each of many names."""
    table = np.zeros((len(sizes), classes), np.int64)
    np.add.at(table, (which, codes), 1)
    usual, share = table.argmax(axis=1), table.max(axis=1).sum() / table.sum()
    if len(sizes) == classes and len(set(usual.tolist())) == classes:
        few = min(sizes.min(), table.sum(axis=0).min()) < SIDE
        if not few and share >= NEARLY:
            return f"has one value for each label{'' if share == 1 else ', in nearly all records'}"
    many = named and len(sizes) > classes and table.sum() >= A_LEVEL * len(sizes)
    return "has only values that each occur with one label alone" if many and share == 1 else None


def _counts_rows(panel: Panel, name: str) -> bool:
    """Whether a column rises by 1 from row to row, also from the last of a record to the first of the next."""
    if panel.schema[name].type is not ColumnType.REAL:
        return False
    before: float | None = None
    for part in panel.parts():
        values = part.stacked(name)
        if (before is not None and values[0] != before + 1) or (values[1:] != values[:-1] + 1).any():
            return False
        before = float(values[-1])
    return True


def _there(panel: Panel, name: str) -> NDArray[np.bool_]:
    """Whether each record has a value of a column."""
    return _by_record(panel, name, lambda values, starts: np.logical_or.reduceat(~is_missing(values), starts))


def _firsts(panel: Panel, name: str) -> Array:
    """The first value of each record."""
    return _by_record(panel, name, lambda values, starts: values[starts])


def _by_record(panel: Panel, name: str, take: Callable[[Array, Codes], Array]) -> Array:
    return np.concatenate([take(part.stacked(name), np.cumsum(part.lengths) - part.lengths) for part in panel.parts()])
