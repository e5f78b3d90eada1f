"""Shards of the records, each in its own place, which together evaluate formulas for a node."""

import abc
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, count, pairwise
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from telltree.engine.atoms import Atom
from telltree.engine.bitset_layout import LANES
from telltree.engine.evaluator import (
    EvaluatorProtocol,
    FormulaEvaluatorProtocol,
    Masks,
    PopulationEvaluatorProtocol,
    ShardTally,
    merge_shards,
)
from telltree.engine.formula_evaluator import graded_signals
from telltree.engine.machine import Tally
from telltree.grammar import Grammar
from telltree.grammar.derivation import Population
from telltree.logic import Expression
from telltree.panel import Panel, Schema
from telltree.tree.backend import Backend

# ---- A shard of the records, which answers calls about formulas for a node.

_NODES_KEPT = 6
"""The nodes that a shard keeps open. A node has up to three evaluators: on all its records, on a sample, and for single
formulas. Two nodes may be searched side by side.
"""

Form = Literal["evaluator", "formulas"]
"""The kind of evaluator of a backend: for populations, or for single formulas."""
Groups = Sequence[NDArray[np.bool_]]


class Opening(NamedTuple):
    """The opening of a node in a shard."""

    node: int
    form: Form
    members: NDArray[np.int64]
    """The node's records in this shard, by their positions in the shard."""
    before: int
    """The number of blocks of records in the shards that come first."""
    masks: Sequence[Groups] = ()
    """The groups to count that were handed over already."""


class ShardRequest(NamedTuple):
    """A call of a method of the evaluator of a node in a shard."""

    node: int
    method: str
    arguments: tuple[Any, ...] = ()
    masks: int | None = None
    """The number of the groups to count, among those that were handed over."""
    spread: Mapping[Expression, float] = {}
    """The standard deviations of signals over all shards, the units of robustness."""


class NotOpenError(LookupError):
    """The shard does not know the node: it began anew after its worker died."""


