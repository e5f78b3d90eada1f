"""Files and streams: found by path or glob, opened, decompressed and decoded; foreign formats are refused by name."""

import codecs
import glob
import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from telltree.errors import DataError
from telltree.files import MOST_BYTES, small_text
from telltree.panel.schema import listed
from telltree.text import clip

# ---- Files and streams of bytes or text: opened, decompressed and decoded, with errors that name them.

MOST_LINE = 1 << 24  # characters: a line of 100,000 cells has a tenth of this
LONGEST_PATH = 300  # characters of a path in messages
HEAD = 512  # first bytes, which show the format of a file
GZIP, PARQUET = b"\x1f\x8b", b"PAR1"  # the first bytes of such files
BYTE_ORDER_MARKS = {  # longer ones first, since one of UTF-32's begins like UTF-16's
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


@dataclass(frozen=True)
class File:
    """A file or stream to read, and its name in messages."""

    name: str
    target: Any  # a path, or an open stream

    @classmethod
    def at(cls, source: Any) -> "File":
        """Return the file at a path, standard input for "-", or an open stream."""
        if hasattr(source, "read"):
            named = getattr(source, "name", None)
            plain = not (_is_text(source) or hasattr(source, "peek") or hasattr(source, "seek"))
            target = io.BytesIO(source.read()) if plain else source  # it can neither peek nor seek
            return cls(repr(named) if isinstance(named, str) else "the stream", target)
        path = os.fsdecode(source)
        if "\0" in path:
            raise DataError(f"there is no file {clip(path, LONGEST_PATH)!r}")
        if path == "-" and sys.stdin is None:
            raise DataError("standard input is closed, so that nothing can be read from it; name a file")
        if path == "-":
            return cls("standard input", getattr(sys.stdin, "buffer", sys.stdin))
        return cls(repr(clip(path, LONGEST_PATH)), path)

    @property
    def is_path(self) -> bool:
        """True for a path, false for an open stream."""
        return isinstance(self.target, str)

    def is_parquet(self) -> bool:
        """Return True if the file begins as Parquet does; the bytes stay unread. A text stream is never Parquet."""
        return self.head().startswith(PARQUET)

    def head(self) -> bytes:
        """Return the first bytes, which stay unread; none for a text stream."""
        if self.is_path:
            with self.bytes() as stream:
                return stream.peek(HEAD)[:HEAD]
        with _named_errors(self.name):
            return _head(self.target)

    @contextmanager
    def bytes(self) -> Iterator[io.BufferedReader]:
        """Open for reading; any problem with the file while it is open is a DataError."""
        with _named_errors(self.name), open(self.target, "rb") if self.is_path else _with_peek(self.target) as stream:
            yield stream

    @contextmanager
    def lines(self, encoding: str | None) -> Iterator[Iterator[str]]:
        """Open as lines of text with their ends: gunzipped if need be, decoded by the byte order mark or as UTF-8."""
        if _is_text(self.target):
            with _named_errors(self.name):
                yield _without_byte_order_mark(_lines(self.target, self.name), self.name)
            return
        with self.unpacked() as stream:
            yield _decoded(stream, encoding, self.name)

    @contextmanager
    def unpacked(self) -> Iterator[io.BufferedReader]:
        """Open for reading, decompressed if gzipped."""
        with self.bytes() as packed:
            if packed.peek(2)[:2] == GZIP:
                with gzip.open(packed) as unpacked:
                    yield io.BufferedReader(cast(Any, unpacked))
            else:
                yield packed

    def unread_bytes(self) -> int | None:
        """Return the number of unread bytes, still compressed; None if they cannot be read twice."""
        if self.is_path:
            with _named_errors(self.name):
                found = os.stat(self.target)
            return found.st_size if stat.S_ISREG(found.st_mode) else None
        if _is_text(self.target) or not (hasattr(self.target, "seekable") and self.target.seekable()):
            return None
        here = self.position()
        size = int(self.target.seek(0, io.SEEK_END)) - here
        self.seek(here)
        return size

    def position(self) -> int:
        """Return the position in a stream."""
        return 0 if self.is_path else int(self.target.tell())

    def seek(self, position: int) -> None:
        """Move a stream back to a position."""
        if not self.is_path:
            self.target.seek(position)

    def small_text(self) -> str:
        """Read a file written by people; a DataError if it is too large for that."""
        with self.bytes() as stream:
            content = stream.read(MOST_BYTES + 1)
        try:
            return small_text(content)
        except ValueError as error:  # too large, or not UTF-8
            raise DataError(f"cannot read {self.name}: {error}") from None


@contextmanager
def _named_errors(name: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"there is no file {name}") from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error) or "it ends too early"
        raise DataError(f"cannot read {name}: {reason}") from None


