"""Checks of the parameters of estimators, and access to the settings of their parts (`search__evaluations`)."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from telltree.checks import is_number, is_whole
from telltree.errors import SettingsError
from telltree.grammar import Grammar
from telltree.logic import UserFunction
from telltree.panel.schema import listed
from telltree.search import Search
from telltree.tree.settings import DEEPEST_OPTIMAL, MOST_TREES, Growth, LookAhead, Optimal

# ---- Settings of an estimator's parts, by names as in scikit-learn, such as `search__evaluations`.

_BETWEEN = "__"
_WITHOUT_EFFECT = ("n_jobs", "callback")
"""Parameters that describe how this machine works, and do not affect results."""


def effective_parameters(classifier: BaseEstimator) -> dict[str, Any]:
    """Return the parameters that affect results, which a model file keeps."""
    given = classifier.get_params(deep=False)
    return {name: value for name, value in given.items() if name not in _WITHOUT_EFFECT}


def settings_of(name: str, part: object) -> dict[str, Any]:
    """Return the settings of a part, by name, if it is a dataclass; a function, for example, has none."""
    if not _has_settings(part):
        return {}
    return {f"{name}{_BETWEEN}{field.name}": getattr(part, field.name) for field in fields(part)}  # type: ignore[arg-type]


def split_settings(given: Mapping[str, Any], parts: Mapping[str, object]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings of the estimator itself, and those of each of its parts."""
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
    """Return a copy of the part with other settings; SettingsError if it has no such setting."""
    known = [field.name for field in fields(part)] if _has_settings(part) else []
    for setting in changes:
        if setting not in known:
            there = f"it has {', '.join(known)}" if known else "it has no settings"
            raise SettingsError(f"Invalid parameter {setting!r} for the {name}, {part!r}: {there}")
    return replace(part, **changes)


def _has_settings(part: object) -> bool:
    return is_dataclass(part) and not isinstance(part, type)


# ---- Checks of parameters.


def check_parameters(given: Mapping[str, Any]) -> None:
    """Raise SettingsError for the first parameter of a tree that is invalid, alone or together with others."""
    _check_each(given, _OF_TREES)
    growth, depth = given["growth"], given["max_depth"]
    if given["missing"] == "unknown":
        _check_three_valued(growth)
    if isinstance(growth, Optimal) and depth != "auto" and not is_whole(depth, 1, DEEPEST_OPTIMAL):
        raise SettingsError(
            f"with growth={growth!r}, max_depth must be 1, 2, {DEEPEST_OPTIMAL} or 'auto', got {depth!r}"
        )


def _check_three_valued(growth: Growth | None) -> None:
    if isinstance(growth, Optimal | LookAhead):
        raise SettingsError(
            f"missing='unknown' answers a question by the records of the node that asks it, and growth={growth!r} "
            "weighs questions before it is known where they are asked; leave out missing, or growth"
        )
    if growth is not None and growth.thresholds == "best":
        raise SettingsError(
            "thresholds='best' needs answers that turn once, and with missing='unknown' they may be unknown; leave "
            "out thresholds, or missing"
        )


def check_forest(given: Mapping[str, Any]) -> None:
    """Raise SettingsError for the first parameter of a forest that is invalid."""
    _check_each(given, _OF_FORESTS)


def check_tree_of_forest(given: Mapping[str, Any]) -> None:
    """Raise SettingsError for the first parameter of a forest's trees that is invalid, or makes no sense there."""
    check_parameters(given)
    if given["cv"] is not None:
        raise SettingsError(
            "the trees of a forest are not cross-validated one by one: leave out cv of the tree; out_of_bag_ tells how "
            "good the forest is"
        )
    if given["min_recall"] is not None:
        raise SettingsError(
            "min_recall holds for one tree, not for the mean of many: leave it out of the tree, and give the tree a "
            "class_weight"
        )


def check_min_recall(min_recall: Mapping[Any, float] | None, classes: NDArray[Any]) -> None:
    """Raise SettingsError if a minimum recall is given for a class that no record has."""
    known = classes.tolist()
    for label in min_recall or {}:
        if label not in known:
            raise SettingsError(f"min_recall: there is no class {label!r:.200}; there are {listed(known, 10)}")


def _check_each(given: Mapping[str, Any], table: "Mapping[str, tuple[Callable[[Any], bool], str]]") -> None:
    for name, (is_valid, expected) in table.items():
        if not is_valid(given[name]):
            raise SettingsError(f"{name} must be {expected}, got {given[name]!r}")


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)


def _is_class_weight(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(is_number(weight) and 0 <= weight < math.inf for weight in value.values())
    return value is None or (isinstance(value, str) and value == "balanced")


def _is_min_recall(value: Any) -> bool:
    return value is None or (
        isinstance(value, Mapping) and all(is_number(share) and 0 < share <= 1 for share in value.values())
    )


def _are_functions(value: Any) -> bool:
    return isinstance(value, Sequence) and all(isinstance(function, UserFunction) for function in value)


_OF_TREES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "grammar": (lambda it: it is None or isinstance(it, Grammar | str), 'a Grammar, text, "shapes", "paper" or None'),
    "search": (lambda it: isinstance(it, Search | None), "a search, such as MonteCarlo(), or None"),
    "criterion": (lambda it: it is None or callable(it), "a criterion, such as GiniSize(), or None"),
    "growth": (lambda it: isinstance(it, Growth | None), "Greedy(), LookAhead(), Optimal() or None"),
    "max_depth": (
        lambda it: it in (None, "auto") or is_whole(it, 0),
        'a whole number of at least 0, "auto" or None',
    ),
    "min_samples_leaf": (lambda it: it == "auto" or is_whole(it, 1), 'a whole number of at least 1, or "auto"'),
    "cv": (lambda it: it is None or is_whole(it, 2) or _is_list(it), "at least 2, a list of folds, or None"),
    "class_weight": (_is_class_weight, 'None, "balanced" or a dict from class to weight'),
    "min_recall": (_is_min_recall, "None, or a dict from class to a share above 0, up to 1"),
    "missing": (lambda it: isinstance(it, str) and it in ("false", "unknown"), '"false" or "unknown"'),
    "functions": (_are_functions, "a list of functions made with @user_function"),
    "n_jobs": (lambda it: it is None or (is_whole(it, -1) and it != 0), "None, −1 or at least 1"),
    "callback": (lambda it: it is None or callable(it), "a function or None"),
}

_OF_FORESTS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "n_estimators": (lambda it: is_whole(it, 1, MOST_TREES), f"a whole number from 1 to {MOST_TREES:,}"),
    "n_jobs": _OF_TREES["n_jobs"],
    "callback": _OF_TREES["callback"],
}
