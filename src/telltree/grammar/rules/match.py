"""Expression to derivation: which rules write a given expression."""

from collections import defaultdict
from collections.abc import Sequence
from math import nan

from telltree.grammar.rules.rule import Rule
from telltree.operators import Expression, Hole, Number
from telltree.operators.expression import Head, RandomNumber

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
        """The derivation of this expression from this symbol; None if there is none."""
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
    """Whether the two agree outside the template's holes; collects the contents of the holes, in prefix order."""
    if isinstance(template.head, Hole):
        fillers.append((template.head.symbol, e))
        return True
    if template.head != e.head or len(template.args) != len(e.args):
        return False
    return all(_unify(part, arg, fillers) for part, arg in zip(template.args, e.args, strict=True))
