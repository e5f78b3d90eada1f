"""One record's answer to a question: whether it is true, when that was decided, and by what margin."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from telltree.data import UNSEEN, Column, ColumnType, Panel
from telltree.data.clock import number_text, time_text
from telltree.data.records.decode import decoded
from telltree.explain.english import Style
from telltree.explain.moments import has_moments, how_decided
from telltree.explain.way import Turn, turn_of
from telltree.logic import Formula
from telltree.speech.vocabulary import is_clause, vocabulary
from telltree.speech.words import bare_or_quoted
from telltree.visible import visible


@dataclass(frozen=True)
class Verdict:
    """The answer for one record; `str(verdict)` is a text to read aloud."""

    record: Any
    """Its id."""
    turn: Turn
    """Whether it is true, which step decided, and the margin."""
    when: str | None
    """When that was: "first held at 12 s (step 12)"; None if no step stands out."""
    values: tuple[str, ...]
    """The values of the question's columns at that step."""

    def __str__(self) -> str:
        if self.turn.unknown is not None:
            return visible(f"unknown of record {self.record}: {self.turn.unknown}")
        verdict = "true" if self.turn.holds else "not true"
        lines = [f"{verdict} of record {self.record}{_margin(self.turn)}"]
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
    turn = turn_of(formula, panel, record, missing=missing, style=style)
    how = how_decided(formula, turn.holds)
    all_alike = how.startswith("came nearest") and turn.unit is None  # no distance could be smaller
    when = None if all_alike or not has_moments(formula, panel) else f"{how} at {_moment(turn, panel, record)}"
    names = dict.fromkeys(formula.expression.attributes())
    values = tuple(_values(panel, names, record, turn.step))
    return Verdict(panel.ids.tolist()[record], turn, when, values)


def _moment(turn: Turn, panel: Panel, record: int) -> str:
    """The step that decided, and its time or date."""
    time = time_text(panel, record, turn.step)
    if time is None:
        return f"step {turn.step}"
    return f"{time if panel.time_unit or turn.date else f't = {time}'} (step {turn.step})"


def _margin(turn: Turn) -> str:
    """A margin with a distance, in words."""
    if turn.unit is None:
        return ""
    if turn.unit == "steps":
        return f", by a margin of {turn.distance[1:]}"  # without its sign
    size = f"{abs(turn.margin):.2g}"
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
