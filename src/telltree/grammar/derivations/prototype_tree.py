"""A prototype tree that learns: which rules go where in a formula."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from telltree.grammar.derivations.growing import deepest, most_holes
from telltree.grammar.derivations.population import Population
from telltree.grammar.derivations.prototype import (
    NOWHERE,
    PLACE,
    Prototype,
    draw_by,
    follow,
    make_place,
    raise_chances,
    restore,
)
from telltree.grammar.derivations.weighing import Weighing, own_shares
from telltree.grammar.rules.tables import CHOICE

if TYPE_CHECKING:
    from telltree.grammar.grammar import Grammar

_Ints = NDArray[np.int32]
_MOST_PLACES = 4_096
_MOST_CHANCES = 1 << 18
"""A tree that has so many places, or chances at all of them, forgets those that are the least likely to be reached."""


class PrototypeTree:
    """Place 0 is the whole formula. `kept` is the share of a place's chances that is learned; the rest stays with the
    grammar's own weights, so that no rule becomes impossible.
    """

    def __init__(self, grammar: "Grammar", max_depth: int, kept: float, most_places: int = _MOST_PLACES) -> None:
        tables = grammar.tables
        self._tables, self._depth, self._kept = tables.growing, deepest(tables, max_depth), kept
        first_rule = np.searchsorted(tables.rule["symbol"][:-1], np.arange(len(tables.of_symbol)))
        chances = max(_MOST_CHANCES, int(first_rule[1]))
        self._prototype = Prototype(
            place=np.zeros(most_places, PLACE),
            choice=np.zeros(chances, CHOICE),
            chance=np.zeros(chances),
            used=np.zeros(2, np.int64),
            own=own_shares(grammar),
            first_rule=first_rule,
            depth=tables.depths,
        )
        self._room = Weighing.empty(int(np.diff(first_rule).max()))
        self._stack = np.empty((most_holes(tables, grammar.width(self._depth)), 3), np.int64)
        make_place(self._prototype, NOWHERE, 0, 0, self._room)

    @property
    def places(self) -> int:
        """How many places there are."""
        return int(self._prototype.used[0])

    def chances(self, place: int) -> NDArray[np.float64]:
        """How likely each rule of its symbol is at a place."""
        start, size = self._prototype.place[place][["start", "size"]]
        return self._prototype.chance[start : start + size].copy()

    def draw(self, seed: np.uint64, generation: int, population: Population) -> None:
        """Fill a population."""
        draw_by(
            self._tables, self._prototype, self._depth, seed, generation, *population.for_kernels(), self._stack
        )  # fmt: skip

    def along(self, rules: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The places of a derivation, which are made if need be, and the rule at each; only those there is room for."""
        path = np.empty(len(rules), np.int64)
        if follow(self._tables, self._prototype, rules, self._stack, path, self._room):
            self._forget()
            follow(self._tables, self._prototype, rules, self._stack, path, self._room)
        there = path != NOWHERE
        return path[there], rules[there]

    def likelihood(self, path: NDArray[np.int64], rules: NDArray[np.int32]) -> NDArray[np.float64]:
        """How likely each of these rules is at its place."""
        places, first_rule = self._prototype.place[path], self._prototype.first_rule
        chosen: NDArray[np.int64] = places["start"] + rules - first_rule[places["symbol"]]
        return self._prototype.chance[chosen]

    def anyhow(self, path: NDArray[np.int64], lots: NDArray[np.float64]) -> NDArray[np.int32]:
        """A rule for each place as the grammar itself would draw it, by numbers from 0 to 1."""
        found = []
        for symbol, lot in zip(self._prototype.place["symbol"][path].tolist(), lots.tolist(), strict=True):
            first, end = self._prototype.first_rule[symbol : symbol + 2]
            within = np.searchsorted(np.cumsum(self._prototype.own[first:end]), lot, side="right")
            found.append(min(first + within, end - 1))
        return np.array(found, np.int32)

    def make_likely(
        self, path: NDArray[np.int64], rules: NDArray[np.int32], target: NDArray[np.float64]
    ) -> None:  # fmt: skip
        """Make these rules as likely at their places as `target` says, but for what is not learned."""
        raise_chances(self._prototype, path, rules, target, self._kept, self._room)

    def _forget(self) -> None:
        """Keep the half of the places that are the likeliest to be reached, the first of equals."""
        reach = self._reach()
        kept = np.sort(np.argsort(-reach, kind="stable")[: max(1, self.places // 2)])
        number = np.full(self.places, NOWHERE)
        number[kept] = np.arange(len(kept))
        before = self._prototype.place[kept]
        chance = np.concatenate([self.chances(place) for place in kept.tolist()])
        above = np.where(before["above"] == NOWHERE, NOWHERE, number[before["above"]])
        self._rebuild(before["symbol"], before["hole"], above.astype(np.int32), chance)

    def _reach(self) -> NDArray[np.float64]:
        """How likely each place is to be reached; none is likelier than the one above it, which has a lower number."""
        tables, reach = self._tables, np.ones(self.places)
        for number in range(1, self.places):
            here = self._prototype.place[number]
            above = self._prototype.place[here["above"]]
            first, end = self._prototype.first_rule[above["symbol"] : above["symbol"] + 2]
            hole = tables.rule["first_hole"][first:end] + here["hole"]
            leads = hole < tables.rule["first_hole"][first + 1 : end + 1]
            leads[leads] = tables.hole["symbol"][hole[leads]] == here["symbol"]
            likely = self.chances(here["above"])[leads].sum()
            reach[number] = reach[here["above"]] * min(1.0, likely)
        return reach

    def state(self) -> dict[str, NDArray[Any]]:
        """The places and their chances."""
        places, chances = self._prototype.used
        here = self._prototype.place[:places]
        return {name: here[name].copy() for name in ("symbol", "hole", "above")} | {
            "chance": self._prototype.chance[:chances].copy()
        }

    def resume(self, symbol: _Ints, hole: _Ints, above: _Ints, chance: NDArray[np.float64]) -> None:
        """Take the places of another tree of this grammar; ValueError if they cannot be."""
        symbols, number = len(self._prototype.first_rule) - 1, np.arange(len(symbol))
        if not len(symbol) == len(hole) == len(above) <= len(self._prototype.place):
            raise ValueError("the places of a formula do not fit together")
        whole = symbol[:1].tolist() == [0] and above[:1].tolist() == [NOWHERE]
        known = (symbol >= 0) & (symbol < symbols)
        if not (whole and (known & (hole >= 0) & (above < number)).all() and (above[1:] >= 0).all()):
            raise ValueError("there are places in a formula that cannot be")
        if len(chance) > len(self._prototype.chance) or not ((chance >= 0) & (chance <= 1)).all():
            raise ValueError("there are chances of rules that cannot be")
        self._rebuild(symbol, hole, above, chance)

    def _rebuild(self, symbol: _Ints, hole: _Ints, above: _Ints, chance: NDArray[np.float64]) -> None:
        sizes = np.diff(self._prototype.first_rule)[symbol]
        if sizes.sum() != len(chance):
            raise ValueError("the chances of rules do not fit their places")
        self._prototype.used[:] = 0
        for number in range(len(symbol)):
            make_place(self._prototype, int(above[number]), int(hole[number]), int(symbol[number]), self._room)
        restore(self._prototype, chance, self._room)
