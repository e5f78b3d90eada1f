"""Headlines: for each leaf the short formula that tells its records best from all others.

What describes a leaf exactly is often long. Parts of it are true of all records of the leaf too, and of some others;
other short formulas about columns of the tree are true of most of them. A formula tells a leaf from the rest by how
much larger the share of the leaf's records is that it is true of than the share of all others. Where that is half of
them or more, and few words say it, the best such formula is the headline. Of how many records it is true is told with
it; these are the records that it was chosen by.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.logic import Formula, truth_of
from telltree.operators import Expression
from telltree.speech import expression_of, say
from telltree.speech.lists import joined
from telltree.speech.literals import subjects
from telltree.speech.possible import Possible
from telltree.speech.terms import All, Term
from telltree.tree.sayable import implied, nearly_asked
from telltree.tree.shortening import short_formulas
from telltree.tree.tree import Headline, Leaf, Node, Tree, are_siblings

WORDS = 15
APART = 0.5  # by how much the share of a leaf's records that a headline is true of exceeds that of all others
_BESIDE = 20.0  # percent of all records that all of the sibling's are worth
_UNSURE = 5.0  # percent of the records that a formula must set right if it does not follow from the leaf's own
_WORTH = 2.0  # percent of the records that a unit of cost must set right
_MOST_PAIRED = 20  # formulas of one leaf that are joined with each other
_MOST_SAID = 40  # formulas of one leaf whose words are counted
_MOST_ALIKE = 4  # formulas that answer alike
_SAVED = 5  # words that two sentences on one subject may save as one
_MOST_LEAVES = 200  # a tree of more is not read leaf by leaf
_AT_A_TIME = 256  # formulas whose answers are held as a byte a record


def with_headlines(tree: Tree, panel: Panel) -> Tree:
    """The tree with a headline and a short description at each leaf, as far as there are any.

    `panel` has the training records. No two headlines are true of the same ones, and those that tell a leaf from its
    sibling are preferred.
    """
    if not tree.nodes or len(tree.leaves) > _MOST_LEAVES:
        return tree
    found = _told_apart(_Choice(tree, panel))
    told = iter([(found.get(number), short) for number, short in enumerate(short_formulas(tree, panel), 1)])

    def below(node: Node | Leaf) -> Node | Leaf:
        if isinstance(node, Leaf):
            headline, short = next(told)
            return replace(node, headline=headline, short=short)
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
    about: frozenset[Hashable]
    """The subjects of what it says."""
    sure: bool
    """Whether it is true of every possible record of the leaf."""


class _Candidates:
    """Formulas, their answers for all records as bits, and of how many records of each leaf they are true."""

    def __init__(self, formulas: Sequence[_Candidate], answers: NDArray[np.uint8], true: NDArray[np.int64]) -> None:
        self.formulas, self.answers, self.true = formulas, answers, true

    def distinct(self) -> "_Candidates":
        """Of formulas that answer alike the cheapest few: which has the fewest words is yet to be seen."""
        alike: dict[bytes, list[int]] = {}
        for i in sorted(range(len(self.formulas)), key=lambda i: self.formulas[i].cost):
            alike.setdefault(self.answers[i].tobytes(), []).append(i)
        return self.at(sorted(i for places in alike.values() for i in places[:_MOST_ALIKE]))

    def at(self, places: Sequence[int]) -> "_Candidates":
        """Those at some places."""
        return _Candidates([self.formulas[i] for i in places], self.answers[places], self.true[places])

    def __add__(self, other: "_Candidates") -> "_Candidates":
        answers = np.concatenate((self.answers, other.answers))
        return _Candidates([*self.formulas, *other.formulas], answers, np.concatenate((self.true, other.true)))


class _Choice:
    """What could be the headline of each leaf of a tree, by its training records."""

    def __init__(self, tree: Tree, panel: Panel) -> None:
        self.tree = tree
        self._records = panel.aligned(tree.schema)
        clusters = tree.apply(panel)
        self._leaves = (clusters[:, None] == np.arange(1, len(tree.leaves) + 1)).astype(np.float32)
        self._support = np.count_nonzero(self._leaves, axis=0)
        self._possible = Possible(tree.missing, tree.static)
        self._lengths: dict[Term, int] = {}

    def offers(self, number: int) -> Iterator[tuple[float, bytes, Headline]]:
        """Headlines for a leaf, the best first, each with what speaks against it, and its answers."""
        members, elsewhere = self._support[number - 1], len(self._records) - self._support[number - 1]
        if not members or not elsewhere:
            return
        _, branches = self.tree.leaves[number - 1]
        singles = self._candidates(implied(self.tree, branches), sure=True) + self._others
        order, _ = self._ranked(singles, number)
        short = (i for i in order if self._words(singles.formulas[i].parts[0]) < WORDS)
        every = singles + self._pairs(singles.at(list(islice(short, _MOST_PAIRED))))
        order, against = self._ranked(every, number)
        missed, others = self._wrong(every, number)
        told = members - missed >= (others / elsewhere + APART) * members
        sayable = (i for i in order if told[i] and self._may_be_short(every.formulas[i]))
        for i in islice(sayable, _MOST_SAID):
            one = joined(All, every.formulas[i].parts, self._possible)
            formula = Formula(expression_of(one, self.tree.missing))
            if len(self.tree.says(formula.expression).split()) <= WORDS:
                headline = Headline(formula, int(others[i]), int(elsewhere), int(missed[i]))
                yield float(against[i]), every.answers[i].tobytes(), headline

    @cached_property
    def _others(self) -> _Candidates:
        return self._candidates(nearly_asked(self.tree, self._records), sure=False).distinct()

    def _candidates(self, terms: dict[Term, int], *, sure: bool) -> _Candidates:
        expressions = [expression_of(term, self.tree.missing) for term in terms]
        formulas = [_Candidate((term,), paid, frozenset(subjects(term)), sure) for term, paid in terms.items()]
        starts = range(0, len(expressions), _AT_A_TIME)
        return self._with_answers(formulas, (self._truth(expressions[i : i + _AT_A_TIME]) for i in starts))

    def _truth(self, expressions: Sequence[Expression]) -> NDArray[np.bool_]:
        return truth_of(expressions, self._records)

    def _with_answers(self, formulas: Sequence[_Candidate], parts: Iterator[NDArray[np.bool_]]) -> _Candidates:
        """Formulas with their answers, which come a few formulas at a time."""
        answers = [np.zeros((0, -(-len(self._records) // 8)), np.uint8)]
        true = [np.zeros((0, len(self._support)), np.int64)]
        for part in parts:
            answers.append(np.packbits(part, axis=1))
            true.append(np.rint(part.astype(np.float32) @ self._leaves).astype(np.int64))
        return _Candidates(formulas, np.concatenate(answers), np.concatenate(true))

    def _pairs(self, singles: _Candidates) -> _Candidates:
        pairs = list(combinations(range(len(singles.formulas)), 2))
        formulas = [_both(singles.formulas[a], singles.formulas[b]) for a, b in pairs]
        truth = np.unpackbits(singles.answers, axis=1, count=len(self._records)).astype(np.bool_)
        some = (np.array(pairs[i : i + _AT_A_TIME]) for i in range(0, len(pairs), _AT_A_TIME))
        return self._with_answers(formulas, (truth[each[:, 0]] & truth[each[:, 1]] for each in some))

    def _wrong(self, candidates: _Candidates, number: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many of a leaf's records each formula misses, and of how many others it is true."""
        inside = candidates.true[:, number - 1]
        return self._support[number - 1] - inside, candidates.true.sum(axis=1) - inside

    def _ranked(self, candidates: _Candidates, number: int) -> tuple[list[int], NDArray[np.float64]]:
        """The places of formulas by how well they tell a leaf from the others, and what speaks against each."""
        members, beside = self._support[number - 1], self._sibling(number)
        missed, others = self._wrong(candidates, number)
        against = 100 * (missed / members + others / (len(self._records) - members))
        against += np.array([_WORTH * one.cost + _UNSURE * (not one.sure) for one in candidates.formulas])
        if beside is not None:
            against += _BESIDE * candidates.true[:, beside - 1] / max(1, self._support[beside - 1])
        return np.argsort(against, kind="stable").tolist(), against

    def _sibling(self, number: int) -> int | None:
        """The number of the leaf on the other side of the same question, if there is one."""
        ways = {n: way for n, (_, way) in enumerate(self.tree.leaves, 1)}
        return next((n for n in (number - 1, number + 1) if n in ways and are_siblings(ways[n], ways[number])), None)

    def _may_be_short(self, one: _Candidate) -> bool:
        """Whether it may have few words; two sentences on one subject may become one."""
        return sum(map(self._words, one.parts)) <= WORDS + _SAVED * (len(one.about) < len(one.parts))

    def _words(self, term: Term) -> int:
        if term not in self._lengths:
            said = say(term, self.tree.schema, step=self.tree.step, missing=self.tree.missing)
            self._lengths[term] = len(said.split())
        return self._lengths[term]


def _both(a: _Candidate, b: _Candidate) -> _Candidate:
    return _Candidate((*a.parts, *b.parts), a.cost + b.cost, a.about | b.about, a.sure and b.sure)
