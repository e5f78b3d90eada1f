"""Questions about a panel, in English or as formulas: how many records satisfy one, of which classes, and when."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from telltree.engine import Formula
from telltree.engine.three_valued import possibly, resolve_unknown, surely
from telltree.english.read_sentence import read_sentence
from telltree.english.styles import Style, check_style, english
from telltree.english.synonyms import with_suggestion
from telltree.english.tokens import TokenKind, bare_or_quoted, numeral, stands_bare, tokens_of
from telltree.english.vocabulary import is_clause, vocabulary
from telltree.errors import DataError, GrammarError, SettingsError, SpeechError
from telltree.explain.evidence import Moments, PathStep, Robustness, has_moments, how_decided, path_step, why_unknown
from telltree.logic import Expression, UserFunction
from telltree.panel import UNSEEN, Column, ColumnType, Panel, Schema, check_labels
from telltree.panel.dates import StepLength, number_text
from telltree.panel.schema import require_known
from telltree.panel.type_inference import decoded
from telltree.panel.units_and_names import is_unit
from telltree.proportions import wilson
from telltree.text import counted, percent, times_all, visible

_MEMBERS = 5  # members listed in a text
_CLASSES = 12  # classes listed in a text


@dataclass(frozen=True)
class Verdict:
    """The answer for one record; `str(verdict)` is a short text."""

    record: Any
    """Its id."""
    decision: PathStep
    """The truth value, the step that decided, and the margin."""
    when: str | None
    """The time of the decision: "first held at 12 s (step 12)"; None if no step stands out."""
    values: tuple[str, ...]
    """The values of the question's columns at that step."""

    def __str__(self) -> str:
        if self.decision.unknown is not None:
            return visible(f"unknown of record {self.record}: {self.decision.unknown}")
        verdict = "true" if self.decision.holds else "not true"
        lines = [f"{verdict} of record {self.record}{_margin(self.decision)}"]
        if not self.decision.holds:
            lines.append(f"  instead, {self.decision.english}")
        if self.when is not None:
            lines.append(f"  {self.when}: {', '.join(self.values)}")
        return visible("\n".join(lines))

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict for JSON."""
        decision = {**asdict(self.decision), "formula": str(self.decision.formula)}
        return {"record": self.record, **decision, "when": self.when, "values": list(self.values)}


@dataclass(frozen=True)
class ClassAnswer:
    """Counts and shares of the records of one class."""

    label: Any
    records: int
    """Number of records of the class."""
    unknown: int
    """Number of these with an unknown answer: 0 unless `missing="unknown"`. All shares are among the others."""
    holds: int
    """Number of these with the answer true."""
    share: float | None
    """The share of true answers in the class; None if all answers are unknown."""
    low: float
    high: float
    """The 95 % confidence interval of `share` (Wilson)."""
    among: float | None
    """The share of the class among the true answers; None if there are none."""
    overall: float | None
    """The share of the class among all records; None if all answers are unknown."""
    lift: float | None
    """`among` divided by `overall`; None if there are no true answers, or if all answers of the class are unknown."""

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
    """The answer to a question about a panel; `str(answer)` is a short text."""

    formula: Formula
    """The question as a formula."""
    english: str
    """The formula in telltree's words, to check that the question was understood."""
    records: int
    """Number of records of the panel."""
    positions: NDArray[np.int64]
    """The records of which it is true: their positions in the panel, in order."""
    members: NDArray[Any]
    """Their ids."""
    steps: NDArray[np.int64]
    """The decisive step (from 0) of each, as found by `decisive_step`: the first at which an F holds."""
    times: NDArray[np.float64] | None
    """The times of these steps, if times are known."""
    first: Moments | None
    """A summary of the steps or times; None if it is true of no record, or of nothing that changes within one."""
    classes: tuple[ClassAnswer, ...]
    """One for each class, in order; none if labels were not given."""
    unknown: NDArray[np.int64]
    """The positions of the records with an unknown answer: none unless `missing="unknown"`."""
    units: dict[str, str]
    """The units that the question gave to columns without one."""
    _panel: Panel = field(repr=False)
    _missing: set[str] = field(repr=False)
    _three_valued: bool = field(default=False, repr=False)
    _style: Style = field(default="plain", repr=False)

    @property
    def known(self) -> int:
        """Number of records with a known answer: all unless `missing="unknown"`."""
        return self.records - len(self.unknown)

    @property
    def share(self) -> float | None:
        """The share of true answers among the known ones; None if there are none."""
        return len(self.positions) / self.known if self.known else None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of `share` (Wilson)."""
        return wilson(self.share, self.known)

    def explain(self, record: int) -> Verdict:
        """Return the answer for a record, by its position in the panel: when it was decided, and by what margin."""
        if not 0 <= record < self.records:
            raise DataError(f"there is no record {record}: the panel has {self.records}, counted from 0")
        if not self._three_valued:
            return verdict_of(self.formula, self._panel, record, self._missing, self._style)
        # a record for which the formula is false does not even possibly satisfy it
        certain = resolve_unknown(self.formula.expression, record not in self.positions)
        verdict = verdict_of(Formula(certain), self._panel, record, self._missing, self._style)
        reason = why_unknown(self.formula, self._panel[[record]])
        return replace(verdict, decision=replace(verdict.decision, unknown=reason))

    def text(self, members: int = _MEMBERS) -> str:
        """Return the answer in words, with the ids of this many members."""
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
        shown = self.classes
        if len(shown) > _CLASSES:  # the classes with the most members
            shown = tuple(sorted(shown, key=lambda row: -row.holds)[:_CLASSES])
        yield from (f"  {row}" for row in shown)
        if len(shown) < len(self.classes):
            left = counted(len(self.classes) - len(shown), "more class", "more classes")
            yield f"  and {left} with as many or fewer"
        if self.first is not None:
            yield str(self.first)
        if members and len(self.members):
            lead = "such as" if members < len(self.members) else "namely"
            yield f"{lead} {', '.join(map(str, self.members[:members].tolist()))}"

    def __str__(self) -> str:
        return self.text()

    def to_dict(self, members: int | None = None) -> dict[str, Any]:
        """Return the answer for JSON, with this many members (None: all)."""
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
    """Find the records of which something is true, and when it first was.

    question: plain English, "at some point pressure is below 2.8 bar while the valve is open", or a formula,
        "F(pressure < 2.8 and valve)". If it cannot be read, a SpeechError or GrammarError has the place and the
        nearest word.
    y: the records' labels; with them, the answer has counts for each class.
    functions: user-defined functions that the question may call.
    missing: the truth value of a condition on a missing value: "false", or "unknown" in three-valued logic. The answer
        then lists records with an unknown answer apart, and shares are among the others.
    style: that of `english`, for the answer's version of the question and for what is true instead. A question in
        English is always plain.
    """
    check_style(style)
    if missing not in ("false", "unknown"):
        raise SettingsError(f'missing must be "false" or "unknown", got {missing!r}')
    labels = None if y is None else check_labels(y, panel)
    formula, schema = read_question(question, panel, functions)
    used = dict.fromkeys(formula.expression.attributes())
    may_miss = {name for name, count in panel.select(used).missing().items() if count}
    three_valued = missing == "unknown"
    evidence = Robustness(panel).evidence(surely(formula.expression) if three_valued else formula.expression)
    holds, positions = evidence.truth, np.flatnonzero(evidence.truth)
    unknown = Formula(possibly(formula.expression))(panel) & ~holds if three_valued else np.zeros(len(panel), np.bool_)
    steps = evidence.steps[positions]
    times = _times_of(panel, positions, steps)
    return Answer(
        formula=formula,
        english=english(formula, schema, () if three_valued else may_miss, style=style, step=panel.step),
        records=len(panel),
        positions=positions,
        members=panel.ids[positions],
        steps=steps,
        times=times,
        first=_moments(formula, panel, steps, times),
        classes=() if labels is None else tuple(_by_class(labels, holds, unknown)),
        unknown=np.flatnonzero(unknown),
        units={name: str(column.unit) for name, column in schema.items() if column.unit != panel.schema[name].unit},
        _panel=panel.with_schema(schema),
        _missing=may_miss,
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
    """Return a share with its interval: "15 %, 12 to 18 %"."""
    return f"{_percent(share)}, {_percent(low).removesuffix(' %')} to {_percent(high)}"


def _percent(share: float) -> str:
    """Return a share as text, with an extra digit near 0 and 100 %."""
    return percent(share, 0 if 0.01 <= share <= 0.99 else 1)


# ---- The answer for one record.


def verdict_of(formula: Formula, panel: Panel, record: int, missing: set[str], style: Style = "plain") -> Verdict:
    """Return the verdict on a record, by its position; `missing` names the columns that may miss values."""
    decision = path_step(formula, panel, record, missing=missing, style=style)
    how = how_decided(formula, decision.holds)
    all_alike = how.startswith("came nearest") and decision.unit is None  # all steps are equally near
    when = None if all_alike or not has_moments(formula, panel) else f"{how} at {_moment(decision, panel, record)}"
    names = dict.fromkeys(formula.expression.attributes())
    values = tuple(_values(panel, names, record, decision.step))
    return Verdict(panel.ids.tolist()[record], decision, when, values)


def _moment(decision: PathStep, panel: Panel, record: int) -> str:
    """Return the time or date of the decision, and its step."""
    time = panel.time_text(record, decision.step)
    if time is None:
        return f"step {decision.step}"
    return f"{time if panel.time_unit or decision.date else f't = {time}'} (step {decision.step})"


def _margin(decision: PathStep) -> str:
    """Return the margin in words, if it is a distance."""
    if decision.unit is None:
        return ""
    if decision.unit == "steps":
        return f", by a margin of {decision.distance[1:]}"  # without its sign
    size = f"{abs(decision.robustness):.2g}"
    return f", by a margin of {size} standard deviation{'' if size == '1' else 's'}"


def _values(panel: Panel, names: dict[str, None], record: int, step: int) -> Iterator[str]:
    """Yield the value of each column at a step, in words."""
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


# ---- Reading a question: a formula, or plain English, about the columns of a panel.

_SIGNS = re.compile(r"[<>=≤≥∧∨¬⇒]|\w\(")
"""Signs of formulas; people type comparisons in sentences too."""
_FORMULA = re.compile(r"[∧∨¬⇒]|\w\(")
"""Signs of formulas that sentences never have."""
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|`[^`]*`')


def read_question(
    question: str | Formula, panel: Panel, functions: Sequence[UserFunction] = ()
) -> tuple[Formula, Schema]:
    """Return the formula of a question, and the panel's schema with the units that the question uses.

    A text is parsed as a formula, or else as English, which may give a unit to a column without one: "below 2.8 bar".
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
    def read(sentence: str) -> tuple[Formula, Schema]:
        return _with_own_units(sentence, schema, functions, step)

    try:
        return read(text)
    except SpeechError as error:
        raise with_suggestion(error, text, read, vocabulary(schema, tuple(functions))) from None


