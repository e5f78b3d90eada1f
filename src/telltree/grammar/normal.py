"""Draft to normal form: rules that only rename are folded into those they lead to."""

import itertools
import operator
from collections.abc import Iterable, Mapping
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
    renaming = _Renaming(_names(folded))
    return tuple(
        Rule(renaming.names[symbol], renaming.of(template), weight)
        for symbol, rules in folded.items()
        for template, weight in rules.items()
    )


class Templates:
    """The expressions of lifted bodies, with holes for their symbols."""

    def __init__(self, types: Mapping[str, Type]) -> None:
        self._types = types
        self._operands: dict[Term, Expression] = {}  # those that are met again and again

    def of(self, body: Draft, english: str | None = None) -> Expression:
        """The expression of one body."""
        assert isinstance(body, Term)
        if isinstance(body.head, Symbol):
            return Expression(Hole(body.head.name, self._types[body.head.name]))
        return Expression(body.head, tuple(map(self._operand, body.args)), english)

    def _operand(self, body: Draft) -> Expression:
        assert isinstance(body, Term)
        if body.args:
            return self.of(body)
        if body not in self._operands:
            self._operands[body] = self.of(body)
        return self._operands[body]


def _fold(symbols: Definitions, order: Iterable[str], types: Mapping[str, Type]) -> dict[str, Weighted]:
    folded: dict[str, Weighted] = {}
    templates = Templates(types)
    made = 0
    for symbol in order:
        rules: Weighted = {}
        total = sum(option.weight for option in symbols[symbol])
        for option in symbols[symbol]:
            for template, weight in _rules_of(option, folded, templates):
                rules[template] = rules.get(template, 0.0) + weight * (option.weight / total)
        folded[symbol] = rules
        made += len(rules)
        if made > MOST_RULES:
            raise GrammarError(
                f"more than {MOST_RULES:,} rules when written out; choose from fewer attributes or constants"
            )
    return folded


def _rules_of(
    option: Option, folded: Mapping[str, Weighted], templates: Templates
) -> Iterable[tuple[Expression, float]]:
    target = renamed(option)
    if target is None:
        return [(templates.of(option.body, option.english), 1.0)]
    if option.english is None:
        return folded[target].items()
    for template in folded[target]:
        _limit_sentences(template, option)
    return [
        (Expression(template.head, template.args, option.english, (template,)), weight)
        for template, weight in folded[target].items()
    ]


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


def holes(template: Expression) -> tuple[str, ...]:
    """The symbols of a template's holes, in prefix order."""
    if template.args:
        return tuple(hole for arg in template.args for hole in holes(arg))
    return (template.head.symbol,) if isinstance(template.head, Hole) else ()


def _merge(folded: dict[str, Weighted]) -> dict[str, Weighted]:
    """Make one of symbols that say the same, so that crossover can exchange what grows from them."""
    first = _alike(folded)
    if all(symbol == other for symbol, other in first.items()):
        return folded
    renaming = _Renaming(first)
    merged: dict[str, Weighted] = {}
    for symbol, rules in folded.items():
        if first[symbol] == symbol:
            merged[symbol] = {}
            for template, weight in rules.items():
                changed = renaming.of(template)
                merged[symbol][changed] = merged[symbol].get(changed, 0.0) + weight
    return merged


def _alike(folded: Mapping[str, Weighted]) -> dict[str, str]:
    """For each symbol the first that says the same: all are taken to be alike until their rules tell them apart."""
    leads_to = {symbol: [hole for template in rules for hole in holes(template)] for symbol, rules in folded.items()}
    first = _alike_but_for_names(folded)
    for _ in range(1, MERGE_ROUNDS):
        seen: dict[object, str] = {}
        refined = {}
        for symbol, targets in leads_to.items():
            key = tuple(map(first.__getitem__, targets))
            refined[symbol] = seen.setdefault((first[symbol], key), symbol)
        if refined == first:
            return first
        first = refined
    return {symbol: symbol for symbol in folded}  # too intricate to tell: merge none


def _alike_but_for_names(folded: Mapping[str, Weighted]) -> dict[str, str]:
    """For each symbol the first whose rules differ from its own in the names of their holes at most."""
    nameless = _Renaming(dict.fromkeys(folded, ""))
    similar: dict[object, list[str]] = {}  # at first sight, which tells nearly all apart
    for symbol, rules in folded.items():
        similar.setdefault((len(rules), nameless.of(next(iter(rules)))), []).append(symbol)
    first = {symbol: symbol for symbol in folded}
    for group in similar.values():
        seen: dict[object, str] = {}
        for symbol in group if len(group) > 1 else ():
            key = tuple((written(nameless.of(template)), weight) for template, weight in folded[symbol].items())
            first[symbol] = seen.setdefault(key, symbol)
    return first


def written(template: Expression) -> object:
    """All of a template, its English too, which equality leaves out."""
    return template, template.english, tuple(map(written, template.parts))


class _Renaming:
    """Gives templates other names for the symbols of their holes."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names
        self._holes: dict[int, Expression] = {}  # by identity: templates share them

    def of(self, e: Expression) -> Expression:
        """The template with the new names; itself if none of them is another."""
        if not e.args:
            return self._hole(e, e.head) if isinstance(e.head, Hole) else e
        args = tuple(map(self.of, e.args))
        if all(map(operator.is_, args, e.args)):
            return e
        return Expression(e.head, args, e.english, tuple(map(self.of, e.parts)))

    def _hole(self, e: Expression, hole: Hole) -> Expression:
        if id(e) not in self._holes:
            new = self.names[hole.symbol]
            self._holes[id(e)] = e if new == hole.symbol else Expression(Hole(new, hole.type))
        return self._holes[id(e)]


def _names(symbols: Iterable[str]) -> dict[str, str]:
    """Names for the symbols the author did not name: _1, _2 … in the order of the rules."""
    taken = {symbol for symbol in symbols if Symbol(symbol).named}
    fresh = (name for i in itertools.count(1) if (name := f"_{i}") not in taken)
    return {symbol: symbol if symbol in taken else next(fresh) for symbol in symbols}
