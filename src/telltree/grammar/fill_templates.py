"""From templates to formulas: compiled filling of their slots, and extension of a formula by one atom."""

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
from telltree.grammar.templates import Conditions, Template, TemplateSet
from telltree.logic import Hole
from telltree.logic.meaning import MicroOp

# ---- Filling the slots of templates in all ways, compiled, as many at a time as are wanted

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


_MOST_LOOKED = 1 << 22
_ALL, _NONE = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0)


class Fillings(NamedTuple):
    """All possible fillings of slots, one a row."""

    rules: NDArray[np.int32]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, choices: Sequence[tuple[int, ...]]) -> "Fillings":
        """Return these fillings."""
        width = max(map(len, choices), default=1)
        rules = np.zeros((len(choices), max(1, width)), np.int32)
        for row, choice in enumerate(choices):
            rules[row, : len(choice)] = choice
        return cls(rules, np.array([len(choice) for choice in choices], np.int64))

    def rows(self, which: NDArray[np.int64]) -> Population:
        """Return some of them as a population, without names."""
        rules = self.rules[which]
        return Population(rules, np.empty((len(which), 0)), self.lengths[which], np.zeros(len(which), np.uint64))


class Sweep(NamedTuple):
    """A template, and the fillings of each slot: entries `first` … `first + number − 1` of `chosen`."""

    items: NDArray[np.int32]
    first: NDArray[np.int64]
    number: NDArray[np.int64]
    follows: NDArray[np.int64]  # slots that may be exchanged are filled in one order only
    chosen: NDArray[np.int64]  # rows of the fillings
    known: NDArray[np.uint64]  # bits of entries: a filling whose entries share one was tried with another template
    hopeless: NDArray[np.bool_]  # entries with which no filling can be good enough; a search may set more

    @classmethod
    def of(
        cls, template: Template, chosen: Sequence[NDArray[np.int64]], known: Sequence[NDArray[np.uint64]]
    ) -> "Sweep":
        """Return the sweep of a template, given the rows for each slot and their bits."""
        number = np.array([len(rows) for rows in chosen], np.int64)
        rows = np.concatenate([*chosen, np.empty(0, np.int64)])
        signatures = np.concatenate([*known, np.empty(0, np.uint64)])
        follows = np.array(template.follows, np.int64)
        return cls(
            np.array(template.items, np.int32),
            np.cumsum(number) - number,
            number,
            follows,
            rows,
            signatures,
            np.zeros(len(rows), np.bool_),
        )

    @classmethod
    def alone(cls, items: NDArray[np.int32], chosen: NDArray[np.int64]) -> "Sweep":
        """Return the sweep of a derivation with one slot."""
        first, number = np.zeros(1, np.int64), np.array([len(chosen)], np.int64)
        none = np.zeros(len(chosen), np.uint64), np.zeros(len(chosen), np.bool_)
        return cls(items, first, number, np.full(1, -1), chosen, *none)

    @property
    def is_empty(self) -> bool:
        """True if some slot has no filling."""
        return not self.number.all()

    @property
    def size(self) -> int:
        """The number of fillings, known ones included."""
        found, first = 1, dict[int, int]()
        for slot, before in enumerate(self.follows.tolist()):
            first[slot] = first.get(before, slot)
        for slot, times in Counter(first.values()).items():
            for k in range(times):  # k slots with n choices in one order: n (n + 1) … (n + k − 1) / k!
                found = found * (int(self.number[slot]) + k) // (k + 1)
        return found


@small
def _fill(sweep, fillings, cursor, rules):
    """Write one filling; returns its length and its name."""
    length, name = 0, FREE
    for k in range(len(sweep.items)):
        item = sweep.items[at(k)]
        if item >= 0:
            rules[at(length)], name = item, longer_name(name, item)
            length += 1
            continue
        slot = at(-1 - item)
        row = at(sweep.chosen[at(sweep.first[slot] + cursor[slot])])
        for j in range(fillings.lengths[row]):
            rules[at(length)], name = fillings.rules[row, at(j)], longer_name(name, fillings.rules[row, at(j)])
            length += 1
    return length, finished_name(name)


