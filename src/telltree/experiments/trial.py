"""One model in one trial: the unit of work that runs in parallel, is stored in files and is never run twice."""

import hashlib
from dataclasses import dataclass

from telltree.experiments.metrics import score
from telltree.experiments.models import Model
from telltree.experiments.splits import seed_for, split
from telltree.experiments.study import Study


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
class Task:
    """A run to be done; trials are numbered from 0."""

    key: str
    name: str
    model: Model
    trial: int
    seed: int

    def run(self, study: Study) -> Run:
        """Split the records, learn, predict, score. All models of a trial get the same records and the same seed."""
        train, test = split(study.y, self.seed, self.trial)
        predicted, seconds, terminals = self.model.predict(study, train, test, seed_for(self.seed, self.trial, 1))
        scores = score(study.y[test], predicted, study.classes)
        return Run(self.key, self.name, self.trial, *scores, terminals, seconds)


def run_key(study: Study, model: Model, seed: int) -> str:
    """A hash of the study's data, the model's settings, the seed and the version of telltree."""
    from telltree import __version__

    said = repr((study.data_fingerprint, model.settings(study), seed, __version__))
    return hashlib.blake2b(said.encode(), digest_size=12).hexdigest()
