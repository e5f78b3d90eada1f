"""From templates to formulas: compiled ways to fill their slots, and to extend a formula by one atom."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, borrowed, kernel, small
from telltree.grammar.derivation import Population
from telltree.grammar.grammar import Derivation, Grammar
from telltree.grammar.random_streams import FREE, finished_name, longer_name
from telltree.grammar.tables import code_of
from telltree.grammar.templates import Conditions, Shapes, Template
from telltree.logic import Hole
from telltree.logic.meaning import MicroOp

# ---- From shapes to formulas: all ways to fill the slots of a shape, compiled, as many at a time as are wanted.

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


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
    def of(cls, shape: Template, chosen: Sequence[NDArray[np.int64]], known: Sequence[NDArray[np.uint64]]) -> "Sweep":
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
def fill_slots(sweep, texts, cursor, rules, lengths, names, row, end):
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


# ---- What to fill the slots of shapes with, given which conditions hold at the same steps of the records at hand.

Signatures = Callable[[Population], "list[tuple[bytes, bytes]] | None"]
"""For each condition what it and its negation are known by, zeros for what holds at no step; None if not known."""
Ints = NDArray[np.int64]
_MOST_KNOWN = 64  # bits in a mark


class Swept(NamedTuple):
    """All that slots may be filled with, and for each shape how to fill it."""

    texts: Texts
    sweeps: list[Sweep]
    telling: dict[Hashable, Ints]
    """Of each group, one of the texts that hold at the same steps; none that holds at all steps or at none."""


def swept(shapes: Shapes, marks: Signatures | None) -> Swept:
    """What to fill the slots of all shapes with."""
    groups, first = shapes.groups, dict[Hashable, int]()
    choices = [choice for group in groups.values() for choice in group.choices]
    for key in groups:
        first[key] = sum(len(groups[before].choices) for before in first)
    texts = Texts.of(choices)
    literals = np.full(len(choices), -1, np.int64)
    for key, group in groups.items():
        if group.is_condition:
            own = first[key] + np.arange(len(group.choices))
            literals[own] = own
    settled = _tell_apart(literals, texts, marks)
    rows = {key: first[key] + np.arange(len(group.choices)) for key, group in groups.items()}
    sweeps = _Sweeps(literals, rows, shapes.every_size)
    telling = {key: own[~np.isin(literals[own] >> 1, settled)] for key, own in sweeps.distinct.items()}
    return Swept(texts, sweeps.all(shapes.all), telling)


def _tell_apart(literals: Ints, texts: Texts, marks: Signatures | None) -> list[int]:
    """Number the conditions: those that hold at the same steps have the same number, a negation the next one to it.

    Returns half the numbers of those that hold at all steps or at none, as far as that is known.
    """
    conditions = np.flatnonzero(literals >= 0)
    found = marks(texts.rows(conditions)) if marks is not None and len(conditions) else None
    if found is None:
        literals[conditions] = 2 * np.arange(len(conditions))
        return []
    numbers: dict[bytes, int] = {}
    for row, (true, false) in zip(conditions.tolist(), found, strict=True):
        number = numbers.setdefault(min(true, false), len(numbers))
        literals[row] = 2 * number + (true > false)
    return [number for mark, number in numbers.items() if not any(mark)]


class _Sweeps:
    """Makes sweeps of shapes, and keeps in mind what the simple ones of them have tried."""

    def __init__(self, literals: Ints, rows: dict[Hashable, Ints], every_size: bool) -> None:
        self._literals, self._rows, self._every_size = literals, rows, every_size
        self.distinct = {key: self._one_each(own) for key, own in rows.items()}
        self._tried: dict[Hashable, list[list[Ints]]] = defaultdict(list)

    def _one_each(self, rows: Ints) -> Ints:
        """One of the conditions that hold at the same steps: that in the middle, whose constant is likely to be far
        from where it would tell records apart."""
        if len(rows) and self._literals[rows[0]] < 0:
            return rows
        alike = defaultdict(list)
        for row, literal in zip(rows.tolist(), self._literals[rows].tolist(), strict=True):
            alike[literal].append(row)
        return np.array(sorted(own[len(own) // 2] for own in alike.values()), np.int64)

    def all(self, shapes: Sequence[Template]) -> list[Sweep]:
        """The sweeps, in the order of the shapes."""
        return [self._of(shape) for shape in shapes]

    def _of(self, shape: Template) -> Sweep:
        rows = self._rows if len(shape.slots) == 1 else self.distinct  # a few more that tie, where that costs little
        chosen = [rows[key] for key in shape.slots]
        known = [np.zeros(len(own), np.uint64) for own in chosen]
        if shape.simple is not None and all(self._literals[own].min(initial=0) >= 0 for own in chosen):
            self._mark_known(shape, chosen, known)
        return Sweep.of(shape, chosen, known)

    def _mark_known(self, shape: Template, chosen: Sequence[Ints], known: Sequence[NDArray[np.uint64]]) -> None:
        """Mark which fillings an earlier shape has tried, no longer, that differs only in which atoms it negates."""
        assert shape.simple is not None
        name, kind, slots, negated = shape.simple
        tried = self._tried[name, kind, shape.size if self._every_size else 0]
        own = [self._literals[chosen[slot]] ^ turned for slot, turned in zip(slots, negated, strict=True)]
        bit = 0
        for earlier in tried:
            for order in permutations(range(len(slots))):
                if bit < _MOST_KNOWN and all(kind[k] == kind[order[k]] for k in range(len(slots))):
                    for k, slot in enumerate(slots):
                        met = np.isin(own[k], earlier[order[k]])
                        known[slot][met] |= np.uint64(1) << np.uint64(bit)
                    bit += 1
        tried.append(own)


# ---- Formulas with one more atom: every place of a formula where a condition may be joined with another.


class _Joining(NamedTuple):
    """A rule that joins a condition with another one of its own symbol."""

    rule: int
    other: str
    """The symbol of the new condition."""
    new_first: bool
    """Whether the new condition comes first."""


class Extending:
    """All ways to join a part of a formula with one more atom."""

    def __init__(
        self, grammar: Grammar, max_depth: int, texts: Texts, groups: dict[Hashable, NDArray[np.int64]]
    ) -> None:
        """`texts`, `groups`: what conditions there are, as for shapes."""
        self._grammar, self._max_depth, self._texts = grammar, max_depth, texts
        self._joining: dict[str, list[_Joining]] = {}
        self._atoms: dict[str, list[tuple[int, NDArray[np.int64]]]] = {}
        for key, own in groups.items():
            if isinstance(key, Conditions) and key.atoms == 1:
                self._atoms.setdefault(key.symbol, []).append((key.height, own))
        for number, rule in enumerate(grammar.rules):
            self._note(number, rule.symbol, rule.holes, code_of(rule.template))

    def _note(self, number: int, symbol: str, holes: Sequence[str], code: MicroOp) -> None:
        template = self._grammar.rules[number].template
        if len(holes) != 2 or not all(isinstance(arg.head, Hole) for arg in template.args):
            return
        sides = [(holes[1], False)] if holes[0] == symbol else []
        if holes[1] == symbol and not (sides and code in (MicroOp.AND, MicroOp.OR)):
            sides.append((holes[0], True))
        for other, new_first in sides:
            if other in self._atoms:
                self._joining.setdefault(symbol, []).append(_Joining(number, other, new_first))

    def best_first(self, formulas: Population, most: int, at_least: int) -> Population:
        """So many formulas at most that these become with one more atom, those of the first formulas first.

        If there is no room for all of `at_least` so many formulas, only every second or third … atom joins each.
        """
        room = Population.empty(most, formulas.rules.shape[1], False)
        row, thinned = 0, 0
        for i, length in enumerate(formulas.lengths.tolist()):
            sweeps = [
                (items, texts)
                for items, texts in self._of(formulas.rules[i, :length].tolist())
                if len(items) + self._texts.rules.shape[1] <= room.rules.shape[1]
            ]
            thinned = thinned or max(1, -(-at_least * sum(len(texts) for _, texts in sweeps) // most))
            for number, (items, texts) in enumerate(sweeps):
                sweep, cursor = Sweep.alone(items, texts[(i + number) % thinned :: thinned]), np.zeros(1, np.int64)
                if not sweep.is_empty:
                    row, _, _ = fill_slots(sweep, self._texts, cursor, room.rules, room.lengths, room.names, row, most)
                if row == most:
                    return room
        return room

    def _of(self, rules: list[int]) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]:
        """All formulas that a derivation becomes with one more atom: with a slot for it, and what may fill that."""
        whole = Derivation(self._grammar, rules)
        for node, rule in enumerate(rules):
            for joining in self._joining.get(self._grammar.rules[rule].symbol, ()):
                part = whole.span(node)
                before, inside, after = rules[:node], rules[part], rules[part.stop :]
                new = [-1, *inside] if joining.new_first else [*inside, -1]
                items = np.array([*before, joining.rule, *new, *after], np.int32)
                for texts in self._fitting(items, joining.other):
                    yield items, texts

    def _fitting(self, items: NDArray[np.int32], symbol: str) -> Iterator[NDArray[np.int64]]:
        """The atoms of a symbol that do not nest too deeply in the place that is left for them."""
        tables = self._grammar.tables
        above, deepest, room = [0], 0, 0
        for item in items.tolist():
            here = above.pop()
            if item < 0:
                room = self._max_depth - here
                continue
            deepest = max(deepest, here + int(tables.rule["height"][item]))
            holes = tables.hole[tables.rule["first_hole"][item] : tables.rule["first_hole"][item + 1]]
            above += [here + drop for drop in holes["drop"].tolist()[::-1]]
        if deepest <= self._max_depth:
            yield from (texts for height, texts in self._atoms[symbol] if height <= room)
