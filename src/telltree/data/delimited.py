"""CSV and its kin -> columns, a chunk of rows at a time."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from telltree.amounts import counted
from telltree.data.encode import Values
from telltree.data.files import File
from telltree.data.rows import Plan, Use
from telltree.data.schema import ColumnType, listed, unique_names
from telltree.data.steps import REMEDY, has_no_names, unnamed
from telltree.data.text import KeyColumn, TextColumn, TimeColumn
from telltree.data.written import Clock, Writing
from telltree.errors import DataError

DELIMITERS = ",;\t|"
CELLS = 1 << 18  # a chunk: as text, some 20 MB

AnyColumn = TextColumn | TimeColumn


def read_delimited(
    files: Sequence[File], plan: Plan, types: Mapping[str, ColumnType], writing: Writing
) -> tuple[dict[str, Values], list[int]]:
    """Read files that have the same columns, one below the other; give the columns of the plan, and rows per file.

    The delimiter of each file is the one that gives its header the most names. Where that is a semicolon, numbers may
    have a decimal comma. A file of a wide table may lack the header.
    """
    columns: dict[str, AnyColumn] = {}
    first: list[str] = []
    lengths = []
    for file in files:
        with file.lines(writing.encoding) as lines:
            reader, delimiter = _reader(lines, file)
            names = _header(reader, file, writing.wide)
            if not columns:
                first = names
                columns = {
                    name: _column(name, use, types.get(name), writing.clock) for name, use in plan(names).items()
                }
            require_same(first, names, files[0], file)
            lengths.append(_read_rows(reader, names, columns, file, comma=delimiter == ";"))
    return {name: columns[name].finish() for name in list(columns)}, lengths


def require_same(first: Sequence[str], names: Sequence[str], one: File, other: File) -> None:
    """Raise a DataError unless two files have the same columns, in any order."""
    if set(first) != set(names):
        differ = sorted(set(first) ^ set(names))
        raise DataError(f"{one.name} and {other.name} have different columns: only one has {listed(differ)}")


def _column(name: str, use: Use, wanted: ColumnType | None, clock: Clock) -> AnyColumn:
    if use in (Use.ID, Use.LABEL):
        return KeyColumn(name, label=use is Use.LABEL)
    as_text = wanted is ColumnType.CATEGORICAL
    return TimeColumn(name, clock) if use is Use.TIME else TextColumn(name, as_text=as_text)


class _Rows:
    """The rows of a file, with the line that each ends in."""

    def __init__(self, lines: Iterator[str], delimiter: str, file: File) -> None:
        self._file = file
        self._reader = csv.reader(lines, delimiter=delimiter, strict=True)
        self._back: list[list[str]] = []

    def again(self, row: list[str]) -> None:
        """Give a row back, to be read again."""
        self._back.append(row)

    @property
    def line(self) -> int:
        return self._reader.line_num

    def wrong(self, what: object) -> DataError:
        return DataError(f"{self._file.name}, line {self.line}: {what}")

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        if self._back:
            return self._back.pop()
        try:
            row = next(self._reader)
            while not row:  # a blank line
                row = next(self._reader)
        except csv.Error as error:
            raise self.wrong(f"{error}; is a quotation mark out of place?") from None
        return row


def _reader(lines: Iterator[str], file: File) -> tuple[_Rows, str]:
    """Find the delimiter in the header; what was read for that is read again."""
    taken: list[str] = []

    def again() -> Iterator[str]:
        for line in lines:
            taken.append(line)
            yield line

    def width(delimiter: str) -> int:
        rows = csv.reader(chain(list(taken), again()), delimiter=delimiter)
        try:
            return len(next((row for row in rows if row), []))
        except csv.Error:
            return 0

    delimiter = max(DELIMITERS, key=width)
    return _Rows(chain(taken, lines), delimiter, file), delimiter


def _header(rows: _Rows, file: File, wide: bool) -> list[str]:
    names = next(rows, None)
    if names is None:
        raise DataError(f"{file.name} is empty; its first line must name the columns")
    bare = has_no_names(names)
    if wide and bare:
        rows.again(names)
        return unnamed(len(names))
    try:
        return unique_names(names)
    except DataError as error:
        raise rows.wrong(f"{error}; {REMEDY}" if bare else error) from None


def _read_rows(rows: _Rows, names: list[str], columns: Mapping[str, AnyColumn], file: File, *, comma: bool) -> int:
    width, count = len(names), 0
    places = {name: index for index, name in enumerate(names)}
    chunk: list[list[str]] = []
    ends: list[int] = []  # the line in which each row ends

    def flush() -> None:
        cells = list(zip(*chunk, strict=True))
        for name, column in columns.items() if cells else ():
            column.add(cells[places[name]], lambda at: f"line {ends[at]} of {file.name}", comma=comma)
        chunk.clear()
        ends.clear()

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
