"""The kinds of near mid-air collision among the paper's encounters, and the three encounters that its figures show."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.estimators import GrammarTreeClassifier
from telltree.experiments.models import SEARCHES
from telltree.experiments.study import Study
from telltree.explain import Category, Turn, way_of

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
    way: tuple[Turn, ...]

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
    model.set_params(min_members=_LEAST, class_weight="balanced", n_jobs=-1).fit(study.panel, study.y)
    found = model.categories(study.panel, study.y)
    kinds = tuple(category for category in found if category.label == NMAC)
    return Collisions(study.panel, study.y, model, kinds, tuple(_cases(study.panel, model, found)))


def _cases(panel: Panel, model: GrammarTreeClassifier, found: tuple[Category, ...]) -> list[Case]:
    cases = []
    for encounter, story in SHOWN.items():
        for record in np.flatnonzero(panel.ids == encounter).tolist():
            category = next(c for c in found if record in c.positions)
            cases.append(Case(encounter, record, story, category, way_of(model.tree_, panel, record)))
    return cases


def whole_records(data: str | os.PathLike[str] | None) -> Panel:
    """The same encounters to their end, as flights for figures; `data` as for `acasx_study`."""
    from telltree.datasets import load_acasx
    from telltree.datasets.acasx import advised_flights, find_acasx

    return advised_flights(load_acasx(find_acasx() if data is None else data, cut=False).panel)
