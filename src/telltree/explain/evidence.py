"""Evidence: the path of a record through a tree, and for each formula on it the decisive step and the robustness."""

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.engine import Formula, truth_of
from telltree.engine.three_valued import bounds
from telltree.engine.trace import DEVIATIONS, STEPS, Trace, Tracer, signals_of
from telltree.english.styles import Style, check_style, conditions_of, english
from telltree.errors import DataError
from telltree.explain.categories import missing_columns
from telltree.logic import Attribute, Expression, Number, Type, operator_named
from telltree.logic.operators import (
    COMPARISONS,
    COUNT,
    EQUAL,
    GREATER,
    GREATER_EQUAL,
    LESS,
    LESS_EQUAL,
    MIRRORED,
    NOT,
    SINCE,
    UNLESS,
    UNTIL,
    Operator,
)
from telltree.logic.types import number_text
from telltree.panel import Panel, Schema
from telltree.panel.dates import duration_text, duration_texts
from telltree.panel.schema import listed
from telltree.text import counted
from telltree.tree.tree import Node, Tree

# ---- Decisive steps and robustness.

Floats = NDArray[np.float64]
Reference = Panel | Mapping[str, float]
"""The source of standard deviations: a panel, or a mapping from the text of signals, as a model keeps it."""

Unit = Literal["standard deviations", "steps"]
_UNITS: dict[int, Unit] = {DEVIATIONS: "standard deviations", STEPS: "steps"}


class Distance(NamedTuple):
    """The distance of a record from the opposite truth value; positive if the formula is true."""

    size: float
    unit: Unit | None
    """None if distance is meaningless; the size is then ±1."""


def decisive_step(formula: Formula, panel: Panel, record: int, *, reference: Reference | None = None) -> int:
    """Return the step (from 0) that decides the formula for a record, given by its position in the panel.

    Of equal candidates it is the first.

    - F true, G false: the first witness. F false, G true: the step nearest to being one, by robustness in standard
      deviations over `reference`, by default the panel.
    - An operator that looks at a single step, such as `next`: the decisive step of its operand there.
    - `until`, `unless`, `since`: the step where b follows a, or where a ends before b, that has the robustness of the
      whole.
    - ¬a: the step of a. a ∧ b, a ∨ b, and a ⇒ b, which is ¬a ∨ b: the step of the decisive operand, which has the
      smaller robustness for ∧, the larger for ∨.
    - A comparison of counts: the step at which it reached its final truth value as counting went on, or if that never
      changed, the step at which it came nearest to the other. For a false `count(a) > c` that is the last true step of
      a, or the one nearest to being true.
    """
    return int(decisive_steps(formula, panel, [record], reference=reference)[0])


def decisive_steps(
    formula: Formula, panel: Panel, records: Iterable[int] | None = None, *, reference: Reference | None = None
) -> NDArray[np.int64]:
    """Return the decisive step of each of the records (by default all), as `decisive_step` finds it."""
    return Robustness(panel, reference).evidence(formula.expression, records).steps


@dataclass(frozen=True, eq=False)
class Evidence:
    """Truth, robustness and decisive step of a formula in some records, in the order in which they were given."""

    truth: NDArray[np.bool_]
    robustness: Floats
    """The robustness of the formula at the first step."""
    steps: NDArray[np.int64]
    """The decisive steps."""
    _trace: Trace

    def distance(self, place: int) -> Distance:
        """Return the distance of the record at a place from the opposite truth value, for people to read.

        It is the robustness of the decisive part. If that part compares counts, which have no standard deviation, it is
        the number of steps that would have to become true or false. A missing value is at distance 0.
        """
        decisions = self._trace.decisions
        assert decisions is not None
        return Distance(float(decisions.distances[place]), _UNITS.get(int(decisions.units[place])))

    def held(self, part: Expression, place: int) -> NDArray[np.bool_]:
        """Return the truth of a followed part at each step of the record at a place."""
        return self._trace.part_truth(part, place)

    def count(self, part: Expression, place: int) -> int:
        """Return the number of steps of that record at which the part is true."""
        return self._trace.count(part, place)