def _is_text(target: Any) -> bool:
    return not isinstance(target, str) and isinstance(target.read(0), str)


@contextmanager
def _with_peek(stream: Any) -> Iterator[io.BufferedReader]:
    """Yield a stream that can peek; the caller's stream stays open."""
    if isinstance(stream, io.BufferedReader):
        yield stream
        return
    reader = io.BufferedReader(stream if hasattr(stream, "readinto") else io.BytesIO(stream.read()))
    try:
        yield reader
    finally:
        reader.detach()


def _head(stream: Any) -> bytes:
    """Peek at the first bytes of a stream."""
    if _is_text(stream):
        return b""
    if hasattr(stream, "peek"):
        return bytes(stream.peek(HEAD)[:HEAD])
    position = stream.tell()
    head = bytes(stream.read(HEAD))
    stream.seek(position)
    return head


def _without_byte_order_mark(lines: Iterator[str], name: str) -> Iterator[str]:
    try:
        first = next(iter(lines), "")
        if first:
            yield first.removeprefix("\ufeff")
        yield from lines
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: {error}; open it with the right encoding") from None


def _decoded(stream: io.BufferedReader, encoding: str | None, name: str) -> Iterator[str]:
    encoding = find_encoding(stream, encoding)
    plain = "\n".encode(encoding) == b"\n"
    return decode_lines(stream, encoding, name) if plain else _decode_stream(stream, encoding, name)


def find_encoding(stream: io.BufferedReader, encoding: str | None) -> str:
    """Return the encoding, by default that of the byte order mark; the mark of UTF-8 is removed from the stream."""
    if encoding is None:
        head = stream.peek(4)[:4]
        encoding = next((known for mark, known in BYTE_ORDER_MARKS.items() if head.startswith(mark)), "utf-8")
    try:
        "\n".encode(encoding)
    except (LookupError, TypeError, ValueError):  # such as 'undefined', which Python has, and null characters
        raise DataError(
            f"unknown encoding {encoding!r:.60}; there are 'utf-8', 'utf-16', 'latin-1', 'cp1252' ..."
        ) from None
    if codecs.lookup(encoding).name != "utf-8-sig":
        return encoding
    stream.read(3 if stream.peek(3).startswith(codecs.BOM_UTF8) else 0)
    return "utf-8"


def _lines(stream: Any, name: str) -> Iterator[Any]:
    """Yield the lines of a stream; an overlong line is a DataError."""
    number = 0
    while line := stream.readline(MOST_LINE + 1):
        number += 1
        if len(line) > MOST_LINE:
            raise DataError(
                f"{name}, line {number}: it has more than {MOST_LINE:,} characters, the most that a line may have; "
                "is it a file of text?"
            )
        yield line


def decode_lines(stream: BinaryIO, encoding: str, name: str) -> Iterator[str]:
    """Decode each line by itself, so that errors name the exact place of a wrong byte."""
    for number, line in enumerate(_lines(stream, name), 1):
        try:
            yield line.decode(encoding)
        except UnicodeDecodeError as error:
            raise DataError(
                f"{name}, line {number}, byte {error.start + 1}: {line[error.start]:#04x} is not {encoding}; "
                "say which encoding it has, such as 'cp1252' or 'utf-16'"
            ) from None


