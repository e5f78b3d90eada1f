"""The paper's two experiments."""

import os
from typing import TYPE_CHECKING

from telltree.errors import SettingsError
from telltree.experiments import paper
from telltree.experiments.encounter_grammar import encounter_grammar
from telltree.experiments.study import Study
from telltree.search.settings import require_whole

if TYPE_CHECKING:
    from telltree.datasets import Encounters

_NMAC = 863 / 10_000  # the share of the paper's encounters that end in a near mid-air collision


def auslan_study(data: str | os.PathLike[str] | None = None) -> Study:
    """Eight signs of Australian Sign Language, with the generic grammar; depth 6, 32 trees in the forest."""
    from telltree.datasets import load_auslan

    panel, y = load_auslan(data)
    notes = (paper.TERMINALS_NOTE,)
    return Study("auslan", "Auslan", panel, y, max_depth=6, trees=32, paper=paper.AUSLAN, notes=notes)


def simulated(records: int) -> "Encounters":
    """Encounters of which as many end badly as in the paper."""
    from telltree.datasets.encounters import make_encounters

    require_whole("records", records, 50)  # so that each of the few that end badly is on both sides of a split
    return make_encounters(records, round(_NMAC * records))


def encounter_study(records: int = 10_000, *, proximity: bool = False) -> Study:
    """Simulated encounters of two aircraft, with a grammar made for them; depth 4, 64 trees in the forest.

    `proximity` lets the grammar speak of range, position and time to closest approach; baselines see them always.
    """
    from telltree.datasets.encounters import PROXIMITY

    panel, y, _ = simulated(records)
    heard = "with" if proximity else "without"
    return Study(
        name="encounters",
        title=f"Encounters of two aircraft, grammar {heard} proximity",
        panel=panel,
        y=y,
        max_depth=4,
        trees=64,
        grammar=encounter_grammar(proximity),
        attributes=tuple(name for name in panel.schema if proximity or name not in PROXIMITY),
        paper=paper.ENCOUNTERS,
        notes=(
            "the paper's encounters are not public; these are simulated, of the same shape, and its figures stand here "
            "for orientation only",
        ),
    )


NAMES = ("auslan", "encounters")


def study_named(name: str, *, data: str | os.PathLike[str] | None, records: int, proximity: bool) -> Study:
    """The experiment of that name."""
    if name == "auslan":
        return auslan_study(data)
    if name == "encounters":
        return encounter_study(records, proximity=proximity)
    raise SettingsError(f"there is no experiment called {name!r}; there are {', '.join(NAMES)}")
