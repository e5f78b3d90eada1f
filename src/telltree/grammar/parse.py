"""Formulas from text, without a grammar."""

from collections.abc import Iterator, Sequence

from telltree.data import Schema
from telltree.data.how_read import StepLength
from telltree.errors import GrammarError
from telltree.grammar.rules.normal import Templates
from telltree.grammar.text.check import mentions
from telltree.grammar.text.draft import Draft, Option, Pick
from telltree.grammar.text.infer import infer
from telltree.grammar.text.levels import check_levels
from telltree.grammar.text.parameters import check_parameters
from telltree.grammar.text.resolve import Resolver
from telltree.grammar.text.source import Place, Source
from telltree.grammar.text.syntax import parse_expression
from telltree.operators import Expression, Type, UserFunction
from telltree.operators.expression import RandomNumber


def parse_formula(
    text: str, schema: Schema, *, functions: Sequence[UserFunction] = (), step: StepLength | None = None
) -> Expression:
    """The expression that a formula's text says; it must be Boolean, and may name any attribute of the schema.

    `step` is the length of a step and its unit, for windows that are written as times.
    """
    return expression_of(parse_expression(text), schema, functions=functions, step=step)


def expression_of(
    source: Source, schema: Schema, *, functions: Sequence[UserFunction] = (), step: StepLength | None = None
) -> Expression:
    """The same, of a text that was parsed."""
    draft = Resolver(schema, functions, frozenset(), step).draft(source)
    for place in _choices(draft):
        raise GrammarError("a formula says one thing: choices, sets and random constants are for grammars", *place)
    whole = {"the text": (Option(draft),)}
    found = Templates({}, {}).of(draft)
    if not _is_boolean(found):
        infer(whole, "the text", mentions(whole))  # which says where it does not fit, and why
    check_levels(whole, schema)
    check_parameters(whole)
    return found


def _is_boolean(expression: Expression) -> bool:
    try:
        return expression.type is Type.BOOLEAN
    except ValueError:
        return False


def _choices(draft: Draft) -> Iterator[Place]:
    if isinstance(draft, Pick) or isinstance(draft.head, RandomNumber):
        yield draft.place
        return
    for arg in draft.args:
        yield from _choices(arg)
