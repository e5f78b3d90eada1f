"""A peer in plain Python and NumPy: Monte Carlo search over the paper's Auslan grammar, and bare evaluation.

Start -> F(VB) | G(VB)
VB    -> VB and VB | VB or VB | not VB | VB implies VB | attribute (= | < | <= | > | >=) constant

An expression is a tuple (temporal, formula); a formula is the number of an atom, (NOT, formula) or
(connective, formula, formula). Integers keep hashing cheap, and hashing is part of the loop.

`search` is the whole loop; `evaluate_two_atoms` only evaluates two-atom formulas that it is given.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Formula = Any  # int | (NOT, Formula) | (AND | OR | IMPLIES, Formula, Formula); a recursive tuple

F, G = 0, 1
AND, OR, NOT, IMPLIES = range(4)
CONNECTIVES: tuple[np.ufunc, ...] = (np.logical_and, np.logical_or, np.logical_not, np.less_equal)
NAMES = ("and", "or", "not", "implies")
COMPARISONS: dict[str, np.ufunc] = {
    "=": np.equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
# bitwise reduceat over bytes takes a third of the time of logical_or.reduceat over Booleans.
REDUCTIONS: tuple[np.ufunc, ...] = (np.bitwise_or, np.bitwise_and)


class Atom(NamedTuple):
    """A comparison of a column, given by its number, with a constant."""

    column: int
    operator: str
    constant: float


class Table(NamedTuple):
    """Records laid end to end: one contiguous row per column, and the first step of each record."""

    columns: Floats
    starts: NDArray[np.intp]


def concatenate(records: Sequence[Floats]) -> Table:
    """Lay records (steps x columns, each of at least one step) end to end, column by column."""
    lengths = [len(record) for record in records]
    if not lengths or min(lengths) == 0:
        raise ValueError("every record needs at least one step, and there must be a record")
    starts = np.concatenate(([0], np.cumsum(lengths[:-1]))).astype(np.intp)
    return Table(np.ascontiguousarray(np.concatenate(list(records)).T, dtype=np.float64), starts)


def grid_atoms(columns: Floats, points: int = 10) -> list[Atom]:
    """Every comparison of a column with one of the `points` evenly spaced values between its extremes."""
    return [
        Atom(place, operator, constant)
        for place, column in enumerate(columns)
        for operator in COMPARISONS
        for constant in np.linspace(column.min(), column.max(), points).tolist()
    ]


def sampler(rng: random.Random, atoms: int, weights: Sequence[float], depth: int) -> Callable[[], tuple[int, Formula]]:
    """A function that draws expressions; `weights` are those of and, or, not, implies, atom.

    `depth` bounds the nesting: F or G counts 1, each connective 1, a comparison 1.
    """
    if len(weights) != 5 or min(weights) < 0 or weights[4] <= 0:
        raise ValueError(f"weights {tuple(weights)}: give five, none negative, the last (atom) positive")
    if depth < 2:
        raise ValueError(f"depth {depth}: F over a comparison needs 2")
    total = float(sum(weights))
    to_and, to_or, to_not, to_implies = (sum(weights[: k + 1]) / total for k in range(4))
    draw = rng.random

    def formula(left: int) -> Formula:
        choice = draw()
        if left == 1 or choice >= to_implies:
            return int(draw() * atoms)
        if choice < to_and:
            return (AND, formula(left - 1), formula(left - 1))
        if choice < to_or:
            return (OR, formula(left - 1), formula(left - 1))
        if choice < to_not:
            return (NOT, formula(left - 1))
        return (IMPLIES, formula(left - 1), formula(left - 1))

    return lambda: (F if draw() < 0.5 else G, formula(depth - 1))


def terminals(formula: Formula) -> int:
    """Terminal symbols of a formula: three for a comparison, one for a connective."""
    if isinstance(formula, int):
        return 3
    return 1 + sum(terminals(part) for part in formula[1:])


def describe(expression: tuple[int, Formula], atoms: Sequence[Atom], names: Sequence[str]) -> str:
    """The expression as text."""

    def text(formula: Formula) -> str:
        if isinstance(formula, int):
            atom = atoms[formula]
            return f"{names[atom.column]} {atom.operator} {atom.constant:.6g}"
        if formula[0] == NOT:
            return f"not ({text(formula[1])})"
        return f"({text(formula[1])}) {NAMES[formula[0]]} ({text(formula[2])})"

    return f"{'FG'[expression[0]]}({text(expression[1])})"


class Evaluator:
    """Truth of expressions, one value per record.

    With `cache`, the answer of each atom is kept once computed: one byte per atom and step.
    """

    def __init__(self, table: Table, atoms: Sequence[Atom], depth: int, cache: bool = True) -> None:
        self._starts = table.starts
        self._atoms = [(COMPARISONS[a.operator], table.columns[a.column], a.constant) for a in atoms]
        self._known: dict[int, Bools] = {}
        self._cache = cache
        # Buffer k holds the value of the k-th operand that waits; no step allocates.
        self._buffers: list[Bools] = list(np.empty((depth, table.columns.shape[1]), dtype=np.bool_))

    def __call__(self, expression: tuple[int, Formula]) -> Bools:
        steps = self._value(expression[1], 0)
        answer: Bools = REDUCTIONS[expression[0]].reduceat(steps.view(np.uint8), self._starts).view(np.bool_)
        return answer

    def _value(self, formula: Formula, slot: int) -> Bools:
        if isinstance(formula, int):
            return self._atom(formula, slot)
        out = self._buffers[slot]
        left = self._value(formula[1], slot)
        if formula[0] == NOT:
            np.logical_not(left, out=out)
        else:
            CONNECTIVES[formula[0]](left, self._value(formula[2], slot + 1), out=out)
        return out

    def _atom(self, number: int, slot: int) -> Bools:
        known = self._known.get(number)
        if known is not None:
            return known
        compare, column, constant = self._atoms[number]
        if not self._cache:
            compare(column, constant, out=self._buffers[slot])
            return self._buffers[slot]
        kept: Bools = compare(column, constant)
        self._known[number] = kept
        return kept


def gini_loss(labels: NDArray[np.intp]) -> Callable[[Bools], float]:
    """100 x the size-weighted Gini impurity of the two sides of a split; an empty side counts 0."""
    classes = int(labels.max()) + 1
    total = np.bincount(labels, minlength=classes)
    records = len(labels)
    squares = int(total @ total)

    def loss(truth: Bools) -> float:
        inside = np.bincount(labels[truth], minlength=classes)
        size = int(inside.sum())
        if size in (0, records):
            return 100 * (1 - squares / records**2)
        own = int(inside @ inside)
        other = squares - 2 * int(inside @ total) + own
        return 100 * (1 - (own / size + other / (records - size)) / records)

    return loss


@dataclass
class Outcome:
    """What a search found, and how; `sizes` counts the distinct expressions by number of terminals."""

    fitness: float = float("inf")
    expression: tuple[int, Formula] = (F, 0)
    evaluations: int = 0
    draws: int = 0
    seconds: float = 0.0
    sizes: Counter[int] = field(default_factory=Counter)


def search(
    table: Table,
    labels: Sequence[int],
    evaluations: int,
    *,
    seed: int = 0,
    weights: Sequence[float] = (1, 1, 1, 1, 1),
    depth: int = 5,
    points: int = 10,
    cache: bool = True,
) -> Outcome:
    """Draw, evaluate and keep the best of `evaluations` distinct expressions; the earliest best wins.

    Stops early where 100,000 draws in a row bring nothing new: a small grammar has no more to give.
    """
    begun = time.process_time()
    atoms = grid_atoms(table.columns, points)
    draw = sampler(random.Random(seed), len(atoms), weights, depth)
    truth = Evaluator(table, atoms, depth, cache)
    loss = gini_loss(np.asarray(labels, dtype=np.intp))
    outcome, seen, stale = Outcome(), set[tuple[int, Formula]](), 0
    while outcome.evaluations < evaluations and stale < 100_000:
        expression = draw()
        outcome.draws += 1
        if expression in seen:
            stale += 1
            continue
        stale = 0
        seen.add(expression)
        outcome.evaluations += 1
        size = 1 + terminals(expression[1])
        outcome.sizes[size] += 1
        fitness = loss(truth(expression)) + 0.1 * size
        if fitness < outcome.fitness:
            outcome.fitness, outcome.expression = fitness, expression
    outcome.seconds = time.process_time() - begun
    return outcome


TwoAtoms = tuple[str, str, tuple[int, str, float], tuple[int, str, float]]  # "F"|"G", "and"|"or", atom, atom


class Block(NamedTuple):
    """Some of the records, laid out for the fastest reduction over time.

    Records of equal length lie step by step (steps x records), so that a reduction is one vector operation a
    step, over ten times as fast as reducing record by record; `starts` is then None. Others lie end to end.
    """

    columns: Floats
    first: int
    last: int
    starts: NDArray[np.intp] | None


def prepare(columns: Floats, starts: NDArray[np.intp], block: int = 1000) -> list[Block]:
    """Lay out `columns` (columns x steps, records end to end, each beginning at one of `starts`) once.

    Blocks of `block` records keep the columns in the processor's cache while all formulas pass over them.
    """
    ends = np.append(starts, columns.shape[1])
    if not len(starts) or ends[0] != 0 or np.diff(ends).min() < 1:
        raise ValueError("starts must begin with 0 and rise; every record needs at least one step")
    blocks = []
    for first in range(0, len(starts), block):
        last = min(first + block, len(starts))
        part = np.ascontiguousarray(columns[:, ends[first] : ends[last]], dtype=np.float64)
        lengths = np.diff(ends[first : last + 1])
        if lengths.min() != lengths.max():
            blocks.append(Block(part, first, last, np.asarray(starts[first:last] - ends[first], dtype=np.intp)))
            continue
        turned = part.reshape(len(part), last - first, lengths[0]).transpose(0, 2, 1)
        blocks.append(Block(np.ascontiguousarray(turned).reshape(part.shape), first, last, None))
    return blocks


def evaluate_block(data: Block, formulas: Sequence[TwoAtoms], answers: Bools) -> None:
    """Write the truth of each formula (rows) on each record of the block into its columns of `answers`."""
    out = answers[:, data.first : data.last].view(np.uint8)
    one, two = np.empty((2, data.columns.shape[1]), dtype=np.bool_)
    steps = one.view(np.uint8)
    by_step = steps.reshape(-1, data.last - data.first) if data.starts is None else steps
    for place, (temporal, connective, (column, operator, constant), (other, relation, bound)) in enumerate(formulas):
        COMPARISONS[operator](data.columns[column], constant, out=one)
        COMPARISONS[relation](data.columns[other], bound, out=two)
        CONNECTIVES[NAMES.index(connective)](one, two, out=one)
        reduction = REDUCTIONS["FG".index(temporal)]
        if data.starts is None:
            reduction.reduce(by_step, axis=0, out=out[place])
        else:
            reduction.reduceat(steps, data.starts, out=out[place])


def evaluate_prepared(blocks: Sequence[Block], formulas: Sequence[TwoAtoms]) -> Bools:
    """Truth of each formula (rows) on each record (columns), on data that `prepare` laid out."""
    answers = np.empty((len(formulas), blocks[-1].last), dtype=np.bool_)
    for block in blocks:
        evaluate_block(block, formulas, answers)
    return answers


def evaluate_two_atoms(columns: Floats, starts: NDArray[np.intp], formulas: Sequence[TwoAtoms]) -> Bools:
    """Prepare and evaluate; a fair timing has `prepare` outside the clock and `evaluate_prepared` inside."""
    return evaluate_prepared(prepare(columns, starts), formulas)
