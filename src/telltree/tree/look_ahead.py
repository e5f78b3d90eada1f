"""The pool of splits a tree may choose from, and the split that is best together with those below it."""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.engine.evaluator import OfPopulations
from telltree.grammar import Derivation
from telltree.grammar.derivation import Population
from telltree.search import SearchResult
from telltree.tree.branch_and_bound import Pool, best_two_levels
from telltree.tree.criterion import TreeCost
from telltree.tree.target import Labels

# ---- The pool: the questions between which trees may choose, each with other answers than the rest.

Bools = NDArray[np.bool_]
_AT_A_TIME = 256


class Questions(NamedTuple):
    """Some questions and their answers: questions × records."""

    derivations: list[Derivation]
    truth: Bools


def in_turn(lists: Sequence[Sequence[Derivation]]) -> Iterator[Derivation]:
    """The first of each list, then the second of each, and so on."""
    for row in zip_longest(*lists):
        yield from (one for one in row if one is not None)


def pooled(
    candidates: Sequence[Derivation], truth_of: Callable[[Sequence[Derivation]], Bools], most: int, least: int
) -> Questions:
    """The first `most` that answer differently, and leave at least so many records on either side.

    Of those that answer alike, whichever side they call true, the shortest of what was looked at is taken.
    """
    found: dict[bytes, tuple[Derivation, Bools]] = {}
    for start in range(0, len(candidates), _AT_A_TIME):
        some = candidates[start : start + _AT_A_TIME]
        for derivation, truth in zip(some, truth_of(some), strict=True):
            yes = int(np.count_nonzero(truth))
            if min(yes, len(truth) - yes) < max(1, least):
                continue
            key = np.packbits(truth ^ truth[0]).tobytes()
            if key not in found:
                if len(found) < most:
                    found[key] = derivation, truth
            elif len(derivation) < len(found[key][0]):
                found[key] = derivation, truth
        if len(found) == most:
            break
    return Questions([derivation for derivation, _ in found.values()], np.array([truth for _, truth in found.values()]))


def pool_of(questions: Questions, labels: Labels, whole: TreeCost, least: int) -> Pool:
    """The pool as arrays for compiled code, with the weights of the records."""
    groups, worth = labels.groups()
    kinds = len(groups) if worth is None else 0
    if worth is None:
        worth = np.eye(len(groups), dtype=np.int64)
    else:  # members are counted apart: weights may be counted bit by bit
        groups = [*groups, np.ones(len(labels), np.bool_)]
        worth = np.vstack([worth, np.zeros((1, worth.shape[1]), np.int64)])
    counted = np.array([1] * kinds if kinds else [0] * (len(groups) - 1) + [1])
    whole_records = bool(kinds) and whole.unit == 1
    return Pool(
        answers=_words(questions.truth),
        prices=np.array([whole.price(len(one)) for one in questions.derivations]),
        groups=_words(np.array(groups)),
        worth=worth,
        counted=counted,
        least=max(1, least),
        impurity=whole.impurity,
        unit=whole.unit,
        logs=_logs(len(labels), worth.shape[1]) if whole_records else np.empty((2, 0)),
    )


def _words(rows: Bools) -> NDArray[np.uint64]:
    """One bit for each Boolean, 64 to a word."""
    bytes_of = np.packbits(rows, axis=1, bitorder="little")
    room = np.zeros((len(rows), -(-bytes_of.shape[1] // 8) * 8), np.uint8)
    room[:, : bytes_of.shape[1]] = bytes_of
    return room.view(np.uint64)


def _logs(records: int, classes: int) -> NDArray[np.float64]:
    numbers = range(records + 1)
    return np.array([[math.lgamma(n + 1 / classes) for n in numbers], [math.lgamma(n + 1.0) for n in numbers]])


# ---- Look-ahead: the question of a node that is best together with the best question on each of its sides.


def best_ahead(
    first: Derivation,
    found: SearchResult,
    most: int,
    evaluator: OfPopulations,
    labels: Labels,
    *,
    cost: TreeCost,
    least: int,
) -> Derivation | None:
    """Of `first` and the best that were found, up to `most`, the question that costs least with those below it.

    None if it costs no less than to ask nothing. `first` goes before others that are as good.
    """

    def truth_of(derivations: Sequence[Derivation]) -> Bools:
        return evaluator.truth(Population.of(derivations, first.grammar.has_random_constants))

    candidates = list(dict.fromkeys([first, *(one.derivation for one in found.runners_up)]))
    questions = pooled(candidates, truth_of, most, least)
    if not questions.derivations:
        return None
    pool = pool_of(questions, labels, cost, least)
    _, best, _, _ = best_two_levels(pool.groups, pool, np.inf, np.zeros(2, np.int64))
    return None if best < 0 else questions.derivations[best]
