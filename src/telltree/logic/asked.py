"""What can be asked about formulas and the records of a node, wherever the records are."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from telltree.data import Schema
from telltree.grammar.derivations.population import Population
from telltree.logic.atoms import Atom
from telltree.logic.findings import Findings
from telltree.logic.machine import Tally
from telltree.operators import Expression

F_contra = TypeVar("F_contra", contravariant=True)
"""The form in which formulas are given."""

Masks = Any
"""Groups of records to count, in the form of the evaluator that they are handed back to."""


class AnyEvaluator(Protocol[F_contra]):
    """All that growing a tree needs to know. `Evaluator` answers for one shard, `tree.sharded` for several."""

    @property
    def schema(self) -> Schema: ...

    def masks(self, groups: Sequence[NDArray[np.bool_]]) -> Masks: ...

    def evaluate(self, formulas: F_contra, wanted: NDArray[np.int64], masks: Masks) -> Tally: ...

    def findings(self, formulas: F_contra, wanted: NDArray[np.int64], masks: Masks) -> Findings: ...

    def truth(self, formulas: F_contra) -> NDArray[np.bool_]: ...

    def margins(
        self, formulas: F_contra, cutoff: float | None = None, of_a_shard: bool = False
    ) -> NDArray[np.float64]: ...

    def distinct(self, signal: Expression) -> NDArray[np.float64]: ...


class OfFormulas(AnyEvaluator[Sequence[Expression]], Protocol):
    """Of formulas as they stand it can also be asked what turns them."""

    def turning_points(self, formulas: Sequence[Expression], atom: Atom) -> NDArray[np.float64]: ...


class OfPopulations(AnyEvaluator[Population], Protocol):
    """Of populations it can also be asked which conditions hold at the same steps, and in how many records."""

    def marks(self, conditions: Population) -> list[tuple[bytes, bytes]] | None: ...

    def reach(self, conditions: Population, masks: Masks) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
