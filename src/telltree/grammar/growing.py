"""Compiled drawing and decoding of derivations, whole populations at a time.

A population is a two-dimensional array of rule numbers, one derivation a row in prefix order, with its lengths beside
it; random constants lie in a parallel array of floats, which has no columns if the grammar draws none.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy as np

from telltree.compiled import borrowed, inline, kernel, small
from telltree.grammar.naming import name_of
from telltree.grammar.streams import after, mix, open_stream
from telltree.grammar.tables import Tables

POOL = 255
"""A random constant is one of POOL + 1 evenly spread over its range: planes are costly, so they must be met again."""

_LOW_BITS = np.uint64(0xFFFFFFFF)


MOST_NODES = 256
"""However deep a grammar may nest, no derivation has more rules than this."""


def row_width(tables: Tables, depth: int) -> int:
    """How many rules the longest derivation of this depth can have, within reason."""
    rule, hole = tables.rule[:-1], tables.hole
    holes = np.diff(tables.rule["first_hole"])
    owner = np.repeat(np.arange(len(holes)), holes)
    reach = int(rule["height"].max()) + 1  # a level depends on no more than this many before it
    most = [np.full(len(tables.of_symbol), -np.inf)] * (reach + 1)  # of the last levels; below depth 0 there is nothing
    for left in range(depth + 1):
        nodes = np.where(rule["height"] <= left, 1.0, -np.inf)
        np.add.at(nodes, owner, np.array(most)[-hole["drop"], hole["symbol"]])
        level = np.full(len(tables.of_symbol), -np.inf)
        np.maximum.at(level, rule["symbol"], nodes)
        most = [*most[1:], np.minimum(level, MOST_NODES)]
        if level[0] >= MOST_NODES or (left >= reach and all(np.array_equal(most[-1], before) for before in most[:-1])):
            break
    return int(max(most[-1][0], 1)) + 1  # the last place is never filled by drawing


def deepest(tables: Tables, depth: int) -> int:
    """The depth as compiled code is to be told it: no derivation nests more than all its rules together."""
    return min(depth, MOST_NODES * int(tables.rule["height"].max()) + int(tables.of_symbol["least_depth"][0]))


@small
def choose(of_symbol, row_table, choice, cut, symbol, depth_left, word):
    """A rule of this symbol whose shallowest derivation fits into the depth left, chosen by 64 random bits."""
    row = of_symbol[symbol].first_row + min(depth_left, of_symbol[symbol].last_depth)
    slot = row_table[row].start
    slot += np.int64(((word >> np.uint64(32)) * np.uint64(row_table[row].size)) >> np.uint64(32))
    return choice[2 * slot + ((word & _LOW_BITS) >= cut[slot])]


@small
def constant_of(low, high, word):
    """A constant from a range, chosen by 64 random bits."""
    step = np.int64(((word >> np.uint64(32)) * np.uint64(POOL + 1)) >> np.uint64(32))
    return high if step == POOL else low + (high - low) * (step / POOL)


@inline
def grow(tables, symbol, depth, rules, constants, start, end, stream, todo):
    """Write a random derivation from `symbol` into rules[start:end]; returns its end, or −1 if there is no room."""
    todo[0, 0], todo[0, 1] = symbol, depth
    waiting, position, state = 1, start, stream[0]
    while waiting and position + waiting < end:  # each waiting symbol needs a place of its own, and may have one hole
        waiting -= 1
        left, state = todo[waiting, 1], after(state)
        rule = choose(tables.of_symbol, tables.row, tables.choice, tables.cut, todo[waiting, 0], left, mix(state))
        rules[position] = rule
        if len(constants):
            state = after(state)
            constants[position] = (
                np.nan
                if np.isnan(tables.range[rule, 0])
                else constant_of(tables.range[rule, 0], tables.range[rule, 1], mix(state))
            )
        position += 1
        if tables.rule[rule].takes:  # its one hole is for a constant: no need to queue for that
            state = after(state)
            rules[position] = choose(
                tables.of_symbol, tables.row, tables.choice, tables.cut,
                tables.hole[tables.rule[rule].first_hole].symbol, 0, mix(state),
            )  # fmt: skip
            if len(constants):
                constants[position] = np.nan
            position += 1
            continue
        for hole in range(
            tables.rule[rule + 1].first_hole - 1, tables.rule[rule].first_hole - 1, -1
        ):  # leftmost on top
            todo[waiting, 0], todo[waiting, 1] = tables.hole[hole].symbol, left - tables.hole[hole].drop
            waiting += 1
    stream[0] = state
    return -1 if waiting else position


@inline
def grow_within(tables, symbol, depth, rules, constants, start, end, stream, todo):
    """As `grow`, and if there is no room tries again ever shallower."""
    for shallower in range(depth, tables.of_symbol[symbol].least_depth - 1, -1):
        for _ in range(4):
            done = grow(tables, symbol, shallower, rules, constants, start, end, stream, todo)
            if done >= 0:
                return done
    return -1


@kernel
def draw(tables, depth, seed, generation, rules, constants, lengths, names):
    """Fill a population with random derivations; individual i uses the stream (seed, generation, i).

    A length of 0 marks one for which the row was too short.
    """
    tables, rules, constants = borrowed(tables), borrowed(rules), borrowed(constants)
    stream = np.empty(1, np.uint64)
    todo = np.empty((rules.shape[1] + 1, 2), np.int64)
    for i in range(rules.shape[0]):
        open_stream(stream, seed, generation, i)
        done = grow_within(tables, 0, depth, rules[i], constants[i], 0, rules.shape[1], stream, todo)
        lengths[i] = max(done, 0)
        names[i] = name_of(rules[i], constants[i], lengths[i])


@inline
def read_genome(tables, depth, genome, wraps, rules, todo):
    """Grammatical evolution: read a genome as choices of rules, depth first, wrapping `wraps` times.

    A codon is used only where there is a choice, and picks rule number codon mod choices, where a rule of greater
    weight is offered more often. Returns the length; 0 if the genome runs out, or for a derivation too deep or long.
    """
    todo[0, 0], todo[0, 1] = 0, depth
    waiting, position, used = 1, 0, 0
    while waiting:
        waiting -= 1
        symbol, left = todo[waiting, 0], todo[waiting, 1]
        first_lot = tables.of_symbol[symbol].first_lot
        choices, pick = tables.of_symbol[symbol + 1].first_lot - first_lot, 0
        if choices > 1:
            if used == len(genome) * (wraps + 1):
                return 0
            pick = genome[used % len(genome)] % choices
            used += 1
        rule = tables.lot[first_lot + pick]
        if tables.rule[rule].height > left or position + waiting >= len(rules):
            return 0
        rules[position] = rule
        position += 1
        for hole in range(tables.rule[rule + 1].first_hole - 1, tables.rule[rule].first_hole - 1, -1):
            todo[waiting, 0], todo[waiting, 1] = tables.hole[hole].symbol, left - tables.hole[hole].drop
            waiting += 1
    return position


@kernel
def decode(tables, depth, genomes, wraps, rules, lengths):
    """Read each genome; see `read_genome`."""
    tables, rules = borrowed(tables), borrowed(rules)
    todo = np.empty((rules.shape[1] + 8, 2), np.int64)
    for i in range(genomes.shape[0]):
        lengths[i] = read_genome(tables, depth, genomes[i], wraps, rules[i], todo)
