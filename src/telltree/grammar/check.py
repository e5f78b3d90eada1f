"""Checks of a draft: types of symbols, levels of categories, parameters, and symbols that never end."""

import itertools
from collections import defaultdict, deque
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple, NoReturn

from telltree.errors import GrammarError
from telltree.grammar.resolve import nearest
from telltree.grammar.syntax_tree import Definitions, Draft, Option, Symbol, Term, TextPlace
from telltree.logic import OPERATORS, Attribute, Level, Number, Shape, Type, UserFunction
from telltree.logic.expression import RandomNumber, level_text, name_text
from telltree.logic.operators import COMPARISONS, EQUAL, Form, Operator
from telltree.logic.types import join, number_text
from telltree.panel import Column, Schema

# ---- Symbols: each is used, can end, and does not only rename itself.

Places = Mapping[str, TextPlace]
Mentions = Mapping[str, Sequence[tuple[str, ...]]]


def mentioned(body: Draft) -> tuple[str, ...]:
    """Return the symbols in a lifted body, in order, as often as they occur."""
    assert isinstance(body, Term)
    if not body.args:
        return (body.head.name,) if isinstance(body.head, Symbol) else ()
    return tuple([name for arg in body.args for name in mentioned(arg)])


def mentions(symbols: Definitions) -> Mentions:
    """Return, for each symbol, the symbols in each of its alternatives."""
    return {symbol: [mentioned(option.body) for option in options] for symbol, options in symbols.items()}


def renamed(option: Option) -> str | None:
    """Return the symbol that the option only renames; None if it does more."""
    body = option.body
    return body.head.name if isinstance(body, Term) and isinstance(body.head, Symbol) else None


def check_used(needed: Mentions, start: str, places: Places) -> None:
    """Raise GrammarError if a symbol cannot be reached from the start."""
    reached, waiting = {start}, [start]
    while waiting:
        new = set().union(*needed[waiting.pop()]) - reached
        reached |= new
        waiting.extend(new)
    for symbol, place in places.items():
        if symbol not in reached:
            raise GrammarError(f"{symbol} is never used: no way leads to it from {start}; use it or remove it", *place)


def check_ends(needed: Mentions, places: Places) -> None:
    """Raise GrammarError if a symbol has no derivation that ends."""
    waiting = deque(symbol for symbol, needs in needed.items() if not all(needs))
    missing = {
        (symbol, i): set(needs)
        for symbol, each in needed.items()
        if all(each)  # all other symbols end
        for i, needs in enumerate(each)
    }
    users = defaultdict(list)
    for key, needs in missing.items():
        for need in needs:
            users[need].append(key)
    ends: set[str] = set()
    while waiting:
        done = waiting.popleft()
        if done in ends:
            continue
        ends.add(done)
        for symbol, i in users[done]:
            missing[symbol, i].discard(done)
            if not missing[symbol, i]:
                waiting.append(symbol)
    endless = {symbol: None for symbol in needed if symbol not in ends}
    if endless:
        looping = _on_a_loop(needed, endless)
        raise GrammarError(
            f"{looping} loops without an end: each of its alternatives needs {looping} again; add one that does not",
            *places[looping],
        )


def _on_a_loop(needed: Mentions, endless: Mapping[str, None]) -> str:
    """Return a named symbol that leads to itself. Every endless symbol leads to another, so they must form a cycle."""
    path: dict[str, None] = {}
    here = next(iter(endless))
    while here not in path:
        path[here] = None
        here = next(name for names in needed[here] for name in names if name in endless)
    loop = list(path)[list(path).index(here) :]
    return next(name for name in loop if Symbol(name).named)


def rename_order(symbols: Definitions) -> list[str]:
    """Return the symbols, each after those it renames; GrammarError if some rename each other in a cycle."""
    targets = {symbol: [t for o in options if (t := renamed(o)) is not None] for symbol, options in symbols.items()}
    left = {symbol: len(found) for symbol, found in targets.items()}
    users = defaultdict(list)
    for symbol, found in targets.items():
        for target in found:
            users[target].append(symbol)
    order = [symbol for symbol in symbols if not left[symbol]]
    for symbol in order:  # grows during the loop
        for user in users[symbol]:
            left[user] -= 1
            if not left[user]:
                order.append(user)
    if len(order) < len(symbols):
        _report_circle(symbols, set(symbols).difference(order))
    return order


def _report_circle(symbols: Definitions, stuck: set[str]) -> None:
    # Each of these renames another one, so they must form a cycle.
    path: dict[str, TextPlace] = {}
    here = next(symbol for symbol in symbols if symbol in stuck)
    while here not in path:
        option = next(o for o in symbols[here] if renamed(o) in stuck)
        path[here] = option.body.place
        here = renamed(option) or here
    names = list(path)
    circle = [name for name in names[names.index(here) :] if Symbol(name).named]
    cycle = " ::= ".join([*circle, circle[0]])
    raise GrammarError(f"{cycle} goes round in a circle without writing anything", *path[here])


