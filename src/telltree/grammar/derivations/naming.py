"""Names: derivations as 64-bit hashes, so that compiled code can tell whether one was seen before."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy as np

from telltree.compiled import at, kernel, small
from telltree.grammar.derivations.streams import GOLDEN, mix, number_name

FREE = np.uint64(0)
"""No derivation has this name: it marks a free slot in hash tables of names."""


@small
def longer_name(name, rule):
    """The unfinished name of a derivation after one more rule."""
    return (name ^ (name >> np.uint64(29)) ^ np.uint64(rule + 1)) * GOLDEN


@small
def finished_name(name):
    """The name of a finished derivation."""
    return mix(name) | np.uint64(1)


@small
def name_of(rules, constants, row, length):
    """The name of a derivation. Its random constants are a row of `constants`, or None if the grammar draws none."""
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
    """The slot of a name in a hash table with open addressing, or the free slot for it. Its size is a power of two."""
    mask = np.uint64(len(keys) - 1)
    place = (name >> np.uint64(1)) & mask
    while keys[place] != FREE and keys[place] != name:
        place = (place + np.uint64(1)) & mask
    return place
