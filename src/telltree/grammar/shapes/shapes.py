"""The shapes of a grammar within a scope: formulas with slots for their atoms, one for each meaning."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from telltree.errors import SettingsError
from telltree.grammar.rules.rule import Rule
from telltree.grammar.shapes.choices import Choice, Choices
from telltree.grammar.shapes.scope import Scope, atoms_in
from telltree.grammar.shapes.values import AND, EVER, LEAF, Valued, Values
from telltree.operators import Expression, Hole, Type

MOST_SHAPES = 50_000
_MOST_TRIED = 5_000_000
"""How many ways to put shapes together are tried before giving up."""


class Group(NamedTuple):
    """What may fill a slot: all of the same size and depth, so that a shape has one size."""

    choices: tuple[tuple[int, ...], ...]
    """Rules in prefix order."""
    is_condition: bool
    """Whether each of them is a formula by itself, true or false at each step."""


class Conditions(NamedTuple):
    """By which the group of all that a symbol can write is known, if no condition is left to choose in it."""

    symbol: str
    atoms: int
    size: int
    terminals: int
    height: int


class Shape(NamedTuple):
    """A formula with its atoms left open."""

    items: tuple[int, ...]
    """Its derivation in prefix order: rules, and −1 − the number of a slot."""
    slots: tuple[Hashable, ...]
    """The group of each slot."""
    atoms: int
    size: int
    follows: tuple[int, ...]
    """For each slot the last one before it that it may be exchanged with, as in `a ∧ b`; −1 if there is none."""
    simple: "Simple | None"


class Simple(NamedTuple):
    """The meaning of a shape that is F of a conjunction of atoms, or a conjunction of F of single atoms."""

    name: str
    """Which of the two."""
    kind: tuple[tuple[int, int], ...]
    """For each slot its group, and 1 if F of it is negated: the same for shapes that differ only in which atoms are."""
    slots: tuple[int, ...]
    """The slots in the order of `kind`; those of which it says the same may be exchanged."""
    negated: tuple[int, ...]
    """For each of them, 1 if its atom is negated."""


class _Entry(NamedTuple):
    """A shape of some symbol."""

    valued: Valued
    items: tuple[int, ...]
    slots: tuple[Hashable, ...]
    atoms: int
    size: int
    terminals: int
    """What a scope limits; the same as the size, unless that counts nodes of the derivation tree."""
    height: int


class Shapes:
    """All shapes of the start symbol within a scope, those of fewer atoms and terminals first.

    Of shapes that mean the same, or the opposite, only the shortest is there; with `every_size`, one of each size.
    """

    def __init__(self, rules: Sequence[Rule], scope: Scope, *, every_size: bool = False) -> None:
        self._rules, self._scope, self.every_size = rules, scope, every_size
        self._choices = Choices(rules)
        self._values, self._tried = Values(), 0
        self.groups: dict[Hashable, Group] = {}
        self._types = {e.head.symbol: e.head.type for r in rules for e in r.template.walk() if isinstance(e.head, Hole)}
        self._types[rules[0].symbol] = Type.BOOLEAN
        self._entries: dict[str, list[_Entry]] = defaultdict(list)
        self._reached: dict[tuple[str, int], list[tuple[int, int, int]]] = defaultdict(list)
        closed, opened = self._sorted_rules()
        for height in range(scope.max_depth + 1):
            for symbol, entry in closed.get(height, ()):
                self._enter(symbol, entry)
            for number, rule, options in opened:
                for entry in self._grown(number, rule, options, height):
                    self._enter(rule.symbol, entry)
        self.all = self._finished(rules[0].symbol)

    def _sorted_rules(self) -> tuple[dict[int, list[tuple[str, _Entry]]], list[tuple[int, Rule, list[Any]]]]:
        """Shapes that are a single slot, by height; and the rules that have conditions to choose, with their parts."""
        closed: dict[Conditions, list[Choice]] = defaultdict(list)
        opened = []
        for number, rule in enumerate(self._rules):
            if rule.symbol not in self._choices.conditional:
                continue
            if self._choices.is_open(rule.template):
                opened.append((number, rule, list(self._parts(rule.template, 0))))
                continue
            atoms = atoms_in(rule.template)
            for choice in self._choices.of_rule(number, rule, self._scope.max_depth):
                closed[Conditions(rule.symbol, atoms, *choice[1:])].append(choice)
        found: dict[int, list[tuple[str, _Entry]]] = defaultdict(list)
        for key, choices in closed.items():
            symbol, atoms, size, terminals, height = key
            condition = self._types[symbol] in (Type.BOOLEAN, Type.BOOLEAN_VECTOR)
            self.groups[key] = Group(tuple(choice.rules for choice in choices), condition)
            leaf = self._values.leaf(key, 0)
            found[height].append((symbol, _Entry(leaf, (-1,), (key,), atoms, size, terminals, height)))
        return found, opened

    def _parts(self, e: Expression, above: int) -> Iterator[tuple[str, int] | list[_Entry]]:
        """For each part of a template that is not looked into, in prefix order: a symbol, and how many operators are
        above it; or all shapes that the part has."""
        if isinstance(e.head, Hole) and e.head.symbol in self._choices.conditional:
            yield e.head.symbol, above
        elif self._choices.is_open(e):
            for arg in e.args:
                yield from self._parts(arg, above + 1)
        else:
            by_size: dict[tuple[int, ...], list[Choice]] = defaultdict(list)
            for filling in self._choices.fillings(e, above, self._scope.max_depth):
                by_size[filling[1:]].append(filling)
            yield [self._part(e, fillings) for fillings in by_size.values()]

    def _part(self, e: Expression, fillings: list[Choice]) -> _Entry:
        rules, *measures = fillings[0]
        if not rules:  # nothing to choose
            return _Entry(self._values.leaf(e, None), (), (), 0, *measures)
        key = e, *measures
        self.groups[key] = Group(tuple(filling.rules for filling in fillings), False)
        return _Entry(self._values.leaf(key, 0), (-1,), (key,), 0, *measures)

    def _grown(self, number: int, rule: Rule, parts: Sequence[Any], height: int) -> Iterator[_Entry]:
        """The shapes of exactly this height that begin with a rule."""
        template = rule.template
        if template.depth > height:
            return
        options = [
            part if isinstance(part, list) else [e for e in self._entries[part[0]] if e.height + part[1] <= height]
            for part in parts
        ]
        drops = [0 if isinstance(part, list) else part[1] for part in parts]
        own = atoms_in(template)
        for fillers in self._products(options, own, rule.terminals):
            reached = max((d + f.height for d, f in zip(drops, fillers, strict=True)), default=0)
            if max(reached, template.depth) == height:
                yield self._joined(number, rule, fillers, own, height)

    def _products(
        self, options: Sequence[Sequence[_Entry]], atoms: int, terminals: int
    ) -> Iterator[tuple[_Entry, ...]]:
        """One of each, as long as they stay within the scope."""
        if not options:
            yield ()
            return
        for first in options[0]:
            self._tried += 1
            if self._tried > _MOST_TRIED:
                raise _too_many_shapes()
            if self._scope.has(atoms + first.atoms, terminals + first.terminals, 0):
                for rest in self._products(options[1:], atoms + first.atoms, terminals + first.terminals):
                    yield first, *rest

    def _joined(self, number: int, rule: Rule, fillers: Sequence[_Entry], atoms: int, height: int) -> _Entry:
        items, slots, waiting = [number], list[Hashable](), []
        for filler in fillers:
            items += [item if item >= 0 else item - len(slots) for item in filler.items]
            waiting.append(Valued(filler.valued.value, _shifted(filler.valued.tree, len(slots))))
            slots += filler.slots
        parts = iter(waiting)

        def part(e: Expression) -> Valued | None:
            whole = isinstance(e.head, Hole) or not self._choices.is_open(e)
            return next(parts) if whole else None

        valued = self._values.of(rule.template, part)
        return _Entry(
            valued, tuple(items), tuple(slots), atoms + sum(f.atoms for f in fillers),
            rule.size + sum(f.size for f in fillers), rule.terminals + sum(f.terminals for f in fillers), height,
        )  # fmt: skip

    def _enter(self, symbol: str, entry: _Entry) -> None:
        """Keep a shape, unless one with the same meaning is no longer and nests no deeper."""
        if not self._scope.has(entry.atoms, entry.terminals, entry.height):
            return
        reached = self._reached[symbol, entry.valued.value]
        for size, terminals, height in reached:
            if (
                height <= entry.height
                and terminals <= entry.terminals
                and (size == entry.size if self.every_size else size <= entry.size)
            ):
                return
        reached.append((entry.size, entry.terminals, entry.height))
        self._entries[symbol].append(entry)
        if len(self._reached) > MOST_SHAPES:
            raise _too_many_shapes()

    def _finished(self, start: str) -> list[Shape]:
        """The shapes of the start symbol: a formula and its negation make the same split."""
        best: dict[tuple[int, int], _Entry] = {}
        for entry in self._entries[start]:
            key = entry.valued.value >> 1, entry.size if self.every_size else 0
            if key not in best or entry.size < best[key].size:
                best[key] = entry
        found = [self._shape(entry) for entry in best.values()]
        return sorted(found, key=lambda shape: (shape.atoms, shape.size))

    def _shape(self, entry: _Entry) -> Shape:
        follows = [-1] * len(entry.slots)
        self._note_alike(entry.valued, follows)
        simple = self._simple(entry.valued)
        return Shape(entry.items, entry.slots, entry.atoms, entry.size, tuple(follows), simple)

    def _note_alike(self, valued: Valued, follows: list[int]) -> None:
        """Note which slots may be exchanged: equal leaves of one conjunction."""
        node = self._values.node(valued.value)
        if node.kind == LEAF:
            return
        if node.kind == AND:
            alike: dict[int, list[int]] = defaultdict(list)
            for value, tree in zip(node.operands, valued.tree, strict=True):
                slot = self._slot_of(value, tree)
                if slot is not None:
                    alike[value].append(slot)
            for slots in alike.values():
                slots.sort()
                for before, slot in pairwise(slots):
                    follows[slot] = before
        for value, tree in zip(node.operands, valued.tree, strict=True):
            self._note_alike(Valued(value, tree), follows)

    def _slot_of(self, value: int, tree: Any) -> int | None:
        """The only slot of an atom, or of F of an atom."""
        node = self._values.node(value)
        if node.kind == EVER:
            return self._slot_of(node.operands[0], tree[0])
        return tree if node.kind == LEAF else None

    def _simple(self, valued: Valued) -> Simple | None:
        node, tree = self._values.node(valued.value), valued.tree
        if node.kind == EVER and self._values.node(node.operands[0]).kind == AND:
            inner = self._values.node(node.operands[0])
            return None if node.operands[0] & 1 else self._atoms("ever both", inner.operands, tree[0], 0)
        if node.kind == AND:
            return self._atoms("each ever", node.operands, tree, 1)
        return self._atoms("ever", (valued.value & ~1,), (tree,), 1)

    def _atoms(self, name: str, operands: Sequence[int], trees: Sequence[Any], evers: int) -> Simple | None:
        """The slots of a conjunction of atoms, or of F of atoms if `evers`; None if it has other parts."""
        found = []
        for value, tree in zip(operands, trees, strict=True):
            node, side = self._values.node(value), 0
            if evers:
                if node.kind != EVER:
                    return None
                side, value, tree = value & 1, node.operands[0], tree[0]  # noqa: PLW2901
                node = self._values.node(value)
            if node.kind != LEAF or tree is None:
                return None
            found.append((value >> 1, side, tree, value & 1))
        found.sort()
        kind = tuple((group, side) for group, side, _, _ in found)
        return Simple(name, kind, tuple(slot for _, _, slot, _ in found), tuple(negated for *_, negated in found))


def _shifted(tree: Any, by: int) -> Any:
    if isinstance(tree, tuple):
        return tuple(_shifted(part, by) for part in tree)
    return None if tree is None else tree + by


def _too_many_shapes() -> SettingsError:
    return SettingsError(
        "this grammar has too many kinds of formulas to try them all; allow fewer atoms or less depth, or take another "
        "search"
    )
