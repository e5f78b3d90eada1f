"""Settings of an estimator's parts, by names such as `search__evaluations`, as scikit-learn writes them."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from telltree.errors import SettingsError

_BETWEEN = "__"


def settings_of(name: str, part: object) -> dict[str, Any]:
    """The settings of a part that is a dataclass, by name; none for anything else, such as a function."""
    if not _has_settings(part):
        return {}
    return {f"{name}{_BETWEEN}{field.name}": getattr(part, field.name) for field in fields(part)}  # type: ignore[arg-type]


def split_settings(given: Mapping[str, Any], parts: Mapping[str, object]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings of the estimator itself, and those of each of its parts."""
    own: dict[str, Any] = {}
    theirs: dict[str, dict[str, Any]] = {}
    for key, value in given.items():
        name, between, setting = key.partition(_BETWEEN)
        if between and name in parts:
            theirs.setdefault(name, {})[setting] = value
        else:
            own[key] = value
    return own, theirs


def with_settings(name: str, part: Any, changes: Mapping[str, Any]) -> Any:
    """The part with other settings; a new object, since parts are frozen. SettingsError if it has no such setting."""
    known = [field.name for field in fields(part)] if _has_settings(part) else []
    for setting in changes:
        if setting not in known:
            there = f"it has {', '.join(known)}" if known else "it has no settings"
            raise SettingsError(f"Invalid parameter {setting!r} for the {name}, {part!r}: {there}")
    return replace(part, **changes)


def _has_settings(part: object) -> bool:
    return is_dataclass(part) and not isinstance(part, type)
