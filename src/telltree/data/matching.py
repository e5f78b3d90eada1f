"""Labels kept apart from the records -> one label per record."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from telltree.amounts import counted
from telltree.data.columns.encode import object_array
from telltree.data.columns.written import Writing
from telltree.data.files.directory import is_path
from telltree.data.files.opening import File
from telltree.data.files.tables import read_tables
from telltree.data.panel import Panel
from telltree.data.records.frames import is_frame, long_frame
from telltree.data.records.grouping import by_id, id_array
from telltree.data.records.rows import LEAVE_OUT_UNLABELLED, Use, labels_of
from telltree.data.schema import listed, require_known
from telltree.data.store import Array
from telltree.errors import DataError


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
        values, _ = read_tables([File.at(labels)], lambda names: _plan(names, id, label), {}, Writing(encoding))
        return _matched(*_of_table(values, gaps), panel, gaps)
    if is_frame(labels):
        rows = long_frame(labels, id=id, time=None)
        table = {name: rows.values[name] for name in _plan(list(rows.values), id, label)}
        return _matched(*_of_table(table, gaps), panel, gaps)
    if isinstance(labels, Mapping):
        return _matched(list(labels), object_array(labels.values()), panel, gaps)
    if hasattr(labels, "index") and hasattr(labels, "to_numpy"):  # a pandas Series
        return _matched(labels.index.tolist(), labels.to_numpy(), panel, gaps)
    if isinstance(labels, str | bytes) or not hasattr(labels, "__len__"):
        raise DataError(f"labels are a table, a dict id -> label, or a list; got {type(labels).__name__}")
    return labels if isinstance(labels, np.ndarray) else object_array(labels)


def _plan(names: list[str], id: str | None, label: str | None) -> dict[str, Use]:  # noqa: A002 - as in read
    """Find the two columns: as given, or by their usual names, or the first and the only other one."""
    key = next((name for name in (id, "id") if name in names), names[0])
    others = [name for name in names if name != key]
    if label is None:
        label = "label" if "label" in others else others[0] if len(others) == 1 else None
    if label is None:
        raise DataError(f"say which column of the labels table is the label; there are {listed(others)}")
    require_known(label, others, "label column in the labels table")
    return {key: Use.ID, label: Use.LABEL}


def _of_table(values: Mapping[str, Any], gaps: bool) -> tuple[list[Any], Array]:
    (key, ids), (label, given) = values.items()
    grouping = by_id(ids, key, None)
    return grouping.ids.tolist(), labels_of(given, label, grouping, gaps=gaps)


def _matched(ids: list[Any], labels: Array, panel: Panel, gaps: bool) -> Array:
    places = {_known_as(value): place for place, value in enumerate(ids)}
    if len(places) < len(ids):
        raise DataError("two labels are given for one id; keep one")
    wanted = [_known_as(value) for value in panel.ids.tolist()]
    lacking = [value for value, key in zip(panel.ids.tolist(), wanted, strict=True) if key not in places]
    if lacking and not gaps:
        have = f"labels are for {listed(ids, 3)}"
        raise DataError(
            f"{len(lacking):,} of {counted(len(panel), 'record')} without a label: {listed(lacking)}; {have}; "
            f"{LEAVE_OUT_UNLABELLED}"
        )
    extra = set(places) - set(wanted)
    if extra:
        shown = listed([value for value in ids if _known_as(value) in extra])
        raise DataError(f"{len(extra):,} of {counted(len(ids), 'label')} for no record: {shown}; leave them out")
    if not lacking:
        return labels[[places[key] for key in wanted]]
    return object_array(labels[places[key]] if key in places else None for key in wanted)


def _known_as(value: Any) -> str:
    """Compare ids as text: ids from files are text, and a table may have turned them into numbers."""
    plain = id_array([value]).tolist()[0]
    return str(int(plain)) if isinstance(plain, float) and plain.is_integer() else str(plain)
