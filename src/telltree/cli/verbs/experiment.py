"""telltree experiment: the paper's two experiments."""

import enum
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from telltree.cli.options import Json
from telltree.cli.outcome import INTERRUPTED, USAGE, fail, say
from telltree.cli.output import put
from telltree.cli.progress import bar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from telltree.experiments import Experiment, Progress


class ExperimentName(enum.StrEnum):
    """The experiments of the paper."""

    AUSLAN = "auslan"
    ENCOUNTERS = "encounters"


def experiment(
    *,
    name: Annotated[ExperimentName, typer.Argument(help="Which of the paper's experiments.")],
    trials: Annotated[int, typer.Option(help="Random 70/30 splits to learn from and test on.")] = 20,
    searches: Annotated[str, typer.Option(help="The searches, with commas between them.")] = "mc,ge,gp",
    jobs: Annotated[int | None, typer.Option(help="Processes; by default one a core.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same table, but for times.")] = 0,
    data: Annotated[
        Path | None, typer.Option(help="auslan: the folder or archive of the data; by default $TELLTREE_DATA.")
    ] = None,
    records: Annotated[int, typer.Option(help="encounters: how many to simulate.")] = 10_000,
    proximity: Annotated[
        bool, typer.Option("--proximity", help="encounters: let formulas speak of range, position and time to go.")
    ] = False,
    shortcuts: Annotated[
        bool,
        typer.Option("--shortcuts", help="encounters: also say how far one atom, and two, get: a check on leakage."),
    ] = False,
    store: Annotated[
        Path | None, typer.Option(help="Keep finished runs in this file, and do not repeat those it holds.")
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also draw the paper's figures into this folder.")
    ] = None,
    json: Json = False,
) -> None:
    """Run an experiment of the paper: telltree with each search, and the paper's baselines, on the same splits.

    With --store, an experiment that was interrupted goes on where it stopped.

    \b
    Examples:
      telltree experiment auslan
      telltree experiment encounters --trials 5 --searches gp --store runs.jsonl
    """
    from telltree.experiments import run_experiment

    if pictures is not None:
        _check_folder(pictures)
    with _watching() as progress:
        found = run_experiment(
            str(name),
            trials=trials,
            searches=tuple(word.strip() for word in searches.split(",") if word.strip()),
            jobs=jobs,
            seed=seed,
            store=store,
            progress=progress,
            data=data,
            records=records,
            proximity=proximity,
        )
    put(found.to_json() if json else str(found), exact=json)
    if found.interrupted:
        kept = f"go on with the same command and --store {store}" if store else "give --store to be able to go on"
        say(f"telltree: interrupted; the table is of the runs that were finished; {kept}")
        raise typer.Exit(INTERRUPTED)
    if shortcuts and name is ExperimentName.ENCOUNTERS:
        from telltree.experiments import encounter_study
        from telltree.experiments import shortcuts as best_of

        for best in best_of(encounter_study(records, proximity=proximity), seed=seed):
            say(f"{best.atoms} atom{'s' if best.atoms > 1 else ''}: macro F1 {best.f1:.4f} with {best.formula}")
    if pictures is not None:
        _draw(found, pictures, records)


def _check_folder(folder: Path) -> None:
    """End with an error, before any work, if the figures could not be drawn or written."""
    from telltree.report import plot_tree

    del plot_tree  # that it could be imported is what was asked
    if not folder.is_dir():
        fail(f"{folder} is no folder: make it first", USAGE)


def _draw(found: "Experiment", folder: Path, records: int) -> None:
    from telltree.datasets import make_encounters
    from telltree.experiments.pictures import draw_auslan, draw_encounters
    from telltree.experiments.stories import tell_stories

    if found.name == "auslan":
        paths = draw_auslan(found, folder)
    else:
        stories = tell_stories(make_encounters(records, round(0.0863 * records)), seed=found.seed)
        say(str(stories))
        paths = draw_encounters(folder, stories)
    for path in paths:
        say(f"wrote {path}")


@contextmanager
def _watching() -> "Iterator[Callable[[Progress], None]]":
    """A bar on a terminal; off it, a line now and then."""
    with bar() as shown:
        task = shown.add_task("running", total=1.0, remark="") if shown else None

        def show(event: "Progress") -> None:
            left = "" if event.seconds_left is None else f", about {_duration(event.seconds_left)} left"
            latest = (
                "" if event.run is None else f"trial {event.run.trial + 1}, {event.run.model}: {event.run.accuracy:.4f}"
            )
            if shown is not None and task is not None:
                shown.update(task, total=event.total, completed=event.done, remark=f"{latest}{left}")
            elif event.run is not None and event.done * 10 // event.total > (event.done - 1) * 10 // event.total:
                say(f"{event.done} of {event.total} runs{left}")

        yield show


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
