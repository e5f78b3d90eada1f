"""The labels of the records."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from telltree.amounts import counted
from telltree.data.columns.encode import object_array
from telltree.data.columns.naming import is_nothing
from telltree.data.panel import Panel
from telltree.data.records.frames import open_frame
from telltree.data.records.grouping import by_id, plain_number
from telltree.data.records.rows import labels_of
from telltree.data.schema import listed, require_known, require_sayable
from telltree.data.store import Array
from telltree.data.warn import warn
from telltree.errors import DataError

_FEW = 4  # classes of which nobody asks how many records they have


def labels_from_frame(
    frame: Any,
    *,
    id: str,  # noqa: A002 - as in Panel.from_frame
    label: str,
) -> tuple[Array, Array]:
    """Read one label per record from a long table; returns ids and labels, in the record order of `Panel.from_frame`.

    A label that varies inside a record, or is missing, is a DataError that names the first such records.
    """
    opened = open_frame(frame, index=(id, label))
    require_known(str(id), opened.columns, "id column")
    require_known(str(label), opened.columns, "label column")
    grouping = by_id(opened[str(id)], str(id), None)
    return grouping.ids, labels_of(opened[str(label)], str(label), grouping)


def without_unlabelled(panel: Panel, y: Any) -> tuple[Panel, Array]:
    """Leave out the records without a label, and warn of how many they are; a DataError if none has one."""
    labels = y if isinstance(y, np.ndarray) else object_array(y)
    if len(labels) != len(panel):
        raise DataError(f"got {counted(len(labels), 'label')} for {counted(len(panel), 'record')}")
    absent = np.fromiter(map(is_nothing, labels.tolist()), np.bool_, len(labels))
    if not absent.any():
        return panel, labels
    if absent.all():
        raise DataError(f"none of {counted(len(panel), 'record')} has a label")
    gone = panel.ids[absent].tolist()
    warn(f"{len(gone):,} of {counted(len(panel), 'record')} without a label left out: {listed(gone)}")
    kept = np.flatnonzero(~absent)
    return panel[kept], labels[kept]


def check_labels(y: Any, panel: Panel) -> Array:
    """Return the labels as a 1-D array, one per record; a DataError if they cannot be class labels."""
    labels = np.asarray(y)
    if labels.dtype.kind in "USf" and not isinstance(y, np.ndarray):
        labels = np.asarray(y, dtype=object)  # unchanged: NumPy makes text of 1 and "a", and floats of 2**63 and -1
    if labels.ndim != 1:
        raise DataError(f"labels must be one-dimensional, one per record; got shape {labels.shape}")
    if len(labels) != len(panel):
        raise DataError(f"got {counted(len(labels), 'label')} for {counted(len(panel), 'record')}")
    ids = panel.ids
    if labels.dtype.kind == "O" and {type(label) for label in labels} != {str}:
        labels = _checked_objects(labels, ids)
        plain = np.array(labels.tolist())
        labels = plain if plain.dtype.kind in "biuf" and plain.tolist() == labels.tolist() else labels
    if labels.dtype.kind == "f":
        _check_floats(labels, ids)
    elif labels.dtype.kind not in "biuUO":
        raise DataError(f"labels must be text, whole numbers or Booleans; got {labels.dtype}")
    if labels.dtype.kind in "UO":
        for label in set(labels.tolist()):
            require_sayable(str(label), "the label")
    return labels


def told_singles(records: Iterable[int]) -> str | None:
    """What is wrong if most classes, which have so many records each, have a single one, of which nothing is learnt."""
    counts = list(records)
    classes, single = len(counts), counts.count(1)
    if classes < _FEW or 2 * single <= classes:
        return None
    of = "each has" if single == classes else f"{single:,} of them have"
    return (
        f"there are {classes:,} classes for {counted(sum(counts), 'record')}, and {of} a single record: nothing "
        "can be learnt of such a class; is the label an id, or a number to be cut into ranges?"
    )


def _checked_objects(labels: Array, ids: Array) -> Array:
    absent = np.fromiter(map(is_nothing, labels), np.bool_, len(labels))
    _require_present(absent, ids)
    labels = object_array(map(_plain, labels))
    for place, label in enumerate(labels):
        if not isinstance(label, str | bool | int | float):
            raise DataError(
                f"labels must be text, whole numbers or Booleans; got {type(label).__name__}, such as {label!r:.60} "
                f"(record {ids[place : place + 1].tolist()[0]!r:.60}); turn them into text"
            )
    try:
        sorted(set(labels.tolist()))
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels})
        raise DataError(f"labels have types that cannot be told apart in order: {listed(kinds)}; use one") from None
    return labels


def _plain(label: Any) -> Any:
    """A label in a form that model files can hold, if that loses nothing: NumPy's scalars, decimals and fractions."""
    return label.item() if isinstance(label, np.generic) else plain_number(label)


def _check_floats(labels: Array, ids: Array) -> None:
    _require_present(np.isnan(labels), ids)
    odd = ~np.isfinite(labels) | (labels != np.round(labels))
    if odd.any():
        examples = listed(labels[odd].tolist(), 3)
        where = listed(ids[odd].tolist(), 3)
        raise DataError(
            f"labels must be classes, but {int(odd.sum())} are continuous numbers: {examples} (records {where}); "
            "cut them into classes first"
        )


def _require_present(absent: Array, ids: Array) -> None:
    if absent.any():
        where = ids[absent].tolist()
        raise DataError(f"{len(where):,} of {counted(len(ids), 'label')} missing, for {listed(where)}; leave them out")