class Shard:
    """Some of the records, and the evaluators of open nodes."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._open: OrderedDict[int, tuple[EvaluatorProtocol[Any], list[Masks]]] = OrderedDict()

    def open(self, opening: Opening) -> None:
        """Open a node: make its evaluator."""
        evaluator: EvaluatorProtocol[Any] = getattr(self._backend, opening.form)(opening.members, opening.before)
        self._open[opening.node] = evaluator, [evaluator.masks(groups) for groups in opening.masks]
        while len(self._open) > _NODES_KEPT:
            self._open.popitem(last=False)

    def answer(self, call: ShardRequest) -> Any:
        """Return the result of a call."""
        if call.node not in self._open:
            raise NotOpenError
        self._open.move_to_end(call.node)
        evaluator, masks = self._open[call.node]
        self._backend.deviations.update(call.spread)
        if call.method == "masks":
            masks.append(evaluator.masks(*call.arguments))
            return None
        arguments = call.arguments if call.masks is None else (*call.arguments, masks[call.masks])
        return getattr(evaluator, call.method)(*arguments)


# ---- A backend for records in several shards, each in its own place.

F = TypeVar("F")
"""The form in which formulas are given."""


class Message(NamedTuple):
    """A call for a shard, and the opening of its node if the shard may not know it yet."""

    shard: int
    call: ShardRequest
    opening: Opening | None
    open_first: bool


class ShardPlaces(abc.ABC):
    """The places of shards, and access to them."""

    nodes_at_once = 1
    """The number of nodes to search side by side, each in its own thread."""

    def __init__(self, bounds: Sequence[int]) -> None:
        """`bounds`: the first record of each shard, and one past the last of all."""
        self.bounds = np.asarray(bounds, np.int64)
        self.blocks = list(accumulate((-(-size // LANES) for size in np.diff(self.bounds).tolist()), initial=0))
        """The blocks of records before each shard. Those of a node are no more, so block numbers are unique."""

    @abc.abstractmethod
    def ask(self, messages: Sequence[Message]) -> list[Any]:
        """Return the results, in the order of the messages."""


def answered(shard: Shard, message: Message) -> Any:
    """Call a shard, opening the node first if needed."""
    if message.open_first:
        assert message.opening is not None
        shard.open(message.opening)
    try:
        return shard.answer(message.call)
    except NotOpenError:
        if message.open_first or message.opening is None:
            raise
        return answered(shard, message._replace(open_first=True))


class ShardedBackend:
    """Evaluates formulas for nodes whose records are in several shards."""

    def __init__(
        self, places: ShardPlaces, schema: Schema, grammar: Grammar, spread: Callable[[Expression], float]
    ) -> None:
        """`spread`: the standard deviation of a signal over the records of all shards."""
        self.places, self.schema, self.grammar, self._spread = places, schema, grammar, spread
        self.deviations: dict[Expression, float] = {}
        self.serial, self._lock = count(), threading.Lock()

    def evaluator(self, members: NDArray[np.int64], before: int = 0) -> PopulationEvaluatorProtocol:
        """Return an evaluator of populations on these records."""
        return _PopulationShards(self, members, before, "evaluator")

    def formulas(self, members: NDArray[np.int64], before: int = 0) -> FormulaEvaluatorProtocol:
        """Return an evaluator of single formulas on these records."""
        return _FormulaShards(self, members, before, "formulas")

    def spread(self, signal: Expression) -> float:
        """Return the standard deviation of a signal, the unit of its robustness."""
        with self._lock:
            if signal not in self.deviations:
                self.deviations[signal] = self._spread(signal)
            return self.deviations[signal]

    @property
    def nodes_at_once(self) -> int:
        """The number of nodes worth searching side by side."""
        return self.places.nodes_at_once

    @property
    def cuts(self) -> NDArray[np.int64]:
        """The first record of each shard but the first."""
        return self.places.bounds[1:-1]


class _NodeShards(abc.ABC, Generic[F]):
    """The shards that have records of a node.

    All get the same calls, and their answers are joined in the order of the shards, so that nothing depends on time.
    """

    def __init__(self, backend: ShardedBackend, members: NDArray[np.int64], before: int, form: Form) -> None:
        bounds = backend.places.bounds
        cuts = np.searchsorted(members, bounds).tolist()
        own = [(k, low, high) for k, (low, high) in enumerate(pairwise(cuts)) if low < high]
        self.schema, self._backend, self._node, self._known = backend.schema, backend, next(backend.serial), False
        self._shards = [k for k, _, _ in own]
        self._parts = [slice(low, high) for _, low, high in own]  # of the node's records, those of each shard
        self._openings = [
            Opening(self._node, form, members[low:high] - bounds[k], before + backend.places.blocks[k])
            for k, low, high in own
        ]

    def _each(self, method: str, *arguments: Any, own: Sequence[Any] | None = None, **more: Any) -> list[Any]:
        """Return the results of a method of `Evaluator` for each shard; `own`: its last argument, shard by shard."""
        all_arguments = [arguments] * len(self._shards) if own is None else [(*arguments, its) for its in own]
        messages = [
            Message(shard, ShardRequest(self._node, method, its, **more), opening, not self._known)
            for shard, its, opening in zip(self._shards, all_arguments, self._openings, strict=True)
        ]
        self._known = True
        return self._backend.places.ask(messages)

    def masks(self, groups: Sequence[NDArray[np.bool_]]) -> Masks:
        """Hand over groups of records to count. They stay with the shards; their number is returned."""
        parts = [[group[part] for group in groups] for part in self._parts]
        number = len(self._openings[0].masks)
        self._each("masks", own=parts)
        self._openings = [
            opening._replace(masks=(*opening.masks, part)) for opening, part in zip(self._openings, parts, strict=True)
        ]
        return number

    def evaluate(self, formulas: F, wanted: NDArray[np.int64], masks: Masks) -> Tally:
        """Count, mask by mask, the records for which each of the `wanted` formulas is true, in that order."""
        return self.shard_tally(formulas, wanted, masks).final()

    def shard_tally(self, formulas: F, wanted: NDArray[np.int64], masks: Masks) -> ShardTally:
        """Return the counts, to be joined with those of other shards: shards may be parts of a shard."""
        return merge_shards(
            self._each("shard_tally", self._some(formulas, wanted), np.arange(len(wanted)), masks=masks)
        )

    def truth(self, formulas: F) -> NDArray[np.bool_]:
        """Return the truth of every formula for every record."""
        found: NDArray[np.bool_] = np.concatenate(self._each("truth", formulas), axis=1)
        return found

    def robustness(self, formulas: F, cutoff: float | None = None, is_shard: bool = False) -> NDArray[np.float64]:
        """Return the least absolute robustness of each formula over the records; exact if at least `cutoff`."""
        signals = {s for e in self._expressions(formulas) for s in graded_signals(e, self.schema)}
        spread = {signal: self._backend.spread(signal) for signal in signals}
        found: NDArray[np.float64] = np.min(self._each("robustness", formulas, cutoff, True, spread=spread), axis=0)
        return found

    def turning_points(self, formulas: F, atom: Atom) -> NDArray[np.float64]:
        """Return for each record the value of the atom's signal that decides the first formula."""
        return np.concatenate(self._each("turning_points", formulas, atom))

    def distinct(self, signal: Expression) -> NDArray[np.float64]:
        """Return the finite values of a signal, each once, in order."""
        return np.unique(np.concatenate(self._each("distinct", signal)))

    @abc.abstractmethod
    def _some(self, formulas: F, wanted: NDArray[np.int64]) -> F:
        """Return the wanted formulas, and nothing that need not be sent."""

    @abc.abstractmethod
    def _expressions(self, formulas: F) -> Sequence[Expression]: ...


