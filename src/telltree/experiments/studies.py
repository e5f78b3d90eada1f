"""The paper's experiments and their simulated counterpart: records, grammars, limits, and the paper's figures."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.checks import require_whole
from telltree.errors import SettingsError
from telltree.grammar import Grammar
from telltree.panel import Panel
from telltree.tree import Criterion, GiniSize

if TYPE_CHECKING:
    from telltree.datasets import Encounters


# ---- The grammars for encounters of two aircraft, with attributes grouped by type and kind. Each is one file to read.


def acasx_grammar() -> str:
    """The grammar of the paper's authors for the encounters of `load_acasx`, in telltree's language."""
    return _text("acasx.bnf")


def encounter_grammar(proximity: bool = False, distance: bool = True) -> str:
    """The text of the grammar for simulated encounters.

    proximity: whether it speaks of range, position and bearing. Those nearly are the definition of a near mid-air
        collision: with them the tree says where the aircraft were, and without them why they came there.
    distance: whether it speaks of the vertical distance, now and as projected. Without that, the tree can only say what
        aircraft, pilots and the avoidance logic did.
    """
    left_out = [mark for mark, wanted in (("# proximity", proximity), ("# distance", distance)) if not wanted]
    lines = _text("encounters.bnf").splitlines()
    return "\n".join(line for line in lines if not line.rstrip().endswith(tuple(left_out))) + "\n"


def _text(name: str) -> str:
    return (files("telltree.experiments") / name).read_text(encoding="utf-8")


# ---- What the paper reports, for comparison with what is measured here.

SOURCE = (
    "R. Lee, M. J. Kochenderfer, O. J. Mengshoel, J. Silbermann: Interpretable Categorization of Heterogeneous Time "
    "Series Data, SIAM International Conference on Data Mining, 2018"
)


class Figures(NamedTuple):
    """One column of a table of the paper: means over 20 trials; precision, recall and F1 are macro averages."""

    accuracy: float
    f1: float
    precision: float
    recall: float
    terminals: float | None = None


AUSLAN: Mapping[str, Figures] = {  # table 1
    "mc": Figures(0.9840, 0.9840, 0.9857, 0.9840, 3.70),
    "ge": Figures(0.9847, 0.9845, 0.9872, 0.9847, 3.74),
    "gp": Figures(0.9868, 0.9867, 0.9884, 0.9868, 3.59),
    "tree": Figures(0.7585, 0.7085, 0.6869, 0.7672),
    "forest": Figures(0.9838, 0.9838, 0.9851, 0.9841),
    "bayes": Figures(0.6862, 0.6674, 0.7025, 0.6867),
}
ACASX: Mapping[str, Figures] = {  # table 2
    "mc": Figures(0.9577, 0.8765, 0.8505, 0.9102, 5.54),
    "ge": Figures(0.9583, 0.8768, 0.8546, 0.9050, 5.56),
    "gp": Figures(0.9587, 0.8779, 0.8553, 0.9053, 5.38),
    "tree": Figures(0.9378, 0.8038, 0.8025, 0.8083),
    "forest": Figures(0.9251, 0.6130, 0.8961, 0.5778),
    "bayes": Figures(0.8705, 0.7126, 0.6799, 0.8187),
}
TERMINALS_NOTE = (
    "terminals: by the paper's definition F(x < c) has four, F, x, < and c, and so has any rule on real attributes at "
    "least; how the paper comes to fewer on Auslan it does not say"
)


# ---- The subject of an experiment: labelled records, what may be said of them, and the limits for all models.


@dataclass(frozen=True, eq=False)
class Study:
    """One data set and how models are to be learned from it.

    name, title: in files, and for people. grammar: text, or None for the generic grammar of each trial's training
    records. attributes: those that the text may speak of (None: all). max_depth: of telltree's trees, the decision
    tree and the forest's trees alike. trees: of the forest. criterion: of telltree's models that have none of their own
    (None: the estimator's). criterion_note: what a reader should know of it. paper: what the paper reports, by model.
    notes: what a reader of the table should know whatever the models.
    """

    name: str
    title: str
    panel: Panel
    y: NDArray[Any]
    max_depth: int
    trees: int
    grammar: str | None = None
    attributes: tuple[str, ...] | None = None
    criterion: Criterion | None = None
    criterion_note: str = ""
    paper: Mapping[str, Figures] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @cached_property
    def classes(self) -> list[Any]:
        """The classes, in order."""
        found: list[Any] = np.unique(self.y).tolist()
        return found

    def grammar_for(self, train: Panel) -> Grammar:
        """The grammar to search, given the records to learn from."""
        if self.grammar is None:
            return Grammar.generic(train)
        return Grammar.parse(self.grammar, train if self.attributes is None else train.select(self.attributes))

    @cached_property
    def grammar_name(self) -> str:
        """A short name for the grammar; equal names mean equal text and attributes."""
        if self.grammar is None:
            return "the generic grammar"
        said = repr((self.grammar, self.attributes))
        return f"grammar {hashlib.blake2b(said.encode(), digest_size=6).hexdigest()}"

    @cached_property
    def data_fingerprint(self) -> str:
        """A hash of the records and their labels."""
        whole = hashlib.blake2b(digest_size=16)
        whole.update(repr([*self.panel.schema.values()]).encode())
        whole.update(repr(self.y.tolist()).encode())
        whole.update(np.ascontiguousarray(self.panel.lengths).tobytes())
        for name in self.panel.schema:
            whole.update(np.ascontiguousarray(self.panel.stacked(name)).tobytes())
        return whole.hexdigest()


# ---- The paper's two experiments, and the second one on simulated encounters.

_WHOLE = 10_000
_NMAC = 863 / _WHOLE  # the share of the paper's encounters that end in a near mid-air collision


def auslan_study(data: str | os.PathLike[str] | None = None) -> Study:
    """Eight signs of Australian Sign Language, with the generic grammar; depth 6, 32 trees in the forest."""
    from telltree.datasets import load_auslan

    panel, y = load_auslan(data)
    notes = (TERMINALS_NOTE,)
    return Study("auslan", "Auslan", panel, y, max_depth=6, trees=32, paper=AUSLAN, notes=notes)


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
        criterion=GiniSize(w2=250, per_record=True),  # by cross-validation within the training records of one split
        criterion_note="a terminal must set about one record right to be worth its while",
        paper=ACASX,
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
        paper=ACASX,
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
