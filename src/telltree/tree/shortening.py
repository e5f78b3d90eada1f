"""Short descriptions: what tells a leaf's training records from all others, without parts that do not matter for them.

Each question on the path to a leaf was chosen to split the records that reached it. Among all training records, some
answers, or parts of them, follow from the others. Without these, the description is true of the same training records;
for other records it may differ from the whole description.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.logic import Formula
from telltree.operators import Expression
from telltree.operators.rounding import rounded
from telltree.speech import cost
from telltree.speech.lists import joined
from telltree.speech.possible import Possible
from telltree.speech.terms import FALSE, TRUE, All, Always, HowOften, Says, Some, Sometime, Term
from telltree.speech.values import Interval, Reals
from telltree.tree.seen import Seen
from telltree.tree.tree import Branch, Tree, UnsureBranch
from telltree.tree.ways import Ways

_MOST_TRIED = 60  # shorter forms of one claim at a time
_DIGITS = (2, 3, 4)
_SAVED = 0.2  # share of the words; saving less is not worth a description that is exact only for these records


def short_formulas(tree: Tree, panel: Panel) -> list[Formula | None]:
    """For each leaf, in order, a formula with at least a fifth fewer words that is true of exactly its records here.

    None if none was found, if a question has a constant answer, if a grammar has its own words for a formula on the
    path, which may mention every part, or if an answer on it is unknown of some of its records.
    """
    return shortened(Ways(tree), Seen(tree, panel))


def shortened(ways: Ways, seen: Seen) -> list[Formula | None]:
    """The same, given the paths and the records."""
    work = _Shortening(ways, seen)
    own_words = [any(part.english is not None for claim in claims for part in claim.walk()) for claims in ways.claims]
    unsure = [any(_is_unsure(branch) for branch in branches) for _, branches in ways.tree.leaves]
    return [
        None if own or doubt or not claims else work.of(leaf)
        for leaf, (claims, own, doubt) in enumerate(zip(ways.claims, own_words, unsure, strict=True))
    ]


def _is_unsure(branch: Branch) -> bool:
    """Tell whether training records went this way of which the claim is unknown."""
    return isinstance(branch, UnsureBranch) and branch.takes_unknown and branch.node.doubt is not None


class _Shortening:
    def __init__(self, ways: Ways, seen: Seen) -> None:
        self._ways, self._seen = ways, seen
        tree = ways.tree
        self._answers = dict(zip((node.formula for node in tree.nodes), seen.answers, strict=True))

    def of(self, leaf: int) -> Formula | None:
        """A formula with fewer words for the records of a leaf, counted from 0."""
        _, branches = self._ways.tree.leaves[leaf]
        terms = [self._ways.term(claim) for claim in self._ways.claims[leaf]]
        if any(term in (TRUE, FALSE) for term in terms):
            return None  # it needs no words
        truth = np.array([self._answers[f] == answer for f, answer in branches])
        wanted: NDArray[np.bool_] = np.logical_and.reduce(truth)
        kept = list(range(len(terms)))
        for i in sorted(kept, key=lambda i: (-cost(terms[i]), i)):
            rest = [j for j in kept if j != i]
            if rest and np.array_equal(truth[rest].all(axis=0), wanted):
                kept = rest
        for i in sorted(kept, key=lambda i: (-cost(terms[i]), i)):
            open_to = np.logical_and.reduce(truth[[j for j in kept if j != i]])  # the rest is excluded already
            terms[i], truth[i] = self._without_parts(terms[i], truth[i], open_to, wanted)
        short = joined(All, [terms[i] for i in kept], self._ways.possible)
        return self._if_shorter(short, leaf, wanted)

    def _without_parts(
        self, term: Term, truth: NDArray[np.bool_], open_to: NDArray[np.bool_], wanted: NDArray[np.bool_]
    ) -> tuple[Term, NDArray[np.bool_]]:
        """The term without parts that change no answer among the records it must decide, and its answers for all
        records.

        The costliest parts are dropped first.
        """
        if np.array_equal(open_to, wanted):
            return term, truth
        while True:
            tried = [one for one in dict.fromkeys(_shorter(term, self._ways.possible)) if one not in (TRUE, FALSE)]
            now = cost(term)
            costs = {one: paid for one in tried if (paid := cost(one)) < now}
            tried = sorted(costs, key=costs.__getitem__)[:_MOST_TRIED]
            found = self._first_alike([self._ways.written(one) for one in tried], open_to, wanted)
            if found is None:
                return term, truth
            term, truth = tried[found[0]], found[1]

    def _first_alike(
        self, tried: list[Expression], open_to: NDArray[np.bool_], wanted: NDArray[np.bool_]
    ) -> tuple[int, NDArray[np.bool_]] | None:
        """The index of the first formula that is true of exactly the wanted records among those it must decide, and its
        answers for all records. The sample rules out most others quickly.
        """
        sample = self._seen.sample
        likely = ((sample.truth(tried) & open_to[sample.rows]) == wanted[sample.rows]).all(axis=1)
        for place in np.flatnonzero(likely).tolist():
            truth: NDArray[np.bool_] = self._seen.truth([tried[place]])[0]
            if np.array_equal(truth & open_to, wanted):
                return place, truth
        return None

    def _if_shorter(self, short: Term, leaf: int, wanted: NDArray[np.bool_]) -> Formula | None:
        """The formula with few digits, if it has a fifth fewer words than the whole."""
        whole, formula = self._ways.whole(leaf), self._ways.written(short)
        if cost(short) >= cost(whole):
            return None
        words = self._ways.words(self._ways.term(formula))
        fewer = words <= (1 - _SAVED) * self._ways.words(whole)
        return Formula(self._fewer_digits(formula, wanted)) if fewer else None

    def _fewer_digits(self, formula: Expression, wanted: NDArray[np.bool_]) -> Expression:
        """The formula with rounded constants, if its answers stay the same."""
        tried = [rounded(formula, digits) for digits in _DIGITS]
        found = self._first_alike(tried, np.ones_like(wanted), wanted)
        return formula if found is None else tried[found[0]]


def _shorter(term: Term, possible: Possible) -> Iterator[Term]:
    """The term with one part of a list, or one bound of an interval, left out."""
    match term:
        case All(parts) | Some(parts):
            for i, part in enumerate(parts):
                yield joined(type(term), (*parts[:i], *parts[i + 1 :]), possible)
                for other in _shorter(part, possible):
                    yield joined(type(term), (*parts[:i], other, *parts[i + 1 :]), possible)
        case Sometime(part) | Always(part):
            yield from (type(term)(other) for other in _shorter(part, possible) if other not in (TRUE, FALSE))
        case HowOften(part=part, times=times):
            yield from (HowOften(other, times) for other in _shorter(part, possible) if other not in (TRUE, FALSE))
        case Says(signal=signal, values=Reals() as values):
            yield from (Says(signal, other) for other in _fewer_bounds(values))


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
