"""CSV by Arrow's reader, a block of whole rows at a time: many times as fast as row by row, which `delimited` does.

Arrow only splits rows into cells; what these mean is up to the same columns as there. Where the two ways of splitting
could differ, or anything is wrong, nothing is told: who reads row by row finds the error, and its line.
"""

import codecs
import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from telltree.data.columns.cells import Cells, Expects
from telltree.data.columns.encode import Values
from telltree.data.columns.written import Writing
from telltree.data.files.arrow_cells import GAPS, ArrowCells, NumberCells
from telltree.data.files.delimited import AnyColumn, find_rows, header_of, make_column, require_same
from telltree.data.files.opening import File, line_by_line, settled_encoding
from telltree.data.on_disk import Empty, rest
from telltree.data.records.rows import Plan
from telltree.data.schema import ColumnType
from telltree.data.store import Array
from telltree.errors import DataError

BLOCK = 1 << 21  # bytes that are read at once: with what becomes of them, they fit into the cache
WORTH = 1 << 22  # bytes below which a file is read before Arrow, and pandas with it, is loaded
ENCODINGS = ("utf-8", "ascii", "iso8859-1", "cp1252")  # a byte that ends a line does so wherever it stands
QUOTE, LINE_END = b'"'[0], b"\n"[0]


class _InDoubtError(Exception):
    """Row by row it may read differently, or be an error."""


def read_blocks(
    files: Sequence[File], plan: Plan, types: Mapping[str, ColumnType], writing: Writing, empty: Empty = np.empty
) -> tuple[dict[str, Values], list[int]] | None:
    """Give what `read_delimited` gives; None if it has to be asked, of streams that are where they were."""
    left = [file.left() for file in files]
    total = sum(filter(None, left))
    if None in left or total < WORTH or find_spec("pyarrow") is None:
        return None
    places = [file.place() for file in files]
    try:
        return _read(files, total, plan, types, writing, empty=empty)
    except (_InDoubtError, DataError, MemoryError, import_module("pyarrow").ArrowInvalid):
        for file, place in zip(files, places, strict=True):
            file.go_back(place)
        return None


def _read(
    files: Sequence[File],
    total: int,
    plan: Plan,
    types: Mapping[str, ColumnType],
    writing: Writing,
    *,
    empty: Empty,
) -> tuple[dict[str, Values], list[int]]:
    columns: dict[str, AnyColumn] = {}
    first: list[str] = []
    lengths: list[int] = []
    for file in files:
        with file.unpacked() as stream:
            table = _begin(stream, file, writing)
            if not columns:
                first = table.names
                columns = {
                    name: make_column(name, use, types.get(name), writing.clock, empty)
                    for name, use in plan(table.names).items()
                }
            require_same(first, table.names, files[0], file)
            count = 0
            for block in _blocks(stream):
                if not count and not lengths:
                    _make_room(columns, block, total)
                count += table.add_block(block, columns)
                rest()
            lengths.append(count)
    return {name: column.finish() for name, column in columns.items()}, lengths


def _make_room(columns: Mapping[str, AnyColumn], first: bytes, total: int) -> None:
    """Expect rows as long as those of the first block in all that there is to read."""
    count = int(1.02 * total * first.count(b"\n") / len(first)) + 1
    for column in columns.values():
        column.expect(count)


@dataclass(frozen=True)
class _Table:
    """A file, after its header."""

    names: list[str]
    delimiter: str
    encoding: str

    def add_block(self, text: bytes, columns: Mapping[str, AnyColumn]) -> int:
        """Add the rows of a block to the columns; how many there are."""
        text = self._utf8(text)
        _require_plain(text, self.delimiter)
        places = {name: str(place) for place, name in enumerate(self.names) if name in columns}
        expected = {place: self._expected(columns[name]) for name, place in places.items()}
        try:
            table = self._split(text, expected)
        except import_module("pyarrow").ArrowInvalid:  # something else than what is expected
            expected = dict.fromkeys(expected, Expects.TEXT)
            table = self._split(text, expected)
        for name, column in columns.items():
            cells = self._cells(text, places[name], table, expected[places[name]])
            column.add(cells, lambda _: "a block", comma=self.delimiter == ";")
        return int(table.num_rows)

    def _expected(self, column: AnyColumn) -> Expects:
        """What to have Arrow read; where numbers may have a decimal comma or point, it cannot."""
        return Expects.TEXT if self.delimiter == ";" and column.expects is Expects.NUMBERS else column.expects

    def _cells(self, text: bytes, place: str, table: Any, expected: Expects) -> Cells:
        found = table.column(place).combine_chunks()
        if expected is not Expects.NUMBERS:
            return ArrowCells(found)
        return NumberCells(
            found, lambda: ArrowCells(self._split(text, {place: Expects.TEXT}).column(0).combine_chunks())
        )

    def _split(self, text: bytes, expected: Mapping[str, Expects]) -> Any:
        """Give the cells of some columns, by their places; ArrowInvalid if they are not what is expected."""
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
            pa.system_memory_pool(),  # Arrow's own gives memory back after each block, to ask for it again
        )

    def _utf8(self, text: bytes) -> bytes:
        if self.encoding == "utf-8" and text.isascii():
            return text
        try:
            return text.decode(self.encoding).encode()
        except UnicodeDecodeError:
            raise _InDoubtError("a byte that is no text") from None


