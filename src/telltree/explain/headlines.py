"""Headlines and short descriptions: for each leaf, a few words that distinguish its records from others."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, cached_property
from heapq import heappop, heappush
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.engine import Formula
from telltree.engine.three_valued import surely
from telltree.english import cost, repeats, say
from telltree.english.terms import (
    FALSE,
    TRUE,
    And,
    CountIn,
    Domains,
    Eventually,
    Globally,
    Or,
    Term,
    ValueIn,
    joined,
    subjects,
)
from telltree.english.value_sets import Interval, Reals
from telltree.explain.candidates import Bounds, DecisionPaths, TrainingRecords, implied, related_terms, short
from telltree.logic import Expression
from telltree.logic.expression import rounded
from telltree.panel import Panel
from telltree.tree.tree import Branch, Condition, Headline, Leaf, Node, Tree, UnsureBranch, are_siblings

# ---- Short descriptions: paths to leaves without the parts that make no difference to the training records.
#
# Each split on the path to a leaf was chosen for the records that reached it. Among all training records, some splits
# on the path, or parts of them, follow from the others. Without these, the description is true for the same training
# records; for other records it may differ from the whole description.

_MOST_TRIED = 60  # shorter forms of one claim at a time
_DIGITS = (2, 3, 4)
_WORTH_SAVING = 0.2  # share of the words; less is not worth a description that is exact only for training records


def short_formulas(paths: DecisionPaths, training: TrainingRecords) -> list[Formula | None]:
    """Return, for each leaf in order, a formula with a fifth fewer words that is true for exactly its records.

    It is None if none was found, if a split is constant, if a formula on the path has a grammar's own phrase, which may
    mention every part, or if a split on the path is unknown for some of the leaf's records.
    """
    work = _Shortening(paths, training)
    own_words = [any(part.english is not None for claim in claims for part in claim.walk()) for claims in paths.claims]
    unsure = [any(_is_unsure(branch) for branch in branches) for _, branches in paths.tree.leaves]
    return [
        None if own or doubt or not claims else work.of(leaf)
        for leaf, (claims, own, doubt) in enumerate(zip(paths.claims, own_words, unsure, strict=True))
    ]


def _is_unsure(branch: Branch) -> bool:
    """Return True if training records took this branch for which its formula is unknown."""
    return isinstance(branch, UnsureBranch) and branch.takes_unknown and branch.node.unknown_note is not None


class _Shortening:
    def __init__(self, paths: DecisionPaths, training: TrainingRecords) -> None:
        self._paths, self._training = paths, training
        tree = paths.tree
        self._answers = dict(zip((node.formula for node in tree.nodes), training.answers, strict=True))

    def of(self, leaf: int) -> Formula | None:
        """Return a formula with fewer words for the records of a leaf, counted from 0, or None."""
        _, branches = self._paths.tree.leaves[leaf]
        terms = [self._paths.term(claim) for claim in self._paths.claims[leaf]]
        if any(term in (TRUE, FALSE) for term in terms):
            return None  # constant terms have no words
        truth = np.array([self._answers[f] == answer for f, answer in branches])
        wanted: NDArray[np.bool_] = np.logical_and.reduce(truth)
        kept = list(range(len(terms)))
        for i in sorted(kept, key=lambda i: (-cost(terms[i]), i)):
            rest = [j for j in kept if j != i]
            if rest and np.array_equal(truth[rest].all(axis=0), wanted):
                kept = rest
        for i in sorted(kept, key=lambda i: (-cost(terms[i]), i)):
            open_to = np.logical_and.reduce(truth[[j for j in kept if j != i]])  # other terms exclude the rest
            terms[i], truth[i] = self._without_parts(terms[i], truth[i], open_to, wanted)
        short = joined(And, [terms[i] for i in kept], self._paths.domains)
        return self._if_shorter(short, leaf, wanted)

    def _without_parts(
        self, term: Term, truth: NDArray[np.bool_], open_to: NDArray[np.bool_], wanted: NDArray[np.bool_]
    ) -> tuple[Term, NDArray[np.bool_]]:
        """Drop parts of a term, the costliest first, that change nothing for the records `open_to` it.

        Return the term and its truth for all records.
        """
        if np.array_equal(open_to, wanted):
            return term, truth
        while True:
            tried = [one for one in dict.fromkeys(_shorter(term, self._paths.domains)) if one not in (TRUE, FALSE)]
            now = cost(term)
            costs = {one: paid for one in tried if (paid := cost(one)) < now}
            tried = sorted(costs, key=costs.__getitem__)[:_MOST_TRIED]
            found = self._first_alike([self._paths.written(one) for one in tried], open_to, wanted)
            if found is None:
                return term, truth
            term, truth = tried[found[0]], found[1]

    def _first_alike(
        self, tried: list[Expression], open_to: NDArray[np.bool_], wanted: NDArray[np.bool_]
    ) -> tuple[int, NDArray[np.bool_]] | None:
        """Find the first formula that is true for exactly the wanted records among those `open_to` it.

        Return its index and its truth for all records. The sample rules out most others quickly.
        """
        sample = self._training.sample
        likely = ((sample.truth(tried) & open_to[sample.rows]) == wanted[sample.rows]).all(axis=1)
        for place in np.flatnonzero(likely).tolist():
            truth: NDArray[np.bool_] = self._training.truth([tried[place]])[0]
            if np.array_equal(truth & open_to, wanted):
                return place, truth
        return None

    def _if_shorter(self, short: Term, leaf: int, wanted: NDArray[np.bool_]) -> Formula | None:
        """Return the formula with few digits if it has a fifth fewer words than the whole path, else None."""
        whole, formula = self._paths.whole(leaf), self._paths.written(short)
        if cost(short) >= cost(whole):
            return None
        words = self._paths.words(self._paths.term(formula))
        fewer = words <= (1 - _WORTH_SAVING) * self._paths.words(whole)
        return Formula(self._fewer_digits(formula, wanted)) if fewer else None

    def _fewer_digits(self, formula: Expression, wanted: NDArray[np.bool_]) -> Expression:
        """Round the constants of a formula as far as its truth stays the same."""
        tried = [rounded(formula, digits) for digits in _DIGITS]
        found = self._first_alike(tried, np.ones_like(wanted), wanted)
        return formula if found is None else tried[found[0]]


def _shorter(term: Term, domains: Domains) -> Iterator[Term]:
    """Yield the term without one part of a list, or without one bound of an interval."""
    match term:
        case And(parts) | Or(parts):
            for i, part in enumerate(parts):
                yield joined(type(term), (*parts[:i], *parts[i + 1 :]), domains)
                for other in _shorter(part, domains):
                    yield joined(type(term), (*parts[:i], other, *parts[i + 1 :]), domains)
        case Eventually(part) | Globally(part):
            yield from (type(term)(other) for other in _shorter(part, domains) if other not in (TRUE, FALSE))
        case CountIn(part=part, times=times):
            yield from (CountIn(other, times) for other in _shorter(part, domains) if other not in (TRUE, FALSE))
        case ValueIn(signal=signal, values=Reals() as values):
            yield from (ValueIn(signal, other) for other in _fewer_bounds(values))


def _fewer_bounds(values: Reals) -> Iterator[Reals]:
    intervals, missing = values.intervals, values.missing
    if missing and intervals:
        yield Reals(intervals, False)
    if len(intervals) > 1:
        yield from (Reals((*intervals[:i], *intervals[i + 1 :]), missing) for i in range(len(intervals)))
    elif intervals and intervals[0].bounded_below and intervals[0].bounded_above:
        (one,) = intervals
        yield Reals((Interval(one.low, with_low=one.with_low),), missing)
        yield Reals((Interval(high=one.high, with_high=one.with_high),), missing)


# ---- Headlines: for each leaf the short formula that best separates its records from all others.
#
# An exact description of a leaf is often long. Parts of it are also true for all records of the leaf, and for some
# others; other short formulas about columns of the tree are true for most of them. A formula separates a leaf by the
# share of the leaf's records for which it is true, minus the share of all other records. If that is at least one half,
# and the formula takes few words, the best such formula is the headline. It is chosen by a sample of the records
# (`explain/candidates.py`); the counts that are reported with it are over all records.

WORDS = 15
APART = 0.5  # least difference between a headline's share of the leaf's records and its share of all others
_BESIDE = 20.0  # penalty, in percent of all records, for being true for all records of the sibling
_UNSURE = 5.0  # penalty, in percent of the records, if the formula does not follow from the leaf's own
_WORTH = 2.0  # penalty, in percent of the records, for each unit of cost
_MOST_RANKED = 300  # formulas that are not specific to one leaf
_MOST_PAIRED = 20  # formulas of one leaf to join in pairs
_MOST_WORDED = 40  # formulas of one leaf whose words are counted
_MOST_ALIKE = 4  # formulas with equal truth
_SAVED = 5  # words by which a sentence, or two on one subject, may be shorter than their parts
_MOST_LEAVES = 200  # larger trees are not read leaf by leaf


def with_headlines(tree: Tree, panel: Panel) -> Tree:
    """Add a headline and a short description to each leaf of a tree for which they are found.

    `panel` has the training records. No two headlines are true for the same ones, and those that separate a leaf from
    its sibling are preferred.
    """
    if not tree.nodes or len(tree.leaves) > _MOST_LEAVES:
        return tree
    paths, training = DecisionPaths(tree), TrainingRecords(tree, panel)
    found = _assigned(_HeadlineChooser(paths, training))
    described = iter([(found.get(number), short) for number, short in enumerate(short_formulas(paths, training), 1)])
    occurring, numbers = _Occurring(paths, training), iter(range(len(tree.leaves)))

    def below(node: Node | Leaf) -> Node | Leaf:
        if isinstance(node, Leaf):
            headline, short = next(described)
            return replace(
                node, headline=headline, short=short, conditions=occurring.of(next(numbers), headline, short)
            )
        return replace(node, true=below(node.true), false=below(node.false))

    return replace(tree, root=below(tree.root))


class _Occurring:
    """Counts of the records in which the conditions of sentences about leaves occur."""

    def __init__(self, paths: DecisionPaths, training: TrainingRecords) -> None:
        self._paths, self._training = paths, training
        self._conditions = cache(paths.tree.conditions)
        self._true = cache(lambda formula: training.true(formula)[1])

    def of(self, leaf: int, headline: Headline | None, short: Formula | None) -> tuple[Condition, ...]:
        """Return the conditions of all sentences about a leaf, counted from 0."""
        own = (headline.formula.expression if headline is not None else None, short.expression if short else None)
        path = self._paths.claims[leaf]
        sentences = [path, *([claim] for claim in (*path, *own) if claim is not None)]
        found = dict.fromkeys(chain.from_iterable(self._conditions(*claims) for claims in sentences))
        return tuple(Condition(Formula(formula), int(self._true(formula)[leaf])) for formula in found)


def _assigned(choice: "_HeadlineChooser") -> dict[int, Headline]:
    """Assign headlines to leaves, by their numbers; a headline that suits several goes to the leaf it suits best."""
    headlines = {number: choice.headlines(number) for number in range(1, len(choice.paths.tree.leaves) + 1)}
    waiting = [(offer, number) for number in headlines if (offer := next(headlines[number], None)) is not None]
    found: dict[int, Headline] = {}
    taken: set[bytes] = set()
    while waiting:
        best = min(waiting, key=lambda one: (one[0][0], one[1]))
        waiting.remove(best)
        (_, answers, headline), number = best
        if answers not in taken:
            taken.add(answers)
            found[number] = headline
        elif (offer := next(headlines[number], None)) is not None:
            waiting.append((offer, number))
    return found


class _Candidates(NamedTuple):
    """Candidates for headlines, in columns."""

    parts: list[tuple[Term, ...]]
    """One term for each candidate, or two that must both be true."""
    costs: NDArray[np.int64]
    sure: NDArray[np.bool_]
    """True for candidates that follow from the path to the leaf."""
    answers: NDArray[np.uint8]
    """Truth on the sample, as bits."""
    true: NDArray[np.float64]
    """Number of records of each leaf for which they are true, estimated from the sample."""

    def distinct(self) -> "_Candidates":
        """Select the cheapest few of the candidates with equal truth: their words are counted only later."""
        alike: dict[bytes, list[int]] = {}
        for i in np.argsort(self.costs, kind="stable").tolist():
            alike.setdefault(self.answers[i].tobytes(), []).append(i)
        return self.at(np.array(sorted(i for places in alike.values() for i in places[:_MOST_ALIKE]), np.int64))

    def at(self, places: NDArray[np.int64]) -> "_Candidates":
        """Select candidates by their indices."""
        parts = [self.parts[i] for i in places.tolist()]
        return _Candidates(parts, self.costs[places], self.sure[places], self.answers[places], self.true[places])

    def joined(self, other: "_Candidates") -> "_Candidates":
        """Append other candidates."""
        return _Candidates(
            [*self.parts, *other.parts],
            np.concatenate((self.costs, other.costs)),
            np.concatenate((self.sure, other.sure)),
            np.concatenate((self.answers, other.answers)),
            np.concatenate((self.true, other.true)),
        )


class _HeadlineChooser:
    """Chooses headlines for the leaves of a tree by its training records."""

    def __init__(self, paths: DecisionPaths, training: TrainingRecords) -> None:
        self.paths, self._training = paths, training

    def headlines(self, number: int) -> Iterator[tuple[float, bytes, Headline]]:
        """Yield headlines for a leaf, the best first, each with its penalty and its packed truth."""
        members = int(self._training.support[number - 1])
        elsewhere = len(self._training.records) - members
        if not members or not elsewhere:
            return
        others = self._others.at(np.argsort(self._penalties(self._others, number), kind="stable")[:_MOST_RANKED])
        singles = self._implied(number).joined(others)
        order = np.argsort(self._penalties(singles, number), kind="stable").tolist()
        short = (i for i in order if self.paths.estimated_words(singles.parts[i][0]) < WORDS)
        every = singles.joined(self._pairs(singles.at(np.array(list(islice(short, _MOST_PAIRED)), np.int64))))
        penalties = self._penalties(every, number)
        separating = _separates(every.true, number, members, elsewhere)
        order = np.argsort(penalties, kind="stable").tolist()
        sayable = (i for i in order if separating[i] and self._may_have_few_words(every.parts[i]))
        waiting: list[tuple[float, int, bytes, Headline]] = []  # headlines that are vacuous for some records
        for i in self._shortest_first(list(islice(sayable, _MOST_WORDED)), every):
            formula = self._in_few_words(every.parts[i], number)
            if formula is None:
                continue
            truth, true = self._training.true(formula.expression)
            inside, empty = int(true[number - 1]), self._vacuously_true(formula, truth, number)
            true[number - 1] -= empty
            if not _separates(true, number, members, elsewhere):
                continue
            headline = Headline(formula, int(true.sum()) - inside + empty, elsewhere, members - inside)
            heappush(waiting, (float(penalties[i]) + 100 * empty / members, i, np.packbits(truth).tobytes(), headline))
            while waiting and waiting[0][0] <= penalties[i]:
                penalty, _, answers, headline = heappop(waiting)
                yield penalty, answers, headline
        for penalty, _, answers, headline in sorted(waiting, key=lambda offer: offer[:2]):
            yield penalty, answers, headline

    def _vacuously_true(self, formula: Formula, truth: NDArray[np.bool_], number: int) -> int:
        """Count the records of a leaf for which a formula is vacuously true, as its condition never occurs in them."""
        conditions = self.paths.tree.conditions(formula.expression)
        if not conditions:
            return 0
        occurs = self._training.truth(conditions).all(axis=0)
        return int(np.count_nonzero(truth & ~occurs & (self._training.clusters == number)))

    def _shortest_first(self, places: list[int], every: _Candidates) -> list[int]:
        """Reorder indices so that of candidates with equal truth, the one with the fewest words comes first."""
        alike: dict[bytes, list[int]] = {}
        for i in places:
            alike.setdefault(every.answers[i].tobytes(), []).append(i)

        def words(i: int) -> float:
            return _WORTH * sum(map(self.paths.estimated_words, every.parts[i])) + _UNSURE * (not every.sure[i])

        return [i for same in alike.values() for i in sorted(same, key=words)]

    def _implied(self, number: int) -> _Candidates:
        terms = self._own[number - 1]
        answers = self._own_answers[np.array([self._own_places[term] for term in terms], np.int64)]
        return self._candidates(list(terms), list(terms.values()), answers, sure=True)

    @cached_property
    def _own(self) -> list[dict[Term, int]]:
        """Terms that follow from the path to each leaf, with their costs."""
        paths = self.paths
        return [implied(paths.whole(leaf), claims, paths.domains) for leaf, claims in enumerate(paths.claims)]

    @cached_property
    def _own_places(self) -> dict[Term, int]:
        return {term: place for place, term in enumerate(dict.fromkeys(chain.from_iterable(self._own)))}

    @cached_property
    def _own_answers(self) -> NDArray[np.uint8]:
        sample = self._training.sample
        return sample.packed(sample.truth([self.paths.written(term) for term in self._own_places]))

    @cached_property
    def _others(self) -> _Candidates:
        """Candidates for any leaf: terms and their negations, and bounds on signals."""
        sample, domains = self._training.sample, self.paths.domains
        terms, signals = related_terms(self.paths.tree, int(self._training.records.lengths.max()))
        truth = sample.truth([self.paths.written(term) for term in terms])
        chosen: list[Term] = []
        costs: list[int] = []
        answers = []
        for sides, found in ((terms, truth), ([domains.negated(term) for term in terms], ~truth)):
            kept, places = short(sides), {term: place for place, term in enumerate(sides)}
            chosen += kept
            costs += kept.values()
            answers.append(found[np.array([places[term] for term in kept], np.int64)])
        bounds = Bounds(sample, domains)
        for alike, found in chain.from_iterable(map(bounds.of, signals)):
            chosen += alike
            costs += [cost(term) for term in alike[:1]] * len(alike)
            answers.append(found)
        return self._candidates(chosen, costs, sample.packed(np.concatenate(answers)), sure=False).distinct()

    def _candidates(
        self, terms: list[Term], costs: list[int], answers: NDArray[np.uint8], *, sure: bool
    ) -> _Candidates:
        true, all_sure = self._training.sample.true(answers), np.full(len(terms), sure)
        return _Candidates([(term,) for term in terms], np.array(costs, np.int64), all_sure, answers, true)

    def _pairs(self, singles: _Candidates) -> _Candidates:
        first, second = np.triu_indices(len(singles.parts), 1)
        answers = singles.answers[first] & singles.answers[second]
        return _Candidates(
            [singles.parts[a] + singles.parts[b] for a, b in zip(first.tolist(), second.tolist(), strict=True)],
            singles.costs[first] + singles.costs[second],
            singles.sure[first] & singles.sure[second],
            answers,
            self._training.sample.true(answers),
        )

    def _penalties(self, candidates: _Candidates, number: int) -> NDArray[np.float64]:
        """Return the penalties of candidates as the headline of a leaf."""
        true, costs, sure = candidates.true, candidates.costs, candidates.sure
        members, beside = self._training.support[number - 1], self._sibling(number)
        inside = true[:, number - 1]
        others = true.sum(axis=1) - inside
        penalties = 100 * ((members - inside) / members + others / (len(self._training.records) - members))
        penalties += _WORTH * costs + _UNSURE * ~sure
        if beside is not None:
            penalties += _BESIDE * true[:, beside - 1] / max(1, self._training.support[beside - 1])
        found: NDArray[np.float64] = penalties
        return found

    def _sibling(self, number: int) -> int | None:
        """Return the number of the leaf on the other branch of the same split, or None."""
        leaves = {n: branches for n, (_, branches) in enumerate(self.paths.tree.leaves, 1)}
        beside = (n for n in (number - 1, number + 1) if n in leaves)
        return next((n for n in beside if are_siblings(leaves[n], leaves[number])), None)

    def _may_have_few_words(self, parts: tuple[Term, ...]) -> bool:
        """Return True if a candidate may take few words; a sentence on one subject may be shorter than its parts."""
        words = sum(map(self.paths.estimated_words, parts))
        if words <= WORDS or words > WORDS + _SAVED:
            return words <= WORDS
        return len(parts) == 1 or len(set().union(*map(subjects, parts))) < len(parts)

    def _in_few_words(self, parts: tuple[Term, ...], number: int) -> Formula | None:
        """Return the formula if it takes few words and does not repeat a branch on the path with other digits."""
        tree = self.paths.tree
        formula = self.paths.written(joined(And, parts, self.paths.domains))
        if tree.three_valued:  # headlines are certain
            formula = self.paths.written(self.paths.term(surely(formula)))
        term = self.paths.term(formula)
        if self.paths.words(term) > WORDS:
            return None
        text = say(term, tree.schema, step=tree.step, missing=tree.missing)
        branches = [self._branch_text(claim) for claim in self.paths.claims[number - 1]]
        repeated = text not in branches and any(repeats(text, branch) for branch in branches)
        return Formula(formula) if len(text.split()) <= WORDS and not repeated else None

    @cached_property
    def _branch_text(self) -> Callable[[Expression], str]:
        return cache(self.paths.tree.sentence)


def _separates(true: NDArray[Any], number: int, members: int, elsewhere: int) -> NDArray[np.bool_]:
    """Return True for formulas that separate a leaf, given the number of records of each leaf that satisfy them."""
    inside = true[..., number - 1]
    found: NDArray[np.bool_] = inside >= ((true.sum(axis=-1) - inside) / elsewhere + APART) * members
    return found
