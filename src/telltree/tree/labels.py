"""The labels of records as searches count them: a class and a weight each."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ONE = 1 << 20
"""Weights are integer multiples of 1 / ONE, so that sums do not depend on the order of summation."""


@dataclass(frozen=True)
class Labels:
    """The class of each record, and its weight as an integer (None: every record counts one)."""

    codes: NDArray[np.int64]
    classes: int
    weights: NDArray[np.int64] | None = None

    def __getitem__(self, members: NDArray[np.int64]) -> "Labels":
        weights = None if self.weights is None else self.weights[members]
        return Labels(self.codes[members], self.classes, weights)

    def totals(self) -> NDArray[np.int64]:
        """The weight of each class."""
        found = np.zeros(self.classes, np.int64)
        np.add.at(found, self.codes, 1 if self.weights is None else self.weights)
        return found

    def counts(self) -> NDArray[np.int64]:
        """The records of each class."""
        return np.bincount(self.codes, minlength=self.classes)

    def groups(self) -> tuple[list[NDArray[np.bool_]], NDArray[np.int64] | None]:
        """Groups of records to count, and how to turn the counts into the weight of each class: groups × classes.

        Without weights the groups are the classes, and the counts are the weights (None). With weights, a class has a
        group for each distinct weight, or, if there are many, one for each bit of the weights.
        """
        classes = [self.codes == k for k in range(self.classes)]
        if self.weights is None:
            return classes, None
        parts = [(k, weight, group) for k, own in enumerate(classes) for weight, group in _parts(self.weights, own)]
        worth = np.zeros((len(parts), self.classes), np.int64)
        for row, (k, weight, _) in enumerate(parts):
            worth[row, k] = weight
        return [group for _, _, group in parts], worth


def _parts(weights: NDArray[np.int64], own: NDArray[np.bool_]) -> list[tuple[int, NDArray[np.bool_]]]:
    """The records of a class by weight if it has few distinct weights, else by each bit of their weights."""
    distinct = np.unique(weights[own])
    bits = int(weights.max()).bit_length()
    if len(distinct) <= bits:
        return [(int(weight), own & (weights == weight)) for weight in distinct if weight]
    return [(1 << bit, own & ((weights >> bit) & 1 == 1)) for bit in range(bits)]
