"""Compiled drawing of derivations, whole populations at a time."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, borrowed, inline, kernel, lesser, small
from telltree.grammar.derivation import Population
from telltree.grammar.random_streams import (
    FREE,
    Weighing,
    after,
    finished_name,
    first_state,
    longer_name,
    mix,
    number_name,
    weigh,
)
from telltree.grammar.tables import Growing, Tables

# ---- Compiled growing of derivations: add random rules until no hole is left.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


POOL = 255
"""A random constant is one of POOL + 1 evenly spaced values of a range: bitsets are costly, so constants must recur."""

_MOST_EXACT = 2.0**53
"""From here on, not every whole number is a float."""

LOW_HALF, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
"""A mask for the low half of a word, and the shift to its high half."""

TRIES = 4
"""The number of attempts at one depth before trying one level shallower."""

MOST_NODES = 256
"""The most rules that a drawn derivation may have, however deep its grammar nests; a bred one may have one more."""


def row_width(tables: Tables, depth: int) -> int:
    """Return the number of rules in the longest derivation of this depth, up to a limit."""
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
    """Return the depth limit for compiled code: no derivation can nest deeper than all its rules together."""
    return min(depth, MOST_NODES * int(tables.rule["height"].max()) + int(tables.of_symbol["least_depth"][0]))


def most_holes(tables: Tables, width: int) -> int:
    """Return the number of holes that can be open while a derivation of at most `width` rules is drawn."""
    return width + int(tables.shoot["further"].max()) + 4


def holes_room(tables: Tables, width: int) -> NDArray[np.uint64]:
    """Return an empty stack for that many holes."""
    return np.empty(most_holes(tables, width), np.uint64)


@small
def choose(row, choice, word):
    """Choose a rule from a row of choices by 64 random bits (alias method)."""
    slot = choice[at(row.start) + (((word >> HALF) * at(row.size)) >> HALF)]
    return slot.rule if (word & LOW_HALF) < slot.cut else slot.other


@small
def constant_of(low, high, word):
    """Choose a constant from a range by 64 random bits; with few decimals, unless it is an end of the range."""
    step = np.int64(((word >> HALF) * np.uint64(POOL + 1)) >> HALF)
    if step == POOL:
        return high
    if not math.isfinite(high - low):  # the width of the range overflows a float
        return low * (1 - step / POOL) + high * (step / POOL)
    value = low + (high - low) * (step / POOL)
    return value if step == 0 or low == high else _shortened(value, (high - low) / (2 * POOL))


@small
def _shortened(value, apart):
    """Round to the fewest decimals with which numbers further apart than this remain distinct."""
    decimals = math.ceil(-math.log10(apart))
    power = 10.0 ** abs(decimals)  # a float holds it exactly, but not its inverse
    scaled = value * power if decimals > 0 else value / power
    if abs(scaled) >= _MOST_EXACT or not math.isfinite(power):
        return value
    whole = np.rint(scaled) + 0.0  # −0 becomes 0
    return whole / power if decimals > 0 else whole * power


@small
def hole_of(row, left):
    """Pack a hole into one word: its row of choices, and the number of operators that its subtree may still nest."""
    return np.uint64(row) << HALF | np.uint64(left)


@small
def first_hole(of_symbol, symbol, depth):
    """Return the hole from which a derivation of `symbol` within this depth starts."""
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


# ---- Compiled drawing of derivations, whole populations at a time.
#
# A population is a two-dimensional array of rule numbers, one derivation per row in prefix order, with an array of
# lengths. Random constants are in a parallel array of floats. If the grammar draws none, kernels get None in its
# place, and the compiler leaves out that code.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


_LANES = 128
"""Derivations drawn in turn: enough to hide the memory latency of each, and few enough to stay in the cache."""
_STATE, _NAME, _POSITION, _TOP, _FAILED, _HOLES = map(np.uint64, range(6))
"""The fields of a lane: the state of its random stream; the unfinished name and the length of its derivation; the index
of the top of its stack of holes; how often it ran out of room; and then the stack itself.
"""
_FIRST = int(_HOLES)


class Lanes(NamedTuple):
    """Scratch memory for drawing."""

    words: NDArray[np.uint64]
    going: NDArray[np.uint64]  # the lanes that are not finished
    taking: NDArray[np.uint64]  # the lanes whose last rule takes a constant

    @classmethod
    def empty(cls, tables: Tables, width: int) -> "Lanes":
        """Lanes for derivations of at most `width` rules."""
        words = int(_HOLES) + most_holes(tables, width)
        return cls(np.empty((_LANES, words), np.uint64), *np.empty((2, _LANES), np.uint64))


NO_ROW = -1


class Simplest(NamedTuple):
    """The simplest formulas, which come up again and again: the first rule has one hole, and the second rule has none,
    except for a constant.
    """

    row: int  # row of choices for the second rule, if it is the same after every first rule; else NO_ROW
    number: int

    @classmethod
    def of(cls, tables: Tables, depth: int) -> "Simplest":
        """Return the simplest formulas within a depth."""
        start = tables.of_symbol[0]
        first = tables.shoot[_choices(tables, start["first_row"] + min(depth, start["last_depth"]))]
        rows = first["second_row"] + np.minimum(depth - first["second_drop"], first["second_last"])
        one_hole = (first["number"] == 1).all() and not first["further"].any()
        if not one_hole or len(set(rows.tolist())) > 1 or not np.isnan(tables.range).all():
            return cls(NO_ROW, 0)
        second = tables.shoot[_choices(tables, rows[0])]
        endings = np.where(second["takes"], tables.row["size"][second["constant_row"]], second["number"] == 0)
        return cls(int(rows[0]), len(first) * int(endings.sum()))


def _choices(tables: Tables, row: int) -> NDArray[np.int32]:
    """Return the rules in a row of choices."""
    start, size = tables.row[row]
    rules: NDArray[np.int32] = tables.choice["rule"][start : start + size]
    return rules


@inline
def _start_lanes(tables, depth, seed, generation, known, lanes, individual, individuals):
    """Put the next individuals on the lanes; returns the number of lanes in use, and the first individual without a
    lane.

    If an individual is a known formula, the next one overwrites its lane. There is no branch on it: it would be
    mispredicted often.
    """
    number = 0
    while number < len(lanes.going) and individual < individuals:
        lane, state = lanes.words[at(number)], first_state(seed, generation, individual)
        lane[_STATE], lane[_NAME], lane[_POSITION] = state, FREE, 0
        lane[_TOP], lane[_FAILED], lane[_HOLES] = _HOLES, 0, first_hole(tables.of_symbol, 0, depth)
        lanes.going[at(number)], leads_on = number, True
        if known != NO_ROW:
            second = choose(tables.row[at(known)], tables.choice, mix(after(after(state))))
            leads_on = tables.shoot[at(second)].number > 0
        number, individual = number + leads_on, individual + 1
    return number, individual


@inline
def _add_a_rule(tables, depth, lanes, waiting, begin, rules, constants):
    """Add a rule, with its constant if it takes one, to each unfinished derivation; returns the number still
    unfinished.
    """
    end, least, going, taking = rules.shape[1], tables.of_symbol[0].least_depth, 0, 0
    for k in range(waiting):
        which = lanes.going[at(k)]
        lane, i = lanes.words[which], at(begin) + which
        position = np.int64(lane[_POSITION])
        top, state, name, takes = fill(
            tables, lane, np.int64(lane[_TOP]), rules[i], constants, i, position, lane[_STATE], lane[_NAME]
        )
        length, more = position + 1, top >= _FIRST
        # If the row is full too early, start again, and after some failures shallower. Skip the random number that a
        # constant would have used.
        if length + takes + top - _FIRST + 1 >= end and more:
            lane[_FAILED] += 1
            shallower, state = depth - np.int64(lane[_FAILED]) // TRIES, after(state) if takes else state
            more, top, length, name, takes = shallower >= least, _FIRST, np.int64(0), FREE, 0
            lane[_HOLES] = first_hole(tables.of_symbol, 0, shallower)
        lane[_STATE], lane[_NAME], lane[_POSITION], lane[_TOP] = state, name, at(length), at(top)
        lanes.going[at(going)] = lanes.taking[at(taking)] = which
        going, taking = going + more, taking + takes
    for k in range(taking):
        which = lanes.taking[at(k)]
        lane, i = lanes.words[which], at(begin) + which
        lane[_STATE], lane[_NAME] = add_constant(tables, rules[i], lane[_POSITION], lane[_STATE], lane[_NAME])
        lane[_POSITION] += 1
    return going


@kernel
def draw(tables, depth, seed, generation, known, lanes, rules, constants, lengths, names):
    """Fill a population with random derivations; individual i uses the stream (seed, generation, i).

    A length of 0 means that the row was too short at every depth that was tried, as in `grow_within`. If `known` is the
    row of the `Simplest` formulas, these are left out, and as many rows at the end have length 0. The lanes take turns,
    one rule each, so that the processor works on other lanes while one lane waits for memory.
    """
    tables, lanes, rules = borrowed(tables), borrowed(lanes), borrowed(rules)
    begin, individual = 0, 0
    while individual < len(lengths):
        number, individual = _start_lanes(tables, depth, seed, generation, known, lanes, individual, len(lengths))
        waiting = number
        while waiting:
            waiting = _add_a_rule(tables, depth, lanes, waiting, begin, rules, constants)
        for k in range(number):
            lengths[begin + k], names[begin + k] = lanes.words[k, _POSITION], finished_name(lanes.words[k, _NAME])
        begin += number
    lengths[begin:] = 0


# ---- Compiled reading of genomes: lists of numbers that grammatical evolution reads as choices of rules.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


@inline
def read_genome(tables, depth, genome, wraps, rules, holes):
    """Grammatical evolution: read a genome as choices of rules, depth first, wrapping around `wraps` times.

    A codon is used only where there is a choice. It picks rule number codon mod choices; rules of greater weight occur
    more often among the choices. Returns the length, which is 0 if the genome runs out or the derivation is too deep or
    too long; the number of codons read; and the name.
    """
    holes[0] = hole_of(0, depth)  # here a hole holds a symbol, not a row of choices
    waiting, position, used, codon, name = 1, 0, 0, 0, FREE
    while waiting:
        waiting -= 1
        symbol, left = holes[at(waiting)] >> HALF, np.int64(holes[at(waiting)] & LOW_HALF)
        first_lot, pick = tables.of_symbol[symbol].first_lot, np.int64(0)
        choices = tables.of_symbol[symbol + at(1)].first_lot - first_lot
        if choices > 1:
            if used == len(genome) * (wraps + 1):
                return 0, used, name
            pick = np.int64(np.uint32(genome[at(codon)]) % np.uint32(choices))
            used += 1
            codon = codon + 1 if codon + 1 < len(genome) else 0
        rule = tables.lot[at(first_lot + pick)]
        if tables.rule[at(rule)].height > left or position + waiting >= len(rules):
            return 0, used, name
        rules[at(position)] = rule
        name = longer_name(name, rule)
        position += 1
        last, first = tables.rule[at(rule + 1)].first_hole - 1, tables.rule[at(rule)].first_hole
        if position + waiting + last - first >= len(rules):  # each hole takes at least one rule
            return 0, used, name
        for hole in range(last, first - 1, -1):
            holes[at(waiting)] = hole_of(tables.hole[at(hole)].symbol, left - tables.hole[at(hole)].drop)
            waiting += 1
    return position, used, finished_name(name)


@kernel
def decode(tables, depth, genomes, wraps, rules, lengths):
    """Read each genome; see `read_genome`."""
    tables, rules = borrowed(tables), borrowed(rules)
    holes = np.empty(rules.shape[1] + 2, np.uint64)
    for i in range(genomes.shape[0]):
        lengths[i], _, _ = read_genome(tables, depth, genomes[i], wraps, rules[i], holes)


# ---- Weights of rules by depth: tables to draw from, in which a rule may be likely high up in a formula and rare
# further down.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


_MOST_LEVELS = 13
_MOST_SHARES = 1 << 18
"""The most weights of rules at levels: with more, weighing would take longer than drawing."""


class Levels:
    """Tables whose weights depend on the level: what is left of the depth limit, up to the last level of a symbol.

    Symbols whose rules have no holes, such as lists of constants, have one level.
    """

    def __init__(self, tables: Tables, depth: int, width: int) -> None:
        """Derivations have at most `width` rules."""
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
        self._stack = np.empty(most_holes(tables, width) + len(holes_room(tables, width)), np.int64)

    def weigh(self, shares: NDArray[np.float64]) -> None:
        """Draw with these weights from now on: a row for each level, with a weight for each rule."""
        _weigh_rows(self.tables.row, self._level, self.tables.choice, shares, self._room)

    def counts(self, population: Population, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Count the uses of each rule in some derivations, by level."""
        found = np.zeros((self.number, len(self._symbol)))
        _count(self.tables, self.depth, population.rules, population.lengths, rows, self._stack, found)
        return found

    def totals(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return, for each rule, the sum over the rules of its symbol, level by level."""
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
    """Count the rules of some rows by level; `stack` holds what is left of the depth limit at the open holes."""
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
