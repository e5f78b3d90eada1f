"""The paper's figures as files, and the categories of encounters that they show."""

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

# ---- Near mid-air collisions (NMACs) among the paper's encounters, and the three encounters that its figures show.

NMAC = "NMAC"
_MIN_SAMPLES_LEAF = 10
SHOWN: dict[int, str] = {  # the paper's description of the category, by the number of the encounter
    1303: "one aircraft manoeuvres just before the collision (the paper's category 1)",
    944: "they cross early, then manoeuvre back towards each other (the paper's category 5)",
    5246: "they cross while a pilot has not yet responded (the paper's category 6)",
}


@dataclass(frozen=True)
class Case:
    """An encounter of the paper's figures, its category, and its path there."""

    encounter: int
    record: int
    """Its position in the panel."""
    description: str
    category: Category
    path: tuple[PathStep, ...]

    def __str__(self) -> str:
        counts = ", ".join(f"{label}: {n}" for label, n in self.category.counts.items())
        lines = [
            f"encounter {self.encounter}: {self.description}",
            f"category {self.category.number}, {counts}, because",
        ]
        return "\n".join([*lines, *(f"- {step.english}" for step in self.path)])


@dataclass(frozen=True)
class Collisions:
    """One tree for all encounters, its categories of collisions, and the paper's cases in it."""

    panel: Panel
    y: NDArray[Any]
    model: GrammarTreeClassifier
    categories: tuple[Category, ...]
    """The categories that predict a collision, in ascending order, as the rows of the paper's collage."""
    cases: tuple[Case, ...]

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.cases))


def categorize_collisions(study: Study, *, seed: int = 0) -> Collisions:
    """Learn one tree from all encounters of a study, and find the categories of the paper's cases.

    Classes have equal weight, so that collisions, which are rare, get categories: the question is what kinds of
    collision there are, not how likely one is. No category has fewer than ten encounters.
    """
    model = SEARCHES["gp"].estimator(study, study.grammar_for(study.panel), seed)
    model.set_params(min_samples_leaf=_MIN_SAMPLES_LEAF, class_weight="balanced", n_jobs=-1).fit(study.panel, study.y)
    categories = model.categories(study.panel, study.y)
    collisions = tuple(category for category in categories if category.label == NMAC)
    return Collisions(study.panel, study.y, model, collisions, tuple(_cases(study.panel, model, categories)))


def _cases(panel: Panel, model: GrammarTreeClassifier, categories: tuple[Category, ...]) -> list[Case]:
    cases = []
    for encounter, description in SHOWN.items():
        for record in np.flatnonzero(panel.ids == encounter).tolist():
            category = next(c for c in categories if record in c.positions)
            cases.append(Case(encounter, record, description, category, path_of(model.tree_, panel, record)))
    return cases


def whole_records(data: str | os.PathLike[str] | None) -> Panel:
    """Return the same encounters uncut, as flights for figures; `data` as for `acasx_study`."""
    from telltree.datasets import load_acasx
    from telltree.datasets.acasx import advised_flights, find_acasx

    return advised_flights(load_acasx(find_acasx() if data is None else data, cut=False).panel)


# ---- Categories of simulated encounters, compared with the families of the simulator, which no model sees.

_VERTICAL = ("relative_altitude_1", "relative_altitude_2", "vertical_miss_1", "vertical_miss_2")


@dataclass(frozen=True)
class NmacCategory:
    """A category of NMACs, and the number of them from each family."""

    category: Category
    families: dict[str, int]

    @property
    def nmacs(self) -> int:
        """Number of members that did end in an NMAC."""
        return sum(self.families.values())

    @property
    def family(self) -> str:
        """The commonest family among them; the first of equals."""
        return max(self.families, key=lambda name: self.families[name])


@dataclass(frozen=True)
class NmacCategories:
    """The categories of NMACs of one tree, largest first, compared with the families of the simulator."""

    panel: Panel
    y: NDArray[Any]
    family: NDArray[Any]
    model: GrammarTreeClassifier
    kinds: tuple[NmacCategory, ...]

    def of_family(self, family: str) -> tuple[NmacCategory, ...]:
        """Return the categories whose commonest family is this one."""
        return tuple(kind for kind in self.kinds if kind.family == family)

    @property
    def families(self) -> dict[str, int]:
        """The number of NMACs of each family that has any."""
        return dict(sorted(Counter(self.family[self.y == NMAC].tolist()).items()))

    def example(self, family: str) -> int:
        """Return the position of the first NMAC of the family in its largest category."""
        positions = self.of_family(family)[0].category.positions
        members = positions[(self.y[positions] == NMAC) & (self.family[positions] == family)]
        return int(members[0])

    def __str__(self) -> str:
        lines = ["families of NMACs, and the categories that are mostly of each:"]
        for family, number in self.families.items():
            kinds = self.of_family(family)
            own, members = sum(kind.families[family] for kind in kinds), sum(kind.nmacs for kind in kinds)
            where = ", ".join(f"[{kind.category.number}] {kind.families[family]} of {kind.nmacs}" for kind in kinds)
            share = f"{own / number:.0%} of its {number}" if kinds else "in no category of its own"
            purity = f", {own / members:.0%} of theirs" if kinds else ""
            lines.append(f"  {family}: {share}{purity}  {where}".rstrip())
        return "\n".join(lines)