def _with_own_units(
    text: str, schema: Schema, functions: Sequence[UserFunction], step: StepLength | None
) -> tuple[Formula, Schema]:
    """Return the formula of a text, and the schema with the units that the text gives to columns without one."""

    def reach(known: Schema) -> tuple[float, Expression | SpeechError]:
        """Return the place up to which the text can be read, and the result."""
        try:
            return float("inf"), read_sentence(text, known, functions=functions, step=step, suggest=False)
        except SpeechError as error:
            return error.place or 0, error

    far, found = reach(schema)
    while isinstance(found, SpeechError):
        attempts = ((known, *reach(known)) for known in _with_units(text, schema, found))
        better = next((attempt for attempt in attempts if attempt[1] > far), None)
        if better is None:
            raise found
        schema, far, found = better
    return Formula(found), schema


def _with_units(text: str, schema: Schema, error: SpeechError) -> Iterator[Schema]:
    """Yield schemas that give a column its unit, one for each column without one, if the reader stopped at a unit."""
    unit = _unit(text, error.place)
    if unit is None:
        return
    for column in schema.values():
        if column.type is ColumnType.REAL and column.unit is None and (column.words in text or column.name in text):
            yield Schema(replace(other, unit=unit) if other is column else other for other in schema.values())


def _unit(text: str, place: int | None) -> str | None:
    """Return the unit at this place, behind a number or attached to one; None if it is no known unit.

    If any word could be a unit, its meaning for the number would be lost: "50 thousand".
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
    """Return the error of the likelier reading: English if it got further, or if nothing looks like a formula."""
    lines = text.split("\n")[: (formula.line or 1) - 1]
    reached = sum(len(line) + 1 for line in lines) + (formula.column or 1)
    error: GrammarError | SpeechError
    if (english.place or 1) > reached or not _SIGNS.search(_QUOTED.sub("", text)):
        error, cause = SpeechError(f"the question cannot be read as English: {english}"), vars(english)
    else:
        sentence = None if _FORMULA.search(text) else english.suggestion
        remedy = "" if sentence is None else f"; try: {sentence}"
        error, cause = GrammarError(f"the question cannot be read as a formula: {formula}{remedy}"), vars(formula)
    vars(error).update(cause)  # the places
    return error
