"""Long tables that were handed in as plain ones: refused, since their rows are steps and no records."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.amounts import counted
from telltree.data import ColumnType, Panel
from telltree.errors import DataError

_FEWEST = 3  # records that are told apart by chance too easily if there are fewer
_PAIRS = 10  # of successive rows, all in order of time: by chance, one table in a thousand
_TIMES = {"time", "t", "date", "datetime", "timestamp", "step", "second", "seconds", "minute", "hour", "day", "frame"}


def refuse_long(X: Any, panel: Panel, labels: NDArray[Any]) -> None:
    """Raise a DataError if the rows of a plain table, which are the records of `panel`, look like steps of records.

    That is so if a column has the same value in several rows, all with one label, and another rises in these from row
    to row, and begins anew where the first one changes, or is called a time.
    """
    codes = np.unique(labels, return_inverse=True)[1]
    for name, key in _keys(X, panel):
        order = np.argsort(key, kind="stable")
        fresh = np.concatenate(([True], key[order][1:] != key[order][:-1]))
        records = int(fresh.sum())
        few = records < max(_FEWEST, int(codes.max(initial=0)) + 2) or len(panel) - records < max(_PAIRS, records)
        if few or (codes[order][1:] != codes[order][:-1])[~fresh[1:]].any():
            continue
        if name is None:
            raise _error("the first level of its index", "the two levels of its index are id and time", records, panel)
        time = next((other for other in panel.schema if other != name and _is_time(panel, other, order, fresh)), None)
        if time is not None:
            remedy = f"Panel.from_frame(table, id={name!r}, time={time!r})"
            raise _error(f"column {name!r}", f"{time!r} rises from row to row of each: {remedy}", records, panel)


def _error(key: str, evidence: str, records: int, panel: Panel) -> DataError:
    return DataError(
        f"this looks like a long table, with one row a step: {key} tells {counted(records, 'record')} apart in "
        f"{counted(len(panel), 'row')}, the rows of each have one label, and {evidence}. Make a panel of it, with one "
        "label for each record; or hand in Panel.from_table(table) if each row is a record by itself"
    )


def _keys(X: Any, panel: Panel) -> Iterator[tuple[str | None, NDArray[Any]]]:
    """What may tell records apart: names or whole numbers, without gaps, and the first level of a two-level index."""
    index: Any = getattr(X, "index", None)
    if getattr(index, "nlevels", 1) == 2:
        yield None, np.asarray(index.codes[0])
    for name, column in panel.schema.items():
        values = panel.stacked(name)
        if column.type is ColumnType.REAL:
            if (values[:100] == np.floor(values[:100])).all() and (values == np.floor(values)).all():
                yield name, values
        elif column.type is ColumnType.CATEGORICAL and (values >= 0).all():
            yield name, values


def _is_time(panel: Panel, name: str, order: NDArray[np.int64], fresh: NDArray[np.bool_]) -> bool:
    """Whether a column rises within all records, and falls back between most of them, or is called a time."""
    if panel.schema[name].type is not ColumnType.REAL:
        return False
    values = panel.stacked(name)[order]
    rises = values[1:] > values[:-1]  # false where one is missing
    between = fresh[1:]
    return bool(rises[~between].all() and (name.lower() in _TIMES or rises[between].mean() <= 0.5))
