"""What the trees of a forest ask, and how many of them: the same questions in other trees, whatever their constants.

Trees that learn from other records ask the same with other constants. So questions that differ in constants alone, or
in the order of what they join, are one row, told as one of the trees asks it, with the constants of all.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from telltree.explain.english import Style, check_style, english
from telltree.logic import Expression, Operator, Type, UserFunction
from telltree.logic.expression import Number
from telltree.logic.operators import AND, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, OR
from telltree.logic.types import number_text
from telltree.panel import Schema
from telltree.text import counted
from telltree.tree import Tree

_SHOWN = 10
_TRUTHS = (Type.BOOLEAN, Type.BOOLEAN_VECTOR)
_OPPOSITES = {GREATER_EQUAL: LESS, LESS_EQUAL: GREATER}


class Row(NamedTuple):
    """A question, or a condition, that several trees ask."""

    trees: int
    """How many trees ask it."""
    first: int
    """How many ask it first."""
    expression: Expression
    """As one of them asks it: the one whose constants are in the middle."""
    english: str
    constants: tuple[tuple[float, float], ...]
    """The least and the greatest of each constant, in the order of their places, over all trees."""

    @property
    def spread(self) -> str:
        """Between which numbers the constants are, where they differ."""
        ranges = [f"{number_text(low)} to {number_text(high)}" for low, high in self.constants if low < high]
        return f" ({'; '.join(ranges)})" if ranges else ""


@dataclass(frozen=True)
class Asked:
    """What trees ask; `print` it for the commonest.

    questions: whole questions of nodes. conditions: the comparisons and flags that questions are made of. Both with the
    commonest first, each once for a tree.
    """

    trees: int
    questions: tuple[Row, ...]
    conditions: tuple[Row, ...]

    @classmethod
    def by(cls, trees: Sequence[Tree], *, style: Style = "plain") -> "Asked":
        """What these trees ask; `style` is that of `english`."""
        check_style(style)
        return cls(len(trees), _rows(trees, _whole, style), _rows(trees, _conditions, style))

    def __str__(self) -> str:
        told = [
            f"{counted(self.trees, 'tree')}. In brackets: the constants of all trees, where they differ.",
            *_table("what they ask", self.questions),
            *_table("what their questions are made of", self.conditions),
        ]
        return "\n".join(told)


def _table(title: str, rows: Sequence[Row]) -> list[str]:
    shown, others = rows[:_SHOWN], rows[_SHOWN:]
    left = (
        [f"and {counted(len(others), 'other')}, none in more than {counted(others[0].trees, 'tree')}"] if others else []
    )
    lines = [f"{row.trees:5}  {row.first:5}  {row.english}{row.spread}" for row in shown]
    return ["", f"trees  first  {title}", *(lines or ["    0      0  nothing: all are single leaves"]), *left]


def joint_schema(trees: Sequence[Tree]) -> Schema:
    """The columns of all trees; those are static that are so to each."""
    columns = [column for tree in trees for column in tree.schema.values()]
    return Schema({column.name: column for column in sorted(columns, key=lambda column: not column.static)}.values())


class _Open(NamedTuple):
    """An expression whose constants are left open: its text, and the constants in their order."""

    text: str
    constants: tuple[float, ...]


def _opened(e: Expression) -> _Open:
    """Parameters, such as the k of change(x, k), stay; what ∧ or ∨ joins comes in one order."""
    if isinstance(e.head, Number):
        return _Open("?", (e.head.value,))
    if not isinstance(e.head, Operator | UserFunction):
        return _Open(str(e), ())
    parts = sorted(map(_opened, _joined(e))) if e.head in (AND, OR) else list(map(_opened, e.operands))
    texts = [*(part.text for part in parts), *map(str, e.args[len(e.operands) :])]
    constants = tuple(constant for part in parts for constant in part.constants)
    return _Open(f"{e.head.symbol}({', '.join(texts)})", constants)


def _joined(e: Expression) -> Iterator[Expression]:
    """What a chain of one connective joins."""
    for part in e.args:
        yield from _joined(part) if part.head == e.head else [part]


def _conditions(question: Expression) -> Iterator[tuple[_Open, Expression]]:
    """The smallest parts that are true or false; a comparison and its opposite are one."""
    inner = [part for part in question.operands if part.type in _TRUTHS]
    for part in inner:
        yield from _conditions(part)
    if not inner:
        alike = _OPPOSITES.get(question.head) if isinstance(question.head, Operator) else None
        yield _opened(question if alike is None else replace(question, head=alike)), question


def _whole(question: Expression) -> Iterator[tuple[_Open, Expression]]:
    yield _opened(question), question


def _rows(
    trees: Sequence[Tree], parts: Callable[[Expression], Iterator[tuple[_Open, Expression]]], style: Style
) -> tuple[Row, ...]:
    """A row for all parts of the trees' questions that are the same, the commonest first."""
    found = defaultdict[str, list[_Met]](list)
    for number, tree in enumerate(trees):
        for node in tree.nodes:
            for (text, constants), part in parts(node.shown.expression):
                found[text].append(_Met(number, node is tree.root, constants, part))
    missing = frozenset().union(*(tree.missing or () for tree in trees))
    told = partial(english, schema=joint_schema(trees), missing=missing, style=style, step=trees[0].step)
    rows = [_row(met, told) for _, met in sorted(found.items())]
    return tuple(sorted(rows, key=lambda row: (-row.trees, -row.first)))


class _Met(NamedTuple):
    """A part of a question, where it was met."""

    tree: int
    first: bool
    constants: tuple[float, ...]
    expression: Expression


def _row(met: Sequence[_Met], told: Callable[[Expression], str]) -> Row:
    constants = np.array([one.constants for one in met])
    away = np.abs(constants.argsort(axis=0).argsort(axis=0) - (len(met) - 1) / 2).sum(axis=1)
    middle = met[int(away.argmin())].expression
    trees, first = {one.tree for one in met}, {one.tree for one in met if one.first}
    ranges = tuple(zip(constants.min(axis=0).tolist(), constants.max(axis=0).tolist(), strict=True))
    return Row(len(trees), len(first), middle, told(middle), ranges)
