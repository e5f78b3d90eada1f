"""Trials: which records each learns from, and the seeds. All depend only on the experiment's seed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.errors import DataError

TEST_SHARE = 0.3

Positions = NDArray[np.int64]


def seed_for(seed: int, *place: int) -> int:
    """A seed for one place in an experiment, such as a trial; it does not depend on other places."""
    return int(np.random.SeedSequence([seed, *place]).generate_state(1, np.uint32)[0])


def split(y: NDArray[Any], seed: int, trial: int) -> tuple[Positions, Positions]:
    """The positions of the records to learn from and to test on: stratified, random, 70 to 30."""
    from sklearn.model_selection import StratifiedShuffleSplit

    classes, counts = np.unique(y, return_counts=True)
    if len(classes) < 2 or counts.min() < 2:
        raise DataError(
            f"a trial needs at least two classes of at least two records each, to learn from and to test on; found "
            f"{dict(zip(classes.tolist(), counts.tolist(), strict=True))}"
        )
    shuffle = StratifiedShuffleSplit(1, test_size=TEST_SHARE, random_state=seed_for(seed, trial))
    train, test = next(shuffle.split(y, y))
    return train, test
