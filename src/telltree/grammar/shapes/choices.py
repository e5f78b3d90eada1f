"""What may fill a slot of a shape: derivations in which no condition is left to choose, such as `x < 5`."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from telltree.errors import SettingsError
from telltree.grammar.rules.rule import Rule
from telltree.grammar.shapes.scope import holes_in
from telltree.operators import Expression, Hole, Type

MOST_CHOICES = 1_000_000
_CONDITIONS = frozenset({Type.BOOLEAN, Type.BOOLEAN_VECTOR, Type.COUNT})


class Choice(NamedTuple):
    """One way to fill a slot: the rules in prefix order, the size and the terminals that they add, and how many
    operators they nest."""

    rules: tuple[int, ...]
    size: int
    terminals: int
    height: int


class Choices:
    """What the symbols of a grammar can write without choosing among conditions."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._of_symbol: dict[str, list[tuple[int, Rule]]] = {}
        for number, rule in enumerate(rules):
            self._of_symbol.setdefault(rule.symbol, []).append((number, rule))
        self._written = 0
        self.conditional = self._conditional()
        """The symbols that write conditions, or something of which conditions are a part."""
        self._known: dict[tuple[str, int], list[Choice]] = {}

    def _conditional(self) -> frozenset[str]:
        holes = {s: [hole for _, r in own for hole, _ in holes_in(r.template)] for s, own in self._of_symbol.items()}
        found = {next(iter(holes))} | {h.symbol for own in holes.values() for h in own if h.type in _CONDITIONS}
        while True:
            more = {s for s, own in holes.items() if s not in found and any(hole.symbol in found for hole in own)}
            if not more:
                return frozenset(found)
            found |= more

    def is_open(self, e: Expression) -> bool:
        """Whether there are conditions to choose in a template."""
        return any(isinstance(node.head, Hole) and node.head.symbol in self.conditional for node in e.walk())

    def of_rule(self, number: int, rule: Rule, left: int) -> Iterator[Choice]:
        """All that a rule without such conditions can write that nests at most `left` operators."""
        if rule.template.depth <= left:
            for rules, size, terminals, height in self.fillings(rule.template, 0, left):
                depth = max(rule.template.depth, height)
                yield Choice((number, *rules), rule.size + size, rule.terminals + terminals, depth)

    def fillings(self, part: Expression, above: int, left: int) -> Iterator[Choice]:
        """All ways to fill the holes of a part of a template that has so many operators above it."""
        holes = list(holes_in(part, above))
        options = [self._of(hole.symbol, left - drop) for hole, drop in holes]
        for fillers in product(*options):
            self._written += 1
            if self._written > MOST_CHOICES:
                raise SettingsError(
                    f"this grammar has more than {MOST_CHOICES:,} atoms, too many to try all formulas; choose from "
                    f"fewer columns or constants, or take another search"
                )
            yield Choice(
                tuple(number for filler in fillers for number in filler.rules),
                sum(filler.size for filler in fillers),
                sum(filler.terminals for filler in fillers),
                max((drop + filler.height for (_, drop), filler in zip(holes, fillers, strict=True)), default=0),
            )

    def _of(self, symbol: str, left: int) -> list[Choice]:
        """All that a symbol can write that nests at most `left` operators."""
        if (symbol, left) not in self._known:
            own = self._of_symbol[symbol]
            self._known[symbol, left] = [choice for rule in own for choice in self.of_rule(*rule, left)]
        return self._known[symbol, left]
