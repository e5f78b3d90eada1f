"""Short descriptions: what tells a leaf's training records from all others, without what decides nothing for them.

Each question on the way to a leaf was chosen to split the records that came to it. Of all training records together,
some answers follow from the others, and so do parts of them. Without these, the description is true of the same
training records; of records yet to come it may be true where the whole is not, or the other way round.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.logic import Formula, truth_of
from telltree.operators import Expression
from telltree.operators.rounding import rounded
from telltree.operators.table import NOT
from telltree.speech import cost, expression_of, term_of
from telltree.speech.lists import joined
from telltree.speech.possible import Possible
from telltree.speech.terms import FALSE, TRUE, All, Always, HowOften, Says, Some, Sometime, Term
from telltree.speech.values import Interval, Reals
from telltree.tree.tree import Tree

_MOST_TRIED = 60  # shorter forms of one claim at a time
_DIGITS = (2, 3, 4)
_SAVED = 0.2  # of the words; for less, what is true of these records alone is not told


def short_formulas(tree: Tree, panel: Panel) -> list[Formula | None]:
    """For each leaf, in order, a formula of fewer words, by a fifth or more, that is true of just its records here.

    None where none was found, where a question settles itself, and where a grammar has words of its own for a formula
    on the way: they may speak of every part.
    """
    answers = dict(zip((node.formula for node in tree.nodes), tree.truth(panel), strict=True))
    work = _Shortening(tree, panel.aligned(tree.schema))
    found: list[Formula | None] = []
    for _, branches in tree.leaves:
        claims = [f.expression if truth else Expression(NOT, (f.expression,)) for f, truth in branches]
        if not claims or any(part.english is not None for claim in claims for part in claim.walk()):
            found.append(None)
            continue
        found.append(work.shortened(claims, np.array([answers[f] == truth for f, truth in branches])))
    return found


class _Shortening:
    def __init__(self, tree: Tree, records: Panel) -> None:
        self._tree, self._records = tree, records
        self._possible = Possible(tree.missing, tree.static)

    def shortened(self, claims: Sequence[Expression], truth: NDArray[np.bool_]) -> Formula | None:
        """What fewer words say, if all claims are true of these records together."""
        terms = [self._normal(claim) for claim in claims]
        if any(term in (TRUE, FALSE) for term in terms):
            return None  # no words of its own
        wanted: NDArray[np.bool_] = np.logical_and.reduce(truth)
        kept = list(range(len(terms)))
        for i in sorted(kept, key=lambda i: (-cost(terms[i]), i)):
            rest = [j for j in kept if j != i]
            if rest and np.array_equal(truth[rest].all(axis=0), wanted):
                kept = rest
        for i in sorted(kept, key=lambda i: (-cost(terms[i]), i)):
            open_to = np.flatnonzero(truth[[j for j in kept if j != i]].all(axis=0))  # all others are told apart
            terms[i] = self._without_parts(terms[i], open_to, wanted[open_to])
            truth[i] = self._answers([terms[i]], self._records)[0]
        whole = joined(All, [terms[i] for i in kept], self._possible)
        short = self._fewer_digits(expression_of(whole, self._tree.missing), wanted)
        words, before = (len(self._tree.says(*said).split()) for said in ([short], claims))
        return Formula(short) if words <= (1 - _SAVED) * before else None

    def _normal(self, claim: Expression) -> Term:
        return term_of(claim, self._tree.missing, static=self._tree.static)

    def _without_parts(self, term: Term, rows: NDArray[np.int64], wanted: NDArray[np.bool_]) -> Term:
        """The term without parts that change no answer for these records; what costs most goes first."""
        if wanted.all() or len(rows) == 0:
            return term
        records = self._records[rows]
        while True:
            tried = [one for one in dict.fromkeys(_shorter(term, self._possible)) if one not in (TRUE, FALSE)]
            tried = sorted((one for one in tried if cost(one) < cost(term)), key=cost)[:_MOST_TRIED]
            answers = self._answers(tried, records)
            alike = [one for one, truth in zip(tried, answers, strict=True) if np.array_equal(truth, wanted)]
            if not alike:
                return term
            term = alike[0]

    def _answers(self, terms: Sequence[Term], records: Panel) -> NDArray[np.bool_]:
        return truth_of([expression_of(term, self._tree.missing) for term in terms], records)

    def _fewer_digits(self, formula: Expression, wanted: NDArray[np.bool_]) -> Expression:
        tried = [rounded(formula, digits) for digits in _DIGITS]
        answers = truth_of(tried, self._records)
        return next((e for e, truth in zip(tried, answers, strict=True) if np.array_equal(truth, wanted)), formula)


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
