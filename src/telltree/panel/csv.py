"""CSV and similar text files -> columns, in large blocks by Arrow where possible, otherwise row by row."""

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from typing import Any

import numpy as np

from telltree.errors import DataError
from telltree.panel.dates import DateFormat
from telltree.panel.disk_arrays import Empty, unload
from telltree.panel.input_files import MOST_LINE, File, decode_lines, find_encoding, refuse_foreign_text
from telltree.panel.input_options import Plan, Use
from telltree.panel.names_and_missing import says_missing
from telltree.panel.schema import ColumnType, listed, unique_names
from telltree.panel.store import Array
from telltree.panel.text_columns import CellChunk, Expects, KeyColumn, PythonCells, TextColumn, TimeColumn
from telltree.panel.type_inference import Values
from telltree.panel.units_and_names import WIDE_REMEDY, has_no_names, placeholder_names
from telltree.text import counted


@dataclass(frozen=True)
class TextFormat:
    """The format of text files: encoding, dates, and whether a header may be absent because tables are wide."""

    encoding: str | None = None
    date_format: DateFormat = field(default_factory=DateFormat)
    wide: bool = False


# ---- CSV and similar files -> columns, a chunk of rows at a time.

DELIMITERS = ",;\t|"
QUOTED = re.compile(r'(?:(?<=[,;\t|\n])|\A)"[^"]*+(?:""[^"]*+)*+"')  # a cell between quotation marks
CELLS = 1 << 18  # a chunk: as text, some 20 MB
MOST_COLUMNS = 25_000
AnyColumn = TextColumn | TimeColumn


def read_delimited(
    files: Sequence[File], plan: Plan, types: Mapping[str, ColumnType], text_format: TextFormat, empty: Empty = np.empty
) -> tuple[dict[str, Values], list[int]]:
    """Read files with the same columns, and stack their rows; returns the columns of the plan, and rows per file.

    The delimiter of each file is the one that occurs most often in its header, outside of quotation marks. If that is a
    semicolon, numbers may have a decimal comma. The file of a wide table may lack a header.
    """
    columns: dict[str, AnyColumn] = {}
    first: list[str] = []
    lengths = []
    for file in files:
        with file.lines(text_format.encoding) as lines:
            reader, delimiter = find_rows(lines, file)
            names = header_of(reader, file, text_format.wide)
            if not columns:
                first, columns = names, _make_columns(plan(names), types, text_format.date_format, empty)
            require_same(first, names, files[0], file)
            lengths.append(_read_rows(reader, names, columns, file, comma=delimiter == ";"))
    return {name: columns[name].finish() for name in list(columns)}, lengths


def require_same(first: Sequence[str], names: Sequence[str], one: File, other: File) -> None:
    """Raise a DataError unless two files have the same columns, in any order."""
    if set(first) != set(names):
        differ = sorted(set(first) ^ set(names))
        raise DataError(f"{one.name} and {other.name} have different columns: only one has {listed(differ)}")


def too_wide(count: int) -> str:
    """Return the error text for a table with too many columns."""
    return f"{count:,} columns, more than the {MOST_COLUMNS:,} that a table may have; leave some out, or turn it"


def _make_columns(
    uses: Mapping[str, Use], types: Mapping[str, ColumnType], date_format: DateFormat, empty: Empty
) -> dict[str, AnyColumn]:
    """Return an empty column for each use."""
    columns: dict[str, AnyColumn] = {}
    for name, use in uses.items():
        if use is Use.TIME:
            columns[name] = TimeColumn(name, date_format, empty)
        elif use is Use.ATTRIBUTE:
            columns[name] = TextColumn(name, as_text=types.get(name) is ColumnType.CATEGORICAL, empty=empty)
        else:
            columns[name] = KeyColumn(name, label=use is Use.LABEL, empty=empty)
    return columns


