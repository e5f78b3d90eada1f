"""Shapes to look for: pieces of the records themselves, drawn at random."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.operators import Shape

SHARES = (0.1, 0.2, 0.4)
"""How long a piece is, as a share of a typical record."""
LEAST_STEPS, MOST_STEPS = 4, 64
SHAPES, MANY_SHAPES = "shapes", 200
"""What a user calls the default language with shapes, and how many it has."""
_SEED = 0  # the same records always give the same language
_MOST_WORK = 4_000_000_000  # numbers that are compared with shapes: some 20 s


def drawn_shapes(panel: Panel, name: str, labels: NDArray[Any] | None, number: int) -> list[Shape]:
    """At most so many shapes of a column, of several lengths, from records of all classes in turn.

    Pieces with missing values, and those that are flat, are none.
    """
    lengths, rng = _lengths(panel), np.random.default_rng(_SEED)
    order = _in_turn(len(panel), labels, rng)
    found: dict[Shape, None] = {}
    for i in range(number if lengths else 0):
        piece = _piece(panel, name, int(order[i % len(order)]), lengths[i % len(lengths)], rng)
        shape = None if piece is None else Shape.of(piece)
        if shape is not None:
            found[shape] = None
    return list(found)


def affordable(panel: Panel, number: int) -> int:
    """So many shapes, or as many as can be looked for in a short time; none where records are too short."""
    work = panel.steps * sum(_lengths(panel)) / len(SHARES)
    return min(number, int(_MOST_WORK / work)) if work else 0


def _lengths(panel: Panel) -> list[int]:
    """How many steps pieces have; none where records are too short for them."""
    typical = int(np.median(panel.lengths)) if len(panel) else 0
    wanted = [min(max(round(share * typical), LEAST_STEPS), MOST_STEPS) for share in SHARES]
    return [steps for steps in dict.fromkeys(wanted) if steps < typical]


def _in_turn(records: int, labels: NDArray[Any] | None, rng: np.random.Generator) -> NDArray[np.intp]:
    """The records in a random order, in which each class has its turn."""
    order = rng.permutation(records)
    turn = np.zeros(records)
    for label in () if labels is None else np.unique(labels):
        own = labels[order] == label  # type: ignore[index]  # there are labels, or no loop
        turn[own] = np.arange(own.sum())
    found: NDArray[np.intp] = order[np.argsort(turn, kind="stable")]
    return found


def _piece(panel: Panel, name: str, record: int, steps: int, rng: np.random.Generator) -> NDArray[np.float64] | None:
    """Some steps of a record in a row, from anywhere in it; None if it has fewer."""
    beyond = int(panel.lengths[record]) - steps
    if beyond < 0:
        return None
    first = int(rng.integers(beyond + 1))
    return panel[record : record + 1].stacked(name)[first : first + steps]
