"""Run an experiment: plan its runs, skip those that are done, do the others in parallel, and summarise."""

import os
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from functools import partial
from typing import Any, Literal

from telltree.errors import SettingsError
from telltree.experiments.experiment import Experiment, ModelResult
from telltree.experiments.models import Model, Telltree, choose_models, compile_all, further_searches, searches_of
from telltree.experiments.progress import Clock, Progress
from telltree.experiments.store import Store
from telltree.experiments.studies import study_named
from telltree.experiments.study import Study
from telltree.experiments.trial import Run, Task, run_key
from telltree.search import Search
from telltree.tree.cluster import Cluster
from telltree.tree.processes import finished, processes_for, stop
from telltree.whole import require_whole


def run_experiment(
    study: str | Study,
    *,
    trials: int = 20,
    searches: Iterable[str] | Mapping[str, Search] | None = None,
    baselines: Iterable[str] = ("tree", "forest", "bayes"),
    jobs: int | None = None,
    seed: int = 0,
    store: str | os.PathLike[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
    data: str | os.PathLike[str] | None = None,
    records: int = 10_000,
    proximity: bool = False,
    paper_budgets: bool = False,
    preset: Literal["paper"] | None = None,
    whole: bool = False,
    client: Any = None,
) -> Experiment:
    """Repeat an experiment of the paper: every model on the same stratified random 70/30 splits.

    study: "auslan", "acasx", "encounters", or a Study of one's own.
    trials: each with its own split and seed, both functions of `seed` and the trial's number alone.
    searches, baselines: the models, by name; a mapping gives searches with settings of one's own. By default the
        searches are the study's.
    jobs: processes; None for one per core. The results, apart from times, do not depend on it.
    store: a file to which each finished run is added. A later call with the same settings finds it there and does not
        run it again; one with more trials or other models runs what is new.
    progress: called at the start and after each run.
    data: for "auslan" and "acasx", where the data are (see `load_auslan`, `load_acasx`).
    records, proximity: for "encounters", how many to simulate, and whether the grammar may speak of range, position and
        time to closest approach.
    paper_budgets: search with the settings of the paper's authors (see `GeneticProgramming.paper`): those for "auslan",
        or else those for "acasx".
    preset: "paper" for the same, with the fitness as the paper defines it: see `GrammarTreeClassifier.paper`.
    whole: for "acasx", all 50 steps of each encounter, not cut before the closest approach.
    client: a Dask client, whose workers do the runs in place of processes of this machine.

    Ctrl-C ends it early, with what is finished; `interrupted` of the result says so.
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
    kept = Store(store)  # find a file that cannot be used before the long work starts
    if isinstance(study, str):
        study = study_named(study, data=data, records=records, proximity=proximity, whole=whole)
    keys = {name: run_key(study, model, seed) for name, model in models.items()}
    tasks = [Task(keys[name], name, models[name], trial, seed) for trial in range(trials) for name in models]
    interrupted = _work(tasks, study, kept, progress, partial(_runs, jobs=jobs, client=client))
    results = {}
    for name, model in models.items():
        runs = tuple(kept.runs[keys[name], trial] for trial in range(trials) if (keys[name], trial) in kept.runs)
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
    tasks: list[Task],
    study: Study,
    kept: Store,
    progress: Callable[[Progress], None] | None,
    runs_of: Callable[[list[Task], Study], Generator[Run]],
) -> bool:
    """Do the tasks that are not done yet; True if Ctrl-C cut it short."""
    to_do = [task for task in tasks if (task.key, task.trial) not in kept.runs]
    known = [kept.runs[task.key, task.trial] for task in tasks if (task.key, task.trial) in kept.runs]
    tell = progress or _silent
    runs = runs_of(to_do, study)
    try:
        clock = Clock([task.name for task in to_do], len(tasks), known)
        tell(clock.finished(None))
        for run in runs:
            kept.add(run)
            tell(clock.finished(run))
    except KeyboardInterrupt:
        return True
    finally:
        stop(runs)
    return False


def _notes(study: Study, models: Iterable[Model]) -> tuple[str, ...]:
    """What a reader of a table of these models should know."""
    ours = [model for model in models if isinstance(model, Telltree)]
    charged = (study.fitness_note,) if any(model.fitness is None for model in ours) else ()
    return tuple(filter(None, (*study.notes, *charged, *(model.note for model in ours))))


def _silent(progress: Progress) -> None:
    """Report nothing."""


def _runs(tasks: list[Task], study: Study, *, jobs: int | None, client: Any) -> Generator[Run]:
    """The runs as they finish."""
    if not tasks:
        return
    if client is not None:
        yield from (run for _, run in Cluster(client).finished(Task.run, tasks, study))
        return
    processes = processes_for(jobs, len(tasks))
    searches = _searches(task.model for task in tasks)
    compile_all(searches)  # once, before several processes do it at the same time
    if processes == 1:
        yield from (task.run(study) for task in tasks)
        return
    begin = partial(compile_all, searches)
    remedy = ". With a store, the runs that were finished are kept, and the same call goes on from there"
    with closing(finished(Task.run, tasks, study, processes, begin=begin, remedy=remedy)) as runs:
        for _, run in runs:
            yield run


def _searches(models: Iterable[Model]) -> tuple[Search, ...]:
    return tuple(dict.fromkeys(model.search for model in models if isinstance(model, Telltree)))
