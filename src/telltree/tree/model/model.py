"""The content of a model file, as objects."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.errors import SettingsError
from telltree.grammar import Grammar
from telltree.search import Search
from telltree.search.search import Breeder, Task
from telltree.tree.front import Front
from telltree.tree.training import Training
from telltree.tree.tree import Tree


@dataclass(frozen=True)
class Model:
    """A fitted classifier, without the results of its searches."""

    tree: Tree
    front: Front
    grammar: Grammar | None
    """The grammar that was searched; None if no column could be used."""
    training: Training
    interrupted: bool
    named: bool
    """Whether the columns had names, or only numbers: scikit-learn distinguishes these."""
    parameters: dict[str, Any]
    """The parameters of the classifier, by name, except those that do not affect results."""


def _forgotten(what: str) -> SettingsError:
    return SettingsError(
        f"this model was learnt with a {what} of the user's own, which a model file does not hold; before you fit "
        f"again, call set_params({what}=...)"
    )


@dataclass(frozen=True)
class ForgottenFitness:
    """Replaces, in a loaded model, a fitness that only its author has; prediction does not need it."""

    def __call__(self, true: Any, total: Any, size: Any) -> NDArray[np.float64]:
        raise _forgotten("fitness")


@dataclass(frozen=True)
class ForgottenSearch(Search):
    """Replaces, in a loaded model, a search that only its author has; prediction does not need it."""

    def check(self, grammar: Grammar) -> None:
        raise _forgotten("search")

    def breeder(self, task: Task) -> Breeder:
        raise _forgotten("search")