class Robustness:
    """The robustness of Boolean vectors and formulas, record by record: positive where these are true, else negative.

    Distances of reals are in standard deviations of the signal over `reference`, by default the panel itself; all other
    atoms have ±1. If the reference is the training panel, or the model's `training_.deviations`, that of a record does
    not depend on the other records. At a step, F and G cover the steps from there to the end.
    """

    def __init__(self, panel: Panel, reference: Reference | None = None) -> None:
        self._panel = panel
        self._tracer = Tracer(panel)
        self._reference = signals_of(reference) if isinstance(reference, Panel) else self._tracer.signals
        self._kept = reference if isinstance(reference, Mapping) else {}

    def over_time(self, e: Expression, record: int) -> Floats:
        """Return the robustness of a Boolean vector (or formula) at every step of the record at this position."""
        return self._tracer.over_time(e, int(self._places([record])[0]), self._spread)

    def distance(self, e: Expression, record: int) -> Distance:
        """Return the distance of the record at this position from the opposite truth value; see `Evidence.distance`."""
        return self.evidence(e, [record]).distance(0)

    def of_records(self, e: Expression) -> Floats:
        """Return the robustness of a formula at the first step of every record."""
        found: Floats = self._tracer.trace(e, deviation=self._spread).robustness[0]
        return found

    def evidence(
        self, e: Expression, records: Iterable[int] | None = None, *, follow: Sequence[Expression] = ()
    ) -> Evidence:
        """Return the evidence about a formula in records given by their positions, by default all.

        `follow` are the parts of the formula for which `Evidence.held` and `count` are wanted.
        """
        places = None if records is None else self._places(records)
        trace = self._tracer.trace(e, places, deviation=self._spread, follow=follow, decide=True)
        assert trace.decisions is not None
        return Evidence(trace.truth[0], trace.robustness[0], trace.decisions.steps, trace)

    def _spread(self, signal: Expression) -> float:
        kept = self._kept.get(str(signal)) if self._kept else None
        return self._reference.deviation(signal) if kept is None else kept

    def _places(self, records: Iterable[int]) -> NDArray[np.int64]:
        places = np.array(list(records), np.int64)
        for record in places[(places < 0) | (places >= len(self._panel))].tolist():
            raise DataError(f"there is no record {record}: the panel has {len(self._panel)}, counted from 0")
        return places


# ---- The time of the decision, in words.

_HOW = {
    (True, True): "first held",
    (True, False): "came nearest",
    (False, True): "came nearest to failing",
    (False, False): "first failed",
}


def how_decided(formula: Formula, holds: bool) -> str:
    """Return what happened at the decisive step of a formula that is true (`holds`) or false: "first held"."""
    e, seeks = formula.expression, True
    while e.head is NOT or _looks_at_one_step(e):  # the operand decides
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
    """Return True if the decisive step has a meaning: the formula mentions something that may change in a record."""
    return _changes(formula.expression, panel.schema) and bool((panel.lengths > 1).any())


def _changes(e: Expression, schema: Schema) -> bool:
    if isinstance(e.head, Attribute):
        return not schema[e.head.name].static
    if isinstance(e.head, Operator) and (e.head.traits.moves or e.head.traits.lasts):
        return e.head.traits.moves
    return any(_changes(arg, schema) for arg in e.args)


@dataclass(frozen=True)
class Moments:
    """A summary of decisive steps in some records, as times, or as steps (from 0) if times are not known."""

    how: str
    """The event at these steps: "first held", "came nearest to failing", or "decided"."""
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
        text = f"{self.how} at {lead}{duration_text(self.median, unit)}"
        if self.earliest == self.latest:
            return text
        low, high = duration_texts((self.earliest, self.latest), unit)
        return f"{text} (median; {low.partition(' ')[0]} to {high})"


# ---- The path of one record through a tree.


@dataclass(frozen=True)
class PathStep:
    """One branch on the path of a record."""

    formula: Formula
    holds: bool
    english: str
    """The formula or its negation in English, whichever is true; or a sentence that the answer is unknown."""
    step: int
    """The decisive step, from 0."""
    time: float | None
    """The time of the decisive step, if times are known."""
    date: str | None
    """The date of the decisive step in ISO 8601, if times were dates."""
    moment: str
    """The decisive step in words: "step 24, at 22 h"."""
    robustness: float
    """The robustness: the distance from the other side in `unit`, or ±1 if that is meaningless. Positive if true."""
    unit: str | None
    """Standard deviations of the signal; steps that would have to become true or false, if counts decide; or None."""
    distance: str
    """The robustness in words: "+0.118", "-5 steps", or "-5 s" if steps have equal lengths."""
    unknown: str | None = None
    """If the answer is unknown, the reason, and the answer that it counts as."""
    vacuous: bool = False
    """True if `english` says nothing of the record because its condition never occurs: the A of "whenever A, B"."""


