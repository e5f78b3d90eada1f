"""Questions: of how many records something is true, in which classes, when, and which records."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from telltree.engine import Formula
from telltree.engine.three_valued import possibly, settled, surely
from telltree.english.paraphrase import with_suggestion
from telltree.english.read_sentence import read_sentence
from telltree.english.tokens import TokenKind, bare_or_quoted, numeral, stands_bare, tokens_of
from telltree.english.vocabulary import is_clause, vocabulary
from telltree.errors import DataError, GrammarError, SettingsError, SpeechError
from telltree.explain.english import Style, check_style, english
from telltree.explain.evidence import Moments, PathStep, Robustness, has_moments, how_decided, path_step, why_unknown
from telltree.logic import Expression, UserFunction
from telltree.panel import UNSEEN, Column, ColumnType, Panel, Schema, check_labels
from telltree.panel.column_names import is_unit
from telltree.panel.dates import StepLength, number_text
from telltree.panel.schema import require_known
from telltree.panel.type_inference import decoded
from telltree.proportions import wilson
from telltree.text import counted, percent, times_all, visible

# ---- Questions: a formula, or plain English, read against the columns of a panel.

_SIGNS = re.compile(r"[<>=≤≥∧∨¬⇒]|\w\(")
"""Signs that formulas have; of these, people type only comparisons in sentences too."""
_FORMULA = re.compile(r"[∧∨¬⇒]|\w\(")
"""Signs that only formulas have."""
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|`[^`]*`')


def read_question(
    question: str | Formula, panel: Panel, functions: Sequence[UserFunction] = ()
) -> tuple[Formula, Schema]:
    """The formula that a question asks about, and the panel's schema as the question speaks of it.

    A text is read as a formula, or else as English, in which a column without a unit may be given one: "below 2.8 bar".
    If it is neither, a SpeechError or GrammarError describes the reading that was more likely meant.
    """
    if isinstance(question, Formula):
        for name in question.expression.attributes():
            require_known(name, panel.schema.names, "column")
        return question, panel.schema
    if not isinstance(question, str):
        raise SettingsError(f"a question is a text or a Formula, got {question!r:.80}")
    try:
        return Formula.parse(question, panel.schema, functions=functions, step=panel.step), panel.schema
    except GrammarError as error:
        as_formula = error
    try:
        return _from_english(question, panel.schema, functions, panel.step)
    except SpeechError as error:
        raise _likelier(question, as_formula, error) from None


def _from_english(
    text: str, schema: Schema, functions: Sequence[UserFunction], step: StepLength | None
) -> tuple[Formula, Schema]:
    def reading(said: str) -> tuple[Formula, Schema]:
        return _with_said_units(said, schema, functions, step)

    try:
        return reading(text)
    except SpeechError as error:
        raise with_suggestion(error, text, reading, vocabulary(schema, tuple(functions))) from None


def _with_said_units(
    text: str, schema: Schema, functions: Sequence[UserFunction], step: StepLength | None
) -> tuple[Formula, Schema]:
    """The formula that a text says, and the schema with the units that it gives to columns without one."""

    def reach(known: Schema) -> tuple[float, Expression | SpeechError]:
        """How far the text can be read, and the result."""
        try:
            return float("inf"), read_sentence(text, known, functions=functions, step=step, suggest=False)
        except SpeechError as error:
            return error.place or 0, error

    far, found = reach(schema)
    while isinstance(found, SpeechError):
        further = ((known, *reach(known)) for known in _with_units(text, schema, found))
        better = next((made for made in further if made[1] > far), None)
        if better is None:
            raise found
        schema, far, found = better
    return Formula(found), schema


def _with_units(text: str, schema: Schema, error: SpeechError) -> Iterator[Schema]:
    """The schema with a unit for one of the columns without one, if the text stops at what may be a unit."""
    unit = _unit(text, error.place)
    if unit is None:
        return
    for column in schema.values():
        if column.type is ColumnType.REAL and column.unit is None and (column.words in text or column.name in text):
            yield Schema(replace(other, unit=unit) if other is column else other for other in schema.values())


def _unit(text: str, place: int | None) -> str | None:
    """The unit at this place, behind a number or attached to one; None if no unit that telltree knows is there.

    Any other word would be taken for a unit, and then its meaning for the number would be lost: "50 thousand".
    """
    tokens = tokens_of(text)
    for at, token in enumerate(tokens):
        if token.place == place and token.kind is TokenKind.WORD:
            number = numeral(tokens, at)
            attached = "" if number is None else number.rest
            before = [numeral(tokens, i) for i in range(max(at - 8, 0), at)]
            behind = any(found and at - len(before) + i + found.length == at for i, found in enumerate(before))
            word = (attached or (token.text if behind else "")).rstrip(".?")
            known = is_unit(word) and stands_bare(word) and attached not in ("m", "K")  # "50m" may be 50 million
            return word if known else None
    return None


def _likelier(text: str, formula: GrammarError, english: SpeechError) -> GrammarError | SpeechError:
    """The error of the reading that was meant: English if it got further, or if nothing looks like a formula."""
    lines = text.split("\n")[: (formula.line or 1) - 1]
    reached = sum(len(line) + 1 for line in lines) + (formula.column or 1)
    told: GrammarError | SpeechError
    if (english.place or 1) > reached or not _SIGNS.search(_QUOTED.sub("", text)):
        told, cause = SpeechError(f"the question cannot be read as English: {english}"), vars(english)
    else:
        sentence = None if _FORMULA.search(text) else english.suggestion
        remedy = "" if sentence is None else f"; try: {sentence}"
        told, cause = GrammarError(f"the question cannot be read as a formula: {formula}{remedy}"), vars(formula)
    vars(told).update(cause)  # the places
    return told


# ---- One record's answer to a question: whether it is true, when that was decided, and by what margin.


@dataclass(frozen=True)
class Verdict:
    """The answer for one record; `str(verdict)` is a text to read aloud."""

    record: Any
    """Its id."""
    turn: PathStep
    """Whether it is true, which step decided, and the margin."""
    when: str | None
    """When that was: "first held at 12 s (step 12)"; None if no step stands out."""
    values: tuple[str, ...]
    """The values of the question's columns at that step."""

    def __str__(self) -> str:
        if self.turn.unknown is not None:
            return visible(f"unknown of record {self.record}: {self.turn.unknown}")
        verdict = "true" if self.turn.holds else "not true"
        lines = [f"{verdict} of record {self.record}{_robustness(self.turn)}"]
        if not self.turn.holds:
            lines.append(f"  instead, {self.turn.english}")
        if self.when is not None:
            lines.append(f"  {self.when}: {', '.join(self.values)}")
        return visible("\n".join(lines))

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        turn = {**asdict(self.turn), "formula": str(self.turn.formula)}
        return {"record": self.record, **turn, "when": self.when, "values": list(self.values)}


