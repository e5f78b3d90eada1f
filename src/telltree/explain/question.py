"""Questions: a formula, or plain English, read against the columns of a panel."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from telltree.data import ColumnType, Panel, Schema
from telltree.data.columns.header import is_unit
from telltree.data.how_read import StepLength
from telltree.data.schema import require_known
from telltree.errors import GrammarError, SettingsError, SpeechError
from telltree.logic import Formula
from telltree.operators import Expression, UserFunction
from telltree.speech.numerals import numeral
from telltree.speech.read import read_sentence
from telltree.speech.suggest import with_suggestion
from telltree.speech.tokens import Kind, tokens_of
from telltree.speech.vocabulary import vocabulary
from telltree.speech.words import stands_bare

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
        if token.place == place and token.kind is Kind.WORD:
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
