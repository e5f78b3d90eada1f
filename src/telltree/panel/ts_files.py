"""`.ts` files, as aeon and sktime write them -> rows and labels."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from telltree.errors import DataError
from telltree.panel.dates import DateFormat
from telltree.panel.input_files import File, refuse_foreign_text
from telltree.panel.names_and_missing import says_missing
from telltree.panel.panel_data import Rows
from telltree.panel.schema import require_known
from telltree.panel.store import Array, Real
from telltree.panel.text_columns import PythonCells, TimeColumn, numbers_or_truths
from telltree.panel.type_inference import object_array
from telltree.text import counted

TAGS = {"timestamps": False, "classlabel": False, "targetlabel": False}  # tags that matter for reading records
STEP = re.compile(r"\(([^()]*),([^(),]*)\)")  # (time, value)
TIME = "time"
COMMENTS = ("#", "%")  # the first characters of comment lines


@dataclass
class _Series:
    """The content of a file, as far as it was read."""

    file: File
    times: TimeColumn
    tags: dict[str, bool] = field(default_factory=lambda: dict(TAGS))
    classes: list[str] = field(default_factory=list)
    records: list[Array] = field(default_factory=list)  # each (columns, steps)
    labels: list[str] = field(default_factory=list)


def read_ts(
    file: File, names: list[str] | None, encoding: str | None, date_format: DateFormat
) -> tuple[Rows, Array | None]:
    """Read a whole file; columns are called x1, x2, ... unless `names` are given. Labels are None without classes.

    With time stamps, the rows have a column called "time".
    """
    if file.unread_bytes() is not None:  # a pipe cannot be opened twice
        refuse_foreign_text(file.head().decode("utf-8", "replace"), file)
    found = _Series(file, times=TimeColumn(TIME, date_format))
    with file.lines(encoding) as lines:
        numbered = enumerate(lines, 1)
        _read_tags(numbered, found)
        for number, line in numbered:
            if line.strip() and not line.lstrip().startswith(COMMENTS):
                _read_record(line.strip(), number, found)
    if not found.records:
        raise DataError(f"there are no records: {file.name} has no line after @data")
    width = len(found.records[0])
    names = [f"x{number}" for number in range(1, width + 1)] if names is None else names
    if found.tags["timestamps"] and TIME in names:
        raise DataError(f"{file.name} has time stamps, which are called {TIME!r}; give its columns other names")
    if len(names) != width:
        raise DataError(f"got {counted(len(names), 'column name')} for {counted(width, 'column')}")
    values = {name: np.concatenate([record[i] for record in found.records]) for i, name in enumerate(names)}
    if found.tags["timestamps"]:
        values[TIME] = found.times.finish()
    labelled = found.tags["classlabel"] or found.tags["targetlabel"]
    y = _typed_labels(found.labels) if labelled else None
    return Rows(values, None, [record.shape[1] for record in found.records]), y


def _read_tags(lines: Iterator[tuple[int, str]], found: _Series) -> None:
    seen: set[str] = set()
    for number, line in lines:
        tag, *rest = line.lower().split() or ["#"]
        if tag.startswith(COMMENTS):
            continue
        if tag == "@data":
            if not seen & {"classlabel", "targetlabel"}:
                raise _error(found, number, "@data before a line that says @classLabel true or false")
            return
        if not tag.startswith("@"):
            raise _error(found, number, f"expected a tag such as @classLabel or @data, got {line.strip()!r:.60}")
        name = tag[1:]
        seen.add(name)
        if name in found.tags:
            if not rest or rest[0] not in ("true", "false"):
                raise _error(found, number, f"{tag} must be followed by true or false")
            found.tags[name] = rest[0] == "true"
            found.classes += line.split()[2:] if name == "classlabel" else []
    raise DataError(f"{found.file.name} is no .ts file: it has no line @data")


def _read_record(line: str, number: int, found: _Series) -> None:
    label = ""
    if found.tags["classlabel"] or found.tags["targetlabel"]:
        line, separator, label = (part.strip() for part in line.rpartition(":"))
        if not separator or label in ("", "?"):
            raise _error(found, number, "the label after the last colon is missing")
        if found.classes and label not in found.classes:
            try:
                require_known(label, found.classes, "class label")
            except DataError as error:
                raise _error(found, number, error) from None
    found.labels.append(label)
    split = _read_timed_steps if found.tags["timestamps"] else _read_steps
    columns = split(line, number, found)
    widths = [len(column) for column in columns]
    if len(set(widths)) > 1:
        steps = f"{min(widths)} to {max(widths)} steps"
        raise _error(found, number, f"the dimensions of a record have {steps}; all must have as many")
    if found.records and len(columns) != len(found.records[0]):
        raise _error(
            found, number, f"{counted(len(columns), 'dimension')} where the first record has {len(found.records[0])}"
        )
    found.records.append(np.array(columns, Real))


def _read_steps(line: str, number: int, found: _Series) -> list[list[float]]:
    return [_numbers(part.split(",") if part.strip() else [], number, found) for part in line.split(":")]


def _read_timed_steps(line: str, number: int, found: _Series) -> list[list[float]]:
    parts = re.split(r":(?![^()]*\))", line)  # a colon inside brackets belongs to a time of day
    steps = [STEP.findall(part) for part in parts]
    if any(STEP.sub("", part).strip(" ,") for part in parts):
        raise _error(found, number, "expected steps such as (0,1.5),(1,2.5), since @timeStamps is true")
    stamps = [[time.strip() for time, _ in part] for part in steps]
    if any(other != stamps[0] for other in stamps):
        raise _error(found, number, "the dimensions of a record have different time stamps; all must have the same")
    if stamps[0]:
        found.times.add(PythonCells(stamps[0]), lambda _: f"line {number} of {found.file.name}")
    return [_numbers([value for _, value in part], number, found) for part in steps]


def _numbers(cells: list[str], number: int, found: _Series) -> list[float]:
    try:
        return [math.nan if _is_missing_cell(cell) else float(cell) for cell in cells]
    except ValueError as error:
        raise _error(found, number, f"{error}; values are numbers, or ? where missing") from None


def _is_missing_cell(cell: str) -> bool:
    """Return True if a cell is missing, by the rule of all inputs or that of this format; blank cells are errors."""
    bare = cell.strip()
    return bare == "?" or (bool(bare) and says_missing(bare))


def _typed_labels(labels: list[str]) -> Array:
    """Return labels as numbers or Booleans if all are such, else as text."""
    levels = list(dict.fromkeys(labels))
    values = numbers_or_truths(levels)
    if values is None:
        return object_array(labels)
    places = {level: place for place, level in enumerate(levels)}
    return values[[places[label] for label in labels]]


def _error(found: _Series, number: int, what: object) -> DataError:
    return DataError(f"{found.file.name}, line {number}: {what}")
