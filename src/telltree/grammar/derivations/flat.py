"""Populations as flat arrays, and back: what comes back is checked, since compiled code trusts it blindly."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from telltree.grammar.derivations.growing import deepest
from telltree.grammar.derivations.population import Population
from telltree.grammar.rules.tables import Tables

if TYPE_CHECKING:
    from telltree.grammar.grammar import Grammar


def flat(population: Population) -> dict[str, NDArray[Any]]:
    """The rules of all rows one after the other, without what stands behind the end of a row."""
    used = np.arange(population.rules.shape[1]) < population.lengths[:, None]
    constants = population.constants[used] if population.constants.shape[1] else np.empty(0)
    return {
        "rules": population.rules[used],
        "constants": constants,
        "lengths": population.lengths.copy(),
        "names": population.names.copy(),
    }


def unflat(
    rules: NDArray[np.int32],
    constants: NDArray[np.float64],
    lengths: NDArray[np.int64],
    names: NDArray[np.uint64],
    *,
    grammar: "Grammar",
    max_depth: int,
) -> Population:
    """The population; ValueError if a row is no derivation of the grammar within the depth."""
    width, random = grammar.width(deepest(grammar.tables, max_depth)), grammar.has_random_constants
    if len(lengths) != len(names) or ((lengths < 1) | (lengths > width)).any() or lengths.sum() != len(rules):
        raise ValueError("the lengths of formulas do not fit their rules")
    if len(constants) != (len(rules) if random else 0):
        raise ValueError("the random constants do not fit the rules")
    found = Population.empty(len(lengths), width, random)
    used = np.arange(width) < lengths[:, None]
    found.rules[used], found.lengths[:], found.names[:] = rules, lengths, names
    if random:
        found.constants[used] = constants
    if not _are_derivations(found, grammar.tables, deepest(grammar.tables, max_depth)):
        raise ValueError("there are formulas that the grammar cannot say")
    return found


def _are_derivations(population: Population, tables: Tables, depth: int) -> bool:
    """Whether each row is written by rules that fit, none nested too deeply; all rows are walked side by side."""
    rules, lengths = population.rules, population.lengths
    if ((rules < 0) | (rules >= len(tables.rule) - 1)).any() or not _are_in_range(population, tables):
        return False
    width = int(lengths.max(initial=0))
    symbols, above = np.zeros((2, len(rules), width + 1), np.int32)  # of the holes that wait, those filled next on top
    waiting = np.ones(len(rules), np.int64)
    for place in range(width):
        rows = np.flatnonzero(lengths > place)
        waiting[rows] -= 1
        rule, top = rules[rows, place], waiting[rows]
        first, end, operators = tables.rule["first_hole"][rule], tables.rule["first_hole"][rule + 1], above[rows, top]
        fits = (top >= 0) & (tables.rule["symbol"][rule] == symbols[rows, top])
        fits &= operators + tables.rule["height"][rule] <= depth
        fits &= top + (end - first) < lengths[rows] - place  # each hole takes a rule at least
        if not fits.all():
            return False
        for further in range(int((end - first).max())):
            own = np.flatnonzero(first + further < end)
            hole, at = tables.hole[end[own] - 1 - further], top[own] + further
            symbols[rows[own], at], above[rows[own], at] = hole["symbol"], operators[own] + hole["drop"]
        waiting[rows] += end - first
    return not waiting.any()


def _are_in_range(population: Population, tables: Tables) -> bool:
    """Whether random constants are what their rules can draw."""
    if not population.constants.shape[1]:
        return True
    low, high = np.moveaxis(tables.range[population.rules], -1, 0)
    inside = (low <= population.constants) & (population.constants <= high)
    used = np.arange(population.rules.shape[1]) < population.lengths[:, None]
    return bool((inside | np.isnan(low)).all(where=used))
