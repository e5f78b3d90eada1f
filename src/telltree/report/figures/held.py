"""Where in a record the formulas on its way held, part by part, and what decided. Nothing is drawn here."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.explain import Margins, decisive_step
from telltree.operators import Expression
from telltree.operators.table import EVENTUALLY, GLOBALLY
from telltree.report.figures.mentions import temporal
from telltree.tree.tree import Branch


class Held(NamedTuple):
    """A part of a branch's formula, in one record."""

    branch: int
    """Which branch on the way, from 1."""
    part: Expression
    steps: NDArray[np.bool_]
    """Where that holds which F or G asks for; for counts, how they would compare if counting stopped there."""
    true: bool
    """Whether the part is true of the record."""
    decisive: int
    """The step that decided the branch."""


def held(branches: Sequence[Branch], panel: Panel, record: int, reference: Panel | None = None) -> Iterator[Held]:
    """All parts of all branches."""
    margins = Margins(panel, reference)
    for number, (formula, _) in enumerate(branches, 1):
        step = decisive_step(formula, panel, record, reference=reference)
        for part in temporal(formula.expression):
            if part.head is EVENTUALLY or part.head is GLOBALLY:
                steps = margins.over_time(part.args[0], record) > 0
            else:
                steps = margins.running(part, record)
            yield Held(number, part, steps, bool(margins.over_time(part, record)[0] > 0), step)
