"""The file of a checkpoint: what it is of, then what is known of each node, then a checksum; a line of JSON each.

Arrays are written as their type, shape and bytes. What is read may be anybody's, so it is bounded, and every error is a
CheckpointError.
"""

import binascii
import hashlib
import json
import math
import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree import __version__
from telltree.errors import CheckpointError
from telltree.search.state import State

FORMAT, VERSION = "telltree checkpoint", 1
MOST_BYTES = 1 << 30
MOST_SIGNS = 10_000_000
"""Objects, lists and items, which take memory when they are read: a node has about two hundred."""
_MOST_HEAD = 1 << 20
_TYPES = ("<i4", "<i8", "<u8", "<f8", "|u1")


class Place(NamedTuple):
    """What something is known of: tree 0 is that of all records, others are those of folds."""

    tree: int
    node: int
    finished: bool
    """Whether it is the answer of a node, or the state of its search."""


def content_of(about: Mapping[str, str], lines: Iterable[bytes]) -> bytes:
    """The content of a file; CheckpointError if it is too large to be read again."""
    head = {"format": FORMAT, "version": VERSION, "telltree": __version__, "about": dict(about)}
    content = _written(head) + b"".join(lines)
    content += _written({"sha256": hashlib.sha256(content).hexdigest()})
    _require_bounded(content)
    return content


def line_of(place: Place, state: State) -> bytes:
    """The line of a place."""
    return _written({**place._asdict(), "arrays": {name: _array_out(array) for name, array in state.items()}})


def read_file(path: str | os.PathLike[str]) -> tuple[dict[str, str], dict[Place, bytes]]:
    """What the file is of, and the line of each place."""
    try:
        with open(path, "rb") as file:
            head = file.readline(_MOST_HEAD)
            about = _about(head)
            content = head + file.read(MOST_BYTES + 1)
    except OSError as error:
        raise CheckpointError(f"it cannot be read: {error.strerror}") from None
    _require_bounded(content)
    end = content.rstrip(b"\n").rfind(b"\n") + 1
    if content[end:] != _written({"sha256": hashlib.sha256(content[:end]).hexdigest()}):
        raise CheckpointError("it is damaged or cut short: its checksum is wrong")
    return about, {_place(line): line + b"\n" for line in content[len(head) : end].splitlines()}


def state_of(line: bytes) -> State:
    """The state that a line holds."""
    arrays = _object(line).get("arrays")
    if not isinstance(arrays, dict):
        raise CheckpointError("it is damaged: a node has no arrays")
    return {name: _array_in(array) for name, array in arrays.items()}


def _written(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _require_bounded(content: bytes) -> None:
    if len(content) > MOST_BYTES:
        raise CheckpointError(f"it has more than {MOST_BYTES:,} bytes, the most that a checkpoint may have")
    if sum(map(content.count, (b"{", b"[", b","))) > MOST_SIGNS:
        raise CheckpointError(f"it has more than {MOST_SIGNS:,} items, the most that a checkpoint may have")


def _object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise CheckpointError("it is no checkpoint, or a damaged one")
    return found


def _about(head: bytes) -> dict[str, str]:
    """What a file is of, by its first line."""
    found = _object(head)
    version, about = found.get("version"), found.get("about")
    if found.get("format") != FORMAT or type(version) is not int:
        raise CheckpointError("it is no checkpoint")
    if version != VERSION or found.get("telltree") != __version__:
        raise CheckpointError(
            f"it was written by telltree {found.get('telltree')!s:.40} in format {version!s:.20}, and this is telltree "
            f"{__version__}, which goes on from format {VERSION} of its own version alone"
        )
    if not isinstance(about, dict) or not all(isinstance(text, str) for text in about.values()):
        raise CheckpointError("it is damaged: it does not say what it is of")
    return about


def _place(line: bytes) -> Place:
    found = _object(line)
    place = Place._make(found.get(name) for name in Place._fields)
    if type(place.tree) is not int or type(place.node) is not int or type(place.finished) is not bool:
        raise CheckpointError("it is damaged: a line does not say which node it is of")
    return place


def _array_out(array: NDArray[Any]) -> list[Any]:
    plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return [plain.dtype.str, list(array.shape), binascii.b2a_base64(plain.data, newline=False).decode()]


def _array_in(written: Any) -> NDArray[Any]:
    try:
        kind, shape, text = written
        if kind not in _TYPES or not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError
        content = binascii.a2b_base64(text, strict_mode=True)
        if math.prod(shape) * np.dtype(kind).itemsize != len(content):
            raise ValueError
        found: NDArray[Any] = np.frombuffer(content, kind).reshape(shape)
    except (TypeError, ValueError):
        raise CheckpointError("it is damaged: an array is not as it says") from None
    return found.astype(found.dtype.newbyteorder("="))
