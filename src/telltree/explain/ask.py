"""Asking: how many records something is true of, in which classes, when, and which records."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from telltree.amounts import counted, percent, times_all
from telltree.data import Panel, check_labels
from telltree.errors import DataError, SettingsError
from telltree.explain.english import Style, check_style, english
from telltree.explain.evidence import Margins
from telltree.explain.moments import Moments, has_moments, how_decided
from telltree.explain.question import read_question
from telltree.explain.verdict import Verdict, verdict_of
from telltree.explain.way import why_unknown
from telltree.logic import Formula
from telltree.logic.unknown import possibly, settled, surely
from telltree.operators import UserFunction
from telltree.shares import wilson
from telltree.visible import visible

_MEMBERS = 5  # members that a text names
_CLASSES = 12  # classes that get a line in a text


@dataclass(frozen=True)
class ClassAnswer:
    """How many records of one class it is true of."""

    label: Any
    records: int
    """The records of the class."""
    unknown: int
    """Of how many of them it is unknown: of none, unless that was asked for. All shares are among the others."""
    holds: int
    """How many of them it is true of."""
    share: float | None
    """The share of the class that it is true of; None if it is unknown of all of the class."""
    low: float
    high: float
    """The 95 % confidence interval of `share` (Wilson)."""
    among: float | None
    """The share of the class among the records that it is true of; None if there are none."""
    overall: float | None
    """The share of the class among all records; None if it is unknown of all of them."""
    lift: float | None
    """`among` divided by `overall`; None if it is true of no record, or unknown of all of the class."""

    def __str__(self) -> str:
        return f"{self.label}: {'; '.join(self._figures())}"

    def _figures(self) -> Iterator[str]:
        if self.share is None:
            yield f"unknown of {self.unknown:,} of {self.records:,}"
            return
        known = f"{self.records - self.unknown:,}{' known' if self.unknown else ''}"
        yield f"{self.holds:,} of {known} ({_shares(self.share, self.low, self.high)})"
        if self.unknown:
            yield f"unknown of {self.unknown:,}"
        if self.among and self.lift is not None:
            yield f"{_percent(self.among)} of those it is true of, {times_all(self.lift)}"


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer to a question about a panel; `str(answer)` is a short text to read aloud."""

    formula: Formula
    """What was asked."""
    english: str
    """The same in telltree's words: how the question was understood."""
    records: int
    """How many records were asked about."""
    positions: NDArray[np.int64]
    """The records it is true of: their positions in the panel, in order."""
    members: NDArray[Any]
    """Their ids."""
    steps: NDArray[np.int64]
    """The decisive step (from 0) of each, as found by `decisive_step`: the first at which an F holds."""
    times: NDArray[np.float64] | None
    """When that was, if times are known."""
    first: Moments | None
    """A summary of the steps or times; None if it is true of no record, or of nothing that changes within one."""
    classes: tuple[ClassAnswer, ...]
    """One for each class, in order; none if labels were not given."""
    unknown: NDArray[np.int64]
    """The records of which it is unknown, by their positions: none, unless that was asked for."""
    units: dict[str, str]
    """The units that the question gave to columns without one."""
    _panel: Panel = field(repr=False)
    _missing: set[str] = field(repr=False)
    _three_valued: bool = field(default=False, repr=False)
    _style: Style = field(default="plain", repr=False)

    @property
    def known(self) -> int:
        """Of how many records it is known whether it is true: of all, unless unknown answers were asked for."""
        return self.records - len(self.unknown)

    @property
    def share(self) -> float | None:
        """The share that it is true of, among the records of which that is known; None if there are none."""
        return len(self.positions) / self.known if self.known else None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of `share` (Wilson)."""
        return wilson(self.share, self.known)

    def explain(self, record: int) -> Verdict:
        """Whether it is true of a record, by its position in the panel, when that was decided, and by what margin."""
        if not 0 <= record < self.records:
            raise DataError(f"there is no record {record}: the panel has {self.records}, counted from 0")
        if not self._three_valued:
            return verdict_of(self.formula, self._panel, record, self._missing, self._style)
        # what is known to be false is possibly true nowhere
        asked = settled(self.formula.expression, record not in self.positions)
        verdict = verdict_of(Formula(asked), self._panel, record, self._missing, self._style)
        return replace(verdict, turn=replace(verdict.turn, unknown=why_unknown(self.formula, self._panel[[record]])))

    def text(self, members: int = _MEMBERS) -> str:
        """The answer in words, with the ids of this many members."""
        return visible("\n".join(self._lines(members)))

    def _lines(self, members: int) -> Iterator[str]:
        yield self.english
        yield f"  {self.formula}"
        for name, unit in self.units.items():
            yield f"  {name} has no unit in the data; it is taken to be in {unit}"
        shares = "" if self.share is None else f" ({_shares(self.share, *self.interval)})"
        among = counted(self.known, "record")
        if len(self.unknown):
            among = f"the {among} of which it is known"
        yield f"true of {len(self.positions):,} of {among}{shares}"
        if self._three_valued:
            yield f"unknown of {len(self.unknown):,}, for values are missing"
        told = self.classes
        if len(told) > _CLASSES:  # the classes with the most members
            told = tuple(sorted(told, key=lambda row: -row.holds)[:_CLASSES])
        yield from (f"  {row}" for row in told)
        if len(told) < len(self.classes):
            left = counted(len(self.classes) - len(told), "more class", "more classes")
            yield f"  and {left} with as many or fewer"
        if self.first is not None:
            yield str(self.first)
        if members and len(self.members):
            lead = "such as" if members < len(self.members) else "namely"
            yield f"{lead} {', '.join(map(str, self.members[:members].tolist()))}"

    def __str__(self) -> str:
        return self.text()

    def to_dict(self, members: int | None = None) -> dict[str, Any]:
        """For JSON, with this many members (None: all)."""
        low, high = self.interval
        times = [None] * len(self.positions) if self.times is None else self.times.tolist()
        found = zip(self.members.tolist(), self.steps.tolist(), times, strict=True)
        return {
            "formula": str(self.formula),
            "english": self.english,
            "units": self.units,
            "records": self.records,
            "true_of": len(self.positions),
            **({"unknown_of": len(self.unknown)} if self._three_valued else {}),
            "share": self.share,
            "low": low,
            "high": high,
            "classes": [asdict(row) for row in self.classes],
            "first": None if self.first is None else asdict(self.first),
            "members": [{"id": name, "step": step, "time": time} for name, step, time in list(found)[:members]],
        }


def ask(
    panel: Panel,
    question: str | Formula,
    y: ArrayLike | None = None,
    *,
    functions: Sequence[UserFunction] = (),
    missing: Literal["false", "unknown"] = "false",
    style: Style = "plain",
) -> Answer:
    """How many records something is true of, when it first was, and which records.

    question: plain English, "at some point pressure is below 2.8 bar while the valve is open", or a formula,
        "F(pressure < 2.8 and valve)". A SpeechError or GrammarError says where it cannot be read, and the nearest word.
    y: the records' labels; with them, the answer tells of each class.
    functions: user-defined functions that the question may call.
    missing: what a condition on a missing value is: "false", or "unknown" in three-valued logic; then the answer tells
        apart of which records it is true, and of which it is unknown, and shares are among those of which it is known.
    style: in which English the answer says how the question was understood, and what is true instead; that of
        `english`. A question in English is plain.
    """
    check_style(style)
    if missing not in ("false", "unknown"):
        raise SettingsError(f'missing must be "false" or "unknown", got {missing!r}')
    labels = None if y is None else check_labels(y, panel)
    formula, schema = read_question(question, panel, functions)
    spoken_of = panel.with_schema(schema)
    used = dict.fromkeys(formula.expression.attributes())
    unsure, three_valued = {name for name, count in panel.select(used).missing().items() if count}, missing == "unknown"
    asked = surely(formula.expression) if three_valued else formula.expression
    evidence = Margins(panel).evidence(asked)
    holds, positions = evidence.truth, np.flatnonzero(evidence.truth)
    unknown = Formula(possibly(formula.expression))(panel) & ~holds if three_valued else np.zeros(len(panel), np.bool_)
    steps = evidence.steps[positions]
    times = _times_of(panel, positions, steps)
    return Answer(
        formula=formula,
        english=english(formula, schema, () if three_valued else unsure, style=style, step=panel.step),
        records=len(panel),
        positions=positions,
        members=panel.ids[positions],
        steps=steps,
        times=times,
        first=_moments(formula, panel, steps, times),
        classes=() if labels is None else tuple(_by_class(labels, holds, unknown)),
        unknown=np.flatnonzero(unknown),
        units={name: str(column.unit) for name, column in schema.items() if column.unit != panel.schema[name].unit},
        _panel=spoken_of,
        _missing=unsure,
        _three_valued=three_valued,
        _style=style,
    )


def _times_of(panel: Panel, positions: NDArray[np.int64], steps: NDArray[np.int64]) -> NDArray[np.float64] | None:
    found = [(panel.times(i), step) for i, step in zip(positions.tolist(), steps.tolist(), strict=True)]
    times = [float(times[step]) for times, step in found if times is not None]
    return np.array(times) if len(times) == len(positions) else None


def _moments(
    formula: Formula, panel: Panel, steps: NDArray[np.int64], times: NDArray[np.float64] | None
) -> Moments | None:
    how = how_decided(formula, True)
    all_alike = how.startswith("came nearest") and not steps.any()  # the first of many equally near
    if not len(steps) or all_alike or not has_moments(formula, panel):
        return None
    return Moments.of(how, panel, steps, times)


def _by_class(labels: NDArray[Any], holds: NDArray[np.bool_], unknown: NDArray[np.bool_]) -> Iterator[ClassAnswer]:
    everyone, members = int((~unknown).sum()), int(holds.sum())
    for label in np.unique(labels).tolist():
        of_class = labels == label
        known, true = int((of_class & ~unknown).sum()), int((of_class & holds).sum())
        share = true / known if known else None
        low, high = wilson(share, known)
        yield ClassAnswer(
            label=label,
            records=int(of_class.sum()),
            unknown=int((of_class & unknown).sum()),
            holds=true,
            share=share,
            low=low,
            high=high,
            among=true / members if members else None,
            overall=known / everyone if everyone else None,
            lift=true * everyone / (members * known) if members and known else None,
        )


def _shares(share: float, low: float, high: float) -> str:
    """A share with its interval: "15 %, 12 to 18 %"."""
    return f"{_percent(share)}, {_percent(low).removesuffix(' %')} to {_percent(high)}"


def _percent(share: float) -> str:
    """A share as text, with an extra digit near 0 and 100 %."""
    return percent(share, 0 if 0.01 <= share <= 0.99 else 1)
