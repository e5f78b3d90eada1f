"""The paper's figures, as files: Auslan's tree, the collage of encounters, and single encounters, annotated."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from telltree.data import Panel
from telltree.errors import SettingsError
from telltree.experiments.collisions import Collisions
from telltree.experiments.experiment import Experiment
from telltree.experiments.models import SEARCHES
from telltree.experiments.splits import seed_for, split
from telltree.experiments.stories import NMAC, Stories, tell_stories
from telltree.experiments.studies import auslan_study
from telltree.experiments.study import Study

DOTS_PER_INCH = 110


def draw_auslan(experiment: Experiment, folder: Path, study: Study | None = None) -> Iterator[Path]:
    """The best tree of genetic programming over all trials, with formulas and in English."""
    from telltree.report import plot_tree

    if "gp" not in experiment.models:
        raise SettingsError("the picture is of a tree by genetic programming: add gp to the searches")
    best = max(experiment.models["gp"].runs, key=lambda run: (run.accuracy, -run.trial))
    study = auslan_study() if study is None else study
    train, _ = split(study.y, experiment.seed, best.trial)
    model = SEARCHES["gp"].learn(study, train, seed_for(experiment.seed, best.trial, 1))
    for text in ("formula", "english"):
        figure = plot_tree(model.tree_, text=text)
        yield _saved(figure, folder / f"auslan-tree-{text}.png")


def draw_acasx(folder: Path, found: Collisions, flights: Panel) -> Iterator[Path]:
    """The tree, the collage of the kinds of collision, and the encounters of the paper's figures, annotated."""
    from telltree.report import draw_encounter, plot_collage, plot_encounter, plot_tree

    yield _saved(plot_tree(found.model.tree_, text="formula"), folder / "acasx-tree.png")
    kinds = found.categories
    collage = plot_collage(kinds, flights, found.y, draw=draw_encounter, only_label=NMAC, text=None)
    yield _saved(collage, folder / "acasx-collage.png")
    for case in found.cases:
        # by its rates, as the paper shows the late manoeuvre
        show: Literal["altitude", "vertical_rate"] = "vertical_rate" if case.encounter == 1303 else "altitude"
        figure = plot_encounter(flights, case.record, show=show, caption=str(case))
        yield _saved(figure, folder / f"acasx-encounter-{case.encounter}.png")


def draw_encounters(folder: Path, stories: Stories | None = None) -> Iterator[Path]:
    """The collage of the kinds of NMAC, the tree they come from, and an encounter of each family's largest kind."""
    from telltree.report import draw_encounter, plot_collage, plot_encounter, plot_tree

    stories = tell_stories() if stories is None else stories
    shown = sorted((kind.category for kind in stories.kinds), key=lambda category: category.number)
    collage = plot_collage(shown, stories.panel, stories.y, draw=draw_encounter, only_label=NMAC, text=None)
    yield _saved(collage, folder / "encounters-collage.png")
    yield _saved(plot_tree(stories.model.tree_, text="formula"), folder / "encounters-tree.png")
    for family in stories.families:
        if stories.of_family(family):
            # a late manoeuvre shows in the vertical rate, as in the paper
            show: Literal["altitude", "vertical_rate"] = "vertical_rate" if family.startswith("late") else "altitude"
            figure = plot_encounter(stories.panel, stories.example(family), show=show)
            yield _saved(figure, folder / f"encounter-{family.replace(' ', '-')}.png")


def _saved(figure: Any, path: Path) -> Path:
    figure.savefig(path, dpi=DOTS_PER_INCH, bbox_inches="tight")
    return path
