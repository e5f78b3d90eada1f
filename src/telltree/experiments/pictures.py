"""The paper's figures and stories of encounters, as files."""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from telltree.datasets.encounters import PROXIMITY, Encounters, make_encounters
from telltree.errors import SettingsError
from telltree.estimators import GrammarTreeClassifier
from telltree.experiments.models import SEARCHES
from telltree.experiments.results import Experiment
from telltree.experiments.studies import Study, auslan_study, encounter_grammar
from telltree.experiments.trial import seed_for, split
from telltree.explain import Category, PathStep, path_of
from telltree.panel import Panel

# ---- The kinds of near mid-air collision among the paper's encounters, and the three encounters that its figures
# show.

NMAC = "NMAC"
_LEAST = 10
SHOWN: dict[int, str] = {  # by the number of the encounter; what the paper says of its category
    1303: "one aircraft manoeuvres just before the collision (the paper's category 1)",
    944: "they cross early, then manoeuvre back towards each other (the paper's category 5)",
    5246: "they cross while a pilot has not yet responded (the paper's category 6)",
}


@dataclass(frozen=True)
class Case:
    """An encounter of the paper's figures, the category it falls into, and the way there."""

    encounter: int
    record: int
    """Its position in the panel."""
    story: str
    category: Category
    way: tuple[PathStep, ...]

    def __str__(self) -> str:
        counts = ", ".join(f"{label}: {n}" for label, n in self.category.counts.items())
        lines = [f"encounter {self.encounter}: {self.story}", f"category {self.category.number}, {counts}, because"]
        return "\n".join([*lines, *(f"- {turn.english}" for turn in self.way)])


@dataclass(frozen=True)
class Collisions:
    """One tree for all encounters, its categories of collisions, and the paper's cases in it."""

    panel: Panel
    y: NDArray[Any]
    model: GrammarTreeClassifier
    categories: tuple[Category, ...]
    """Those that predict a collision, in ascending order, as the rows of the paper's collage."""
    cases: tuple[Case, ...]

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.cases))


def sort_collisions(study: Study, *, seed: int = 0) -> Collisions:
    """Learn one tree from all encounters of a study, and find the categories of the paper's cases.

    The classes weigh alike, so that a collision, which is rare, is worth a category: what is asked here is what kinds
    of collision there are, not how likely one is. No category has fewer than ten encounters.
    """
    model = SEARCHES["gp"].estimator(study, study.grammar_for(study.panel), seed)
    model.set_params(min_samples_leaf=_LEAST, class_weight="balanced", n_jobs=-1).fit(study.panel, study.y)
    found = model.categories(study.panel, study.y)
    kinds = tuple(category for category in found if category.label == NMAC)
    return Collisions(study.panel, study.y, model, kinds, tuple(_cases(study.panel, model, found)))


def _cases(panel: Panel, model: GrammarTreeClassifier, found: tuple[Category, ...]) -> list[Case]:
    cases = []
    for encounter, story in SHOWN.items():
        for record in np.flatnonzero(panel.ids == encounter).tolist():
            category = next(c for c in found if record in c.positions)
            cases.append(Case(encounter, record, story, category, path_of(model.tree_, panel, record)))
    return cases


def whole_records(data: str | os.PathLike[str] | None) -> Panel:
    """The same encounters to their end, as flights for figures; `data` as for `acasx_study`."""
    from telltree.datasets import load_acasx
    from telltree.datasets.acasx import advised_flights, find_acasx

    return advised_flights(load_acasx(find_acasx() if data is None else data, cut=False).panel)


# ---- Categorization of encounters: one tree of what was done, its categories, and the families of plans they hold.
#
# Only the simulator knows the families. No model sees them; here they judge what a tree found.

_VERTICAL = ("relative_altitude_1", "relative_altitude_2", "vertical_miss_1", "vertical_miss_2")


@dataclass(frozen=True)
class CollisionKind:
    """A category of NMACs, and how many of them come from each family."""

    category: Category
    families: dict[str, int]

    @property
    def nmacs(self) -> int:
        """Members that really ended in an NMAC."""
        return sum(self.families.values())

    @property
    def family(self) -> str:
        """The family that most of them come from; the first of equals."""
        return max(self.families, key=lambda name: self.families[name])


@dataclass(frozen=True)
class Stories:
    """What a tree says about encounters: its kinds of NMAC, largest first."""

    panel: Panel
    y: NDArray[Any]
    family: NDArray[Any]
    model: GrammarTreeClassifier
    kinds: tuple[CollisionKind, ...]

    def of_family(self, family: str) -> tuple[CollisionKind, ...]:
        """The kinds of NMAC that come mostly from this family."""
        return tuple(kind for kind in self.kinds if kind.family == family)

    @property
    def families(self) -> dict[str, int]:
        """The families with NMACs, and how many each has."""
        return dict(sorted(Counter(self.family[self.y == NMAC].tolist()).items()))

    def example(self, family: str) -> int:
        """The position of the first NMAC of the family in its largest kind."""
        positions = self.of_family(family)[0].category.positions
        members = positions[(self.y[positions] == NMAC) & (self.family[positions] == family)]
        return int(members[0])

    def __str__(self) -> str:
        lines = ["families of NMACs, and the categories that are mostly of each:"]
        for family, number in self.families.items():
            kinds = self.of_family(family)
            held, whole = sum(kind.families[family] for kind in kinds), sum(kind.nmacs for kind in kinds)
            where = ", ".join(f"[{kind.category.number}] {kind.families[family]} of {kind.nmacs}" for kind in kinds)
            share = f"{held / number:.0%} of its {number}" if kinds else "in no category of its own"
            purity = f", {held / whole:.0%} of theirs" if kinds else ""
            lines.append(f"  {family}: {share}{purity}  {where}".rstrip())
        return "\n".join(lines)


def tell_stories(encounters: Encounters | None = None, *, seed: int = 0, max_depth: int = 4) -> Stories:
    """Learn one tree from all encounters, of what aircraft, pilots and the avoidance logic did, and sort its NMACs.

    How near the aircraft are, sideways and vertically, is left out: it nearly is the label, and a tree that may speak
    of it has no need to tell one story from another.
    """
    panel, y, family = make_encounters() if encounters is None else encounters
    told = panel.select([name for name in panel.schema if name not in (*PROXIMITY, *_VERTICAL)])
    model = GrammarTreeClassifier(encounter_grammar(distance=False), max_depth=max_depth, random_state=seed, n_jobs=-1)
    model.fit(told, y)
    kinds = []
    for category in model.categories(told, y):
        ended = category.positions[y[category.positions] == NMAC]
        if category.label == NMAC and len(ended):
            counts = Counter(family[ended].tolist())
            kinds.append(
                CollisionKind(category, {name: counts[name] for name in np.unique(family[y == NMAC]).tolist()})
            )
    kinds.sort(key=lambda kind: (-kind.nmacs, kind.category.number))
    return Stories(panel, y, family, model, tuple(kinds))


# ---- The paper's figures, as files: Auslan's tree, the collage of encounters, and single encounters, annotated.

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
