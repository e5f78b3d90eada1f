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
class Common:
    """What is kept of a fitted tree or forest alike."""

    grammar: Grammar | None
    """The grammar that was searched; None if no column could be used, or if each tree of a forest had its own."""
    training: TrainingFacts
    interrupted: bool
    named: bool
    """Whether the columns had names, or only numbers: scikit-learn distinguishes these."""


@dataclass(frozen=True, kw_only=True)
class Model(Common):
    """A fitted classifier, without the results of its searches."""

    tree: Tree
    pruning_path: PruningPath
    parameters: dict[str, Any]
    """The parameters of the classifier, by name, except those that do not affect results."""


@dataclass(frozen=True, kw_only=True)
class ForestModel(Common):
    """A fitted forest."""

    trees: tuple[Tree, ...]
    counts: tuple[int, ...]
    """The training records of each class."""
    n_estimators: int
    random_state: Any
    parameters: dict[str, Any] | None
    """Those of its trees; None for the usual ones."""


def _forgotten(what: str) -> SettingsError:
    return SettingsError(
        f"this model was learned with a {what} of the user's own, which a model file does not hold; before you fit "
        f"again, call set_params({what}=...)"
    )


@dataclass(frozen=True)
class ForgottenCriterion:
    """Replaces, in a loaded model, a criterion that only its author has; prediction does not need it."""

    def __call__(self, true: Any, total: Any, size: Any) -> NDArray[np.float64]:
        raise _forgotten("criterion")


@dataclass(frozen=True, repr=False)
class ForgottenSearch(Search):
    """Replaces, in a loaded model, a search that only its author has; prediction does not need it."""

    def check(self, grammar: Grammar) -> None:
        raise _forgotten("search")

    def breeder(self, task: Task) -> Breeder:
        raise _forgotten("search")
