"""The Australian Sign Language signs, in the UCI repository's layout and as the paper's authors published them."""

import gzip
import os
import re
import tarfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.datasets.data_folders import data_folders
from telltree.errors import DataError, SettingsError
from telltree.panel import Panel
from telltree.panel.schema import listed, require_known
from telltree.text import counted

# ---- The UCI repository's own layout of the Auslan signs, read from its folder or directly from its archive.
#
# There are nine folders, `tctodd1` to `tctodd9`, with one file per example, `word-number.tsd`: one line per step with
# 22 tab-separated numbers. An archive may come from anywhere, so everything in it is checked before use, and nothing
# is written to disk.

COLUMNS = 22
_MOST_BYTES = 1 << 20  # per example; real ones have some 15 kB
_MOST_MEMBERS = 20_000  # per archive; the real one has some 2,600
_MOST_UNPACKED = 128 << 20  # bytes of an archive; the real one has some 40 MB

_NAME = re.compile(r"(?P<word>.+)-(?P<number>[0-9]{1,4})\.tsd")
_FOLDER = re.compile(r"tctodd(?P<number>[0-9]{1,4})")


class Example(NamedTuple):
    """A sign: its word, its name, and its values, steps × columns."""

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
    """Return True if the folder holds folders such as `tctodd1`."""
    return folder.is_dir() and any(_FOLDER.fullmatch(inner.name) and inner.is_dir() for inner in folder.iterdir())


def read_tctodd(path: Path, words: Sequence[str] | None) -> list[Example]:
    """Return the examples of these words, or of all, in the order of recording. An absent word is a DataError."""
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
    """Yield all examples; those of other words without content."""
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
    """Return the name of a member, after checking that it is harmless."""
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
    """Return the location of the example in a file; None if the file holds none."""
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


# ---- The paper's eight Auslan words as its authors published them: one table, the first row of each record, the
# labels.

_FILES = ("data.csv", "starts.txt", "labels.txt")


def is_auslan8(folder: Path) -> bool:
    """Return True if the folder holds the three files."""
    return all((folder / name).is_file() for name in _FILES)


def read_auslan8(folder: Path, columns: list[str], words: Sequence[str] | None) -> list[Example]:
    """Return the examples of these words, or of all, in the order of the file, which must have these columns."""
    try:
        table, starts, labels = (_text(folder / name) for name in _FILES)
        header, _, body = table.partition("\n")
        names = [name.strip().strip('"') for name in header.split(",")]
        values = np.array([line.split(",") for line in body.splitlines() if line.strip()], np.float64)
        first = np.array([int(start) - 1 for start in starts.split(",")])  # the file counts rows from 1
    except ValueError as error:
        raise DataError(f"{folder}: the files hold something else than numbers where numbers belong: {error}") from None
    if names != columns or values.ndim != 2 or values.shape[1] != len(columns):
        raise DataError(f"{folder / 'data.csv'}: expected the columns {listed(columns)}, found {listed(names)}")
    words_of_records = [word.strip() for word in labels.partition("\n")[2].split(",")]
    if len(words_of_records) != len(first):
        found = f"{counted(len(first), 'start')} but {counted(len(words_of_records), 'label')}"
        raise DataError(f"{folder}: {found}; the files do not belong together")
    if first[0] != 0 or np.any(np.diff(first) <= 0) or first[-1] >= len(values):
        raise DataError(
            f"{folder / 'starts.txt'}: first rows must begin with 1, rise, and be among {counted(len(values), 'row')}"
        )
    for word in words or ():
        require_known(word, sorted(set(words_of_records)), f"word in {folder}:")
    seen: Counter[str] = Counter()
    examples = []
    for word, rows in zip(words_of_records, np.split(values, first[1:]), strict=True):
        seen[word] += 1
        examples.append(Example(word, f"{word}-{seen[word]}", rows))
    return [example for example in examples if words is None or example.word in words]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from None


# ---- The Australian Sign Language signs of the UCI repository (Kadous, 2002): two gloves of eleven signals each.

WORDS = ("hello", "please", "yes", "no", "right", "wrong", "same", "different")
"""The eight words of the paper."""

SOURCE = "https://archive.ics.uci.edu/dataset/115/australian+sign+language+signs+high+quality"

