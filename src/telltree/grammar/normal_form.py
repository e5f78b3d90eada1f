"""The normal form of a grammar: rules that each write a terminal; and the search for the rules of an expression."""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import NamedTuple, TypeAlias

from telltree.errors import GrammarError
from telltree.grammar.check import mentioned, renamed
from telltree.grammar.syntax_tree import Definitions, Draft, Option, Symbol, Term
from telltree.logic import Expression, Hole, Number, Type
from telltree.logic.expression import Head, RandomNumber

# ---- The normal form of a grammar: rules that each write at least one terminal.
#
# Rules that only rename (`B ::= Ev`) are folded into those they lead to, so that the size and depth of a derivation do
# not depend on how its grammar was factored.


@dataclass(frozen=True)
class Rule:
    """One alternative of a symbol: a template with holes, each to be filled from a symbol."""

    symbol: str
    template: Expression
    weight: float
    """The probability of this rule at its symbol; the weights of a symbol add up to one."""
    nodes: int = 0
    """The nodes that it adds to a derivation tree, with those of rules folded into it; 0 if nodes are not counted."""

    @cached_property
    def holes(self) -> tuple[str, ...]:
        """The symbols of the template's holes, in prefix order."""
        return tuple(e.head.symbol for e in self.template.walk() if isinstance(e.head, Hole))

    @cached_property
    def terminals(self) -> int:
        """The terminals that it writes itself."""
        return sum(not isinstance(e.head, Hole) for e in self.template.walk())

    @property
    def size(self) -> int:
        """The size that it adds to a formula: nodes of the derivation tree if they are counted, else terminals."""
        return self.nodes or self.terminals


# ---- Draft to normal form: rules that only rename are folded into those they lead to.

MOST_RULES = 250_000
"""While folding, where symbols that rename each other could multiply; more where more was written."""
MOST_SENTENCES = 50  # nested in each other
MERGE_ROUNDS = 50
_UNSAID = (None,)


class Spelt(NamedTuple):
    """All of a body except its English, in a form that is fast to compare."""

    shape: int
    """A number that is the same for bodies that differ only in the names of their holes."""
    holes: tuple[str, ...]
    """The symbols that fill its holes, in prefix order."""


class Body(NamedTuple):
    """The right-hand side of a rule. Bodies become expressions at the very end, when the symbols have their final
    names.
    """

    spelt: Spelt
    term: Term
    english: tuple[str | None, ...]
    """The English of the rule itself, then of those that rename it, from the inside out."""
    symbols: int = 0
    """The number of named symbols that were rewritten to get here, if they are counted."""


Weighted: TypeAlias = dict[Spelt, tuple[Body, float]]
"""The rules of a symbol, with their weights."""


def normal_form(
    symbols: Definitions, order: Iterable[str], start: str, types: Mapping[str, Type], *, count_nodes: bool = False
) -> tuple[Rule, ...]:
    """Return the rules, grouped by symbol, the start symbol first.

    `order` lists each symbol after those it renames. With `count_nodes`, each rule has its nodes of the derivation
    tree, and symbols are merged only if theirs are the same.
    """
    folded = _reached(_fold(symbols, order, _Bodies(types), count_nodes), start)
    first = _alike(folded)
    merged = _merge(folded, first)
    names = _names(merged)
    templates = Templates(types, {symbol: names[first[symbol]] for symbol in folded})
    return tuple(
        Rule(names[symbol], templates.of_body(body), weight, body.symbols + _terminals(body.term) if count_nodes else 0)
        for symbol, rules in merged.items()
        for body, weight in rules.values()
    )


class Templates:
    """Turns lifted terms into expressions, with holes for their symbols."""

    def __init__(self, types: Mapping[str, Type], names: Mapping[str, str]) -> None:
        self._types = types
        self._names = names
        self._operands: dict[int, Expression] = {}  # by identity: the operators of a set share their operands
        self._leaves: dict[object, Expression] = {}  # most of a large grammar are constants that recur

    def of_body(self, body: Body) -> Expression:
        """Return the expression of a rule's body, with its English."""
        if body.english is _UNSAID:  # most rules
            return self.of(body.term)
        own, *renaming = body.english
        template = self.of(body.term, own)
        for english in renaming:
            template = Expression(template.head, template.args, english, (template,))
        return template

    def of(self, term: Draft, english: str | None = None) -> Expression:
        """Return the expression of a term."""
        assert isinstance(term, Term)
        if term.args or english is not None:
            return Expression(self._head(term), tuple(map(self._operand, term.args)), english)
        return self._leaf(term)

    def _head(self, term: Term) -> Head:
        """Return the head, or the hole that another rule fills."""
        head = term.head
        return Hole(self._names[head.name], self._types[head.name]) if isinstance(head, Symbol) else head

    def _leaf(self, term: Term) -> Expression:
        known = self._leaves.get(term.head)
        if known is None:
            known = self._leaves[term.head] = Expression(self._head(term))
        return known

    def _operand(self, term: Draft) -> Expression:
        if isinstance(term, Term) and not term.args:
            return self._leaf(term)
        if id(term) not in self._operands:
            self._operands[id(term)] = self.of(term)
        return self._operands[id(term)]


