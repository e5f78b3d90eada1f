"""Chooses the question among formulas that a search found equally good."""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.grammar import Derivation, Grammar
from telltree.grammar.derivations.population import Population
from telltree.logic.asked import OfPopulations
from telltree.search import Found
from telltree.tree.fitness import Fitness, gain_of
from telltree.tree.target import Labels

_SHORT = 0.05  # seconds; after a shorter part, four times as many are done before the next look at the clock


class Ties(NamedTuple):
    """What decides between formulas that tie: a criterion, how many levels are below, and whether time is up."""

    criterion: Fitness
    levels: int
    late: Callable[[], bool]

    @property
    def shorter_first(self) -> bool:
        """Whether a shorter formula takes precedence over one with a wider margin."""
        return getattr(self.criterion, "shorter_first", False)


def chosen(found: Found, engine: OfPopulations, grammar: Grammar, labels: Labels, by: Ties) -> tuple[Derivation, float]:
    """Of the formulas that tie for the best, one that leaves the other levels of the tree enough room to tell kinds of
    records apart, if there is one; of those the shortest, if that comes first; then the one with the widest margin;
    then the smallest; then by text. Or the first that was found, if the criterion says so.
    """
    assert found.ties is not None
    assert found.best is not None
    if getattr(by.criterion, "ties", None) == "first":
        first = Population.of([found.best.derivation], grammar.has_random_constants)
        return found.best.derivation, float(engine.margins(first)[0])
    ties, size = _rivals(found.ties, engine, labels, by)
    brief = _brief(found, labels, by.criterion, size)
    if brief is not None:
        ties, _ = _rivals(brief, engine, labels, by)
    margins = _margins(engine, ties, by.late)
    widest = np.flatnonzero(margins == margins.max())
    derivations = [ties.derivation(int(i), grammar) for i in widest]
    return min(derivations, key=lambda d: (len(d), str(d))), float(margins.max())


def _rivals(tied: Population, engine: OfPopulations, labels: Labels, by: Ties) -> tuple[Population, int]:
    """Those of some formulas between which margins decide, and the size of the smallest."""
    kinds = labels.kinds()
    tally = engine.evaluate(tied, np.arange(len(tied.lengths)), engine.masks(kinds))
    rivals = _with_room(tally.counts, np.array([np.count_nonzero(kind) for kind in kinds], np.int64), by.levels)
    least = int(tally.size[rivals].min())
    if by.shorter_first:
        rivals = rivals[tally.size[rivals] == least]
    return tied.take(rivals), least


def _brief(found: Found, labels: Labels, criterion: Fitness, size: int) -> Population | None:
    """The formulas of the smallest size that are nearly as good as the best, if the criterion has a leniency; None if
    they are not smaller than `size`. Formulas below the criterion's `brief` size are not considered.
    """
    leniency = getattr(criterion, "leniency", 0.0)
    if not leniency:
        return None
    assert found.best is not None
    best = found.best.fitness
    gain = gain_of(criterion, labels.totals(), len(found.best.derivation), best)
    least = getattr(criterion, "brief", 0)
    for candidate, ties in found.by_size:
        if least <= len(candidate.derivation) < size and candidate.fitness <= best + leniency * gain:
            return ties
    return None


def _margins(engine: OfPopulations, ties: Population, late: Callable[[], bool]) -> NDArray[np.float64]:
    """The margins of formulas, of which only the widest need be exact; −1 for those not computed when it gets late."""
    margins, done, at_a_time = np.full(len(ties.lengths), -1.0), 0, 1
    while done < len(margins) and not (done and late()):
        part, began = np.arange(done, min(done + at_a_time, len(margins))), time.monotonic()
        margins[part] = engine.margins(ties.take(part), cutoff=max(0.0, margins.max()))
        done += len(part)
        at_a_time *= 4 if time.monotonic() - began < _SHORT else 1
    return margins


def _with_room(true: NDArray[np.int64], total: NDArray[np.int64], levels: int) -> NDArray[np.int64]:
    """Those splits of which neither side has more kinds than the levels below can tell apart if each sets one apart; if
    there is none, those for which halving at each level would do; and all if there is none of these either.

    Gini impurity does not see this: of eight classes, splitting off one is as good as splitting four from four.
    """
    most = np.maximum(np.count_nonzero(true, axis=1), np.count_nonzero(total - true, axis=1))
    for enough in (levels + 1, 1 << min(levels, 62)):
        if (most <= enough).any():
            return np.flatnonzero(most <= enough)
    return np.arange(len(true))
