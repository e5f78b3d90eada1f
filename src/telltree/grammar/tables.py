"""A grammar packed into arrays for compiled code: its rules for drawing, their templates for the compiler."""

import hashlib
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.grammar.normal_form import Rule
from telltree.logic import Attribute, Expression, Hole, Level, Number, Shape, Type, UserFunction
from telltree.logic.expression import RandomNumber, once_each
from telltree.logic.meaning import WINDOWED, Joins, MicroOp
from telltree.logic.operators import Operator

# ---- The arrays

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]
Records = NDArray[np.void]

UNREACHED = np.int32(1 << 20)


_RULE = np.dtype(
    [
        ("symbol", np.int32),
        ("size", np.int32),  # the terminals that the rule adds to a formula
        ("height", np.int32),  # operators nested in its template
        ("first_hole", np.int32),  # its holes are first_hole … first_hole of the next rule − 1
        ("code_start", np.int32),  # the nodes of its template are code_start … code_start of the next rule − 1
        ("first_atom", np.int32),  # the number of its atom, or of the first of its atoms; −1 if none is numbered
        ("takes", np.int32),  # 1 if its only hole is for the constant of a numbered atom, else 0
        ("constant", np.int32),  # its place among the rules of its symbol, if it writes a constant and nothing else
    ]
)
_SYMBOL = np.dtype(
    [
        ("least_depth", np.int32),  # operators nested in its shallowest derivation
        ("last_depth", np.int32),  # from this depth on, all its rules fit
        ("first_row", np.int32),  # its row of choices at depth 0; rows for depths 1 … last_depth follow
        ("first_lot", np.int32),  # its lots are first_lot … first_lot of the next symbol − 1
    ]
)
_HOLE = np.dtype([("symbol", np.int32), ("drop", np.int32)])  # drop: operators above the hole in its template
_ROW = np.dtype([("start", np.int32), ("size", np.int32)])
CHOICE = np.dtype([("cut", np.uint64), ("rule", np.int32), ("other", np.int32)])
_SHOOT = np.dtype(
    [
        ("number", np.int32),  # holes that are stored below, at most two; not the one for a constant
        ("further", np.int32),  # the number of holes after the second
        ("last_hole", np.int32),
        ("takes", np.int32),  # as in _RULE
        ("constant_row", np.int32),  # choices for that constant
        # The first hole to fill, and the second; a single hole is stored as the second. For each: the row of choices at
        # depth 0, the last depth with a row of its own, and the operators above the hole.
        ("first_row", np.int32),
        ("first_last", np.int32),
        ("first_drop", np.int32),
        ("second_row", np.int32),
        ("second_last", np.int32),
        ("second_drop", np.int32),
    ]
)
_CODE = np.dtype(
    [
        ("code", np.int32),  # a MicroOp
        ("arity", np.int32),
        ("outcomes", np.int32),  # of a comparison of counts: the outcomes for which it is true
        ("first", np.int32),  # of a window: its first step, or the argument that gives it (`BY_ARGUMENT`)
        ("last", np.int32),
        ("ident", np.uint64),  # a hash of the node without its operands
        ("value", np.float64),  # of a number
    ],
    align=True,
)


class Growing(NamedTuple):
    """The tables for drawing and breeding; fewer than all, since each argument of a kernel adds to its compile time."""

    rule: Records
    range: Floats
    of_symbol: Records
    hole: Records
    row: Records
    choice: Records
    shoot: Records
    lot: Ints


class CodeTables(NamedTuple):
    """The tables for the compiler: rules, and the nodes of their templates in prefix order."""

    rule: Records
    codes: Records

    @classmethod
    def of_formulas(cls, formulas: Sequence[Expression], idents: "Idents") -> "CodeTables":
        """Return the tables of a grammar whose rule k writes formula k, whole."""
        rule = np.zeros(len(formulas) + 1, _RULE)
        rule["size"][:-1] = [formula.terminals for formula in formulas]
        rule["code_start"], codes = _codes(formulas, idents)
        rule["first_atom"] = -1
        return cls(rule, codes)


