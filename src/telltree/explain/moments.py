"""When formulas were decided, in words."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel, Schema
from telltree.data.clock import duration_text, duration_texts
from telltree.logic import Formula
from telltree.operators import Attribute, Expression, Operator
from telltree.operators.table import NOT, SINCE, UNLESS, UNTIL

_HOW = {
    (True, True): "first held",
    (True, False): "came nearest",
    (False, True): "came nearest to failing",
    (False, False): "first failed",
}


def how_decided(formula: Formula, holds: bool) -> str:
    """What happened at the decisive step of a formula that is true of a record, or false: "first held", "decided"."""
    e, seeks = formula.expression, True
    while e.head is NOT or _looks_at_one_step(e):  # which is decided by what is there
        seeks, e = seeks != (e.head is NOT), e.args[0]
    if e.head in (UNTIL, UNLESS, SINCE):
        return "decided" if holds == seeks else _HOW[seeks, holds]
    inner = e.head.seeks if isinstance(e.head, Operator) else None
    return "decided" if inner is None else _HOW[inner == seeks, holds]


def _looks_at_one_step(e: Expression) -> bool:
    if not isinstance(e.head, Operator) or e.head.seeks is None:
        return False
    near, far = e.window
    return near == far


def has_moments(formula: Formula, panel: Panel) -> bool:
    """Whether it is meaningful when a formula was decided: it mentions something that may change within a record."""
    return _changes(formula.expression, panel.schema) and bool((panel.lengths > 1).any())


def _changes(e: Expression, schema: Schema) -> bool:
    if isinstance(e.head, Attribute):
        return not schema[e.head.name].static
    if isinstance(e.head, Operator) and (e.head.traits.moves or e.head.traits.lasts):
        return e.head.traits.moves
    return any(_changes(arg, schema) for arg in e.args)


@dataclass(frozen=True)
class Moments:
    """When something happened in some records, in times, or in steps (from 0) if times are not known."""

    how: str
    """What happened then: "first held", "came nearest to failing", or "decided"."""
    earliest: float
    median: float
    latest: float
    unit: str | None
    """The unit of times; None if they have none."""
    in_steps: bool

    @classmethod
    def of(cls, how: str, panel: Panel, steps: NDArray[np.int64], times: NDArray[np.float64] | None) -> "Moments":
        """Summarise the steps, and their times if known; there must be at least one."""
        values = steps if times is None else times
        low, middle, high = float(values.min()), float(np.median(values)), float(values.max())
        return cls(how, low, middle, high, panel.time_unit, times is None)

    def __str__(self) -> str:
        unit = None if self.in_steps else self.unit
        lead = "step " if self.in_steps else "" if unit else "t = "
        said = f"{self.how} at {lead}{duration_text(self.median, unit)}"
        if self.earliest == self.latest:
            return said
        low, high = duration_texts((self.earliest, self.latest), unit)
        return f"{said} (median; {low.partition(' ')[0]} to {high})"