class _Bodies:
    """Turns options into the bodies of rules."""

    def __init__(self, types: Mapping[str, Type]) -> None:
        self._types = types
        self._shapes: dict[object, int] = {}
        self._leaves: dict[object, Body] = {}  # most of a large grammar are constants that recur

    def of(self, option: Option) -> Body:
        """Return the body of one option."""
        term = option.body
        assert isinstance(term, Term)
        if term.args or option.english is not None:
            return self._made(term, _UNSAID if option.english is None else (option.english,))
        known = self._leaves.get(term.head)
        if known is None:
            known = self._leaves[term.head] = self._made(term, _UNSAID)
        return known

    def _made(self, term: Term, english: tuple[str | None, ...]) -> Body:
        shape = self._shapes.setdefault(self._nameless(term), len(self._shapes))
        return Body(Spelt(shape, mentioned(term)), term, english)

    def _nameless(self, term: Draft) -> object:
        assert isinstance(term, Term)
        if term.args:
            return (term.head, *map(self._nameless, term.args))
        return self._types[term.head.name] if isinstance(term.head, Symbol) else term.head


def _terminals(term: Draft) -> int:
    """Yield the terminals of a lifted term."""
    assert isinstance(term, Term)
    return (not isinstance(term.head, Symbol)) + sum(map(_terminals, term.args))


def _fold(
    symbols: Definitions, order: Iterable[str], bodies: _Bodies, count_nodes: bool = False
) -> dict[str, Weighted]:
    folded: dict[str, Weighted] = {}
    made, most = 0, max(MOST_RULES, 4 * sum(map(len, symbols.values())))
    for symbol in order:
        rules: Weighted = {}
        total = sum(option.weight for option in symbols[symbol])
        own = int(count_nodes and Symbol(symbol).named)  # a choice inside a rule is not a symbol that the author named
        for option in symbols[symbol]:
            share, target = option.weight / total, renamed(option)
            if target is None:
                body = bodies.of(option)
                _add(rules, body.spelt, _below(body, own), share)
                continue
            for body, weight in _renamed(option, folded[target]):
                _add(rules, body.spelt, _below(body, own), weight * share)
        folded[symbol] = rules
        made += len(rules)
        if made > most:
            raise GrammarError(f"more than {most:,} rules when written out; choose from fewer attributes or constants")
    return folded


def _add(rules: Weighted, key: Spelt, body: Body, weight: float) -> None:
    """Add a rule, or merge it into an equal one: the weights add up, and the nodes of the shorter way stay."""
    before = rules.get(key)
    if before is None:
        rules[key] = body, weight
    else:
        first, share = before
        rules[key] = _below(first, min(0, body.symbols - first.symbols)), share + weight


def _below(body: Body, symbols: int) -> Body:
    """Return the body with so many more symbols above it."""
    return body._replace(symbols=body.symbols + symbols) if symbols else body


def _renamed(option: Option, rules: Weighted) -> Iterable[tuple[Body, float]]:
    """Yield the rules of the symbol that an option renames, with the option's weight and English."""
    if option.english is None:
        return rules.values()
    return [(_said(body, option), weight) for body, weight in rules.values()]


def _said(body: Body, option: Option) -> Body:
    """Return the body with the English of an option that renames its symbol."""
    if len(body.english) > MOST_SENTENCES:
        raise GrammarError(f"more than {MOST_SENTENCES} English sentences, one inside the other", *option.body.place)
    return body._replace(english=(*body.english, option.english))


def _reached(folded: Mapping[str, Weighted], start: str) -> dict[str, Weighted]:
    """Return the symbols that are left, in the order in which rules lead to them."""
    reached = {start: folded[start]}
    waiting = [start]
    for symbol in waiting:  # grows during the loop
        for body, _ in folded[symbol].values():
            for hole in body.spelt.holes:
                if hole not in reached:
                    reached[hole] = folded[hole]
                    waiting.append(hole)
    return reached


