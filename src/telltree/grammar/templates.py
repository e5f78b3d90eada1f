"""Templates: formulas whose atoms are left open, one for each meaning within a scope."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, NamedTuple

from telltree.errors import SettingsError
from telltree.grammar.normal_form import Rule
from telltree.grammar.tables import code_of
from telltree.logic import Expression, Hole, Type
from telltree.logic.meaning import MicroOp

# ---- The meaning of templates, in a form that is the same for all templates with the same meaning.
#
# A value is a number that stands for a node of a table, and its lowest bit for a negation. ∧, ∨, ⇒ and ¬ are written
# as ∧ and negations, F and G as F and negations, ∧ has any number of operands in a fixed order, and F(a ∨ b) is F a ∨
# F b. All of this holds at every step of a record, so equal values may replace each other anywhere.

LEAF, AND, EVER, OPAQUE = "leaf", "and", "ever", "opaque"


class TemplateNode(NamedTuple):
    """One entry of the table."""

    kind: str
    what: Hashable
    """The content of a leaf, or the operator of an opaque node."""
    operands: tuple[int, ...]


class Valued(NamedTuple):
    """A value, and the slots of its leaves: the tree of its node, with slots in place of leaves."""

    value: int
    tree: Any
    """The slot of a leaf, or None if it has none; else the trees of the operands, in their order."""

    @property
    def negated(self) -> "Valued":
        """Its negation."""
        return Valued(self.value ^ 1, self.tree)


class Values:
    """The table of all values so far, each once."""

    def __init__(self) -> None:
        self.nodes: list[TemplateNode] = []
        self._places: dict[TemplateNode, int] = {}

    def node(self, value: int) -> TemplateNode:
        """Return the node of a value."""
        return self.nodes[value >> 1]

    def leaf(self, what: Hashable, slot: int | None) -> Valued:
        """Return the value of a leaf."""
        return Valued(self._entered(TemplateNode(LEAF, what, ())), slot)

    def of(self, e: Expression, part: Callable[[Expression], Valued | None]) -> Valued:  # noqa: PLR0911  one an operator
        """Return the value of a template; `part` gives those of its holes and of other leaves."""
        given = part(e)
        if given is not None:
            return given
        operands = [self.of(arg, part) for arg in e.args]
        match code_of(e):
            case MicroOp.NOT:
                return operands[0].negated
            case MicroOp.AND:
                return self.both(operands)
            case MicroOp.OR:
                return self.both([operand.negated for operand in operands]).negated
            case MicroOp.IMPLIES:
                return self.both([operands[0], operands[1].negated]).negated
            case MicroOp.EVENTUALLY:
                return self.ever(operands[0])
            case MicroOp.GLOBALLY:
                return self.ever(operands[0].negated).negated
        node = TemplateNode(OPAQUE, e.head, tuple(operand.value for operand in operands))
        return Valued(self._entered(node), tuple(operand.tree for operand in operands))

    def both(self, operands: Sequence[Valued]) -> Valued:
        """Return the conjunction."""
        flat: list[Valued] = []
        for one in operands:
            node = self.node(one.value)
            inside = node.kind == AND and not one.value & 1
            flat += map(Valued, node.operands, one.tree) if inside else [one]
        flat.sort(key=lambda operand: operand.value)
        node = TemplateNode(AND, None, tuple(operand.value for operand in flat))
        return Valued(self._entered(node), tuple(operand.tree for operand in flat))

    def ever(self, operand: Valued) -> Valued:
        """Return F of the operand."""
        node = self.node(operand.value)
        if node.kind == AND and operand.value & 1:  # a disjunction
            parts = [
                self.ever(Valued(value ^ 1, tree)) for value, tree in zip(node.operands, operand.tree, strict=True)
            ]
            return self.both([part.negated for part in parts]).negated
        if node.kind == EVER and not operand.value & 1:
            return operand
        return Valued(self._entered(TemplateNode(EVER, None, (operand.value,))), (operand.tree,))

    def _entered(self, node: TemplateNode) -> int:
        place = self._places.setdefault(node, len(self.nodes))
        if place == len(self.nodes):
            self.nodes.append(node)
        return 2 * place


# ---- Limits, and the numbers of formulas within them


@dataclass(frozen=True)
class FormulaLimits:
    """All formulas within limits on atoms, nested operators and terminals.

    An atom is the smallest condition, such as `x < 5`. Anything inside an atom does not count, unless it comes from a
    symbol of its own.
    """

    max_atoms: int
    max_depth: int
    max_size: int | None = None

    def has(self, atoms: int, size: int, depth: int) -> bool:
        """Return True if a formula is within the limits."""
        fits = self.max_size is None or size <= self.max_size
        return fits and atoms <= self.max_atoms and depth <= self.max_depth


def atoms_in(template: Expression) -> int:
    """Return the number of atoms that a template writes itself."""
    if code_of(template) is MicroOp.ATOM:
        return 1
    return sum(map(atoms_in, template.args))


def holes_in(template: Expression, above: int = 0) -> Iterator[tuple[Hole, int]]:
    """Yield the holes of a template, in prefix order, and the number of operators above each."""
    if isinstance(template.head, Hole):
        yield template.head, above
    for arg in template.args:
        yield from holes_in(arg, above + 1)


_Sizes = Counter[tuple[int, int]]
"""The numbers of derivations by atoms and size; the size is 0 where it does not matter."""
_Kind = tuple[int, int, int, tuple[tuple[str, int], ...]]
"""The atoms, size, height and holes of a rule, on which the number of its derivations depends."""
_ENDLESS = 1 << 40
"""More than the limits of any scope."""


class Counted:
    """The number of derivations within a scope."""

    def __init__(self, rules: Sequence[Rule], scope: FormulaLimits) -> None:
        self._scope, self._known = scope, dict[tuple[str, int], _Sizes]()
        self._kinds: dict[str, Counter[_Kind]] = {}
        for rule in rules:
            self._kinds.setdefault(rule.symbol, Counter())[self._kind(rule)] += 1

    def _kind(self, rule: Rule) -> _Kind:
        template = rule.template
        holes = tuple((hole.symbol, above) for hole, above in holes_in(template))
        return atoms_in(template), rule.terminals if self._scope.max_size is not None else 0, template.depth, holes

    def by_atoms(self, start: str) -> Mapping[int, int]:
        """Return the numbers of derivations of a symbol by their atoms."""
        found = Counter[int]()
        for (atoms, _), number in self._of(start, self._scope.max_depth).items():
            found[atoms] += number
        return found

    def is_all(self, start: str) -> bool:
        """Return True if the scope has all derivations of a symbol that nest no deeper than it allows."""
        largest = self._largest(start, self._scope.max_depth, {})
        return largest is None or self._scope.has(*largest, 0)

    def _largest(
        self, symbol: str, left: int, known: dict[tuple[str, int], tuple[int, int] | None]
    ) -> tuple[int, int] | None:
        """Return the most atoms and terminals of derivations that nest at most `left` operators; None if there are
        none.
        """
        if (symbol, left) not in known:
            found = []
            for atoms, size, height, holes in self._kinds[symbol]:
                if height > left:
                    continue
                below = [self._largest(hole, left - above, known) for hole, above in holes]
                inner = [one for one in below if one is not None]
                if len(inner) == len(below):
                    found.append((atoms + sum(one[0] for one in inner), size + sum(one[1] for one in inner)))
            known[symbol, left] = (max(one[0] for one in found), max(one[1] for one in found)) if found else None
        return known[symbol, left]

    def goes_deeper(self, start: str) -> bool:
        """Return True if there are derivations of a symbol that nest deeper than the scope allows."""
        return self._deepest(start, {}) > self._scope.max_depth

    def _deepest(self, symbol: str, known: dict[str, int]) -> int:
        """Return the most operators that derivations of a symbol nest."""
        if symbol not in known:
            known[symbol] = _ENDLESS  # for a cycle back to it
            known[symbol] = max(
                max([height, *(above + self._deepest(hole, known) for hole, above in holes)])
                for *_, height, holes in self._kinds[symbol]
            )
        return known[symbol]

    def _of(self, symbol: str, left: int) -> _Sizes:
        """Return the derivations of a symbol that nest at most `left` operators."""
        if (symbol, left) not in self._known:
            found = _Sizes()
            for (atoms, size, height, holes), times in self._kinds[symbol].items():
                if height > left:
                    continue
                ways = _Sizes({(atoms, size): times})
                for hole, above in holes:
                    ways = self._together(ways, self._of(hole, left - above))
                found.update(ways)
            self._known[symbol, left] = found
        return self._known[symbol, left]

    def _together(self, first: _Sizes, second: _Sizes) -> _Sizes:
        found = _Sizes()
        for (atoms, size), ways in first.items():
            for (more, larger), others in second.items():
                if self._scope.has(atoms + more, size + larger, 0):
                    found[atoms + more, size + larger] += ways * others
        return found


# ---- Fillings of slots: derivations in which no condition is open, such as `x < 5`

MOST_CHOICES = 1_000_000
_CONDITIONS = frozenset({Type.BOOLEAN, Type.BOOLEAN_VECTOR, Type.COUNT})


class SlotFilling(NamedTuple):
    """One filling of a slot: rules in prefix order, the size and terminals that they add, and the operators that they
    nest.
    """

    rules: tuple[int, ...]
    size: int
    terminals: int
    height: int


class Choices:
    """The derivations of symbols without an open condition."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._of_symbol: dict[str, list[tuple[int, Rule]]] = {}
        for number, rule in enumerate(rules):
            self._of_symbol.setdefault(rule.symbol, []).append((number, rule))
        self._written = 0
        self.conditional = self._conditional()
        """The symbols that write conditions, or something of which conditions are a part."""
        self._known: dict[tuple[str, int], list[SlotFilling]] = {}

    def _conditional(self) -> frozenset[str]:
        holes = {s: [hole for _, r in own for hole, _ in holes_in(r.template)] for s, own in self._of_symbol.items()}
        found = {next(iter(holes))} | {h.symbol for own in holes.values() for h in own if h.type in _CONDITIONS}
        while True:
            more = {s for s, own in holes.items() if s not in found and any(hole.symbol in found for hole in own)}
            if not more:
                return frozenset(found)
            found |= more

    def is_open(self, e: Expression) -> bool:
        """Return True if a template has open conditions."""
        return any(isinstance(node.head, Hole) and node.head.symbol in self.conditional for node in e.walk())

    def of_rule(self, number: int, rule: Rule, left: int) -> Iterator[SlotFilling]:
        """Yield all fillings by a rule without open conditions that nest at most `left` operators."""
        if rule.template.depth <= left:
            for rules, size, terminals, height in self.fillings(rule.template, 0, left):
                depth = max(rule.template.depth, height)
                yield SlotFilling((number, *rules), rule.size + size, rule.terminals + terminals, depth)

    def fillings(self, part: Expression, above: int, left: int) -> Iterator[SlotFilling]:
        """Yield all ways to fill the holes of a part of a template that has so many operators above it."""
        holes = list(holes_in(part, above))
        options = [self._of(hole.symbol, left - drop) for hole, drop in holes]
        for fillers in product(*options):
            self._written += 1
            if self._written > MOST_CHOICES:
                raise SettingsError(
                    f"this grammar has more than {MOST_CHOICES:,} atoms, too many to try all formulas; choose from "
                    f"fewer columns or constants, or take another search"
                )
            yield SlotFilling(
                tuple(number for filler in fillers for number in filler.rules),
                sum(filler.size for filler in fillers),
                sum(filler.terminals for filler in fillers),
                max((drop + filler.height for (_, drop), filler in zip(holes, fillers, strict=True)), default=0),
            )

    def _of(self, symbol: str, left: int) -> list[SlotFilling]:
        """Return all fillings by a symbol that nest at most `left` operators."""
        if (symbol, left) not in self._known:
            own = self._of_symbol[symbol]
            self._known[symbol, left] = [choice for rule in own for choice in self.of_rule(*rule, left)]
        return self._known[symbol, left]