@kernel
def fill_slots(sweep, fillings, cursor, rules, lengths, names, row, end):
    """Write the fillings from the cursor on into rows `row` … `end` − 1; the cursor moves on.

    Returns the row after the last one written, whether all fillings were written, and whether there is time to go on:
    it takes long to skip millions that are known or hopeless.
    """
    sweep, fillings = borrowed(sweep), borrowed(fillings)
    slots, looked = len(cursor), 0
    while row < end and looked < _MOST_LOOKED:
        looked += 1
        shared, slot = _ALL if slots else _NONE, 0
        while slot < slots and not sweep.hopeless[at(sweep.first[at(slot)] + cursor[at(slot)])]:
            shared &= sweep.known[at(sweep.first[at(slot)] + cursor[at(slot)])]
            slot += 1
        if slot < slots:  # go on with the next entry of this slot
            for k in range(slot + 1, slots):
                cursor[at(k)] = sweep.number[at(k)] - 1
        elif shared == _NONE:
            lengths[at(row)], names[at(row)] = _fill(sweep, fillings, cursor, rules[at(row)])
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


# ---- The fillings of all templates, given which conditions hold at the same steps of the records

Signatures = Callable[[Population], "list[tuple[bytes, bytes]] | None"]
"""Returns for each condition the signatures of itself and its negation, zeros if it holds at no step; None if unknown.
"""
Ints = NDArray[np.int64]
_MOST_KNOWN = 64  # bits of a known entry


class Swept(NamedTuple):
    """All fillings of slots, and the sweep of each template."""

    fillings: Fillings
    sweeps: list[Sweep]
    telling: dict[Hashable, Ints]
    """For each group, one filling of those that hold at the same steps; none that holds at all steps or at none."""


def swept(templates: TemplateSet, signatures: Signatures | None) -> Swept:
    """Return the fillings of the slots of all templates."""
    groups, first = templates.groups, dict[Hashable, int]()
    choices = [choice for group in groups.values() for choice in group.choices]
    for key in groups:
        first[key] = sum(len(groups[before].choices) for before in first)
    fillings = Fillings.of(choices)
    literals = np.full(len(choices), -1, np.int64)
    for key, group in groups.items():
        if group.is_condition:
            own = first[key] + np.arange(len(group.choices))
            literals[own] = own
    settled = _tell_apart(literals, fillings, signatures)
    rows = {key: first[key] + np.arange(len(group.choices)) for key, group in groups.items()}
    sweeps = _Sweeps(literals, rows, templates.every_size)
    telling = {key: own[~np.isin(literals[own] >> 1, settled)] for key, own in sweeps.distinct.items()}
    return Swept(fillings, sweeps.all(templates.all), telling)


def _tell_apart(literals: Ints, fillings: Fillings, signatures: Signatures | None) -> list[int]:
    """Number the conditions: those that hold at the same steps have the same number, and a negation the next one.

    Returns half the numbers of those that hold at all steps or at none, as far as that is known.
    """
    conditions = np.flatnonzero(literals >= 0)
    found = signatures(fillings.rows(conditions)) if signatures is not None and len(conditions) else None
    if found is None:
        literals[conditions] = 2 * np.arange(len(conditions))
        return []
    numbers: dict[bytes, int] = {}
    for row, (true, false) in zip(conditions.tolist(), found, strict=True):
        number = numbers.setdefault(min(true, false), len(numbers))
        literals[row] = 2 * number + (true > false)
    return [number for signature, number in numbers.items() if not any(signature)]


