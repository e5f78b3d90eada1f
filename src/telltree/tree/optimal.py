"""The best tree over a pool of formulas, which replaces the one that was grown greedily."""

from collections.abc import Mapping, Sequence

import numpy as np

from telltree.grammar import Derivation
from telltree.grammar.derivation import Population
from telltree.tree.backend import Backend
from telltree.tree.branch_and_bound import Bools, PooledFormulas, best_tree, distinct_splits, in_turn, pool_of
from telltree.tree.criterion import TreeCost, tree_cost
from telltree.tree.split_search import NodeTask, SplitResult, SplitSearch
from telltree.tree.tree import Leaf, Optimum

Results = dict[int, SplitResult]
"""The results of nodes, by number."""


def optimal_splits(greedy: Results, split_search: SplitSearch, backend: Backend) -> tuple[Results, Optimum | None]:
    """Return the results of all nodes of the best tree, and the proof that it is the best.

    If there was nothing to choose from, or Ctrl-C came, the greedy results and None.
    """
    settings = split_search.settings
    cost = tree_cost(settings.criterion, split_search.grammar, split_search.labels)
    formulas = _pool_formulas(greedy, split_search, backend)
    if not formulas.derivations:
        return greedy, None
    pool = pool_of(formulas, split_search.labels, cost, settings.min_samples_leaf)
    best = best_tree(pool, settings.max_depth, split_search.stop)
    if best is None:
        return greedy, None
    proof = Optimum(
        levels=settings.max_depth,
        pool=len(formulas.derivations),
        leaves=len(best.splits) + 1,
        compared=best.compared,
        left_out=best.left_out,
        cost=best.cost,
        greedy=_cost(greedy, cost, split_search),
        told_in=cost.told_in,
    )
    return _results(best.splits, formulas, greedy, split_search, backend), proof


def _pool_formulas(greedy: Results, split_search: SplitSearch, backend: Backend) -> PooledFormulas:
    """Pool the formulas of the greedy tree, and then in turn the best formulas that its searches found."""

    def truth_of(derivations: Sequence[Derivation]) -> Bools:
        population = Population.of(derivations, split_search.grammar.has_random_constants)
        return backend.evaluator(np.arange(len(split_search.panel))).truth(population)

    settings = split_search.settings
    nodes = [result for _, result in sorted(greedy.items())]
    chosen = [result.split.derivation for result in nodes if result.split is not None]
    found = [[one.derivation for one in node.search.runners_up] for node in nodes if node.search is not None]
    candidates = list(dict.fromkeys([*chosen, *in_turn(found)]))
    return distinct_splits(candidates, truth_of, settings.pool, settings.min_samples_leaf)


def _results(
    best: Mapping[int, int], formulas: PooledFormulas, greedy: Results, split_search: SplitSearch, backend: Backend
) -> Results:
    """Return the results of the nodes split by these formulas of the pool; the greedy result where it is the same."""
    results, pending = Results(), [NodeTask(1, np.arange(len(split_search.panel)))]
    while pending:
        task = pending.pop()
        result = SplitResult(Leaf(split_search.labels[task.members].summary()))
        if task.number in best:
            wanted = formulas.derivations[best[task.number]]
            known = greedy.get(task.number, result)
            if _splits_by(known, wanted, task):
                result = known
            else:
                result = result._replace(split=split_search.split(wanted, task, backend))
        results[task.number] = result
        pending += task.children(result)
    return results


def _splits_by(result: SplitResult, wanted: Derivation, task: NodeTask) -> bool:
    """Return True if a node splits the same records by this formula."""
    split = result.split
    if split is None or split.derivation != wanted:
        return False
    return np.array_equal(np.sort(np.concatenate([split.true, split.false])), task.members)


def _cost(results: Results, cost: TreeCost, split_search: SplitSearch) -> float:
    """Return the cost of a tree."""
    total, pending = 0.0, [NodeTask(1, np.arange(len(split_search.panel)))]
    while pending:
        task = pending.pop()
        result = results[task.number]
        if result.split is None:
            total += cost.leaf(split_search.labels[task.members].totals())
        else:
            total += cost.price(len(result.split.derivation))
        pending += task.children(result)
    return total
