"""The state of a search as plain arrays, returned after a generation to continue from it later.

Objects with a state return it as `state()`, and take it with `resume(given)`. It may come from a file that anyone can
have changed, so each array is checked before use.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.errors import CheckpointError
from telltree.grammar import Grammar
from telltree.grammar.derivation import Population
from telltree.grammar.draw import deepest
from telltree.grammar.tables import Tables

State = dict[str, NDArray[Any]]
"""Arrays by name; the arrays of a part have names such as `part.name`."""


def together(**parts: Mapping[str, NDArray[Any]]) -> State:
    """Return the states of several parts as one."""
    return {f"{name}.{inner}": array for name, state in parts.items() for inner, array in state.items()}


class SavedState:
    """A state to continue from; arrays that are missing or wrong raise CheckpointError."""

    def __init__(self, state: Mapping[str, NDArray[Any]], grammar: Grammar, max_depth: int) -> None:
        self._state, self.grammar, self.max_depth = state, grammar, max_depth

    def part(self, name: str) -> "SavedState":
        """Return the state of a part."""
        start = f"{name}."
        inner = {key.removeprefix(start): array for key, array in self._state.items() if key.startswith(start)}
        return SavedState(inner, self.grammar, self.max_depth)

    def has(self, name: str) -> bool:
        """Return True if there is an array of this name."""
        return name in self._state

    def array(self, name: str, kind: Any, *shape: int | None) -> NDArray[Any]:
        """Return a copy of an array; in `shape`, None stands for any length."""
        found = self._state.get(name)
        if found is None:
            raise CheckpointError(f"the array {name!r} is not there")
        fits = found.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, found.shape, strict=True))
        if found.dtype != np.dtype(kind) or not fits:
            raise CheckpointError(f"the array {name!r} has type {found.dtype} and shape {found.shape}")
        return np.array(found)

    def number(self, name: str, kind: Any) -> Any:
        """Return a number; whole numbers must not be negative, others not NaN."""
        value = self.array(name, kind)[()].item()
        if not value >= (0 if isinstance(value, int) else -np.inf):
            raise CheckpointError(f"{name!r} cannot be {value!r}")
        return value

    def rows(self, name: str) -> Population:
        """Return the rows of a population; each must be a derivation of the grammar."""
        part = self.part(name)
        kinds = {"rules": "i4", "constants": "f8", "lengths": "i8", "names": "u8"}
        arrays = [part.array(name, kind, None) for name, kind in kinds.items()]
        try:
            return unflat(*arrays, grammar=self.grammar, max_depth=self.max_depth)
        except ValueError as error:
            raise CheckpointError(str(error)) from None


# ---- Populations as flat arrays, and back. The way back checks everything, since compiled code trusts its input.


def flat(population: Population) -> dict[str, NDArray[Any]]:
    """Return the rules of all rows, one after the other, without what stands behind the end of a row."""
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
    grammar: Grammar,
    max_depth: int,
) -> Population:
    """Return the population; ValueError if a row is not a derivation of the grammar within the depth."""
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
    """Return True if each row is a derivation that nests no deeper; all rows are walked side by side."""
    rules, lengths = population.rules, population.lengths
    if ((rules < 0) | (rules >= len(tables.rule) - 1)).any() or not _are_in_range(population, tables):
        return False
    width = int(lengths.max(initial=0))
    symbols, above = np.zeros((2, len(rules), width + 1), np.int32)  # of the open holes, those filled next on top
    waiting = np.ones(len(rules), np.int64)
    for place in range(width):
        rows = np.flatnonzero(lengths > place)
        waiting[rows] -= 1
        rule, top = rules[rows, place], waiting[rows]
        first, end, operators = tables.rule["first_hole"][rule], tables.rule["first_hole"][rule + 1], above[rows, top]
        fits = (top >= 0) & (tables.rule["symbol"][rule] == symbols[rows, top])
        fits &= operators + tables.rule["height"][rule] <= depth
        fits &= top + (end - first) < lengths[rows] - place  # each hole takes at least one rule
        if not fits.all():
            return False
        for further in range(int((end - first).max())):
            own = np.flatnonzero(first + further < end)
            hole, at = tables.hole[end[own] - 1 - further], top[own] + further
            symbols[rows[own], at], above[rows[own], at] = hole["symbol"], operators[own] + hole["drop"]
        waiting[rows] += end - first
    return not waiting.any()


def _are_in_range(population: Population, tables: Tables) -> bool:
    """Return True if random constants lie in the ranges of their rules."""
    if not population.constants.shape[1]:
        return True
    low, high = np.moveaxis(tables.range[population.rules], -1, 0)
    inside = (low <= population.constants) & (population.constants <= high)
    used = np.arange(population.rules.shape[1]) < population.lengths[:, None]
    return bool((inside | np.isnan(low)).all(where=used))
