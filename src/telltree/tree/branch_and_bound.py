"""The best trees over a pool of formulas, by branch and bound, on one bit for each answer and record."""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, kernel, popcount, small
from telltree.engine.evaluator import PopulationEvaluatorProtocol
from telltree.grammar import Derivation
from telltree.grammar.derivation import Population
from telltree.search import SearchResult
from telltree.tree.criterion import TreeCost
from telltree.tree.target import Labels

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

Bools = NDArray[np.bool_]
Words = NDArray[np.uint64]
_AT_A_TIME = 256


class Pool(NamedTuple):
    """Formulas to choose from, as arrays for kernels, and the weights of the records."""

    answers: Words
    """Formulas × words: a bit for each record, set where the formula is true."""
    prices: NDArray[np.float64]
    """The cost of each formula."""
    groups: Words
    """Groups × words: a bit for each record of a group. Records of a group are counted together."""
    worth: NDArray[np.int64]
    """Groups × classes: what a record of a group adds to the weight of a class."""
    counted: NDArray[np.int64]
    """For each group 1 if its records are members, 0 if it only adds weight. Each record is a member of one group."""
    least: int
    """The fewest members on each side of a split."""
    impurity: float
    unit: float
    """See `TreeCost`."""
    logs: NDArray[np.float64]
    """lgamma(n + 1/classes) and lgamma(n + 1) for each number n of records, if only whole numbers occur."""


class BestTree(NamedTuple):
    """The tree that costs least."""

    cost: float
    splits: dict[int, int]
    compared: int
    """The number of splits of a node that were compared."""
    left_out: int
    """The number of formulas left out, because with them even leaves of one class each would cost too much."""


def best_tree(pool: Pool, levels: int, stop: Callable[[], bool] = bool) -> BestTree | None:
    """Return the tree of up to so many levels, 1 to 3, that costs least; None if `stop` came first."""
    tally = np.zeros(2, np.int64)
    if levels == 1:
        cost, first = best_split(pool.groups, pool)
        return BestTree(cost, _numbered(1, (first,)), len(pool.answers), 0)
    cost, *found = best_two_levels(pool.groups, pool, np.inf, tally)
    best = BestTree(cost, _numbered(1, found), 0, 0)
    if levels > 2:
        deeper = _three_levels(pool, best, tally, stop)
        if deeper is None:
            return None
        best = deeper
    return best._replace(compared=int(tally[0]), left_out=int(tally[1]))


def _three_levels(pool: Pool, best: BestTree, tally: NDArray[np.int64], stop: Callable[[], bool]) -> BestTree | None:
    """Return the best tree of three levels, or `best` if none costs less; formulas that split best are tried first."""
    yes_floors, no_floors, order = (np.empty(len(pool.prices)) for _ in range(3))
    _floors(pool, yes_floors, no_floors, order)
    for a in np.argsort(order, kind="stable").tolist():
        if stop():
            return None
        if not np.isfinite(order[a]):
            continue  # a side has too few members
        rest = best.cost - pool.prices[a]
        if yes_floors[a] + no_floors[a] >= rest:
            tally[1] += 1
            continue
        limit = rest - no_floors[a]
        yes, *on_yes = best_two_levels(pool.groups & pool.answers[a], pool, limit, tally)
        if yes >= limit:
            continue
        no, *on_no = best_two_levels(pool.groups & ~pool.answers[a], pool, rest - yes, tally)
        if no < rest - yes:
            splits = {1: a} | _numbered(2, on_yes) | _numbered(3, on_no)
            best = best._replace(cost=float(pool.prices[a] + yes + no), splits=splits)
    return best


def _numbered(root: int, found) -> dict[int, int]:
    """Return the formula of each node, by number as in a heap, given those of a node and of its two sides."""
    numbers = (root, 2 * root, 2 * root + 1)
    return {number: int(formula) for number, formula in zip(numbers, found, strict=False) if formula >= 0}


def best_ahead(
    first: Derivation,
    found: SearchResult,
    most: int,
    evaluator: PopulationEvaluatorProtocol,
    labels: Labels,
    *,
    cost: TreeCost,
    least: int,
) -> Derivation | None:
    """Return the formula that costs least together with the best one on each of its sides.

    The choice is among `first` and the best that the search found, up to `most`. None if no split costs less than a
    leaf. `first` goes before others that are as good.
    """

    def truth_of(derivations: Sequence[Derivation]) -> Bools:
        return evaluator.truth(Population.of(derivations, first.grammar.has_random_constants))

    candidates = list(dict.fromkeys([first, *(one.derivation for one in found.runners_up)]))
    formulas = distinct_splits(candidates, truth_of, most, least)
    if not formulas.derivations:
        return None
    pool = pool_of(formulas, labels, cost, least)
    _, best, _, _ = best_two_levels(pool.groups, pool, np.inf, np.zeros(2, np.int64))
    return None if best < 0 else formulas.derivations[best]


