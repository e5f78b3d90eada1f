"""Puts the best tree over a pool in the place of the one that was grown greedily."""

from collections.abc import Mapping, Sequence

import numpy as np

from telltree.grammar import Derivation
from telltree.grammar.derivation import Population
from telltree.tree.branch_and_bound import best_tree
from telltree.tree.criterion import TreeCost, whole_of
from telltree.tree.growth import Optimal
from telltree.tree.look_ahead import Bools, Questions, in_turn, pool_of, pooled
from telltree.tree.split_search import Backend, NodeTask, SplitResult, SplitSearch
from telltree.tree.tree import Leaf, Optimum

Answers = dict[int, SplitResult]
"""What came of each node, by its number."""


def regrown(
    greedy: Answers, settings: Optimal, split_search: SplitSearch, backend: Backend
) -> tuple[Answers, Optimum | None]:
    """The answers of all nodes of the best tree, and what is proved of it.

    `greedy` and None if nothing was found to choose from, or if Ctrl-C came.
    """
    whole, limits = whole_of(split_search.fitness, split_search.grammar, split_search.labels), split_search.limits
    questions = _questions(greedy, settings.pool, split_search, backend)
    if not questions.derivations:
        return greedy, None
    best = best_tree(
        pool_of(questions, split_search.labels, whole, limits.min_samples_leaf), limits.max_depth, split_search.stop
    )
    if best is None:
        return greedy, None
    proved = Optimum(
        levels=limits.max_depth,
        pool=len(questions.derivations),
        leaves=len(best.questions) + 1,
        compared=best.compared,
        left_out=best.left_out,
        cost=best.cost,
        greedy=_cost(greedy, whole, split_search),
        told_in=whole.told_in,
    )
    return _answers(best.questions, questions, greedy, split_search, backend), proved


def _questions(greedy: Answers, most: int, split_search: SplitSearch, backend: Backend) -> Questions:
    """The questions of the greedy tree, and then in turn the best that the searches of its nodes found."""

    def truth_of(derivations: Sequence[Derivation]) -> Bools:
        population = Population.of(derivations, split_search.grammar.has_random_constants)
        return backend.evaluator(np.arange(len(split_search.panel))).truth(population)

    nodes = [answer for _, answer in sorted(greedy.items())]
    asked = [answer.question.found for answer in nodes if answer.question is not None]
    found = [[one.derivation for one in node.search.runners_up] for node in nodes if node.search is not None]
    candidates = list(dict.fromkeys([*asked, *in_turn(found)]))
    return pooled(candidates, truth_of, most, split_search.limits.min_samples_leaf)


def _answers(
    asked: Mapping[int, int], questions: Questions, greedy: Answers, split_search: SplitSearch, backend: Backend
) -> Answers:
    """What comes of each node if it asks for this question of the pool; where greedy growth asks the same, that."""
    grown, pending = Answers(), [NodeTask(1, np.arange(len(split_search.panel)))]
    while pending:
        task = pending.pop()
        answer = SplitResult(Leaf(split_search.labels[task.members].summary()))
        if task.number in asked:
            wanted = questions.derivations[asked[task.number]]
            known = greedy.get(task.number, answer)
            answer = (
                known
                if _asks(known, wanted, task)
                else answer._replace(question=split_search.question(wanted, task, backend))
            )
        grown[task.number] = answer
        pending += task.below(answer)
    return grown


def _asks(answer: SplitResult, wanted: Derivation, task: NodeTask) -> bool:
    """Whether a node asked for this, of the same records."""
    asked = answer.question
    if asked is None or asked.found != wanted:
        return False
    return np.array_equal(np.sort(np.concatenate([asked.true, asked.false])), task.members)


def _cost(answers: Answers, whole: TreeCost, split_search: SplitSearch) -> float:
    """What a tree costs."""
    cost, pending = 0.0, [NodeTask(1, np.arange(len(split_search.panel)))]
    while pending:
        task = pending.pop()
        answer = answers[task.number]
        if answer.question is None:
            cost += whole.leaf(split_search.labels[task.members].totals())
        else:
            cost += whole.price(len(answer.question.found))
        pending += task.below(answer)
    return cost
