"""Where in a record the parts of its path's formulas held, and what decided. Nothing is drawn here."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.explain import Margins
from telltree.explain.counts import compares_counts, count_text, counted
from telltree.operators import Expression
from telltree.operators.table import COUNT
from telltree.report.figures.mentions import temporal
from telltree.tree.tree import Branch


class Held(NamedTuple):
    """A part of a branch's formula, in one record."""

    branch: int
    """The number of the branch on the path, from 1."""
    part: Expression
    steps: NDArray[np.bool_]
    """The steps at which the operand of F or G, or what is counted, is true."""
    true: bool
    """Whether the part is true of the record."""
    decisive: int
    """The step that decided the branch."""
    told: str = ""
    """At how many steps it is true, and how many are required; empty if nothing is counted."""
    which: Expression | None = None
    """Which count, if the part has several."""


def held(branches: Sequence[Branch], panel: Panel, record: int, reference: Panel | None = None) -> Iterator[Held]:
    """All parts of all branches; a comparison of several counts once for each count."""
    margins = Margins(panel, reference)
    for number, (formula, _) in enumerate(branches, 1):
        parts = temporal(formula.expression)
        looks = {part: counted(part) if compares_counts(part) else part.args for part in parts}
        followed = [*parts, *(look for several in looks.values() for look in several)]
        evidence = margins.evidence(formula.expression, [record], follow=followed)
        step = int(evidence.steps[0])
        for part in parts:
            true, counts = bool(evidence.held(part, 0)[0]), compares_counts(part)
            for look in looks[part]:
                told = count_text(part, evidence.count(look, 0)) if counts else ""
                which = Expression(COUNT, (look,)) if len(looks[part]) > 1 else None
                yield Held(number, part, evidence.held(look, 0), true, step, told, which)
