"""Evidence: the path of a record through a tree, and the steps at which its formulas were decided."""

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.engine import Formula, truth_of
from telltree.engine.three_valued import bounds
from telltree.engine.trace import DEVIATIONS, STEPS, Trace, Tracer, signals_of
from telltree.errors import DataError
from telltree.explain.categories import conditions_of, missing_columns
from telltree.explain.english import Style, check_style, english
from telltree.logic import Attribute, Expression
from telltree.logic.operators import NOT, SINCE, UNLESS, UNTIL, Operator
from telltree.panel import Panel, Schema
from telltree.panel.dates import duration_text, duration_texts
from telltree.panel.schema import listed
from telltree.text import counted
from telltree.tree.tree import Node, Tree

# ---- Evidence: the step of a record at which a formula was decided, or came nearest to it.

Floats = NDArray[np.float64]
Reference = Panel | Mapping[str, float]
"""What margins are measured by: a panel, or the standard deviations of signals by their text, which a model keeps."""

Unit = Literal["standard deviations", "steps"]
_UNITS: dict[int, Unit] = {DEVIATIONS: "standard deviations", STEPS: "steps"}


class Distance(NamedTuple):
    """How far a record is from the other answer; positive if the answer is yes."""

    size: float
    unit: Unit | None
    """None where distance has no sense: the size is 1 then."""


def decisive_step(formula: Formula, panel: Panel, record: int, *, reference: Reference | None = None) -> int:
    """The step (from 0) of a record, given by its position in the panel, that decides the formula.

    F true, G false: the first witness. F false, G true: the step nearest to being one, by margins in standard
    deviations over `reference`, by default the panel; the first of equals. What looks at a single step, as `next` does:
    the step that decides what is there. `until`, `unless`, `since`: where b comes after a, or a ends before b, with the
    margin of the whole; the first of equals. ¬a: the step of a. a ∧ b, a ∨ b, and a ⇒ b, which is ¬a ∨ b: the step of
    the operand that decides, which is the one with the smaller margin for ∧, with the larger for ∨; the first of
    equals. A comparison of counts: the step at which it reached its final answer as counting went on; if the answer
    never changed, the step at which it came nearest to the other. For a false `count(a) > c` that is the last true step
    of a, or the one nearest to being true.
    """
    return int(decisive_steps(formula, panel, [record], reference=reference)[0])


def decisive_steps(
    formula: Formula, panel: Panel, records: Iterable[int] | None = None, *, reference: Reference | None = None
) -> NDArray[np.int64]:
    """The decisive step of each of the records (by default all), as `decisive_step` finds it."""
    return Robustness(panel, reference).evidence(formula.expression, records).steps


@dataclass(frozen=True, eq=False)
class Evidence:
    """What one walk over some records found out about a formula, record by record in the order that was asked for."""

    truth: NDArray[np.bool_]
    robustness: Floats
    """Of the formula at the first step."""
    steps: NDArray[np.int64]
    """The decisive ones."""
    _trace: Trace

    def distance(self, place: int) -> Distance:
        """How far the record at a place is from the other answer, for people to read.

        It is the margin of the formula, which is that of the part that decides; if that part compares counts, which
        have no standard deviation, it is how many true steps more or fewer would change the answer. A missing value
        is at no distance from any other.
        """
        decided = self._trace.decided
        assert decided is not None
        return Distance(float(decided.sizes[place]), _UNITS.get(int(decided.units[place])))

    def held(self, part: Expression, place: int) -> NDArray[np.bool_]:
        """Where a part that was followed holds in the record at a place, step by step."""
        return self._trace.held(part, place)

    def count(self, part: Expression, place: int) -> int:
        """At how many steps of it that part holds."""
        return self._trace.count(part, place)


class Robustness:
    """Margins over time of Boolean vectors, record by record; positive where the vector is true, else negative.

    Distances of reals are in standard deviations of the signal over `reference`, by default the panel itself; all other
    atoms have ±1. With the training panel as the reference, or what the model kept of it (`training_.deviations`), the
    margins of a record do not depend on the other records. At a step, F and G look from there to the end.
    """

    def __init__(self, panel: Panel, reference: Reference | None = None) -> None:
        self._panel = panel
        self._tracer = Tracer(panel)
        self._reference = signals_of(reference) if isinstance(reference, Panel) else self._tracer.signals
        self._kept = reference if isinstance(reference, Mapping) else {}

    def over_time(self, e: Expression, record: int) -> Floats:
        """The margin of a Boolean vector (or formula) at every step of the record at this position."""
        return self._tracer.over_time(e, int(self._places([record])[0]), self._spread)

    def distance(self, e: Expression, record: int) -> Distance:
        """How far the record at this position is from the other answer to a formula; see `Evidence.distance`."""
        return self.evidence(e, [record]).distance(0)

    def of_records(self, e: Expression) -> Floats:
        """The margin of a formula in every record: at its first step."""
        found: Floats = self._tracer.trace(e, spread=self._spread).found.robustness[0]
        return found

    def evidence(
        self, e: Expression, records: Iterable[int] | None = None, *, follow: Sequence[Expression] = ()
    ) -> Evidence:
        """All that one walk finds out about a formula in records given by their positions, by default all.

        `follow` are parts of the formula of which it is told where they hold.
        """
        places = None if records is None else self._places(records)
        trace = self._tracer.trace(e, places, spread=self._spread, follow=follow, decide=True)
        assert trace.decided is not None
        return Evidence(trace.truth[0], trace.found.robustness[0], trace.decided.steps, trace)

    def _spread(self, signal: Expression) -> float:
        kept = self._kept.get(str(signal)) if self._kept else None
        return self._reference.spread(signal) if kept is None else kept

    def _places(self, records: Iterable[int]) -> NDArray[np.int64]:
        places = np.array(list(records), np.int64)
        for record in places[(places < 0) | (places >= len(self._panel))].tolist():
            raise DataError(f"there is no record {record}: the panel has {len(self._panel)}, counted from 0")
        return places


