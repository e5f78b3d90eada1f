"""Genetic programming: formulas exchange and regrow parts, and fitter ones have more children."""

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.checks import MOST_INDIVIDUALS, PaperExperiment, require_experiment, require_share, require_whole
from telltree.compiled import at, borrowed, inline, kernel, lesser, small
from telltree.errors import CheckpointError, SettingsError
from telltree.grammar import Grammar
from telltree.grammar.derivation import Population
from telltree.grammar.draw import NO_ROW, Lanes, deepest, draw, grow_within, holes_room
from telltree.grammar.random_streams import FREE, below, first_state, name_of, place_of, unit
from telltree.grammar.tables import Tables
from telltree.search.search import LEAST_NEW, Breeder, Memory, Search, Task
from telltree.search.state import SavedState, State, flat, together

# ---- Compiled breeding of derivations: tournaments, exchange of subtrees, regrowth.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


_TRIES = 4
"""The number of attempts to find a pair of nodes that can be exchanged, before the parents are copied unchanged."""


_STREAM, _MOTHER, _FATHER, _TODO, _CROSSED, _REGROWN, _COPIED = range(7)
"""Rows of scratch memory: a random stream, mother and father of each pair of children; then lists of pairs: those to
breed (again), and those to cross, to regrow and to copy.
"""
_NODE, _END, _DEEP, _ABOVE = range(4)
"""A node of a parent, the end of its subtree, the operators nested in the subtree, and the operators above it."""


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
        """Return room for this many."""
        return cls(np.empty(number, np.int64), np.empty(number), np.empty(number, np.uint64))

    def first(self, number: int) -> "Parents":
        """Return the first of them."""
        return Parents(self.rows[:number], self.fitness[:number], self.answer[:number])


class Chances(NamedTuple):
    """The settings of tournaments, and the probabilities of crossover and mutation."""

    tournament: int
    crossover: float
    mutation: float
    attempts: int  # attempts to make at least one child of a pair new


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
    """Return the number of operators above a node, the end of its subtree, and the operators nested in the subtree."""
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
    """Choose nodes of the parents that can be exchanged; `sites` is 0 if there are none."""
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
        kept = grown < 0  # no room for more
        if kept:
            grown = _copy(rules[parent], i, after, child, i)
        if constants is not None:
            drawn = child_constants[first + k]
            _copy(constants[parent], 0, after if kept else i, drawn, 0)
            _copy(constants[parent], after, lengths[parent], drawn, grown)
        child_lengths[first + k] = _copy(rules[parent], after, lengths[parent], child, grown)


