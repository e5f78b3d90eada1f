"""Populations: many derivations side by side, as compiled code takes them, and the expressions that rows write."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from telltree.grammar.normal_form import Rule
from telltree.logic import Expression, Hole, Number
from telltree.logic.expression import RandomNumber


class WrittenDerivation(Protocol):
    """The rule numbers of a derivation, in prefix order, and its random constants."""

    @property
    def rules(self) -> NDArray[np.int32]:
        """The rule numbers."""

    @property
    def constants(self) -> NDArray[np.float64]:
        """The constant that each rule drew; NaN if it draws none."""


class Population(NamedTuple):
    """A derivation in each row: rule numbers in prefix order. A row of length 0 is empty."""

    rules: NDArray[np.int32]
    constants: NDArray[np.float64]  # as wide as `rules`, or without columns if the grammar draws no constants
    lengths: NDArray[np.int64]
    names: NDArray[np.uint64]  # hashes of the derivations

    @classmethod
    def empty(cls, individuals: int, nodes: int, constants: bool) -> "Population":
        """Return empty rows."""
        return cls(
            np.zeros((individuals, nodes), np.int32),
            np.full((individuals, nodes if constants else 0), np.nan),
            np.zeros(individuals, np.int64),
            np.zeros(individuals, np.uint64),
        )

    @classmethod
    def of(cls, derivations: Sequence[WrittenDerivation], constants: bool) -> "Population":
        """Return the population of these derivations; `constants` if their grammar draws any."""
        made = cls.empty(len(derivations), max((len(d.rules) for d in derivations), default=1), constants)
        for i, derivation in enumerate(derivations):
            made.put(i, derivation)
        return made

    def put(self, i: int, derivation: WrittenDerivation) -> None:
        """Write a derivation into row i."""
        n = len(derivation.rules)
        self.rules[i, :n] = derivation.rules
        if self.constants.shape[1]:
            self.constants[i, :n] = derivation.constants
        self.lengths[i] = n

    @classmethod
    def joined(cls, parts: Sequence["Population"]) -> "Population":
        """Return the rows of several populations of one grammar and width."""
        return cls._make(np.concatenate(arrays) for arrays in zip(*parts, strict=True))

    def for_kernels(
        self,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64] | None, NDArray[np.int64], NDArray[np.uint64]]:
        """Return the arrays, with None for the constants if there are none."""
        return self.rules, self.constants if self.constants.shape[1] else None, self.lengths, self.names

    def take(self, chosen: NDArray[np.int64]) -> "Population":
        """Return some of the rows, copied."""
        return Population._make([part.take(chosen, axis=0) for part in self])  # faster than an index


# ---- From rows to expressions


def expression_at(
    grammar: Sequence[Rule], rules: NDArray[np.int32], constants: NDArray[np.float64], node: int
) -> tuple[Expression, int]:
    """Return the expression that the subtree at `node` writes, and the end of that subtree."""
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
    """Return the template with its holes filled, in prefix order."""
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
