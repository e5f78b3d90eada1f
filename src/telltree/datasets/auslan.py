"""The Australian Sign Language signs of the UCI repository (Kadous, 2002): two gloves of eleven signals each."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.data.schema import listed
from telltree.datasets.auslan8 import is_auslan8, read_auslan8
from telltree.datasets.homes import homes
from telltree.datasets.tctodd import Example, is_tctodd, read_tctodd
from telltree.errors import DataError, SettingsError

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
    looked = list(homes()) if path is None else [Path(path)]
    found = [place for home in looked for place in _places(home) if place.exists()]
    if not found:
        raise DataError(_not_found(path, looked))
    if wanted is None or not set(wanted) <= set(WORDS):
        found.sort(key=is_auslan8)  # has only the eight words, so it comes last
    return _load(found[0], wanted)


def _words(words: Iterable[str] | Literal["all"] | None) -> tuple[str, ...] | None:
    """The requested words; None for all there are."""
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


def _places(home: Path) -> list[Path]:
    """The paths that may hold the data, given a path: the path itself, or the usual names in it."""
    if home.is_file() or is_auslan8(home) or is_tctodd(home):
        return [home]
    return [home / "auslan8", home / "tctodd", home / "tctodd.tar.gz"]


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
        told = "" if Path(path).exists() else ", which does not exist"
        return f"no Auslan signs in {path}{told}: expected tctodd.tar.gz, or a folder tctodd or auslan8; {advice}"
    places = " and ".join(str(home) for home in looked)
    return f"no Auslan signs in {places}: {advice}, or set TELLTREE_DATA to the folder that contains it"
