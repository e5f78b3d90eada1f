"""Weights of rules by depth: tables to draw from, in which a rule may be likely high up in a formula and rare below."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, borrowed, kernel, lesser
from telltree.grammar.derivations.growing import deepest, holes_room, most_holes
from telltree.grammar.derivations.population import Population
from telltree.grammar.derivations.weighing import Weighing, weigh
from telltree.grammar.rules.tables import Growing

if TYPE_CHECKING:
    from telltree.grammar.grammar import Grammar

_MOST_LEVELS = 13
_MOST_SHARES = 1 << 18
"""The most weights of rules at levels: with more, weighing would take longer than drawing."""


class Levels:
    """A rule's level is what is left of the depth limit where it is used, up to the last level of its symbol.

    Symbols whose rules have no holes, such as lists of constants, have one level.
    """

    def __init__(self, grammar: "Grammar", max_depth: int) -> None:
        tables = grammar.tables
        depth = deepest(tables, max_depth)
        rules = len(tables.rule) - 1
        levels = min(depth + 1, _MOST_LEVELS, max(1, _MOST_SHARES // rules))
        branching = np.zeros(len(tables.of_symbol), bool)
        branching[tables.rule["symbol"][:-1][np.diff(tables.rule["first_hole"]) > 0]] = True
        last = np.maximum(tables.of_symbol["last_depth"], np.where(branching, levels - 1, 0))
        self.depth, self.number = depth, int(last.max()) + 1
        self.tables: Growing = tables.by_level(last).growing
        """The tables to draw from; `weigh` changes what they make likely."""
        self._level = np.concatenate([np.arange(end + 1) for end in last[:-1]])
        self._symbol = tables.rule["symbol"][:-1]
        self._room = Weighing.empty(int(self.tables.row["size"].max()))
        width = grammar.width(depth)
        self._stack = np.empty(most_holes(tables, width) + len(holes_room(tables, width)), np.int64)

    def weigh(self, shares: NDArray[np.float64]) -> None:
        """Draw with these weights from now on: a row for each level, with a weight for each rule."""
        _weigh_rows(self.tables.row, self._level, self.tables.choice, shares, self._room)

    def counts(self, population: Population, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """How often some derivations use each rule, at each level."""
        found = np.zeros((self.number, len(self._symbol)))
        _count(self.tables, self.depth, population.rules, population.lengths, rows, self._stack, found)
        return found

    def totals(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each rule, the sum over the rules of its symbol, level by level."""
        return np.stack([np.bincount(self._symbol, row)[self._symbol] for row in counts])


@kernel
def _weigh_rows(row, level, choice, shares, room):
    """Give the choices of each row the weights that rules have at its level."""
    for r in range(len(row)):
        start, size = row[r].start, row[r].size
        for k in range(size):
            room.weight[k] = shares[level[r], choice[start + k].rule]
        weigh(choice, start, size, room.weight, room.queue)


@kernel
def _count(tables, depth, rules, lengths, rows, stack, found):
    """Add up the rules of some rows by level; `stack` is for what is left of the depth limit at the open holes."""
    tables = borrowed(tables)
    for i in rows:
        stack[0], waiting = depth, 1
        for k in range(lengths[i]):
            rule = at(rules[i, k])
            waiting -= 1
            left, own = stack[waiting], tables.rule[rule]
            found[lesser(left, tables.of_symbol[at(own.symbol)].last_depth), rule] += 1
            for hole in range(tables.rule[rule + at(1)].first_hole - 1, own.first_hole - 1, -1):
                stack[waiting] = left - tables.hole[hole].drop
                waiting += 1
