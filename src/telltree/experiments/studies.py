"""The studies of the paper, and one on simulated encounters: records, grammars, limits, and the paper's scores."""

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
from telltree.defaults import SIMULATED_ENCOUNTERS
from telltree.errors import SettingsError
from telltree.grammar import Grammar
from telltree.panel import Panel
from telltree.tree import Criterion, GiniSize

if TYPE_CHECKING:
    from telltree.datasets import Encounters


# ---- Grammars for encounters of two aircraft, each in a file.


def acasx_grammar() -> str:
    """Return the grammar of the paper's authors for the encounters of `load_acasx`, in telltree's language."""
    return _text("acasx.bnf")


def encounter_grammar(proximity: bool = False, distance: bool = True) -> str:
    """Return the text of the grammar for simulated encounters.

    proximity: True to include range, position and bearing. Those nearly define a near mid-air collision: with them the
        tree says where the aircraft were, and without them why they came there.
    distance: True to include the vertical distance, now and as projected. Without it, the tree can only say what
        aircraft, pilots and the avoidance logic did.
    """
    left_out = [mark for mark, wanted in (("# proximity", proximity), ("# distance", distance)) if not wanted]
    lines = _text("encounters.bnf").splitlines()
    return "\n".join(line for line in lines if not line.rstrip().endswith(tuple(left_out))) + "\n"


def _text(name: str) -> str:
    return (files("telltree.experiments") / name).read_text(encoding="utf-8")


# ---- The scores that the paper reports.

SOURCE = (
    "R. Lee, M. J. Kochenderfer, O. J. Mengshoel, J. Silbermann: Interpretable Categorization of Heterogeneous Time "
    "Series Data, SIAM International Conference on Data Mining, 2018"
)


class PaperScores(NamedTuple):
    """One column of a table of the paper: means over 20 trials; precision, recall and F1 are macro averages."""

    accuracy: float
    f1: float
    precision: float
    recall: float
    terminals: float | None = None


AUSLAN: Mapping[str, PaperScores] = {  # table 1
    "mc": PaperScores(0.9840, 0.9840, 0.9857, 0.9840, 3.70),
    "ge": PaperScores(0.9847, 0.9845, 0.9872, 0.9847, 3.74),
    "gp": PaperScores(0.9868, 0.9867, 0.9884, 0.9868, 3.59),
    "tree": PaperScores(0.7585, 0.7085, 0.6869, 0.7672),
    "forest": PaperScores(0.9838, 0.9838, 0.9851, 0.9841),
    "bayes": PaperScores(0.6862, 0.6674, 0.7025, 0.6867),
}
ACASX: Mapping[str, PaperScores] = {  # table 2
    "mc": PaperScores(0.9577, 0.8765, 0.8505, 0.9102, 5.54),
    "ge": PaperScores(0.9583, 0.8768, 0.8546, 0.9050, 5.56),
    "gp": PaperScores(0.9587, 0.8779, 0.8553, 0.9053, 5.38),
    "tree": PaperScores(0.9378, 0.8038, 0.8025, 0.8083),
    "forest": PaperScores(0.9251, 0.6130, 0.8961, 0.5778),
    "bayes": PaperScores(0.8705, 0.7126, 0.6799, 0.8187),
}
TERMINALS_NOTE = (
    "terminals: by the paper's definition F(x < c) has four, F, x, < and c, and so has any rule on real attributes at "
    "least; how the paper comes to fewer on Auslan it does not say"
)


# ---- Studies.


