"""A prototype tree: for places in a derivation, how likely each rule is there; and compiled drawing from it.

A place is a hole of the rule at the place above it, for one symbol. Only places that were asked for exist: elsewhere
the grammar's own weights decide.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, borrowed, inline, kernel, lesser, small
from telltree.grammar.derivations.growing import TRIES, choose, constant_of
from telltree.grammar.derivations.naming import FREE, name_of
from telltree.grammar.derivations.streams import after, first_state, mix
from telltree.grammar.derivations.weighing import weigh

NOWHERE = -1
"""The number of a place that does not exist."""

PLACE = np.dtype(
    [
        ("symbol", np.int32),
        ("hole", np.int32),  # which hole of the rule above it
        ("above", np.int32),
        ("below", np.int32),  # of the places below it, the one that was made last, or NOWHERE
        ("beside", np.int32),  # of the places below the same one, the one that was made before it, or NOWHERE
        ("start", np.int32),  # its choices are start … start + size − 1, one for each rule of its symbol, in order
        ("size", np.int32),
    ]
)


class Prototype(NamedTuple):
    """The arrays of a prototype tree; those of places and choices have room for more than are in use."""

    place: NDArray[np.void]
    choice: NDArray[np.void]
    chance: NDArray[np.float64]  # how likely the rule of each choice is at its place
    used: NDArray[np.int64]  # how many places there are, and choices
    own: NDArray[np.float64]  # how likely each rule is among those of its symbol, by the weights of the grammar
    first_rule: NDArray[np.int64]  # of each symbol
    depth: NDArray[np.int32]  # of each rule: how many operators its shallowest derivation nests


@inline
def _place_below(place, above, hole, symbol):
    """The place of a hole below another, or NOWHERE."""
    found = place[at(above)].below if above != NOWHERE else NOWHERE
    while found != NOWHERE and (place[at(found)].hole != hole or place[at(found)].symbol != symbol):
        found = place[at(found)].beside
    return found


@inline
def _rule_at(tables, prototype, symbol, left, here, state):
    """A rule for a symbol that fits into what is left of the depth, and the state of the stream.

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
        if position + waiting + end - first + 1 >= len(rules):  # each hole takes a rule at least
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

    What does not fit into its row is drawn again, after some failures one level shallower; a length of 0 means that
    nothing did. `stack` is scratch memory: for each hole its symbol, the depth left for it, and its place.
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
    """Let the choices of a place be drawn as its chances say."""
    for j in range(here.size):
        room.weight[j] = chance[here.start + j]
    weigh(choice, here.start, here.size, room.weight, room.queue)


@kernel
def make_place(prototype, above, hole, symbol, room):
    """A new place, where rules are as likely as in the grammar; returns its number, or NOWHERE if there is no room."""
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
    """Write the places of a derivation's rules into `path`, and make those that are missing; NOWHERE for those that
    there is no room for, and all below. Returns how many are NOWHERE.
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
    """Make rules at places as likely as `target` says, and the others there less so; then mix in the grammar's own
    shares, so that only `kept` of a place's chances was learned.
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
    """Give all places the chances that they had before."""
    for k in range(len(chance)):
        prototype.chance[k] = chance[k]
    for number in range(prototype.used[0]):
        _put(prototype.choice, prototype.chance, prototype.place[number], room)
