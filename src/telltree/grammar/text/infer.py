"""The type of every symbol, inferred from the operators, and complaints about operands that do not fit.

A symbol may stand for expressions of several types (`x3 | 5`: a real vector or a number). The sets of types grow until
nothing changes (a fixed point); then every combination that some derivation could write must fit its operator.
"""

import itertools
from collections import defaultdict, deque
from collections.abc import Container, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from telltree.errors import GrammarError
from telltree.grammar.text.check import Mentions
from telltree.grammar.text.draft import Definitions, Draft, Symbol, Term
from telltree.grammar.text.source import Place
from telltree.operators import Attribute, Level, Number, Operator, Shape, Type, UserFunction
from telltree.operators.expression import RandomNumber
from telltree.operators.table import COMPARISONS, EQUAL
from telltree.operators.types import join

Types = tuple[Type, ...]  # without repetition, in the order of their names


def infer(symbols: Definitions, start: str, needed: Mentions) -> dict[str, Type]:
    """The type of each symbol; the start must be Boolean."""
    found = _grow(symbols, needed)
    joined = {symbol: _joined(symbol, symbols, found) for symbol in symbols}
    _report_misfit(symbols, found)
    types = {symbol: given for symbol, given in joined.items() if given is not None}
    assert len(types) == len(symbols), "a symbol that ends and holds no misfit has a type"
    _require_boolean(symbols, start, found)
    return types


def _grow(symbols: Definitions, needed: Mentions) -> dict[str, Types]:
    users = defaultdict(list)
    for symbol, each in needed.items():
        for mention in set().union(*each):
            users[mention].append(symbol)
    found: dict[str, Types] = dict.fromkeys(symbols, ())
    # Unnamed choices contain no cycles: with these first, inner before outer, few symbols are visited again.
    waiting = deque(sorted(symbols, key=lambda symbol: Symbol(symbol).named))
    queued = set(waiting)
    while waiting:
        symbol = waiting.popleft()
        queued.discard(symbol)
        given = {id(types): types for option in symbols[symbol] if (types := types_of(option.body, found))}
        if len(given) == 1 and not found[symbol]:  # so it is mostly
            (grown,) = given.values()
        else:
            grown = _ordered({t for types in (found[symbol], *given.values()) for t in types})
        if grown != found[symbol]:
            found[symbol] = grown
            waiting.extend(user for user in users[symbol] if user not in queued)
            queued.update(users[symbol])
    return found


_BY_NAME = sorted(Type, key=lambda t: t.name)


def _ordered(types: Container[Type | None]) -> Types:
    return tuple(t for t in _BY_NAME if t in types)


_APPLIED = (Operator, UserFunction)
_OF_CONSTANTS: dict[type, Types] = {
    Number: (Type.REAL,),
    RandomNumber: (Type.REAL,),
    Level: (Type.LEVEL,),
    Shape: (Type.SHAPE,),
}


def types_of(body: Draft, found: Mapping[str, Types]) -> Types:
    """The types that a lifted body may have, given those of the symbols in it."""
    assert isinstance(body, Term)
    head = body.head
    constant = _OF_CONSTANTS.get(type(head))
    if constant is not None:  # most of a large grammar
        return constant
    if isinstance(head, Symbol):
        return found[head.name]
    if isinstance(head, Attribute):
        return (head.type,)
    assert isinstance(head, _APPLIED)
    return _outcome(head, _operands(body, found)).types


def _operands(term: Term, found: Mapping[str, Types]) -> tuple[Types, ...]:
    return tuple([types_of(arg, found) for arg in term.args])


class _Outcome(NamedTuple):
    types: Types
    """The types that the whole expression may have."""
    fits: bool
    """Whether every combination of operands fits."""


def _outcome(head: Operator | UserFunction, each: tuple[Types, ...]) -> _Outcome:
    """The result types of an operator, given the types of each operand."""
    return _remembered(head, each) if isinstance(head, Operator) else _worked_out(head, each)


