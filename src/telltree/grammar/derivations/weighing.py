"""Compiled alias tables: choices between rules get other weights while a search runs."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, small

if TYPE_CHECKING:
    from telltree.grammar.grammar import Grammar

_WHOLE = np.uint64(1 << 32)


def own_shares(grammar: "Grammar") -> NDArray[np.float64]:
    """How likely each rule is among those of its symbol, by the weights that the grammar gives them."""
    weight, symbol = np.array([rule.weight for rule in grammar.rules], np.float64), grammar.tables.rule["symbol"][:-1]
    return np.asarray(weight / np.bincount(symbol, weight)[symbol])


class Weighing(NamedTuple):
    """Scratch memory for weighing rows of choices."""

    weight: NDArray[np.float64]
    queue: NDArray[np.int64]

    @classmethod
    def empty(cls, choices: int) -> "Weighing":
        """Room for rows of up to so many choices."""
        return cls(np.empty(choices), np.empty(choices, np.int64))


@small
def weigh(choice, start, size, weight, queue):
    """Make choices start … start + size − 1 as likely as these weights, one for each, which are used up.

    It is Walker's alias method, as in `rules.tables`, where a grammar's own weights are packed.
    """
    total = 0.0
    for k in range(size):
        total += weight[at(k)]
    light, heavy = 0, size  # choices below their equal share wait at the front of the queue, the others at its end
    for k in range(size):
        weight[at(k)] = weight[at(k)] / total * size if total > 0 else 1.0
        choice[at(start + k)].other, choice[at(start + k)].cut = choice[at(start + k)].rule, _WHOLE
        if weight[at(k)] < 1:
            queue[at(light)], light = k, light + 1
        else:
            heavy -= 1
            queue[at(heavy)] = k
    while light and heavy < size:
        light -= 1
        i, j = queue[at(light)], queue[at(heavy)]
        choice[at(start + i)].other = choice[at(start + j)].rule
        choice[at(start + i)].cut = np.uint64(np.round(weight[at(i)] * 2.0**32))
        weight[at(j)] -= 1 - weight[at(i)]
        if weight[at(j)] < 1:
            queue[at(light)], light, heavy = j, light + 1, heavy + 1
