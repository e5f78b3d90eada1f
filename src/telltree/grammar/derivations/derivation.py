"""Derivations: which rules of a grammar wrote an expression, flat and in prefix order."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from telltree.grammar.rules.rule import Rule
from telltree.operators import Expression, Hole, Number
from telltree.operators.expression import RandomNumber

if TYPE_CHECKING:
    from telltree.grammar.grammar import Grammar


@dataclass(frozen=True, init=False, eq=False)
class Derivation:
    """Rule numbers in prefix order, and beside each the random constant it drew (NaN for rules that draw none)."""

    grammar: "Grammar"
    rules: NDArray[np.int32]
    constants: NDArray[np.float64]

    def __init__(self, grammar: "Grammar", rules: ArrayLike, constants: ArrayLike | None = None) -> None:
        object.__setattr__(self, "grammar", grammar)
        object.__setattr__(self, "rules", np.array(rules, np.int32))
        drawn = np.full(len(self.rules), np.nan) if constants is None else np.array(constants, np.float64)
        object.__setattr__(self, "constants", drawn)

    def __len__(self) -> int:
        """Its size: the terminals it writes, or the nodes of its tree if its grammar counts these."""
        return int(self.grammar.tables.rule["size"][self.rules].sum())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Derivation):
            return NotImplemented
        same_rules = np.array_equal(self.rules, other.rules) and self.grammar == other.grammar
        return same_rules and np.array_equal(self.constants, other.constants, equal_nan=True)

    def __hash__(self) -> int:
        return hash(self.rules.tobytes())

    def __str__(self) -> str:
        return str(self.expression)

    def __repr__(self) -> str:
        return f"<Derivation of {self.expression}>"

    @property
    def nodes(self) -> int:
        """The nodes of its derivation tree: every symbol that was rewritten, and every terminal.

        Symbols are those that the author of the grammar named. If renaming rules lead to the same rule in several ways,
        the shortest of these counts.
        """
        counting = self.grammar.counting_nodes
        return len(self if counting is self.grammar else counting.derive(self.expression))

    @property
    def depth(self) -> int:
        """How deeply operators are nested."""
        return self.expression.depth

    @cached_property
    def expression(self) -> Expression:
        """What the derivation says."""
        return expression_at(self.grammar.rules, self.rules, self.constants, 0)[0]

    def span(self, node: int) -> slice:
        """Where the subtree that starts at this node lies in `rules`."""
        open_holes, end = 1, node
        first_hole = self.grammar.tables.rule["first_hole"]
        while open_holes:
            rule = self.rules[end]
            open_holes += int(first_hole[rule + 1] - first_hole[rule]) - 1
            end += 1
        return slice(node, end)

    def splice(self, node: int, other: "Derivation", other_node: int = 0) -> "Derivation":
        """This derivation with the subtree at `node` replaced by the one of `other` at `other_node`.

        Both subtrees must grow from the same symbol.
        """
        mine, theirs = self.span(node), other.span(other_node)
        symbol = self.grammar.tables.rule["symbol"]
        if symbol[self.rules[node]] != symbol[other.rules[other_node]]:
            raise ValueError(f"node {node} and node {other_node} grow from different symbols")
        return Derivation(
            self.grammar,
            np.concatenate([self.rules[: mine.start], other.rules[theirs], self.rules[mine.stop :]]),
            np.concatenate([self.constants[: mine.start], other.constants[theirs], self.constants[mine.stop :]]),
        )


def expression_at(
    grammar: Sequence[Rule], rules: NDArray[np.int32], constants: NDArray[np.float64], node: int
) -> tuple[Expression, int]:
    """The expression that the subtree at `node` spells out, and where that subtree ends."""
    rule = grammar[rules[node]]
    template, end = rule.template, node + 1
    if isinstance(template.head, RandomNumber):
        return Expression(Number(float(constants[node]))), end
    fillers = []
    for _ in rule.holes:
        filler, end = expression_at(grammar, rules, constants, end)
        fillers.append(filler)
    return fill(template, fillers), end


def fill(template: Expression, fillers: Sequence[Expression]) -> Expression:
    """The template with its holes filled, in prefix order."""
    if not fillers:
        return template
    waiting = iter(fillers)

    def filled(e: Expression) -> Expression:
        if isinstance(e.head, Hole):
            return next(waiting)
        args = tuple(filled(arg) for arg in e.args)
        if e.english is None:
            return Expression(e.head, args)
        parts = tuple(fill(part, fillers) for part in e.parts) or tuple(fillers)
        return Expression(e.head, args, e.english, parts)

    return filled(template)
