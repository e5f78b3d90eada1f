"""The UCI repository's own layout of the Auslan signs, read from its folder or directly from its archive.

There are nine folders, `tctodd1` to `tctodd9`, with one file per example, `word-number.tsd`: one line per step with 22
tab-separated numbers. An archive may come from anywhere, so everything in it is checked before use, and nothing is
written to disk.
"""

import gzip
import re
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.data.schema import require_known
from telltree.errors import DataError

COLUMNS = 22
_MOST_BYTES = 1 << 20  # per example; real ones have some 15 kB
_MOST_MEMBERS = 20_000  # per archive; the real one has some 2,600
_MOST_UNPACKED = 128 << 20  # bytes of an archive; the real one has some 40 MB

_NAME = re.compile(r"(?P<word>.+)-(?P<number>[0-9]{1,4})\.tsd")
_FOLDER = re.compile(r"tctodd(?P<number>[0-9]{1,4})")


class Example(NamedTuple):
    """One sign: its word, its name, and its values, steps × columns."""

    word: str
    name: str
    values: NDArray[np.float64]


class _Place(NamedTuple):
    """The location of an example; locations sort in the order in which the examples were recorded."""

    folder: int
    number: int
    word: str

    @property
    def name(self) -> str:
        return f"tctodd{self.folder}/{self.word}-{self.number}"


def is_tctodd(folder: Path) -> bool:
    """Whether the folder holds folders such as `tctodd1`."""
    return folder.is_dir() and any(_FOLDER.fullmatch(inner.name) and inner.is_dir() for inner in folder.iterdir())


def read_tctodd(path: Path, words: Sequence[str] | None) -> list[Example]:
    """The examples of these words, or of all, in the order of recording. A word that is absent is a DataError."""
    try:
        contents = dict(_from_folder(path, words) if path.is_dir() else _from_archive(path, words))
    except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
        raise DataError(f"{path}: cannot be read: {error}; is it the whole tctodd.tar.gz?") from None
    known = sorted({place.word for place in contents})
    for word in words or ():
        require_known(word, known, f"word in {path}:")
    wanted = [(place, content) for place, content in sorted(contents.items()) if content is not None]
    return [Example(place.word, place.name, _values(content, place, path)) for place, content in wanted]


def _from_folder(path: Path, words: Sequence[str] | None) -> Iterator[tuple[_Place, bytes | None]]:
    """All examples there are; those of other words without their content."""
    for file in path.glob("*/*.tsd"):
        place = _place(PurePosixPath(file.parent.name, file.name))
        if place is None or not file.is_file():
            continue
        size = file.stat().st_size
        if size > _MOST_BYTES:
            raise DataError(f"{file}: {size:,} bytes are too many for a sign; it is none of the data set's files")
        yield place, file.read_bytes() if words is None or place.word in words else None


def _from_archive(path: Path, words: Sequence[str] | None) -> Iterator[tuple[_Place, bytes | None]]:
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        stream = _Bounded(gzip.GzipFile(fileobj=file) if packed else file, path)
        archive = tarfile.open(fileobj=stream, mode="r|")  # type: ignore[call-overload]  # noqa: SIM115 - owns nothing
        for number, member in enumerate(archive):
            place = _place(_checked(member, number, path))
            if place is not None and member.isreg():
                content = archive.extractfile(member) if words is None or place.word in words else None
                yield place, None if content is None else content.read()


class _Bounded:
    """A stream that raises an error if it yields more than an archive of signs can hold."""

    def __init__(self, stream: BinaryIO | gzip.GzipFile, path: Path) -> None:
        self._stream, self._path, self._given = stream, path, 0

    def read(self, size: int) -> bytes:
        piece = self._stream.read(size)
        self._given += len(piece)
        if self._given > _MOST_UNPACKED:
            raise DataError(f"{self._path}: unpacks to more than {_MOST_UNPACKED >> 20} MB; it is not tctodd.tar.gz")
        return piece


def _checked(member: tarfile.TarInfo, number: int, path: Path) -> PurePosixPath:
    """The name of a member, after checking that the archive may have such a member."""
    name = PurePosixPath(member.name)
    problem = None
    if number >= _MOST_MEMBERS:
        problem = f"has more than {_MOST_MEMBERS:,} members"
    elif name.is_absolute() or ".." in name.parts or "\\" in member.name:
        problem = f"has a member that points out of it, {member.name!r}"
    elif not (member.isreg() or member.isdir()):
        problem = f"has a member that is neither a file nor a folder, {member.name!r}"
    elif _NAME.fullmatch(name.name) and member.size > _MOST_BYTES:
        problem = f"has a member of {member.size:,} bytes, {member.name!r}, too many for a sign"
    if problem is not None:
        raise DataError(f"{path}: {problem}; it is not the data set's tctodd.tar.gz")
    return name


def _place(name: PurePosixPath) -> _Place | None:
    """Which example a file holds; None if it holds none."""
    file, folder = _NAME.fullmatch(name.name), _FOLDER.fullmatch(name.parent.name)
    if file is None or folder is None:
        return None
    return _Place(int(folder["number"]), int(file["number"]), file["word"])


def _values(content: bytes, place: _Place, path: Path) -> NDArray[np.float64]:
    lines = [line.split() for line in content.splitlines() if line.strip()]
    where = f"{path}, {place.name}.tsd"
    for number, cells in enumerate(lines, 1):
        if len(cells) != COLUMNS:
            raise DataError(f"{where}, line {number}: expected {COLUMNS} numbers, found {len(cells)}")
    if not lines:
        raise DataError(f"{where}: the file is empty")
    try:
        values = np.array([[float(cell) for cell in cells] for cells in lines])
    except ValueError as error:
        raise DataError(f"{where}: expected numbers: {error}") from None
    if not np.isfinite(values).all():
        raise DataError(f"{where}: a value is not a finite number")
    return values