# ---- The pool: formulas to choose from, which all split differently.


class PooledFormulas(NamedTuple):
    """Formulas and their answers: formulas × records."""

    derivations: list[Derivation]
    truth: Bools


def in_turn(lists: Sequence[Sequence[Derivation]]) -> Iterator[Derivation]:
    """Yield the first of each list, then the second of each, and so on."""
    for row in zip_longest(*lists):
        yield from (one for one in row if one is not None)


def distinct_splits(
    candidates: Sequence[Derivation], truth_of: Callable[[Sequence[Derivation]], Bools], most: int, least: int
) -> PooledFormulas:
    """Return the first `most` formulas that split differently, with at least `least` records on either side.

    Of those that split alike, whichever side they call true, the shortest of what was considered is taken.
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
    return PooledFormulas(
        [derivation for derivation, _ in found.values()], np.array([truth for _, truth in found.values()])
    )


def pool_of(formulas: PooledFormulas, labels: Labels, whole: TreeCost, least: int) -> Pool:
    """Return the pool as arrays for compiled code, with the weights of the records."""
    groups, worth = labels.groups()
    kinds = len(groups) if worth is None else 0
    if worth is None:
        worth = np.eye(len(groups), dtype=np.int64)
    else:  # members are a group of their own: weights may be counted bit by bit
        groups = [*groups, np.ones(len(labels), np.bool_)]
        worth = np.vstack([worth, np.zeros((1, worth.shape[1]), np.int64)])
    counted = np.array([1] * kinds if kinds else [0] * (len(groups) - 1) + [1])
    whole_records = bool(kinds) and whole.unit == 1
    return Pool(
        answers=_words(formulas.truth),
        prices=np.array([whole.price(len(one)) for one in formulas.derivations]),
        groups=_words(np.array(groups)),
        worth=worth,
        counted=counted,
        least=max(1, least),
        impurity=whole.impurity,
        unit=whole.unit,
        logs=_logs(len(labels), worth.shape[1]) if whole_records else np.empty((2, 0)),
    )


def _words(rows: Bools) -> NDArray[np.uint64]:
    """Return one bit for each Boolean, 64 to a word."""
    bytes_of = np.packbits(rows, axis=1, bitorder="little")
    room = np.zeros((len(rows), -(-bytes_of.shape[1] // 8) * 8), np.uint8)
    room[:, : bytes_of.shape[1]] = bytes_of
    return room.view(np.uint64)


def _logs(records: int, classes: int) -> NDArray[np.float64]:
    numbers = range(records + 1)
    return np.array([[math.lgamma(n + 1 / classes) for n in numbers], [math.lgamma(n + 1.0) for n in numbers]])


# ---- Kernels.


@small
def _leaf_cost(weights, pool):
    """Return the cost of a leaf with these class weights: its Gini impurity, or the bits that encode its labels."""
    classes, whole = len(weights), np.int64(0)
    if pool.unit == 0:
        squares = 0.0
        for k in range(classes):
            whole += weights[k]
            squares += np.float64(weights[k]) ** 2
        return pool.impurity * (whole - squares / whole) if whole else 0.0
    coded, share = 0.0, 1.0 / classes
    for k in range(classes):
        whole += weights[k]
        if weights[k] > 0:
            if pool.logs.shape[1]:
                coded += pool.logs[0, weights[k]] - pool.logs[0, 0]
            else:
                coded += math.lgamma(weights[k] * pool.unit + share) - math.lgamma(share)
    known = pool.logs[1, whole] if pool.logs.shape[1] else math.lgamma(whole * pool.unit + 1.0)
    return (known - coded) / math.log(2.0)


@small
def _least_cost(weights, pool, cheapest):
    """Return a lower bound of the cost of a tree for such records: one leaf, or one formula and a leaf for each class.

    A leaf of several classes costs no less than one of each, and two leaves of one class no less than one of both.
    """
    alone, parts = np.zeros_like(weights), cheapest
    for k in range(len(weights)):
        alone[k] = weights[k]
        parts += _leaf_cost(alone, pool)
        alone[k] = 0
    return min(parts, _leaf_cost(weights, pool))


@small
def _weigh(counts, pool, weights):
    """Set the weight of each class among records that are counted by groups; return the number of members."""
    weights[:] = 0
    members = 0
    for g in range(len(counts)):
        members += counts[g] * pool.counted[g]
        for k in range(len(weights)):
            weights[k] += counts[g] * pool.worth[g, k]
    return members


@small
def _count(inside, answer, counts):
    """Count the records of each group that are in both bitsets."""
    for g in range(len(counts)):
        own, found = inside[g], 0
        for word in range(len(answer)):
            found += popcount(own[at(word)] & answer[at(word)])
        counts[g] = found


@small
def _split_cost(yes, no, pool, weights):
    """Return the cost of two leaves, given their counts by groups; infinity if one has too few members."""
    if _weigh(yes, pool, weights) < pool.least:
        return np.inf
    cost = _leaf_cost(weights, pool)
    if _weigh(no, pool, weights) < pool.least:
        return np.inf
    return cost + _leaf_cost(weights, pool)


@kernel
def best_split(inside, pool):
    """Return the least cost of these records with up to one formula, and its position (−1: none)."""
    groups, classes = pool.worth.shape
    totals, yes, weights = np.empty(groups, np.int64), np.empty(groups, np.int64), np.empty(classes, np.int64)
    _count(inside, np.full(inside.shape[1], ~np.uint64(0)), totals)
    _weigh(totals, pool, weights)
    best, chosen = _leaf_cost(weights, pool), -1
    for a in range(len(pool.answers)):
        _count(inside, pool.answers[a], yes)
        cost = pool.prices[a] + _split_cost(yes, totals - yes, pool, weights)
        if cost < best:
            best, chosen = cost, a
    return best, chosen


@kernel
def best_two_levels(inside, pool, limit, tally):
    """Return the least cost of these records with up to two levels, if it is below `limit`; else at least that.

    Also returns the first formula and those on its two sides (−1: none). `tally` adds up what was compared, and what
    was left out. A record inside is on one of four sides of two formulas: how many are on the first is counted, the
    others follow.
    """
    (groups, classes), number = pool.worth.shape, len(pool.answers)
    there, totals, both = np.empty((number, groups), np.int64), np.empty(groups, np.int64), np.empty(groups, np.int64)
    weights, within = np.empty(classes, np.int64), np.empty_like(inside)
    _count(inside, np.full(inside.shape[1], ~np.uint64(0)), totals)
    for a in range(number):
        _count(inside, pool.answers[a], there[a])
    _weigh(totals, pool, weights)
    cheapest, first, on_yes, on_no = pool.prices.min(), -1, -1, -1
    best = min(limit, _leaf_cost(weights, pool))
    for a in range(number):
        if _weigh(there[a], pool, weights) < pool.least:
            continue
        floor, yes = _least_cost(weights, pool, cheapest), _leaf_cost(weights, pool)
        if _weigh(totals - there[a], pool, weights) < pool.least:
            continue
        floor, no = floor + _least_cost(weights, pool, cheapest), _leaf_cost(weights, pool)
        if pool.prices[a] + floor >= best:
            tally[1] += 1
            continue
        for g in range(groups):
            for word in range(inside.shape[1]):
                within[g, word] = inside[g, word] & pool.answers[a, word]
        of_yes, of_no = -1, -1
        for b in range(number):
            _count(within, pool.answers[b], both)
            cost = pool.prices[b] + _split_cost(both, there[a] - both, pool, weights)
            if cost < yes:
                yes, of_yes = cost, b
            beside = there[b] - both
            cost = pool.prices[b] + _split_cost(beside, totals - there[a] - beside, pool, weights)
            if cost < no:
                no, of_no = cost, b
        tally[0] += 2 * number
        if pool.prices[a] + yes + no < best:
            best, first, on_yes, on_no = pool.prices[a] + yes + no, a, of_yes, of_no
    return best, first, on_yes, on_no


@kernel
def _floors(pool, yes_floors, no_floors, order):
    """Set lower bounds of the cost of both sides of each formula, and the cost of both sides as leaves."""
    groups, classes = pool.worth.shape
    totals, yes, weights = np.empty(groups, np.int64), np.empty(groups, np.int64), np.empty(classes, np.int64)
    _count(pool.groups, np.full(pool.groups.shape[1], ~np.uint64(0)), totals)
    cheapest = pool.prices.min()
    for a in range(len(pool.answers)):
        _count(pool.groups, pool.answers[a], yes)
        order[a] = pool.prices[a] + _split_cost(yes, totals - yes, pool, weights)
        _weigh(yes, pool, weights)
        yes_floors[a] = _least_cost(weights, pool, cheapest)
        _weigh(totals - yes, pool, weights)
        no_floors[a] = _least_cost(weights, pool, cheapest)
