"""Routing of unknown answers: such a record goes where more records of the node went.

`RoutedFormulas` and `RoutedPopulations` wrap the evaluators of a node and resolve unknown answers, so the code that
searches, chooses, shortens and moves thresholds knows nothing of them. Formulas without columns that miss values are
passed on to the engine; others are evaluated twice, for where they surely and where they possibly hold.
"""

from collections.abc import Collection, Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.engine.atoms import Atom
from telltree.engine.evaluator import FormulaEvaluatorProtocol, Masks, PopulationEvaluatorProtocol, ShardTally
from telltree.engine.machine import Tally
from telltree.engine.three_valued import bounds
from telltree.grammar import Grammar
from telltree.grammar.derivation import Population
from telltree.logic import Expression, UserFunction
from telltree.panel import Schema
from telltree.search import Scores
from telltree.tree.objective import SplitObjective
from telltree.tree.target import Labels

_AT_A_TIME = 1 << 24  # answers, a byte each, that are in memory together


class RoutedTruth(NamedTuple):
    """A formula with unknown answers resolved for the records of a node."""

    resolved: Expression
    """The formula with unknown answers replaced by `unknown_is_true`."""
    unknown_is_true: bool
    """The more frequent known answer, by weight; false if both are equally frequent."""
    truth: NDArray[np.bool_]
    unknown: int
    """The number of records with an unknown answer."""


class RoutedFormulas:
    """An evaluator that resolves unknown answers of formulas for the records of a node, given their labels."""

    def __init__(self, formulas: FormulaEvaluatorProtocol, labels: Labels) -> None:
        self._formulas, self._records = formulas, len(labels)
        self._weights = np.ones(len(labels)) if labels.weights is None else labels.weights.astype(np.float64)

    def routed(self, formulas: Sequence[Expression]) -> list[RoutedTruth]:
        """Return the routing of the records by each formula."""
        pairs = [bounds(e) for e in formulas]
        truth = self._formulas.truth([bound for pair in pairs for bound in pair])
        sure, possible = truth[::2], truth[1::2]
        goes = sure @ self._weights > ~possible @ self._weights
        unknown = np.count_nonzero(possible & ~sure, axis=1)
        answers = np.where(goes[:, None], possible, sure)
        found = zip(pairs, goes.tolist(), answers, unknown.tolist(), strict=True)
        return [RoutedTruth(pair[side], side, answer, doubts) for pair, side, answer, doubts in found]

    def _resolved(self, formulas: Sequence[Expression]) -> list[Expression]:
        return [one.resolved for one in self.routed(formulas)]

    @property
    def schema(self) -> Schema:
        return self._formulas.schema

    @property
    def records(self) -> int:
        return self._records

    def masks(self, groups: Sequence[NDArray[np.bool_]]) -> Masks:
        return self._formulas.masks(groups)

    def evaluate(self, formulas: Sequence[Expression], wanted: NDArray[np.int64], masks: Masks) -> Tally:
        """Count the records of each mask on the true side; sizes are those of the given formulas."""
        some = [formulas[k] for k in wanted]
        tally = self._formulas.evaluate(self._resolved(some), np.arange(len(some)), masks)
        return tally._replace(size=np.array([e.terminals for e in some], np.int64))

    def shard_tally(self, formulas: Sequence[Expression], wanted: NDArray[np.int64], masks: Masks) -> ShardTally:
        return self._formulas.shard_tally(self._resolved(formulas), wanted, masks)

    def truth(self, formulas: Sequence[Expression]) -> NDArray[np.bool_]:
        return np.array([one.truth for one in self.routed(formulas)])

    def robustness(
        self, formulas: Sequence[Expression], cutoff: float | None = None, is_shard: bool = False
    ) -> NDArray[np.float64]:
        return self._formulas.robustness(self._resolved(formulas), cutoff, is_shard)

    def distinct(self, signal: Expression) -> NDArray[np.float64]:
        return self._formulas.distinct(signal)

    def turning_points(self, formulas: Sequence[Expression], atom: Atom) -> NDArray[np.float64]:
        return self._formulas.turning_points(self._resolved(formulas), atom)


class _Groups(NamedTuple):
    """Groups of records to count, as masks of the engine and as rows of 0 and 1."""

    masks: Masks
    rows: NDArray[np.int64]


