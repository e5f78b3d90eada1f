"""The progress of an experiment, and an estimate of the time left."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from telltree.experiments.trial import Run


class Progress(NamedTuple):
    """What an experiment reports when it starts and after each run."""

    done: int
    """Runs that are finished, including those found in the file of an earlier call."""
    total: int
    run: Run | None
    """The run that just finished; None at the start."""
    seconds: float
    """Since the start of this call."""
    seconds_left: float | None
    """An estimate; None as long as there is no basis for one."""


class Clock:
    """Estimates the time left from how long each model took so far."""

    def __init__(self, to_do: Iterable[str], total: int, known: Iterable[Run]) -> None:
        """Start with the model of each run to do, and the times of earlier calls."""
        self._left = Counter(to_do)
        self._total = total
        self._took: dict[str, list[float]] = defaultdict(list)
        for run in known:
            self._took[run.model].append(run.seconds)
        self._start, self._worked = time.monotonic(), 0.0
        self._began = self._start

    def finished(self, run: Run | None) -> Progress:
        """Count a run; returns the progress of the experiment."""
        if run is not None:
            if not self._worked:  # until then, processes were starting
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
        # Learning is not all the time, and there may be several processes: scale by the progress so far.
        return work * (time.monotonic() - self._began) / self._worked
