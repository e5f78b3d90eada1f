"""Categorization of encounters: one tree of what was done, its categories, and the families of plans they hold.

Only the simulator knows the families. No model sees them; here they judge what a tree found.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.datasets.encounters import PROXIMITY, Encounters, make_encounters
from telltree.estimators import GrammarTreeClassifier
from telltree.experiments.grammars import encounter_grammar
from telltree.explain import Category

NMAC = "NMAC"
_VERTICAL = ("relative_altitude_1", "relative_altitude_2", "vertical_miss_1", "vertical_miss_2")


@dataclass(frozen=True)
class Kind:
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
    kinds: tuple[Kind, ...]

    def of_family(self, family: str) -> tuple[Kind, ...]:
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
            kinds.append(Kind(category, {name: counts[name] for name in np.unique(family[y == NMAC]).tolist()}))
    kinds.sort(key=lambda kind: (-kind.nmacs, kind.category.number))
    return Stories(panel, y, family, model, tuple(kinds))
