"""English: what formulas say, as a person would say it, or in the paper's form."""

from collections.abc import Container, Sequence
from functools import reduce
from typing import Literal, get_args

from telltree.data import Schema
from telltree.data.how_read import StepLength
from telltree.errors import SettingsError, SpeechError
from telltree.explain.paper_english import paper_english
from telltree.logic import Formula
from telltree.logic.unknown import asked_missing, possibly
from telltree.operators import Expression, UserFunction
from telltree.operators.table import AND
from telltree.speech import plain as plain_expression
from telltree.speech import say, term_of
from telltree.speech.possible import Possible
from telltree.speech.same import same
from telltree.speech.say import spoken
from telltree.speech.terms import TRUE, All
from telltree.speech.unless import with_open
from telltree.visible import visible

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
    parts = dict.fromkeys(part for term in terms for part in (term.parts if isinstance(term, All) else (term,)))
    whole = All(tuple(parts)) if len(parts) > 1 else next(iter(parts), TRUE)
    return spoken(whole, schema, step=step, missing=asked)


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
    return same(found, wanted, Possible(missing, static))


def plain(formula: Expression | Formula, schema: Schema, missing: Container[str] | None = None) -> Formula:
    """The formula in normal form: the simplest that is found.

    Negations stand at the conditions, lists are flat, bounds and levels of one signal are one, and what is implied is
    gone. It answers like the formula on every possible record in which only the columns of `missing` miss values (None:
    any may). `telltree.speech.cost` is the measure of what is simple.
    """
    e = formula.expression if isinstance(formula, Formula) else formula
    return Formula(plain_expression(e, missing, static=static_columns(schema)))


def static_columns(schema: Schema) -> set[str]:
    """The columns with one value per record."""
    return {column.name for column in schema.values() if column.static}
