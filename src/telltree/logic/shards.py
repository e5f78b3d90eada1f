"""Several shards of records as one evaluator, wherever the shards are."""

import abc
from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from telltree.data import Schema
from telltree.grammar.derivations.population import Population
from telltree.logic.atoms import Atom
from telltree.logic.findings import Findings, joined
from telltree.logic.machine import Tally
from telltree.operators import Expression

F = TypeVar("F")
"""The form in which formulas are given."""
F_contra = TypeVar("F_contra", contravariant=True)

Masks = Any
"""Groups of records to count, in the form of the evaluator that they are handed back to."""


class AnyEvaluator(Protocol[F_contra]):
    """What can be asked about formulas and the records of a node: all that growing a tree needs to know of them.

    See `Evaluator`, which answers for one shard.
    """

    @property
    def schema(self) -> Schema: ...

    def masks(self, groups: Sequence[NDArray[np.bool_]]) -> Masks: ...

    def evaluate(self, formulas: F_contra, wanted: NDArray[np.int64], masks: Masks) -> Tally: ...

    def truth(self, formulas: F_contra) -> NDArray[np.bool_]: ...

    def margins(self, formulas: F_contra, cutoff: float | None = None) -> NDArray[np.float64]: ...

    def distinct(self, signal: Expression) -> NDArray[np.float64]: ...


class OfFormulas(AnyEvaluator[Sequence[Expression]], Protocol):
    """Of formulas as they stand it can also be asked what turns them."""

    def turning_points(self, formulas: Sequence[Expression], atom: Atom) -> NDArray[np.float64]: ...


OfPopulations: TypeAlias = AnyEvaluator[Population]


class Shards(abc.ABC, Generic[F]):
    """Shards, asked all alike; their answers are joined in the order of the shards, so that nothing depends on time."""

    def __init__(self, schema: Schema, members: Sequence[NDArray[np.int64]]) -> None:
        """`members`: of each shard, the positions of its records among those of all. No shard may be empty."""
        self.schema, self._members = schema, members
        self._records = sum(map(len, members))

    @abc.abstractmethod
    def _each(self, question: str, *given: Any, own: Sequence[Any] | None = None) -> list[Any]:
        """What a method of `Evaluator` returns for each shard; `own` is its last argument, if shards differ in that."""

    def masks(self, groups: Sequence[NDArray[np.bool_]]) -> Masks:
        """Groups of records to count, one Boolean a record each."""
        return self._each("masks", own=[[group[members] for group in groups] for members in self._members])

    def evaluate(self, formulas: F, wanted: NDArray[np.int64], masks: Masks) -> Tally:
        """Count, mask by mask, the records for which each of the formulas `wanted` is true, in that order."""
        return self._joined(self._each("findings", formulas, wanted, own=masks))

    @staticmethod
    def _joined(findings: Sequence[Findings]) -> Tally:
        return joined(findings).of_all()

    def truth(self, formulas: F) -> NDArray[np.bool_]:
        """The truth of every formula for every record."""
        parts = self._each("truth", formulas)
        found = np.empty((len(parts[0]), self._records), np.bool_)
        for members, part in zip(self._members, parts, strict=True):
            found[:, members] = part
        return found

    def margins(self, formulas: F, cutoff: float | None = None) -> NDArray[np.float64]:
        """The smallest absolute margin of each formula over the records.

        All of them are exact: a formula that falls behind in one shard may be ahead in all others.
        """
        found: NDArray[np.float64] = np.min(self._each("margins", formulas), axis=0)
        return found

    def turning_points(self, formulas: F, atom: Atom) -> NDArray[np.float64]:
        """For each record the value of the atom's signal that decides the first formula."""
        found = np.empty(self._records)
        for members, part in zip(self._members, self._each("turning_points", formulas, atom), strict=True):
            found[members] = part
        return found

    def distinct(self, signal: Expression) -> NDArray[np.float64]:
        """The finite values of a signal, each once, in order."""
        return np.unique(np.concatenate(self._each("distinct", signal)))