def verdict_of(formula: Formula, panel: Panel, record: int, missing: set[str], style: Style = "plain") -> Verdict:
    """The verdict on a record, by its position in the panel; `missing` names the columns that may miss values."""
    turn = path_step(formula, panel, record, missing=missing, style=style)
    how = how_decided(formula, turn.holds)
    all_alike = how.startswith("came nearest") and turn.unit is None  # no distance could be smaller
    when = None if all_alike or not has_moments(formula, panel) else f"{how} at {_moment(turn, panel, record)}"
    names = dict.fromkeys(formula.expression.attributes())
    values = tuple(_values(panel, names, record, turn.step))
    return Verdict(panel.ids.tolist()[record], turn, when, values)


def _moment(turn: PathStep, panel: Panel, record: int) -> str:
    """The step that decided, and its time or date."""
    time = panel.time_text(record, turn.step)
    if time is None:
        return f"step {turn.step}"
    return f"{time if panel.time_unit or turn.date else f't = {time}'} (step {turn.step})"


def _robustness(turn: PathStep) -> str:
    """A margin with a distance, in words."""
    if turn.unit is None:
        return ""
    if turn.unit == "steps":
        return f", by a margin of {turn.distance[1:]}"  # without its sign
    size = f"{abs(turn.robustness):.2g}"
    return f", by a margin of {size} standard deviation{'' if size == '1' else 's'}"


def _values(panel: Panel, names: dict[str, None], record: int, step: int) -> Iterator[str]:
    """The values of columns at a step, each in words."""
    words = vocabulary(panel.schema)
    for name in names:
        column, codes = panel.schema[name], panel.values(name, record)[step : step + 1]
        value = decoded(column, codes)[0]
        if column.type is ColumnType.BOOLEAN and value is not None:
            yield str(words.clause(column, bool(value)) or f"it is false that {words.noun(column)}")
        elif is_clause(column):
            yield f"it is unknown whether {words.noun(column)}"
        else:
            unseen = column.type is ColumnType.CATEGORICAL and codes[0] == UNSEEN
            yield f"{words.noun(column)} is {'none of its categories' if unseen else _value(column, value)}"


def _value(column: Column, value: Any) -> str:
    if value is None or (column.type is ColumnType.REAL and math.isnan(value)):
        return "missing"
    if column.type is ColumnType.REAL:
        return f"{number_text(float(value))} {column.unit}" if column.unit else number_text(float(value))
    return bare_or_quoted(value, numbers=True)


# ---- Asking: how many records something is true of, in which classes, when, and which records.

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
    evidence = Robustness(panel).evidence(asked)
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
