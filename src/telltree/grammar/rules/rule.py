"""The normal form of a grammar: rules that each write at least one terminal.

Rules that only rename (`B ::= Ev`) are folded into those they lead to, so that the size and depth of a derivation do
not depend on how its grammar was factored.
"""

from dataclasses import dataclass
from functools import cached_property

from telltree.operators import Expression, Hole


@dataclass(frozen=True)
class Rule:
    """One alternative of a symbol: a template with holes, each to be filled from a symbol."""

    symbol: str
    template: Expression
    weight: float
    """The probability of this rule at its symbol; the weights of a symbol add up to one."""
    nodes: int = 0
    """The nodes that it adds to a derivation tree, those of the rules folded into it included; 0 if not counted."""

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
        """What it adds to the size of a formula: nodes of the derivation tree if they are counted, else terminals."""
        return self.nodes or self.terminals
