"""A grammar packed into arrays, for compiled code."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.grammar.microcode import Code, Microcode, code_of
from telltree.grammar.rules import Rule
from telltree.operators import Expression, Hole, Level, Number, Type
from telltree.operators.expression import RandomNumber

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]

UNREACHED = 1 << 20


class Tables(NamedTuple):
    """Rules are numbered as in `Grammar.rules`, symbols as in `Grammar.symbols`; symbol 0 is the start."""

    symbol: Ints  # of each rule
    size: Ints  # terminals the rule itself writes
    height: Ints  # operators nested in the rule's template
    low: Floats  # of a rule that draws a random constant; NaN for others
    high: Floats
    first_hole: Ints  # rule r has the holes first_hole[r] … first_hole[r + 1] − 1
    hole_symbol: Ints
    hole_drop: Ints  # operators above the hole in its template
    hole_mode: Ints  # how the hole is read, for each way to read the whole (microcode.Mode)
    least_depth: Ints  # of each symbol: operators nested in its shallowest derivation
    last_depth: Ints  # of each symbol: from this depth on, every rule of it fits
    first_row: Ints  # of each symbol: its row of choices at depth 0; then depth 1, … last_depth
    row_start: Ints  # row w offers row_size[w] choices from row_start[w] on
    row_size: Ints
    choice: Ints  # Walker's alias method: for choice c the rule 2c if 32 random bits are under cut[c], else 2c + 1
    cut: NDArray[np.uint64]
    first_lot: Ints  # of each symbol: its lots, each a rule, as many as its weight asks for
    lot: Ints
    first_atom: Ints  # of a rule that makes an atom with one constant: the number of its atom with the first constant
    constant: Ints  # of a rule that writes a constant and nothing else: which of its symbol's rules it is, else −1
    atoms: Ints  # how many atoms are numbered so
    code_start: Ints  # the microcode of rule r is code_start[r] … code_start[r + 1] − 1
    code: Ints
    code_arity: Ints
    code_ident: NDArray[np.uint64]
    code_value: Floats
    code_mode: Ints

    @classmethod
    def of(cls, rules: Sequence[Rule], symbols: Sequence[str]) -> "Tables":
        """Pack rules that are grouped by symbol, in the order of `symbols`."""
        number = {symbol: i for i, symbol in enumerate(symbols)}
        symbol = _ints(number[rule.symbol] for rule in rules)
        height = _ints(rule.template.depth for rule in rules)
        holes = [list(_holes(rule.template, 0)) for rule in rules]
        first_hole = np.cumsum([0, *map(len, holes)]).astype(np.int32)
        hole_symbol = _ints(number[name] for hole in holes for name, _ in hole)
        hole_drop = _ints(drop for hole in holes for _, drop in hole)
        owner = np.repeat(np.arange(len(rules)), np.diff(first_hole))

        def depth_of_rules(of_symbols: Ints) -> Ints:
            deepest = height.copy()
            np.maximum.at(deepest, owner, hole_drop + of_symbols[hole_symbol])
            return deepest

        least_depth = _least(depth_of_rules, symbol, len(symbols))
        microcode = Microcode.of(rule.template for rule in rules)
        return cls(
            symbol=symbol,
            size=_ints(sum(not isinstance(e.head, Hole) for e in rule.template.walk()) for rule in rules),
            height=height,
            low=np.array([_range(rule)[0] for rule in rules]),
            high=np.array([_range(rule)[1] for rule in rules]),
            first_hole=first_hole,
            hole_symbol=hole_symbol,
            hole_drop=hole_drop,
            hole_mode=microcode.mode[microcode.code == Code.HOLE],
            least_depth=least_depth,
            **_choices(rules, symbol, depth_of_rules(least_depth), len(symbols)),
            **_lots(rules, symbol, len(symbols)),
            **_direct(rules, symbols),
            code_start=microcode.start,
            code=microcode.code,
            code_arity=microcode.arity,
            code_ident=microcode.ident,
            code_value=microcode.value,
            code_mode=microcode.mode,
        )


def _ints(values: Iterable[int]) -> Ints:
    return np.fromiter(values, np.int32)


def _range(rule: Rule) -> tuple[float, float]:
    head = rule.template.head
    return (head.low, head.high) if isinstance(head, RandomNumber) else (np.nan, np.nan)


def _holes(e: Expression, above: int) -> Iterator[tuple[str, int]]:
    """The symbols of the template's holes, and how many operators are above each."""
    if isinstance(e.head, Hole):
        yield e.head.symbol, above
    for arg in e.args:
        yield from _holes(arg, above + 1)


def _least(of_rules: Callable[[Ints], Ints], symbol: Ints, symbols: int) -> Ints:
    """The least value of each symbol, where a rule's value follows from those of its holes' symbols."""
    least = np.full(symbols, UNREACHED, np.int32)
    while True:
        better = np.full(symbols, UNREACHED, np.int32)
        np.minimum.at(better, symbol, np.minimum(of_rules(least), UNREACHED))
        if np.array_equal(better, least):
            return least
        least = better