class RoutedPopulations:
    """An evaluator of populations of a grammar; only formulas with a column in `may_be_missing` may be unknown."""

    def __init__(
        self,
        evaluator: PopulationEvaluatorProtocol,
        formulas: RoutedFormulas,
        grammar: Grammar,
        may_be_missing: Collection[str],
    ) -> None:
        self._engine, self._formulas, self._grammar = evaluator, formulas, grammar
        self._may_be_missing = np.array([_may_be_unknown(rule.template, may_be_missing) for rule in grammar.rules])

    @property
    def schema(self) -> Schema:
        return self._engine.schema

    def masks(self, groups: Sequence[NDArray[np.bool_]]) -> _Groups:
        rows = np.array(groups, np.int64).reshape(len(groups), self._formulas.records)
        return _Groups(self._engine.masks(groups), rows)

    def evaluate(self, formulas: Population, wanted: NDArray[np.int64], masks: _Groups) -> Tally:
        """Count the records of each group on the true side."""
        used = np.arange(formulas.rules.shape[1]) < formulas.lengths[wanted, None]
        may_be_missing = (self._may_be_missing[formulas.rules[wanted]] & used).any(axis=1)
        tally = self._engine.evaluate(formulas, wanted, masks.masks)  # replaced below where answers may be unknown
        for rows in self._parts(np.flatnonzero(may_be_missing)):
            derivations = [self._grammar.derivation(formulas, int(i)) for i in wanted[rows]]
            truth = self._formulas.truth([derivation.expression for derivation in derivations])
            true = np.count_nonzero(truth, axis=1)
            tally.counts[rows] = truth @ masks.rows.T
            tally.members[rows] = np.column_stack([true, np.minimum(true, truth.shape[1] - true)])
            tally.answer[rows] = [_hash(answers) for answers in truth]
        return tally

    def _parts(self, rows: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Yield some rows at a time."""
        step = max(1, _AT_A_TIME // max(1, self._formulas.records))
        return (rows[start : start + step] for start in range(0, len(rows), step))

    def shard_tally(self, formulas: Population, wanted: NDArray[np.int64], masks: _Groups) -> ShardTally:
        return ShardTally(self.evaluate(formulas, wanted, masks), None, self._formulas.records)

    def truth(self, formulas: Population) -> NDArray[np.bool_]:
        return self._formulas.truth(self._expressions(formulas))

    def robustness(
        self, formulas: Population, cutoff: float | None = None, is_shard: bool = False
    ) -> NDArray[np.float64]:
        return self._formulas.robustness(self._expressions(formulas), cutoff, is_shard)

    def _expressions(self, population: Population) -> list[Expression]:
        return [self._grammar.derivation(population, i).expression for i in range(len(population.lengths))]

    def distinct(self, signal: Expression) -> NDArray[np.float64]:
        return self._engine.distinct(signal)

    def signatures(self, conditions: Population) -> None:
        """Return None: where conditions may be unknown, those that hold at the same steps are not exchangeable."""

    def reach(self, conditions: Population, masks: _Groups) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self._engine.reach(conditions, masks.masks)


class RoutedObjective:
    """An objective without bounds for a search: the bounds of the other one take unknown for false."""

    def __init__(self, objective: SplitObjective) -> None:
        self._objective = objective

    @property
    def shorter_is_fitter(self) -> bool:
        """True if the longer of two formulas that split alike is never the fitter one."""
        return self._objective.shorter_is_fitter

    def __call__(self, population: Population, wanted: NDArray[np.int64]) -> Scores:
        return self._objective(population, wanted)


def _may_be_unknown(template: Expression, may_be_missing: Collection[str]) -> bool:
    """Return True if a formula with this part may be unknown; functions may return missing values of their own."""
    functions = any(isinstance(e.head, UserFunction) for e in template.walk())
    return functions or any(name in may_be_missing for name in template.attributes())


def _hash(answers: NDArray[np.bool_]) -> int:
    """Return a hash that is the same for all formulas that make the same split, whichever side they call true."""
    side = np.packbits(answers ^ answers[0]).tobytes()
    return int.from_bytes(blake2b(side, digest_size=8).digest(), "little")
