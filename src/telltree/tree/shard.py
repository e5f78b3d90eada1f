"""A shard of the records, which stays where they are: it answers questions about formulas for the node at hand."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.logic.asked import AnyEvaluator, Masks
from telltree.operators import Expression
from telltree.tree.asking import Bench

_NODES_KEPT = 6
"""A node is asked about populations, by all its records and by a sample, then about formulas as they stand; nothing is
asked about it later. Two nodes may be asked about side by side."""

Form = Literal["engine", "formulas"]
"""Which evaluator of a bench is asked: that for populations, or that for formulas as they stand."""
Groups = Sequence[NDArray[np.bool_]]


class Opening(NamedTuple):
    """A node that will be asked about."""

    node: int
    form: Form
    members: NDArray[np.int64]
    """Its records in this shard, by their positions in the shard."""
    before: int
    """Blocks of records in the shards that come first."""
    masks: Sequence[Groups] = ()
    """Groups to count that were handed over already."""


class Call(NamedTuple):
    """A question about a node, for one shard: a method of its evaluator, and what it is given."""

    node: int
    question: str
    given: tuple[Any, ...] = ()
    masks: int | None = None
    """Which of the groups that were handed over to count."""
    spread: Mapping[Expression, float] = {}
    """The standard deviations, over all shards, of the signals that margins are measured in."""


class NotOpenError(LookupError):
    """A shard was asked about a node that it does not know: it begins anew, after its worker died."""


class Shard:
    """Some records, and evaluators for the nodes at hand."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._open: OrderedDict[int, tuple[AnyEvaluator[Any], list[Masks]]] = OrderedDict()

    def open(self, opening: Opening) -> None:
        """Make ready for questions about a node."""
        evaluator: AnyEvaluator[Any] = getattr(self._bench, opening.form)(opening.members, opening.before)
        self._open[opening.node] = evaluator, [evaluator.masks(groups) for groups in opening.masks]
        while len(self._open) > _NODES_KEPT:
            self._open.popitem(last=False)

    def answer(self, call: Call) -> Any:
        """What the evaluator of a node says."""
        if call.node not in self._open:
            raise NotOpenError
        self._open.move_to_end(call.node)
        evaluator, masks = self._open[call.node]
        self._bench.spreads.update(call.spread)
        if call.question == "masks":
            masks.append(evaluator.masks(*call.given))
            return None
        given = call.given if call.masks is None else (*call.given, masks[call.masks])
        return getattr(evaluator, call.question)(*given)