def _merge(folded: dict[str, Weighted], first: Mapping[str, str]) -> dict[str, Weighted]:
    """Merge symbols that have the same rules, so that crossover can exchange their subtrees."""
    if all(symbol == other for symbol, other in first.items()):
        return folded
    merged: dict[str, Weighted] = {symbol: {} for symbol in folded if first[symbol] == symbol}
    for symbol, rules in merged.items():
        for body, weight in folded[symbol].values():
            _add(rules, Spelt(body.spelt.shape, tuple(first[hole] for hole in body.spelt.holes)), body, weight)
    return merged


def _alike(folded: Mapping[str, Weighted]) -> dict[str, str]:
    """Return, for each symbol, the first equivalent one.

    Symbols with rules of the same shape count as equivalent until the symbols they lead to tell them apart.
    """
    shapes: dict[object, str] = {}
    first, leads_to = {}, {}
    for symbol, rules in folded.items():
        key = tuple((body.spelt.shape, body.english, body.symbols, weight) for body, weight in rules.values())
        first[symbol] = shapes.setdefault(key, symbol)
        leads_to[symbol] = [hole for body, _ in rules.values() for hole in body.spelt.holes]
    for _ in range(1, MERGE_ROUNDS):
        seen: dict[object, str] = {}
        refined = {
            symbol: seen.setdefault((first[symbol], *map(first.__getitem__, holes)), symbol)
            for symbol, holes in leads_to.items()
        }
        if refined == first:
            return first
        first = refined
    return {symbol: symbol for symbol in folded}  # too complex to decide: merge none


def written(template: Expression) -> object:
    """Return all of a template for comparison, including its English, which equality ignores."""
    return template, template.english, tuple(map(written, template.parts))


def _names(symbols: Iterable[str]) -> dict[str, str]:
    """Return names for the symbols that the author did not name: _1, _2 … in the order of the rules."""
    taken = {symbol for symbol in symbols if Symbol(symbol).named}
    fresh = (name for i in itertools.count(1) if (name := f"_{i}") not in taken)
    return {symbol: symbol if symbol in taken else next(fresh) for symbol in symbols}


# ---- Expression to derivation: the rules that write a given expression

Written = list[tuple[int, float]]
"""Rule numbers in prefix order, each with the constant it drew or NaN."""
Key = tuple[str, Head | None, Head | None]
"""A symbol, a head (None: a random constant), and the head of its first operand (None: a hole, or no operand)."""


class Matcher:
    """Finds the first derivation, in rule order, of an expression from a symbol."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        # An index, so that few rules need a closer look.
        self._index: dict[Key, list[int]] = defaultdict(list)
        for number, rule in enumerate(rules):
            head, first = rule.template.head, _first(rule.template)
            key = None if isinstance(head, RandomNumber) else head
            self._index[rule.symbol, key, None if isinstance(first, Hole) else first].append(number)

    def match(self, symbol: str, e: Expression) -> Written | None:
        """Return the derivation of this expression from this symbol; None if there is none."""
        return self._match(symbol, e, {})

    def _match(self, symbol: str, e: Expression, known: dict[tuple[str, Expression], Written | None]) -> Written | None:
        key = (symbol, e)
        if key not in known:
            known[key] = None
            for number in self._candidates(symbol, e):
                found = self._apply(number, e, known)
                if found is not None:
                    known[key] = found
                    break
        return known[key]

    def _candidates(self, symbol: str, e: Expression) -> list[int]:
        keys: set[Key] = {(symbol, e.head, _first(e)), (symbol, e.head, None)}
        if isinstance(e.head, Number):
            keys.add((symbol, None, None))
        return sorted(number for key in keys for number in self._index.get(key, ()))

    def _apply(self, number: int, e: Expression, known: dict[tuple[str, Expression], Written | None]) -> Written | None:
        template = self._rules[number].template
        if isinstance(template.head, RandomNumber):
            assert isinstance(e.head, Number)
            return [(number, e.head.value)] if template.head.low <= e.head.value <= template.head.high else None
        fillers: list[tuple[str, Expression]] = []
        if not _unify(template, e, fillers):
            return None
        written: Written = [(number, nan)]
        for symbol, filler in fillers:
            found = self._match(symbol, filler, known)
            if found is None:
                return None
            written += found
        return written


def _first(e: Expression) -> Head | None:
    return e.args[0].head if e.args else None


def _unify(template: Expression, e: Expression, fillers: list[tuple[str, Expression]]) -> bool:
    """Return True if the two agree outside the template's holes; collect the contents of the holes, in prefix order."""
    if isinstance(template.head, Hole):
        fillers.append((template.head.symbol, e))
        return True
    if template.head != e.head or len(template.args) != len(e.args):
        return False
    return all(_unify(part, arg, fillers) for part, arg in zip(template.args, e.args, strict=True))
