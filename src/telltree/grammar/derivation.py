"""Derivations: which rules of a grammar wrote an expression; populations are many of them side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from telltree.grammar.normal_form import Rule
from telltree.logic import Expression, Hole, Number
from telltree.logic.expression import RandomNumber

if TYPE_CHECKING:
    from telltree.grammar.grammar import Grammar


# ---- Derivations: which rules of a grammar wrote an expression, flat and in prefix order.


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


# ---- Populations: many derivations side by side, as compiled code wants them.


class Population(NamedTuple):
    """One derivation a row, in prefix order; a length of 0 marks an empty row."""

    rules: NDArray[np.int32]
    constants: NDArray[np.float64]  # as wide as `rules`, or without columns if the grammar draws no constants
    lengths: NDArray[np.int64]
    names: NDArray[np.uint64]  # a hash of each derivation

    @classmethod
    def empty(cls, individuals: int, nodes: int, constants: bool) -> "Population":
        """Empty rows."""
        return cls(
            np.zeros((individuals, nodes), np.int32),
            np.full((individuals, nodes if constants else 0), np.nan),
            np.zeros(individuals, np.int64),
            np.zeros(individuals, np.uint64),
        )

    @classmethod
    def of(cls, derivations: Sequence[Derivation], constants: bool) -> "Population":
        """These derivations as one population."""
        made = cls.empty(len(derivations), max((len(d.rules) for d in derivations), default=1), constants)
        for i, derivation in enumerate(derivations):
            made.put(i, derivation)
        return made

    def put(self, i: int, derivation: Derivation) -> None:
        """Write a derivation into row i."""
        n = len(derivation.rules)
        self.rules[i, :n] = derivation.rules
        if self.constants.shape[1]:
            self.constants[i, :n] = derivation.constants
        self.lengths[i] = n

    @classmethod
    def joined(cls, parts: Sequence["Population"]) -> "Population":
        """The rows of several populations of one grammar and width."""
        return cls._make(np.concatenate(arrays) for arrays in zip(*parts, strict=True))

    def for_kernels(
        self,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64] | None, NDArray[np.int64], NDArray[np.uint64]]:
        """The arrays, with None for the constants if there are none."""
        return self.rules, self.constants if self.constants.shape[1] else None, self.lengths, self.names

    def derivation(self, i: int, grammar: "Grammar") -> Derivation:
        """Row i as a derivation of the grammar it was drawn from."""
        n = int(self.lengths[i])
        constants = self.constants[i, :n] if self.constants.shape[1] else None
        return Derivation(grammar, self.rules[i, :n], constants)

    def take(self, chosen: NDArray[np.int64]) -> "Population":
        """Some of the rows, copied."""
        return Population._make([part.take(chosen, axis=0) for part in self])  # faster than by an index
