"""Compiled drawing of derivations, whole populations at a time.

A population is a two-dimensional array of rule numbers, one derivation a row in prefix order, with its lengths beside
it; random constants lie in a parallel array of floats, which has no columns if the grammar draws none.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, borrowed, kernel
from telltree.grammar.growing import TRIES, add_constant, fill, first_hole, holes_room
from telltree.grammar.naming import FREE, finished_name
from telltree.grammar.streams import first_state
from telltree.grammar.tables import Tables

_LANES = 64
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
    def room(cls, tables: Tables, width: int) -> "Lanes":
        """Lanes for derivations of at most so many rules."""
        holes = holes_room(tables, width)
        return cls(np.empty((_LANES, int(_HOLES) + len(holes)), np.uint64), *np.empty((2, _LANES), np.uint64))


@kernel
def draw(tables, depth, seed, generation, lanes, rules, constants, lengths, names):
    """Fill a population with random derivations; individual i uses the stream (seed, generation, i).

    A length of 0 marks one for which the row was too short, though it was tried ever shallower, as in `grow_within`.
    The lanes take turns, a rule each: the processor has the next ones to work on while it waits for what one needs.
    """
    tables, lanes, rules, constants = borrowed(tables), borrowed(lanes), borrowed(rules), borrowed(constants)
    end, least = rules.shape[1], tables.of_symbol[0].least_depth
    for begin in range(0, len(lengths), len(lanes.going)):
        number = min(len(lanes.going), len(lengths) - begin)
        for k in range(number):
            lane, lanes.going[k] = lanes.words[k], k
            lane[_STATE], lane[_NAME], lane[_POSITION] = first_state(seed, generation, begin + k), FREE, 0
            lane[_TOP], lane[_FAILED], lane[_HOLES] = _HOLES, 0, first_hole(tables.of_symbol, 0, depth)
        waiting = number
        while waiting:
            going, taking = 0, 0
            for k in range(waiting):
                which = lanes.going[at(k)]
                lane, i = lanes.words[which], at(begin) + which
                position = np.int64(lane[_POSITION])
                top, state, name, takes = fill(
                    tables, lane, np.int64(lane[_TOP]), rules[i], constants[i], position, lane[_STATE], lane[_NAME]
                )
                length, more = position + 1, top >= _FIRST
                if length + takes + top - _FIRST + 1 >= end:
                    lane[_FAILED] += 1
                    shallower = depth - np.int64(lane[_FAILED]) // TRIES
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
            waiting = going
        for k in range(number):
            lengths[begin + k], names[begin + k] = lanes.words[k, _POSITION], finished_name(lanes.words[k, _NAME])
