"""`telltree.scan`: files larger than memory as a panel whose values stay on disk."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np

from telltree.errors import DataError
from telltree.panel import disk_arrays
from telltree.panel.dates import DateFormat
from telltree.panel.grouping import OutOfOrderError
from telltree.panel.input_files import File, files_of, is_path
from telltree.panel.input_options import ReadArguments, Roles
from telltree.panel.labels import check_labels
from telltree.panel.panel import Panel
from telltree.panel.panel_data import Rows, gather
from telltree.panel.read import Read, read_options, read_roles, with_labels
from telltree.panel.schema import Schema
from telltree.panel.table_files import rows_of, table_files


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
    """Read files larger than memory: `panel, y = scan(...)` is like `read`, but values stay on disk.

    `source` is a Parquet or CSV file, a directory, a glob or a list of paths; the arguments are those of `read`. The
    panel can be used like any other, and a tree learnt from it is the same, byte for byte. Only ids, lengths, labels
    and the values in use are in memory.

    The files are read once, from the first to the last, into temporary files that vanish with the panel: eight bytes
    for a number, four for a category and one for a Boolean. They are in the folder named by the environment variable
    TMPDIR, else in the system's. The rows of a record must be contiguous and sorted by time; otherwise a DataError
    names the file and the record.
    """
    if not (is_path(source) or (isinstance(source, list | tuple) and source and all(map(is_path, source)))):
        raise DataError(f"scan takes paths of files, got {type(source).__name__}; for anything else there is read")
    if is_path(source) and str(source) == "-":
        raise DataError("scan takes files, which can be read in pieces; for standard input there is read")
    date_format = DateFormat(time_format, day_first)
    options = read_options(
        schema, like, time_unit, date_format, period=period, missing=missing, drop_unlabelled=drop_unlabelled
    )
    roles = read_roles(id, time, label, labels, columns=columns, static=static, drop=drop)
    files, many = table_files(source, labels), files_of(source)[1]
    rows, lengths = rows_of(files, roles, options, encoding, many=many, empty=disk_arrays.empty)
    with _naming_files(files, lengths, rows, roles):
        data, y = gather(rows, roles.dropped(), options)
    day_first = date_format.resolved().day_first
    panel = Panel._of(data, ReadArguments(id, time, period, time_unit, time_format, day_first))
    panel, y = with_labels(panel, y, labels, id=id, label=label, encoding=encoding, drop_unlabelled=drop_unlabelled)
    disk_arrays.unload()
    return Read(panel, None if y is None else check_labels(y, panel))


@contextmanager
def _naming_files(files: Sequence[File], lengths: Sequence[int], rows: Rows, roles: Roles) -> Iterator[None]:
    """Turn an OutOfOrderError into a DataError that names the file, the record and a remedy."""
    try:
        yield
    except OutOfOrderError as error:
        ends = np.cumsum(lengths)
        number = int(np.searchsorted(ends, error.row, side="right"))
        row = error.row - int(ends[number] - lengths[number])
        which = rows.ids[number] if rows.ids is not None else _id_at(rows.values[str(roles.id)], error.row)
        raise DataError(
            f"{files[number].name}, row {row} (counted from 0): record {which!r} {error.problem}, and scan takes rows "
            "as they stand; sort the files by id and time, or use read, which sorts them in memory"
        ) from None


def _id_at(ids: Any, row: int) -> Any:
    levels = getattr(ids, "levels", None)
    code = (ids.array if levels else ids)[row]
    return levels[code] if levels else code.item()
