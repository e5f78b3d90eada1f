"""Populations: many derivations side by side, as compiled code wants them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.grammar.derivations.derivation import Derivation

if TYPE_CHECKING:
    from telltree.grammar.grammar import Grammar


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