@inline
def _choose_parents(chances, parents, pairs, number):
    """Choose the parents of each pair to breed, and list pairs by their operation; returns the lengths of the lists."""
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
    first listed by operation, and each list is then done in one go, to avoid branches that would be mispredicted.
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

    Returns the number chosen. `origin` is the index of a parent, or −1 − the index of a child.
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
    """Choose the best of parents and children, as many as there is room for; returns their number.

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


# ---- Genetic programming: formulas exchange and regrow parts, and fitter ones have more children.

_ATTEMPTS = 6
"""The number of times a pair of children may be bred again because both were tried before. Off if parents may be
copied.
"""


@dataclass(frozen=True, repr=False)
class GeneticProgramming(Search):
    """Type-compatible subtree crossover, subtree mutation, tournament selection. See `Search` for the other settings.

    population: how many formulas live at a time; by default it follows the budget.
    tournament: how many are drawn, of which the fittest becomes a parent.
    crossover, mutation: how often parents exchange subtrees, or have one regrown; the rest are copied.
    survival: "best", the fittest of parents and children, or "children", whatever they are.
    unique: keep only one formula for each way of splitting the records.
    """

    population: int | None = None
    tournament: int = 5
    crossover: float = 0.5
    mutation: float = 0.5
    survival: Literal["best", "children"] = "best"
    unique: bool = True

    @classmethod
    def paper(cls, experiment: PaperExperiment = "auslan") -> "GeneticProgramming":
        """The settings of the paper's authors: 20 generations of 1,000 for the signs, 100 of 5,000 for the encounters.

        The paper does not give them. Those for "auslan" are from the examples of the authors' later code, those for
        "acasx" from the code of the experiment.
        """
        require_experiment(experiment)
        alike = cls(crossover=0.3, mutation=0.4, survival="children", unique=False)
        if experiment == "auslan":
            return replace(alike, evaluations=20_000, generations=20, population=1_000, tournament=2)
        return replace(alike, evaluations=500_000, generations=100, population=5_000, tournament=500, max_depth=10)

    def check(self, grammar: Grammar) -> None:
        super().check(grammar)
        if self.population is not None:
            require_whole("population", self.population, 2, MOST_INDIVIDUALS)
        require_whole("tournament", self.tournament, 1, MOST_INDIVIDUALS)
        require_share("crossover", self.crossover)
        require_share("mutation", self.mutation)
        if not 0 < self.crossover + self.mutation <= 1:
            raise SettingsError(
                f"crossover and mutation must add up to more than 0 and at most 1, got {self.crossover!r} and "
                f"{self.mutation!r}"
            )
        if self.survival not in ("best", "children"):
            raise SettingsError(f'survival must be "best" or "children", got {self.survival!r}')

    @property
    def revisits(self) -> bool:
        return self.survival == "children"  # otherwise good formulas stay among the parents

    @property
    def least_new(self) -> float:
        return LEAST_NEW if self.unique else 0.0  # a population whose individuals become alike may still find more

    def breeder(self, task: Task) -> Breeder:
        return Evolution(self, task.grammar, task.seed, task.memory)


def population_for(evaluations: int | None) -> int:
    """Return the size of a population. Small ones make the best use of a small budget; larger ones keep improving for
    longer.
    """
    if evaluations is None:
        return 2_000
    return int(np.clip(3.5 * evaluations**0.5, 50, 3_000)) // 2 * 2


class Evolution:
    """The breeder; `begin` gives it a population to start from."""

    def __init__(self, settings: GeneticProgramming, grammar: Grammar, seed: int, memory: Memory) -> None:
        self._settings, self._tables, self._seed, self._memory = (
            settings,
            grammar.tables.growing,
            np.uint64(seed),
            memory,
        )
        self._depth = deepest(grammar.tables, settings.max_depth)
        width = grammar.width(self._depth)
        size = settings.population or population_for(settings.evaluations)
        size += size % 2
        attempts = _ATTEMPTS if settings.crossover + settings.mutation > 1 - 1e-9 else 1
        self._chances = Chances(settings.tournament, float(settings.crossover), float(settings.mutation), attempts)
        constants = grammar.has_random_constants
        self._drawn = False
        self._rows, self._children = (Population.empty(size, width, constants) for _ in range(2))
        self._parents, self._rooms = Parents.empty(0), [Parents.empty(size) for _ in range(2)]
        self._scratch = BreedingScratch.empty(grammar.tables, width, size // 2)
        self._lanes = Lanes.empty(grammar.tables, width)
        self._seen, self._origin = np.zeros(1 << (4 * size).bit_length(), np.uint64), np.empty(size, np.int64)
        self._order = np.empty((2, size), np.int64)

    def plant(self, population: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        """Add formulas to the parents of the first generation, which is drawn beside them."""
        ranked = np.argsort(fitness, kind="stable")[: len(self._rows.lengths)]
        self.begin(population.take(ranked), fitness[ranked], answer[ranked])
        self._drawn = False

    def begin(self, rows: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        """Start from formulas that were tried, best first, no more than the population has room for."""
        number = len(rows.lengths)
        self._rows.rules[:number], self._rows.constants[:number] = rows.rules, rows.constants
        self._rows.lengths[:number] = rows.lengths
        self._parents, self._drawn = Parents(np.arange(number), fitness, answer), number > 0

    def propose(self, generation: int) -> Population:
        if not self._drawn:
            self._drawn = True
            draw(self._tables, self._depth, self._seed, generation, NO_ROW, self._lanes, *self._children.for_kernels())
        else:
            breed(
                self._tables, self._depth, self._seed, generation, self._chances, self._parents,
                *self._rows.for_kernels()[:3], *self._children.for_kernels(), self._memory.keys, self._scratch,
            )  # fmt: skip
        return self._children

    def learn(self, population: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        if self._settings.survival == "children":
            if not self._settings.unique and population.lengths.min() > 0:  # all individuals
                self._parents = Parents(np.arange(len(fitness)), fitness, answer)
                self._children, self._rows = self._rows, population
                return
            self._parents = self._parents.first(0)
        full = len(self._parents.rows) == len(fitness)
        worst = self._parents.fitness[-1] if full else np.nan  # every individual may become a parent
        taken = survive(
            self._parents, *self._rows.for_kernels()[:3], fitness, answer, *population.for_kernels()[:3], worst,
            self._settings.unique, self._seen, self._rooms[0], self._origin, self._order,
        )  # fmt: skip
        self._parents = self._rooms[0].first(taken)
        self._rooms.reverse()

    def best(self) -> Population:
        """The parents, best first."""
        return self._rows.take(self._parents.rows)

    def state(self) -> State:
        """Return the parents, in their order; their rows make no difference."""
        rows, fitness, answer = self._parents
        return {"fitness": fitness.copy(), "answer": answer.copy()} | together(parents=flat(self._rows.take(rows)))

    def resume(self, given: SavedState) -> None:
        parents = given.rows("parents")
        number = len(parents.lengths)
        if number > len(self._rows.lengths):
            raise CheckpointError(f"there are {number} parents in a population of {len(self._rows.lengths)}")
        fitness, answer = given.array("fitness", np.float64, number), given.array("answer", np.uint64, number)
        if np.isnan(fitness).any():
            raise CheckpointError("the fitness of a parent is no number")
        self.begin(parents, fitness, answer)
