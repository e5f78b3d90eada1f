"""One function for every form of input."""

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from telltree.errors import DataError
from telltree.panel.arrays import read_arrays
from telltree.panel.csv import TextFormat
from telltree.panel.dates import DateFormat
from telltree.panel.frames import frame_per_record, is_frame, long_frame
from telltree.panel.input_files import File, files_of, is_path
from telltree.panel.input_options import RESAMPLED, Options, ReadArguments, Roles
from telltree.panel.labels import check_labels, match_labels, without_unlabelled
from telltree.panel.panel import Panel, Repeated
from telltree.panel.panel_data import PanelData, Rows, gather
from telltree.panel.resample import How
from telltree.panel.schema import Schema, parse_overrides, unique_names
from telltree.panel.store import Array
from telltree.panel.table_files import _is_ts, as_elsewhere, declared_types, read_tables, rows_of, table_files
from telltree.panel.ts_files import TIME, read_ts
from telltree.panel.wide_tables import read_wide, wide_plan


def load_overrides(schema: Any) -> tuple[Mapping[str, Any] | None, str | None]:
    """Return a schema or overrides unchanged; read them, and the unit of times, if given the path of a TOML file."""
    if schema is None or isinstance(schema, Mapping):
        return schema, None
    if not isinstance(schema, str | os.PathLike):
        raise DataError(f"schema is a Schema, a dict, or the path of a TOML file; got {type(schema).__name__}")
    file = File.at(schema)
    text = file.small_text()
    try:
        return parse_overrides(text)
    except DataError as error:
        raise DataError(f"{file.name}: {error}") from None


class Read(NamedTuple):
    """What was read: `panel, y = read(...)`."""

    panel: Panel
    y: Array | None  # one label per record, None if the source has none


def read(
    source: Any,
    *,
    id: str | None = None,  # noqa: A002 - the word users look for
    time: str | None = None,
    label: str | None = None,
    labels: Any = None,
    columns: Iterable[str] | None = None,
    drop: Iterable[str] = (),
    static: Any = (),
    schema: Any = None,
    like: Schema | None = None,
    period: float | None = None,
    time_unit: str | None = None,
    missing: Literal["allow", "error"] = "allow",
    every: float | str | None = None,
    how: How = "last",
    layout: str | None = None,
    ids: Sequence[Any] | None = None,
    encoding: str | None = None,
    repeated: Repeated = "error",
    time_format: str | None = None,
    day_first: bool | None = None,
    wide: bool = False,
    drop_unlabelled: bool = False,
) -> Read:
    """Read records of any form, and their labels.

    `source` is one of these.

    - A long table, one row per step, with a column `id` that tells the records apart: the path of a CSV (gzipped or
      not) or Parquet file, "-" for standard input, an open stream, or a pandas, polars or pyarrow table. Of a pandas
      table with a two-level index, the levels are id and time.
    - A wide table, one row per record and one column per step, in the same forms, if you say `wide=True`: the columns
      are those of `Panel.from_wide`. A file may lack a header; then its first column is the label, as in the UCR
      archive, if its values are text or whole numbers.
    - A directory, a glob or a list of paths: one CSV or Parquet file per record, called by its name without suffix. If
      `id` is given, the files are parts of one long table instead.
    - A list of frames, or a dict id -> frame.
    - The path of a `.ts` file. Its columns are called x1, x2, ... unless `columns` names them.
    - A 3-D array, or a list or dict of 2-D arrays, with a `layout`: "records, columns, steps" and "columns, steps" as
      in aeon, or "records, steps, columns" and "steps, columns". `columns` names the columns, `static` is a dict name
      -> one value per record.

    In CSV, columns of numbers are real, of text categorical. Blank text, NA, NaN and null are missing, in all
    tables, unless the levels in `schema` or `like` have them; a category called 1.0 is "1". Columns are
    Boolean if they have only true and false, yes and no, on and off, y and n, or t and f, in any capitals, or only 0
    and 1, without a decimal point unless some are missing; in dataframes they must be of an integer type, or floats of
    which some are missing, in arrays of an integer type. Times are numbers, or
    dates such as 2024-02-29T12:30:00, or 29.2.2024 12:30, where the rows or `day_first` tell that the day comes first,
    or as `time_format` says. The delimiter is found in the header, and
    files are UTF-8, or UTF-16 with a byte order mark, unless `encoding` says otherwise. A unit behind a name, such as
    "speed (km/h)", becomes the unit of the column, and the rest its phrase; the name stays as it is. A unit of time
    behind the name of the times, such as "t [ms]", is the unit of times unless `time_unit` says another.

    `drop` names columns of tables to leave out. `label` names the column of labels, which have one value per record.
    Labels that are kept apart come as `labels`: a path or frame with columns of ids and labels, a dict id -> label, or
    a list with one label per record. A record without a label is an error; with `drop_unlabelled` it is left out, and
    a warning says how many are. `schema` overrides what is inferred: a Schema, a dict of fields by column, or the path
    of a TOML file, which may also say the unit of times. `like` is a schema that other data had, such as that of a
    model: the columns of tables that are categorical there are so here, even if all their values look like numbers.
    `every` and `how` are those of `Panel.resample`, which also makes one step of rows that repeat a time; `ids` name
    the records of a list, an array or a wide table, and all else is as in `Panel.from_frame`.
    """
    overrides, unit = load_overrides(schema)
    later = every is not None and repeated == "error"
    date_format = DateFormat(time_format, day_first)
    options = Options(
        overrides, period, unit if time_unit is None else time_unit, missing, RESAMPLED if later else repeated, date_format,
        drop_unlabelled=drop_unlabelled,
    )  # fmt: skip
    apart = labels is not None
    if is_array(source):
        if wide:
            raise DataError("wide is for tables; arrays say by layout how they lie")
        if unique_names(drop):
            raise DataError("drop is for tables; leave columns out of arrays before")
        parts, y = _from_arrays(source, options, layout=layout, columns=columns, ids=ids, static=static), None
    else:
        hidden = [label] if apart and label is not None else []
        named = () if static is None else static
        roles = Roles.of(
            id, time, label=None if apart else label, columns=columns, static=named, hidden=hidden, drop=drop
        )
        options = as_elsewhere(options, like)
        read_rows = _from_wide if wide else _from_rows
        parts, y = read_rows(source, roles, options, ids=ids, labels=labels, encoding=encoding)
    how_read = ReadArguments(
        id, time, period, time_unit, time_format, date_format.resolved().day_first, repeated, wide=wide
    )
    panel = Panel._of(parts, how_read)
    if apart:
        y = match_labels(labels, panel, id=id, label=label, encoding=encoding, gaps=drop_unlabelled)
    if drop_unlabelled and y is not None:
        panel, y = without_unlabelled(panel, y)
    if every is not None:
        panel = panel.resample(every, how)
    return Read(panel, None if y is None else check_labels(y, panel))


