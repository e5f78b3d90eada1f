"""Checks that every symbol is used and can end, that none only renames itself, and that numbers are in bounds."""

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence

from telltree.errors import GrammarError
from telltree.grammar.text.draft import Definitions, Draft, Option, Symbol, Term
from telltree.grammar.text.source import Place

Places = Mapping[str, Place]
Mentions = Mapping[str, Sequence[tuple[str, ...]]]


def mentioned(body: Draft) -> tuple[str, ...]:
    """The symbols in a lifted body, in order, as often as they occur."""
    assert isinstance(body, Term)
    if not body.args:
        return (body.head.name,) if isinstance(body.head, Symbol) else ()
    return tuple([name for arg in body.args for name in mentioned(arg)])


def mentions(symbols: Definitions) -> Mentions:
    """For each symbol the symbols in each of its alternatives."""
    return {symbol: [mentioned(option.body) for option in options] for symbol, options in symbols.items()}


def renamed(option: Option) -> str | None:
    """The symbol that the option only renames, if it does."""
    body = option.body
    return body.head.name if isinstance(body, Term) and isinstance(body.head, Symbol) else None


def check_used(needed: Mentions, start: str, places: Places) -> None:
    """Every symbol can be reached from the start."""
    reached, waiting = {start}, [start]
    while waiting:
        new = set().union(*needed[waiting.pop()]) - reached
        reached |= new
        waiting.extend(new)
    for symbol, place in places.items():
        if symbol not in reached:
            raise GrammarError(f"{symbol} is never used: no way leads to it from {start}; use it or remove it", *place)


def check_ends(needed: Mentions, places: Places) -> None:
    """Every symbol has a derivation that ends."""
    waiting = deque(symbol for symbol, needs in needed.items() if not all(needs))
    missing = {
        (symbol, i): set(needs)
        for symbol, each in needed.items()
        if all(each)  # the other symbols end by themselves
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
    """A named symbol that leads to itself. Every endless symbol leads to another, so they must form a cycle."""
    path: dict[str, None] = {}
    here = next(iter(endless))
    while here not in path:
        path[here] = None
        here = next(name for names in needed[here] for name in names if name in endless)
    loop = list(path)[list(path).index(here) :]
    return next(name for name in loop if Symbol(name).named)


def rename_order(symbols: Definitions) -> list[str]:
    """The symbols, each after those it renames; GrammarError if some rename each other in a cycle."""
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
    path: dict[str, Place] = {}
    here = next(symbol for symbol in symbols if symbol in stuck)
    while here not in path:
        option = next(o for o in symbols[here] if renamed(o) in stuck)
        path[here] = option.body.place
        here = renamed(option) or here
    names = list(path)
    circle = [name for name in names[names.index(here) :] if Symbol(name).named]
    told = " ::= ".join([*circle, circle[0]])
    raise GrammarError(f"{told} goes round in a circle without writing anything", *path[here])