class Tables(NamedTuple):
    """Rules are numbered as in `Grammar.rules`, symbols as in `Grammar.symbols`; symbol 0 is the start.

    `rule` and `of_symbol` have one extra entry, so that each range ends where the next entry starts.
    """

    rule: Records
    range: Floats  # low and high of a rule that draws a random constant, else NaN
    of_symbol: Records
    hole: Records
    row: Records  # choices start … start + size − 1
    choice: Records  # Walker's alias method: `rule` if 32 random bits are less than `cut`, else `other`
    shoot: Records  # for each rule, the data for drawing after it, in one place for cache locality
    lot: Ints  # each rule as often as its weight requires
    codes: Records  # the nodes of all templates, in prefix order
    atoms: Ints  # the number of numbered atoms

    @property
    def growing(self) -> Growing:
        """The tables for drawing and breeding."""
        return Growing._make(getattr(self, name) for name in Growing._fields)

    @property
    def code_tables(self) -> CodeTables:
        """The tables for the compiler."""
        return CodeTables(self.rule, self.codes)

    @property
    def depths(self) -> Ints:
        """The depth of operators in the shallowest derivation by each rule."""
        return _depths(self.rule[:-1], self.rule["first_hole"], self.hole, len(self.of_symbol) - 1)[1]

    def by_level(self, last: Ints) -> "Tables":
        """Return tables that have a row of choices for each symbol and remaining depth, up to the `last` of a symbol,
        so that each can be weighed by itself.
        """
        of_symbol, shared = self.of_symbol.copy(), self.of_symbol
        of_symbol["last_depth"], of_symbol["first_row"][1:] = last, np.cumsum(last[:-1] + 1)
        kept = [
            self.row[own["first_row"] + min(left, own["last_depth"])]
            for own, end in zip(shared[:-1], last, strict=False)
            for left in range(end + 1)
        ]
        row = np.array(kept, _ROW)
        choice = np.concatenate([self.choice[start : start + size] for start, size in kept])
        row["start"] = np.cumsum(row["size"]) - row["size"]
        return self._replace(
            of_symbol=of_symbol, row=row, choice=choice, shoot=_shoots(self.rule, self.hole, of_symbol)
        )

    @classmethod
    def of(cls, rules: Sequence[Rule], symbols: Sequence[str]) -> "Tables":
        """Pack rules that are grouped by symbol, in the order of `symbols`."""
        number = {symbol: i for i, symbol in enumerate(symbols)}
        rule, of_symbol = np.zeros(len(rules) + 1, _RULE), np.zeros(len(symbols) + 1, _SYMBOL)
        holes = [list(_holes(rule.template, 0)) for rule in rules]
        hole = np.array([(number[name], drop) for own in holes for name, drop in own], _HOLE)
        rule["first_hole"] = np.cumsum([0, *map(len, holes)])
        rule["code_start"], codes = _codes([rule.template for rule in rules], Idents())
        packed = rule[:-1]
        packed["symbol"] = [number[rule.symbol] for rule in rules]
        packed["size"] = [rule.size for rule in rules]
        packed["height"] = [rule.template.depth for rule in rules]
        atoms = _number_atoms(rules, symbols, packed)
        of_symbol["least_depth"][:-1], depth = _depths(packed, rule["first_hole"], hole, len(symbols))
        row, choice = _choices(rules, packed["symbol"], depth, of_symbol)
        return cls(
            rule=rule,
            range=np.array([_range(rule) for rule in rules]),
            of_symbol=of_symbol,
            hole=hole,
            row=row,
            choice=choice,
            shoot=_shoots(rule, hole, of_symbol),
            lot=_lots(rules, packed["symbol"], of_symbol),
            codes=codes,
            atoms=np.array([atoms], np.int32),
        )