def _blocks(stream: io.BufferedReader) -> Iterator[bytes]:
    """Give the rest of a file in blocks of whole rows."""
    most = csv.field_size_limit()
    while block := stream.read(BLOCK):
        lines = [stream.readline(most)]
        marks = _marks(block) + _marks(lines[0])
        while marks % 2 and lines[-1]:  # between quotation marks, the end of a line is not that of a row
            lines.append(stream.readline(most))
            marks += _marks(lines[-1])
            if len(lines) > most // 1000:
                raise _InDoubtError("a quotation mark that seems to stand alone")
        if max(map(len, lines)) == most:
            raise _InDoubtError("a very long row")
        yield block + b"".join(lines)


def _marks(text: bytes) -> int:
    return text.count(b'"') if b'"' in text else 0  # to look for one is many times as fast as to count


def _require_plain(text: bytes, delimiter: str) -> None:
    """Be in doubt unless Python splits text into the same cells as Arrow."""
    if b"\0" in text or (b"\r" in text and text.count(b"\r") != text.count(b"\r\n")):
        raise _InDoubtError("rare characters")
    codes, most = _codes(text), csv.field_size_limit()
    if b'"' not in text:
        half = most // 2
        short = all(text.find(b"\n", start, start + half) >= 0 for start in range(0, len(text) - half, half))
    else:
        quotes = np.flatnonzero(codes == QUOTE)
        if not _are_pairs(quotes, codes, delimiter):
            raise _InDoubtError("quotation marks in rare places")
        ends = np.flatnonzero(codes == LINE_END)
        ends = ends[np.searchsorted(quotes, ends) % 2 == 0]  # the others are inside of cells
        short = bool(np.diff(ends, prepend=-1, append=len(text)).max() <= most)
    if not short:
        raise _InDoubtError("a row with room for a cell longer than the most that Python reads")


def _are_pairs(quotes: Array, codes: Array, delimiter: str) -> bool:
    """Whether quotation marks stand round cells, or doubled inside, and nowhere else."""
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    between = np.zeros(256, np.bool_)  # what may stand between two cells
    between[[ord(delimiter), LINE_END, ord("\r")]] = True
    opens = between[codes[opening - 1]] | (opening == 0)
    closes = between[codes[np.minimum(closing + 1, len(codes) - 1)]] | (closing == len(codes) - 1)
    doubled = opening[1:] == closing[:-1] + 1
    return bool(((opens[1:] & closes[:-1]) | doubled).all() and opens[0] and closes[-1])


def _codes(text: bytes) -> Array:
    return np.frombuffer(text, np.uint8)


def _numbers(count: int) -> list[str]:
    return [str(number) for number in range(count)]


def _begin(stream: io.BufferedReader, file: File, writing: Writing) -> _Table:
    """Read the header, as is done row by row."""
    encoding = codecs.lookup(settled_encoding(stream, writing.encoding)).name
    if encoding not in ENCODINGS:
        raise _InDoubtError("an encoding with long line ends")
    taken = 0

    def counted() -> Iterator[str]:
        nonlocal taken
        for line in line_by_line(stream, encoding, file.name):
            taken += 1
            yield line

    rows, delimiter = find_rows(counted(), file)
    names = header_of(rows, file, writing.wide)
    if rows.line != taken or rows.has_back:
        raise _InDoubtError("a header that is not one row")
    return _Table(names, delimiter, encoding)