def _decode_stream(stream: io.BufferedReader, encoding: str, name: str) -> Iterator[str]:
    """Decode text whose line ends take more than one byte."""
    text = io.TextIOWrapper(stream, encoding=encoding, newline="")
    number = 0
    try:
        for number, line in enumerate(_lines(text, name), 1):  # noqa: B007 - used in the error below
            yield line
    except UnicodeError as error:
        raise DataError(f"{name}, after line {number}: not {encoding} ({error}); say what it is by encoding=") from None
    finally:
        with suppress(ValueError):  # if the stream was closed, or detached, before the end
            text.detach()


# ---- Foreign formats: recognised by name and first bytes, and refused with a remedy.

PARQUET_NAMES = (".parquet", ".pq")
_ARFF = (
    "an ARFF file; the UCR and UEA archives have the same data as .ts files, which are read; others can be saved as "
    "CSV, such as by pandas.DataFrame(scipy.io.arff.loadarff(path)[0]).to_csv(...)"
)
_PAGE = "a web page (HTML), perhaps of an error or a login, and not the data; download the file again"
_NAMES = {  # suffix of a path -> what such a file is, and what to do
    ".arff": _ARFF,
    ".xlsx": "an Excel workbook; save its sheet as CSV",
    ".xls": "an Excel workbook; save its sheet as CSV",
    ".ods": "a spreadsheet; save its sheet as CSV",
    ".json": "JSON; read it with pandas.read_json, and hand in the dataframe",
    ".jsonl": "JSON; read it with pandas.read_json(path, lines=True), and hand in the dataframe",
    ".feather": "an Arrow file; read it with pandas.read_feather, and hand in the dataframe",
    ".arrow": "an Arrow file; read it with pandas.read_feather, and hand in the dataframe",
    ".mat": "a MATLAB file; read it with scipy.io.loadmat, and hand in the arrays",
    ".npy": "a NumPy array; read it with numpy.load, and hand in the array with a layout",
    ".npz": "NumPy arrays; read them with numpy.load, and hand in the arrays with a layout",
    ".h5": "an HDF5 file; read it with pandas.read_hdf or h5py, and hand in what it holds",
    ".hdf5": "an HDF5 file; read it with pandas.read_hdf or h5py, and hand in what it holds",
    ".pkl": "a pickle, which may run any code; load it yourself if you trust it, and hand in what it holds",
    ".zip": "a ZIP archive; unpack it first",
    ".tar": "a TAR archive; unpack it first",
}
_BYTES = {  # first bytes of a file -> the same; `refuse_foreign_text` covers formats that are text
    b"PK\x03\x04": "a ZIP archive, or an Excel workbook; unpack it, or save its sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save its sheet as CSV",
    b"\x89HDF": _NAMES[".h5"],
    b"\x93NUMPY": _NAMES[".npy"],
    b"ARROW1": _NAMES[".arrow"],
    b"FEA1": _NAMES[".feather"],
    b"%PDF": "a PDF document; save its tables as CSV",
    b"\x89PNG": "a picture",
    b"BZh": "packed by bzip2; unpack it, or pack it by gzip",
    b"\xfd7zXZ": "packed by xz; unpack it, or pack it by gzip",
    b"\x28\xb5\x2f\xfd": "packed by zstd; unpack it, or pack it by gzip",
}
_PAGES = ("<!doctype html", "<html", "<head", "<body")


def refuse_foreign(file: File) -> None:
    """Raise a DataError if a file, by its name or first bytes, is of a format that is not read."""
    packed = file.head()
    head = _unpacked(packed) if packed.startswith(GZIP) else packed
    suffix = os.path.splitext(file.name.strip("'\"").lower().removesuffix(".gz"))[1]
    parquet = head.startswith(PARQUET)
    found = next((what for begin, what in _BYTES.items() if head.startswith(begin)), None)
    if found is None and not parquet:
        found = _NAMES.get(suffix)
    if found is not None:
        raise DataError(f"cannot read {file.name}: it is {found}")
    if parquet and head is not packed:
        raise DataError(f"cannot read {file.name}: it is Parquet, packed by gzip; unpack it first")
    if suffix in PARQUET_NAMES and not parquet:
        refuse_foreign_text(head.decode("utf-8", "replace"), file)
        what = "does not begin as a Parquet file does; if it is CSV, call it .csv, else" if head else "is empty;"
        raise DataError(f"cannot read {file.name}: its name says Parquet, but it {what} write or fetch it again")


