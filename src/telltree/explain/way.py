"""The way of one record through a tree: what each branch asked, how it came out, when that was decided, how clearly."""

import math
from collections.abc import Container
from dataclasses import dataclass

from telltree.amounts import counted
from telltree.data import Panel
from telltree.data.clock import date_text, duration_text, time_text
from telltree.explain.categories import missing_columns
from telltree.explain.english import english
from telltree.explain.evidence import Distance, Margins, Reference, decisive_step
from telltree.logic import Formula
from telltree.operators import Expression
from telltree.operators.table import NOT
from telltree.tree.tree import Node, Tree


@dataclass(frozen=True)
class Turn:
    """One branch on the way of a record."""

    formula: Formula
    holds: bool
    english: str
    """What is true of the record: the formula, or its negation, in English."""
    step: int
    """The step that decided, from 0."""
    time: float | None
    """When that was, if times are known."""
    date: str | None
    """When that was, as ISO 8601 has it, if times were dates."""
    moment: str
    """When that was, in words: "step 24, at 22 h"."""
    margin: float
    """How far the record is from the other side, in `unit`; ±1 where distance has no sense. Positive if the formula
    holds."""
    unit: str | None
    """Standard deviations of the signal; steps that would have to be true or false, where counts decide; or None."""
    distance: str
    """The margin in words: "+0.118", "-5 steps", or "-5 s" where steps are evenly so far apart."""


def way_of(
    tree: Tree, panel: Panel, record: int, *, reference: Reference | None = None, missing: Container[str] | None = None
) -> tuple[Turn, ...]:
    """The turns a record (by its position in the panel) takes from the root to its leaf.

    Margins are distances as `Margins` measures them, over `reference`, by default the panel. `missing` names
    the columns of which English must allow that values are missing, by default those of the panel that do.
    """
    aligned = tree.aligned(panel)
    others = reference.aligned(tree.schema) if isinstance(reference, Panel) else reference
    doubtful = missing_columns(tree, panel) if missing is None else missing
    margins, found, node = Margins(aligned, others), list[Turn](), tree.root
    while isinstance(node, Node):
        turn = _turn(node.formula, aligned, record, others, doubtful, margins)
        found.append(turn)
        node = node.true if turn.holds else node.false
    return tuple(found)


def turn_of(
    formula: Formula, panel: Panel, record: int, *, reference: Reference | None = None, missing: Container[str] = ()
) -> Turn:
    """The one turn of a record (by its position in the panel) through a tree that only asks for this formula."""
    return _turn(formula, panel, record, reference, missing, Margins(panel, reference))


def _turn(  # noqa: PLR0917  what both callers know
    formula: Formula,
    panel: Panel,
    record: int,
    reference: Reference | None,
    missing: Container[str],
    margins: Margins,
) -> Turn:
    holds = bool(formula(panel[[record]])[0])
    times = panel.times(record)
    distance = margins.distance(formula.expression, record)
    step = decisive_step(formula, panel, record, reference=reference)
    said = formula.expression if holds else Expression(NOT, (formula.expression,))
    return Turn(
        formula=formula,
        holds=holds,
        english=english(said, panel.schema, missing, step=panel.step),
        step=step,
        time=None if times is None else float(times[step]),
        date=date_text(panel, record, step, iso=True),
        moment=_moment(panel, record, step),
        margin=distance.size,
        unit=distance.unit,
        distance=distance_text(distance, panel),
    )


def _moment(panel: Panel, record: int, step: int) -> str:
    """Which step that is, and its date or time; a time without a unit is said to be one."""
    time = time_text(panel, record, step)
    if time is None:
        return f"step {step}"
    bare = panel.time_unit is None and panel.dates(record) is None
    return f"step {step}, at {'t = ' if bare else ''}{time}"


def distance_text(distance: Distance, panel: Panel) -> str:
    """A distance with its sign: standard deviations as a number, steps as such, or as the time that they take."""
    size, sign = abs(distance.size), "-" if distance.size < 0 else "+"
    if distance.unit != "steps":
        return f"{sign}{size:.3g}"
    if not math.isfinite(size):
        return f"{sign}∞ steps"
    if panel.period is not None and panel.time_unit is not None:
        return sign + duration_text(size * panel.period, panel.time_unit)
    return sign + counted(int(size), "step")
