"""Compiled random streams, alias tables for weighted choices, and hashes of derivations."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, kernel, small
from telltree.grammar.normal_form import Rule
from telltree.grammar.tables import Tables

# ---- Random streams for compiled code. A stream depends on its key alone, so the order of work changes nothing.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


@small
def mix(x):
    """Scramble 64 bits (the finaliser of splitmix64)."""
    x = (x ^ (x >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    return x ^ (x >> np.uint64(31))


@small
def number_name(value):
    """Return the hash of a number: equal numbers have equal hashes."""
    return mix(np.float64(value).view(np.uint64) + GOLDEN)


@small
def weave(name, position, part):
    """Add an operand's hash to the hash of an expression; `mix` the result when all operands are added."""
    return name + part * (_FIRST + _SECOND * np.uint64(position))


@small
def first_state(seed, generation, index):
    """Return the state at the start of the stream for this key."""
    return mix(mix(np.uint64(seed) + GOLDEN * np.uint64(generation)) + GOLDEN * np.uint64(index))


@small
def after(state):
    """Return the next state of a stream; `mix` turns a state into its random word."""
    return state + GOLDEN


@small
def next_word(stream):
    """Return 64 random bits."""
    stream[0] += GOLDEN
    return mix(stream[0])


@small
def below_of(word, n):
    """Return an integer in 0 … n−1 from 64 random bits (n < 2**32; the bias is under n / 2**32)."""
    return np.int64(((word >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@small
def below(stream, n):
    """Return a random integer in 0 … n−1."""
    return below_of(next_word(stream), n)


@small
def unit_of(word):
    """Return a number in [0, 1) from 64 random bits."""
    return np.float64(word >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@small
def unit(stream):
    """Return a random number in [0, 1)."""
    return unit_of(next_word(stream))


# ---- Compiled alias tables, as choices between rules get other weights while a search runs.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


_WHOLE = np.uint64(1 << 32)


def own_shares(rules: Sequence[Rule], tables: Tables) -> NDArray[np.float64]:
    """Return the probability of each rule among those of its symbol, by the weights that the grammar gives them."""
    weight, symbol = np.array([rule.weight for rule in rules], np.float64), tables.rule["symbol"][:-1]
    return np.asarray(weight / np.bincount(symbol, weight)[symbol])


class Weighing(NamedTuple):
    """Scratch memory for weighing rows of choices."""

    weight: NDArray[np.float64]
    queue: NDArray[np.int64]

    @classmethod
    def empty(cls, choices: int) -> "Weighing":
        """Return room for rows of up to so many choices."""
        return cls(np.empty(choices), np.empty(choices, np.int64))


@small
def weigh(choice, start, size, weight, queue):
    """Make choices start … start + size − 1 as likely as these weights, one for each, which are used up.

    It is Walker's alias method, as in `grammar/tables.py`, where a grammar's own weights are packed.
    """
    total = 0.0
    for k in range(size):
        total += weight[at(k)]
    light, heavy = 0, size  # choices below their equal share wait at the front of the queue, the others at its end
    for k in range(size):
        weight[at(k)] = weight[at(k)] / total * size if total > 0 else 1.0
        choice[at(start + k)].other, choice[at(start + k)].cut = choice[at(start + k)].rule, _WHOLE
        if weight[at(k)] < 1:
            queue[at(light)], light = k, light + 1
        else:
            heavy -= 1
            queue[at(heavy)] = k
    while light and heavy < size:
        light -= 1
        i, j = queue[at(light)], queue[at(heavy)]
        choice[at(start + i)].other = choice[at(start + j)].rule
        choice[at(start + i)].cut = np.uint64(np.round(weight[at(i)] * 2.0**32))
        weight[at(j)] -= 1 - weight[at(i)]
        if weight[at(j)] < 1:
            queue[at(light)], light, heavy = j, light + 1, heavy + 1


# ---- Names: derivations as 64-bit hashes, by which compiled code knows derivations it has seen.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


FREE = np.uint64(0)
"""The name of no derivation: it marks a free slot in hash tables of names."""


@small
def longer_name(name, rule):
    """Return the unfinished name of a derivation after one more rule."""
    return (name ^ (name >> np.uint64(29)) ^ np.uint64(rule + 1)) * GOLDEN


@small
def finished_name(name):
    """Return the name of a finished derivation."""
    return mix(name) | np.uint64(1)


@small
def name_of(rules, constants, row, length):
    """Return the name of a derivation. Its random constants are a row of `constants`, or None if the grammar draws
    none.
    """
    name = FREE
    for node in range(length):
        name = longer_name(name, rules[at(node)])
        if constants is not None and not np.isnan(constants[at(row), at(node)]):
            name += number_name(constants[at(row), at(node)])
    return finished_name(name)


@kernel
def name_rows(rules, constants, lengths, names):
    """Name all derivations of a population."""
    for row in range(len(lengths)):
        names[row] = name_of(rules[row], constants, row, lengths[row])


@small
def place_of(keys, name):
    """Return the slot of a name in a hash table with open addressing, or a free slot for it. Its size is a power of
    two.
    """
    mask = np.uint64(len(keys) - 1)
    place = (name >> np.uint64(1)) & mask
    while keys[place] != FREE and keys[place] != name:
        place = (place + np.uint64(1)) & mask
    return place