# ---- When formulas were decided, in words.

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


# ---- The path of one record through a tree: what each branch asked, its answer, when that was decided, and how
# clearly.


@dataclass(frozen=True)
class PathStep:
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
    robustness: float
    """How far the record is from the other side, in `unit`; ±1 if distance is meaningless. Positive if it holds."""
    unit: str | None
    """Standard deviations of the signal; steps that would have to become true or false, if counts decide; or None."""
    distance: str
    """The margin in words: "+0.118", "-5 steps", or "-5 s" if steps have equal lengths."""
    unknown: str | None = None
    """If the answer is unknown: why, and as what it counts."""
    vacuous: bool = False
    """Whether `english` says nothing of the record, as a condition of it never occurs: the A of "whenever A, B"."""


def path_of(
    tree: Tree,
    panel: Panel,
    record: int,
    *,
    reference: Reference | None = None,
    missing: Container[str] | None = None,
    style: Style = "plain",
) -> tuple[PathStep, ...]:
    """The turns a record (by its position in the panel) takes from the root to its leaf.

    Margins are distances as `Robustness` measures them, over `reference`, by default the panel. `missing` names the
    columns whose missing values English must mention, by default those of the panel with missing values;
    `style` is that of `english`.
    """
    check_style(style)
    aligned = tree.aligned(panel)
    others = reference.aligned(tree.schema) if isinstance(reference, Panel) else reference
    may_be_missing = missing_columns(tree, panel) if missing is None else missing
    robustness, found, node = Robustness(aligned, others), list[PathStep](), tree.root
    while isinstance(node, Node):
        turn = _turn(node.formula, aligned, record, may_be_missing, robustness, style=style)
        if style == "plain":
            wanted = conditions_of([_claim(node.formula, turn.holds)], tree.schema, may_be_missing, tree.step)
            turn = replace(turn, vacuous=bool(wanted) and not truth_of(wanted, aligned[[record]]).all())
        why = why_unknown_at(node, aligned[[record]])
        if why is not None:
            asked = english(node.shown, tree.schema, tree.missed_by(node), style=style, step=tree.step)
            turn = replace(turn, english=f"it is unknown whether {asked}", unknown=why, vacuous=False)
        found.append(turn)
        node = node.true if turn.holds else node.false
    return tuple(found)


def why_unknown_at(node: Node, record: Panel) -> str | None:
    """Why the answer of a record is unknown at a node, and as what it counts; None if it is known."""
    why = None if node.unknown is None else why_unknown(node.shown, record)
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


def path_step(
    formula: Formula,
    panel: Panel,
    record: int,
    *,
    reference: Reference | None = None,
    missing: Container[str] = (),
    style: Style = "plain",
) -> PathStep:
    """The one turn of a record (by its position in the panel) through a tree that only asks for this formula."""
    return _turn(formula, panel, record, missing, Robustness(panel, reference), style=style)


def _turn(
    formula: Formula, panel: Panel, record: int, missing: Container[str], robustness: Robustness, *, style: Style
) -> PathStep:
    evidence = robustness.evidence(formula.expression, [record])
    holds, step, distance = bool(evidence.truth[0]), int(evidence.steps[0]), evidence.distance(0)
    times = panel.times(record)
    return PathStep(
        formula=formula,
        holds=holds,
        english=english(_claim(formula, holds), panel.schema, missing, style=style, step=panel.step),
        step=step,
        time=None if times is None else float(times[step]),
        date=panel.date_text(record, step, iso=True),
        moment=_moment(panel, record, step),
        robustness=distance.size,
        unit=distance.unit,
        distance=distance_text(distance, panel),
    )


def _claim(formula: Formula, holds: bool) -> Expression:
    """The formula, or its negation, whichever is true."""
    return formula.expression if holds else Expression(NOT, (formula.expression,))


def _moment(panel: Panel, record: int, step: int) -> str:
    """Which step that is, and its date or time; a time without a unit is marked as one."""
    time = panel.time_text(record, step)
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
