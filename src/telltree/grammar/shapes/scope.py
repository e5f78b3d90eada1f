"""Which formulas of a grammar are meant, and how many they are."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from telltree.grammar.rules.microcode import code_of
from telltree.grammar.rules.rule import Rule
from telltree.operators import Expression, Hole
from telltree.operators.meaning import MicroOp


@dataclass(frozen=True)
class Scope:
    """All formulas of at most so many atoms that nest at most so many operators, and write at most so many terminals.

    An atom is the smallest condition, such as `x < 5`. What stands inside an atom does not count, unless it comes from
    a symbol of its own.
    """

    max_atoms: int
    max_depth: int
    max_size: int | None = None

    def has(self, atoms: int, size: int, depth: int) -> bool:
        """Whether a formula belongs to it."""
        fits = self.max_size is None or size <= self.max_size
        return fits and atoms <= self.max_atoms and depth <= self.max_depth


def atoms_in(template: Expression) -> int:
    """The atoms that a template writes itself."""
    if code_of(template) is MicroOp.ATOM:
        return 1
    return sum(map(atoms_in, template.args))


def holes_in(template: Expression, above: int = 0) -> Iterator[tuple[Hole, int]]:
    """The holes of a template, in prefix order, and how many operators are above each."""
    if isinstance(template.head, Hole):
        yield template.head, above
    for arg in template.args:
        yield from holes_in(arg, above + 1)


_Sizes = Counter[tuple[int, int]]
"""How many derivations there are, by their atoms and size; the size is 0 where it does not matter."""
_Kind = tuple[int, int, int, tuple[tuple[str, int], ...]]
"""What decides how many derivations begin with a rule: its atoms, size, height and holes."""
_ENDLESS = 1 << 40
"""More than any scope has."""


class Counted:
    """The number of derivations within a scope."""

    def __init__(self, rules: Sequence[Rule], scope: Scope) -> None:
        self._scope, self._known = scope, dict[tuple[str, int], _Sizes]()
        self._kinds: dict[str, Counter[_Kind]] = {}
        for rule in rules:
            self._kinds.setdefault(rule.symbol, Counter())[self._kind(rule)] += 1

    def _kind(self, rule: Rule) -> _Kind:
        template = rule.template
        holes = tuple((hole.symbol, above) for hole, above in holes_in(template))
        return atoms_in(template), rule.terminals if self._scope.max_size is not None else 0, template.depth, holes

    def by_atoms(self, start: str) -> Mapping[int, int]:
        """How many derivations of a symbol have each number of atoms."""
        found = Counter[int]()
        for (atoms, _), number in self._of(start, self._scope.max_depth).items():
            found[atoms] += number
        return found

    def is_all(self, start: str) -> bool:
        """Whether the scope has all derivations of a symbol that nest no deeper than it allows."""
        largest = self._largest(start, self._scope.max_depth, {})
        return largest is None or self._scope.has(*largest, 0)

    def _largest(
        self, symbol: str, left: int, known: dict[tuple[str, int], tuple[int, int] | None]
    ) -> tuple[int, int] | None:
        """The most atoms and terminals of derivations that nest at most `left` operators; None if there are none."""
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
        """Whether there are derivations of a symbol that nest deeper than the scope allows."""
        return self._deepest(start, {}) > self._scope.max_depth

    def _deepest(self, symbol: str, known: dict[str, int]) -> int:
        """How many operators derivations of a symbol nest at most."""
        if symbol not in known:
            known[symbol] = _ENDLESS  # for whatever leads back to it
            known[symbol] = max(
                max([height, *(above + self._deepest(hole, known) for hole, above in holes)])
                for *_, height, holes in self._kinds[symbol]
            )
        return known[symbol]

    def _of(self, symbol: str, left: int) -> _Sizes:
        """The derivations of a symbol that nest at most `left` operators."""
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
