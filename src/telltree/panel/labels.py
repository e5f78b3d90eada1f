"""Labels: read from a table, matched with the records of a panel, and checked."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from telltree.errors import DataError, warn
from telltree.panel.csv import TextFormat
from telltree.panel.frames import is_frame, long_frame, open_frame
from telltree.panel.grouping import by_id, id_array, plain_number
from telltree.panel.input_files import File, is_path
from telltree.panel.input_options import Use
from telltree.panel.names_and_missing import is_nothing
from telltree.panel.panel import Panel
from telltree.panel.panel_data import LEAVE_OUT_UNLABELLED, labels_of
from telltree.panel.schema import listed, require_known, require_sayable
from telltree.panel.store import Array
from telltree.panel.table_files import read_tables
from telltree.panel.type_inference import object_array
from telltree.text import counted

# ---- Labels of records, checked.

_FEW = 4  # classes; with fewer, those of a single record are no reason to doubt the labels


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
    """Leave out the records without a label, with a warning; a DataError if none has one."""
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
        labels = np.asarray(y, dtype=object)  # NumPy would turn 1 and "a" into text, 2**63 and -1 into floats
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


def single_record_warning(records: Iterable[int]) -> str | None:
    """Return a warning if most classes have a single record, given the number of records of each class."""
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
    for position, label in enumerate(labels):
        if not isinstance(label, str | bool | int | float):
            raise DataError(
                f"labels must be text, whole numbers or Booleans; got {type(label).__name__}, such as {label!r:.60} "
                f"(record {ids[position : position + 1].tolist()[0]!r:.60}); turn them into text"
            )
    try:
        sorted(set(labels.tolist()))
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels})
        raise DataError(f"labels have types that cannot be told apart in order: {listed(kinds)}; use one") from None
    return labels


def _plain(label: Any) -> Any:
    """Convert NumPy scalars, decimals and fractions to types that model files can hold, without loss."""
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


# ---- Labels from another source than the records -> one label per record.


def match_labels(
    labels: Any,
    panel: Panel,
    *,
    id: str | None,  # noqa: A002 - as in read
    label: str | None,
    encoding: str | None,
    gaps: bool = False,
) -> Array:
    """Return the label of each record of the panel; with `gaps`, None for one without a label.

    `labels` is a table (a path or a frame) with a column of ids and one of labels, a dict or pandas Series id ->
    label, or a list with one label per record. Records without a label, and labels without a record, are a DataError.
    """
    if is_path(labels):
        values, _ = read_tables(
            [File.at(labels)], lambda names: _find_columns(names, id, label), {}, TextFormat(encoding)
        )
        return _match(*_labels_in_table(values, gaps), panel, gaps)
    if is_frame(labels):
        rows = long_frame(labels, id=id, time=None)
        table = {name: rows.values[name] for name in _find_columns(list(rows.values), id, label)}
        return _match(*_labels_in_table(table, gaps), panel, gaps)
    if isinstance(labels, Mapping):
        return _match(list(labels), object_array(labels.values()), panel, gaps)
    if hasattr(labels, "index") and hasattr(labels, "to_numpy"):  # a pandas Series
        return _match(labels.index.tolist(), labels.to_numpy(), panel, gaps)
    if isinstance(labels, str | bytes) or not hasattr(labels, "__len__"):
        raise DataError(f"labels are a table, a dict id -> label, or a list; got {type(labels).__name__}")
    return labels if isinstance(labels, np.ndarray) else object_array(labels)


def _find_columns(names: list[str], id: str | None, label: str | None) -> dict[str, Use]:  # noqa: A002 - as in read
    """Return the columns of ids and labels: as given, else with usual names, else the first and the only other."""
    key = next((name for name in (id, "id") if name in names), names[0])
    others = [name for name in names if name != key]
    if label is None:
        label = "label" if "label" in others else others[0] if len(others) == 1 else None
    if label is None:
        raise DataError(f"say which column of the labels table is the label; there are {listed(others)}")
    require_known(label, others, "label column in the labels table")
    return {key: Use.ID, label: Use.LABEL}


def _labels_in_table(values: Mapping[str, Any], gaps: bool) -> tuple[list[Any], Array]:
    (key, ids), (label, given) = values.items()
    grouping = by_id(ids, key, None)
    return grouping.ids.tolist(), labels_of(given, label, grouping, gaps=gaps)


def _match(ids: list[Any], labels: Array, panel: Panel, gaps: bool) -> Array:
    positions = {_comparable(value): position for position, value in enumerate(ids)}
    if len(positions) < len(ids):
        raise DataError("two labels are given for one id; keep one")
    wanted = [_comparable(value) for value in panel.ids.tolist()]
    without = [value for value, key in zip(panel.ids.tolist(), wanted, strict=True) if key not in positions]
    if without and not gaps:
        have = f"labels are for {listed(ids, 3)}"
        raise DataError(
            f"{len(without):,} of {counted(len(panel), 'record')} without a label: {listed(without)}; {have}; "
            f"{LEAVE_OUT_UNLABELLED}"
        )
    extra = set(positions) - set(wanted)
    if extra:
        shown = listed([value for value in ids if _comparable(value) in extra])
        raise DataError(f"{len(extra):,} of {counted(len(ids), 'label')} for no record: {shown}; leave them out")
    if not without:
        return labels[[positions[key] for key in wanted]]
    return object_array(labels[positions[key]] if key in positions else None for key in wanted)


def _comparable(value: Any) -> str:
    """Return an id as text for comparison: ids from files are text, and a table may have turned them into numbers."""
    plain = id_array([value]).tolist()[0]
    return str(int(plain)) if isinstance(plain, float) and plain.is_integer() else str(plain)