def is_array(source: Any) -> bool:
    """Whether a source is an array, or a list or dict of arrays."""
    if isinstance(source, np.ndarray):
        return True
    first = _first(source)
    return isinstance(first, np.ndarray | list | tuple)


def _first(source: Any) -> Any:
    if isinstance(source, Mapping):
        return next(iter(source.values()), None)
    return next(iter(source), None) if isinstance(source, list | tuple) else None


def _from_arrays(
    source: Any, options: Options, *, layout: str | None, columns: Iterable[str] | None, ids: Any, static: Any
) -> PanelData:
    if layout is None:
        raise DataError(
            "say how the axes of the arrays are laid out: layout='columns, steps' or 'steps, columns' for one array "
            "per record, 'records, columns, steps' or 'records, steps, columns' for a 3-D array"
        )
    if isinstance(source, Mapping):
        if ids is not None:
            raise DataError("the keys of the dict are the ids; give ids only with a list of arrays")
        ids, source = list(source), list(source.values())
    given = None if isinstance(static, tuple) and not static else static
    return read_arrays(source, options, columns=columns, layout=layout, ids=ids, static=given)


def _from_rows(
    source: Any, roles: Roles, options: Options, *, ids: Any, labels: Any, encoding: str | None
) -> tuple[PanelData, Array | None]:
    first = _first(source)
    if is_frame(source):
        source, roles = _indexed(source, roles)
        rows = long_frame(source, id=roles.id, time=roles.time)
    elif is_path(source) and _is_ts(source):
        return _from_ts(File.at(source), roles, options, ids, encoding)
    elif is_path(source) or is_path(first) or hasattr(source, "read"):
        rows, roles = _from_files(source, roles, options, labels, encoding), roles.dropped()
    elif isinstance(source, Mapping | list | tuple):
        rows = frame_per_record(source, time=roles.time, ids=ids)
        return gather(rows, roles, options)
    else:
        remedy = "give a path, a stream, a table, or a list of tables or arrays"
        raise DataError(f"cannot read {type(source).__name__}; {remedy}")
    if ids is not None:
        raise DataError("ids are for lists of frames or arrays; name a column by id=")
    return gather(rows, roles, options)


def _from_wide(
    source: Any, roles: Roles, options: Options, *, ids: Any, labels: Any, encoding: str | None
) -> tuple[PanelData, Array | None]:
    if is_frame(source):
        return read_wide(long_frame(source, id=roles.id, time=None).values, roles, options, ids)
    if not (is_path(source) or is_path(_first(source)) or hasattr(source, "read")):
        raise DataError(f"a wide table is a path, a stream or a dataframe; got {type(source).__name__}")
    files = table_files(source, labels)
    types = declared_types({**options.like, **(options.schema or {})})
    values, _ = read_tables(files, lambda names: wide_plan(roles, names), types, TextFormat(encoding, wide=True))
    return read_wide(values, roles.dropped(), options, ids)


def _indexed(frame: Any, roles: Roles) -> tuple[Any, Roles]:
    """Take the two levels of a pandas index as id and time, unless an id column is named."""
    index: Any = getattr(frame, "index", None)
    if roles.id is not None or getattr(index, "nlevels", 1) != 2:
        return frame, roles
    names = [given or usual for given, usual in zip(index.names, ("id", "time"), strict=True)]
    return frame.rename_axis(names), dataclasses.replace(roles, id=str(names[0]), time=roles.time or str(names[1]))


def _from_files(source: Any, roles: Roles, options: Options, labels: Any, encoding: str | None) -> Rows:
    many = not hasattr(source, "read") and files_of(source)[1]
    return rows_of(table_files(source, labels), roles, options, encoding, many=many)[0]


def _from_ts(
    file: File, roles: Roles, options: Options, ids: Any, encoding: str | None
) -> tuple[PanelData, Array | None]:
    if (roles.id, roles.time, roles.label) != (None, None, None):
        raise DataError(f"{file.name} names no columns: leave out id, time and label")
    names = None if roles.columns is None else list(roles.columns)
    rows, y = read_ts(file, names, encoding, options.date_format)
    stamped = TIME if TIME in rows.values else None
    rows = dataclasses.replace(rows, ids=ids)
    parts, _ = gather(rows, Roles.of(time=stamped, static=roles.static, drop=roles.drop), options)
    return parts, y
