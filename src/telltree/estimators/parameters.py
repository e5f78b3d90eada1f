"""What the parameters of a classifier may be, also those of its parts (`search__evaluations`)."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.checks import is_whole
from telltree.errors import SettingsError
from telltree.grammar import Grammar
from telltree.logic import UserFunction
from telltree.panel.schema import listed
from telltree.search import Search
from telltree.tree.growth import DEEPEST, MOST_TREES, LookAhead, Optimal

# ---- Settings of an estimator's parts, by names such as `search__evaluations`, as scikit-learn writes them.

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


# ---- What the parameters of a classifier may be.


def check_parameters(given: Mapping[str, Any]) -> None:
    """Refuse parameters of a tree that make no sense, alone or together; the first one is named."""
    for name, (is_right, expected) in _MAY_BE.items():
        if not is_right(given[name]):
            raise SettingsError(f"{name} must be {expected}, got {given[name]!r}")
    _check_growth(given)
    _check_thresholds(given)
    if given["as_derived"] and (given["centre"] or given["thresholds"] == "exact"):
        moves = "centre=True" if given["centre"] else "thresholds='exact'"
        raise SettingsError(
            f"as_derived keeps formulas as they are, and {moves} moves constants; leave out one of them"
        )


def _check_thresholds(given: Mapping[str, Any]) -> None:
    """Refuse what exact thresholds do not go with."""
    if given["thresholds"] != "exact":
        return
    if given["centre"] is False:
        raise SettingsError("thresholds='exact' moves constants, and centre=False keeps them; leave out one of them")
    if given["missing"] == "unknown":
        raise SettingsError(
            "thresholds='exact' needs answers that turn once, and with missing='unknown' they may be unknown; leave "
            "out thresholds, or missing"
        )


def _check_growth(given: Mapping[str, Any]) -> None:
    """Refuse what trees cannot be held to that are weighed as a whole, or two levels at a time."""
    growth, depth = given["growth"], given["max_depth"]
    if growth is None:
        return
    if given["missing"] == "unknown":
        raise SettingsError(
            f"missing='unknown' answers a question by the records of the node that asks it, and growth={growth!r} "
            f"weighs questions before it is known where they are asked; leave out missing, or growth"
        )
    if isinstance(growth, Optimal) and depth != "auto" and not is_whole(depth, 1, DEEPEST):
        raise SettingsError(f"with growth={growth!r}, max_depth must be 1, 2, {DEEPEST} or 'auto', got {depth!r}")
    for name, usual in (("min_gain", None), ("prevent_same_label", False), ("thresholds", "centred")):
        if given[name] != usual:
            raise SettingsError(
                f"{name} is asked of one question at a time, and growth={growth!r} weighs several together; leave "
                f"out {name}, or growth"
            )


def check_forest(given: Mapping[str, Any]) -> None:
    """Refuse parameters of a forest that make no sense; the first one is named."""
    for name, (is_right, expected) in _OF_FORESTS.items():
        if not is_right(given[name]):
            raise SettingsError(f"{name} must be {expected}, got {given[name]!r}")


def check_tree_of_forest(given: Mapping[str, Any]) -> None:
    """Refuse parameters of the trees of a forest that make no sense, or none there."""
    check_parameters(given)
    if given["cv"] is not None:
        raise SettingsError(
            "the trees of a forest are not cross-validated one by one: leave out cv of the tree; out_of_bag_ tells how "
            "good the forest is"
        )
    if given["recall"] is not None:
        raise SettingsError(
            "a floor for recall holds for one tree, not for the mean of many: leave out recall of the tree, and give "
            "it class_weight"
        )


def check_floors(recall: Mapping[Any, float] | None, classes: NDArray[Any]) -> None:
    """SettingsError if there is a floor for the recall of a class that no record has."""
    known = classes.tolist()
    for label in recall or {}:
        if label not in known:
            raise SettingsError(f"recall: there is no class {label!r:.200}; there are {listed(known, 10)}")


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not math.isnan(value)


def _weighs_classes(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(_is_number(weight) and 0 <= weight < math.inf for weight in value.values())
    return value is None or (isinstance(value, str) and value == "balanced")


def _are_shares(value: Any) -> bool:
    return value is None or (
        isinstance(value, Mapping) and all(_is_number(share) and 0 < share <= 1 for share in value.values())
    )


def _are_functions(value: Any) -> bool:
    return isinstance(value, Sequence) and all(isinstance(function, UserFunction) for function in value)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


_MAY_BE: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "grammar": (lambda it: it is None or isinstance(it, Grammar | str), 'a Grammar, text, "shapes", "paper" or None'),
    "search": (lambda it: isinstance(it, Search | None), "a search, such as MonteCarlo(), or None"),
    "fitness": (lambda it: it is None or callable(it), "a fitness, such as GiniSize(), or None"),
    "max_depth": (
        lambda it: it in (None, "auto") or is_whole(it, 0),
        'a whole number of at least 0, "auto" or None',
    ),
    "min_samples_leaf": (lambda it: it == "auto" or is_whole(it, 1), 'a whole number of at least 1, or "auto"'),
    "min_gain": (lambda it: it is None or _is_number(it), "a number or None"),
    "prevent_same_label": (_is_flag, "True or False"),
    "centre": (lambda it: it is None or _is_flag(it), "True, False or None"),
    "thresholds": (lambda it: it in ("centred", "exact"), '"centred" or "exact"'),
    "as_derived": (_is_flag, "True or False"),
    "cv": (lambda it: it is None or is_whole(it, 2) or _is_list(it), "at least 2, a list of folds, or None"),
    "simplicity": (lambda it: _is_number(it) and it >= 0, "a number of at least 0"),
    "class_weight": (_weighs_classes, 'None, "balanced" or a dict from class to weight'),
    "recall": (_are_shares, "None, or a dict from class to a share above 0, up to 1"),
    "growth": (lambda it: isinstance(it, Optimal | LookAhead | None), "Optimal(), LookAhead() or None"),
    "missing": (lambda it: isinstance(it, str) and it in ("false", "unknown"), '"false" or "unknown"'),
    "functions": (_are_functions, "a list of functions made with @user_function"),
    "n_jobs": (lambda it: it is None or (is_whole(it, -1) and it != 0), "None, −1 or at least 1"),
    "progress": (lambda it: it is None or callable(it), "a function or None"),
}

_OF_FORESTS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "n_estimators": (lambda it: is_whole(it, 1, MOST_TREES), f"a whole number from 1 to {MOST_TREES:,}"),
    "n_jobs": _MAY_BE["n_jobs"],
    "progress": _MAY_BE["progress"],
}