def path_of(
    tree: Tree,
    panel: Panel,
    record: int,
    *,
    reference: Reference | None = None,
    missing: Container[str] | None = None,
    style: Style = "plain",
) -> tuple[PathStep, ...]:
    """Return the branches that a record (by its position in the panel) takes from the root to its leaf.

    Robustness is a distance as `Robustness` measures them, over `reference`, by default the panel. `missing` names the
    columns whose missing values English must mention, by default those of the panel with missing values;
    `style` is that of `english`.
    """
    check_style(style)
    aligned = tree.aligned(panel)
    others = reference.aligned(tree.schema) if isinstance(reference, Panel) else reference
    may_be_missing = missing_columns(tree, panel) if missing is None else missing
    robustness, path, node = Robustness(aligned, others), list[PathStep](), tree.root
    while isinstance(node, Node):
        step = _path_step(node.formula, aligned, record, may_be_missing, robustness, style=style)
        if style == "plain":
            conditions = conditions_of([_claim(node.formula, step.holds)], tree.schema, may_be_missing, tree.step)
            step = replace(step, vacuous=bool(conditions) and not truth_of(conditions, aligned[[record]]).all())
        reason = why_unknown_at(node, aligned[[record]])
        if reason is not None:
            question = english(node.shown, tree.schema, tree.missed_by(node), style=style, step=tree.step)
            step = replace(step, english=f"it is unknown whether {question}", unknown=reason, vacuous=False)
        path.append(step)
        node = node.true if step.holds else node.false
    return tuple(path)


def why_unknown_at(node: Node, record: Panel) -> str | None:
    """Return why the answer of a record is unknown at a node, and the answer that it counts as; None if it is known."""
    reason = None if node.unknown is None else why_unknown(node.shown, record)
    if node.unknown is None or reason is None:
        return None
    side = node.unknown.side
    return f"the answer is unknown, for {reason}; it counts as {side}, which was the answer of more training records"


def why_unknown(formula: Formula, record: Panel) -> str | None:
    """Return why it is unknown whether a formula is true of the only record of a panel; None if it is known."""
    sure, possible = truth_of(bounds(formula.expression), record)
    if sure[0] == possible[0]:
        return None
    missing = record.select(formula.expression.attributes()).missing()
    names = [name for name, number in missing.items() if number]
    return f"{listed(names)} {'misses' if len(names) == 1 else 'miss'} values" if names else "a value is missing"


def path_step(
    formula: Formula,
    panel: Panel,
    record: int,
    *,
    reference: Reference | None = None,
    missing: Container[str] = (),
    style: Style = "plain",
) -> PathStep:
    """Return the only branch of a record (by its position in the panel) in a tree that asks for this formula alone."""
    return _path_step(formula, panel, record, missing, Robustness(panel, reference), style=style)


def _path_step(
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
    """Return the formula, or its negation, whichever is true."""
    return formula.expression if holds else Expression(NOT, (formula.expression,))


def _moment(panel: Panel, record: int, step: int) -> str:
    """Return a step with its date or time; a time without a unit gets "t = "."""
    time = panel.time_text(record, step)
    if time is None:
        return f"step {step}"
    bare = panel.time_unit is None and panel.dates(record) is None
    return f"step {step}, at {'t = ' if bare else ''}{time}"


def distance_text(distance: Distance, panel: Panel) -> str:
    """Return a distance with its sign: standard deviations as a number; steps as such, or as the time they take."""
    size, sign = abs(distance.size), "-" if distance.size < 0 else "+"
    if distance.unit != "steps":
        return f"{sign}{size:.3g}"
    if not math.isfinite(size):
        return f"{sign}∞ steps"
    if panel.period is not None and panel.time_unit is not None:
        return sign + duration_text(size * panel.period, panel.time_unit)
    return sign + counted(int(size), "step")


# ---- Comparisons of counts, and counts in words.

_RELATIONS = {
    LESS: "fewer than", LESS_EQUAL: "at most", GREATER: "more than", GREATER_EQUAL: "at least", EQUAL: "exactly"
}  # fmt: skip


def compares_counts(e: Expression) -> bool:
    """Return True if an expression compares counts, and so has one truth value for the whole record."""
    return isinstance(e.head, Operator) and e.head in COMPARISONS and e.type is Type.BOOLEAN


def timeless(e: Expression) -> bool:
    """Return True if a formula only compares counts, and so has the same truth value at every step."""
    joins = isinstance(e.head, Operator) and e.head.joins
    return compares_counts(e) or (joins and all(map(timeless, e.operands)))


def counted_conditions(e: Expression) -> tuple[Expression, ...]:
    """Return the distinct operands that a comparison counts, in order of appearance."""
    return tuple(dict.fromkeys(_counted(e)))


def _counted(e: Expression) -> Iterator[Expression]:
    if e.head is COUNT:
        yield e.args[0]
    else:
        for arg in e.args:
            yield from _counted(arg)


def count_text(comparison: Expression, total: int) -> str:
    """Return a count beside the number it is compared with, "12 of more than 16", or alone if there is none."""
    head, (left, right) = comparison.head, comparison.args
    assert isinstance(head, Operator)
    if isinstance(left.head, Number):
        head, left, right = operator_named(MIRRORED[head.name]), right, left
    if left.head is COUNT and isinstance(right.head, Number):
        return f"{total} of {_RELATIONS[head]} {number_text(right.head.value)}"
    return str(total)