def _range(rule: Rule) -> tuple[float, float]:
    head = rule.template.head
    return (head.low, head.high) if isinstance(head, RandomNumber) else (np.nan, np.nan)


def _holes(e: Expression, above: int) -> Iterator[tuple[str, int]]:
    """Yield the symbols of the template's holes, and the number of operators above each."""
    if isinstance(e.head, Hole):
        yield e.head.symbol, above
    for arg in e.args:
        yield from _holes(arg, above + 1)


def _depths(packed: Records, first_hole: Ints, hole: Records, symbols: int) -> tuple[Ints, Ints]:
    """Return the depth of operators in the shallowest derivation of each symbol, and of each rule."""
    owner = np.repeat(np.arange(len(packed)), np.diff(first_hole))
    least = np.full(symbols, UNREACHED, np.int32)
    while True:
        of_rules = packed["height"].copy()
        np.maximum.at(of_rules, owner, np.minimum(hole["drop"] + least[hole["symbol"]], UNREACHED))
        better = np.full(symbols, UNREACHED, np.int32)
        np.minimum.at(better, packed["symbol"], of_rules)
        if np.array_equal(better, least):
            return least, of_rules
        least = better


def _choices(rules: Sequence[Rule], symbol: Ints, depth: Ints, of_symbol: Records) -> tuple[Records, Records]:
    """Return, for each symbol and remaining depth, the rules that fit and their probabilities."""
    weight = np.array([rule.weight for rule in rules])
    bounds = _bounds(symbol, of_symbol)
    rows: list[tuple[int, int]] = []
    choice: list[Records] = []
    filled = 0
    for s, (first, end) in enumerate(pairwise(bounds)):
        own = np.arange(first, end)
        last_depth = int(depth[own].max())
        of_symbol["first_row"][s], of_symbol["last_depth"][s] = len(rows), last_depth
        for left in range(last_depth + 1):
            fitting = own[depth[own] <= left]
            if left and len(fitting) == rows[-1][1]:  # the same choices as one level below: share them
                rows.append(rows[-1])
                continue
            rows.append((filled, len(fitting)))
            choice.append(_walker(fitting, weight[fitting]))
            filled += len(fitting)
    return np.array(rows, _ROW), np.concatenate(choice)


def _shoots(rule: Records, hole: Records, of_symbol: Records) -> Records:
    """Return the data for drawing after each rule."""
    shoot = np.zeros(len(rule) - 1, _SHOOT)
    first, number = rule["first_hole"][:-1], np.diff(rule["first_hole"])
    takes = rule["takes"][:-1]
    shoot["takes"], shoot["number"] = takes, np.where(takes, 0, np.minimum(number, 2))
    shoot["further"], shoot["last_hole"] = np.maximum(number - 2, 0), first + number - 1
    if len(hole):
        nearest = of_symbol[hole["symbol"]]
        shoot["constant_row"] = np.where(takes, nearest["first_row"][np.minimum(first, len(hole) - 1)], 0)
        for name, place in (("first", 0), ("second", np.minimum(number - 1, 1))):
            which = np.clip(first + place, 0, len(hole) - 1)
            shoot[f"{name}_row"], shoot[f"{name}_last"] = nearest["first_row"][which], nearest["last_depth"][which]
            shoot[f"{name}_drop"] = hole["drop"][which]
    return shoot


def _bounds(symbol: Ints, of_symbol: Records) -> list[int]:
    """Return where the rules of each symbol begin, and where the last ones end; rules are grouped by symbol."""
    bounds: list[int] = np.searchsorted(symbol, np.arange(len(of_symbol))).tolist()
    return bounds


