"""Headlines: for each leaf the short formula that tells its records best from all others.

What describes a leaf exactly is often long. Parts of it are true of all records of the leaf too, and of some others.
Of those that can be said in few words, one that is true of few others is the headline. If there is none, a short
formula about columns of the tree may be true of most of its records, of few others, and not of most of its sibling's.
Of how many records it is true is told with it; these are the records that it was chosen by.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import combinations, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.logic import Formula, truth_of
from telltree.speech import expression_of, say
from telltree.speech.lists import joined
from telltree.speech.possible import Possible
from telltree.speech.terms import All, Term
from telltree.tree.sayable import implied, nearly_asked
from telltree.tree.tree import Headline, Leaf, Node, Tree, are_siblings

WORDS = 15
LEAST_MEMBERS = 0.8  # the share of a leaf's records that a headline must be true of
_MOST_OTHERS = 0.25  # the share of other records that a headline may be true of; beyond it, it tells nothing
_MOST_BESIDE = 0.5  # the share of the sibling's records that a formula which does not follow may be true of
_BESIDE = 20.0  # percent of all records that all of the sibling's are worth
_WORTH = 2.0  # percent of the records that a unit of cost must set right
_MOST_PAIRED = 40  # formulas of one leaf that are joined with each other
_MOST_SAID = 10  # formulas of one leaf whose words are counted
_MOST_LEAVES = 200  # a tree of more is not read leaf by leaf
_SECOND_CHOICE = 1000.0


def with_headlines(tree: Tree, panel: Panel) -> Tree:
    """The tree with a headline at each leaf, as far as there are short ones; `panel` has the training records.

    No two are true of the same records, and those that tell a leaf from its sibling are preferred.
    """
    if not tree.nodes or len(tree.leaves) > _MOST_LEAVES:
        return tree
    found = _told_apart(_Choice(tree, panel))
    numbers = iter(range(1, len(tree.leaves) + 1))

    def below(node: Node | Leaf) -> Node | Leaf:
        if isinstance(node, Leaf):
            return replace(node, headline=found.get(next(numbers)))
        return replace(node, true=below(node.true), false=below(node.false))

    return replace(tree, root=below(tree.root))


def _told_apart(choice: "_Choice") -> dict[int, Headline]:
    """The best headline for each leaf, by its number; of leaves that want the same, the one it suits best has it."""
    offers = {number: choice.offers(number) for number in range(1, len(choice.tree.leaves) + 1)}
    waiting = [(offer, number) for number in offers if (offer := next(offers[number], None)) is not None]
    found: dict[int, Headline] = {}
    taken: set[bytes] = set()
    while waiting:
        best = min(waiting, key=lambda one: (one[0][0], one[1]))
        waiting.remove(best)
        (_, answers, headline), number = best
        if answers not in taken:
            taken.add(answers)
            found[number] = headline
        elif (offer := next(offers[number], None)) is not None:
            waiting.append((offer, number))
    return found


class _Candidate(NamedTuple):
    parts: tuple[Term, ...]
    """One term, or two that are to be true together."""
    cost: int
    columns: frozenset[str]
    truth: NDArray[np.bool_]


class _Choice:
    """What could be the headline of each leaf of a tree, by its training records."""

    def __init__(self, tree: Tree, panel: Panel) -> None:
        self.tree = tree
        self._records, self._clusters = panel.aligned(tree.schema), tree.apply(panel)
        self._possible = Possible(tree.missing, tree.static)
        self._lengths: dict[Term, int] = {}

    def offers(self, number: int) -> Iterator[tuple[float, bytes, Headline]]:
        """Headlines for a leaf, the best first, each with what speaks against it, and its answers."""
        _, branches = self.tree.leaves[number - 1]
        yield from self._ranked(self._candidates(implied(self.tree, branches)), number, 0.0)
        yield from self._ranked(self._others, number, _SECOND_CHOICE)

    @cached_property
    def _others(self) -> list[_Candidate]:
        return self._candidates(nearly_asked(self.tree, self._records))

    def _candidates(self, terms: dict[Term, int]) -> list[_Candidate]:
        expressions = [expression_of(term, self.tree.missing) for term in terms]
        answers = truth_of(expressions, self._records)
        return [
            _Candidate((term,), paid, frozenset(e.attributes()), truth)
            for (term, paid), e, truth in zip(terms.items(), expressions, answers, strict=True)
        ]

    def _ranked(
        self, candidates: list[_Candidate], number: int, start: float
    ) -> Iterator[tuple[float, bytes, Headline]]:
        here, beside = self._clusters == number, self._clusters == self._sibling(number)
        if not candidates or here.all() or not here.any():
            return
        singles = _Ranking(candidates, here, beside)
        best = [candidates[i] for i in singles.order[:_MOST_PAIRED]]
        pairs = [_both(a, b) for a, b in combinations(best, 2)]
        ranking = _Ranking([*(candidates[i] for i in singles.order), *pairs], here, beside)
        sayable = (i for i in ranking.good(distinct=start > 0) if self._may_be_short(ranking.candidates[i]))
        for i in islice(sayable, _MOST_SAID):
            one = ranking.candidates[i]
            formula = Formula(expression_of(joined(All, one.parts, self._possible), self.tree.missing))
            if len(self.tree.says(formula.expression).split()) <= WORDS:
                counts = int(ranking.others[i]), int(np.count_nonzero(~here)), int(ranking.missed[i])
                yield start + float(ranking.against[i]), one.truth.tobytes(), Headline(formula, *counts)

    def _sibling(self, number: int) -> int | None:
        """The number of the leaf on the other side of the same question, if there is one."""
        ways = {n: way for n, (_, way) in enumerate(self.tree.leaves, 1)}
        return next((n for n in (number - 1, number + 1) if n in ways and are_siblings(ways[n], ways[number])), None)

    def _may_be_short(self, one: _Candidate) -> bool:
        """Whether it may have few words; two sentences about one column may become one."""
        return sum(map(self._words, one.parts)) <= WORDS or len(one.columns) < len(one.parts)

    def _words(self, term: Term) -> int:
        if term not in self._lengths:
            said = say(term, self.tree.schema, step=self.tree.step, missing=self.tree.missing)
            self._lengths[term] = len(said.split())
        return self._lengths[term]


def _both(a: _Candidate, b: _Candidate) -> _Candidate:
    return _Candidate((*a.parts, *b.parts), a.cost + b.cost, a.columns | b.columns, a.truth & b.truth)


class _Ranking:
    """Candidates by how well they tell some records from all others; of those that answer alike, the cheapest."""

    def __init__(self, candidates: list[_Candidate], here: NDArray[np.bool_], beside: NDArray[np.bool_]) -> None:
        self.candidates = candidates
        truth, costs = np.array([one.truth for one in candidates]), np.array([one.cost for one in candidates])
        members, elsewhere = np.count_nonzero(here), np.count_nonzero(~here)
        self.missed = members - np.count_nonzero(truth[:, here], axis=1)
        self.others = np.count_nonzero(truth[:, ~here], axis=1)
        next_door = np.count_nonzero(truth[:, beside], axis=1) / max(1, np.count_nonzero(beside))
        wrong = self.missed / members + self.others / elsewhere
        self.against = 100 * wrong + _BESIDE * next_door + _WORTH * costs
        enough, few = members - self.missed >= LEAST_MEMBERS * members, self.others <= _MOST_OTHERS * elsewhere
        self._fits, self._distinct = enough & few, next_door <= _MOST_BESIDE
        _, alike = np.unique(np.packbits(truth, axis=1), axis=0, return_inverse=True)
        first: dict[int, int] = {}
        for i in np.argsort(self.against, kind="stable").tolist():
            first.setdefault(int(alike.ravel()[i]), i)
        self.order = list(first.values())

    def good(self, *, distinct: bool) -> Iterator[int]:
        """The places of those that may be headlines, the best first; `distinct`: if they tell it from its sibling."""
        return (i for i in self.order if self._fits[i] and (self._distinct[i] or not distinct))