@dataclass(frozen=True, eq=False)
class Study:
    """The subject of an experiment: a data set, and the settings that all models share."""

    name: str
    """The name in files."""
    title: str
    panel: Panel
    y: NDArray[Any]
    max_depth: int
    """The depth of telltree's trees, of the decision tree and of the forest's trees."""
    trees: int
    """Number of trees of the forest."""
    grammar: str | None = None
    """The text of the grammar; None for the generic grammar of each trial's training records."""
    attributes: tuple[str, ...] | None = None
    """The attributes that the grammar may use; None for all."""
    criterion: Criterion | None = None
    """The criterion of telltree's models that have none of their own; None for the estimator's."""
    criterion_note: str = ""
    """A note on the criterion for readers of the table."""
    paper: Mapping[str, PaperScores] = field(default_factory=dict)
    """The scores that the paper reports, by model."""
    notes: tuple[str, ...] = ()
    """Further notes for readers of the table."""

    @cached_property
    def classes(self) -> list[Any]:
        """The classes, in order."""
        found: list[Any] = np.unique(self.y).tolist()
        return found

    def grammar_for(self, train: Panel) -> Grammar:
        """Return the grammar to search, given the training records."""
        if self.grammar is None:
            return Grammar.generic(train)
        return Grammar.parse(self.grammar, train if self.attributes is None else train.select(self.attributes))

    @cached_property
    def grammar_name(self) -> str:
        """A short name of the grammar: a hash of its text and attributes."""
        if self.grammar is None:
            return "the generic grammar"
        text = repr((self.grammar, self.attributes))
        return f"grammar {hashlib.blake2b(text.encode(), digest_size=6).hexdigest()}"

    @cached_property
    def data_fingerprint(self) -> str:
        """A hash of the records and their labels."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(repr([*self.panel.schema.values()]).encode())
        digest.update(repr(self.y.tolist()).encode())
        digest.update(np.ascontiguousarray(self.panel.lengths).tobytes())
        for name in self.panel.schema:
            digest.update(np.ascontiguousarray(self.panel.stacked(name)).tobytes())
        return digest.hexdigest()


# ---- The paper's two studies, and the second one on simulated encounters.

_WHOLE = 10_000
_NMAC = 863 / _WHOLE  # the share of the paper's encounters that end in a near mid-air collision


def auslan_study(data: str | os.PathLike[str] | None = None) -> Study:
    """Return the study of eight signs of Australian Sign Language, with the generic grammar."""
    from telltree.datasets import load_auslan

    panel, y = load_auslan(data)
    notes = (TERMINALS_NOTE,)
    return Study("auslan", "Auslan", panel, y, max_depth=6, trees=32, paper=AUSLAN, notes=notes)


def acasx_study(data: str | os.PathLike[str] | None = None, *, whole: bool = False) -> Study:
    """Return the study of the paper's encounters, cut as for its table, with its authors' grammar.

    data: as for `load_acasx`; None looks where `find_acasx` does, and takes the sample if the whole data are not there.
    whole: True for all 50 steps of each encounter, as the paper's text says.
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
    """Simulate encounters with the same share of collisions as in the paper."""
    from telltree.datasets.encounters import make_encounters

    require_whole("records", records, 50)  # collisions are rare, and both sides of a split need some
    return make_encounters(records, round(_NMAC * records))


def encounter_study(records: int = SIMULATED_ENCOUNTERS, *, proximity: bool = False) -> Study:
    """Return a study of simulated encounters of two aircraft, with a grammar made for them.

    `proximity` lets the grammar use range, position and time to closest approach; baselines always use them.
    """
    from telltree.datasets.encounters import PROXIMITY

    panel, y, _ = simulated(records)
    return Study(
        name="encounters",
        title=f"Encounters of two aircraft, grammar {'with' if proximity else 'without'} proximity",
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
    """Return the study of this name."""
    if whole and name != "acasx":
        raise SettingsError(f"only the records of acasx are cut; those of {name!r} are whole as they are")
    if name == "auslan":
        return auslan_study(data)
    if name == "acasx":
        return acasx_study(data, whole=whole)
    if name == "encounters":
        return encounter_study(records, proximity=proximity)
    raise SettingsError(f"there is no experiment called {name!r}; there are {', '.join(NAMES)}")
