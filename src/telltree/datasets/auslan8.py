"""The paper's eight Auslan words as its authors published them: one table, the first row of each record, the labels."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from telltree.amounts import counted
from telltree.data.schema import listed, require_known
from telltree.datasets.tctodd import Example
from telltree.errors import DataError

_FILES = ("data.csv", "starts.txt", "labels.txt")


def is_auslan8(folder: Path) -> bool:
    """Whether the folder holds the three files."""
    return all((folder / name).is_file() for name in _FILES)


def read_auslan8(folder: Path, columns: list[str], words: Sequence[str] | None) -> list[Example]:
    """The examples of these words, or of all, in the order of the file, which has these columns."""
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
    said = [word.strip() for word in labels.partition("\n")[2].split(",")]
    if len(said) != len(first):
        found = f"{counted(len(first), 'start')} but {counted(len(said), 'label')}"
        raise DataError(f"{folder}: {found}; the files do not belong together")
    if first[0] != 0 or np.any(np.diff(first) <= 0) or first[-1] >= len(values):
        raise DataError(
            f"{folder / 'starts.txt'}: first rows must begin with 1, rise, and be among {counted(len(values), 'row')}"
        )
    for word in words or ():
        require_known(word, sorted(set(said)), f"word in {folder}:")
    seen: Counter[str] = Counter()
    examples = []
    for word, rows in zip(said, np.split(values, first[1:]), strict=True):
        seen[word] += 1
        examples.append(Example(word, f"{word}-{seen[word]}", rows))
    return [example for example in examples if words is None or example.word in words]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from None
