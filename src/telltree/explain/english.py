"""English: what formulas say, as a person would say it, or in the paper's form."""

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal, get_args

from telltree.engine import Formula
from telltree.engine.three_valued import asked_missing, possibly
from telltree.english import plain as plain_expression
from telltree.english import say, term_of
from telltree.english.normal_form import same
from telltree.english.terms import TRUE, And, Domains, has_own_words
from telltree.english.tokens import with_open
from telltree.english.write_sentence import text_with_quotations
from telltree.english.write_signal import filled
from telltree.errors import SettingsError, SpeechError
from telltree.logic import Attribute, Expression, Level, Number, Type, UserFunction, operator_named
from telltree.logic.operators import (
    AND,
    COMPARISONS,
    COUNT,
    DIFFERENCE,
    EQUAL,
    EVENTUALLY,
    GLOBALLY,
    GREATER,
    GREATER_EQUAL,
    LESS,
    LESS_EQUAL,
    MIRRORED,
    MISSING,
    NOT,
    Operator,
)
from telltree.logic.types import number_text
from telltree.panel import Schema
from telltree.panel.dates import StepLength
from telltree.panel.schema import require_known
from telltree.text import visible

# ---- Comparisons of counts: what they count, and how a count is told.

_ASKED = {
    LESS: "fewer than", LESS_EQUAL: "at most", GREATER: "more than", GREATER_EQUAL: "at least", EQUAL: "exactly"
}  # fmt: skip


def compares_counts(e: Expression) -> bool:
    """Whether an expression compares counts, and so has one answer for the whole record."""
    return isinstance(e.head, Operator) and e.head in COMPARISONS and e.type is Type.BOOLEAN


def timeless(e: Expression) -> bool:
    """Tell whether a formula has the same answer at every step, because all that it speaks of are counts."""
    joins = isinstance(e.head, Operator) and e.head.joins
    return compares_counts(e) or (joins and all(map(timeless, e.operands)))


def counted_conditions(e: Expression) -> tuple[Expression, ...]:
    """The distinct operands that a comparison counts, in order of appearance."""
    return tuple(dict.fromkeys(_counted(e)))


def _counted(e: Expression) -> Iterator[Expression]:
    if e.head is COUNT:
        yield e.args[0]
    else:
        for arg in e.args:
            yield from _counted(arg)


def count_text(comparison: Expression, total: int) -> str:
    """A count beside what is asked of it, "12 of more than 16", or alone if it is not compared with a number."""
    head, (left, right) = comparison.head, comparison.args
    assert isinstance(head, Operator)
    if isinstance(left.head, Number):
        head, left, right = operator_named(MIRRORED[head.name]), right, left
    if left.head is COUNT and isinstance(right.head, Number):
        return f"{total} of {_ASKED[head]} {number_text(right.head.value)}"
    return str(total)


# ---- English in the paper's form: operator by operator, with square brackets around parts that might be misread.

_TEMPORAL = (EVENTUALLY, GLOBALLY)
_NEGATED = {EVENTUALLY: "at no point, {0}", GLOBALLY: "not for all time, {0}", MISSING: "{0} is not missing"}
_OPPOSITE = {LESS: GREATER_EQUAL, GREATER_EQUAL: LESS, GREATER: LESS_EQUAL, LESS_EQUAL: GREATER}
_STEPS = re.compile(r"(?<!to )(\{(\d)\} step)s\b")
_OF_CATEGORIES = "{0} is {1}"


def paper_english(e: Expression, schema: Schema, missing: Container[str] | None = None) -> str:
    """What a formula says: "at some point, [advisory is active] and [[vertical rate] is less than 2]".

    A grammar rule's own sentence takes precedence over its operator's. Only for columns that may miss values
    (`missing`), a negated comparison gets "(or is missing)", and a negated Boolean column "(or it is missing)".
    """
    return _Voice(schema, missing).says(e)


