"""Compiled drawing of derivations, whole populations at a time.

A population is a two-dimensional array of rule numbers, one derivation a row in prefix order, with its lengths beside
it; random constants lie in a parallel array of floats. Kernels are given None for that if the grammar draws none, and
leave out the code for it when they are compiled.
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
"""Derivations drawn side by side: so many that none waits for another's numbers, so few that they stay in the cache."""
_STATE, _NAME, _POSITION, _TOP, _FAILED, _HOLES = map(np.uint64, range(6))
"""What a lane remembers: the state of its stream; the name, unfinished, and the length of what is drawn; the topmost of
its waiting holes; the times it ran out of room; and from there on the holes."""
_FIRST = int(_HOLES)


class Lanes(NamedTuple):
    """Scratch for drawing."""

    words: NDArray[np.uint64]
    going: NDArray[np.uint64]  # the lanes that are not done
    taking: NDArray[np.uint64]  # the lanes whose last rule takes a constant

    @classmethod
    def empty(cls, tables: Tables, width: int) -> "Lanes":
        """Lanes for derivations of at most so many rules."""
        words = int(_HOLES) + most_holes(tables, width)
        return cls(np.empty((_LANES, words), np.uint64), *np.empty((2, _LANES), np.uint64))


NO_ROW = -1


class Simplest(NamedTuple):
    """The simplest formulas, which are drawn again and again: the first rule has one hole, the second none but for a
    constant."""

    row: int  # of choices for the second rule, whatever the first one is; or NO_ROW if that is not so
    number: int

    @classmethod
    def of(cls, tables: Tables, depth: int) -> "Simplest":
        """Those within a depth."""
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
    """Put the next individuals on the lanes; returns how many there is room for, and the first that is not on one.

    Whether one is known cannot be foreseen: the next one takes its lane, or not.
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
    """Add a rule to what is drawn on each lane that waits, and its constant if it takes one; returns how many go on."""
    end, least, going, taking = rules.shape[1], tables.of_symbol[0].least_depth, 0, 0
    for k in range(waiting):
        which = lanes.going[at(k)]
        lane, i = lanes.words[which], at(begin) + which
        position = np.int64(lane[_POSITION])
        top, state, name, takes = fill(
            tables, lane, np.int64(lane[_TOP]), rules[i], constants, i, position, lane[_STATE], lane[_NAME]
        )
        length, more = position + 1, top >= _FIRST
        # where the row is full, and something is missing, begin again, ever shallower, after the words for a constant
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

    A length of 0 marks one for which the row was too short, though it was tried ever shallower, as in `grow_within`.
    If `known` is the row of the `Simplest`, these are left out, and so many rows at the end have a length of 0.
    The lanes take turns, a rule each: the processor has the next ones to work on while it waits for what one needs.
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
