"""Compiled growing of derivations: add random rules until no hole is left."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import math

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, inline, lesser, small
from telltree.grammar.derivations.naming import FREE, longer_name
from telltree.grammar.derivations.streams import after, mix, number_name
from telltree.grammar.rules.tables import Tables

POOL = 255
"""A random constant is one of POOL + 1 evenly spaced values of a range: planes are costly, so constants must recur."""

_MOST_EXACT = 2.0**53
"""From here on, not every whole number is a float."""

LOW_HALF, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
"""A mask for the low half of a word, and the shift to its high half."""

TRIES = 4
"""How often to try at one depth before trying one level shallower."""

MOST_NODES = 256
"""The most rules that a drawn derivation may have, however deep its grammar nests; a bred one may have one more."""


def row_width(tables: Tables, depth: int) -> int:
    """How many rules the longest derivation of this depth can have, up to a limit."""
    rule, hole = tables.rule[:-1], tables.hole
    holes = np.diff(tables.rule["first_hole"])
    owner = np.repeat(np.arange(len(holes)), holes)
    reach = int(rule["height"].max()) + 1  # a level depends on at most this many levels before it
    most = [np.full(len(tables.of_symbol), -np.inf)] * (reach + 1)  # for the last levels; below depth 0 nothing fits
    for left in range(depth + 1):
        nodes = np.where(rule["height"] <= left, 1.0, -np.inf)
        np.add.at(nodes, owner, np.array(most)[-hole["drop"], hole["symbol"]])
        level = np.full(len(tables.of_symbol), -np.inf)
        np.maximum.at(level, rule["symbol"], nodes)
        most = [*most[1:], np.minimum(level, MOST_NODES)]
        if level[0] >= MOST_NODES or (left >= reach and all(np.array_equal(most[-1], before) for before in most[:-1])):
            break
    return int(max(most[-1][0], 1)) + 1  # one more, so that kernels may write one place after the last rule


def deepest(tables: Tables, depth: int) -> int:
    """The depth limit for compiled code: no derivation can nest deeper than all its rules together."""
    return min(depth, MOST_NODES * int(tables.rule["height"].max()) + int(tables.of_symbol["least_depth"][0]))


def most_holes(tables: Tables, width: int) -> int:
    """How many holes can be open while a derivation of at most `width` rules is drawn."""
    return width + int(tables.shoot["further"].max()) + 4


def holes_room(tables: Tables, width: int) -> NDArray[np.uint64]:
    """An empty stack for that many holes."""
    return np.empty(most_holes(tables, width), np.uint64)


@small
def choose(row, choice, word):
    """A rule from a row of choices, by 64 random bits (alias method)."""
    slot = choice[at(row.start) + (((word >> HALF) * at(row.size)) >> HALF)]
    return slot.rule if (word & LOW_HALF) < slot.cut else slot.other


@small
def constant_of(low, high, word):
    """A constant from a range, chosen by 64 random bits; with few decimals, unless it is an end of the range."""
    step = np.int64(((word >> HALF) * np.uint64(POOL + 1)) >> HALF)
    if step == POOL:
        return high
    if not math.isfinite(high - low):  # the width of the range overflows a float
        return low * (1 - step / POOL) + high * (step / POOL)
    value = low + (high - low) * (step / POOL)
    return value if step == 0 or low == high else _shortened(value, (high - low) / (2 * POOL))


@small
def _shortened(value, apart):
    """The nearest number with so few decimals that numbers further apart than this keep apart."""
    decimals = math.ceil(-math.log10(apart))
    power = 10.0 ** abs(decimals)  # a float holds it exactly, but not its inverse
    scaled = value * power if decimals > 0 else value / power
    if abs(scaled) >= _MOST_EXACT or not math.isfinite(power):
        return value
    whole = np.rint(scaled) + 0.0  # −0 becomes 0
    return whole / power if decimals > 0 else whole * power


@small
def hole_of(row, left):
    """A hole to fill, as one word: its row of choices, and how many operators its subtree may still nest."""
    return np.uint64(row) << HALF | np.uint64(left)


@small
def first_hole(of_symbol, symbol, depth):
    """The hole from which a derivation of `symbol` within this depth starts."""
    start = of_symbol[at(symbol)]
    return hole_of(start.first_row + lesser(depth, start.last_depth), depth)


@inline
def fill(tables, holes, top, rules, constants, row, position, state, name):
    """Fill the hole at index `top` of the stack with a random rule, and push the rule's own holes. Random constants go
    into a row of `constants`, which is None if the grammar draws none.

    Returns the new top of the stack (below the first hole if the stack is empty), the state of the stream, the
    unfinished name, and whether the rule takes a constant next. A branch on the number of holes would be mispredicted
    often, which costs as much as drawing a rule. So two holes are always written, and the new top decides which of them
    count.
    """
    hole, state = holes[at(top)], after(state)
    rule, left = choose(tables.row[hole >> HALF], tables.choice, mix(state)), np.int64(hole & LOW_HALF)
    grown = tables.shoot[at(rule)]
    rules[at(position)] = rule
    name = longer_name(name, rule)
    if constants is not None:
        state = after(state)
        low, high = tables.range[at(rule), 0], tables.range[at(rule), 1]
        constants[at(row), at(position)] = constants[at(row), at(position + 1)] = np.nan
        if not np.isnan(low):
            constants[at(row), at(position)] = constant_of(low, high, mix(state))
            name += number_name(constants[at(row), at(position)])
    for further in range(grown.further):
        beyond = tables.hole[grown.last_hole - further]
        holes[at(top)] = first_hole(tables.of_symbol, beyond.symbol, left - beyond.drop)
        top += 1
    first, second = left - grown.first_drop, left - grown.second_drop
    holes[at(top)] = hole_of(grown.second_row + lesser(second, grown.second_last), second)
    holes[at(top + 1)] = hole_of(grown.first_row + lesser(first, grown.first_last), first)
    return top - 1 + grown.number, state, name, grown.takes


@inline
def add_constant(tables, rules, position, state, name):
    """Write the constant taken by the rule before `position`; returns the state of the stream and the name."""
    state = after(state)
    row = tables.shoot[at(rules[at(position) - at(1)])].constant_row
    rule = choose(tables.row[at(row)], tables.choice, mix(state))
    rules[at(position)] = rule
    return state, longer_name(name, rule)


@inline
def grow_within(tables, symbol, depth, rules, constants, row, start, end, state, holes):
    """Write a random derivation of `symbol` into rules[start:end]; returns where it ends, and the state of the stream.

    If it does not fit, tries again, after some failures one level shallower. The end is −1 if nothing fits.
    """
    least, failed, top, position = tables.of_symbol[symbol].least_depth, 0, 0, start
    holes[0] = first_hole(tables.of_symbol, symbol, depth)
    while top >= 0 and depth >= least and start + 1 < end:
        top, state, _, takes = fill(tables, holes, top, rules, constants, row, position, state, FREE)
        position += 1
        if takes:
            state, _ = add_constant(tables, rules, position, state, FREE)
            position += 1
        if top >= 0 and position + top + 1 >= end:  # each open hole needs a place, and its rule may take a constant
            failed, top, position = failed + 1, 0, start
            depth -= failed % TRIES == 0
            holes[0] = first_hole(tables.of_symbol, symbol, depth)
    return position if top < 0 else -1, state