@dataclass(frozen=True)
class _Voice:
    schema: Schema
    missing: Container[str] | None

    def says(self, e: Expression, unit: str | None = None) -> str:
        """The sentence of an expression, without brackets around it; `unit` is for a constant."""
        if has_own_words(e):
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
        """The sentence of the rule that wrote the expression: literally, so without our units."""
        assert e.english is not None
        renames = e.parts == (e,)  # the rule is a mere renaming: its user brackets the whole
        follows = e.head in _TEMPORAL and e.parts == e.args
        parts = [self.says(part) if renames or follows else self._operand(part) for part in e.parts]
        return filled(e.english, parts)

    def _sentence(self, template: str, e: Expression) -> str:
        if e.head in _TEMPORAL:
            return filled(template, [self.says(e.args[0])])
        measured = e.head in COMPARISONS or e.head is DIFFERENCE
        unit = self._unit(e) if measured else None
        one = [isinstance(arg.head, Number) and arg.head.value == 1 for arg in e.args]
        template = _STEPS.sub(lambda found: found[1] if one[int(found[2])] else found[0], template)
        return filled(template, [self._operand(arg, unit) for arg in e.args])

    def _operand(self, e: Expression, unit: str | None = None) -> str:
        said = self.says(e, unit)
        return said if isinstance(e.head, Number | Level) else f"[{said}]"

    def _negation(self, e: Expression) -> str:
        if not has_own_words(e):
            if e.head in COMPARISONS:
                return self._negated_comparison(e)
            if e.head in _NEGATED:
                return self._sentence(_NEGATED[e.head], e)
            if isinstance(e.head, Attribute) and self._may_miss(e):  # a missing value is not true, so its negation is
                return f"not [{self.says(e)}] (or it is missing)"
        return f"not [{self.says(e)}]"

    def _negated_comparison(self, e: Expression) -> str:
        """No comparison is true of a missing value, so its negation is: it says more than the opposite comparison."""
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
        """The unit of constants that are compared with attributes or subtracted, if the attributes agree."""
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
    """Whether the value may be missing though no column misses any: inf - inf is."""
    constant = any(isinstance(operand.head, Number) for operand in e.operands)
    subtracts = isinstance(e.head, Operator) and e.head.traits.subtracts
    here = subtracts and e.type is Type.REAL_VECTOR and not constant
    return here or any(map(_takes_infinities_apart, e.operands))


# ---- English: what formulas say, as a person would say it, or in the paper's form.

Style = Literal["plain", "paper"]


def english(
    formula: Expression | Formula,
    schema: Schema,
    missing: Container[str] | None = None,
    *,
    style: Style = "plain",
    step: StepLength | None = None,
) -> str:
    """What a formula says, in English: "at some point the vertical rate is below 2 ft/s while the advisory is active".

    Columns are spoken of by their phrase in the schema, or else by their name; constants take the unit of what they are
    compared with. `missing` names the columns that may miss values (None: any may); only for those missing values are
    mentioned. `step` is the length of a step and its unit, if steps have one; counts are then told as durations. What
    is said in plain style `Formula.from_english` reads back; `style="paper"` is the paper's form, with square brackets.
    The text is plain: whoever writes it into a page or on a terminal must escape it.
    """
    e = formula.expression if isinstance(formula, Formula) else formula
    check_style(style)
    if style == "paper":
        return visible(paper_english(e, schema, missing))
    return say(term_of(e, missing, static=static_columns(schema)), schema, step=step, missing=missing)


def check_style(style: str) -> None:
    """Refuse what is no style of English."""
    if style not in get_args(Style):
        raise SettingsError(f"style must be {' or '.join(map(repr, get_args(Style)))}, got {style!r}")


def english_of_all(claims: Sequence[Expression], schema: Schema, *, step: StepLength | None = None) -> str:
    """That all of these are so, in plain English, of values that are there: each is simplified by itself."""
    return _of_all(claims, schema, step)[0]


def _of_all(
    claims: Sequence[Expression], schema: Schema, step: StepLength | None
) -> tuple[str, tuple[tuple[str, Expression], ...]]:
    """The text, and the words in it that are a grammar's or a function's own."""
    static, asked = static_columns(schema), frozenset[str]().union(*map(asked_missing, claims))
    terms = [term_of(claim, asked_missing(claim), static=static) for claim in claims]
    parts = dict.fromkeys(part for term in terms for part in (term.parts if isinstance(term, And) else (term,)))
    whole = And(tuple(parts)) if len(parts) > 1 else next(iter(parts), TRUE)
    return text_with_quotations(whole, schema, step=step, missing=asked)


def are_said_exactly(
    claims: Sequence[Expression], schema: Schema, missing: Container[str] | None, step: StepLength | None = None
) -> bool:
    """Tell whether what `english_of_all` says is possibly so where all claims possibly are, whatever is missing.

    It speaks of values that are there, of which "x is x" says nothing that could be left open.
    """
    text, sentences = _of_all(claims, schema, step)
    parts = [part for claim in claims for part in claim.walk()]
    functions = tuple(dict.fromkeys(part.head for part in parts if isinstance(part.head, UserFunction)))
    try:
        read = Formula.from_english(with_open("", text), schema, functions=functions, step=step, quotations=sentences)
    except SpeechError:
        return False
    static, meant = static_columns(schema), possibly(reduce(lambda a, b: Expression(AND, (a, b)), claims))
    found, wanted = (term_of(e, missing, static=static) for e in (read.expression, meant))
    return same(found, wanted, Domains(missing, static))


def plain(formula: Expression | Formula, schema: Schema, missing: Container[str] | None = None) -> Formula:
    """The formula in normal form: the simplest that is found.

    Negations stand at the conditions, lists are flat, bounds and levels of one signal are one, and what is implied is
    gone. It answers like the formula on every possible record in which only the columns of `missing` miss values (None:
    any may). `telltree.english.cost` is the measure of what is simple.
    """
    e = formula.expression if isinstance(formula, Formula) else formula
    return Formula(plain_expression(e, missing, static=static_columns(schema)))


def static_columns(schema: Schema) -> set[str]:
    """The columns with one value per record."""
    return {column.name for column in schema.values() if column.static}
