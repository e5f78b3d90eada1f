"""Formulas from text, without a grammar."""

from collections.abc import Iterator, Sequence

from telltree.errors import GrammarError
from telltree.grammar.check import check_levels, check_parameters, infer, mentions
from telltree.grammar.normal_form import Templates
from telltree.grammar.parser import parse_expression
from telltree.grammar.resolve import Resolver
from telltree.grammar.syntax_tree import Draft, Option, Pick, Source, TextPlace
from telltree.logic import Expression, Type, UserFunction
from telltree.logic.expression import RandomNumber
from telltree.panel import Schema
from telltree.panel.dates import StepLength


def parse_formula(
    text: str, schema: Schema, *, functions: Sequence[UserFunction] = (), step: StepLength | None = None
) -> Expression:
    """Return the expression that a text writes; it must be Boolean, and may name any attribute of the schema.

    `step` is the length of a step and its unit, for windows that are written as times.
    """
    return expression_of(parse_expression(text), schema, functions=functions, step=step)


def expression_of(
    source: Source, schema: Schema, *, functions: Sequence[UserFunction] = (), step: StepLength | None = None
) -> Expression:
    """Return the expression of a syntax tree; see `parse_formula`."""
    draft = Resolver(schema, functions, frozenset(), step).draft(source)
    for place in _choices(draft):
        raise GrammarError("a formula says one thing: choices, sets and random constants are for grammars", *place)
    whole = {"the text": (Option(draft),)}
    found = Templates({}, {}).of(draft)
    if not _is_boolean(found):
        infer(whole, "the text", mentions(whole))  # raises an error with place and reason
    check_levels(whole, schema)
    check_parameters(whole)
    return found


def _is_boolean(expression: Expression) -> bool:
    try:
        return expression.type is Type.BOOLEAN
    except ValueError:
        return False


def _choices(draft: Draft) -> Iterator[TextPlace]:
    if isinstance(draft, Pick) or isinstance(draft.head, RandomNumber):
        yield draft.place
        return
    for arg in draft.args:
        yield from _choices(arg)
