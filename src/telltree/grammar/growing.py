"""Compiled drawing and decoding of derivations, whole populations at a time.

A population is a two-dimensional array of rule numbers, one derivation a row in prefix order, with its lengths beside
it; random constants lie in a parallel array of floats, which has no columns if the grammar draws none.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, borrowed, inline, kernel, small
from telltree.grammar.naming import FREE, finished_name, longer_name
from telltree.grammar.streams import after, first_state, mix, number_name
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


def holes_room(width: int) -> NDArray[np.int64]:
    """Room for the holes that wait to be filled while a derivation of at most so many rules is drawn."""
    return np.empty((width + 2, 2), np.int64)


@small
def _choose(row, choice, word):
    """A rule of a row of choices, by 64 random bits."""
    slot = at(row.start) + (((word >> np.uint64(32)) * at(row.size)) >> np.uint64(32))
    return choice[slot].rule if (word & _LOW_BITS) < choice[slot].cut else choice[slot].other


@small
def constant_of(low, high, word):
    """A constant from a range, chosen by 64 random bits."""
    step = np.int64(((word >> np.uint64(32)) * np.uint64(POOL + 1)) >> np.uint64(32))
    return high if step == POOL else low + (high - low) * (step / POOL)


@inline
def _grow(tables, symbol, depth, rules, constants, start, end, state, todo):
    """Write a random derivation from `symbol` into rules[start:end]; returns its end, or −1 if there is no room, the
    state of the stream after it, and its name, unfinished.

    How many holes a rule has cannot be foreseen, and a wrong guess takes as long as a rule: two are written down in any
    case, and stay if the rule has them.
    """
    row, choice, shoot, of_symbol = tables.row, tables.choice, tables.shoot, tables.of_symbol[symbol]
    todo[0, 0], todo[0, 1] = of_symbol.first_row + min(depth, of_symbol.last_depth), depth
    waiting, position, name = 1, start, FREE
    while waiting and position + waiting < end:  # each waiting symbol needs a place of its own, and may have one hole
        waiting -= 1
        left, state = todo[at(waiting), 1], after(state)
        rule = _choose(row[at(todo[at(waiting), 0])], choice, mix(state))
        grown = shoot[at(rule)]
        rules[at(position)] = rule
        name = longer_name(name, rule)
        if len(constants):
            state = after(state)
            low, high = tables.range[at(rule), 0], tables.range[at(rule), 1]
            constants[at(position)] = constants[at(position + 1)] = np.nan
            if not np.isnan(low):
                constants[at(position)] = constant_of(low, high, mix(state))
                name += number_name(constants[at(position)])
        position += 1
        if grown.takes:  # its one hole is for a constant: no need to queue for that
            state = after(state)
            constant = _choose(row[at(grown.constant_row)], choice, mix(state))
            rules[at(position)] = constant
            name = longer_name(name, constant)
            position += 1
            continue
        if grown.number > 2:
            if position + waiting + grown.number > end:
                waiting = 1
                break
            for hole in range(tables.rule[rule + 1].first_hole - 1, tables.rule[rule].first_hole + 1, -1):
                beyond = tables.of_symbol[tables.hole[hole].symbol]
                todo[waiting, 1] = left - tables.hole[hole].drop
                todo[waiting, 0] = beyond.first_row + min(todo[waiting, 1], beyond.last_depth)
                waiting += 1
        first, second = left - grown.first_drop, left - grown.second_drop
        todo[at(waiting), 0] = grown.second_row + (second if second < grown.second_last else grown.second_last)
        todo[at(waiting + 1), 0] = grown.first_row + (first if first < grown.first_last else grown.first_last)
        todo[at(waiting), 1], todo[at(waiting + 1), 1] = second, first
        waiting += grown.number if grown.number < 2 else 2
    return -1 if waiting else position, state, name


@inline
def grow_within(tables, symbol, depth, rules, constants, start, end, state, todo):
    """As `_grow`, and if there is no room tries again ever shallower."""
    done, name = -1, FREE
    for shallower in range(depth, tables.of_symbol[symbol].least_depth - 1, -1):
        for _ in range(4):
            if done < 0:
                done, state, name = _grow(tables, symbol, shallower, rules, constants, start, end, state, todo)
        if done >= 0:
            break
    return done, state, name


@kernel
def draw(tables, depth, seed, generation, todo, rules, constants, lengths, names):
    """Fill a population with random derivations; individual i uses the stream (seed, generation, i).

    A length of 0 marks one for which the row was too short. `todo` is scratch, see `holes_room`.
    """
    tables, rules, constants, todo = borrowed(tables), borrowed(rules), borrowed(constants), borrowed(todo)
    for i in range(rules.shape[0]):
        state = first_state(seed, generation, i)
        done, state, name = grow_within(tables, 0, depth, rules[i], constants[i], 0, rules.shape[1], state, todo)
        lengths[i], names[i] = done if done > 0 else 0, finished_name(name)


@inline
def read_genome(tables, depth, genome, wraps, rules, todo):
    """Grammatical evolution: read a genome as choices of rules, depth first, wrapping `wraps` times.

    A codon is used only where there is a choice, and picks rule number codon mod choices, where a rule of greater
    weight is offered more often. Returns the length, 0 if the genome runs out, or for a derivation too deep or long;
    the codons read; and the name.
    """
    todo[0, 0], todo[0, 1] = 0, depth
    waiting, position, used, codon, name = 1, 0, 0, 0, FREE
    while waiting:
        waiting -= 1
        symbol, left = at(todo[at(waiting), 0]), todo[at(waiting), 1]
        first_lot, pick = tables.of_symbol[symbol].first_lot, 0
        choices = tables.of_symbol[symbol + at(1)].first_lot - first_lot
        if choices > 1:
            if used == len(genome) * (wraps + 1):
                return 0, used, name
            pick = genome[at(codon)] % np.int32(choices)
            used += 1
            codon = codon + 1 if codon + 1 < len(genome) else 0
        rule = tables.lot[at(first_lot + pick)]
        if tables.rule[at(rule)].height > left or position + waiting >= len(rules):
            return 0, used, name
        rules[at(position)] = rule
        name = longer_name(name, rule)
        position += 1
        last, first = tables.rule[at(rule + 1)].first_hole - 1, tables.rule[at(rule)].first_hole
        if position + waiting + last - first >= len(rules):  # each hole takes a rule at least
            return 0, used, name
        for hole in range(last, first - 1, -1):
            todo[at(waiting), 0] = tables.hole[at(hole)].symbol
            todo[at(waiting), 1] = left - tables.hole[at(hole)].drop
            waiting += 1
    return position, used, finished_name(name)


@kernel
def decode(tables, depth, genomes, wraps, rules, lengths):
    """Read each genome; see `read_genome`."""
    tables, rules = borrowed(tables), borrowed(rules)
    todo = np.empty((rules.shape[1] + 2, 2), np.int64)
    for i in range(genomes.shape[0]):
        lengths[i], _, _ = read_genome(tables, depth, genomes[i], wraps, rules[i], todo)
