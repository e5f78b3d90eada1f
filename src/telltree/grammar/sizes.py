"""The number of derivations of each size, and their enumeration. A size is the number of terminals that are written."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from telltree.grammar.normal_form import Rule

Holes = tuple[str, ...]
Choice = tuple[int, int, Holes]
"""A rule's number, its own size, and the symbols of its holes."""


class Sizes:
    """The sizes of the derivations of a set of rules; a random constant counts as one."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._of_symbol: dict[str, list[Choice]] = {}
        for number, rule in enumerate(rules):
            self._of_symbol.setdefault(rule.symbol, []).append((number, rule.terminals, rule.holes))

    def counts(self, start: str, most: int) -> list[int]:
        """Return the numbers of derivations of `start` by size, from 0 to `most`."""
        shapes = {
            symbol: Counter((size, holes) for _, size, holes in rules) for symbol, rules in self._of_symbol.items()
        }
        counts: dict[str, list[int]] = {symbol: [0] for symbol in shapes}  # by size
        fillings = {holes: _Fillings(holes) for shape in shapes.values() for _, holes in shape}
        for size in range(1, most + 1):
            for filling in fillings.values():
                filling.extend(counts)
            for symbol, shape in shapes.items():
                ways = (
                    times * fillings[holes].ways[0][size - own] for (own, holes), times in shape.items() if own <= size
                )
                counts[symbol].append(sum(ways))
        return counts[start]

    def enumerate(self, start: str, most: int) -> Iterator[list[int]]:
        """Yield the derivations of `start` up to this size, as rule numbers in prefix order: by size, then by rule
        number.
        """
        possible = self._possible(most)
        for size in range(1, most + 1):
            yield from _Walk(self._of_symbol, possible, size).derivations(start)

    def _possible(self, most: int) -> dict[str, int]:
        """Return the sizes that derivations of each symbol can have, up to `most`, as bits: bit n is set if n is one of
        them.
        """
        possible = dict.fromkeys(self._of_symbol, 0)
        shapes = {symbol: {(size, holes) for _, size, holes in rules} for symbol, rules in self._of_symbol.items()}
        within = (1 << most + 1) - 1
        changed = True
        while changed:
            changed = False
            for symbol, shape in shapes.items():
                sizes = possible[symbol]
                for own, holes in shape:
                    reached = 1 << own
                    for hole in holes:
                        reached = _sums(reached, possible[hole]) & within
                    sizes |= reached & within
                changed |= sizes != possible[symbol]
                possible[symbol] = sizes
        return possible


def _sums(first: int, second: int) -> int:
    """Return all sums of one size of each set."""
    sums = 0
    while first:
        lowest = first & -first
        sums |= second * lowest
        first ^= lowest
    return sums


class _Fillings:
    """The numbers of ways to fill holes: `ways[i][n]` for the holes from the i-th on, with n terminals in all."""

    def __init__(self, holes: Holes) -> None:
        self._holes = holes
        self.ways: list[list[int]] = [[] for _ in range(len(holes) + 1)]

    def extend(self, counts: Mapping[str, list[int]]) -> None:
        """Extend to the next size; `counts` must reach up to it."""
        size = len(self.ways[0])
        self.ways[-1].append(int(size == 0))
        if self._holes:  # the last hole takes all that is left
            self.ways[-2].append(counts[self._holes[-1]][size])
        for i in reversed(range(len(self._holes) - 1)):
            own, rest = counts[self._holes[i]], self.ways[i + 1]
            self.ways[i].append(sum(own[k] * rest[size - k] for k in range(size + 1)))


class _Pending(NamedTuple):
    """Symbols still to be expanded, the first on top; `sums` are the sizes that they can have together."""

    symbol: str
    rest: "_Pending | None"
    sums: int


class _Walk:
    """Depth first through all derivations of one size, without entering a branch that cannot reach it."""

    def __init__(self, rules: Mapping[str, list[Choice]], possible: Mapping[str, int], size: int) -> None:
        self._rules = rules
        self._possible = possible
        self._size = size
        self._within = (1 << size + 1) - 1
        self._fitting: dict[tuple[str, int, int], list[Choice]] = {}

    def derivations(self, start: str) -> Iterator[list[int]]:
        path: list[int] = []
        whole = self._push(None, (start,))
        if whole is None or not whole.sums >> self._size & 1:
            return
        stack = [(iter(self._choices(whole, self._size)), whole.rest, self._size)]
        while stack:
            choices, rest, left = stack[-1]
            choice = next(choices, None)
            del path[len(stack) - 1 :]
            if choice is None:
                stack.pop()
                continue
            number, own, holes = choice
            path.append(number)
            pending = self._push(rest, holes)
            if pending is None:
                yield path.copy()
            else:
                stack.append((iter(self._choices(pending, left - own)), pending.rest, left - own))

    def _push(self, rest: _Pending | None, holes: Holes) -> _Pending | None:
        for hole in reversed(holes):
            sums = 1 if rest is None else rest.sums
            rest = _Pending(hole, rest, _sums(sums, self._possible[hole]) & self._within)
        return rest

    def _choices(self, pending: _Pending, left: int) -> list[Choice]:
        """Return the rules for the top symbol after which exactly the remaining size can still be reached."""
        after = 1 if pending.rest is None else pending.rest.sums
        key = (pending.symbol, after, left)
        if key not in self._fitting:
            self._fitting[key] = [c for c in self._rules[pending.symbol] if self._fits(c, after, left)]
        return self._fitting[key]

    def _fits(self, choice: Choice, after: int, left: int) -> bool:
        _, own, holes = choice
        sums = after
        for hole in holes:
            sums = _sums(sums, self._possible[hole]) & self._within
        return own <= left and bool(sums >> (left - own) & 1)