# ---- The templates of a grammar within a scope, one for each meaning

MOST_TEMPLATES = 50_000
_MOST_TRIED = 5_000_000
"""The number of combinations of templates that are tried before giving up."""


class SlotGroup(NamedTuple):
    """Fillings of a slot, all of the same size and depth, so that a template has one size."""

    choices: tuple[tuple[int, ...], ...]
    """Rules in prefix order."""
    is_condition: bool
    """True if each of them is a formula by itself, true or false at each step."""


class Conditions(NamedTuple):
    """The key of the group of all fillings by a symbol without open conditions."""

    symbol: str
    atoms: int
    size: int
    terminals: int
    height: int


class Template(NamedTuple):
    """A formula with its atoms left open."""

    items: tuple[int, ...]
    """Its derivation in prefix order: rules, and −1 − the number of a slot."""
    slots: tuple[Hashable, ...]
    """The key of the group of each slot."""
    atoms: int
    size: int
    follows: tuple[int, ...]
    """For each slot the last one before it with which it may be exchanged, as in `a ∧ b`; −1 if there is none."""
    simple: "Simple | None"


class Simple(NamedTuple):
    """The meaning of a template that is F of a conjunction of atoms, or a conjunction of F of single atoms."""

    name: str
    """The name of the form."""
    kind: tuple[tuple[int, int], ...]
    """For each slot its group, and 1 if F of it is negated: the same for templates that differ only in negations of
    atoms.
    """
    slots: tuple[int, ...]
    """The slots in the order of `kind`; slots of equal kind may be exchanged."""
    negated: tuple[int, ...]
    """For each of them, 1 if its atom is negated."""


