"""Branches of a tree in words: the sentence that is true of the records of a category."""

from collections.abc import Container, Iterable, Sequence

from telltree.engine import Formula
from telltree.engine.three_valued import asked_missing, possibly
from telltree.english import plain as plain_expression
from telltree.english import term_of
from telltree.english.normal_form import same
from telltree.english.possible import Possible
from telltree.english.say import spoken
from telltree.english.styles import Style, all_of, check_style, english
from telltree.english.terms import TRUE, All
from telltree.english.vocabulary import static_columns
from telltree.english.when import with_open
from telltree.errors import SpeechError
from telltree.explain.implication import shown
from telltree.logic import Expression, UserFunction
from telltree.logic.operators import (
    NOT,
)
from telltree.panel import Schema
from telltree.panel.how_read import StepLength
from telltree.tree.tree import Branch, UnsureBranch


def sentence(
    branches: Sequence[Branch],
    schema: Schema,
    missing: Container[str] | None = None,
    *,
    style: Style = "plain",
    step: StepLength | None = None,
) -> str:
    """A conjunction of branches in English, without what follows from the rest; see `english` for the options.

    What is unknown of some of the records that went this way is told as what may be left open.
    """
    check_style(style)
    if not branches:
        return "every record"
    if style == "paper" or any(left_open(branch, missing) is not None for branch in branches):
        branches = shown(branches)
    known, doubts = list[Expression](), list[Expression]()
    for branch in branches:
        claim = left_open(branch, missing)
        if claim is not None and (style == "paper" or are_said_exactly([*doubts, claim], schema, missing, step)):
            doubts.append(claim)
        else:
            known += signed([branch])
    if style == "paper":
        return with_open(
            *("; and ".join(english(e, schema, missing, style="paper") for e in some) for some in (known, doubts))
        )
    said = english(all_of(known), schema, missing, style=style, step=step) if known else ""
    return with_open(said, english_of_all(doubts, schema, step=step) if doubts else "")


def signed(branches: Iterable[Branch]) -> list[Expression]:
    """The formulas of branches as expressions that are true; negated where the formula is false."""
    return [f.expression if truth else Expression(NOT, (f.expression,)) for f, truth in branches]


def left_open(branch: Branch, missing: Container[str] | None) -> Expression | None:
    """What is claimed of the records that went this way, if it is unknown of some; None if it is known of all.

    `missing` names the columns that may miss values (None: any may).
    """
    if not isinstance(branch, UnsureBranch) or not branch.takes_unknown:
        return None
    said = branch.node.said.expression
    gaps = missing is None or any(name in missing for name in said.attributes())
    if not gaps and not any(isinstance(part.head, UserFunction) for part in said.walk()):
        return None
    return said if branch[1] else Expression(NOT, (said,))


def plain(formula: Expression | Formula, schema: Schema, missing: Container[str] | None = None) -> Formula:
    """The formula in normal form: the simplest that is found.

    Negations stand at the conditions, lists are flat, bounds and levels of one signal are one, and what is implied is
    gone. It answers like the formula on every possible record in which only the columns of `missing` miss values (None:
    any may). `telltree.english.cost` is the measure of what is simple.
    """
    e = formula.expression if isinstance(formula, Formula) else formula
    return Formula(plain_expression(e, missing, static=static_columns(schema)))


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
    static, meant = static_columns(schema), possibly(all_of(claims))
    found, wanted = (term_of(e, missing, static=static) for e in (read.expression, meant))
    return same(found, wanted, Possible(missing, static))
