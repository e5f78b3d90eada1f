"""Evidence: the step of a record at which a formula was decided, or came nearest to it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.errors import DataError
from telltree.logic import Formula
from telltree.logic.walk import DEVIATIONS, STEPS
from telltree.logic.walking import Walked, Walker, signals_of
from telltree.operators import Expression

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
    return Margins(panel, reference).evidence(formula.expression, records).steps


@dataclass(frozen=True, eq=False)
class Evidence:
    """What one walk over some records found out about a formula, record by record in the order that was asked for."""

    truth: NDArray[np.bool_]
    margins: Floats
    """Of the formula at the first step."""
    steps: NDArray[np.int64]
    """The decisive ones."""
    _walked: Walked

    def distance(self, place: int) -> Distance:
        """How far the record at a place is from the other answer, for people to read.

        It is the margin of the formula, which is that of the part that decides; if that part compares counts, which
        have no standard deviation, it is how many true steps more or fewer would change the answer. A missing value
        is at no distance from any other.
        """
        decided = self._walked.decided
        assert decided is not None
        return Distance(float(decided.sizes[place]), _UNITS.get(int(decided.units[place])))

    def held(self, part: Expression, place: int) -> NDArray[np.bool_]:
        """Where a part that was followed holds in the record at a place, step by step."""
        return self._walked.held(part, place)

    def count(self, part: Expression, place: int) -> int:
        """At how many steps of it that part holds."""
        return self._walked.count(part, place)


class Margins:
    """Margins over time of Boolean vectors, record by record; positive where the vector is true, else negative.

    Distances of reals are in standard deviations of the signal over `reference`, by default the panel itself; all other
    atoms have ±1. With the training panel as the reference, or what the model kept of it (`training_.spread`), the
    margins of a record do not depend on the other records. At a step, F and G look from there to the end.
    """

    def __init__(self, panel: Panel, reference: Reference | None = None) -> None:
        self._panel = panel
        self._walker = Walker(panel)
        self._reference = signals_of(reference) if isinstance(reference, Panel) else self._walker.signals
        self._kept = reference if isinstance(reference, Mapping) else {}

    def over_time(self, e: Expression, record: int) -> Floats:
        """The margin of a Boolean vector (or formula) at every step of the record at this position."""
        return self._walker.over_time(e, int(self._places([record])[0]), self._spread)

    def distance(self, e: Expression, record: int) -> Distance:
        """How far the record at this position is from the other answer to a formula; see `Evidence.distance`."""
        return self.evidence(e, [record]).distance(0)

    def of_records(self, e: Expression) -> Floats:
        """The margin of a formula in every record: at its first step."""
        return self._walker.walk(e, spread=self._spread).found.margins

    def evidence(
        self, e: Expression, records: Iterable[int] | None = None, *, follow: Sequence[Expression] = ()
    ) -> Evidence:
        """All that one walk finds out about a formula in records given by their positions, by default all.

        `follow` are parts of the formula of which it is told where they hold.
        """
        places = None if records is None else self._places(records)
        walked = self._walker.walk(e, places, spread=self._spread, follow=follow, decide=True)
        assert walked.decided is not None
        return Evidence(walked.truth, walked.found.margins, walked.decided.steps, walked)

    def _spread(self, signal: Expression) -> float:
        kept = self._kept.get(str(signal)) if self._kept else None
        return self._reference.spread(signal) if kept is None else kept

    def _places(self, records: Iterable[int]) -> NDArray[np.int64]:
        places = np.array(list(records), np.int64)
        for record in places[(places < 0) | (places >= len(self._panel))].tolist():
            raise DataError(f"there is no record {record}: the panel has {len(self._panel)}, counted from 0")
        return places
