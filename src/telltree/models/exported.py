"""What is exported of a model, and what export formats cannot express."""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from telltree.english.styles import Style, check_style
from telltree.errors import SettingsError
from telltree.explain.sentence import claims_of
from telltree.logic import Attribute, Expression, Level, Type, UserFunction
from telltree.panel import Schema
from telltree.tree.tree import Branch, Leaf, Tree

# ---- What all export languages have in common: what they cannot express, and when categories agree.


def unsayable(e: Expression, language: str) -> SettingsError:
    """The error for an expression that has no counterpart."""
    if isinstance(e.head, UserFunction):
        return SettingsError(
            f"the formula calls the user function {e.head.name!r}, which cannot be exported to {language}: only Python "
            "code knows what it does; learn without it, or save the model with model.save()"
        )
    return SettingsError(f"{str(e)[:200]} cannot be exported to {language}")


@dataclass(frozen=True, slots=True)
class Refused:
    """In place of a cell: the language has no words for the operator, and why."""

    why: str = ""

    def error(self, e: Expression, language: str) -> SettingsError:
        """The error for an expression with that operator."""
        return unsayable(e, f"{language}, {self.why}" if self.why else language)


def common_levels(e: Expression, schema: Schema) -> list[str]:
    """The categories for which two categorical columns can be equal: those that both know."""
    left, right = ((arg.head.name,) if isinstance(arg.head, Level) else _levels(arg, schema) for arg in e.args)
    return [level for level in left if level in set(right)]


def _levels(e: Expression, schema: Schema) -> tuple[str, ...]:
    assert isinstance(e.head, Attribute)
    return schema[e.head.name].levels


def is_never_missing(e: Expression) -> bool:
    """Whether `missing` of it is always false: formulas are true or false."""
    return e.type in (Type.BOOLEAN, Type.BOOLEAN_VECTOR) and not isinstance(e.head, Attribute)


# ---- What is exported: a tree, or one category of it.


class Chosen(NamedTuple):
    """A category to export."""

    number: int
    label: Any
    leaf: Leaf
    branches: tuple[Branch, ...]

    @property
    def formulas(self) -> list[Expression]:
        """What is true of its records: formulas of the tree, or their negations."""
        return claims_of(self.branches)


@dataclass(frozen=True)
class Exported:
    """A tree, which of its categories to export (None: all), which columns may miss values (None: any may), and the
    style of its English.
    """

    tree: Tree
    category: int | None
    missing: Container[str] | None
    style: Style

    @classmethod
    def of(cls, model: Any, category: int | None, missing: Container[str] | None, style: Style) -> "Exported":
        """What to export of a tree or a fitted classifier; a classifier knows which columns missed values."""
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
    def demand(self) -> str:
        """What must be done to records before they are classified; "" if nothing."""
        return self.tree.how_read.demand(self.tree.step)

    @property
    def categories(self) -> Iterator[Chosen]:
        """The categories to export, in order."""
        for number, (leaf, branches) in enumerate(self.tree.leaves, 1):
            if self.category in (None, number):
                yield Chosen(number, leaf.summary.predicted, leaf, branches)
