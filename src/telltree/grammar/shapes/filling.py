"""From shapes to formulas: all ways to fill the slots of a shape, compiled, as many at a time as are wanted."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import kernel
from telltree.grammar.derivations.naming import name_of
from telltree.grammar.derivations.population import Population
from telltree.grammar.shapes.shapes import Shape

_MOST_LOOKED = 1 << 22
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


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


@kernel
def fill_slots(sweep, texts, cursor, rules, lengths, names, row, end):  # noqa: PLR0917  a kernel
    """Write the fillings from the cursor on into rows `row` … `end` − 1; the cursor moves on.

    Returns the row after the last one written, whether all fillings were written, and whether there is time to go on:
    millions that were known or hopeless take as long as anybody will wait.
    """
    slots, looked = len(cursor), 0
    while row < end and looked < _MOST_LOOKED:
        looked += 1
        shared, slot = _ALL if slots else np.uint64(0), 0
        while slot < slots and not sweep.hopeless[sweep.first[slot] + cursor[slot]]:
            shared &= sweep.known[sweep.first[slot] + cursor[slot]]
            slot += 1
        if slot < slots:  # go on with what else may fill this slot
            cursor[slot + 1 :] = sweep.number[slot + 1 :] - 1
        elif shared == np.uint64(0):
            length = 0
            for item in sweep.items:
                if item >= 0:
                    rules[row, length] = item
                    length += 1
                else:
                    slot = -1 - item
                    text = sweep.chosen[sweep.first[slot] + cursor[slot]]
                    for k in range(texts.lengths[text]):
                        rules[row, length] = texts.rules[text, k]
                        length += 1
            lengths[row], names[row] = length, name_of(rules[row], None, row, length)
            row += 1
        slot = slots - 1
        while slot >= 0:
            cursor[slot] += 1
            if cursor[slot] < sweep.number[slot]:
                break
            slot -= 1
        if slot < 0:
            return row, True, True
        for k in range(slot + 1, slots):
            cursor[k] = cursor[sweep.follows[k]] if sweep.follows[k] >= 0 else 0
    return row, False, looked < _MOST_LOOKED
