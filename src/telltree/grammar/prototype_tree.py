"""A prototype tree: the probability of each rule at each place of a formula, drawn from and learned."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, borrowed, inline, kernel, lesser, small
from telltree.grammar.derivation import Population
from telltree.grammar.draw import TRIES, choose, constant_of, deepest, most_holes
from telltree.grammar.grammar import Grammar
from telltree.grammar.random_streams import FREE, Weighing, after, first_state, mix, name_of, own_shares, weigh
from telltree.grammar.tables import CHOICE

# ---- The tree: the probability of each rule at places in a derivation, and compiled drawing from it
#
# A place is a hole of the rule at the place above it, for one symbol. Only places that were visited exist: elsewhere
# the grammar's own weights decide.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


NOWHERE = -1
"""The number of a place that does not exist."""

PLACE = np.dtype(
    [
        ("symbol", np.int32),
        ("hole", np.int32),  # index of the hole in the rule above it
        ("above", np.int32),
        ("below", np.int32),  # the place below it that was made last, or NOWHERE
        ("beside", np.int32),  # the place below the same one that was made before it, or NOWHERE
        ("start", np.int32),  # its choices are start … start + size − 1, one for each rule of its symbol, in order
        ("size", np.int32),
    ]
)


class Prototype(NamedTuple):
    """The arrays of a prototype tree; those of places and choices have room for more than are in use."""

    place: NDArray[np.void]
    choice: NDArray[np.void]
    chance: NDArray[np.float64]  # probability of the rule of each choice at its place
    used: NDArray[np.int64]  # number of places, and of choices
    own: NDArray[np.float64]  # probability of each rule among those of its symbol, by the weights of the grammar
    first_rule: NDArray[np.int64]  # of each symbol
    depth: NDArray[np.int32]  # of each rule: the operators that its shallowest derivation nests


@inline
def _place_below(place, above, hole, symbol):
    """Return the place of a hole below another, or NOWHERE."""
    found = place[at(above)].below if above != NOWHERE else NOWHERE
    while found != NOWHERE and (place[at(found)].hole != hole or place[at(found)].symbol != symbol):
        found = place[at(found)].beside
    return found


@inline
def _rule_at(tables, prototype, symbol, left, here, state):
    """Choose a rule for a symbol that fits into the remaining depth; returns it, and the state of the stream.

    Where the place insists on rules that do not fit, the grammar's own weights decide.
    """
    if here != NOWHERE:
        for _ in range(TRIES):
            state = after(state)
            rule = choose(prototype.place[at(here)], prototype.choice, mix(state))
            if prototype.depth[at(rule)] <= left:
                return rule, state
    own, state = tables.of_symbol[at(symbol)], after(state)
    return choose(tables.row[at(own.first_row + lesser(left, own.last_depth))], tables.choice, mix(state)), state


@inline
def _grow(tables, prototype, depth, rules, constants, row, stack, state):
    """Write one derivation within a depth; returns its length, 0 if it does not fit, and the state of the stream."""
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, depth, 0
    waiting, position = 1, 0
    while waiting:
        waiting -= 1
        symbol, left, here = stack[at(waiting), 0], stack[at(waiting), 1], stack[at(waiting), 2]
        rule, state = _rule_at(tables, prototype, symbol, left, here, state)
        first, end = tables.rule[at(rule)].first_hole, tables.rule[at(rule) + at(1)].first_hole
        if position + waiting + end - first + 1 >= len(rules):  # each hole takes at least one rule
            return 0, state
        rules[at(position)] = rule
        if constants is not None:
            low, high = tables.range[at(rule), 0], tables.range[at(rule), 1]
            constants[at(row), at(position)] = np.nan
            if not np.isnan(low):
                state = after(state)
                constants[at(row), at(position)] = constant_of(low, high, mix(state))
        position += 1
        for hole in range(end - 1, first - 1, -1):
            below = tables.hole[at(hole)]
            stack[at(waiting), 0], stack[at(waiting), 1] = below.symbol, left - below.drop
            stack[at(waiting), 2] = _place_below(prototype.place, here, hole - first, below.symbol)
            waiting += 1
    return position, state


@kernel
def draw_by(tables, prototype, depth, seed, generation, rules, constants, lengths, names, stack):
    """Fill a population from a prototype tree; individual i uses the stream (seed, generation, i).

    A derivation that does not fit into its row is drawn again, after some failures one level shallower; a length of 0
    means that none fitted. `stack` is scratch memory: for each hole its symbol, the remaining depth, and its place.
    """
    tables, rules = borrowed(tables), borrowed(rules)
    least = tables.of_symbol[0].least_depth
    for i in range(len(lengths)):
        state, length, failed = first_state(seed, generation, i), 0, 0
        while length == 0 and depth - failed // TRIES >= least:
            length, state = _grow(tables, prototype, depth - failed // TRIES, rules[i], constants, i, stack, state)
            failed += 1
        lengths[i] = length
        names[i] = name_of(rules[i], constants, i, length) if length else FREE


@small
def _put(choice, chance, here, room):
    """Set the alias table of a place to its probabilities."""
    for j in range(here.size):
        room.weight[j] = chance[here.start + j]
    weigh(choice, here.start, here.size, room.weight, room.queue)


@kernel
def make_place(prototype, above, hole, symbol, room):
    """Make a place where rules are as likely as in the grammar; returns its number, or NOWHERE if there is no room."""
    place, (number, start), first = prototype.place, prototype.used, prototype.first_rule[symbol]
    size = prototype.first_rule[symbol + 1] - first
    if number == len(place) or start + size > len(prototype.chance):
        return NOWHERE
    made = place[number]
    made.symbol, made.hole, made.above, made.below, made.beside = symbol, hole, above, NOWHERE, NOWHERE
    made.start, made.size = start, size
    if above != NOWHERE:
        made.beside = place[above].below
        place[above].below = number
    for j in range(size):
        prototype.choice[start + j].rule, prototype.chance[start + j] = first + j, prototype.own[first + j]
    _put(prototype.choice, prototype.chance, made, room)
    prototype.used[0], prototype.used[1] = number + 1, start + size
    return number


@kernel
def follow(tables, prototype, rules, stack, path, room):
    """Write the places of a derivation's rules into `path`, and make missing ones; returns the number of NOWHEREs.

    A place for which there is no room is NOWHERE, and so are all below.
    """
    stack[0, 0], waiting, lost = 0, 1, 0
    for k in range(len(rules)):
        rule = rules[k]
        waiting -= 1
        here = stack[waiting, 0]
        path[k] = here
        lost += here == NOWHERE
        first, end = tables.rule[rule].first_hole, tables.rule[rule + 1].first_hole
        for hole in range(end - 1, first - 1, -1):
            symbol = tables.hole[hole].symbol
            below = _place_below(prototype.place, here, hole - first, symbol)
            if here != NOWHERE and below == NOWHERE:
                below = make_place(prototype, here, hole - first, np.int64(symbol), room)
            stack[waiting, 0] = below
            waiting += 1
    return lost


@kernel
def raise_chances(prototype, path, rules, target, kept, room):
    """Make rules at places as likely as `target`, and the others there less so; then mix in the grammar's own
    probabilities.

    Only the share `kept` of a place's probabilities is learned.
    """
    place, chance = prototype.place, prototype.chance
    for k in range(len(path)):
        here = place[path[k]]
        first, start = prototype.first_rule[here.symbol], here.start
        wanted = rules[k] - first
        others, total = 1 - chance[start + wanted], 0.0
        shrink = (1 - target[k]) / others if others > 0 else 0.0
        for j in range(here.size):
            learned = target[k] if j == wanted else chance[start + j] * shrink
            chance[start + j] = kept * learned + (1 - kept) * prototype.own[first + j]
            total += chance[start + j]
        for j in range(here.size):
            chance[start + j] /= total
        _put(prototype.choice, chance, here, room)


@kernel
def restore(prototype, chance, room):
    """Restore the probabilities of all places from an earlier state."""
    for k in range(len(chance)):
        prototype.chance[k] = chance[k]
    for number in range(prototype.used[0]):
        _put(prototype.choice, prototype.chance, prototype.place[number], room)


# ---- The tree that learns

_Ints = NDArray[np.int32]
_MOST_PLACES = 4_096
_MOST_CHANCES = 1 << 18
"""A tree with this many places, or probabilities at all of them, forgets the places least likely to be reached."""


class PrototypeTree:
    """A prototype tree that learns. Place 0 is the whole formula.

    `kept` is the share of a place's probabilities that is learned; the rest stays with the grammar's own weights, so
    that no rule becomes impossible.
    """

    def __init__(self, grammar: Grammar, max_depth: int, kept: float) -> None:
        tables = grammar.tables
        self._tables, self._depth, self._kept = tables.growing, deepest(tables, max_depth), kept
        first_rule = np.searchsorted(tables.rule["symbol"][:-1], np.arange(len(tables.of_symbol)))
        chances = max(_MOST_CHANCES, int(first_rule[1]))
        self._prototype = Prototype(
            place=np.zeros(_MOST_PLACES, PLACE),
            choice=np.zeros(chances, CHOICE),
            chance=np.zeros(chances),
            used=np.zeros(2, np.int64),
            own=own_shares(grammar.rules, tables),
            first_rule=first_rule,
            depth=tables.depths,
        )
        self._room = Weighing.empty(int(np.diff(first_rule).max()))
        self._stack = np.empty((most_holes(tables, grammar.width(self._depth)), 3), np.int64)
        make_place(self._prototype, NOWHERE, 0, 0, self._room)

    @property
    def places(self) -> int:
        """The number of places."""
        return int(self._prototype.used[0])

    def chances(self, place: int) -> NDArray[np.float64]:
        """Return the probability of each rule of its symbol at a place."""
        start, size = self._prototype.place[place][["start", "size"]]
        return self._prototype.chance[start : start + size].copy()

    def draw(self, seed: np.uint64, generation: int, population: Population) -> None:
        """Fill a population."""
        draw_by(
            self._tables, self._prototype, self._depth, seed, generation, *population.for_kernels(), self._stack
        )  # fmt: skip

    def along(self, rules: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the places of a derivation, made if need be, and the rule at each; only those with room."""
        path = np.empty(len(rules), np.int64)
        if follow(self._tables, self._prototype, rules, self._stack, path, self._room):
            self._forget()
            follow(self._tables, self._prototype, rules, self._stack, path, self._room)
        there = path != NOWHERE
        return path[there], rules[there]

    def likelihood(self, path: NDArray[np.int64], rules: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the probability of each of these rules at its place."""
        places, first_rule = self._prototype.place[path], self._prototype.first_rule
        chosen: NDArray[np.int64] = places["start"] + rules - first_rule[places["symbol"]]
        return self._prototype.chance[chosen]

    def anyhow(self, path: NDArray[np.int64], lots: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return a rule for each place as the grammar itself would draw it, by numbers from 0 to 1."""
        found = []
        for symbol, lot in zip(self._prototype.place["symbol"][path].tolist(), lots.tolist(), strict=True):
            first, end = self._prototype.first_rule[symbol : symbol + 2]
            within = np.searchsorted(np.cumsum(self._prototype.own[first:end]), lot, side="right")
            found.append(min(first + within, end - 1))
        return np.array(found, np.int32)

    def make_likely(
        self, path: NDArray[np.int64], rules: NDArray[np.int32], target: NDArray[np.float64]
    ) -> None:  # fmt: skip
        """Make these rules as likely at their places as `target`, apart from the share that is not learned."""
        raise_chances(self._prototype, path, rules, target, self._kept, self._room)

    def _forget(self) -> None:
        """Drop the half of the places least likely to be reached, the last of equals."""
        reach = self._reach()
        kept = np.sort(np.argsort(-reach, kind="stable")[: max(1, self.places // 2)])
        number = np.full(self.places, NOWHERE)
        number[kept] = np.arange(len(kept))
        before = self._prototype.place[kept]
        chance = np.concatenate([self.chances(place) for place in kept.tolist()])
        above = np.where(before["above"] == NOWHERE, NOWHERE, number[before["above"]])
        self._rebuild(before["symbol"], before["hole"], above.astype(np.int32), chance)

    def _reach(self) -> NDArray[np.float64]:
        """Return the probability that each place is reached, at most that of the place above it, which has a lower
        number.
        """
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
        """Return the places and their probabilities."""
        places, chances = self._prototype.used
        here = self._prototype.place[:places]
        return {name: here[name].copy() for name in ("symbol", "hole", "above")} | {
            "chance": self._prototype.chance[:chances].copy()
        }

    def resume(self, symbol: _Ints, hole: _Ints, above: _Ints, chance: NDArray[np.float64]) -> None:
        """Replace the places by those of another tree of this grammar; ValueError if they do not fit."""
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
