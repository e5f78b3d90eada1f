"""English: what formulas say, as a person would say it, or in the paper's form."""

from collections.abc import Container
from typing import Literal, get_args

from telltree.data import Schema
from telltree.data.how_read import StepLength
from telltree.errors import SettingsError
from telltree.explain.paper_english import paper_english
from telltree.logic import Formula
from telltree.operators import Expression
from telltree.speech import plain as plain_expression
from telltree.speech import say, term_of

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
    if style not in get_args(Style):
        raise SettingsError(f"style must be {' or '.join(map(repr, get_args(Style)))}, got {style!r}")
    if style == "paper":
        return paper_english(e, schema, missing)
    return say(term_of(e, missing, static=static_columns(schema)), schema, step=step, missing=missing)


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
