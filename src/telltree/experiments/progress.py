"""How far an experiment is, and how long it will take."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from telltree.experiments.trial import Run


class Progress(NamedTuple):
    """What an experiment reports when it starts and after each run."""

    done: int
    """Runs that are finished, those found in the file of an earlier call included."""
    total: int
    run: Run | None
    """The one that just finished; None at the start."""
    seconds: float
    """Since the start of this call."""
    seconds_left: float | None
    """An estimate; None before there is anything to go by."""


class Clock:
    """Estimates the time left from how long each model took so far."""

    def __init__(self, to_do: Iterable[str], total: int, known: Iterable[Run]) -> None:
        """Begin with the models of the runs to do, one name a run, and what earlier calls took."""
        self._left = Counter(to_do)
        self._total = total
        self._took: dict[str, list[float]] = defaultdict(list)
        for run in known:
            self._took[run.model].append(run.seconds)
        self._start, self._worked = time.monotonic(), 0.0
        self._began = self._start

    def finished(self, run: Run | None) -> Progress:
        """Count a run, and say where that leaves the experiment."""
        if run is not None:
            if not self._worked:  # before that, processes were started
                self._began = max(self._start, time.monotonic() - run.seconds)
            self._left[run.model] -= 1
            self._took[run.model].append(run.seconds)
            self._worked += run.seconds
        seconds = time.monotonic() - self._start
        return Progress(self._total - self._left.total(), self._total, run, seconds, self._estimate())

    def _estimate(self) -> float | None:
        every = [took for runs in self._took.values() for took in runs]
        if not self._worked:
            return None
        mean = sum(every) / len(every)
        work = sum(
            count * (sum(self._took[name]) / len(self._took[name]) if self._took[name] else mean)
            for name, count in self._left.items()
        )
        # What learning takes is not all, and there may be several processes: scale by how it went so far.
        return work * (time.monotonic() - self._began) / self._worked