def _unpacked(packed: bytes) -> bytes:
    """Decompress the first bytes of gzipped data; empty if they are damaged."""
    with suppress(zlib.error):
        return zlib.decompressobj(wbits=31).decompress(packed, HEAD)
    return b""


def refuse_foreign_text(text: str, file: File) -> None:
    """Raise a DataError if a text begins as a web page, or as a format that is not read."""
    begin = text.lstrip("\ufeff \t\r\n").lower()
    found = None
    if begin.startswith(_PAGES):
        found = _PAGE
    elif begin.startswith("<?xml"):
        found = "XML; read it with pandas.read_xml, and hand in the dataframe"
    elif begin.startswith("@relation"):
        found = _ARFF
    if found is not None:
        raise DataError(f"cannot read {file.name}: it is {found}")


# ---- Paths, directories and globs -> the files to read.

TABLES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".pq")


def is_path(source: object) -> bool:
    """Return True for a path."""
    return isinstance(source, str | os.PathLike)


def files_of(source: Any) -> tuple[list[File], bool]:
    """Return the files of a path, a directory, a glob or a list of these, and True if it may stand for several files.

    The files of a directory or a glob are sorted by name.
    """
    if not is_path(source):
        return [file for path in source for file in files_of(path)[0]], True
    path = os.fsdecode(source)
    if os.path.isdir(path):
        return _files_in(path), True
    if path == "-" or os.path.exists(path) or not glob.has_magic(path):
        return [File.at(path)], False
    matches = sorted(match for match in glob.glob(path, recursive=True) if os.path.isfile(match))
    if not matches:
        raise DataError(f"there are no records: no file matches {path!r}")
    return [File.at(match) for match in matches], True


def _files_in(path: str) -> list[File]:
    try:
        found = [entry for entry in sorted(os.listdir(path)) if _suffix(entry) and not entry.startswith(".")]
    except OSError as error:
        raise DataError(f"cannot read the directory {path!r}: {error.strerror}") from None
    if not found:
        raise DataError(f"there are no records: the directory {path!r} has no file ending in {', '.join(TABLES)}")
    return [File.at(os.path.join(path, entry)) for entry in found]


def without(files: list[File], other: Any) -> list[File]:
    """Leave out the file `other`, such as labels in the directory of the records."""
    if not is_path(other) or not os.path.exists(other):
        return files
    return [file for file in files if not (file.is_path and os.path.samefile(file.target, other))]


def record_ids(files: Sequence[File]) -> list[str]:
    """Return the names of files without directory and suffix; duplicates are a DataError."""
    ids: dict[str, File] = {}
    for file in files:
        name = Path(file.target).name
        name = name[: len(name) - len(_suffix(name) or Path(name).suffix)]
        if name in ids:
            raise DataError(f"two files stand for the record {name!r}: {ids[name].name} and {file.name}; rename one")
        ids[name] = file
    return list(ids)


def require_one_kind(files: Sequence[File], kinds: Sequence[bool]) -> bool:
    """Return True if all files are Parquet, given for each whether it is; a mixture is a DataError."""
    if not all(kinds) and any(kinds):
        shown = listed([file.target for file in (files[list(kinds).index(True)], files[list(kinds).index(False)])])
        raise DataError(f"some files are Parquet and some are not: {shown}; choose one kind by a glob")
    return all(kinds)


def _suffix(name: str) -> str:
    return next((suffix for suffix in sorted(TABLES, key=len, reverse=True) if name.lower().endswith(suffix)), "")
