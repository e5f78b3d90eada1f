"""telltree experiment: run the paper's two experiments, or the second one on simulated encounters."""

import enum
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from telltree.cli.inputs import Dask, client_of
from telltree.cli.options import Json
from telltree.cli.output import INTERRUPTED, USAGE, fail, put, say
from telltree.cli.progress import bar
from telltree.defaults import SIMULATED_ENCOUNTERS, TRIALS
from telltree.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from telltree.experiments import Experiment, RunProgress


class ExperimentName(enum.StrEnum):
    """The experiments of the paper."""

    ACASX = "acasx"
    AUSLAN = "auslan"
    ENCOUNTERS = "encounters"


def experiment(
    *,
    name: Annotated[ExperimentName, typer.Argument(help="Which of the paper's experiments.")],
    trials: Annotated[int, typer.Option(help="Random 70/30 splits to learn from and test on.")] = TRIALS,
    searches: Annotated[
        str | None,
        typer.Option(
            help="The searches, with commas between them: mc, ge, gp, gp-long (acasx: formulas of any length), ce, "
            "pipe, auto; by default the first three, and for acasx the first four.",
            show_default=False,
        ),
    ] = None,
    paper_budgets: Annotated[
        bool, typer.Option("--paper-budgets", help="Search with the settings of the paper's authors: slow.")
    ] = False,
    preset: Annotated[
        Literal["paper"] | None,
        typer.Option(
            help="paper: the same, and the criterion as the paper defines it, to the letter.", show_default=False
        ),
    ] = None,
    whole: Annotated[
        bool,
        typer.Option("--whole", help="acasx: all 50 steps of each encounter, not cut before the closest approach."),
    ] = False,
    jobs: Annotated[int | None, typer.Option(help="Processes; by default one a core.")] = None,
    dask: Dask = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same table, but for times.")] = 0,
    data: Annotated[
        Path | None,
        typer.Option(
            help="auslan: the folder or archive of the data; acasx: its Parquet file or folder. By default they are "
            "looked for in $TELLTREE_DATA; acasx then takes the sample that comes with telltree."
        ),
    ] = None,
    records: Annotated[int, typer.Option(help="encounters: how many to simulate.")] = SIMULATED_ENCOUNTERS,
    proximity: Annotated[
        bool, typer.Option("--proximity", help="encounters: let formulas speak of range, position and time to go.")
    ] = False,
    shortcuts: Annotated[
        bool,
        typer.Option("--shortcuts", help="encounters: also say how far one atom, and two, get: a check on leakage."),
    ] = False,
    store: Annotated[
        Path | None,
        typer.Option(
            help="Keep finished runs in this file, and do not repeat those it holds; by default they are kept in the "
            "user's cache folder until all are finished."
        ),
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also draw the paper's figures into this folder.")
    ] = None,
    json: Json = False,
) -> None:
    """Run an experiment of the paper: telltree with each search, and the paper's baselines, on the same splits.

    An experiment that was interrupted goes on where it stopped when the same command is given again.

    \b
    Examples:
      telltree experiment acasx
      telltree experiment auslan
      telltree experiment encounters --trials 5 --searches gp --store runs.jsonl
    """
    from telltree.experiments import run_experiment

    if pictures is not None:
        _check_folder(pictures)
    runs_file = store or _unfinished(name)
    with _watching() as progress, client_of(dask) as client:
        found = run_experiment(
            str(name),
            trials=trials,
            searches=None if searches is None else tuple(word.strip() for word in searches.split(",") if word.strip()),
            jobs=jobs,
            seed=seed,
            store=runs_file,
            progress=progress,
            data=data,
            records=records,
            proximity=proximity,
            paper_budgets=paper_budgets,
            preset=preset,
            whole=whole,
            client=client,
        )
    put(found.to_json() if json else str(found), exact=json)
    if found.interrupted:
        say("telltree: interrupted; the table is of the runs that were finished; the same command goes on from there")
        raise typer.Exit(INTERRUPTED)
    if store is None:
        runs_file.unlink(missing_ok=True)  # the next experiment starts from the beginning
    if shortcuts and name is ExperimentName.ENCOUNTERS:
        _say_shortcuts(records, proximity, seed)
    if pictures is not None:
        _draw(found, pictures, data, records, whole=whole)


def _unfinished(name: ExperimentName) -> Path:
    """Return the file in which an unfinished experiment keeps its runs."""
    import platformdirs

    folder = platformdirs.user_cache_path("telltree", appauthor=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fail(f"finished runs cannot be kept in {folder}: {error}; give --store FILE", USAGE)
    return folder / f"experiment-{name}.jsonl"


def _say_shortcuts(records: int, proximity: bool, seed: int) -> None:
    from telltree.experiments import encounter_study, shortcuts

    for best in shortcuts(encounter_study(records, proximity=proximity), seed=seed):
        say(f"{best.atoms} atom{'s' if best.atoms > 1 else ''}: macro F1 {best.f1:.4f} with {best.formula}")


def _check_folder(folder: Path) -> None:
    """End with an error, before any work, if the figures could not be drawn or written."""
    from telltree.report import plot_tree

    del plot_tree  # only to check that it can be imported
    if not folder.is_dir():
        fail(f"{folder} is no folder: make it first", USAGE)


def _draw(found: "Experiment", folder: Path, data: Path | None, records: int, *, whole: bool) -> None:
    from telltree.experiments import acasx_study, auslan_study
    from telltree.experiments.figures import (
        categorize_collisions,
        categorize_nmacs,
        draw_acasx,
        draw_auslan,
        draw_encounters,
        whole_records,
    )
    from telltree.experiments.studies import simulated

    if found.name == "auslan":
        paths = draw_auslan(found, folder, auslan_study(data))
    elif found.name == "acasx":
        collisions = categorize_collisions(acasx_study(data, whole=whole), seed=found.seed)
        say(str(collisions))
        paths = draw_acasx(folder, collisions, whole_records(data))
    else:
        nmacs = categorize_nmacs(simulated(records), seed=found.seed)
        say(str(nmacs))
        paths = draw_encounters(folder, nmacs)
    for path in paths:
        say(f"wrote {path}")


@contextmanager
def _watching() -> "Iterator[Callable[[RunProgress], None]]":
    """Yield the `progress` function, which shows a bar on a terminal, and else a line for every tenth of the runs."""
    with bar(left=False) as shown:
        task = shown.add_task("running", total=1.0, remark="") if shown else None

        def show(event: "RunProgress") -> None:
            left = "" if event.seconds_left is None else f", about {_duration(event.seconds_left)} left"
            status = f"{event.done} of {counted(event.total, 'run')}{left}"
            if shown is not None and task is not None:
                run = event.run
                latest = "" if run is None else f"; trial {run.trial + 1}, {run.model}: {run.accuracy:.4f}"
                shown.update(task, total=event.total, completed=event.done, remark=status + latest)
            elif event.run is not None and event.done * 10 // event.total > (event.done - 1) * 10 // event.total:
                say(status)

        yield show


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
