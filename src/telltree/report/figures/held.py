"""Where in a record the parts of its path's formulas held, and what decided. Nothing is drawn here."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.explain import Margins, decisive_step
from telltree.explain.counts import compares_counts
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
        step = decisive_step(formula, panel, record, reference=reference)
        for part in temporal(formula.expression):
            true = bool(margins.over_time(part, record)[0] > 0)
            if compares_counts(part):
                tally = margins.tally(part, record)
                for operand, steps in tally.held.items():
                    which = Expression(COUNT, (operand,)) if len(tally.held) > 1 else None
                    yield Held(number, part, steps, true, step, tally.told(operand), which)
            else:
                yield Held(number, part, margins.over_time(part.args[0], record) > 0, true, step)
