"""Look-ahead: the question of a node that is best together with the best question on each of its sides."""

from collections.abc import Sequence

import numpy as np

from telltree.grammar import Derivation
from telltree.grammar.derivations.population import Population
from telltree.logic.asked import OfPopulations
from telltree.search import Found
from telltree.tree.growth.best import best_two_levels
from telltree.tree.growth.pool import Bools, pool_of, pooled
from telltree.tree.growth.whole import Whole
from telltree.tree.target import Labels


def best_ahead(
    first: Derivation, found: Found, most: int, engine: OfPopulations, labels: Labels, *, whole: Whole, least: int
) -> Derivation | None:
    """Of `first` and the best that were found, up to `most`, the question that costs least with those below it.

    None if it costs no less than to ask nothing. `first` goes before others that are as good.
    """

    def truth_of(derivations: Sequence[Derivation]) -> Bools:
        return engine.truth(Population.of(derivations, first.grammar.has_random_constants))

    candidates = list(dict.fromkeys([first, *(one.derivation for one in found.runners_up)]))
    questions = pooled(candidates, truth_of, most, least)
    if not questions.derivations:
        return None
    pool = pool_of(questions, labels, whole, least)
    _, best, _, _ = best_two_levels(pool.groups, pool, np.inf, np.zeros(2, np.int64))
    return None if best < 0 else questions.derivations[best]