class TextRows:
    """The rows of a file, and the line in which the last one ended."""

    def __init__(self, lines: Iterator[str], delimiter: str, file: File) -> None:
        self._file = file
        self._length = 0  # of the row that is being read
        self._reader = csv.reader(self._measured(lines), delimiter=delimiter, strict=True)
        self._back: list[list[str]] = []

    def _measured(self, lines: Iterator[str]) -> Iterator[str]:
        """Yield the lines; a DataError if a row, joined over lines by quotation marks, gets too long."""
        for line in lines:
            self._length += len(line)
            if self._length > MOST_LINE:
                raise self.error(f"a row of more than {MOST_LINE:,} characters; is a quotation mark out of place?")
            yield line

    def push_back(self, row: list[str]) -> None:
        """Return a row to the reader, to be read again."""
        self._back.append(row)

    @property
    def has_pushed_back(self) -> bool:
        """True if a returned row was not read again yet."""
        return bool(self._back)

    @property
    def line(self) -> int:
        """The line in which the last row ends."""
        return self._reader.line_num

    def error(self, what: object) -> DataError:
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
            raise self.error(f"{error}; is a quotation mark out of place?") from None
        return row


def find_rows(lines: Iterator[str], file: File) -> tuple[TextRows, str]:
    """Return the rows of a file, from the header on, and the delimiter found in the header."""
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
    """Return True if a cell begins with a quotation mark that is not closed."""
    return bare.startswith('"') or any(f'{delimiter}"' in bare for delimiter in DELIMITERS)


def header_of(rows: TextRows, file: File, wide: bool) -> list[str]:
    """Read the names of the columns; the first row of a wide table without names stays unread."""
    names = next(rows, None)
    if names is None:
        raise DataError(f"{file.name} is empty; its first line must name the columns")
    if len(names) > MOST_COLUMNS:
        raise rows.error(too_wide(len(names)))
    bare = has_no_names(names)
    if wide and bare:
        rows.push_back(names)
        return placeholder_names(len(names))
    try:
        return unique_names(names)
    except DataError as error:
        raise rows.error(f"{error}; {WIDE_REMEDY}" if bare else error) from None


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
        unload()

    for row in rows:
        if len(row) != width:
            found = counted(len(row), "cell")
            raise rows.error(f"{found} where the header names {counted(width, 'column')}; is a delimiter unquoted?")
        chunk.append(row)
        ends.append(rows.line)
        count += 1
        if len(chunk) * width >= CELLS:
            flush()
    flush()
    return count


# ---- Cells that were split by Arrow: numbers and dates are converted in bulk.

GAPS = tuple(filter(says_missing, ("", "NA", "N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL")))  # without spaces
HEAD = 100  # cells that are tried first, since Arrow is slow to fail


