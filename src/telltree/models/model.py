"""The content of a model file, as objects."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.errors import SettingsError
from telltree.grammar import Grammar
from telltree.search import Search
from telltree.search.search import Breeder, Task
from telltree.tree.pruning_path import PruningPath
from telltree.tree.training_facts import TrainingFacts
from telltree.tree.tree import Tree


@dataclass(frozen=True, kw_only=True)
class FittedModel:
    """The common part of fitted trees and forests."""

    grammar: Grammar | None
    """The grammar that was searched; None if no column could be used, or if each tree of a forest had its own."""
    training: TrainingFacts
    interrupted: bool
    named: bool
    """True if the columns had names, not only numbers: scikit-learn distinguishes these."""


@dataclass(frozen=True, kw_only=True)
class Model(FittedModel):
    """A fitted classifier, without the results of its searches."""

    tree: Tree
    pruning_path: PruningPath
    parameters: dict[str, Any]
    """The parameters of the classifier, by name, except those that do not affect results."""


@dataclass(frozen=True, kw_only=True)
class ForestModel(FittedModel):
    """A fitted forest."""

    trees: tuple[Tree, ...]
    counts: tuple[int, ...]
    """The number of training records of each class."""
    n_estimators: int
    random_state: Any
    parameters: dict[str, Any] | None
    """The parameters of its trees; None for the defaults."""


def _forgotten(what: str) -> SettingsError:
    return SettingsError(
        f"this model was learned with a {what} of the user's own, which a model file does not hold; before you fit "
        f"again, call set_params({what}=...)"
    )


@dataclass(frozen=True)
class ForgottenCriterion:
    """A placeholder, in loaded models, for a user's own criterion, which prediction does not need."""

    def __call__(self, true: Any, total: Any, size: Any) -> NDArray[np.float64]:
        raise _forgotten("criterion")


@dataclass(frozen=True, repr=False)
class ForgottenSearch(Search):
    """A placeholder, in loaded models, for a user's own search, which prediction does not need."""

    def check(self, grammar: Grammar) -> None:
        raise _forgotten("search")

    def breeder(self, task: Task) -> Breeder:
        raise _forgotten("search")
