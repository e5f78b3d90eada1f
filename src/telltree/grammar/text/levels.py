"""Checks that every category named in a comparison exists in a column it may be compared with."""

from collections.abc import Iterator

from telltree.data import Schema
from telltree.errors import GrammarError
from telltree.grammar.text.draft import Definitions, Draft, Symbol, Term
from telltree.grammar.text.names import nearest
from telltree.operators import Attribute, Level, Operator
from telltree.operators.expression import level_text, name_text
from telltree.operators.table import EQUAL


def check_levels(symbols: Definitions, schema: Schema) -> None:
    """Raise a GrammarError for a category that none of the compared attributes has."""
    for left, right in dict.fromkeys(term.args for term in terms_of(EQUAL, symbols)):
        named = [leaf for leaf in leaves(right, symbols) if isinstance(leaf.head, Level)]
        if not named:
            continue
        columns = [leaf.head.name for leaf in leaves(left, symbols) if isinstance(leaf.head, Attribute)]
        known = dict.fromkeys(level for name in columns for level in schema[name].levels)
        for leaf in named:
            assert isinstance(leaf.head, Level)
            if leaf.head.name not in known:
                told = ", ".join(map(name_text, columns[:3]))
                some = ", ".join(level_text(level) for level in list(known)[:5])
                hint = nearest(leaf.head.name, known) or f"; there are {some}" if known else ""
                raise GrammarError(f"{told} has no category {level_text(leaf.head.name)}{hint}", *leaf.place)


def terms_of(operator: Operator, symbols: Definitions) -> Iterator[Term]:
    """The applications of the operator, in the order of the text."""
    for options in symbols.values():
        for option in options:
            waiting = [option.body]
            while waiting:
                body = waiting.pop()
                assert isinstance(body, Term)
                if body.head is operator:
                    yield body
                waiting.extend(reversed(body.args))


def leaves(term: Draft, symbols: Definitions) -> Iterator[Term]:
    """The terms that may stand here, followed through symbols that only rename."""
    seen: set[str] = set()
    waiting: list[Draft] = [term]
    for body in waiting:  # grows during the loop
        assert isinstance(body, Term)
        if not isinstance(body.head, Symbol):
            yield body
        elif body.head.name not in seen:
            seen.add(body.head.name)
            waiting.extend(option.body for option in symbols[body.head.name])
