"""The words of figures: formulas as they are written, or in English, with a number of digits."""

from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from telltree.checks import require_whole
from telltree.engine import Formula
from telltree.engine.three_valued import resolve_unknown
from telltree.english import signal_name
from telltree.english.styles import check_style
from telltree.errors import SettingsError
from telltree.explain import Category, Style, english, sentence
from telltree.explain.sentence import claims_of, shown
from telltree.logic import Expression
from telltree.logic.expression import conjunction, rounded
from telltree.panel import Panel, Schema
from telltree.panel.dates import StepLength
from telltree.report.style import (
    with_small_pictures,
)
from telltree.report.time_axes import Pane
from telltree.text import counted
from telltree.tree.tree import Branch, Tree, UnsureBranch

Wording = Literal["formula", "english"]


class FormulaWording(NamedTuple):
    """The wording of formulas in a figure: as they are written, or in English, and the number of digits."""

    schema: Schema
    text: Wording
    digits: int | None
    missing: Container[str] | None
    """The columns that may miss values, which English must mention (None: any may)."""
    step: StepLength | None
    """The length of a step and its unit, if steps have one."""
    style: Style = "plain"

    def formula(self, e: Expression) -> str:
        """Return the words of one formula."""
        e = rounded(e, self.digits)
        if self.text == "formula":
            return str(e)
        return with_small_pictures(english(e, self.schema, self.missing, style=self.style, step=self.step))

    def branch(self, branch: Branch) -> str:
        """Return a branch as a formula that is true; negated where the node's formula is false."""
        return self.formula(claims_of([branch])[0])

    def path(self, branches: Sequence[Branch]) -> str:
        """Return all branches of a path, without those that follow from the rest."""
        kept = [self._rounded(branch) for branch in shown(branches)]
        if self.text == "formula":
            return conjunction(claims_of(kept))
        return with_small_pictures(sentence(kept, self.schema, self.missing, style=self.style, step=self.step))

    def _rounded(self, branch: Branch) -> Branch:
        formula, truth = branch
        if not isinstance(branch, UnsureBranch) or branch.node.unknown is None:
            return Formula(rounded(formula.expression, self.digits)), truth
        unknown = replace(branch.node.unknown, shown=Formula(rounded(branch.node.shown.expression, self.digits)))
        formula = Formula(resolve_unknown(unknown.shown.expression, unknown.is_true))
        return UnsureBranch(replace(branch.node, formula=formula, unknown=unknown), truth)

    def caption(self, category: Category) -> str:
        """Return the caption of a category: its headline in plain English, or else all branches on its path."""
        spoken = category.headline if (self.text, self.style) == ("english", "plain") else None
        return self.path(category.branches) if spoken is None else with_small_pictures(spoken)

    def signal(self, pane: Pane) -> str:
        """Return the name of a pane's signal, with its unit."""
        if pane.column is None:
            if self.text == "formula":
                return self.formula(pane.signal)
            return with_small_pictures(signal_name(rounded(pane.signal, self.digits), self.schema, step=self.step))
        column = self.schema[pane.column]
        name = column.name if self.text == "formula" else column.words
        return f"{name} ({column.unit})" if column.unit else name


def formula_wording(
    known: Schema | Tree, panel: Panel | None, text: str, digits: int | None, style: Style
) -> FormulaWording:
    """Return the wording of formulas over the columns of a schema or a tree.

    Missing values are mentioned only for columns that miss some in the panel; without a panel, for those that did when
    the tree was learned.
    """
    if text not in ("formula", "english"):
        raise SettingsError(f'text must be "formula" or "english", got {text!r}')
    check_style(style)
    if digits is not None:
        require_whole("digits", digits, 1)
    wording: Wording = "english" if text == "english" else "formula"
    schema = known.schema if isinstance(known, Tree) else known
    if panel is not None:
        missing = {name for name, count in panel.missing().items() if count}
        return FormulaWording(schema, wording, digits, missing, panel.step, style)
    missed, step = (known.missing, known.step) if isinstance(known, Tree) else (None, None)
    return FormulaWording(schema, wording, digits, missed, step, style)


def size_text(category: Category) -> str:
    """Return the number of a category's members, and their labels: `43 records, calm: 3, storm: 40`."""
    size = ", ".join(filter(None, [counted(len(category.positions), "record"), category.certainty.mixed]))
    return "; ".join(filter(None, [size, category.certainty.remark]))
