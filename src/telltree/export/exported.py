"""What is exported: a tree, or one category of it."""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from telltree.errors import SettingsError
from telltree.explain.categories import signed
from telltree.explain.english import Style, check_style
from telltree.operators import Expression
from telltree.tree.tree import Branch, Leaf, Tree


class Chosen(NamedTuple):
    """A category to export."""

    number: int
    label: Any
    leaf: Leaf
    branches: tuple[Branch, ...]

    @property
    def formulas(self) -> list[Expression]:
        """What is true of its records: formulas of the tree, or their negations."""
        return signed(self.branches)


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
