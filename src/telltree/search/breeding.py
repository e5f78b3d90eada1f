"""Compiled breeding of derivations: tournaments, exchange of subtrees, regrowth."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, borrowed, inline, kernel, lesser, small
from telltree.grammar.derivations.growing import grow_within, holes_room
from telltree.grammar.derivations.naming import FREE, name_of, place_of
from telltree.grammar.derivations.streams import below, first_state, unit
from telltree.grammar.rules.tables import Tables

_TRIES = 4
"""How often to look for a pair of nodes that can be exchanged, before the parents are copied unchanged."""


_STREAM, _MOTHER, _FATHER, _TODO, _CROSSED, _REGROWN, _COPIED = range(7)
"""Rows of scratch memory: a random stream, mother and father of each pair of children; then lists of pairs: those to
breed (again), and those to cross, to regrow and to copy.
"""
_NODE, _END, _DEEP, _ABOVE = range(4)
"""A node of a parent, the end of its subtree, how many operators nest in the subtree, and how many lie above it."""


class BreedingScratch(NamedTuple):
    """Scratch memory for breeding."""

    stack: NDArray[np.int64]
    holes: NDArray[np.uint64]
    sites: NDArray[np.int64]  # for two parents: the nodes to exchange
    pairs: NDArray[np.uint64]

    @classmethod
    def empty(cls, tables: Tables, nodes: int, pairs: int) -> "BreedingScratch":
        """Scratch memory for `pairs` pairs of derivations of at most `nodes` nodes."""
        return cls(
            np.zeros(nodes + 3, np.int64),
            holes_room(tables, nodes),
            np.zeros((4, 2), np.int64),
            np.empty((7, pairs), np.uint64),
        )


class Parents(NamedTuple):
    """The individuals that breed: their rows and scores, best first if the best survive."""

    rows: NDArray[np.int64]
    fitness: NDArray[np.float64]
    answer: NDArray[np.uint64]

    @classmethod
    def empty(cls, number: int) -> "Parents":
        """Room for this many."""
        return cls(np.empty(number, np.int64), np.empty(number), np.empty(number, np.uint64))

    def first(self, number: int) -> "Parents":
        """The first of them."""
        return Parents(self.rows[:number], self.fitness[:number], self.answer[:number])


class Chances(NamedTuple):
    """How parents are chosen, and the probabilities of crossover and mutation."""

    tournament: int
    crossover: float
    mutation: float
    attempts: int  # how often to try until at least one child of a pair is new


@inline
def _step_down(tables, rule, stack, top):
    """Pop a node from the stack and push its holes, each with the number of operators above it, the first hole on top.

    As in drawing, two holes are always written, to avoid a branch that would be mispredicted.
    """
    grown, above = tables.shoot[at(rule)], stack[at(top - 1)]
    top -= 1
    for further in range(grown.further):
        stack[at(top)] = above + tables.hole[grown.last_hole - further].drop
        top += 1
    stack[at(top)], stack[at(top + 1)] = above + grown.second_drop, above + grown.first_drop
    return top + grown.number + grown.takes


@inline
def _survey(tables, rules, node, stack):
    """How many operators lie above a node, where its subtree ends, and how many operators nest in the subtree."""
    stack[0] = 0
    top, end, above, deep, ground = 1, 0, 0, 0, -1
    while top > ground:
        top_above = stack[at(top - 1)]
        above, ground = (top_above, top - 1) if end == node else (above, ground)
        reached = top_above + tables.rule[at(rules[at(end)])].height
        deep = reached if reached > deep and end >= node else deep
        top = _step_down(tables, rules[at(end)], stack, top)
        end += 1
    return above, end, deep - above


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
def _mate(tables, rules, parents, lengths, depth, stack, stream, sites):
    """Choose nodes of the parents that can be exchanged; if there are none, `sites` is 0: exchange nothing."""
    a, b = parents
    for _ in range(_TRIES):
        i = below(stream, lengths[a])
        symbol, found = tables.rule[at(rules[at(a), at(i)])].symbol, 0
        for j in range(lengths[b]):
            stack[at(found)] = j
            found += tables.rule[at(rules[at(b), at(j)])].symbol == symbol
        if not found:
            continue
        sites[_NODE, 0], sites[_NODE, 1], fits = i, stack[below(stream, found)], True
        for k in range(2):
            sites[_ABOVE, k], sites[_END, k], sites[_DEEP, k] = _survey(
                tables, rules[parents[k]], sites[_NODE, k], stack
            )
        for k in range(2):
            grown = (sites[_END, 1 - k] - sites[_NODE, 1 - k]) - (sites[_END, k] - sites[_NODE, k])
            fits &= lengths[parents[k]] + grown <= rules.shape[1]
            fits &= sites[_ABOVE, k] + sites[_DEEP, 1 - k] <= depth
        if fits:
            return
    sites[:] = 0


@small
def _exchange(source, parents, lengths, sites, children, first, child_lengths):
    """Write both parents with their chosen subtrees exchanged."""
    for k in range(2):
        mine, other, child = parents[k], parents[1 - k], children[first + k]
        position = _copy(source[mine], 0, sites[_NODE, k], child, 0)
        position = _copy(source[other], sites[_NODE, 1 - k], sites[_END, 1 - k], child, position)
        child_lengths[first + k] = _copy(source[mine], sites[_END, k], lengths[mine], child, position)


@inline
def _regrow(tables, rules, constants, parents, lengths, depth, scratch, stream, children, child_constants, first,
            child_lengths):  # fmt: skip
    """Write both parents, each with the subtree at a random node regrown."""
    for k in range(2):
        parent = parents[k]
        i = below(stream, lengths[parent])
        above, after, _ = _survey(tables, rules[parent], i, scratch.stack)
        room = rules.shape[1] - (lengths[parent] - after)
        child = children[first + k]
        _copy(rules[parent], 0, i, child, 0)
        symbol = tables.rule[rules[parent, i]].symbol
        grown, state = grow_within(tables, symbol, depth - above, child, child_constants, first + k, i, room,
                                   stream[0], scratch.holes)  # fmt: skip
        stream[0] = state
        kept = grown < 0  # no room for anything else
        if kept:
            grown = _copy(rules[parent], i, after, child, i)
        if constants is not None:
            drawn = child_constants[first + k]
            _copy(constants[parent], 0, after if kept else i, drawn, 0)
            _copy(constants[parent], after, lengths[parent], drawn, grown)
        child_lengths[first + k] = _copy(rules[parent], after, lengths[parent], child, grown)


@inline
def _choose_parents(chances, parents, pairs, number):
    """Choose the parents of each pair to breed, and list pairs by what happens to them; returns the lists' lengths."""
    crossed, regrown, copied = 0, 0, 0
    for j in range(number):
        pair = pairs[_TODO, at(j)]
        stream = pairs[_STREAM, pair : pair + at(1)]
        pairs[_MOTHER, pair] = parents.rows[_tournament(parents.fitness, chances.tournament, stream)]
        pairs[_FATHER, pair] = parents.rows[_tournament(parents.fitness, chances.tournament, stream)]
        chance = unit(stream)
        pairs[_CROSSED, at(crossed)] = pairs[_REGROWN, at(regrown)] = pairs[_COPIED, at(copied)] = pair
        crosses, stays = chance < chances.crossover, chance >= chances.crossover + chances.mutation
        crossed, copied = crossed + crosses, copied + stays
        regrown += (not crosses) & (not stays)
    return crossed, regrown, copied


