"""Puts the best tree over a pool in the place of the one that was grown greedily."""

from collections.abc import Mapping, Sequence

import numpy as np

from telltree.grammar import Derivation
from telltree.grammar.derivation import Population
from telltree.tree.branch_and_bound import best_tree
from telltree.tree.criterion import TreeCost, whole_of
from telltree.tree.growth import Optimal
from telltree.tree.look_ahead import Bools, Questions, in_turn, pool_of, pooled
from telltree.tree.split_search import Asking, Bench, NodeTask, SplitResult
from telltree.tree.tree import Leaf, Optimum

Answers = dict[int, SplitResult]
"""What came of each node, by its number."""


def regrown(greedy: Answers, settings: Optimal, asking: Asking, bench: Bench) -> tuple[Answers, Optimum | None]:
    """The answers of all nodes of the best tree, and what is proved of it.

    `greedy` and None if nothing was found to choose from, or if Ctrl-C came.
    """
    whole, limits = whole_of(asking.fitness, asking.grammar, asking.labels), asking.limits
    questions = _questions(greedy, settings.pool, asking, bench)
    if not questions.derivations:
        return greedy, None
    best = best_tree(pool_of(questions, asking.labels, whole, limits.min_members), limits.max_depth, asking.stop)
    if best is None:
        return greedy, None
    proved = Optimum(
        levels=limits.max_depth,
        pool=len(questions.derivations),
        leaves=len(best.questions) + 1,
        compared=best.compared,
        left_out=best.left_out,
        cost=best.cost,
        greedy=_cost(greedy, whole, asking),
        told_in=whole.told_in,
    )
    return _answers(best.questions, questions, greedy, asking, bench), proved


def _questions(greedy: Answers, most: int, asking: Asking, bench: Bench) -> Questions:
    """The questions of the greedy tree, and then in turn the best that the searches of its nodes found."""

    def truth_of(derivations: Sequence[Derivation]) -> Bools:
        population = Population.of(derivations, asking.grammar.has_random_constants)
        return bench.engine(np.arange(len(asking.panel))).truth(population)

    nodes = [answer for _, answer in sorted(greedy.items())]
    asked = [answer.question.found for answer in nodes if answer.question is not None]
    found = [[one.derivation for one in node.search.runners_up] for node in nodes if node.search is not None]
    candidates = list(dict.fromkeys([*asked, *in_turn(found)]))
    return pooled(candidates, truth_of, most, asking.limits.min_members)


def _answers(asked: Mapping[int, int], questions: Questions, greedy: Answers, asking: Asking, bench: Bench) -> Answers:
    """What comes of each node if it asks for this question of the pool; where greedy growth asks the same, that."""
    grown, pending = Answers(), [NodeTask(1, np.arange(len(asking.panel)))]
    while pending:
        task = pending.pop()
        answer = SplitResult(Leaf(asking.labels[task.members].summary()))
        if task.number in asked:
            wanted = questions.derivations[asked[task.number]]
            known = greedy.get(task.number, answer)
            answer = (
                known if _asks(known, wanted, task) else answer._replace(question=asking.question(wanted, task, bench))
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


def _cost(answers: Answers, whole: TreeCost, asking: Asking) -> float:
    """What a tree costs."""
    cost, pending = 0.0, [NodeTask(1, np.arange(len(asking.panel)))]
    while pending:
        task = pending.pop()
        answer = answers[task.number]
        if answer.question is None:
            cost += whole.leaf(asking.labels[task.members].totals())
        else:
            cost += whole.price(len(answer.question.found))
        pending += task.below(answer)
    return cost
