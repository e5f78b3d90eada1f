"""Compiled drawing of derivations, whole populations at a time.

A population is a two-dimensional array of rule numbers, one derivation per row in prefix order, with an array of
lengths. Random constants are in a parallel array of floats. If the grammar draws none, kernels get None in its place,
and the compiler leaves out that code.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, borrowed, inline, kernel
from telltree.grammar.derivations.growing import TRIES, add_constant, choose, fill, first_hole, most_holes
from telltree.grammar.derivations.naming import FREE, finished_name
from telltree.grammar.derivations.streams import after, first_state, mix
from telltree.grammar.rules.tables import Tables

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

    row: int  # of choices for the second rule, if it is the same after every first rule; else NO_ROW
    number: int

    @classmethod
    def of(cls, tables: Tables, depth: int) -> "Simplest":
        """The simplest formulas within a depth."""
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
    """The rules in a row of choices."""
    start, size = tables.row[row]
    rules: NDArray[np.int32] = tables.choice["rule"][start : start + size]
    return rules


@inline
def _start_lanes(tables, depth, seed, generation, known, lanes, individual, individuals):
    """Put the next individuals on the lanes; returns how many lanes are in use, and the first individual without a
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
    """Add a rule, with its constant if it takes one, to each unfinished derivation; returns how many stay so."""
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
