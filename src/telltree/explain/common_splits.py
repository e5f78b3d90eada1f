"""Splits that the trees of a forest have in common, whatever their constants, and how many trees have each.

Trees that learn from other records ask the same with other constants. So questions that differ in constants alone, or
in the order of the parts that they join, make one row, written as one of the trees asks it, with the constants of all.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from telltree.english.styles import Style, check_style, english
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


class CommonSplit(NamedTuple):
    """A question, or a condition, that several trees ask."""

    trees: int
    """Number of trees that ask it."""
    first: int
    """Number of trees that ask it at the root."""
    expression: Expression
    """The version of one tree: the one whose constants are in the middle."""
    english: str
    constants: tuple[tuple[float, float], ...]
    """The least and the greatest value of each constant over all trees, in the order of their places."""

    @property
    def ranges(self) -> str:
        """The ranges of the constants that differ, in brackets."""
        texts = [f"{number_text(low)} to {number_text(high)}" for low, high in self.constants if low < high]
        return f" ({'; '.join(texts)})" if texts else ""


@dataclass(frozen=True)
class CommonSplits:
    """The splits of several trees; `print` shows the commonest.

    questions: whole questions of nodes. conditions: the comparisons and flags that questions are made of. Both are in
    order of how many trees have them; each counts once per tree.
    """

    trees: int
    questions: tuple[CommonSplit, ...]
    conditions: tuple[CommonSplit, ...]

    @classmethod
    def of(cls, trees: Sequence[Tree], *, style: Style = "plain") -> "CommonSplits":
        """Compare the splits of these trees; `style` is that of `english`."""
        check_style(style)
        return cls(len(trees), _rows(trees, _whole, style), _rows(trees, _conditions, style))

    def __str__(self) -> str:
        lines = [
            f"{counted(self.trees, 'tree')}. In brackets: the constants of all trees, where they differ.",
            *_table("what they ask", self.questions),
            *_table("what their questions are made of", self.conditions),
        ]
        return "\n".join(lines)


def _table(title: str, rows: Sequence[CommonSplit]) -> list[str]:
    shown, others = rows[:_SHOWN], rows[_SHOWN:]
    more = (
        [f"and {counted(len(others), 'other')}, none in more than {counted(others[0].trees, 'tree')}"] if others else []
    )
    lines = [f"{row.trees:5}  {row.first:5}  {row.english}{row.ranges}" for row in shown]
    return ["", f"trees  first  {title}", *(lines or ["    0      0  nothing: all are single leaves"]), *more]


def joint_schema(trees: Sequence[Tree]) -> Schema:
    """Return the columns of all trees; a column is static if it is so in every tree."""
    columns = [column for tree in trees for column in tree.schema.values()]
    return Schema({column.name: column for column in sorted(columns, key=lambda column: not column.static)}.values())


class _Pattern(NamedTuple):
    """The text of an expression with a ? for each constant, and the constants in their order."""

    text: str
    constants: tuple[float, ...]


def _pattern(e: Expression) -> _Pattern:
    """Return the pattern of an expression.

    Parameters, such as the k of change(x, k), are part of the text; the operands of ∧ and ∨ are sorted.
    """
    if isinstance(e.head, Number):
        return _Pattern("?", (e.head.value,))
    if not isinstance(e.head, Operator | UserFunction):
        return _Pattern(str(e), ())
    parts = sorted(map(_pattern, _joined(e))) if e.head in (AND, OR) else list(map(_pattern, e.operands))
    texts = [*(part.text for part in parts), *map(str, e.args[len(e.operands) :])]
    constants = tuple(constant for part in parts for constant in part.constants)
    return _Pattern(f"{e.head.symbol}({', '.join(texts)})", constants)


def _joined(e: Expression) -> Iterator[Expression]:
    """Yield the operands of a chain of one connective."""
    for part in e.args:
        yield from _joined(part) if part.head == e.head else [part]


def _whole(question: Expression) -> Iterator[tuple[_Pattern, Expression]]:
    yield _pattern(question), question


def _conditions(question: Expression) -> Iterator[tuple[_Pattern, Expression]]:
    """Yield the smallest Boolean parts; a comparison and its opposite have the same pattern."""
    inner = [part for part in question.operands if part.type in _TRUTHS]
    for part in inner:
        yield from _conditions(part)
    if not inner:
        opposite = _OPPOSITES.get(question.head) if isinstance(question.head, Operator) else None
        yield _pattern(question if opposite is None else replace(question, head=opposite)), question


class _Occasion(NamedTuple):
    """One question, or one of its conditions, in one tree."""

    tree: int
    at_root: bool
    constants: tuple[float, ...]
    expression: Expression


def _rows(
    trees: Sequence[Tree], parts: Callable[[Expression], Iterator[tuple[_Pattern, Expression]]], style: Style
) -> tuple[CommonSplit, ...]:
    """Return one row for each pattern among the parts of the trees' questions, the commonest first."""
    occasions = defaultdict[str, list[_Occasion]](list)
    for number, tree in enumerate(trees):
        for node in tree.nodes:
            for (text, constants), part in parts(node.shown.expression):
                occasions[text].append(_Occasion(number, node is tree.root, constants, part))
    missing = frozenset().union(*(tree.missing or () for tree in trees))
    in_words = partial(english, schema=joint_schema(trees), missing=missing, style=style, step=trees[0].step)
    rows = [_row(alike, in_words) for _, alike in sorted(occasions.items())]
    return tuple(sorted(rows, key=lambda row: (-row.trees, -row.first)))


def _row(occasions: Sequence[_Occasion], in_words: Callable[[Expression], str]) -> CommonSplit:
    constants = np.array([one.constants for one in occasions])
    away = np.abs(constants.argsort(axis=0).argsort(axis=0) - (len(occasions) - 1) / 2).sum(axis=1)
    middle = occasions[int(away.argmin())].expression
    trees, first = {one.tree for one in occasions}, {one.tree for one in occasions if one.at_root}
    ranges = tuple(zip(constants.min(axis=0).tolist(), constants.max(axis=0).tolist(), strict=True))
    return CommonSplit(len(trees), len(first), middle, in_words(middle), ranges)