class _Sweeps:
    """Makes the sweeps of templates, and remembers what the simple ones of them have tried."""

    def __init__(self, literals: Ints, rows: dict[Hashable, Ints], every_size: bool) -> None:
        self._literals, self._rows, self._every_size = literals, rows, every_size
        self.distinct = {key: self._one_each(own) for key, own in rows.items()}
        self._tried: dict[Hashable, list[list[Ints]]] = defaultdict(list)

    def _one_each(self, rows: Ints) -> Ints:
        """Return the middle one of the conditions that hold at the same steps: its constant is likely to be robust."""
        if len(rows) and self._literals[rows[0]] < 0:
            return rows
        alike = defaultdict(list)
        for row, literal in zip(rows.tolist(), self._literals[rows].tolist(), strict=True):
            alike[literal].append(row)
        return np.array(sorted(own[len(own) // 2] for own in alike.values()), np.int64)

    def all(self, templates: Sequence[Template]) -> list[Sweep]:
        """Return the sweeps, in the order of the templates."""
        return [self._of(template) for template in templates]

    def _of(self, template: Template) -> Sweep:
        rows = self._rows if len(template.slots) == 1 else self.distinct  # a few more that tie, where that costs little
        chosen = [rows[key] for key in template.slots]
        known = [np.zeros(len(own), np.uint64) for own in chosen]
        if template.simple is not None and all(self._literals[own].min(initial=0) >= 0 for own in chosen):
            self._mark_known(template, chosen, known)
        return Sweep.of(template, chosen, known)

    def _mark_known(self, template: Template, chosen: Sequence[Ints], known: Sequence[NDArray[np.uint64]]) -> None:
        """Mark fillings that an earlier template has tried, of no more terminals, which differs only in negations of
        atoms.
        """
        assert template.simple is not None
        name, kind, slots, negated = template.simple
        tried = self._tried[name, kind, template.size if self._every_size else 0]
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


# ---- Formulas with one more atom: every place of a formula where a condition may be joined with another


class _Joining(NamedTuple):
    """A rule that joins a condition with another one of its own symbol."""

    rule: int
    other: str
    """The symbol of the new condition."""
    new_first: bool
    """True if the new condition comes first."""


class Extending:
    """All ways to join a part of a formula with one more atom."""

    def __init__(
        self, grammar: Grammar, max_depth: int, fillings: Fillings, groups: dict[Hashable, NDArray[np.int64]]
    ) -> None:
        """`fillings` are those that `swept` returned, `groups` the rows of each group of conditions."""
        self._grammar, self._max_depth, self._fillings = grammar, max_depth, fillings
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
        """Return at most this many formulas with one more atom, extensions of the first formulas first.

        If there is no room for all extensions of `at_least` formulas, only every second or third … atom joins each.
        """
        room = Population.empty(most, formulas.rules.shape[1], False)
        row, thinned = 0, 0
        for i, length in enumerate(formulas.lengths.tolist()):
            sweeps = [
                (items, rows)
                for items, rows in self._of(formulas.rules[i, :length].tolist())
                if len(items) + self._fillings.rules.shape[1] <= room.rules.shape[1]
            ]
            thinned = thinned or max(1, -(-at_least * sum(len(rows) for _, rows in sweeps) // most))
            for number, (items, rows) in enumerate(sweeps):
                sweep, cursor = Sweep.alone(items, rows[(i + number) % thinned :: thinned]), np.zeros(1, np.int64)
                if not sweep.is_empty:
                    row, _, _ = fill_slots(
                        sweep, self._fillings, cursor, room.rules, room.lengths, room.names, row, most
                    )
                if row == most:
                    return room
        return room

    def _of(self, rules: list[int]) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]:
        """Yield all extensions of a derivation by one atom: items with a slot for it, and the fillings of the slot."""
        whole = Derivation(self._grammar, rules)
        for node, rule in enumerate(rules):
            for joining in self._joining.get(self._grammar.rules[rule].symbol, ()):
                part = whole.span(node)
                before, inside, after = rules[:node], rules[part], rules[part.stop :]
                new = [-1, *inside] if joining.new_first else [*inside, -1]
                items = np.array([*before, joining.rule, *new, *after], np.int32)
                for rows in self._fitting(items, joining.other):
                    yield items, rows

    def _fitting(self, items: NDArray[np.int32], symbol: str) -> Iterator[NDArray[np.int64]]:
        """Yield the atoms of a symbol that do not nest too deeply in the slot."""
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
            yield from (rows for height, rows in self._atoms[symbol] if height <= room)