@kernel
def breed(tables, depth, seed, generation, chances, parents, rules, constants, lengths, children, child_constants,
          child_lengths, names, keys, scratch):  # fmt: skip
    """Fill `children` in pairs: parents win tournaments, then exchange subtrees, have one regrown, or are copied.

    If both children of a pair are already in the hash table `keys`, the pair is bred again, a few times. Pairs are
    first listed by what happens to them, and each list is then done in one go, to avoid branches that would be
    mispredicted.
    """
    tables, rules, children, scratch = borrowed(tables), borrowed(rules), borrowed(children), borrowed(scratch)
    keys, lengths, child_lengths, names = borrowed(keys), borrowed(lengths), borrowed(child_lengths), borrowed(names)
    parents = borrowed(parents)
    pairs, sites, number = scratch.pairs, scratch.sites, len(child_lengths) // 2
    for j in range(number):
        pairs[_STREAM, j], pairs[_TODO, j] = first_state(seed, generation, 2 * j), j
    for attempt in range(chances.attempts):
        crossed, regrown, copied = _choose_parents(chances, parents, pairs, number)
        for j in range(regrown):
            pair = pairs[_REGROWN, at(j)]
            both, stream = (pairs[_MOTHER, pair], pairs[_FATHER, pair]), pairs[_STREAM, pair : pair + at(1)]
            _regrow(tables, rules, constants, both, lengths, depth, scratch, stream, children, child_constants,
                    at(2) * pair, child_lengths)  # fmt: skip
        for j in range(crossed + copied):
            pair = pairs[_CROSSED, at(j)] if j < crossed else pairs[_COPIED, at(j - crossed)]
            both, stream = (pairs[_MOTHER, pair], pairs[_FATHER, pair]), pairs[_STREAM, pair : pair + at(1)]
            sites[:] = 0
            if j < crossed:
                _mate(tables, rules, both, lengths, depth, scratch.stack, stream, sites)
            _exchange(rules, both, lengths, sites, children, at(2) * pair, child_lengths)
            if constants is not None:
                _exchange(constants, both, lengths, sites, child_constants, at(2) * pair, child_lengths)
        again = 0
        for j in range(number):
            pair = pairs[_TODO, at(j)]
            for child in range(at(2) * pair, at(2) * pair + at(2)):
                names[child] = name_of(children[child], child_constants, child, child_lengths[child])
        if attempt + 1 < chances.attempts:
            for j in range(number):
                pair = pairs[_TODO, at(j)]
                pairs[_TODO, at(again)] = pair
                first, second = names[at(2) * pair], names[at(2) * pair + at(1)]
                again += (keys[place_of(keys, first)] != FREE) & (keys[place_of(keys, second)] != FREE)
            number = again


