"""Checks that every category named in a comparison exists in a column it may be compared with."""

from collections.abc import Iterator, Sequence
from typing import NoReturn

from telltree.data import Column, Schema
from telltree.errors import GrammarError
from telltree.grammar.text.draft import Definitions, Draft, Symbol, Term
from telltree.grammar.text.names import nearest
from telltree.grammar.text.source import Place
from telltree.operators import Attribute, Level, Operator
from telltree.operators.expression import level_text, name_text
from telltree.operators.table import EQUAL


def check_levels(symbols: Definitions, schema: Schema) -> None:
    """GrammarError for a category name that none of the attributes it is compared with has."""
    every: dict[Draft, tuple[list[Column], frozenset[str]]] = {}
    """For what may stand on the left, the columns that it may be, and the levels of them all."""
    for left, right in dict.fromkeys(term.args for term in terms_of(EQUAL, symbols)):
        named = [leaf for leaf in leaves(right, symbols) if isinstance(leaf.head, Level)]
        if named and left not in every:
            columns = [schema[leaf.head.name] for leaf in leaves(left, symbols) if isinstance(leaf.head, Attribute)]
            several = frozenset().union(*(column.level_names for column in columns)) if len(columns) != 1 else None
            every[left] = columns, columns[0].level_names if several is None else several
        for leaf in named:
            assert isinstance(leaf.head, Level)
            if leaf.head.name not in every[left][1]:
                _refuse(leaf.head.name, every[left][0], leaf.place)


def _refuse(name: str, columns: Sequence[Column], place: Place) -> NoReturn:
    known = dict.fromkeys(level for column in columns for level in column.levels)
    told = ", ".join(name_text(column.name) for column in columns[:3])
    some = ", ".join(level_text(level) for level in list(known)[:5])
    hint = nearest(name, known) or f"; there are {some}" if known else ""
    raise GrammarError(f"{told} has no category {level_text(name)}{hint}", *place)


def operators_in(symbols: Definitions) -> set[object]:
    """What is applied to something; to look for each of the operators in turn would take a dozen times as long."""
    found: set[object] = set()
    waiting = [option.body for options in symbols.values() for option in options]
    while waiting:
        body = waiting.pop()
        if isinstance(body, Term) and body.args:
            found.add(body.head)
            waiting.extend(body.args)
    return found


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
                if body.args:
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
