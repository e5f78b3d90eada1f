"""`telltree.read`: one function for every form of input."""

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
from telltree.panel.table_files import declared_types, is_ts_file, read_tables, rows_of, table_files
from telltree.panel.ts_files import TIME, read_ts
from telltree.panel.wide_tables import read_wide, wide_plan


class Read(NamedTuple):
    """The records and their labels: `panel, y = read(...)`."""

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
    - With `wide=True`, a wide table in the same forms, one row per record and one column per step: the columns are
      those of `Panel.from_wide`. A file may lack a header; then its first column is the label, as in the UCR archive,
      if its values are text or whole numbers.
    - A directory, a glob or a list of paths: one CSV or Parquet file per record, called by its name without suffix. If
      `id` is given, the files are parts of one long table instead.
    - A list of frames, or a dict id -> frame.
    - The path of a `.ts` file. Its columns are called x1, x2, ... unless `columns` names them.
    - A 3-D array, or a list or dict of 2-D arrays, with a `layout`: "records, columns, steps" and "columns, steps" as
      in aeon, or "records, steps, columns" and "steps, columns". `columns` names the columns, `static` is a dict name
      -> one value per record.

    In CSV, columns of numbers are real, of text categorical. Blank text, NA, NaN and null are missing, in all tables,
    unless they are levels in `schema` or `like`; a category called 1.0 is "1". Columns are Boolean if they have only
    true and false, yes and no, on and off, y and n, or t and f, in any capitals, or only 0 and 1, without a decimal
    point unless some are missing; in dataframes they must be of an integer type, or floats of which some are missing,
    in arrays of an integer type. Times are numbers, or dates such as 2024-02-29T12:30:00, or 29.2.2024 12:30 if the
    rows or `day_first` show that the day comes first, or in the format `time_format`. The delimiter is found in the
    header, and files are UTF-8, or UTF-16 with a byte order mark, unless `encoding` names another. A unit behind a
    name, such as "speed (km/h)", becomes the unit of the column, and the rest its phrase; the name stays as it is. A
    unit of time behind the name of the times, such as "t [ms]", is the unit of times unless `time_unit` is given.

    `drop` names columns of tables to leave out. `label` names the column of labels, which have one value per record.
    Labels from another source are given as `labels`: a path or frame with columns of ids and labels, a dict id ->
    label, or a list with one label per record. A record without a label is an error; with `drop_unlabelled` such
    records are left out, with a warning. `schema` overrides what is inferred: a Schema, a dict of fields by column, or
    the path of a TOML file, which may also give the unit of times. `like` is the schema of other data, such as that of
    a model: columns of tables that are categorical there are so here, even if all their values look like numbers.
    `every` and `how` are those of `Panel.resample`, which also merges rows that repeat a time; `ids` name the records
    of a list, an array or a wide table, and all else is as in `Panel.from_frame`.
    """
    arrays = is_array(source)
    options = read_options(
        schema,
        None if arrays else like,
        time_unit,
        DateFormat(time_format, day_first),
        period=period,
        missing=missing,
        repeated=RESAMPLED if every is not None and repeated == "error" else repeated,
        drop_unlabelled=drop_unlabelled,
    )
    if arrays:
        if wide:
            raise DataError("wide is for tables; arrays say by layout how they lie")
        if unique_names(drop):
            raise DataError("drop is for tables; leave columns out of arrays before")
        data, y = _from_arrays(source, options, layout=layout, columns=columns, ids=ids, static=static), None
    else:
        roles = read_roles(id, time, label, labels, columns=columns, static=() if static is None else static, drop=drop)
        read_records = _from_wide if wide else _from_rows
        data, y = read_records(source, roles, options, ids=ids, labels=labels, encoding=encoding)
    day_first = options.date_format.resolved().day_first
    how_read = ReadArguments(id, time, period, time_unit, time_format, day_first, repeated, wide=wide)
    panel, y = with_labels(
        Panel._of(data, how_read), y, labels, id=id, label=label, encoding=encoding, drop_unlabelled=drop_unlabelled
    )
    if every is not None:
        panel = panel.resample(every, how)
    return Read(panel, None if y is None else check_labels(y, panel))


def read_options(
    schema: Any, like: Schema | None, time_unit: str | None, date_format: DateFormat, **settings: Any
) -> Options:
    """Return the options of any input; columns that are categorical in the schema `like` are so here."""
    overrides, unit = load_overrides(schema)
    categorical = [] if like is None else like.of_type("categorical")
    return Options(
        overrides,
        time_unit=unit if time_unit is None else time_unit,
        date_format=date_format,
        like={column.name: {"type": column.type} for column in categorical},
        known={column.name: column.levels for column in categorical},
        **settings,
    )


def load_overrides(schema: Any) -> tuple[Mapping[str, Any] | None, str | None]:
    """Return a schema or overrides unchanged; from the path of a TOML file read overrides and the unit of times."""
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


def read_roles(id: str | None, time: str | None, label: str | None, labels: Any, **chosen: Any) -> Roles:  # noqa: A002
    """Return the roles of columns; if labels come from elsewhere, the column `label` is not read unless chosen."""
    if labels is None:
        return Roles.of(id, time, label=label, **chosen)
    return Roles.of(id, time, hidden=[] if label is None else [label], **chosen)


def with_labels(
    panel: Panel,
    y: Array | None,
    labels: Any,
    *,
    id: str | None,  # noqa: A002 - as in read
    label: str | None,
    encoding: str | None,
    drop_unlabelled: bool,
) -> tuple[Panel, Array | None]:
    """Match labels from another source with the records, and drop records without one if wanted."""
    if labels is not None:
        y = match_labels(labels, panel, id=id, label=label, encoding=encoding, gaps=drop_unlabelled)
    return without_unlabelled(panel, y) if drop_unlabelled and y is not None else (panel, y)


def is_array(source: Any) -> bool:
    """Return True for an array, and for a list or dict of arrays."""
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
    elif is_path(source) and is_ts_file(source):
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
    """Take the two levels of a pandas index for id and time, unless an id column is named."""
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
    time = TIME if TIME in rows.values else None
    rows = dataclasses.replace(rows, ids=ids)
    data, _ = gather(rows, Roles.of(time=time, static=roles.static, drop=roles.drop), options)
    return data, y
