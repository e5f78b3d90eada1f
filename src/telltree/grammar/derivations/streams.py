"""Random streams for compiled code. A stream depends on its key alone, so the order of work changes nothing."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy as np

from telltree.compiled import small

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
    """The hash of a number: equal numbers have equal hashes."""
    return mix(np.float64(value).view(np.uint64) + GOLDEN)


@small
def weave(name, position, part):
    """Add an operand's hash to the hash of an expression; `mix` the result when all operands are added."""
    return name + part * (_FIRST + _SECOND * np.uint64(position))


@small
def first_state(seed, generation, index):
    """The state at the start of the stream for this key."""
    return mix(mix(np.uint64(seed) + GOLDEN * np.uint64(generation)) + GOLDEN * np.uint64(index))


@small
def after(state):
    """The next state of a stream; `mix` turns a state into its random word."""
    return state + GOLDEN


@small
def next_word(stream):
    """64 random bits."""
    stream[0] += GOLDEN
    return mix(stream[0])


@small
def below_of(word, n):
    """An integer in 0 … n−1 from 64 random bits (n < 2**32; the bias is under n / 2**32)."""
    return np.int64(((word >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@small
def below(stream, n):
    """A random integer in 0 … n−1."""
    return below_of(next_word(stream), n)


@small
def unit_of(word):
    """A number in [0, 1) from 64 random bits."""
    return np.float64(word >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@small
def unit(stream):
    """A random number in [0, 1)."""
    return unit_of(next_word(stream))