@small
def _merge(fitness, source, target, low, middle, high):
    """Merge two runs of `source`, each by ascending fitness, into `target`; the first run comes first among equals."""
    left, right = low, middle
    for k in range(low, high):
        from_left = left < middle and (right == high or not fitness[source[right]] < fitness[source[left]])
        target[k] = source[left if from_left else right]
        left, right = left + from_left, right + (not from_left)


@small
def _rank(fitness, worst, ranked, spare):
    """List individuals fitter than `worst`, or all if that is NaN: the fittest first, equals in their order.

    Merge sort: Numba's own takes long to compile.
    """
    number, width = 0, 1
    for i in range(len(fitness)):
        ranked[number] = i
        number += not fitness[i] >= worst
    while width < number:
        for low in range(0, number, 2 * width):
            _merge(fitness, ranked, spare, low, lesser(low + width, number), lesser(low + 2 * width, number))
        ranked, spare, width = spare, ranked, 2 * width
    return ranked[:number]


@inline
def _select(parents, fitness, answer, lengths, ranked, unique, seen, chosen, origin):
    """Merge parents, best first, and the children in `ranked` into `chosen`; parents come first among equals.

    Returns how many were chosen. `origin` is the index of a parent, or −1 − the index of a child.
    """
    parent, child, taken = 0, 0, 0
    seen[:] = FREE
    while taken < len(origin) and (parent < len(parents.rows) or child < len(ranked)):
        is_parent = child == len(ranked)
        if not is_parent and parent < len(parents.rows):
            is_parent = parents.fitness[parent] <= fitness[ranked[child]]
        if is_parent:
            chosen.fitness[taken], chosen.answer[taken] = parents.fitness[parent], parents.answer[parent]
            origin[taken], usable, parent = parent, True, parent + 1
        else:
            i = ranked[child]
            chosen.fitness[taken], chosen.answer[taken] = fitness[i], answer[i]
            origin[taken], usable, child = -1 - i, lengths[i] > 0, child + 1
        name = chosen.answer[taken] | np.uint64(1)
        place = place_of(seen, name)
        if usable and not (unique and seen[place] == name):
            seen[place] = name
            taken += 1
    return taken


@kernel
def survive(parents, rules, constants, lengths, fitness, answer, child_rules, child_constants, child_lengths, worst,
            unique, seen, chosen, origin, order):  # fmt: skip
    """Choose the best of parents and children, as many as there is room for; returns how many.

    Children that are not fitter than `worst`, unless that is NaN, have no chance. With `unique`, only the first of
    those with equal answers is taken; `seen` is a hash table for that, whose size is a power of two. Children are
    copied into rows that are now free. `order` is scratch memory.
    """
    ranked = _rank(fitness, worst, order[0], order[1])
    taken = _select(parents, fitness, answer, child_lengths, ranked, unique, seen, chosen, origin)
    free = seen[: len(lengths)]  # the hash table is no longer needed
    free[:] = 1
    for k in range(taken):
        if origin[k] >= 0:
            chosen.rows[k] = parents.rows[origin[k]]
            free[chosen.rows[k]] = 0
    row = 0
    for k in range(taken):
        if origin[k] < 0:
            child = -1 - origin[k]
            while not free[row]:
                row += 1
            _copy(child_rules[child], 0, child_lengths[child], rules[row], 0)
            if constants is not None:
                _copy(child_constants[child], 0, child_lengths[child], constants[row], 0)
            lengths[row], chosen.rows[k] = child_lengths[child], row
            row += 1
    return taken
