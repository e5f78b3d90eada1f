"""Formulas with one more atom: every place of a formula where a condition may be joined with another."""

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.grammar.derivations.derivation import Derivation
from telltree.grammar.derivations.population import Population
from telltree.grammar.grammar import Grammar
from telltree.grammar.rules.microcode import code_of
from telltree.grammar.shapes.filling import Sweep, Texts, fill_slots
from telltree.grammar.shapes.shapes import Conditions
from telltree.operators import Hole
from telltree.operators.meaning import MicroOp


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
