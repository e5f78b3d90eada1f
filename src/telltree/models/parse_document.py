"""Bytes from any source -> a checked document: bounded in size, and upgraded from older versions."""

import json
import os
from typing import Any, TypeVar

from pydantic import ValidationError

from telltree.errors import ModelFormatError, ModelVersionError
from telltree.models.document import FOREST, FORMAT, VERSION, CommonEntry, Document, ForestDocument
from telltree.text import counted

# ---- Bytes from any source to a checked document: bounded in size, and raising only our errors.

Kind = TypeVar("Kind", bound=CommonEntry)
_KINDS: dict[str, type[Document] | type[ForestDocument]] = {FORMAT: Document, FOREST: ForestDocument}
MOST_BYTES = 16 << 20
"""A model of twenty thousand columns has eight million."""
MOST_OF = {b"{": 200_000, b"[": 250_000, b",": 1_500_000}
"""Limits for objects, lists and items, which take memory when parsed; signs in the text of grammars count too."""
MOST_COLUMNS = 50_000
MOST_ITEMS = 1_000_000
"""The most items of all lists together."""
MOST_KEYS = 50
"""The most keys of one object; no object of the format has half as many."""


def read_file(path: str | os.PathLike[str]) -> bytes:
    """Read a model file; a ModelFormatError if it is too large."""
    try:
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        reason = getattr(error, "strerror", None) or error
        raise ModelFormatError(f"cannot read the model file {os.fspath(path)!r}: {reason}") from error
    if len(content) > MOST_BYTES:
        raise ModelFormatError(
            f"{os.fspath(path)!r} is no model file: it has more than {MOST_BYTES >> 20} MB, the most that one may have"
        )
    return content


def bounded(content: bytes) -> Any:
    """Parse JSON that is not too large to be a model."""
    for sign, most in MOST_OF.items():
        if content.count(sign) > most:
            raise ModelFormatError(
                f"this is no model file: it has {content.count(sign):,} times {sign.decode()!r}, and at most {most:,} "
                f"are read"
            )
    found = _parsed(content)
    columns = found.get("columns") if isinstance(found, dict) else None
    if isinstance(columns, list) and len(columns) > MOST_COLUMNS:
        raise ModelFormatError(
            f"this is no model file: it has {len(columns):,} columns, and at most {MOST_COLUMNS:,} are read"
        )
    return found


def read_document(content: bytes) -> Document | ForestDocument:
    """Return the checked document in a file; ModelFormatError or ModelVersionError if it holds none."""
    found = bounded(content)
    if b"\\ud" in content.lower():  # perhaps half of a character, which could not be written again
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise ModelFormatError(
                f"this is no model file: {error.object[error.start]!a} is half of a character"
            ) from None
    kind = _KINDS.get(str(found.get("format"))) if isinstance(found, dict) else None
    if kind is None:
        raise ModelFormatError(
            f'this is no model file: it should be a JSON object with "format": "{FORMAT}"; write one with model.save()'
        )
    version = found.get("version")
    if type(version) is not int or version < 1:
        raise ModelFormatError(f"this model file is damaged: its version is {version!r:.40}, not a whole number from 1")
    if version > VERSION:
        raise ModelVersionError(
            f"this model file has format version {str(version)[:20]}, and this telltree reads versions up to "
            f"{VERSION}; upgrade telltree: pip install --upgrade telltree"
        )
    return checked(upgraded(found) if version == 1 else found, "this model file is damaged", kind)


def read_tree(content: bytes) -> Document:
    """Return the document of a tree; a forest is refused."""
    found = read_document(content)
    if isinstance(found, ForestDocument):
        raise ModelFormatError(
            f"it holds a forest of {counted(len(found.trees), 'tree')}, and a single tree is wanted here; read it with "
            "telltree.load(path) in Python, and predict with that"
        )
    return found