def _choices(rules: Sequence[Rule], symbol: Ints, depth: Ints, symbols: int) -> dict[str, Any]:
    """For each symbol and depth left, the rules that fit and how often to take each."""
    weight = np.array([rule.weight for rule in rules])
    first_row, last_depth, row_start, row_size = [], [], [], []
    choice, cut = [], []
    filled = 0
    for s in range(symbols):
        own = np.flatnonzero(symbol == s)
        first_row.append(len(row_start))
        last_depth.append(int(depth[own].max()))
        for left in range(last_depth[-1] + 1):
            fitting = own[depth[own] <= left]
            if left and len(fitting) == row_size[-1]:  # the same choices as one level less: share them
                row_start.append(row_start[-1])
            else:
                row_start.append(filled)
                pairs, cuts = _walker(fitting, weight[fitting])
                choice.append(pairs.ravel())
                cut.append(cuts)
                filled += len(fitting)
            row_size.append(len(fitting))
    return {
        "last_depth": np.array(last_depth, np.int32),
        "first_row": np.array(first_row, np.int32),
        "row_start": np.array(row_start, np.int32),
        "row_size": np.array(row_size, np.int32),
        "choice": np.concatenate(choice).astype(np.int32),
        "cut": np.concatenate(cut),
    }


def _direct(rules: Sequence[Rule], symbols: Sequence[str]) -> dict[str, Any]:
    """Number the atoms that are an attribute, an operator and one of a list of constants: nearly all there are.

    Not where atoms may lie inside other atoms, the operands of a user function: those are known by name alone.
    """
    of_symbol: dict[str, list[int]] = {symbol: [] for symbol in symbols}
    for r, rule in enumerate(rules):
        of_symbol[rule.symbol].append(r)
    constants = {
        symbol: len(own) for symbol, own in of_symbol.items() if all(_is_constant(rules[r].template) for r in own)
    }
    constant = np.full(len(rules), -1, np.int32)
    for symbol in constants:
        constant[of_symbol[symbol]] = np.arange(len(of_symbol[symbol]))
    nested = any(
        code_of(e) in (Code.ATOM, Code.NAME) and any(arg.type in _TRUTHS and isinstance(arg.head, Hole) for arg in e.args)
        for rule in rules
        for e in rule.template.walk()
    )
    first_atom, atoms = np.full(len(rules), -1, np.int32), 0
    for r, rule in enumerate(rules):
        holes = rule.holes
        ends = rule.template.args and isinstance(rule.template.args[-1].head, Hole)
        simple = code_of(rule.template) is Code.ATOM and len(holes) == 1 and ends and holes[0] in constants
        if simple and not nested:
            first_atom[r] = atoms
            atoms += constants[holes[0]]
    return {"first_atom": first_atom, "constant": constant, "atoms": np.array([atoms], np.int32)}


_TRUTHS = (Type.BOOLEAN, Type.BOOLEAN_VECTOR)


def _is_constant(template: Expression) -> bool:
    return isinstance(template.head, Number | Level)


_MOST_LOTS = 1 << 16


def _lots(rules: Sequence[Rule], symbol: Ints, symbols: int) -> dict[str, Any]:
    """Whole numbers of lots in proportion to the weights: rules of equal weight have one lot each."""
    lots = []
    for s in range(symbols):
        own = np.flatnonzero(symbol == s)
        weights = [Fraction(rules[r].weight).limit_denominator(1_000_000) for r in own]
        total = sum(weights)
        number = lcm(*((weight / total).denominator for weight in weights))
        if number <= _MOST_LOTS:
            shares = [int(weight / total * number) for weight in weights]
        else:
            shares = [max(1, round(weight / total * _MOST_LOTS)) for weight in weights]
        lots.append(np.repeat(own, shares))
    return {"first_lot": np.cumsum([0, *map(len, lots)]).astype(np.int32), "lot": np.concatenate(lots).astype(np.int32)}


def _walker(rules: NDArray[np.int64], weight: Floats) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Walker's alias method: n equal slots, each split between at most two rules."""
    share = weight / weight.sum() * len(rules) if len(rules) else weight
    alias = rules.copy()
    small = [i for i in range(len(rules)) if share[i] < 1]
    large = [i for i in range(len(rules)) if share[i] >= 1]
    share = share.copy()
    while small and large:
        i, j = small.pop(), large[-1]
        alias[i] = rules[j]
        share[j] -= 1 - share[i]
        if share[j] < 1:
            small.append(large.pop())
    for i in large + small:  # all that is left is one up to rounding
        share[i] = 1.0
    return np.stack([rules, alias], axis=1), np.round(share * 2.0**32).astype(np.uint64)
