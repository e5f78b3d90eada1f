"""Compiled breeding of derivations: tournaments, exchange of subtrees, regrowth."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, borrowed, inline, kernel, small
from telltree.grammar.growing import grow_within, holes_room
from telltree.grammar.naming import FREE, name_of, place_of
from telltree.grammar.streams import below, open_stream, unit
from telltree.grammar.tables import Tables

_TRIES = 4
"""How often to look for nodes that can change places, before the parents are taken as they are."""


class Desk(NamedTuple):
    """Scratch for breeding."""

    stack: NDArray[np.int64]
    holes: NDArray[np.uint64]
    nodes: NDArray[np.int64]  # of two parents: the nodes chosen, and how many operators are nested in them
    ends: NDArray[np.int64]  # where their subtrees end
    stream: NDArray[np.uint64]

    @classmethod
    def room(cls, tables: Tables, nodes: int) -> "Desk":
        """A desk for derivations of so many nodes."""
        n = nodes + 3
        return cls(
            np.zeros(n, np.int64),
            holes_room(tables, nodes),
            np.zeros(4, np.int64),
            np.zeros(2, np.int64),
            np.zeros(1, np.uint64),
        )


class Chances(NamedTuple):
    """How parents are chosen and what becomes of them."""

    tournament: int
    crossover: float
    mutation: float
    attempts: int  # how often to try for children that are both new


@inline
def _step_down(tables, rule, stack, top):
    """Put in place of a node, the top of the stack, its holes, each with the operators above it; the first on top.

    As in drawing, two are written down in any case.
    """
    grown, above = tables.shoot[at(rule)], stack[at(top - 1)]
    top -= 1
    for further in range(grown.further):
        stack[at(top)] = above + tables.hole[grown.last_hole - further].drop
        top += 1
    stack[at(top)], stack[at(top + 1)] = above + grown.second_drop, above + grown.first_drop
    return top + grown.number + grown.takes


@inline
def _above(tables, rules, node, stack):
    """How many operators lie above a node."""
    stack[0] = 0
    top = 1
    for k in range(node):
        top = _step_down(tables, rules[at(k)], stack, top)
    return stack[at(top - 1)]


@inline
def _span(tables, rules, node, stack):
    """Where the subtree at a node ends, and how many operators are nested in it."""
    stack[0] = 0
    top, end, deep = 1, node, 0
    while top:
        reached = stack[at(top - 1)] + tables.rule[at(rules[at(end)])].height
        deep = reached if reached > deep else deep
        top = _step_down(tables, rules[at(end)], stack, top)
        end += 1
    return end, deep


@inline
def _end(tables, rules, node):
    """Where the subtree at a node ends."""
    missing = 1
    while missing:
        grown = tables.shoot[at(rules[at(node)])]
        missing += grown.number + grown.further + grown.takes - 1
        node += 1
    return node


@small
def _tournament(fitness, size, stream):
    best = below(stream, len(fitness))
    for _ in range(size - 1):
        other = below(stream, len(fitness))
        if fitness[other] < fitness[best]:
            best = other
    return best


@small
def _copy(source, start, end, target, position):
    for k in range(start, end):
        target[at(position + k - start)] = source[at(k)]
    return position + end - start


@inline
def _mate(tables, rules, parents, lengths, depth, stack, stream, nodes, ends):
    """Choose a node of each parent that can change places: `nodes`, and where their subtrees end."""
    a, b = parents
    for _ in range(_TRIES):
        i = below(stream, lengths[a])
        symbol, found = tables.rule[at(rules[at(a), at(i)])].symbol, 0
        for j in range(lengths[b]):
            stack[at(found)] = j
            found += tables.rule[at(rules[at(b), at(j)])].symbol == symbol
        if not found:
            continue
        sites, fits = (i, stack[below(stream, found)]), True
        for k in range(2):
            nodes[k] = sites[k]
            ends[k], nodes[2 + k] = _span(tables, rules[parents[k]], sites[k], stack)
        for k in range(2):
            grown = (ends[1 - k] - nodes[1 - k]) - (ends[k] - nodes[k])
            fits &= lengths[parents[k]] + grown <= rules.shape[1]
            fits &= _above(tables, rules[parents[k]], nodes[k], stack) + nodes[3 - k] <= depth
        if fits:
            return
    nodes[0] = nodes[1] = ends[0] = ends[1] = 0


@small
def _exchange(source, parents, lengths, nodes, ends, children, first, child_lengths):
    """Write both parents with their chosen subtrees exchanged."""
    for k in range(2):
        mine, other = parents[k], parents[1 - k]
        i, j = nodes[k], nodes[1 - k]
        position = _copy(source[mine], 0, i, children[first + k], 0)
        position = _copy(source[other], j, ends[1 - k], children[first + k], position)
        child_lengths[first + k] = _copy(source[mine], ends[k], lengths[mine], children[first + k], position)


@inline
def _regrow(tables, rules, constants, parents, lengths, depth, desk, stream, children, child_constants, first,
            child_lengths):  # fmt: skip
    """Write both parents, each with the subtree at a random node regrown."""
    for k in range(2):
        parent = parents[k]
        i = below(stream, lengths[parent])
        after = _end(tables, rules[parent], i)
        room = rules.shape[1] - (lengths[parent] - after)
        child, drawn = children[first + k], child_constants[first + k]
        _copy(rules[parent], 0, i, child, 0)
        symbol = tables.rule[rules[parent, i]].symbol
        left = depth - _above(tables, rules[parent], i, desk.stack)
        grown, state = grow_within(tables, symbol, left, child, drawn, i, room, stream[0], desk.holes)
        stream[0] = state
        if grown < 0:  # no room for anything else
            grown = _copy(rules[parent], i, after, child, i)
            if len(drawn):
                _copy(constants[parent], i, after, drawn, i)
        if len(drawn):
            _copy(constants[parent], 0, i, drawn, 0)
            _copy(constants[parent], after, lengths[parent], drawn, grown)
        child_lengths[first + k] = _copy(rules[parent], after, lengths[parent], child, grown)


@kernel
def breed(tables, depth, seed, generation, chances, rules, constants, lengths, fitness, children, child_constants,
          child_lengths, names, keys, desk):  # fmt: skip
    """Fill `children` two by two: parents win tournaments, then exchange subtrees, or have one regrown, or are copied.

    A pair of children that are both in the table `keys` already is bred again, a few times.
    """
    tables, rules, children, desk = borrowed(tables), borrowed(rules), borrowed(children), borrowed(desk)
    constants, child_constants, keys = borrowed(constants), borrowed(child_constants), borrowed(keys)
    nodes, ends, stream = desk.nodes, desk.ends, desk.stream
    for first in range(0, len(child_lengths) - 1, 2):
        open_stream(stream, seed, generation, first)
        for _ in range(chances.attempts):
            parents = (
                _tournament(fitness, chances.tournament, stream),
                _tournament(fitness, chances.tournament, stream),
            )
            chance = unit(stream)
            if chances.crossover <= chance < chances.crossover + chances.mutation:
                _regrow(tables, rules, constants, parents, lengths, depth, desk, stream, children, child_constants,
                        first, child_lengths)  # fmt: skip
            else:
                nodes[0] = nodes[1] = ends[0] = ends[1] = 0
                if chance < chances.crossover:
                    _mate(tables, rules, parents, lengths, depth, desk.stack, stream, nodes, ends)
                _exchange(rules, parents, lengths, nodes, ends, children, first, child_lengths)
                if constants.shape[1]:
                    _exchange(constants, parents, lengths, nodes, ends, child_constants, first, child_lengths)
            new = 0
            for child in range(first, first + 2):
                names[child] = name_of(children[child], child_constants[child], child_lengths[child])
                new += keys[place_of(keys, names[child])] == FREE
            if new:
                break


@kernel
def survive(rules, constants, lengths, answer, child_rules, child_constants, child_lengths, child_answer, ranked,
            unique, seen, next_rules, next_constants, next_lengths, chosen):  # fmt: skip
    """Copy the first of `ranked` (parents first, then children) into the next generation, as many as it holds.

    With `unique`, only the first of those that answer alike; `seen` is a table of a power of two places for that.
    Returns how many there are; `chosen` says which.
    """
    parents, taken = len(lengths), 0
    seen[:] = FREE
    for i in ranked:
        if taken == len(next_lengths):
            break
        child = i - parents
        length = lengths[i] if child < 0 else child_lengths[child]
        if length == 0:
            continue
        name = (answer[i] if child < 0 else child_answer[child]) | np.uint64(1)
        place = place_of(seen, name)
        if unique and seen[place] == name:
            continue
        seen[place] = name
        source, drawn = (rules[i], constants[i]) if child < 0 else (child_rules[child], child_constants[child])
        _copy(source, 0, length, next_rules[taken], 0)
        if len(drawn):
            _copy(drawn, 0, length, next_constants[taken], 0)
        next_lengths[taken], chosen[taken] = length, i
        taken += 1
    return taken
