"""CSV and similar files -> columns, a chunk of rows at a time."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import numpy as np

from telltree.amounts import counted
from telltree.data.columns.cells import PythonCells
from telltree.data.columns.encode import Values
from telltree.data.columns.text import KeyColumn, TextColumn, TimeColumn
from telltree.data.columns.written import Clock, Writing
from telltree.data.files.foreign import refuse_foreign_text
from telltree.data.files.opening import MOST_LINE, File
from telltree.data.on_disk import Empty, rest
from telltree.data.records.rows import Plan, Use
from telltree.data.records.steps import REMEDY, has_no_names, unnamed
from telltree.data.schema import ColumnType, listed, unique_names
from telltree.errors import DataError

DELIMITERS = ",;\t|"
QUOTED = re.compile(r'(?:(?<=[,;\t|\n])|\A)"[^"]*+(?:""[^"]*+)*+"')  # a cell between quotation marks
CELLS = 1 << 18  # a chunk: as text, some 20 MB
MOST_COLUMNS = 25_000

AnyColumn = TextColumn | TimeColumn


def read_delimited(
    files: Sequence[File], plan: Plan, types: Mapping[str, ColumnType], writing: Writing, empty: Empty = np.empty
) -> tuple[dict[str, Values], list[int]]:
    """Read files with the same columns, and stack their rows; returns the columns of the plan, and rows per file.

    The delimiter of each file is the one that occurs most often in its header, outside of quotation marks. Where that
    is a semicolon, numbers may have a decimal comma. A file of a wide table may lack the header.
    """
    columns: dict[str, AnyColumn] = {}
    first: list[str] = []
    lengths = []
    for file in files:
        with file.lines(writing.encoding) as lines:
            reader, delimiter = find_rows(lines, file)
            names = header_of(reader, file, writing.wide)
            if not columns:
                first = names
                columns = {
                    name: make_column(name, use, types.get(name), writing.clock, empty)
                    for name, use in plan(names).items()
                }
            require_same(first, names, files[0], file)
            lengths.append(_read_rows(reader, names, columns, file, comma=delimiter == ";"))
    return {name: columns[name].finish() for name in list(columns)}, lengths


def require_same(first: Sequence[str], names: Sequence[str], one: File, other: File) -> None:
    """Raise a DataError unless two files have the same columns, in any order."""
    if set(first) != set(names):
        differ = sorted(set(first) ^ set(names))
        raise DataError(f"{one.name} and {other.name} have different columns: only one has {listed(differ)}")


def too_wide(count: int) -> str:
    """Say that a table has too many columns."""
    return f"{count:,} columns, more than the {MOST_COLUMNS:,} that a table may have; leave some out, or turn it"


def make_column(name: str, use: Use, wanted: ColumnType | None, clock: Clock, empty: Empty) -> AnyColumn:
    """Begin a column by what it is for."""
    if use in (Use.ID, Use.LABEL):
        return KeyColumn(name, label=use is Use.LABEL, empty=empty)
    as_text = wanted is ColumnType.CATEGORICAL
    return TimeColumn(name, clock, empty) if use is Use.TIME else TextColumn(name, as_text=as_text, empty=empty)


class TextRows:
    """The rows of a file, with the line that each ends in."""

    def __init__(self, lines: Iterator[str], delimiter: str, file: File) -> None:
        self._file = file
        self._length = 0  # of the row that is being read
        self._reader = csv.reader(self._measured(lines), delimiter=delimiter, strict=True)
        self._back: list[list[str]] = []

    def _measured(self, lines: Iterator[str]) -> Iterator[str]:
        """Yield the lines; a DataError if one row, joined over lines by quotation marks, never seems to end."""
        for line in lines:
            self._length += len(line)
            if self._length > MOST_LINE:
                raise self.wrong(f"a row of more than {MOST_LINE:,} characters; is a quotation mark out of place?")
            yield line

    def again(self, row: list[str]) -> None:
        """Push a row back, to be read again."""
        self._back.append(row)

    @property
    def has_back(self) -> bool:
        """Whether a row was given back."""
        return bool(self._back)

    @property
    def line(self) -> int:
        """The line in which the last row ends."""
        return self._reader.line_num

    def wrong(self, what: object) -> DataError:
        return DataError(f"{self._file.name}, line {self.line}: {what}")

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        if self._back:
            return self._back.pop()
        try:
            row: list[str] = []
            while not row:  # a blank line
                self._length = 0
                row = next(self._reader)
        except csv.Error as error:
            raise self.wrong(f"{error}; is a quotation mark out of place?") from None
        return row


def find_rows(lines: Iterator[str], file: File) -> tuple[TextRows, str]:
    """Find the delimiter in the header; what was read for that is read again."""
    taken: list[str] = []
    bare, length = "", 0
    for line in lines:
        taken.append(line)
        length += len(line)
        bare = QUOTED.sub("", bare + line)
        if not bare.strip("\r\n"):
            bare = ""  # a blank line
        elif not _opens(bare) or length > MOST_LINE:
            break
    refuse_foreign_text(bare, file)
    delimiter = max(DELIMITERS, key=bare.count)
    return TextRows(chain(taken, lines), delimiter, file), delimiter


def _opens(bare: str) -> bool:
    """Whether a cell begins with a quotation mark that is not closed."""
    return bare.startswith('"') or any(f'{delimiter}"' in bare for delimiter in DELIMITERS)


def header_of(rows: TextRows, file: File, wide: bool) -> list[str]:
    """Read the names; of a wide table that has none, its first row stays to be read."""
    names = next(rows, None)
    if names is None:
        raise DataError(f"{file.name} is empty; its first line must name the columns")
    if len(names) > MOST_COLUMNS:
        raise rows.wrong(too_wide(len(names)))
    bare = has_no_names(names)
    if wide and bare:
        rows.again(names)
        return unnamed(len(names))
    try:
        return unique_names(names)
    except DataError as error:
        raise rows.wrong(f"{error}; {REMEDY}" if bare else error) from None


def _read_rows(rows: TextRows, names: list[str], columns: Mapping[str, AnyColumn], file: File, *, comma: bool) -> int:
    width, count = len(names), 0
    places = {name: index for index, name in enumerate(names)}
    chunk: list[list[str]] = []
    ends: list[int] = []  # the line in which each row ends

    def flush() -> None:
        cells = list(zip(*chunk, strict=True))
        for name, column in columns.items() if cells else ():
            column.add(PythonCells(cells[places[name]]), lambda at: f"line {ends[at]} of {file.name}", comma=comma)
        chunk.clear()
        ends.clear()
        rest()

    for row in rows:
        if len(row) != width:
            found = counted(len(row), "cell")
            raise rows.wrong(f"{found} where the header names {counted(width, 'column')}; is a delimiter unquoted?")
        chunk.append(row)
        ends.append(rows.line)
        count += 1
        if len(chunk) * width >= CELLS:
            flush()
    flush()
    return count
