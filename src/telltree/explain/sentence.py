"""The sentence of a category: the branches on its path as one statement in English."""

from collections.abc import Container, Iterable, Sequence

from telltree.engine import Formula
from telltree.engine.three_valued import columns_tested_for_missing, possibly
from telltree.english import implication, term_of
from telltree.english import plain as plain_expression
from telltree.english.normal_form import same
from telltree.english.styles import Style, all_of, check_style, english
from telltree.english.terms import TRUE, And, Domains
from telltree.english.tokens import with_open
from telltree.english.vocabulary import static_columns
from telltree.english.write_sentence import text_with_quotations
from telltree.errors import SpeechError
from telltree.logic import Expression, UserFunction
from telltree.logic.operators import NOT
from telltree.panel import Schema
from telltree.panel.dates import StepLength
from telltree.tree.tree import Branch, UnsureBranch


def sentence(
    branches: Sequence[Branch],
    schema: Schema,
    missing: Container[str] | None = None,
    *,
    style: Style = "plain",
    step: StepLength | None = None,
) -> str:
    """Return a conjunction of branches in English, without parts that the others imply; see `english` for the options.

    Claims that are unknown for some of the records come last, as true "unless missing values leave it open".
    """
    check_style(style)
    if not branches:
        return "every record"
    if style == "paper" or any(open_claim(branch, missing) is not None for branch in branches):
        branches = shown(branches)
    known, open_claims = list[Expression](), list[Expression]()
    for branch in branches:
        claim = open_claim(branch, missing)
        if claim is not None and (style == "paper" or _reads_back([*open_claims, claim], schema, missing, step)):
            open_claims.append(claim)
        else:
            known += claims_of([branch])
    if style == "paper":
        return with_open(
            *("; and ".join(english(e, schema, missing, style="paper") for e in some) for some in (known, open_claims))
        )
    text = english(all_of(known), schema, missing, style=style, step=step) if known else ""
    return with_open(text, _conjunction(open_claims, schema, step)[0] if open_claims else "")


def claims_of(branches: Iterable[Branch]) -> list[Expression]:
    """Return what each branch claims: its formula, or the negation on the false side."""
    return [f.expression if truth else Expression(NOT, (f.expression,)) for f, truth in branches]


def redundant(branches: Sequence[Branch]) -> list[bool]:
    """Select the branches to leave out: together they follow from those that stay, for every possible record.

    A branch is a formula and whether it is true. Earlier branches, which say less about a category, are left out first.
    """
    return implication.redundant(claims_of(branches))


def shown(branches: Sequence[Branch]) -> tuple[Branch, ...]:
    """Select the branches to show, in order: the others follow from them. At least the last one stays."""
    kept = [branch for branch, follows in zip(branches, redundant(branches), strict=True) if not follows]
    return tuple(kept or branches[-1:])


def open_claim(branch: Branch, missing: Container[str] | None) -> Expression | None:
    """Return the claim of a branch if it may be unknown for some of its records, else None.

    `missing` names the columns that may miss values (None: any may).
    """
    if not isinstance(branch, UnsureBranch) or not branch.takes_unknown:
        return None
    question = branch.node.shown.expression
    gaps = missing is None or any(name in missing for name in question.attributes())
    if not gaps and not any(isinstance(part.head, UserFunction) for part in question.walk()):
        return None
    return question if branch[1] else Expression(NOT, (question,))


def plain(formula: Expression | Formula, schema: Schema, missing: Container[str] | None = None) -> Formula:
    """Return an equivalent formula in normal form, the simplest that is found.

    Negations stand at the conditions, lists are flat, the bounds and levels of one signal are merged, and implied parts
    are gone. It has the same truth value on every possible record in which only the columns of `missing` miss values
    (None: any may). `telltree.english.cost` measures simplicity.
    """
    e = formula.expression if isinstance(formula, Formula) else formula
    return Formula(plain_expression(e, missing, static=static_columns(schema)))


# ---- Open claims: claims that missing values may leave open.


def _conjunction(
    claims: Sequence[Expression], schema: Schema, step: StepLength | None
) -> tuple[str, tuple[tuple[str, Expression], ...]]:
    """Return the plain English of all claims, about values that are there, and the quotations in it.

    Each claim is simplified by itself. Quotations are the words of a grammar rule or a user function.
    """
    static, asked = static_columns(schema), frozenset[str]().union(*map(columns_tested_for_missing, claims))
    terms = [term_of(claim, columns_tested_for_missing(claim), static=static) for claim in claims]
    parts = dict.fromkeys(part for term in terms for part in (term.parts if isinstance(term, And) else (term,)))
    whole = And(tuple(parts)) if len(parts) > 1 else next(iter(parts), TRUE)
    return text_with_quotations(whole, schema, step=step, missing=asked)


def _reads_back(
    claims: Sequence[Expression], schema: Schema, missing: Container[str] | None, step: StepLength | None
) -> bool:
    """Return True if the English of open claims reads back as "all claims are possibly true", whatever is missing.

    It speaks of values that are there. About these, "x is x" claims nothing that could be left open, for example.
    """
    text, quotations = _conjunction(claims, schema, step)
    parts = [part for claim in claims for part in claim.walk()]
    functions = tuple(dict.fromkeys(part.head for part in parts if isinstance(part.head, UserFunction)))
    try:
        read = Formula.from_english(with_open("", text), schema, functions=functions, step=step, quotations=quotations)
    except SpeechError:
        return False
    static, meant = static_columns(schema), possibly(all_of(claims))
    found, wanted = (term_of(e, missing, static=static) for e in (read.expression, meant))
    return same(found, wanted, Domains(missing, static))
