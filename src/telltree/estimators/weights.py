"""Weights of records: those of samples times those of their classes, as whole numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

from telltree.amounts import counted
from telltree.errors import SettingsError
from telltree.tree.labels import ONE

Weights = NDArray[np.float64]


def record_weights(labels: NDArray[Any], sample_weight: Any, class_weight: Any) -> Weights | None:
    """The product of sample and class weights, or None if neither is given.

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
    return given if class_weight is None else given * _class_weights(class_weight, labels, given > 0)


def fixed_point(weights: Weights | None) -> NDArray[np.int64] | None:
    """Weights as whole numbers of at most ONE; None if all are the same.

    They are scaled by a power of two, so that whole weights keep their ratios and stand for repeated records exactly.
    """
    if weights is None or np.all(weights == weights[0]):
        return None
    _, exponent = np.frexp(weights.max())
    found: NDArray[np.int64] = np.round(np.ldexp(weights, ONE.bit_length() - 1 - exponent)).astype(np.int64)
    return found


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