def _number_atoms(rules: Sequence[Rule], symbols: Sequence[str], packed: Records) -> int:
    """Number the atoms that are templates without holes, or an attribute, an operator and one of a list of constants:
    nearly all atoms.

    None are numbered if atoms can nest in other atoms, as operands of user functions: those are known only by their
    hash. Returns their number.
    """
    of_symbol: dict[str, list[int]] = {symbol: [] for symbol in symbols}
    for r, rule in enumerate(rules):
        of_symbol[rule.symbol].append(r)
    constants = {s: len(own) for s, own in of_symbol.items() if all(_is_constant(rules[r].template) for r in own)}
    packed["first_atom"] = packed["constant"] = -1
    for symbol, number in constants.items():
        packed["constant"][of_symbol[symbol]] = np.arange(number)
    if any(_nests_formulas(e) for rule in rules for e in rule.template.walk()):
        return 0
    atoms = 0
    for r, rule in enumerate(rules):
        holes, args = rule.holes, rule.template.args
        ends_in_constant = len(holes) == 1 and args and isinstance(args[-1].head, Hole) and holes[0] in constants
        if (ends_in_constant or not holes) and code_of(rule.template) is MicroOp.ATOM:
            packed["first_atom"][r], packed["takes"][r] = atoms, len(holes)
            atoms += constants[holes[0]] if holes else 1
    return atoms


def _nests_formulas(e: Expression) -> bool:
    """Return True if a node of a template is part of an atom and has a hole for a formula."""
    return code_of(e) in (MicroOp.ATOM, MicroOp.NAME) and any(
        isinstance(arg.head, Hole) and arg.type in (Type.BOOLEAN, Type.BOOLEAN_VECTOR) for arg in e.args
    )


def _is_constant(template: Expression) -> bool:
    return isinstance(template.head, Number | Level)


_MOST_LOTS = 1 << 16
_LIGHTEST = 2.0**-40
"""The smallest share that matters: anything smaller gets one lot anyway."""


def _lots(rules: Sequence[Rule], symbol: Ints, of_symbol: Records) -> Ints:
    """Return numbers of lots in proportion to the weights, at least one each; exactly one if all weights are equal."""
    weight = np.array([rule.weight for rule in rules])
    lots = [
        np.repeat(np.arange(first, end), _shares(weight[first:end]))
        for first, end in pairwise(_bounds(symbol, of_symbol))
    ]
    of_symbol["first_lot"] = np.cumsum([0, *map(len, lots)])
    return np.concatenate(lots).astype(np.int32)


def _shares(weight: Floats) -> NDArray[np.int64]:
    """Return the number of lots of each of a symbol's rules."""
    distinct, which, times = np.unique(weight, return_inverse=True, return_counts=True)  # few, even for many rules
    unit = max(distinct[0], weight.sum() * _LIGHTEST)
    ratios = [Fraction(max(1.0, w / unit)).limit_denominator(1_000_000) for w in distinct.tolist()]
    total = sum(ratio * n for ratio, n in zip(ratios, times.tolist(), strict=True))
    number = lcm(*((ratio / total).denominator for ratio in ratios))
    shares = [max(1, round(ratio / total * min(number, _MOST_LOTS))) for ratio in ratios]
    return np.array(shares, np.int64)[which]


def _walker(rules: NDArray[np.int64], weight: Floats) -> Records:
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
    for i in large + small:  # all that is left is 1, up to rounding
        share[i] = 1.0
    choice = np.zeros(len(rules), CHOICE)
    choice["rule"], choice["other"], choice["cut"] = rules, alias, np.round(share * 2.0**32).astype(np.uint64)
    return choice


# ---- Templates for the compiler: the nodes of each in prefix order.
#
# An atom is the smallest Boolean vector: a comparison of vectors, a Boolean attribute, a user function. The parts of
# an atom are never executed, only hashed (`ident`): the engine looks up the whole atom by its hash.

BY_ARGUMENT = -1
"""A bound of a window below 0 is a parameter: −1 the first argument of the operator, −2 the second …"""


