"""Samples of records, by which a search can judge most of its formulas where records are many."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.tree.target import ClassLabels, Labels

_EACH = 1_200
"""About how many records of a class are drawn, at least."""


class Sample(NamedTuple):
    """Some records, by their positions in ascending order, and for each class for how many records one stands."""

    records: NDArray[np.int64]
    stands: NDArray[np.int64]


def sample_of(labels: Labels, seed: int) -> Sample | None:
    """One record in so many of each class, at random; None if no class has enough to leave some out.

    Rare classes are drawn whole, so that no more of them is left to chance than must be.
    """
    if not isinstance(labels, ClassLabels):
        return None
    counts = labels.counts()
    stands = np.maximum(1, counts // _EACH)
    if (stands == 1).all():
        return None
    random = np.random.default_rng(seed)
    parts = [
        random.choice(np.flatnonzero(kind), count // each, replace=False)
        for kind, count, each in zip(labels.kinds(), counts.tolist(), stands.tolist(), strict=True)
    ]
    return Sample(np.sort(np.concatenate(parts)), stands)


def stake_of(labels: Labels) -> float:
    """How much there is to tell of records: how many there are, and if they have classes how mixed these are (Gini)."""
    if not isinstance(labels, ClassLabels):
        return float(len(labels))
    counts = labels.counts()
    return float(len(labels) - (counts**2).sum() / len(labels))