class _PopulationShards(_NodeShards[Population]):
    def signatures(self, conditions: Population) -> list[tuple[bytes, bytes]] | None:
        """Return for each condition signatures of the steps at which it holds, and does not, in all shards."""
        parts = self._each("signatures", conditions)
        if any(part is None for part in parts):
            return None
        return [(b"".join(t for t, _ in own), b"".join(f for _, f in own)) for own in zip(*parts, strict=True)]

    def reach(self, conditions: Population, masks: Masks) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the records of each group in which each condition holds at some step, and at all steps."""
        some, every = (
            np.sum(parts, axis=0) for parts in zip(*self._each("reach", conditions, masks=masks), strict=True)
        )
        return some, every

    def _some(self, formulas: Population, wanted: NDArray[np.int64]) -> Population:
        rules, constants, lengths, names = formulas.take(wanted)
        width = int(lengths.max(initial=1))  # no row uses the other columns
        return Population(np.ascontiguousarray(rules[:, :width]), constants[:, :width], lengths, names)

    def _expressions(self, formulas: Population) -> Sequence[Expression]:
        grammar = self._backend.grammar
        return [grammar.derivation(formulas, i).expression for i in range(len(formulas.lengths))]


class _FormulaShards(_NodeShards[Sequence[Expression]]):
    def _some(self, formulas: Sequence[Expression], wanted: NDArray[np.int64]) -> Sequence[Expression]:
        return [formulas[k] for k in wanted]

    def _expressions(self, formulas: Sequence[Expression]) -> Sequence[Expression]:
        return formulas


def even_bounds(panel: Panel, shards: int) -> list[int]:
    """Return the first record of each shard, and one past the last: whole blocks, of about as many steps each."""
    ends = np.cumsum(panel.lengths)
    wanted = np.searchsorted(ends, ends[-1] * np.arange(1, shards) / shards)
    inner = (wanted // LANES * LANES).tolist()
    return [low for low, high in pairwise([0, *inner, len(panel)]) if low < high] + [len(panel)]