class Idents:
    """Hashes that identify heads of expressions, also of different functions with one name."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._functions: dict[str, list[UserFunction]] = {}

    def of(self, e: Expression) -> int:
        """Return the hash of the head; 0 for a hole or a random number."""
        match e.head:
            case Hole() | RandomNumber():
                return 0
            case Attribute():
                word = f"attribute {e.head.name}"
            case Number():
                word = f"number {e.head.value.hex()}"
            case Shape():
                word = " ".join(["shape", *(value.hex() for value in e.head.values)])
            case Operator():
                word = f"operator {e.head.name}"
            case UserFunction():
                namesakes = self._functions.setdefault(e.head.name, [])
                if e.head not in namesakes:
                    namesakes.append(e.head)
                word = f"function {namesakes.index(e.head)} {e.head.name}"
            case _:
                word = f"{type(e.head).__name__} {e.head.name}"
        if word not in self._known:
            digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            self._known[word] = int.from_bytes(digest, "little")
        return self._known[word]


def _codes(templates: Sequence[Expression], idents: Idents) -> tuple[NDArray[np.int64], Records]:
    """Return where the nodes of each template start, and one past the last; and the nodes of all."""
    nodes = [[_code(e, idents) for e in _nodes(template)] for template in templates]
    codes = np.zeros(sum(map(len, nodes)), _CODE)  # zeros between the fields too: equal tables have equal bytes
    for name, column in zip(
        _CODE.names or (), zip(*(node for own in nodes for node in own), strict=True), strict=False
    ):
        codes[name] = column
    return np.cumsum([0, *map(len, nodes)]), codes


def _nodes(e: Expression) -> Iterator[Expression]:
    e = once_each(e)
    yield e
    for arg in e.args:
        yield from _nodes(arg)


def _code(e: Expression, idents: Idents) -> tuple[int, int, int, int, int, int, float]:
    value = e.head.value if isinstance(e.head, Number) else np.nan
    return code_of(e), len(e.args), outcomes_of(e), *_window(e), idents.of(e), value


def node_at(template: Expression, whole: Expression, position: int) -> tuple[Expression, Expression]:
    """Return the node at a position of a template in prefix order, and its counterpart in the `whole`, which is the
    template with its holes filled."""
    pairs = [(template, whole)]
    while True:
        node, filled = map(once_each, pairs.pop())
        if position == 0:
            return node, filled
        position -= 1
        if node.args:
            pairs.extend(reversed(list(zip(node.args, filled.args, strict=True))))


def code_of(e: Expression) -> MicroOp:
    """Return the opcode of one node of a template."""
    if isinstance(e.head, Hole):
        return MicroOp.HOLE
    if isinstance(e.head, Operator):
        means = e.head.means
        if isinstance(means, Joins):
            return means.code
        if means.on_counts is not None and any(arg.type is Type.COUNT for arg in e.args):
            return means.on_counts
    if isinstance(e.head, UserFunction) and e.type is Type.BOOLEAN:
        return MicroOp.ATOM  # with the same value at every step
    return MicroOp.ATOM if e.type is Type.BOOLEAN_VECTOR else MicroOp.NAME


def outcomes_of(e: Expression) -> int:
    """Return the outcomes for which a comparison is true; 0 for all else."""
    return e.head.traits.outcomes if isinstance(e.head, Operator) else 0


def _window(e: Expression) -> tuple[int, int]:
    """Return the bounds of a window: numbers of steps, or of the arguments that give them; (0, 0) for all else."""
    if code_of(e) not in WINDOWED:
        return 0, 0
    assert isinstance(e.head, Operator)
    places = {row.name: BY_ARGUMENT - place for place, row in enumerate(e.head.parameters, e.head.takes)}
    first, last = (
        places[bound] if isinstance(bound, str) else int(min(bound, 1 << 30)) for bound in e.head.window or ()
    )
    return first, last
