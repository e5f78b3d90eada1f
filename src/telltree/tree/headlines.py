"""Headlines: for each leaf the short formula that tells its records best from all others.

What describes a leaf exactly is often long. Each part of it, and each condition of "at some point A while B", is true
of all records of the leaf too, and of some others. Of those that can be said in few words, the one that is true of the
fewest others is the headline, and how many these are is told with it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.logic import Formula, truth_of
from telltree.operators import Expression
from telltree.operators.table import AND, NOT
from telltree.speech import expression_of, say, term_of
from telltree.speech.terms import All, Always, Sometime, Term
from telltree.tree.tree import Branch, Headline, Leaf, Node, Tree

WORDS = 15
_MOST = 24  # candidates of one leaf
_MOST_OTHERS = 0.5  # the share of other records that a headline may be true of; beyond it, it tells nothing
_MOST_LEAVES = 200  # a tree of more is not read leaf by leaf


def with_headlines(tree: Tree, panel: Panel) -> Tree:
    """The tree with a headline at each leaf, as far as there are short ones; `panel` has the training records."""
    if not tree.nodes or len(tree.leaves) > _MOST_LEAVES:
        return tree
    records = panel.aligned(tree.schema)
    clusters = tree.apply(panel)
    found = [_headline(tree, branches, records, clusters == n) for n, (_, branches) in enumerate(tree.leaves, 1)]
    waiting = iter(found)

    def below(node: Node | Leaf) -> Node | Leaf:
        if isinstance(node, Leaf):
            return replace(node, headline=next(waiting))
        return replace(node, true=below(node.true), false=below(node.false))

    return replace(tree, root=below(tree.root))


def _headline(tree: Tree, branches: Sequence[Branch], records: Panel, members: NDArray[np.bool_]) -> Headline | None:
    signed = [f.expression if truth else Expression(NOT, (f.expression,)) for f, truth in branches]
    if any(e.english is not None for claim in signed for e in claim.walk()):
        return None  # parts of what a grammar says in its own words are not said in others
    whole = reduce(lambda left, right: Expression(AND, (left, right)), signed)
    said = list(_sayable(term_of(whole, tree.missing, static=tree.static), tree))
    if not said:
        return None
    formulas = [expression_of(term, tree.missing) for term, _ in said]
    truth = truth_of(formulas, records)
    others = np.count_nonzero(truth & ~members, axis=1)
    best = min(range(len(said)), key=lambda i: (others[i], said[i][1], i))
    elsewhere = int(np.count_nonzero(~members))
    if others[best] > _MOST_OTHERS * elsewhere:
        return None
    return Headline(Formula(formulas[best]), int(others[best]), elsewhere)


def _sayable(term: Term, tree: Tree) -> Iterator[tuple[Term, int]]:
    """The term, if it is short, and short terms that follow from it, with the number of their words."""
    parts = list(dict.fromkeys(part for claim in _claims(term) for part in _weaker(claim)))
    singles = [(part, words) for part in parts if (words := _words(part, tree)) <= WORDS][:_MOST]
    exact = _words(term, tree)
    if exact <= WORDS:
        yield term, exact
    yield from singles
    pairs = ((All((a, b)), m + n + 1) for (a, m), (b, n) in combinations(singles, 2) if m + n + 1 <= WORDS)
    yield from list(pairs)[:_MOST]


def _claims(term: Term) -> tuple[Term, ...]:
    return term.parts if isinstance(term, All) else (term,)


def _weaker(claim: Term) -> Iterator[Term]:
    """What follows from a claim about a record: itself, and itself with fewer conditions."""
    yield claim
    match claim:
        case Sometime(All(parts)):
            for size in range(len(parts) - 1, 0, -1):
                yield from (Sometime(_all(some)) for some in combinations(parts, size))
        case Always(All(parts)):
            yield from map(Always, parts)


def _all(parts: tuple[Term, ...]) -> Term:
    return parts[0] if len(parts) == 1 else All(parts)


def _words(term: Term, tree: Tree) -> int:
    return len(say(term, tree.schema, step=tree.step, missing=tree.missing).split())
