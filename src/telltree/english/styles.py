"""Formulas in English, in one of two styles: plain English, or the wording of the paper."""

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal, Protocol, get_args

from telltree.english.normal_form import term_of
from telltree.english.terms import has_own_phrase
from telltree.english.vocabulary import static_columns
from telltree.english.write_sentence import conditions, say
from telltree.english.write_signal import filled
from telltree.errors import SettingsError
from telltree.logic import Attribute, Expression, Level, Number, Type, UserFunction
from telltree.logic.meaning import Infinities
from telltree.logic.operators import (
    AND,
    COMPARISONS,
    DIFFERENCE,
    EQUAL,
    EVENTUALLY,
    GLOBALLY,
    GREATER,
    GREATER_EQUAL,
    LESS,
    LESS_EQUAL,
    MISSING,
    NOT,
    Operator,
)
from telltree.logic.types import number_text
from telltree.panel import Schema
from telltree.panel.dates import StepLength
from telltree.panel.schema import require_known
from telltree.text import visible

Style = Literal["plain", "paper"]


class HasExpression(Protocol):
    """A formula of the engine, which this package does not know."""

    @property
    def expression(self) -> Expression:
        """The formula as an expression."""


def english(
    formula: Expression | HasExpression,
    schema: Schema,
    missing: Container[str] | None = None,
    *,
    style: Style = "plain",
    step: StepLength | None = None,
) -> str:
    """Return a formula in English: "at some point the vertical rate is below 2 ft/s while the advisory is active".

    Columns are called by their phrase in the schema, or else by their name; constants take the unit of what they are
    compared with. `missing` names the columns that may miss values (None: any may); only for those are missing values
    mentioned. `step` is the length of a step and its unit, if steps have one; counts of steps then become durations.
    `Formula.from_english` reads plain sentences back; `style="paper"` is the paper's form, with square brackets.
    The text is not escaped: whoever writes it into a page or on a terminal must do that.
    """
    e = formula if isinstance(formula, Expression) else formula.expression
    check_style(style)
    if style == "paper":
        return visible(paper_english(e, schema, missing))
    return say(term_of(e, missing, static=static_columns(schema)), schema, step=step, missing=missing)


def check_style(style: str) -> None:
    """Raise SettingsError unless this is a style of English."""
    if style not in get_args(Style):
        raise SettingsError(f"style must be {' or '.join(map(repr, get_args(Style)))}, got {style!r}")


def conditions_of(
    claims: Sequence[Expression], schema: Schema, missing: Container[str] | None, step: StepLength | None
) -> tuple[Expression, ...]:
    """Return the conditions of the plain sentence for a conjunction: the A of "whenever A, B"."""
    if not claims:
        return ()
    term = term_of(all_of(claims), missing, static=static_columns(schema))
    return conditions(term, schema, step=step, missing=missing)


def all_of(claims: Sequence[Expression]) -> Expression:
    """Join one or more formulas by AND."""
    return reduce(lambda left, right: Expression(AND, (left, right)), claims)


# ---- English in the paper's form: operator by operator, with square brackets around parts that might be misread.


def paper_english(e: Expression, schema: Schema, missing: Container[str] | None = None) -> str:
    """Return a formula in the paper's form: "at some point, [advisory is active] and [[vertical rate] is less than 2]".

    A grammar rule's own sentence takes precedence over its operator's. Only for columns that may miss values
    (`missing`), a negated comparison gets "(or is missing)", and a negated Boolean column "(or it is missing)".
    """
    return _PaperEnglish(schema, missing).text(e)


_TEMPORAL = (EVENTUALLY, GLOBALLY)
_NEGATED = {EVENTUALLY: "at no point, {0}", GLOBALLY: "not for all time, {0}", MISSING: "{0} is not missing"}
_OPPOSITE = {LESS: GREATER_EQUAL, GREATER_EQUAL: LESS, GREATER: LESS_EQUAL, LESS_EQUAL: GREATER}
_STEPS = re.compile(r"(?<!to )(\{(\d)\} step)s\b")
_OF_CATEGORIES = "{0} is {1}"


