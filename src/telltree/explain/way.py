"""The path of one record through a tree: what each branch asked, its answer, when that was decided, and how clearly."""

import math
from collections.abc import Container
from dataclasses import dataclass, replace

from telltree.amounts import counted
from telltree.data import Panel
from telltree.data.clock import date_text, duration_text, time_text
from telltree.data.schema import listed
from telltree.explain.categories import missing_columns
from telltree.explain.english import Style, check_style, english
from telltree.explain.evidence import Distance, Margins, Reference
from telltree.explain.occurrence import conditions_of
from telltree.logic import Formula, truth_of
from telltree.logic.unknown import bounds
from telltree.operators import Expression
from telltree.operators.table import NOT
from telltree.tree.tree import Node, Tree


@dataclass(frozen=True)
class Turn:
    """One branch on the path of a record."""

    formula: Formula
    holds: bool
    english: str
    """What is true of the record: the formula, or its negation, in English; or that the answer is unknown."""
    step: int
    """The step that decided, from 0."""
    time: float | None
    """When that was, if times are known."""
    date: str | None
    """When that was, as in ISO 8601, if times were dates."""
    moment: str
    """When that was, in words: "step 24, at 22 h"."""
    margin: float
    """How far the record is from the other side, in `unit`; ±1 if distance is meaningless. Positive if it holds."""
    unit: str | None
    """Standard deviations of the signal; steps that would have to become true or false, if counts decide; or None."""
    distance: str
    """The margin in words: "+0.118", "-5 steps", or "-5 s" if steps have equal lengths."""
    unknown: str | None = None
    """If the answer is unknown: why, and as what it counts."""
    vacuous: bool = False
    """Whether `english` says nothing of the record, as a condition of it never occurs: the A of "whenever A, B"."""


def way_of(
    tree: Tree,
    panel: Panel,
    record: int,
    *,
    reference: Reference | None = None,
    missing: Container[str] | None = None,
    style: Style = "plain",
) -> tuple[Turn, ...]:
    """The turns a record (by its position in the panel) takes from the root to its leaf.

    Margins are distances as `Margins` measures them, over `reference`, by default the panel. `missing` names the
    columns whose missing values English must mention, by default those of the panel with missing values;
    `style` is that of `english`.
    """
    check_style(style)
    aligned = tree.aligned(panel)
    others = reference.aligned(tree.schema) if isinstance(reference, Panel) else reference
    doubtful = missing_columns(tree, panel) if missing is None else missing
    margins, found, node = Margins(aligned, others), list[Turn](), tree.root
    while isinstance(node, Node):
        turn = _turn(node.formula, aligned, record, doubtful, margins, style=style)
        if style == "plain":
            claim = node.formula.expression if turn.holds else Expression(NOT, (node.formula.expression,))
            wanted = conditions_of([claim], tree.schema, doubtful, tree.step)
            turn = replace(turn, vacuous=bool(wanted) and not truth_of(wanted, aligned[[record]]).all())
        why = why_unknown_at(node, aligned[[record]])
        if why is not None:
            asked = english(node.said, tree.schema, tree.missed_by(node), style=style, step=tree.step)
            turn = replace(turn, english=f"it is unknown whether {asked}", unknown=why, vacuous=False)
        found.append(turn)
        node = node.true if turn.holds else node.false
    return tuple(found)


def why_unknown_at(node: Node, record: Panel) -> str | None:
    """Why the answer of a record is unknown at a node, and as what it counts; None if it is known."""
    why = None if node.unknown is None else why_unknown(node.said, record)
    if node.unknown is None or why is None:
        return None
    side = node.unknown.side
    return f"the answer is unknown, for {why}; it counts as {side}, which was the answer of more training records"


def why_unknown(formula: Formula, record: Panel) -> str | None:
    """Why it is unknown whether a formula is true of the only record of a panel; None if it is known."""
    sure, possible = truth_of(bounds(formula.expression), record)
    if sure[0] == possible[0]:
        return None
    missed = record.select(formula.expression.attributes()).missing()
    named = [name for name, number in missed.items() if number]
    return f"{listed(named)} {'misses' if len(named) == 1 else 'miss'} values" if named else "a value is missing"


def turn_of(
    formula: Formula,
    panel: Panel,
    record: int,
    *,
    reference: Reference | None = None,
    missing: Container[str] = (),
    style: Style = "plain",
) -> Turn:
    """The one turn of a record (by its position in the panel) through a tree that only asks for this formula."""
    return _turn(formula, panel, record, missing, Margins(panel, reference), style=style)


def _turn(
    formula: Formula, panel: Panel, record: int, missing: Container[str], margins: Margins, *, style: Style
) -> Turn:
    evidence = margins.evidence(formula.expression, [record])
    holds, step, distance = bool(evidence.truth[0]), int(evidence.steps[0]), evidence.distance(0)
    times = panel.times(record)
    said = formula.expression if holds else Expression(NOT, (formula.expression,))
    return Turn(
        formula=formula,
        holds=holds,
        english=english(said, panel.schema, missing, style=style, step=panel.step),
        step=step,
        time=None if times is None else float(times[step]),
        date=date_text(panel, record, step, iso=True),
        moment=_moment(panel, record, step),
        margin=distance.size,
        unit=distance.unit,
        distance=distance_text(distance, panel),
    )


def _moment(panel: Panel, record: int, step: int) -> str:
    """Which step that is, and its date or time; a time without a unit is marked as one."""
    time = time_text(panel, record, step)
    if time is None:
        return f"step {step}"
    bare = panel.time_unit is None and panel.dates(record) is None
    return f"step {step}, at {'t = ' if bare else ''}{time}"


def distance_text(distance: Distance, panel: Panel) -> str:
    """A distance with its sign: standard deviations as a number, steps as such, or as the time they take."""
    size, sign = abs(distance.size), "-" if distance.size < 0 else "+"
    if distance.unit != "steps":
        return f"{sign}{size:.3g}"
    if not math.isfinite(size):
        return f"{sign}∞ steps"
    if panel.period is not None and panel.time_unit is not None:
        return sign + duration_text(size * panel.period, panel.time_unit)
    return sign + counted(int(size), "step")