def categorize_nmacs(encounters: Encounters | None = None, *, seed: int = 0, max_depth: int = 4) -> NmacCategories:
    """Learn one tree from all encounters, and return its categories of NMACs.

    The tree may use what aircraft, pilots and the avoidance logic did, but not the distance between the aircraft:
    that nearly is the label, and a tree that uses it does not separate the families.
    """
    panel, y, family = make_encounters() if encounters is None else encounters
    known = panel.select([name for name in panel.schema if name not in (*PROXIMITY, *_VERTICAL)])
    model = GrammarTreeClassifier(encounter_grammar(distance=False), max_depth=max_depth, random_state=seed, n_jobs=-1)
    model.fit(known, y)
    kinds = []
    for category in model.categories(known, y):
        nmacs = category.positions[y[category.positions] == NMAC]
        if category.label == NMAC and len(nmacs):
            counts = Counter(family[nmacs].tolist())
            kinds.append(NmacCategory(category, {name: counts[name] for name in np.unique(family[y == NMAC]).tolist()}))
    kinds.sort(key=lambda kind: (-kind.nmacs, kind.category.number))
    return NmacCategories(panel, y, family, model, tuple(kinds))


# ---- Figures: Auslan's tree, the collage of encounters, and single encounters, annotated.

DOTS_PER_INCH = 110


def draw_auslan(experiment: Experiment, folder: Path, study: Study | None = None) -> Iterator[Path]:
    """Draw the best tree of genetic programming over all trials, with formulas and in English."""
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


def draw_acasx(folder: Path, collisions: Collisions, flights: Panel) -> Iterator[Path]:
    """Draw the tree, the collage of its categories of collisions, and the annotated encounters of the paper."""
    from telltree.report import draw_encounter, plot_collage, plot_encounter, plot_tree

    yield _saved(plot_tree(collisions.model.tree_, text="formula"), folder / "acasx-tree.png")
    collage = plot_collage(
        collisions.categories, flights, collisions.y, draw=draw_encounter, only_label=NMAC, text=None
    )
    yield _saved(collage, folder / "acasx-collage.png")
    for case in collisions.cases:
        # the late manoeuvre shows in the vertical rate, as in the paper
        show: Literal["altitude", "vertical_rate"] = "vertical_rate" if case.encounter == 1303 else "altitude"
        figure = plot_encounter(flights, case.record, show=show, caption=str(case))
        yield _saved(figure, folder / f"acasx-encounter-{case.encounter}.png")


def draw_encounters(folder: Path, nmacs: NmacCategories | None = None) -> Iterator[Path]:
    """Draw the collage of the categories of NMACs, their tree, and one encounter of each family's largest category."""
    from telltree.report import draw_encounter, plot_collage, plot_encounter, plot_tree

    nmacs = categorize_nmacs() if nmacs is None else nmacs
    shown = sorted((kind.category for kind in nmacs.kinds), key=lambda category: category.number)
    collage = plot_collage(shown, nmacs.panel, nmacs.y, draw=draw_encounter, only_label=NMAC, text=None)
    yield _saved(collage, folder / "encounters-collage.png")
    yield _saved(plot_tree(nmacs.model.tree_, text="formula"), folder / "encounters-tree.png")
    for family in nmacs.families:
        if nmacs.of_family(family):
            # a late manoeuvre shows in the vertical rate, as in the paper
            show: Literal["altitude", "vertical_rate"] = "vertical_rate" if family.startswith("late") else "altitude"
            figure = plot_encounter(nmacs.panel, nmacs.example(family), show=show)
            yield _saved(figure, folder / f"encounter-{family.replace(' ', '-')}.png")


def _saved(figure: Any, path: Path) -> Path:
    figure.savefig(path, dpi=DOTS_PER_INCH, bbox_inches="tight")
    return path