class _Entry(NamedTuple):
    """A template of some symbol."""

    valued: Valued
    items: tuple[int, ...]
    slots: tuple[Hashable, ...]
    atoms: int
    size: int
    terminals: int
    """The terminals that a scope limits; the same as the size, unless that counts nodes of the derivation tree."""
    height: int


class TemplateSet:
    """All templates of the start symbol within a scope, those of fewer atoms and terminals first.

    Of templates with the same meaning, or the opposite one, only the shortest is kept; with `every_size`, one of each
    size.
    """

    def __init__(self, rules: Sequence[Rule], scope: FormulaLimits, *, every_size: bool = False) -> None:
        self._rules, self._scope, self.every_size = rules, scope, every_size
        self._choices = Choices(rules)
        self._values, self._tried = Values(), 0
        self.groups: dict[Hashable, SlotGroup] = {}
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
        """Return templates that are a single slot, by height; and the rules with open conditions, with their parts."""
        closed: dict[Conditions, list[SlotFilling]] = defaultdict(list)
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
            self.groups[key] = SlotGroup(tuple(choice.rules for choice in choices), condition)
            leaf = self._values.leaf(key, 0)
            found[height].append((symbol, _Entry(leaf, (-1,), (key,), atoms, size, terminals, height)))
        return found, opened

    def _parts(self, e: Expression, above: int) -> Iterator[tuple[str, int] | list[_Entry]]:
        """Yield, for each leaf part of a template in prefix order, a symbol and the operators above it, or all its
        templates.
        """
        if isinstance(e.head, Hole) and e.head.symbol in self._choices.conditional:
            yield e.head.symbol, above
        elif self._choices.is_open(e):
            for arg in e.args:
                yield from self._parts(arg, above + 1)
        else:
            by_size: dict[tuple[int, ...], list[SlotFilling]] = defaultdict(list)
            for filling in self._choices.fillings(e, above, self._scope.max_depth):
                by_size[filling[1:]].append(filling)
            yield [self._part(e, fillings) for fillings in by_size.values()]

    def _part(self, e: Expression, fillings: list[SlotFilling]) -> _Entry:
        rules, *measures = fillings[0]
        if not rules:  # nothing is open
            return _Entry(self._values.leaf(e, None), (), (), 0, *measures)
        key = e, *measures
        self.groups[key] = SlotGroup(tuple(filling.rules for filling in fillings), False)
        return _Entry(self._values.leaf(key, 0), (-1,), (key,), 0, *measures)

    def _grown(self, number: int, rule: Rule, parts: Sequence[Any], height: int) -> Iterator[_Entry]:
        """Yield the templates of exactly this height that begin with a rule."""
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
        """Yield all combinations, one of each option, that stay within the scope."""
        if not options:
            yield ()
            return
        for first in options[0]:
            self._tried += 1
            if self._tried > _MOST_TRIED:
                raise _too_many_templates()
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
        """Add a template, unless one with the same meaning is no longer and nests no deeper."""
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
        if len(self._reached) > MOST_TEMPLATES:
            raise _too_many_templates()

    def _finished(self, start: str) -> list[Template]:
        """Return the templates of the start symbol: a formula and its negation make the same split."""
        best: dict[tuple[int, int], _Entry] = {}
        for entry in self._entries[start]:
            key = entry.valued.value >> 1, entry.size if self.every_size else 0
            if key not in best or entry.size < best[key].size:
                best[key] = entry
        found = [self._template(entry) for entry in best.values()]
        return sorted(found, key=lambda template: (template.atoms, template.size))

    def _template(self, entry: _Entry) -> Template:
        follows = [-1] * len(entry.slots)
        self._note_alike(entry.valued, follows)
        simple = self._simple(entry.valued)
        return Template(entry.items, entry.slots, entry.atoms, entry.size, tuple(follows), simple)

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
        """Return the only slot of an atom, or of F of an atom."""
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
        """Return the slots of a conjunction of atoms, or of F of atoms if `evers`; None if it has other parts."""
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


def _too_many_templates() -> SettingsError:
    return SettingsError(
        "this grammar has too many kinds of formulas to try them all; allow fewer atoms or less depth, or take another "
        "search"
    )
