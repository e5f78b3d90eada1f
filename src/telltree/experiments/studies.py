"""The paper's two experiments, and the second one on simulated encounters."""

import os
from typing import TYPE_CHECKING

from telltree.errors import SettingsError
from telltree.experiments import paper
from telltree.experiments.grammars import acasx_grammar, encounter_grammar
from telltree.experiments.study import Study
from telltree.tree import GiniSize
from telltree.whole import require_whole

if TYPE_CHECKING:
    from telltree.datasets import Encounters

_WHOLE = 10_000
_NMAC = 863 / _WHOLE  # the share of the paper's encounters that end in a near mid-air collision


def auslan_study(data: str | os.PathLike[str] | None = None) -> Study:
    """Eight signs of Australian Sign Language, with the generic grammar; depth 6, 32 trees in the forest."""
    from telltree.datasets import load_auslan

    panel, y = load_auslan(data)
    notes = (paper.TERMINALS_NOTE,)
    return Study("auslan", "Auslan", panel, y, max_depth=6, trees=32, paper=paper.AUSLAN, notes=notes)


def acasx_study(data: str | os.PathLike[str] | None = None, *, whole: bool = False) -> Study:
    """The paper's encounters, cut as for its table, with its authors' grammar; depth 4, 64 trees in the forest.

    data: as for `load_acasx`; None looks where `find_acasx` does, and takes the sample if the whole data are not there.
    whole: all 50 steps of each encounter, as the paper's text says.
    """
    from telltree.datasets import load_acasx
    from telltree.datasets.acasx import find_acasx

    panel, y = load_acasx(find_acasx() if data is None else data, cut=not whole)
    cut = (
        "records have all 50 steps, as the paper's text says; its table must be of records that end earlier"
        if whole
        else "records end more than five seconds before the closest approach, as in the paper's table"
    )
    notes: tuple[str, ...] = (cut,)
    if len(panel) < _WHOLE:
        notes = (f"{len(panel):,} of the {_WHOLE:,} encounters: the sample in telltree; --data gives the whole", *notes)
    return Study(
        name="acasx",
        title=f"ACAS X, encounters of two aircraft{', all 50 steps' if whole else ''}",
        panel=panel,
        y=y,
        max_depth=4,
        trees=64,
        grammar=acasx_grammar(),
        fitness=GiniSize(w2=250, per_record=True),  # by cross-validation within the training records of one split
        fitness_note="a terminal must set about one record right to be worth its while",
        paper=paper.ACASX,
        notes=notes,
    )


def simulated(records: int) -> "Encounters":
    """Encounters with the same share of collisions as in the paper."""
    from telltree.datasets.encounters import make_encounters

    require_whole("records", records, 50)  # so that both sides of a split have some of the few collisions
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
        paper=paper.ACASX,
        notes=("simulated, of the shape of the paper's encounters; its figures stand here for orientation only",),
    )


NAMES = ("auslan", "acasx", "encounters")


def study_named(
    name: str, *, data: str | os.PathLike[str] | None, records: int, proximity: bool, whole: bool = False
) -> Study:
    """The experiment of that name."""
    if whole and name != "acasx":
        raise SettingsError(f"only the records of acasx are cut; those of {name!r} are whole as they are")
    if name == "auslan":
        return auslan_study(data)
    if name == "acasx":
        return acasx_study(data, whole=whole)
    if name == "encounters":
        return encounter_study(records, proximity=proximity)
    raise SettingsError(f"there is no experiment called {name!r}; there are {', '.join(NAMES)}")