_SIGNALS: tuple[tuple[str, str, str | None, str], ...] = (  # of one hand, in the order of the files
    ("x", "x position", "m", "hand x-position"),
    ("y", "y position", "m", "hand y-position"),
    ("z", "z position", "m", "hand z-position"),
    ("roll", "roll", "of a half turn", "palm roll"),
    ("pitch", "pitch", "of a half turn", "palm pitch"),
    ("yaw", "yaw", "of a half turn", "palm yaw"),
    ("thumbbend", "bend", None, "thumb bend"),  # from 0, straight, to 1, fully bent
    ("forebend", "bend", None, "forefinger bend"),
    ("middlebend", "bend", None, "middle finger bend"),
    ("ringbend", "bend", None, "ring finger bend"),
    ("littlebend", "bend", None, "little finger bend"),
)
_COLUMNS: dict[str, dict[str, Any]] = {
    f"{name}_{number}": {"type": "real", "kind": kind, "unit": unit, "phrase": f"{hand} {phrase}"}
    for number, hand in ((1, "left"), (2, "right"))
    for name, kind, unit, phrase in _SIGNALS
}


class Auslan(NamedTuple):
    """Signs: one record per example, and the word it stands for. Unpacks as `panel, y`."""

    panel: Panel
    y: NDArray[np.str_]


def load_auslan(
    path: str | os.PathLike[str] | None = None, *, words: Iterable[str] | Literal["all"] | None = None
) -> Auslan:
    """Read signs, 27 examples a word, each 22 real columns of some 57 steps.

    path: the archive `tctodd.tar.gz` as the UCI repository gives it (it is read in place), the folder `tctodd` made of
        it, a folder `auslan8` with the paper's eight words as its authors published them (`data.csv`, `starts.txt`,
        `labels.txt`), or a folder that contains any of these under its usual name. Without a path they are looked for
        in the folder that the environment variable TELLTREE_DATA names, then in the user's data folder.
    words: the words to read, "all" for all 95, or None for the eight of the paper.

    Records come by word, in the order of `words`. DataError if there are no data, or not these words.
    """
    wanted = _words(words)
    looked = list(data_folders()) if path is None else [Path(path)]
    found = [place for folder in looked for place in _places(folder) if place.exists()]
    if not found:
        raise DataError(_not_found(path, looked))
    if wanted is None or not set(wanted) <= set(WORDS):
        found.sort(key=is_auslan8)  # has only the eight words, so it comes last
    return _load(found[0], wanted)


def _words(words: Iterable[str] | Literal["all"] | None) -> tuple[str, ...] | None:
    """Return the requested words; None for all."""
    if words is None:
        return WORDS
    if isinstance(words, str):
        if words == "all":
            return None
        raise SettingsError(f'words must be a list of words, "all" or None, got the text {words!r}')
    wanted = tuple(words)
    if not wanted or not all(isinstance(word, str) for word in wanted) or len(set(wanted)) < len(wanted):
        raise SettingsError(f"words must be one word or more, all of them different, got {listed(wanted)}")
    return wanted


def _places(path: Path) -> list[Path]:
    """Return the paths that may hold the data: the given path itself, or the usual names in it."""
    if path.is_file() or is_auslan8(path) or is_tctodd(path):
        return [path]
    return [path / "auslan8", path / "tctodd", path / "tctodd.tar.gz"]


def _load(place: Path, wanted: tuple[str, ...] | None) -> Auslan:
    examples = read_auslan8(place, list(_COLUMNS), wanted) if is_auslan8(place) else read_tctodd(place, wanted)
    by_word: dict[str, list[Example]] = {}
    for example in examples:
        by_word.setdefault(example.word, []).append(example)
    chosen = [example for word in wanted or sorted(by_word) for example in by_word[word]]
    if not chosen:
        raise DataError(f"{place}: there is no example in it; expected files such as tctodd1/hello-1.tsd")
    panel = Panel.from_arrays(
        [example.values for example in chosen],
        columns=list(_COLUMNS),
        ids=[example.name for example in chosen],
        schema=_COLUMNS,
    )
    return Auslan(panel, np.array([example.word for example in chosen]))


def _not_found(path: str | os.PathLike[str] | None, looked: list[Path]) -> str:
    advice = (
        f"download the data set from {SOURCE}, unpack the zip file, and put the tctodd.tar.gz in it into {looked[-1]} "
        "(there is no need to unpack that)"
    )
    if path is not None:
        absent = "" if Path(path).exists() else ", which does not exist"
        return f"no Auslan signs in {path}{absent}: expected tctodd.tar.gz, or a folder tctodd or auslan8; {advice}"
    places = " and ".join(str(folder) for folder in looked)
    return f"no Auslan signs in {places}: {advice}, or set TELLTREE_DATA to the folder that contains it"
