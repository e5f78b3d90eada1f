"""What formulas mention: the signals that deserve a pane, their thresholds, and the formulas in few digits."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from telltree.amounts import counted
from telltree.data import Panel, Schema
from telltree.data.how_read import StepLength
from telltree.errors import SettingsError
from telltree.explain import Category, Style, english, sentence, shown
from telltree.explain.categories import signed
from telltree.explain.english import check_style
from telltree.logic import Formula
from telltree.logic.unknown import settled
from telltree.operators import Attribute, Expression, Number, Operator, Type, operator_named
from telltree.operators.expression import conjunction
from telltree.operators.rounding import rounded
from telltree.operators.table import COMPARISONS, MIRRORED
from telltree.report.figures.words import with_small_pictures
from telltree.speech import name_of
from telltree.tree.tree import Branch, Tree, UnsureBranch

Wording = Literal["formula", "english"]


def at_least(name: str, value: Any, least: int) -> None:
    """Refuse anything but a whole number of at least this much."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise SettingsError(f"{name} must be a whole number of at least {least}, got {value!r}")


class Threshold(NamedTuple):
    """A constant that a signal is compared with, such as `< 5`."""

    symbol: str
    value: float


class Pane(NamedTuple):
    """A signal to draw: a column, or an expression over several."""

    signal: Expression
    thresholds: tuple[Threshold, ...]

    @property
    def column(self) -> str | None:
        """The name of the column, if it is one."""
        return self.signal.head.name if isinstance(self.signal.head, Attribute) else None


def panes(formulas: Iterable[Expression]) -> list[Pane]:
    """The columns that formulas mention, in order of appearance, then differences and the like that they compare."""
    columns: dict[Expression, dict[Threshold, None]] = {}
    others: dict[Expression, dict[Threshold, None]] = {}
    for e in (part for formula in formulas for part in formula.walk()):
        if isinstance(e.head, Attribute):
            columns.setdefault(e, {})
        compared = _compared(e)
        if compared is not None:
            signal, threshold = compared
            home = columns if isinstance(signal.head, Attribute) else others
            home.setdefault(signal, {})[threshold] = None
    return [Pane(signal, tuple(sorted(found, key=lambda t: t.value))) for signal, found in (columns | others).items()]


def _compared(e: Expression) -> tuple[Expression, Threshold] | None:
    """The real signal and the constant, if the expression is a stepwise comparison."""
    if not isinstance(e.head, Operator) or e.head not in COMPARISONS or e.type is not Type.BOOLEAN_VECTOR:
        return None
    left, right = e.args
    if isinstance(right.head, Number):
        return left, Threshold(e.head.symbol, right.head.value)
    if isinstance(left.head, Number):
        return right, Threshold(operator_named(MIRRORED[e.head.name]).symbol, left.head.value)
    return None


class Voice(NamedTuple):
    """How a figure words formulas: as they are written, or in English, and with how many digits."""

    schema: Schema
    text: Wording
    digits: int | None
    missing: Container[str] | None
    """The columns that may miss values, which English must mention (None: any may)."""
    step: StepLength | None
    """The length of a step and its unit, if steps have one."""
    style: Style = "plain"

    def formula(self, e: Expression) -> str:
        """One formula."""
        e = rounded(e, self.digits)
        if self.text == "formula":
            return str(e)
        return with_small_pictures(english(e, self.schema, self.missing, style=self.style, step=self.step))

    def branch(self, branch: Branch) -> str:
        """A branch as a formula that is true; negated where the node's formula is false."""
        return self.formula(signed([branch])[0])

    def path(self, branches: Sequence[Branch]) -> str:
        """All branches of a path, without those that follow from the rest."""
        told = [self._rounded(branch) for branch in shown(branches)]
        if self.text == "formula":
            return conjunction(signed(told))
        return with_small_pictures(sentence(told, self.schema, self.missing, style=self.style, step=self.step))

    def _rounded(self, branch: Branch) -> Branch:
        formula, truth = branch
        if not isinstance(branch, UnsureBranch) or branch.node.unknown is None:
            return Formula(rounded(formula.expression, self.digits)), truth
        said = Formula(rounded(branch.node.said.expression, self.digits))
        asked = Formula(settled(said.expression, branch.node.unknown.goes))
        return UnsureBranch(replace(branch.node, formula=asked, unknown=replace(branch.node.unknown, said=said)), truth)

    def caption(self, category: Category) -> str:
        """What is true of a category: in plain English its headline, if it has one, else all branches on its path."""
        spoken = category.headline if (self.text, self.style) == ("english", "plain") else None
        return self.path(category.branches) if spoken is None else with_small_pictures(spoken)

    def signal(self, pane: Pane) -> str:
        """What a pane shows, with its unit."""
        if pane.column is None:
            if self.text == "formula":
                return self.formula(pane.signal)
            return with_small_pictures(name_of(rounded(pane.signal, self.digits), self.schema, step=self.step))
        column = self.schema[pane.column]
        name = column.name if self.text == "formula" else column.words
        return f"{name} ({column.unit})" if column.unit else name


def voice(known: Schema | Tree, panel: Panel | None, text: str, digits: int | None, style: Style) -> Voice:
    """How to speak of formulas over the columns of a schema or a tree.

    Missing values are mentioned only for columns that miss some in the panel; without a panel, for those that did when
    the tree was learned.
    """
    if text not in ("formula", "english"):
        raise SettingsError(f'text must be "formula" or "english", got {text!r}')
    check_style(style)
    if digits is not None:
        at_least("digits", digits, 1)
    wording: Wording = "english" if text == "english" else "formula"
    schema = known.schema if isinstance(known, Tree) else known
    if panel is not None:
        missing = {name for name, count in panel.missing().items() if count}
        return Voice(schema, wording, digits, missing, panel.step, style)
    missed, step = (known.missing, known.step) if isinstance(known, Tree) else (None, None)
    return Voice(schema, wording, digits, missed, step, style)


def told_size(category: Category) -> str:
    """How many members a category has, and what they are: `43 records, calm: 3, storm: 40`."""
    size = ", ".join(filter(None, [counted(len(category.positions), "record"), category.sureness.mixed]))
    return "; ".join(filter(None, [size, category.sureness.remark]))


def temporal(e: Expression) -> list[Expression]:
    """The parts of a formula that look along time, without the connectives that join them."""
    if isinstance(e.head, Operator) and e.type is Type.BOOLEAN and all(arg.type is Type.BOOLEAN for arg in e.args):
        return list(dict.fromkeys(part for arg in e.args for part in temporal(arg)))
    return [e]