class ArrowCells(CellChunk):
    """Cells that were split by Arrow, whose conversions accept no more than Python's do."""

    def __init__(self, array: Any) -> None:
        """Store an array of text without nulls; or a dictionary array of it, for `coded` alone."""
        self._array = array

    @cached_property
    def _compute(self) -> Any:
        return import_module("pyarrow.compute")

    def __len__(self) -> int:
        """Count the cells."""
        return len(self._array)

    def at(self, indices: Sequence[int]) -> list[str]:
        """Return the cells at these indices."""
        cells: list[str] = self._array.take(import_module("pyarrow").array(list(indices), "int64")).to_pylist()
        return cells

    def have(self, character: str) -> bool:
        """Return True if a character occurs in any cell."""
        return bool(self._compute.any(self._compute.match_substring(self._array, character)).as_py())

    def coded(self) -> tuple[list[str], Array]:
        """Return the distinct cells, in order of first appearance, and for each cell its index among them."""
        coded = hasattr(self._array, "indices")
        encoded = self._array if coded else self._array.dictionary_encode()
        return encoded.dictionary.to_pylist(), encoded.indices.to_numpy()

    def numbers(self, *, comma: bool) -> Array | None:
        """Return floats if all cells are numbers or missing, or None."""
        for written in self._written(comma):
            found = self._cast(written, "float64")
            numbers = None if found is None else _floats(found)
            if numbers is not None:
                return numbers
        return None

    def _written(self, comma: bool) -> Iterator[Any]:
        """Yield the cells as they are; then stripped of spaces, with null for words that mean missing."""
        yield self._array
        compute = self._compute
        bare = compute.ascii_trim_whitespace(self._array)
        words = import_module("pyarrow").array(GAPS)
        bare = compute.if_else(compute.is_in(bare, words), None, bare)
        yield compute.replace_substring(bare, ",", ".") if comma else bare

    def whole_numbers(self) -> Array | None:
        """Return 64-bit integers if all cells are such, or None."""
        found = self._cast(self._array, "int64")
        hexadecimal = found is not None and (self.have("x") or self.have("X"))  # a number for Arrow alone
        return None if found is None or hexadecimal else found.to_numpy()

    def dates(self) -> Array | None:
        """Return dates if all cells are dates in ISO 8601 without an offset from UTC, or None."""
        found = self._cast(self._array, import_module("pyarrow").timestamp("us"))
        return None if found is None else found.to_numpy()

    def _cast(self, array: Any, kind: Any) -> Any:
        try:
            if kind != "float64":
                array[:HEAD].cast(kind)
            return array.cast(kind)
        except import_module("pyarrow").ArrowInvalid:
            return None


class NumberCells(CellChunk):
    """Cells that Arrow read as numbers while it split rows; their text is split again only if it is needed."""

    def __init__(self, array: Any, text: Callable[[], CellChunk]) -> None:
        """Store an array of floats, with null for missing values, and a function that returns the cells as text."""
        self._array, self._split = array, text

    @cached_property
    def _text(self) -> CellChunk:
        return self._split()

    def __len__(self) -> int:
        """Count the cells."""
        return len(self._array)

    def at(self, indices: Sequence[int]) -> list[str]:
        """Return the cells at these indices."""
        return self._text.at(indices)

    def have(self, character: str) -> bool:
        """Return True if a character occurs in any cell."""
        return self._text.have(character)

    def coded(self) -> tuple[list[str], Array]:
        """Return the distinct cells, in order of first appearance, and for each cell its index among them."""
        return self._text.coded()

    def numbers(self, *, comma: bool) -> Array | None:
        """Return floats if all cells are numbers or missing, or None."""
        found = _floats(self._array)
        return self._text.numbers(comma=comma) if found is None else found

    def whole_numbers(self) -> Array | None:
        """Return None: a column that expects numbers had fractions before."""
        return None


def _floats(found: Any) -> Array | None:
    """Convert to NumPy floats, with NaN for null; None if a cell was NaN itself, which Arrow also reads from nan(x)."""
    numbers: Array = found.to_numpy(zero_copy_only=False)
    absent = np.isnan(numbers).sum() if found.null_count or np.isnan(numbers.max(initial=0)) else 0
    return numbers if absent == found.null_count else None


# ---- CSV by Arrow's reader, a block of whole rows at a time: many times as fast as `read_delimited`, row by row.
#
# Arrow only splits rows into cells; the same columns interpret them. Wherever the two ways of splitting could differ,
# or anything is wrong, the attempt is given up: reading row by row finds the error and its line.

BLOCK = 1 << 21  # bytes that are read at once: they and their columns fit into the cache
WORTH = 1 << 22  # bytes; smaller files are read before Arrow, and pandas with it, would be loaded
ENCODINGS = ("utf-8", "ascii", "iso8859-1", "cp1252")  # a byte that ends a line does so wherever it stands
QUOTE, LINE_END = b'"'[0], b"\n"[0]


class _InDoubtError(Exception):
    """Reading row by row might give another result, or an error."""