def checked(found: dict[str, Any], what: str, kind: type[Kind]) -> Kind:
    """Return the valid document; otherwise raise an error that begins with `what` and names the place."""
    try:
        return kind.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = " → ".join(map(str, first["loc"]))
        raise ModelFormatError(f"{what}: at {place[:200]}: {first['msg'][:200]}") from None


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content.decode("utf-8"), object_pairs_hook=_Objects().object, parse_constant=_no_constant)
    except RecursionError:
        raise ModelFormatError("this is no model file: it is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise ModelFormatError(f"this is no model file: byte {error.start} is no text in UTF-8") from None
    except json.JSONDecodeError as error:
        raise ModelFormatError(
            f"this is no model file, or one cut short: line {error.lineno}, column {error.colno}: {error.msg}"
        ) from None
    except ModelFormatError:
        raise
    except ValueError as error:  # an integer of thousands of digits
        raise ModelFormatError(f"this is no model file: {error}") from None


class _Objects:
    """Builds the objects of a file, and counts the items of their lists."""

    def __init__(self) -> None:
        self._items = 0

    def object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(pairs) > MOST_KEYS:
            raise ModelFormatError(f"this is no model file: an object in it has {len(pairs):,} keys")
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise ModelFormatError(f"this model file is damaged: the key {twice!r:.80} stands twice in one object")
        self._items += sum([len(value) for value in found.values() if type(value) is list])
        if self._items > MOST_ITEMS:
            raise ModelFormatError(f"this is no model file: its lists have more than {MOST_ITEMS:,} items in all")
        return found


def _no_constant(word: str) -> Any:
    raise ModelFormatError(f"this is no model file: {word} is no number in JSON")


# ---- Files of version 1, which had other names for some settings.

_RENAMED = {"fitness": "criterion", "min_members": "min_samples_leaf", "recall": "min_recall"}
_SIZES = {"nodes": "terminals", "derivation nodes": "nodes"}
"""Sizes of GiniSize: the first versions called terminals "nodes"."""


def upgraded(found: dict[str, Any]) -> dict[str, Any]:
    """Convert a document of version 1 to the current version. Invalid parts stay so."""
    renamed = {"front": "pruning_path", "n_trees": "n_estimators"}
    new = {renamed.get(key, key): value for key, value in found.items()} | {"version": VERSION}
    for key, value in new.items():
        match key, value:
            case "tree", list():
                new[key] = _upgraded_nodes(value)
            case "trees", list():
                new[key] = [_upgraded_nodes(nodes) if isinstance(nodes, list) else nodes for nodes in value]
            case "pruning_path", {"tree": list(nodes)}:
                new[key] = value | {"tree": _upgraded_nodes(nodes)}
            case "settings", dict():
                new[key] = _upgraded_settings(value)
    return new


def _upgraded_nodes(nodes: list[Any]) -> list[Any]:
    return [
        {"robustness" if key == "margin" else key: value for key, value in node.items()}
        if isinstance(node, dict)
        else node
        for node in nodes
    ]


def _upgraded_settings(settings: dict[str, Any]) -> dict[str, Any]:
    new = {_RENAMED.get(key, key): value for key, value in settings.items()}
    match new.get("criterion"):
        case {"size": str(size), **others}:
            ties = {"ties": "robustness"} if others.get("ties") == "margin" else {}
            new["criterion"] = others | {"size": _SIZES.get(size, size)} | ties
    before = new.get("growth")
    centre, exact = new.pop("centre", None), new.pop("thresholds", "centred") == "exact"
    growth = {
        "thresholds": "best" if exact else None if centre is None else "midpoint" if centre else "grid",
        "simplify": not new.pop("as_derived", False),
        "simplicity": new.pop("simplicity", 1.0),
    }
    greedy = {"min_gain": new.pop("min_gain", None), "prevent_same_label": new.pop("prevent_same_label", False)}
    if isinstance(before, dict):
        new["growth"] = {"name": before.get("name"), "settings": growth | {"pool": before.get("pool")}}
    elif growth | greedy != {
        "thresholds": None, "simplify": True, "simplicity": 1.0, "min_gain": None, "prevent_same_label": False
    }:  # fmt: skip
        new["growth"] = {"name": "Greedy", "settings": growth | greedy}
    return new
