"""Draft to normal form: rules that only rename are folded into those they lead to."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from telltree.errors import GrammarError
from telltree.grammar.check import renamed
from telltree.grammar.draft import Definitions, Draft, Option, Symbol, Term
from telltree.grammar.rules import Rule
from telltree.operators import Expression, Hole, Type

MOST_RULES = 1_000_000  # while folding, to stay within some hundred megabytes
MOST_SENTENCES = 50  # one inside the other
MERGE_ROUNDS = 50

Weighted: TypeAlias = dict[Expression, float]
"""The rules of a symbol: templates and their weights."""


def normal_form(symbols: Definitions, order: Iterable[str], start: str, types: Mapping[str, Type]) -> tuple[Rule, ...]:
    """The rules, grouped by symbol, the start first; `order` has each symbol after those it renames."""
    folded = _merge(_reached(_fold(symbols, order, types), start))
    names = _names(folded)
    return tuple(
        Rule(names[symbol], _substitute(template, names), weight)
        for symbol, rules in folded.items()
        for template, weight in rules.items()
    )


def template_of(body: Draft, types: Mapping[str, Type], english: str | None = None) -> Expression:
    """The expression of a lifted body, with holes for its symbols."""
    assert isinstance(body, Term)
    if isinstance(body.head, Symbol):
        return Expression(Hole(body.head.name, types[body.head.name]))
    return Expression(body.head, tuple(template_of(arg, types) for arg in body.args), english)


def _fold(symbols: Definitions, order: Iterable[str], types: Mapping[str, Type]) -> dict[str, Weighted]:
    folded: dict[str, Weighted] = {}
    made = 0
    for symbol in order:
        rules: Weighted = {}
        total = sum(option.weight for option in symbols[symbol])
        for option in symbols[symbol]:
            for template, weight in _rules_of(option, folded, types):
                rules[template] = rules.get(template, 0.0) + weight * (option.weight / total)
        folded[symbol] = rules
        made += len(rules)
        if made > MOST_RULES:
            raise GrammarError(
                f"more than {MOST_RULES:,} rules when written out; choose from fewer attributes or constants"
            )
    return folded


def _rules_of(
    option: Option, folded: Mapping[str, Weighted], types: Mapping[str, Type]
) -> Iterator[tuple[Expression, float]]:
    target = renamed(option)
    if target is None:
        yield template_of(option.body, types, option.english), 1.0
    elif option.english is None:
        yield from folded[target].items()
    else:
        for template, weight in folded[target].items():
            _limit_sentences(template, option)
            yield Expression(template.head, template.args, option.english, (template,)), weight


def _limit_sentences(template: Expression, option: Option) -> None:
    inside = 0
    while template.parts:
        template, inside = template.parts[0], inside + 1
    if inside >= MOST_SENTENCES:
        raise GrammarError(f"more than {MOST_SENTENCES} English sentences, one inside the other", *option.body.place)


def _reached(folded: Mapping[str, Weighted], start: str) -> dict[str, Weighted]:
    """What is left of the symbols, in the order in which rules lead to them."""
    reached = {start: folded[start]}
    waiting = [start]
    for symbol in waiting:  # grows while it is walked
        for template in folded[symbol]:
            for hole in holes(template):
                if hole not in reached:
                    reached[hole] = folded[hole]
                    waiting.append(hole)
    return reached


def holes(template: Expression) -> Iterator[str]:
    """The symbols of a template's holes, in prefix order."""
    return (e.head.symbol for e in template.walk() if isinstance(e.head, Hole))


def _merge(folded: dict[str, Weighted]) -> dict[str, Weighted]:
    """Make one of symbols that say the same, so that crossover can exchange what grows from them."""
    first = _alike(folded)
    merged: dict[str, Weighted] = {}
    for symbol, rules in folded.items():
        if first[symbol] == symbol:
            merged[symbol] = {}
            for template, weight in rules.items():
                changed = _substitute(template, first)
                merged[symbol][changed] = merged[symbol].get(changed, 0.0) + weight
    return merged


def _alike(folded: Mapping[str, Weighted]) -> dict[str, str]:
    """For each symbol the first that says the same: all are taken to be alike until their rules tell them apart."""
    first = dict.fromkeys(folded, next(iter(folded)))
    for _ in range(MERGE_ROUNDS):
        seen: dict[object, str] = {}
        refined = {}
        for symbol, rules in folded.items():
            key = tuple((written(_substitute(template, first)), weight) for template, weight in rules.items())
            refined[symbol] = seen.setdefault((first[symbol], key), symbol)
        if refined == first:
            return first
        first = refined
    return {symbol: symbol for symbol in folded}  # too intricate to tell: merge none


def written(template: Expression) -> object:
    """All of a template, its English too, which equality leaves out."""
    parts = tuple(map(written, template.parts))
    return template, template.english, parts


def _substitute(e: Expression, names: Mapping[str, str]) -> Expression:
    """The template with other names for the symbols of its holes."""
    if isinstance(e.head, Hole):
        new = names.get(e.head.symbol, e.head.symbol)
        return e if new == e.head.symbol else Expression(Hole(new, e.head.type))
    if not e.args:
        return e
    args = tuple(_substitute(arg, names) for arg in e.args)
    parts = tuple(_substitute(part, names) for part in e.parts)
    return e if args == e.args else Expression(e.head, args, e.english, parts)


def _names(symbols: Iterable[str]) -> dict[str, str]:
    """Names for the symbols the author did not name: _1, _2 … in the order of the rules."""
    taken = {symbol for symbol in symbols if Symbol(symbol).named}
    fresh = (name for i in itertools.count(1) if (name := f"_{i}") not in taken)
    return {symbol: symbol if symbol in taken else next(fresh) for symbol in symbols}