def read_blocks(
    files: Sequence[File], plan: Plan, types: Mapping[str, ColumnType], text_format: TextFormat, empty: Empty = np.empty
) -> tuple[dict[str, Values], list[int]] | None:
    """Return what `read_delimited` returns; None, with streams back where they were, if that must be called."""
    left = [file.unread_bytes() for file in files]
    total = sum(filter(None, left))
    if None in left or total < WORTH or find_spec("pyarrow") is None:
        return None
    places = [file.position() for file in files]
    try:
        return _read_all(files, total, plan, types, text_format, empty=empty)
    except (_InDoubtError, DataError, MemoryError, import_module("pyarrow").ArrowInvalid):
        for file, place in zip(files, places, strict=True):
            file.seek(place)
        return None


def _read_all(
    files: Sequence[File],
    total: int,
    plan: Plan,
    types: Mapping[str, ColumnType],
    text_format: TextFormat,
    *,
    empty: Empty,
) -> tuple[dict[str, Values], list[int]]:
    columns: dict[str, AnyColumn] = {}
    first: list[str] = []
    lengths: list[int] = []
    for file in files:
        with file.unpacked() as stream:
            table = _read_header(stream, file, text_format)
            if not columns:
                first, columns = table.names, _make_columns(plan(table.names), types, text_format.date_format, empty)
            require_same(first, table.names, files[0], file)
            count = 0
            for block in _blocks(stream):
                if not count and not lengths:
                    _make_room(columns, block, total)
                count += table.add_block(block, columns)
                unload()
            lengths.append(count)
    return {name: column.finish() for name, column in columns.items()}, lengths


def _make_room(columns: Mapping[str, AnyColumn], first: bytes, total: int) -> None:
    """Allocate for rows as long as those of the first block on average."""
    count = int(1.02 * total * first.count(b"\n") / len(first)) + 1
    for column in columns.values():
        column.expect(count)


@dataclass(frozen=True)
class _Table:
    """A file whose header was read."""

    names: list[str]
    delimiter: str
    encoding: str

    def add_block(self, text: bytes, columns: Mapping[str, AnyColumn]) -> int:
        """Append the rows of a block to the columns; return their number."""
        text = self._utf8(text)
        _require_plain(text, self.delimiter)
        places = {name: str(place) for place, name in enumerate(self.names) if name in columns}
        expected = {place: self._guess(columns[name]) for name, place in places.items()}
        try:
            table = self._split(text, expected)
        except import_module("pyarrow").ArrowInvalid:  # a guess was wrong
            expected = dict.fromkeys(expected, Expects.TEXT)
            table = self._split(text, expected)
        for name, column in columns.items():
            cells = self._cells(text, places[name], table, expected[places[name]])
            column.add(cells, lambda _: "a block", comma=self.delimiter == ";")
        return int(table.num_rows)

    def _guess(self, column: AnyColumn) -> Expects:
        """Return the guess for a column; numbers with a decimal comma must be read as text."""
        return Expects.TEXT if self.delimiter == ";" and column.expects is Expects.NUMBERS else column.expects

    def _cells(self, text: bytes, place: str, table: Any, expected: Expects) -> CellChunk:
        found = table.column(place).combine_chunks()
        if expected is not Expects.NUMBERS:
            return ArrowCells(found)
        return NumberCells(
            found, lambda: ArrowCells(self._split(text, {place: Expects.TEXT}).column(0).combine_chunks())
        )

    def _split(self, text: bytes, expected: Mapping[str, Expects]) -> Any:
        """Split the cells of some columns, by index; ArrowInvalid if a guess is wrong."""
        pa, reader = import_module("pyarrow"), import_module("pyarrow.csv")
        names = pa.dictionary(pa.int32(), pa.string())
        kinds = {Expects.TEXT: pa.string(), Expects.NAMES: names, Expects.NUMBERS: pa.float64()}
        return reader.read_csv(
            pa.BufferReader(text),
            reader.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=_numbers(len(self.names))),
            reader.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            reader.ConvertOptions(
                column_types={place: kinds[what] for place, what in expected.items()},
                include_columns=list(expected),
                null_values=GAPS,  # of numbers
                strings_can_be_null=False,
                check_utf8=False,  # it was
            ),
            pa.system_memory_pool(),  # Arrow's own pool returns memory to the system after each block
        )

    def _utf8(self, text: bytes) -> bytes:
        if self.encoding == "utf-8" and text.isascii():
            return text
        try:
            return text.decode(self.encoding).encode()
        except UnicodeDecodeError:
            raise _InDoubtError("a byte that is no text") from None


