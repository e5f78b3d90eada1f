"""How much sentences tell of the classes of records, each by itself: which kinds of them earn their place."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Telling:
    """Sentences of one kind, and how much the best of them tells of each class.

    `most` has for each class the bits by which its best sentence shortens the message that tells which records are of
    this class. A tree of many classes asks many questions, so each class is looked at by itself.
    """

    def __init__(self, labels: NDArray[Any] | None) -> None:
        """Take the label of each record; without labels there is nothing to tell."""
        codes = np.zeros(0, np.intp) if labels is None else np.unique(labels, return_inverse=True)[1]
        self._own = np.eye(codes.max(initial=0) + 1)[codes]  # records × classes
        self._total = self._own.sum(axis=0)
        self.most: Floats = np.zeros(len(self._total))

    def note(self, truth: NDArray[np.bool_]) -> None:
        """Note of sentences whether each is true of each record: records × sentences."""
        true, records = truth.T.astype(np.float64) @ self._own, np.float64(len(truth))
        side = truth.sum(axis=0)[:, None].astype(np.float64)
        left = _bits(true, side) + _bits(self._total - true, records - side)
        told = _bits(self._total, records) - left
        self.most = np.maximum(self.most, told.max(axis=0, initial=0.0))

    def exceeds(self, other: "Telling") -> bool:
        """Whether some class is told better than by the best of other sentences."""
        return bool(np.any(self.most > other.most))


def _bits(own: Floats, records: Floats | np.float64) -> Floats:
    """The bits that tell which of so many records are of a class, if so many are."""
    told: Floats = _spread(own, records) + _spread(records - own, records)
    return told


def _spread(part: Floats, whole: Floats | np.float64) -> Floats:
    some = np.maximum(part, 1.0)  # 0 × log 0 is 0
    spread: Floats = part * np.log2(np.maximum(whole, 1.0) / some)
    return spread
