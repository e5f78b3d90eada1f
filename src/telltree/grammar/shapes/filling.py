"""From shapes to formulas: all ways to fill the slots of a shape, compiled, as many at a time as are wanted."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, borrowed, kernel, small
from telltree.grammar.derivations.naming import FREE, finished_name, longer_name
from telltree.grammar.derivations.population import Population
from telltree.grammar.shapes.shapes import Shape

_MOST_LOOKED = 1 << 22
_ALL, _NONE = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0)


class Texts(NamedTuple):
    """All that slots may be filled with, one row each."""

    rules: NDArray[np.int32]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, choices: Sequence[tuple[int, ...]]) -> "Texts":
        """These choices."""
        width = max(map(len, choices), default=1)
        rules = np.zeros((len(choices), max(1, width)), np.int32)
        for row, choice in enumerate(choices):
            rules[row, : len(choice)] = choice
        return cls(rules, np.array([len(choice) for choice in choices], np.int64))

    def rows(self, which: NDArray[np.int64]) -> Population:
        """Some of them as a population of their own, without names."""
        rules = self.rules[which]
        return Population(rules, np.empty((len(which), 0)), self.lengths[which], np.zeros(len(which), np.uint64))


class Sweep(NamedTuple):
    """A shape, and what to fill each slot with: entries `first` … `first + number − 1` of `chosen`."""

    items: NDArray[np.int32]
    first: NDArray[np.int64]
    number: NDArray[np.int64]
    follows: NDArray[np.int64]  # slots that may be exchanged are filled in one order only
    chosen: NDArray[np.int64]  # rows of the texts
    known: NDArray[np.uint64]  # a filling whose entries have a bit in common was tried with another shape
    hopeless: NDArray[np.bool_]  # entries with which no filling can be good enough; whoever sweeps may set more

    @classmethod
    def of(cls, shape: Shape, chosen: Sequence[NDArray[np.int64]], known: Sequence[NDArray[np.uint64]]) -> "Sweep":
        """A shape, with the rows for each slot, and their marks."""
        number = np.array([len(rows) for rows in chosen], np.int64)
        rows = np.concatenate([*chosen, np.empty(0, np.int64)])
        marks = np.concatenate([*known, np.empty(0, np.uint64)])
        follows = np.array(shape.follows, np.int64)
        return cls(
            np.array(shape.items, np.int32),
            np.cumsum(number) - number,
            number,
            follows,
            rows,
            marks,
            np.zeros(len(rows), np.bool_),
        )

    @classmethod
    def alone(cls, items: NDArray[np.int32], chosen: NDArray[np.int64]) -> "Sweep":
        """A derivation with one slot, and what to fill it with."""
        first, number = np.zeros(1, np.int64), np.array([len(chosen)], np.int64)
        none = np.zeros(len(chosen), np.uint64), np.zeros(len(chosen), np.bool_)
        return cls(items, first, number, np.full(1, -1), chosen, *none)

    @property
    def is_empty(self) -> bool:
        """Whether some slot has nothing to be filled with."""
        return not self.number.all()

    @property
    def fillings(self) -> int:
        """How many fillings there are; those that are known are counted, too."""
        found, first = 1, dict[int, int]()
        for slot, before in enumerate(self.follows.tolist()):
            first[slot] = first.get(before, slot)
        for slot, times in Counter(first.values()).items():
            for k in range(times):  # of k slots with n choices in one order: n (n + 1) … (n + k − 1) / k!
                found = found * (int(self.number[slot]) + k) // (k + 1)
        return found


@small
def _fill(sweep, texts, cursor, rules):
    """Write one filling; returns its length and its name."""
    length, name = 0, FREE
    for k in range(len(sweep.items)):
        item = sweep.items[at(k)]
        if item >= 0:
            rules[at(length)], name = item, longer_name(name, item)
            length += 1
            continue
        slot = at(-1 - item)
        text = at(sweep.chosen[at(sweep.first[slot] + cursor[slot])])
        for j in range(texts.lengths[text]):
            rules[at(length)], name = texts.rules[text, at(j)], longer_name(name, texts.rules[text, at(j)])
            length += 1
    return length, finished_name(name)


@kernel
def fill_slots(sweep, texts, cursor, rules, lengths, names, row, end):  # noqa: PLR0917  a kernel
    """Write the fillings from the cursor on into rows `row` … `end` − 1; the cursor moves on.

    Returns the row after the last one written, whether all fillings were written, and whether there is time to go on:
    millions that were known or hopeless take as long as anybody will wait.
    """
    sweep, texts = borrowed(sweep), borrowed(texts)
    slots, looked = len(cursor), 0
    while row < end and looked < _MOST_LOOKED:
        looked += 1
        shared, slot = _ALL if slots else _NONE, 0
        while slot < slots and not sweep.hopeless[at(sweep.first[at(slot)] + cursor[at(slot)])]:
            shared &= sweep.known[at(sweep.first[at(slot)] + cursor[at(slot)])]
            slot += 1
        if slot < slots:  # go on with what else may fill this slot
            for k in range(slot + 1, slots):
                cursor[at(k)] = sweep.number[at(k)] - 1
        elif shared == _NONE:
            lengths[at(row)], names[at(row)] = _fill(sweep, texts, cursor, rules[at(row)])
            row += 1
        slot = slots - 1
        while slot >= 0:
            cursor[at(slot)] += 1
            if cursor[at(slot)] < sweep.number[at(slot)]:
                break
            slot -= 1
        if slot < 0:
            return row, True, True
        for k in range(slot + 1, slots):
            before = sweep.follows[at(k)]
            cursor[at(k)] = cursor[at(before)] if before >= 0 else 0
    return row, False, looked < _MOST_LOOKED
