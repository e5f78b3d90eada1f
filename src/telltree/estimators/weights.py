"""Weights of records: those of samples times those of their classes, as whole numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

from telltree.amounts import counted
from telltree.errors import SettingsError
from telltree.tree.target.classes import ONE

Weights = NDArray[np.float64]
_SAME = 1e-9  # the share by which two weights may differ and be meant to be the same: 3 · 0.1 is not 0.3
_MOST_PARTS = 60  # of the smallest weight, of which whole numbers make all others


def record_weights(labels: NDArray[Any], sample_weight: Any, class_weight: Any) -> Weights | None:
    """The product of sample and class weights, as shares of the largest, or None if neither is given.

    A record of weight 0 is no record: "balanced" does not count it.
    """
    if sample_weight is None and class_weight is None:
        return None
    given = np.ones(len(labels)) if sample_weight is None else _floats(sample_weight)
    if given.shape != (len(labels),) or not np.all(np.isfinite(given)) or np.any(given < 0) or not given.any():
        raise SettingsError(
            f"sample_weight must hold one finite number of at least 0 for each of the "
            f"{counted(len(labels), 'record')}, not all of them zero"
        )
    classes = np.ones(len(labels)) if class_weight is None else _class_weights(class_weight, labels, given > 0)
    return _product(given, classes)


def _product(one: Weights, other: Weights) -> Weights:
    """The products as shares of the largest, none of which vanishes or overflows, whatever the factors are."""
    (a, b), (c, d) = np.frexp(one), np.frexp(other)
    size, exponent = np.frexp(a * c)
    exponent = exponent + b + d
    most = exponent[size > 0].max(initial=-(1 << 20))
    found: Weights = np.ldexp(size, exponent - most)
    return np.where(size > 0, np.maximum(found, np.finfo(np.float64).tiny), 0.0)


def fixed_point(weights: Weights | None) -> NDArray[np.int64] | None:
    """Weights as whole numbers of at most ONE, which depend on their ratios alone; None if all are the same.

    Weights that are as small whole numbers to each other stay so, and stand for repeated records exactly. One that is
    not 0 is at least 1.
    """
    if weights is None or np.all(np.abs(weights - weights[0]) <= _SAME * weights[0]):
        return None
    whole = _ratios(weights)
    if whole is None:
        whole = np.floor(weights / weights.max() * ONE + 0.5 + _SAME)
    else:  # by a power of two, which no sum of them notices
        whole = np.ldexp(whole, ONE.bit_length() - 1 - np.frexp(whole.max())[1])
    found: NDArray[np.int64] = np.maximum(whole, weights > 0).astype(np.int64)
    return found


def _ratios(weights: Weights) -> Weights | None:
    """The weights as the smallest whole numbers that are to each other as they are; None if those are not small."""
    with np.errstate(over="ignore"):
        shares = weights / weights[weights > 0].min()
    if not shares.max() < ONE:
        return None
    distinct = np.unique(shares)
    for parts in range(1, _MOST_PARTS + 1):
        if np.all(np.abs(distinct * parts - np.round(distinct * parts)) <= _SAME * distinct * parts):
            return np.round(shares * parts) if distinct[-1] * parts < ONE else None
    return None


def _floats(values: Any) -> Weights:
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise SettingsError(f"sample_weight must hold numbers: {error}") from error


def _class_weights(class_weight: Any, labels: NDArray[Any], weighing: NDArray[np.bool_]) -> Weights:
    """The weight of each record's class."""
    found = np.zeros(len(labels))
    if class_weight == "balanced":
        found[weighing] = compute_sample_weight(class_weight, labels[weighing])
        return found
    try:
        found[:] = compute_sample_weight(class_weight, labels)
    except ValueError as error:  # a dict that names none of the classes
        raise SettingsError(f"class_weight: {error}") from error
    if not found[weighing].any():
        raise SettingsError(f"class_weight gives every class the weight 0: {class_weight!r}")
    return found
