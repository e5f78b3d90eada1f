"""Trials: a random split of the records, one model that learns and predicts, and its scores."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.errors import DataError
from telltree.experiments.models import ComparedModel
from telltree.experiments.studies import Study

# ---- Splits and seeds, which depend only on the experiment's seed.

TEST_SHARE = 0.3

Positions = NDArray[np.int64]


def seed_for(seed: int, *place: int) -> int:
    """Return a seed for one place in an experiment, such as a trial; it does not depend on other places."""
    return int(np.random.SeedSequence([seed, *place]).generate_state(1, np.uint32)[0])


def split(y: NDArray[Any], seed: int, trial: int) -> tuple[Positions, Positions]:
    """Split the records at random, stratified, 70 to 30; return the positions to learn from and to test on."""
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


# ---- Scores.


class TrialScores(NamedTuple):
    """Accuracy, and macro averages over the classes."""

    accuracy: float
    f1: float
    precision: float
    recall: float


def score(truth: NDArray[Any], predicted: NDArray[Any], classes: Sequence[Any]) -> TrialScores:
    """Compare predictions with the truth; a class that is never predicted has precision 0."""
    from sklearn.metrics import precision_recall_fscore_support

    precision, recall, f1, _ = precision_recall_fscore_support(
        truth, predicted, labels=list(classes), average="macro", zero_division=0
    )
    return TrialScores(float(np.mean(truth == predicted)), float(f1), float(precision), float(recall))


class TrialSummary(NamedTuple):
    """The mean of a score over trials, and its standard error, which is None for one trial."""

    mean: float
    error: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> "TrialSummary":
        """Summarise at least one value."""
        error = float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else None
        return cls(float(np.mean(values)), error)


# ---- Runs: one model in one trial, the unit of work in parallel and in files of finished runs.


@dataclass(frozen=True)
class Run:
    """The result of one model in one trial; `key` is a hash of everything that determines it, except the trial."""

    key: str
    model: str
    trial: int
    accuracy: float
    f1: float
    precision: float
    recall: float
    terminals: float | None
    seconds: float


@dataclass(frozen=True)
class TrialRun:
    """A task: one model in one trial; trials are numbered from 0."""

    key: str
    name: str
    model: ComparedModel
    trial: int
    seed: int

    def run(self, study: Study) -> Run:
        """Split the records, learn, predict and score; all models of a trial get the same records and the same seed."""
        train, test = split(study.y, self.seed, self.trial)
        predicted, seconds, terminals = self.model.predict(study, train, test, seed_for(self.seed, self.trial, 1))
        scores = score(study.y[test], predicted, study.classes)
        return Run(self.key, self.name, self.trial, *scores, terminals, seconds)


def run_key(study: Study, model: ComparedModel, seed: int) -> str:
    """Return a hash of the study's data, the model's settings, the seed and the version of telltree."""
    from telltree import __version__

    text = repr((study.data_fingerprint, model.settings(study), seed, __version__))
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