def _blocks(stream: io.BufferedReader) -> Iterator[bytes]:
    """Yield the rest of a file in blocks of whole rows."""
    most = csv.field_size_limit()
    while block := stream.read(BLOCK):
        lines = [stream.readline(most)]
        quotes = _count_quotes(block) + _count_quotes(lines[0])
        while quotes % 2 and lines[-1]:  # a line end between quotation marks does not end a row
            lines.append(stream.readline(most))
            quotes += _count_quotes(lines[-1])
            if len(lines) > most // 1000:
                raise _InDoubtError("a quotation mark that seems to stand alone")
        if max(map(len, lines)) == most:
            raise _InDoubtError("a very long row")
        yield block + b"".join(lines)


def _count_quotes(text: bytes) -> int:
    return text.count(b'"') if b'"' in text else 0  # searching for one is much faster than counting


def _require_plain(text: bytes, delimiter: str) -> None:
    """Raise _InDoubtError unless Python splits text into the same cells as Arrow."""
    if b"\0" in text or (b"\r" in text and text.count(b"\r") != text.count(b"\r\n")):
        raise _InDoubtError("rare characters")
    codes, most = _bytes_of(text), csv.field_size_limit()
    if b'"' not in text:
        half = most // 2
        short = all(text.find(b"\n", start, start + half) >= 0 for start in range(0, len(text) - half, half))
    else:
        quotes = np.flatnonzero(codes == QUOTE)
        if not _are_pairs(quotes, codes, delimiter):
            raise _InDoubtError("quotation marks in rare places")
        ends = np.flatnonzero(codes == LINE_END)
        ends = ends[np.searchsorted(quotes, ends) % 2 == 0]  # others are within cells
        short = bool(np.diff(ends, prepend=-1, append=len(text)).max() <= most)
    if not short:
        raise _InDoubtError("a row with room for a cell longer than the most that Python reads")


def _are_pairs(quotes: Array, codes: Array, delimiter: str) -> bool:
    """Return True if quotation marks only enclose cells, or are doubled inside."""
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    between = np.zeros(256, np.bool_)  # characters that may separate cells
    between[[ord(delimiter), LINE_END, ord("\r")]] = True
    opens = between[codes[opening - 1]] | (opening == 0)
    closes = between[codes[np.minimum(closing + 1, len(codes) - 1)]] | (closing == len(codes) - 1)
    doubled = opening[1:] == closing[:-1] + 1
    return bool(((opens[1:] & closes[:-1]) | doubled).all() and opens[0] and closes[-1])


def _bytes_of(text: bytes) -> Array:
    return np.frombuffer(text, np.uint8)


def _numbers(count: int) -> list[str]:
    return [str(number) for number in range(count)]


def _read_header(stream: io.BufferedReader, file: File, text_format: TextFormat) -> _Table:
    """Read the header with the code for reading row by row."""
    encoding = codecs.lookup(find_encoding(stream, text_format.encoding)).name
    if encoding not in ENCODINGS:
        raise _InDoubtError("an encoding with long line ends")
    taken = 0

    def counted() -> Iterator[str]:
        nonlocal taken
        for line in decode_lines(stream, encoding, file.name):
            taken += 1
            yield line

    rows, delimiter = find_rows(counted(), file)
    names = header_of(rows, file, text_format.wide)
    if rows.line != taken or rows.has_pushed_back:
        raise _InDoubtError("a header that is not one row")
    return _Table(names, delimiter, encoding)