# ---- Types: the type of every symbol, inferred from the operators, and errors about operands that do not fit.
#
# A symbol may stand for expressions of several types (`x3 | 5`: a real vector or a number). The sets of types grow
# until nothing changes (a fixed point); then every combination that some derivation could write must fit its operator.

Types = tuple[Type, ...]  # without repetition, in the order of their names


def infer(symbols: Definitions, start: str, needed: Mentions) -> dict[str, Type]:
    """Return the type of each symbol; GrammarError if operands do not fit, or the start is not Boolean."""
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
        if len(given) == 1 and not found[symbol]:  # nearly always
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
    """Return the types that a lifted body may have, given those of the symbols in it."""
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
    """True if every combination of operands fits."""


def _outcome(head: Operator | UserFunction, each: tuple[Types, ...]) -> _Outcome:
    """Return the result types of an operator, given the types of each operand."""
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


def _misfits(body: Draft, found: Mapping[str, Types]) -> Iterator[tuple[TextPlace, str]]:
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
    """Return the type of a symbol, whose alternatives must agree; None if no alternative has one."""
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


# ---- Levels: every category in a comparison exists in a column that it may be compared with.


def check_levels(symbols: Definitions, schema: Schema) -> None:
    """Raise GrammarError for a category that none of the attributes it is compared with has."""
    every: dict[Draft, tuple[list[Column], frozenset[str]]] = {}
    """For what may stand on the left, its possible columns, and the levels of all of them."""
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


def _refuse(name: str, columns: Sequence[Column], place: TextPlace) -> NoReturn:
    known = dict.fromkeys(level for column in columns for level in column.levels)
    names = ", ".join(name_text(column.name) for column in columns[:3])
    some = ", ".join(level_text(level) for level in list(known)[:5])
    hint = nearest(name, known) or f"; there are {some}" if known else ""
    raise GrammarError(f"{names} has no category {level_text(name)}{hint}", *place)


def operators_in(symbols: Definitions) -> set[object]:
    """Return the operators that are applied; a search for each of them would take a dozen times as long."""
    found: set[object] = set()
    waiting = [option.body for options in symbols.values() for option in options]
    while waiting:
        body = waiting.pop()
        if isinstance(body, Term) and body.args:
            found.add(body.head)
            waiting.extend(body.args)
    return found


def terms_of(operator: Operator, symbols: Definitions) -> Iterator[Term]:
    """Yield the applications of the operator, in the order of the text."""
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
    """Return the terms that may stand here, following symbols that only rename."""
    seen: set[str] = set()
    waiting: list[Draft] = [term]
    for body in waiting:  # grows during the loop
        assert isinstance(body, Term)
        if not isinstance(body.head, Symbol):
            yield body
        elif body.head.name not in seen:
            seen.add(body.head.name)
            waiting.extend(option.body for option in symbols[body.head.name])


# ---- Parameters: each is a constant that its operator allows.


def check_parameters(symbols: Definitions) -> None:
    """Raise GrammarError for a parameter, as k in change(x, k), that is not a constant or is not allowed."""
    used = operators_in(symbols)
    for operator in OPERATORS:
        if operator not in used:
            continue
        if operator.form is Form.WINDOW:
            _check_windows(operator, symbols)
        for place, parameter in enumerate(operator.parameters, operator.takes):
            for given in dict.fromkeys(term.args[place] for term in terms_of(operator, symbols)):
                for leaf in leaves(given, symbols):
                    given_as = leaf.head.value if isinstance(leaf.head, Number) else leaf.head
                    if isinstance(given_as, float | Shape) and parameter.allows(given_as):
                        continue
                    raise GrammarError(
                        f"{operator.name} takes its {parameter.called} as {parameter.wanted}, found "
                        f"{_found(given_as)}; write {operator.example}",
                        *leaf.place,
                    )


def _found(given: object) -> str:
    """Return the parameter as messages show it."""
    match given:
        case RandomNumber():
            return "a random one"
        case Shape():
            return given.problem
    return number_text(given) if isinstance(given, float) else "?"


def _check_windows(operator: Operator, symbols: Definitions) -> None:
    """Raise GrammarError for a window that may end before it begins."""
    for term in terms_of(operator, symbols):
        given = [list(leaves(bound, symbols)) for bound in term.args[operator.takes :]]
        numbers = [[leaf.head.value for leaf in some if isinstance(leaf.head, Number)] for some in given]
        extremes = [sorted({min(some), max(some)}) if some else [] for some in numbers]
        for bounds in product(*extremes):  # if any pair of thousands is empty, one of these is
            if operator.is_empty(bounds):
                raise GrammarError(
                    f"{operator.symbol}[{', '.join(map(number_text, bounds))}] looks at no step: the window ends "
                    f"before it begins; write {operator.example}",
                    *term.place,
                )