@dataclass(frozen=True)
class _PaperEnglish:
    schema: Schema
    missing: Container[str] | None

    def text(self, e: Expression, unit: str | None = None) -> str:
        """Return an expression without brackets around it; `unit` is for a constant."""
        if has_own_phrase(e):
            return self._own_words(e)
        match e.head:
            case Attribute(name=name):
                require_known(name, self.schema.names, "column")
                return self.schema[name].words
            case Number(value=value):
                return number_text(value) + (f" {unit}" if unit else "")
            case Level(name=name):
                return name or '""'
            case Operator() | UserFunction():
                return self._negation(e.args[0]) if e.head is NOT else self._sentence(_template(e), e)
        return str(e)  # a hole or a random constant: a rule's template, not yet a formula

    def _own_words(self, e: Expression) -> str:
        """Return the sentence of the grammar rule of the expression, literally, so without units of the schema."""
        assert e.english is not None
        renames = e.parts == (e,)  # the rule only renames, so brackets go around the whole
        follows = e.head in _TEMPORAL and e.parts == e.args
        parts = [self.text(part) if renames or follows else self._operand(part) for part in e.parts]
        return filled(e.english, parts)

    def _sentence(self, template: str, e: Expression) -> str:
        if e.head in _TEMPORAL:
            return filled(template, [self.text(e.args[0])])
        measured = e.head in COMPARISONS or e.head is DIFFERENCE
        unit = self._unit(e) if measured else None
        one = [isinstance(arg.head, Number) and arg.head.value == 1 for arg in e.args]
        template = _STEPS.sub(lambda found: found[1] if one[int(found[2])] else found[0], template)
        return filled(template, [self._operand(arg, unit) for arg in e.args])

    def _operand(self, e: Expression, unit: str | None = None) -> str:
        text = self.text(e, unit)
        return text if isinstance(e.head, Number | Level) else f"[{text}]"

    def _negation(self, e: Expression) -> str:
        if not has_own_phrase(e):
            if e.head in COMPARISONS:
                return self._negated_comparison(e)
            if e.head in _NEGATED:
                return self._sentence(_NEGATED[e.head], e)
            if isinstance(e.head, Attribute) and self._may_miss(e):  # a missing value is not true, so its negation is
                return f"not [{self.text(e)}] (or it is missing)"
        return f"not [{self.text(e)}]"

    def _negated_comparison(self, e: Expression) -> str:
        """Return a negated comparison.

        It is the opposite comparison only if no value can be missing: all comparisons are false for missing values.
        """
        assert isinstance(e.head, Operator)
        may_be_missing = any(self._may_miss(arg) for arg in e.args)
        if not may_be_missing and e.head in _OPPOSITE and not any(map(_takes_infinities_apart, e.args)):
            return self._sentence(_OPPOSITE[e.head].english, e)
        template = _template(e).replace(" is ", " is not ", 1)
        return self._sentence(template + (" (or is missing)" if may_be_missing else ""), e)

    def _may_miss(self, e: Expression) -> bool:
        if e.type is Type.COUNT:
            return False
        if isinstance(e.head, Attribute):
            return self.missing is None or e.head.name in self.missing
        return isinstance(e.head, UserFunction) or e.has_gaps or any(self._may_miss(arg) for arg in e.args)

    def _unit(self, e: Expression) -> str | None:
        """Return the unit for constants beside the operands of a comparison or difference, if the operands agree."""
        units = set().union(*(self._units(arg) for arg in e.args))
        return units.pop() if len(units) == 1 else None

    def _units(self, e: Expression) -> set[str | None]:
        match e.head:
            case Attribute(name=name):
                return {self.schema[name].unit} if name in self.schema else {None}
            case Number():
                return set()
        if isinstance(e.head, Operator) and e.head.traits.keeps_unit:
            return set().union(*map(self._units, e.signals))
        return {None}


def _template(e: Expression) -> str:
    assert isinstance(e.head, Operator | UserFunction)
    if e.head is EQUAL and e.args[0].type is Type.CATEGORICAL_VECTOR:
        return _OF_CATEGORIES
    return e.head.english


def _takes_infinities_apart(e: Expression) -> bool:
    """Return True if the value may be missing though no column misses any: inf - inf is."""
    constant = any(isinstance(operand.head, Number) for operand in e.operands)
    cancels = isinstance(e.head, Operator) and e.head.traits.infinities is Infinities.CANCEL
    here = cancels and e.type is Type.REAL_VECTOR and not constant
    return here or any(map(_takes_infinities_apart, e.operands))