@lru_cache(maxsize=4096)
def _remembered(head: Operator, each: tuple[Types, ...]) -> _Outcome:
    return _worked_out(head, each)


def _worked_out(head: Operator | UserFunction, each: tuple[Types, ...]) -> _Outcome:
    results = {head.result(operands) for operands in _combinations(head, each)}
    return _Outcome(_ordered(results), None not in results)


def _combinations(head: Operator | UserFunction, each: tuple[Types, ...]) -> Iterator[Types]:
    if not isinstance(head, UserFunction) or not all(each):
        yield from itertools.product(*each)
        return
    # A user function checks its operands independently: vary one at a time.
    base = [types[0] for types in each]
    for i, types in enumerate(each):
        for given in types:
            yield (*base[:i], given, *base[i + 1 :])


def _report_misfit(symbols: Definitions, found: Mapping[str, Types]) -> None:
    bodies = (option.body for options in symbols.values() for option in options)
    misfits = (m for body in bodies if isinstance(body, Term) and body.args for m in _misfits(body, found))
    first = min(misfits, key=lambda misfit: misfit[0], default=None)
    if first is not None:
        place, message = first
        raise GrammarError(message, *place)


def _misfits(body: Draft, found: Mapping[str, Types]) -> Iterator[tuple[Place, str]]:
    assert isinstance(body, Term)
    for arg in body.args:
        if isinstance(arg, Term) and arg.args:
            yield from _misfits(arg, found)
    if not isinstance(body.head, _APPLIED):
        return
    each = _operands(body, found)
    if _outcome(body.head, each).fits:
        return
    for operands in _combinations(body.head, each):
        if body.head.result(operands) is None:
            got = " and ".join(_a(given) for given in operands)
            yield body.place, f"{body.head.symbol} takes {body.head.operands}; found {got}{_remedy(body, operands)}"
            return


def _a(given: Type) -> str:
    return f"a {given}"


def _remedy(term: Term, operands: Types) -> str:
    if term.head in COMPARISONS:
        if all(given is Type.REAL for given in operands):
            return ", which is true or false whatever the data"
        if term.head is EQUAL and operands == (Type.LEVEL, Type.CATEGORICAL_VECTOR):
            return "; write the attribute on the left"
        if Type.CATEGORICAL_VECTOR in operands and term.head is not EQUAL:
            return "; categories have no order, compare them with ="
        if Type.BOOLEAN_VECTOR in operands or Type.BOOLEAN in operands:
            return "; a Boolean needs no comparison: write it as it is, or not ..."
    if (Type.REAL_VECTOR in operands and Type.BOOLEAN_VECTOR in operands) or operands == (Type.REAL_VECTOR,):
        return "; compare real vectors first, as in x < 5"
    return ""


def _joined(symbol: str, symbols: Definitions, found: Mapping[str, Types]) -> Type | None:
    """The type of a symbol, whose alternatives must agree; None if no alternative has one."""
    if len(found[symbol]) == 1:
        return found[symbol][0]
    so_far: Type | None = None
    for option in symbols[symbol]:
        for given in types_of(option.body, found):
            joined = given if so_far is None else join(so_far, given)
            if joined is None:
                name = symbol if Symbol(symbol).named else "this choice"
                raise GrammarError(
                    f"{name} mixes types: here a {given}, before a {so_far}; use one symbol for each",
                    *option.body.place,
                )
            so_far = joined
    return so_far


def _require_boolean(symbols: Definitions, start: str, found: Mapping[str, Types]) -> None:
    for option in symbols[start]:
        for given in types_of(option.body, found):
            if given is not Type.BOOLEAN:
                remedy = {
                    Type.BOOLEAN_VECTOR: "wrap it in F(...) or G(...)",
                    Type.COUNT: "compare it with a number",
                }.get(given, "compare it, and wrap that in F(...) or G(...)")
                raise GrammarError(
                    f"a formula must be Boolean, one truth value a record, but {start} gives a {given} here; {remedy}",
                    *option.body.place,
                )
