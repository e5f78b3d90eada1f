"""Common parts of exports: the selection of what to export, and errors for what a language cannot express."""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from telltree.english.styles import Style, check_style
from telltree.errors import SettingsError
from telltree.explain.sentence import claims_of
from telltree.logic import Attribute, Expression, Level, Type, UserFunction
from telltree.panel import Schema
from telltree.tree.tree import Branch, Leaf, Tree

# ---- Errors for what a language cannot express, and comparisons of categories.


def unsayable(e: Expression, language: str) -> SettingsError:
    """Return the error for an expression without a counterpart in the language."""
    if isinstance(e.head, UserFunction):
        return SettingsError(
            f"the formula calls the user function {e.head.name!r}, which cannot be exported to {language}: only Python "
            "code knows what it does; learn without it, or save the model with model.save()"
        )
    return SettingsError(f"{str(e)[:200]} cannot be exported to {language}")


@dataclass(frozen=True, slots=True)
class Refused:
    """A cell for an operator that the language cannot express, and why."""

    why: str = ""

    def error(self, e: Expression, language: str) -> SettingsError:
        """Return the error for an expression with that operator."""
        return unsayable(e, f"{language}, {self.why}" if self.why else language)


def common_levels(e: Expression, schema: Schema) -> list[str]:
    """Return the categories for which two categorical columns can be equal: the levels of both."""
    left, right = ((arg.head.name,) if isinstance(arg.head, Level) else _levels(arg, schema) for arg in e.args)
    return [level for level in left if level in set(right)]


def _levels(e: Expression, schema: Schema) -> tuple[str, ...]:
    assert isinstance(e.head, Attribute)
    return schema[e.head.name].levels


def is_never_missing(e: Expression) -> bool:
    """Return True if `missing` of an expression is always false, as for formulas, which are true or false."""
    return e.type in (Type.BOOLEAN, Type.BOOLEAN_VECTOR) and not isinstance(e.head, Attribute)


# ---- The selection to export: a tree, or one category of it.


class Chosen(NamedTuple):
    """A category to export."""

    number: int
    label: Any
    leaf: Leaf
    branches: tuple[Branch, ...]

    @property
    def formulas(self) -> list[Expression]:
        """The formulas on the path to the leaf, negated on false branches."""
        return claims_of(self.branches)


@dataclass(frozen=True)
class Exported:
    """A tree to export: the category (None: all), columns that may miss values (None: any), the style of English."""

    tree: Tree
    category: int | None
    missing: Container[str] | None
    style: Style

    @classmethod
    def of(cls, model: Any, category: int | None, missing: Container[str] | None, style: Style) -> "Exported":
        """Return what to export of a tree or a fitted classifier, which knows the columns with missing values."""
        check_style(style)
        tree = getattr(model, "tree_", model)
        if not isinstance(tree, Tree):
            raise SettingsError(f"export takes a tree or a fitted classifier, got {type(model).__name__}; fit it first")
        if category is not None and (type(category) is not int or not 1 <= category <= len(tree.leaves)):
            raise SettingsError(f"category must be a number from 1 to {len(tree.leaves)}, got {category!r}")
        training = getattr(model, "training_", None)
        known = training.missing if missing is None and training is not None else missing
        return cls(tree, category, known, style)

    @property
    def requirement(self) -> str:
        """A sentence on how records must be resampled before they are classified; "" if they need not be."""
        return self.tree.how_read.requirement(self.tree.step)

    @property
    def categories(self) -> Iterator[Chosen]:
        """Yield the categories to export, in order."""
        for number, (leaf, branches) in enumerate(self.tree.leaves, 1):
            if self.category in (None, number):
                yield Chosen(number, leaf.summary.predicted, leaf, branches)
