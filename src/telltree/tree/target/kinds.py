"""The targets that a model file may speak of, by name: the one place where a new kind of target is made known."""

from collections.abc import Callable, Mapping
from typing import Any

from telltree.data.schema import listed
from telltree.errors import ModelFormatError, SettingsError
from telltree.tree.target.classes import ClassTarget
from telltree.tree.target.target import Target

Read = Callable[[Mapping[str, Any]], Target]
"""Makes a target of what it has written to a model file; ModelFormatError if that is damaged."""

_KINDS: dict[str, Read] = {"classes": ClassTarget.from_entry}


def register_target(kind: str, read: Read) -> None:
    """Make a kind of target known, so that model files of it can be read."""
    if kind in _KINDS:
        raise SettingsError(f"there is a kind of target {kind!r} already; give another name")
    _KINDS[kind] = read


def read_target(kind: str, entry: Mapping[str, Any]) -> Target:
    """The target that a model file speaks of."""
    if kind not in _KINDS:
        raise ModelFormatError(
            f"this model predicts {kind!r:.80}, a kind of target that is not known here; there are {listed(_KINDS)}: "
            "register it before the file is read, with register_target(kind, read)"
        )
    return _KINDS[kind](entry)
