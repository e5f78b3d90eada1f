"""Files as a panel that is not loaded: they are read once, and their values stay on disk."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np

from telltree.errors import DataError
from telltree.panel import disk_arrays
from telltree.panel.dates import DateFormat
from telltree.panel.grouping import OutOfOrderError
from telltree.panel.input_files import File, files_of, is_path
from telltree.panel.input_options import Options, ReadArguments, Roles
from telltree.panel.labels import check_labels, match_labels, without_unlabelled
from telltree.panel.panel import Panel
from telltree.panel.panel_data import Rows, gather
from telltree.panel.read import Read, load_overrides
from telltree.panel.schema import Schema
from telltree.panel.table_files import as_elsewhere, rows_of, table_files


def scan(
    source: Any,
    *,
    id: str | None = None,  # noqa: A002 - the word users look for
    time: str | None = None,
    label: str | None = None,
    labels: Any = None,
    columns: Iterable[str] | None = None,
    drop: Iterable[str] = (),
    static: Iterable[str] = (),
    schema: Any = None,
    like: Schema | None = None,
    period: float | None = None,
    time_unit: str | None = None,
    missing: Literal["allow", "error"] = "allow",
    encoding: str | None = None,
    time_format: str | None = None,
    day_first: bool | None = None,
    drop_unlabelled: bool = False,
) -> Read:
    """Read files that are larger than memory: `panel, y = scan(...)` gives what `read` gives, but values stay on disk.

    `source` is a Parquet or CSV file, a directory, a glob or a list of paths; the arguments are those of `read`. The
    panel serves wherever one is asked for, and a tree learnt from it is the same, byte for byte. In memory are ids,
    lengths and labels, and of the values only what is looked at.

    The files are read once, from the first to the last, into temporary files that vanish with the panel: eight bytes
    for a number, four for a name and one for a truth value. They are in the folder that the environment variable TMPDIR
    names, else the system's. The rows of a record must follow each other, and its times must not go back: a DataError
    names the file and the record where they do not.
    """
    if not (is_path(source) or (isinstance(source, list | tuple) and source and all(map(is_path, source)))):
        raise DataError(f"scan takes paths of files, got {type(source).__name__}; for anything else there is read")
    if is_path(source) and str(source) == "-":
        raise DataError("scan takes files, which can be read in pieces; for standard input there is read")
    overrides, unit = load_overrides(schema)
    date_format = DateFormat(time_format, day_first)
    options = Options(
        overrides,
        period,
        unit if time_unit is None else time_unit,
        missing,
        date_format=date_format,
        drop_unlabelled=drop_unlabelled,
    )
    apart = labels is not None
    hidden = [label] if apart and label is not None else []
    roles = Roles.of(id, time, label=None if apart else label, columns=columns, static=static, hidden=hidden, drop=drop)
    options = as_elsewhere(options, like)
    files, many = table_files(source, labels), files_of(source)[1]
    rows, lengths = rows_of(files, roles, options, encoding, many=many, empty=disk_arrays.empty)
    with _placed(files, lengths, rows, roles):
        parts, y = gather(rows, roles.dropped(), options)
    panel = Panel._of(parts, ReadArguments(id, time, period, time_unit, time_format, date_format.resolved().day_first))
    if apart:
        y = match_labels(labels, panel, id=id, label=label, encoding=encoding, gaps=drop_unlabelled)
    if drop_unlabelled and y is not None:
        panel, y = without_unlabelled(panel, y)
    disk_arrays.rest()
    return Read(panel, None if y is None else check_labels(y, panel))


@contextmanager
def _placed(files: Sequence[File], lengths: Sequence[int], rows: Rows, roles: Roles) -> Iterator[None]:
    """Say of a row that is out of order which file has it, and what to do."""
    try:
        yield
    except OutOfOrderError as error:
        ends = np.cumsum(lengths)
        number = int(np.searchsorted(ends, error.row, side="right"))
        row = error.row - int(ends[number] - lengths[number])
        which = rows.ids[number] if rows.ids is not None else _id_at(rows.values[str(roles.id)], error.row)
        raise DataError(
            f"{files[number].name}, row {row} (counted from 0): record {which!r} {error.problem}, and scan takes rows as "
            "they stand; sort the files by id and time, or use read, which sorts them in memory"
        ) from None


def _id_at(ids: Any, row: int) -> Any:
    levels = getattr(ids, "levels", None)
    code = (ids.array if levels else ids)[row]
    return levels[code] if levels else code.item()
