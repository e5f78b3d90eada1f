"""Running an experiment: plan its runs, skip finished ones, do the others in parallel, and summarise."""

import json
import math
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from telltree.checks import is_whole, require_whole
from telltree.defaults import SIMULATED_ENCOUNTERS, TRIALS
from telltree.errors import DataError, SettingsError
from telltree.experiments.models import (
    ComparedModel,
    Telltree,
    choose_models,
    compile_all,
    further_searches,
    searches_of,
)
from telltree.experiments.results import Experiment, ModelResult
from telltree.experiments.studies import Study, study_named
from telltree.experiments.trial import Run, TrialRun, run_key
from telltree.scale.dask import Cluster
from telltree.scale.processes import finished, processes_for, stop
from telltree.search import Search

# ---- Finished runs in a file, one line of JSON each, so that an interrupted experiment can be resumed.

_BEGINNING = b'{"key": "'  # every line starts so


class RunStore:
    """Finished runs, read from a file and appended to it; with None they are kept in memory only.

    A crash may leave an unfinished last line, which is dropped. Any other line that is no run is a DataError, and the
    file is left alone: it must be something else.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._path = None if path is None else Path(path)
        self.runs: dict[tuple[str, int], Run] = {}
        if self._path is not None:
            self._open(self._path)

    def add(self, run: Run) -> None:
        """Store a run; it is on disk when this returns."""
        self.runs[run.key, run.trial] = run
        if self._path is not None:
            line = json.dumps(asdict(run), allow_nan=False).encode() + b"\n"
            try:
                with open(self._path, "ab") as file:
                    file.write(line)
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                raise DataError(f"{self._path}: cannot be written: {error}") from None

    def _open(self, path: Path) -> None:
        """Read the file, and check before any work that it can be written."""
        try:
            with open(path, "ab+") as file:
                file.seek(0)
                *lines, torn = file.read().split(b"\n")
                if not (torn.startswith(_BEGINNING) or _BEGINNING.startswith(torn)):
                    raise DataError(_foreign(path, len(lines) + 1))
                for number, line in enumerate(lines, 1):
                    run = _run(line, path, number)
                    self.runs[run.key, run.trial] = run
                if torn:
                    file.truncate(sum(len(line) + 1 for line in lines))
        except OSError as error:
            raise DataError(f"{path}: cannot be read and written: {error}") from None


def _run(line: bytes, path: Path, number: int) -> Run:
    try:
        values = json.loads(line)
    except ValueError:
        values = None
    if not isinstance(values, dict) or set(values) != {f.name for f in fields(Run)}:
        raise DataError(_foreign(path, number))
    if not all(_fits(name, value) for name, value in values.items()):
        raise DataError(_foreign(path, number))
    return Run(**values)


def _fits(name: str, value: Any) -> bool:
    if name in ("key", "model"):
        return isinstance(value, str)
    if name == "trial":
        return is_whole(value, 0)
    return (name == "terminals" and value is None) or (isinstance(value, float) and math.isfinite(value))


def _foreign(path: Path, number: int) -> str:
    return f"{path}, line {number}: not a finished run of an experiment; name another file, or a new one"


# ---- The progress of an experiment, and an estimate of the time left.


class RunProgress(NamedTuple):
    """A report on the progress of an experiment, at its start and after each run."""

    done: int
    """Number of finished runs, including those of earlier calls from the file."""
    total: int
    run: Run | None
    """The run that just finished; None at the start."""
    seconds: float
    """Time since the start of this call."""
    seconds_left: float | None
    """An estimate of the time left; None before the first run of this call."""


class TimeEstimate:
    """An estimate of the time left, from the times that each model took so far."""

    def __init__(self, to_do: Iterable[str], total: int, known: Iterable[Run]) -> None:
        """Take the model of each run to do, and the finished runs of earlier calls."""
        self._left = Counter(to_do)
        self._total = total
        self._took: dict[str, list[float]] = defaultdict(list)
        for run in known:
            self._took[run.model].append(run.seconds)
        self._start, self._worked = time.monotonic(), 0.0
        self._began = self._start

    def finished(self, run: Run | None) -> RunProgress:
        """Count a run, and return the progress of the experiment."""
        if run is not None:
            if not self._worked:  # before the first run, processes were starting
                self._began = max(self._start, time.monotonic() - run.seconds)
            self._left[run.model] -= 1
            self._took[run.model].append(run.seconds)
            self._worked += run.seconds
        seconds = time.monotonic() - self._start
        return RunProgress(self._total - self._left.total(), self._total, run, seconds, self._estimate())

    def _estimate(self) -> float | None:
        if not self._worked:
            return None
        times = [time for model in self._took.values() for time in model]
        mean = sum(times) / len(times)
        work = sum(
            count * (sum(self._took[name]) / len(self._took[name]) if self._took[name] else mean)
            for name, count in self._left.items()
        )
        # Learning is not all the time, and there may be several processes: scale by the progress so far.
        return work * (time.monotonic() - self._began) / self._worked


# ---- Running an experiment.


def run_experiment(
    study: str | Study,
    *,
    trials: int = TRIALS,
    searches: Iterable[str] | Mapping[str, Search] | None = None,
    baselines: Iterable[str] = ("tree", "forest", "bayes"),
    jobs: int | None = None,
    seed: int = 0,
    store: str | os.PathLike[str] | None = None,
    progress: Callable[[RunProgress], None] | None = None,
    data: str | os.PathLike[str] | None = None,
    records: int = SIMULATED_ENCOUNTERS,
    proximity: bool = False,
    paper_budgets: bool = False,
    preset: Literal["paper"] | None = None,
    whole: bool = False,
    client: Any = None,
) -> Experiment:
    """Repeat an experiment of the paper: every model on the same stratified random 70/30 splits.

    study: "auslan", "acasx", "encounters", or a Study.
    trials: the number of trials, each with its own split and seed, which follow from `seed` and the trial's number.
    searches, baselines: the models, by name; a mapping gives searches with other settings, under names of their own. By
        default the searches are the study's.
    jobs: the number of processes; None for one per core. Apart from times, the results do not depend on it.
    store: a file to which each finished run is added. A later call with the same settings finds it there and does not
        run it again; one with more trials or other models does only the new runs.
    progress: a function that is called at the start and after each run.
    data: the place of the data of "auslan" and "acasx" (see `load_auslan`, `load_acasx`).
    records, proximity: for "encounters", the number to simulate, and True if the grammar may use range, position and
        time to closest approach.
    paper_budgets: search with the settings of the paper's authors (see `GeneticProgramming.paper`): those for "auslan",
        or else those for "acasx".
    preset: "paper" for the same, with the criterion as the paper defines it: see `GrammarTreeClassifier.paper`.
    whole: for "acasx", all 50 steps of each encounter, not cut before the closest approach.
    client: a Dask client, whose workers do the runs in place of processes of this machine.

    Ctrl-C ends the experiment early, with the finished runs; `interrupted` of the result is then True.
    """
    require_whole("trials", trials, 1)
    require_whole("seed", seed, 0)
    if jobs is not None:
        require_whole("jobs", jobs, 1)
    if preset not in (None, "paper"):
        raise SettingsError(f"the only preset is 'paper', got {preset!r}")
    authors = {"paper_budgets": paper_budgets, "to_the_letter": preset is not None}
    known = searches_of(study if isinstance(study, str) else study.name, **authors)
    named = {**known, **further_searches(**authors)}
    models = choose_models(tuple(known) if searches is None else searches, baselines, named)
    finished_runs = RunStore(store)  # first, so that a file that cannot be used is found before the long work
    if isinstance(study, str):
        study = study_named(study, data=data, records=records, proximity=proximity, whole=whole)
    keys = {name: run_key(study, model, seed) for name, model in models.items()}
    tasks = [TrialRun(keys[name], name, models[name], trial, seed) for trial in range(trials) for name in models]
    interrupted = _work(tasks, study, finished_runs, progress, partial(_runs, jobs=jobs, client=client))
    results = {}
    for name, model in models.items():
        places = [(keys[name], trial) for trial in range(trials)]
        runs = tuple(finished_runs.runs[place] for place in places if place in finished_runs.runs)
        results[name] = ModelResult(name, model.title, model.settings(study), runs, study.paper.get(name))
    return Experiment(
        name=study.name,
        title=study.title,
        records=len(study.panel),
        classes=tuple(study.classes),
        trials=trials,
        seed=seed,
        models=results,
        grammar=study.grammar,
        notes=_notes(study, models.values()),
        interrupted=interrupted,
    )


def _work(
    tasks: list[TrialRun],
    study: Study,
    store: RunStore,
    progress: Callable[[RunProgress], None] | None,
    runs_of: Callable[[list[TrialRun], Study], Generator[Run]],
) -> bool:
    """Do the tasks that are not in the store yet; return True if Ctrl-C ended them early."""
    to_do = [task for task in tasks if (task.key, task.trial) not in store.runs]
    known = [store.runs[task.key, task.trial] for task in tasks if (task.key, task.trial) in store.runs]
    report = progress or _silent
    runs = runs_of(to_do, study)
    try:
        clock = TimeEstimate([task.name for task in to_do], len(tasks), known)
        report(clock.finished(None))
        for run in runs:
            store.add(run)
            report(clock.finished(run))
    except KeyboardInterrupt:
        return True
    finally:
        stop(runs)
    return False


def _notes(study: Study, models: Iterable[ComparedModel]) -> tuple[str, ...]:
    """Return the notes below a table of these models."""
    ours = [model for model in models if isinstance(model, Telltree)]
    on_criterion = (study.criterion_note,) if any(model.criterion is None for model in ours) else ()
    return tuple(filter(None, (*study.notes, *on_criterion, *(model.note for model in ours))))


def _silent(progress: RunProgress) -> None:
    """Report nothing."""


def _runs(tasks: list[TrialRun], study: Study, *, jobs: int | None, client: Any) -> Generator[Run]:
    """Yield the runs as they finish."""
    if not tasks:
        return
    if client is not None:
        yield from (run for _, run in Cluster(client).finished(TrialRun.run, tasks, study))
        return
    processes = processes_for(jobs, len(tasks))
    searches = _searches(task.model for task in tasks)
    compile_all(searches)  # once, before several processes do it at the same time
    if processes == 1:
        yield from (task.run(study) for task in tasks)
        return
    begin = partial(compile_all, searches)
    remedy = ". With a store, the runs that were finished are kept, and the same call goes on from there"
    with closing(finished(TrialRun.run, tasks, study, processes, begin=begin, remedy=remedy)) as runs:
        for _, run in runs:
            yield run


def _searches(models: Iterable[ComparedModel]) -> tuple[Search, ...]:
    return tuple(dict.fromkeys(model.search for model in models if isinstance(model, Telltree)))
